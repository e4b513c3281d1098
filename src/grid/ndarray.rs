//! Conversion of bits to and from dense arrays, indexed `a[[x, y, z]]`.

use ndarray::{Array3, ShapeBuilder};

use super::bits::BitGrid;
use crate::error::{Error, Result};

impl From<&BitGrid> for Array3<bool> {
    /// A dense array of shape `(nx, ny, nz)` in Fortran order: x fastest in memory, one byte a cell.
    fn from(grid: &BitGrid) -> Self {
        let [nx, ny, nz] = grid.dims();
        Self::from_shape_fn((nx, ny, nz).f(), |(i, j, k)| grid.get([i, j, k]))
    }
}

impl TryFrom<&Array3<bool>> for BitGrid {
    type Error = Error;

    /// The grid whose cell `(i, j, k)` is `a[[i, j, k]]`, whatever the array's memory order.
    fn try_from(array: &Array3<bool>) -> Result<Self> {
        let (nx, ny, nz) = array.dim();
        let mut grid = Self::new([nx, ny, nz])?;
        for ((i, j, k), _) in array.indexed_iter().filter(|(_, set)| **set) {
            grid.set([i, j, k]);
        }
        Ok(grid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
