//! Voxels whose cells come in windows of consecutive layers: what is written, whether the whole
//! grid is in memory or is made in slabs.

use super::bits::BitGrid;
use super::digest::Digest;
use super::lattice::Lattice;
use super::parts::{Part, Sort};
use super::record::Record;
use super::voxels::Voxels;
use crate::error::Result;

/// The cells of a grid, window after window from the lowest layer to the highest, and what is known
/// before the first of them.
pub trait Layers {
    /// Cells per axis of the whole grid, `[nx, ny, nz]`.
    fn dims(&self) -> [usize; 3];

    /// Where the cells are, if known.
    fn lattice(&self) -> Option<&Lattice>;

    /// Rule, ties, tool and input, as far as known.
    fn record(&self) -> &Record;

    /// The next window; `None` after the last.
    ///
    /// # Errors
    /// If it cannot be made: its memory is not there, or the run was cancelled.
    fn next(&mut self) -> Result<Option<Window<'_>>>;

    /// The digests of all cells, to be asked after the last window.
    fn digest(&self) -> Digest;

    /// The sorts of the parts that every window has; none by default.
    fn sorts(&self) -> Vec<Sort> {
        Vec::new()
    }
}

/// Consecutive layers of a grid.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// Layer 0 of `bits` is this layer of the grid.
    pub first: usize,
    /// The layers, with all cells of the grid along x and y.
    pub bits: &'a BitGrid,
    /// The parts in which these cells are told apart, with the same dims; none for most grids.
    pub parts: &'a [Part],
}

/// Voxels in memory: one window.
#[derive(Debug, Clone)]
pub struct Whole<'a> {
    voxels: &'a Voxels,
    digest: Option<Digest>,
    given: bool,
    parts: &'a [Part],
}

impl<'a> Whole<'a> {
    /// All of `voxels`, whose digest is made when it is asked for.
    pub fn new(voxels: &'a Voxels) -> Self {
        Self { voxels, digest: None, given: false, parts: &[] }
    }

    /// The same, with the digest known.
    pub fn with_digest(voxels: &'a Voxels, digest: Digest) -> Self {
        Self { digest: Some(digest), ..Self::new(voxels) }
    }

    /// The same, its cells told apart: `parts` are to hold the cells of `voxels`, each in one.
    pub fn with_parts(voxels: &'a Voxels, parts: &'a [Part]) -> Self {
        Self::new(voxels).told_apart(parts)
    }

    /// The same in these parts, or in none.
    pub fn told_apart(self, parts: &'a [Part]) -> Self {
        Self { parts, ..self }
    }
}

impl Layers for Whole<'_> {
    fn dims(&self) -> [usize; 3] {
        self.voxels.dims()
    }

    fn lattice(&self) -> Option<&Lattice> {
        self.voxels.lattice.as_ref()
    }

    fn record(&self) -> &Record {
        &self.voxels.record
    }

    fn next(&mut self) -> Result<Option<Window<'_>>> {
        let given = std::mem::replace(&mut self.given, true);
        Ok((!given).then_some(Window { first: 0, bits: &self.voxels.bits, parts: self.parts }))
    }

    fn digest(&self) -> Digest {
        self.digest.unwrap_or_else(|| self.voxels.digest())
    }

    fn sorts(&self) -> Vec<Sort> {
        self.parts.iter().map(|part| part.sort).collect()
    }
}
