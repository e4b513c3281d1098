//! Conversions of bits, labels and fields to and from dense arrays, which are indexed as `a[[x, y, z]]`.

use ndarray::{Array3, ShapeBuilder};

use super::bits::BitGrid;
use super::field::Field;
use super::labels::Labels;
use super::legend::Legend;
use crate::error::{Error, Result};

impl From<&BitGrid> for Array3<bool> {
    /// Creates a dense array of shape `(nx, ny, nz)` with one byte per cell. It is in Fortran order, with x
    /// fastest in memory.
    fn from(grid: &BitGrid) -> Self {
        let [nx, ny, nz] = grid.dims();
        Self::from_shape_fn((nx, ny, nz).f(), |(i, j, k)| grid.get([i, j, k]))
    }
}

impl TryFrom<&Array3<bool>> for BitGrid {
    type Error = Error;

    /// Creates a grid whose cell `(i, j, k)` is `a[[i, j, k]]`. The array may have any memory order.
    fn try_from(array: &Array3<bool>) -> Result<Self> {
        let (nx, ny, nz) = array.dim();
        let mut grid = Self::new([nx, ny, nz])?;
        for ((i, j, k), _) in array.indexed_iter().filter(|(_, set)| **set) {
            grid.set([i, j, k]);
        }
        Ok(grid)
    }
}

impl From<&Labels> for Array3<u8> {
    /// Creates a dense array of shape `(nx, ny, nz)` in Fortran order. Empty cells have the value 0.
    fn from(labels: &Labels) -> Self {
        let [nx, ny, nz] = labels.dims();
        Self::from_shape_fn((nx, ny, nz).f(), |(i, j, k)| labels.get([i, j, k]))
    }
}

impl TryFrom<&Array3<u8>> for Labels {
    type Error = Error;

    /// Creates labels without names. The value of cell `(i, j, k)` is `a[[i, j, k]]`. The array may have any
    /// memory order. [`with_legend`](Labels::with_legend) adds names.
    fn try_from(array: &Array3<u8>) -> Result<Self> {
        let (nx, ny, nz) = array.dim();
        let mut labels = Self::new([nx, ny, nz], Legend::default())?;
        for ((i, j, k), value) in array.indexed_iter().filter(|(_, value)| **value != 0) {
            labels.set([i, j, k], *value);
        }
        Ok(labels)
    }
}

impl From<&Field> for Array3<f32> {
    /// Creates a dense array of shape `(nx, ny, nz)` in Fortran order.
    fn from(field: &Field) -> Self {
        let [nx, ny, nz] = field.dims();
        Self::from_shape_fn((nx, ny, nz).f(), |(i, j, k)| field.get([i, j, k]))
    }
}

impl TryFrom<&Array3<f32>> for Field {
    type Error = Error;

    /// Creates a field with the background 0. The value of cell `(i, j, k)` is `a[[i, j, k]]`. The array may
    /// have any memory order. [`with_background`](Field::with_background) changes the background.
    fn try_from(array: &Array3<f32>) -> Result<Self> {
        let (nx, ny, nz) = array.dim();
        let mut field = Self::new([nx, ny, nz], 0.0)?;
        array
            .indexed_iter()
            .for_each(|((i, j, k), value)| field.set([i, j, k], *value));
        Ok(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_and_fields_come_back_from_either_order() {
        let c = Array3::from_shape_fn((3, 2, 2), |(i, j, k)| (i + 3 * j + 6 * k) as u8 * 20);
        let labels = Labels::try_from(&c).unwrap();
        assert_eq!(
            (labels.get([2, 1, 0]), labels.occupied().count()),
            (100, 11)
        );
        assert_eq!(Array3::<u8>::from(&labels), c);
        let c = c.mapv(|value| f32::from(value) - 100.0);
        let field = Field::try_from(&c).unwrap();
        assert_eq!(field.values()[4..6], [-20.0, 0.0]);
        assert_eq!(Array3::<f32>::from(&field), c);
        assert!(Field::try_from(&Array3::zeros((0, 1, 1))).is_err());
    }

    #[test]
    fn arrays_are_indexed_x_y_z() {
        let grid = BitGrid::from_text("##.\n#..\n\n...\n..#").unwrap();
        let array = Array3::from(&grid);
        assert_eq!(array.dim(), (3, 2, 2));
        assert!(array[[1, 1, 0]] && !array[[1, 0, 0]] && array[[2, 0, 1]]);
        assert_eq!(array.strides(), [1, 3, 6]);
        assert_eq!(BitGrid::try_from(&array).unwrap(), grid);
    }
}
