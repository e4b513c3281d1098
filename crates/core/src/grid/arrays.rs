//! Arrays with additional values for each cell.

use std::collections::HashSet;

use super::field::Field;
use super::legend::Label;
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

/// Content of an array that is stored in addition to the cells.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArrayContent {
    /// Quantity of the whole mesh.
    Quantity(Quantity),
    /// Field of the part with this label, with the values of the same rule as the cells.
    Label(Label),
}

impl ArrayContent {
    /// Returns the number of values per cell.
    pub fn numbers(&self) -> usize {
        match self {
            Self::Quantity(quantity) => quantity.numbers(),
            Self::Label(_) => 1,
        }
    }

    /// Returns the quantity. `None` if the array is the field of a label.
    pub fn quantity(&self) -> Option<Quantity> {
        match self {
            Self::Quantity(quantity) => Some(*quantity),
            Self::Label(_) => None,
        }
    }

    /// Returns the label. `None` if the array is a quantity.
    pub fn label(&self) -> Option<&Label> {
        match self {
            Self::Quantity(_) => None,
            Self::Label(label) => Some(label),
        }
    }

    /// Returns the name of the quantity or of the label.
    pub fn name(&self) -> &str {
        match self {
            Self::Quantity(quantity) => quantity.name(),
            Self::Label(label) => &label.name,
        }
    }
}

impl From<Quantity> for ArrayContent {
    fn from(quantity: Quantity) -> Self {
        Self::Quantity(quantity)
    }
}

impl From<Label> for ArrayContent {
    fn from(label: Label) -> Self {
        Self::Label(label)
    }
}

/// Values of one quantity or of one label for the cells of some layers, with x fastest, then y. The values of a
/// cell are adjacent.
#[derive(Debug, Clone)]
pub struct CellArray {
    /// Content of the array.
    pub content: ArrayContent,
    /// Field that has one cell along x for each value. `None` if there are no layers.
    field: Option<Field>,
}

impl CellArray {
    /// Creates an array without layers.
    pub fn new(content: impl Into<ArrayContent>) -> Self {
        Self {
            content: content.into(),
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

    /// Returns the field of [`as_field`](Self::as_field) for writing.
    pub fn as_field_mut(&mut self) -> Option<&mut Field> {
        self.field.as_mut()
    }

    /// Returns the dims of the field of [`as_field`](Self::as_field) for a grid of these dims.
    pub fn dims_for(content: &ArrayContent, [nx, ny, nz]: [usize; 3]) -> [usize; 3] {
        [content.numbers() * nx, ny, nz]
    }

    /// Resizes the array for a grid of these dims. The values are unspecified afterwards.
    ///
    /// # Errors
    /// Fails if the values do not fit in memory.
    pub fn resize(&mut self, dims: [usize; 3]) -> Result<()> {
        let dims = Self::dims_for(&self.content, dims);
        if self.field.as_ref().is_none_or(|field| field.dims() != dims) {
            self.field = None;
            self.field = Some(Field::new(dims, 0.0)?);
        }
        Ok(())
    }

    /// Returns the names of arrays, one for each. Labels whose name is taken, or is the name of the cells in
    /// files, get a number: `area (2)`.
    pub fn unique_names<'a>(contents: impl IntoIterator<Item = &'a ArrayContent>) -> Vec<String> {
        let mut taken = HashSet::from(["voxels".to_string()]);
        taken.extend(Quantity::ALL.map(|quantity| quantity.name().to_string()));
        let mut names = vec![];
        for content in contents {
            let mut name = content.name().to_string();
            if content.label().is_some() {
                let mut number = 2_u32;
                while !taken.insert(name.clone()) {
                    name = format!("{} ({number})", content.name());
                    number += 1;
                }
            }
            names.push(name);
        }
        names
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

    #[test]
    fn names_of_labels_are_unique() {
        let label = |name: &str| ArrayContent::from(Label::new(1, name));
        let contents = [
            Quantity::Area.into(),
            label("area"),
            label("voxels"),
            label("liver"),
            label("area"),
        ];
        let names = CellArray::unique_names(&contents);
        assert_eq!(
            names,
            ["area", "area (2)", "voxels (2)", "liver", "area (3)"]
        );
    }
}
