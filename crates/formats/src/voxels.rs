//! A finished grid with what is known about it: the thing that is saved and read back.

use voxelize_core::error::Result;
use voxelize_core::grid::{
    BitGrid, CellKind, CellSource, CellType, Cells, CellsRef, Digest, Field, Labels, Lattice,
    Record, Slab,
};

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
        Self {
            cells: cells.into(),
            lattice: None,
            record: Record::default(),
        }
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
        if let Cells::Labels(labels) = &self.cells {
            Some(labels)
        } else {
            None
        }
    }

    /// The field, if that is what the cells hold.
    pub fn field(&self) -> Option<&Field> {
        if let Cells::Field(field) = &self.cells {
            Some(field)
        } else {
            None
        }
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

/// Voxels in memory: one slab.
#[derive(Debug, Clone)]
pub struct InMemory<'a> {
    voxels: &'a Voxels,
    digest: Option<Digest>,
    given: bool,
}

impl<'a> InMemory<'a> {
    /// All of `voxels`, whose digest is computed when it is needed.
    pub fn new(voxels: &'a Voxels) -> Self {
        Self {
            voxels,
            digest: None,
            given: false,
        }
    }

    /// Voxels whose digest is known.
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
        let given = std::mem::replace(&mut self.given, true);
        Ok((!given).then(|| Slab {
            first: 0,
            cells: self.voxels.cells.as_ref(),
        }))
    }

    fn digest(&self) -> Digest {
        self.digest.unwrap_or_else(|| self.voxels.digest())
    }
}
