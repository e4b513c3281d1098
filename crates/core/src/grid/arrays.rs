//! Arrays of numbers beside the value of each cell.

use super::field::Field;
use crate::error::Result;
pub use voxelize_kernel::fraction::Quantity;

/// A set of quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quantities(u8);

impl Quantities {
    /// All in it, in the order of [`Quantity::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Quantity> {
        Quantity::ALL
            .into_iter()
            .filter(move |one| self.0 >> *one as u8 & 1 != 0)
    }

    /// Whether it has none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many numbers a cell has.
    pub fn numbers(self) -> usize {
        self.iter().map(Quantity::numbers).sum()
    }
}

impl FromIterator<Quantity> for Quantities {
    fn from_iter<T: IntoIterator<Item = Quantity>>(all: T) -> Self {
        Self(all.into_iter().fold(0, |set, one| set | 1 << one as u8))
    }
}

/// The numbers of one quantity for cells of some layers, x fastest, then y; those of a cell side by side.
#[derive(Debug, Clone)]
pub struct CellArray {
    /// The quantity.
    pub quantity: Quantity,
    /// A field with a cell for each number along x; `None` before there are any layers.
    field: Option<Field>,
}

impl CellArray {
    /// Without layers.
    pub fn new(quantity: Quantity) -> Self {
        Self {
            quantity,
            field: None,
        }
    }

    /// The numbers.
    pub fn numbers(&self) -> &[f32] {
        self.field.as_ref().map_or(&[], Field::values)
    }

    /// The numbers, to write to.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        self.field.as_mut().map_or(&mut [], Field::values_mut)
    }

    /// The numbers as a field of so many times as many cells along x, whose digest is that of the array.
    pub fn as_field(&self) -> Option<&Field> {
        self.field.as_ref()
    }

    /// The dims of that field for cells of these dims.
    pub fn dims_for(quantity: Quantity, [nx, ny, nz]: [usize; 3]) -> [usize; 3] {
        [quantity.numbers() * nx, ny, nz]
    }

    /// Makes it one of cells of these dims; the numbers are any.
    ///
    /// # Errors
    /// If they do not fit in memory.
    pub fn resize(&mut self, dims: [usize; 3]) -> Result<()> {
        let dims = Self::dims_for(self.quantity, dims);
        if self.field.as_ref().is_none_or(|field| field.dims() != dims) {
            self.field = None;
            self.field = Some(Field::new(dims, 0.0)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_have_their_quantities_once_and_in_order() {
        let set: Quantities = [Quantity::Centroid, Quantity::Area, Quantity::Centroid]
            .into_iter()
            .collect();
        assert!(set.iter().eq([Quantity::Area, Quantity::Centroid]) && set.numbers() == 4);
        assert!(Quantities::default().is_empty() && !set.is_empty());
    }
}
