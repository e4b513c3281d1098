//! A finished grid with what is known about it: the thing that is saved and read back.

use super::bits::BitGrid;
use super::cells::{CellKind, Cells, CellsRef};
use super::digest::Digest;
use super::field::Field;
use super::labels::Labels;
use super::lattice::Lattice;
use super::record::Record;
use crate::error::Result;

/// Cells, where they are, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Voxels {
    /// The cells: bits, labels or a field.
    pub cells: Cells,
    /// Where the cells are; `None` if read from a file that does not say.
    pub lattice: Option<Lattice>,
    /// Rule, ties, tool and input, as far as known.
    pub record: Record,
}

impl Voxels {
    /// Cells of which nothing else is known.
    pub fn new(cells: impl Into<Cells>) -> Self {
        Self { cells: cells.into(), lattice: None, record: Record::default() }
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.cells.as_ref().dims()
    }

    /// The kind of the cells.
    pub fn kind(&self) -> CellKind {
        self.cells.as_ref().kind()
    }

    /// The occupied cells of bits or labels.
    ///
    /// # Errors
    /// If it is a field, which has none.
    pub fn occupied(&self) -> Result<&BitGrid> {
        self.cells.as_ref().occupied()
    }

    /// The occupied cells alone.
    ///
    /// # Errors
    /// The same.
    pub fn into_occupied(self) -> Result<BitGrid> {
        self.cells.into_occupied()
    }

    /// The labels, if that is what the cells hold.
    pub fn labels(&self) -> Option<&Labels> {
        if let Cells::Labels(labels) = &self.cells { Some(labels) } else { None }
    }

    /// The field, if that is what the cells hold.
    pub fn field(&self) -> Option<&Field> {
        if let Cells::Field(field) = &self.cells { Some(field) } else { None }
    }

    /// How many cells are occupied; of a field, how many have another value than the background.
    pub fn count(&self) -> u64 {
        self.cells.as_ref().count()
    }

    /// The digests of the cells and, where the lattice is known, of the grid.
    pub fn digest(&self) -> Digest {
        Digest::of(self, self.lattice.as_ref())
    }
}

impl<'a> From<&'a Voxels> for CellsRef<'a> {
    fn from(voxels: &'a Voxels) -> Self {
        voxels.cells.as_ref()
    }
}
