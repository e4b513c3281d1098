//! Arrays with additional values for each cell.

use super::field::Field;
use crate::error::Result;
pub use voxelize_kernel::fraction::Quantity;

/// Set of [quantities](Quantity).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Quantities(u8);

impl Quantities {
    /// Returns the quantities of the set, in the order of [`Quantity::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Quantity> {
        Quantity::ALL
            .into_iter()
            .filter(move |one| self.0 >> *one as u8 & 1 != 0)
    }

    /// Reports whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the total number of values per cell.
    pub fn numbers(self) -> usize {
        self.iter().map(Quantity::numbers).sum()
    }
}

impl FromIterator<Quantity> for Quantities {
    fn from_iter<T: IntoIterator<Item = Quantity>>(all: T) -> Self {
        Self(all.into_iter().fold(0, |set, one| set | 1 << one as u8))
    }
}

/// Values of one quantity for the cells of some layers, with x fastest, then y. The values of a cell are
/// adjacent.
#[derive(Debug, Clone)]
pub struct CellArray {
    /// Quantity that the array contains.
    pub quantity: Quantity,
    /// Field that has one cell along x for each value. `None` if there are no layers.
    field: Option<Field>,
}

impl CellArray {
    /// Creates an array without layers.
    pub fn new(quantity: Quantity) -> Self {
        Self {
            quantity,
            field: None,
        }
    }

    /// Returns the values.
    pub fn numbers(&self) -> &[f32] {
        self.field.as_ref().map_or(&[], Field::values)
    }

    /// Returns the values for writing.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        self.field.as_mut().map_or(&mut [], Field::values_mut)
    }

    /// Returns the values as a field. Its size along x is the number of cells times the number of values per
    /// cell. The digest of this field is the digest of the array. `None` if there are no layers.
    pub fn as_field(&self) -> Option<&Field> {
        self.field.as_ref()
    }

    /// Returns the dims of the field of [`as_field`](Self::as_field) for a grid of these dims.
    pub fn dims_for(quantity: Quantity, [nx, ny, nz]: [usize; 3]) -> [usize; 3] {
        [quantity.numbers() * nx, ny, nz]
    }

    /// Resizes the array for a grid of these dims. The values are unspecified afterwards.
    ///
    /// # Errors
    /// Fails if the values do not fit in memory.
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
