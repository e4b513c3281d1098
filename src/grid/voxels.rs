//! A finished grid with what is known about it: the thing that is saved and read back.

use super::bits::BitGrid;
use super::digest::Digest;
use super::lattice::Lattice;
use super::record::Record;

/// Occupied cells, where they are, and how they came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Voxels {
    /// Which cells are occupied.
    pub bits: BitGrid,
    /// Where the cells are; `None` if read from a file that does not say.
    pub lattice: Option<Lattice>,
    /// Rule, ties, tool and input, as far as known.
    pub record: Record,
}

impl Voxels {
    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.bits.dims()
    }

    /// How many cells are occupied.
    pub fn count(&self) -> u64 {
        self.bits.count()
    }

    /// The occupied cells `[i, j, k]`, x fastest.
    pub fn iter(&self) -> impl Iterator<Item = [usize; 3]> + '_ {
        self.bits.iter()
    }

    /// The digests of the cells and, where the lattice is known, of the grid.
    pub fn digest(&self) -> Digest {
        Digest::of(&self.bits, self.lattice.as_ref())
    }
}
