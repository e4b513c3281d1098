//! A complete grid with its lattice and record. This is what is saved and read.

use voxelize_core::error::Result;
use voxelize_core::grid::{
    BitGrid, CellKind, CellSource, CellType, Cells, CellsRef, Digest, Field, Labels, Lattice,
    Record, Slab,
};

/// Cells with their lattice and record.
#[derive(Debug, Clone, PartialEq)]
pub struct Voxels {
    /// Cells: bits, labels or a field.
    pub cells: Cells,
    /// Lattice of the cells. `None` if the file does not state it.
    pub lattice: Option<Lattice>,
    /// Facts about how the cells were made, such as rule, ties, tool and input, as far as they are known.
    pub record: Record,
}

impl Voxels {
    /// Creates voxels without a lattice. The record is empty.
    pub fn new(cells: impl Into<Cells>) -> Self {
        Self {
            cells: cells.into(),
            lattice: None,
            record: Record::default(),
        }
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.cells.as_ref().dims()
    }

    /// Returns the kind of the cells.
    pub fn kind(&self) -> CellKind {
        self.cells.as_ref().kind()
    }

    /// Returns the occupied cells. The cells must be bits or labels.
    ///
    /// # Errors
    /// Fails if the cells are a field.
    pub fn occupied(&self) -> Result<&BitGrid> {
        self.cells.as_ref().occupied()
    }

    /// Converts the voxels to their occupied cells. The cells must be bits or labels.
    ///
    /// # Errors
    /// Fails if the cells are a field.
    pub fn into_occupied(self) -> Result<BitGrid> {
        self.cells.into_occupied()
    }

    /// Returns the labels. `None` if the cells are not labels.
    pub fn labels(&self) -> Option<&Labels> {
        match &self.cells {
            Cells::Labels(labels) => Some(labels),
            _ => None,
        }
    }

    /// Returns the field. `None` if the cells are not a field.
    pub fn field(&self) -> Option<&Field> {
        match &self.cells {
            Cells::Field(field) => Some(field),
            _ => None,
        }
    }

    /// Returns the number of occupied cells. For a field, returns the number of cells that differ from the
    /// background.
    pub fn count(&self) -> u64 {
        self.cells.as_ref().count()
    }

    /// Returns the digest of the cells. If the lattice is known, it includes the digest of cells and lattice.
    pub fn digest(&self) -> Digest {
        Digest::of(self, self.lattice.as_ref())
    }
}

impl<'a> From<&'a Voxels> for CellsRef<'a> {
    fn from(voxels: &'a Voxels) -> Self {
        voxels.cells.as_ref()
    }
}

/// Source that returns voxels in memory as a single slab.
#[derive(Debug, Clone)]
pub struct InMemory<'a> {
    voxels: &'a Voxels,
    digest: Option<Digest>,
    given: bool,
}

impl<'a> InMemory<'a> {
    /// Creates a source of `voxels`. Their digest is computed if it is needed.
    pub fn new(voxels: &'a Voxels) -> Self {
        Self {
            voxels,
            digest: None,
            given: false,
        }
    }

    /// Creates a source of voxels whose digest is already known.
    pub fn with_digest(voxels: &'a Voxels, digest: Digest) -> Self {
        Self {
            digest: Some(digest),
            ..Self::new(voxels)
        }
    }
}

impl CellSource for InMemory<'_> {
    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn cell_type(&self) -> CellType<'_> {
        self.voxels.cells.as_ref().cell_type()
    }

    fn next(&mut self) -> Result<Option<Slab<'_>>> {
        if std::mem::replace(&mut self.given, true) {
            return Ok(None);
        }
        Ok(Some(Slab {
            first: 0,
            cells: self.voxels.cells.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest.unwrap_or_else(|| self.voxels.digest())
    }
}
