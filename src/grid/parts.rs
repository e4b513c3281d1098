//! Cells told apart by what they are, as pictures and coloured formats show them.

use super::bits::BitGrid;

/// What the cells of a [`Part`] are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sort {
    /// Next to an empty cell or to the end of the grid.
    Surface,
    /// All six neighbours are occupied.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sort_is_known_by_its_name() {
        for sort in Sort::ALL {
            assert_eq!(Sort::from_name(sort.name()), Some(sort));
        }
        assert_eq!(Sort::from_name("neither"), None);
    }
}
