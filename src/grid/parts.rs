//! Cells told apart by what they are, as pictures and coloured formats show them.

use super::bits::BitGrid;
use crate::error::{Error, Result};

/// What the cells of a [`Part`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sort {
    /// Touched by the mesh, as `surface_and_interior` tells them apart; or, where no mesh is known, next to
    /// an empty cell or to the end of the grid.
    Surface,
    /// The other cells of the same grid.
    Interior,
    /// In both of two grids.
    Common,
    /// In the second of two grids only.
    Added,
    /// In the first of two grids only.
    Removed,
}

impl Sort {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Surface, Self::Interior, Self::Common, Self::Added, Self::Removed];

    /// The word for it in files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Interior => "interior",
            Self::Common => "common",
            Self::Added => "added",
            Self::Removed => "removed",
        }
    }

    /// The number for it in files: in a .vox that of its colour, in an array of numbers the value of its cells.
    pub fn number(self) -> u8 {
        match self {
            Self::Surface => 1,
            Self::Interior => 2,
            Self::Common => 3,
            Self::Added => 4,
            Self::Removed => 5,
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sort| sort.name() == name)
    }
}

/// Cells of one sort; the parts of a grid have its dims and share no cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What they are.
    pub sort: Sort,
    /// Which cells.
    pub cells: BitGrid,
}

/// The cells of all parts together.
///
/// # Errors
/// If there are no parts, their dims differ, or the grid does not fit in memory.
pub fn union(parts: &[Part]) -> Result<BitGrid> {
    let Some(first) = parts.first() else { return Err(Error::usage("no parts, so no dims of a grid")) };
    let mut all = BitGrid::new(first.cells.dims())?;
    for part in parts {
        if part.cells.dims() != all.dims() {
            return Err(Error::usage("parts of grids of different dims"));
        }
        for (word, more) in all.words_mut().iter_mut().zip(part.cells.words()) {
            *word |= more;
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_union_has_the_cells_of_all() {
        let part = |sort, text| Part { sort, cells: BitGrid::from_text(text).unwrap() };
        let parts = [part(Sort::Added, "#.."), part(Sort::Removed, "..#")];
        assert_eq!(union(&parts).unwrap().to_text(), "#.#\n");
        assert!(union(&[]).is_err() && union(&[part(Sort::Added, "#"), part(Sort::Common, "##")]).is_err());
    }

    #[test]
    fn every_sort_is_known_by_its_name() {
        for sort in Sort::ALL {
            assert_eq!(Sort::from_name(sort.name()), Some(sort));
        }
        assert_eq!(Sort::from_name("neither"), None);
    }
}
