//! Digests to compare grids by, the same for every output format.
//!
//! Version 1 is BLAKE3, cut to 128 bits and written as `v1:` and 32 lower-case hex digits. Numbers
//! are 64-bit little-endian. Word `n` is cells `64 (n mod w) ..` of row `n / w`, where
//! `w = ceil(nx / 64)` and row `j + ny k` holds the cells `(·, j, k)`.
//!
//! - layer `k`: the hash of `n, word` for every non-zero word of the layer, in order of `n`;
//! - `cells`: the hash of `"voxelize cells v1\n"`, `nx, ny, nz`, then `k` and the 32 bytes of the
//!   hash of each layer with a non-zero word, in order of `k`;
//! - `grid`: the hash of `"voxelize grid v1\n"`, the 16 bytes of `cells`, then per axis the text
//!   `origin spacing closed\n`, with reduced fractions `p/q` and closed as `0` or `1`.
//!
//! Layers are hashed in parallel; neither threads nor slabs change a digest.

use std::fmt;
use std::str::FromStr;

use super::bits::BitGrid;
use super::lattice::Lattice;
use crate::error::sanitize;
use crate::par;

/// The digests of one grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// Of the dims and the cells.
    pub cells: Hash,
    /// Of those and the lattice; `None` if the lattice is not known.
    pub grid: Option<Hash>,
}

/// 128 bits; `Display` writes `v1:` and 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash([u8; 16]);

impl Digest {
    /// The digests of `bits` at `lattice`.
    pub fn of(bits: &BitGrid, lattice: Option<&Lattice>) -> Self {
        let mut digester = Digester::new(bits.dims());
        digester.add(bits);
        digester.finish(lattice)
    }
}

/// Makes the digests of a grid whose layers come in windows, one after the other.
///
/// ```
/// use voxelize::grid::{BitGrid, Digest, Digester};
///
/// let (whole, layer) = (BitGrid::from_text("##.\n\n.#.")?, BitGrid::from_text("##.")?);
/// let mut digester = Digester::new([3, 1, 2]);
/// digester.add(&layer);
/// digester.add(&BitGrid::from_text(".#.")?);
/// assert_eq!(digester.finish(None), Digest::of(&whole, None));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Digester {
    hasher: blake3::Hasher,
    dims: [usize; 3],
    /// The layer that comes next.
    next: usize,
}

impl Digester {
    /// For a grid of `dims` cells, `[nx, ny, nz]`.
    pub fn new(dims: [usize; 3]) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"voxelize cells v1\n");
        for n in dims {
            hasher.update(&(n as u64).to_le_bytes());
        }
        Self { hasher, dims, next: 0 }
    }

    /// Takes the next layers: as many as `window` has, its cells along x and y those of the grid.
    ///
    /// # Panics
    /// If they are other cells, or more layers than are left.
    pub fn add(&mut self, window: &BitGrid) {
        let [nx, ny, layers] = window.dims();
        assert!([nx, ny] == self.dims[..2] && layers <= self.dims[2] - self.next, "layers of another grid");
        let hashes = par::map_range(0..layers, |k| layer_hash(window, k, self.next + k));
        for (k, hash) in hashes.iter().enumerate() {
            if let Some(hash) = hash {
                self.hasher.update(&((self.next + k) as u64).to_le_bytes()).update(hash.as_bytes());
            }
        }
        self.next += layers;
    }

    /// The digests of all layers, at `lattice`.
    ///
    /// # Panics
    /// If layers are missing.
    pub fn finish(&self, lattice: Option<&Lattice>) -> Digest {
        assert_eq!(self.next, self.dims[2], "layers are missing");
        let cells = Hash::cut(self.hasher.finalize());
        Digest { cells, grid: lattice.map(|lattice| grid_hash(cells, lattice)) }
    }
}

/// The hash of the non-zero words of layer `k` of a window, which is layer `layer` of the grid;
/// `None` if it has none.
fn layer_hash(window: &BitGrid, k: usize, layer: usize) -> Option<blake3::Hash> {
    // Enough pairs at a time for the hash to work on several of its blocks at once.
    const BATCH: usize = 16 * 1024;
    let first = layer * window.layer_words();
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::with_capacity(BATCH + 16);
    for (n, word) in window.layer(k).iter().enumerate().filter(|(_, word)| **word != 0) {
        buffer.extend_from_slice(&((first + n) as u64).to_le_bytes());
        buffer.extend_from_slice(&word.to_le_bytes());
        if buffer.len() >= BATCH {
            hasher.update(&buffer);
            buffer.clear();
        }
    }
    hasher.update(&buffer);
    (hasher.count() > 0).then(|| hasher.finalize())
}

fn grid_hash(cells: Hash, lattice: &Lattice) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"voxelize grid v1\n").update(&cells.0);
    for axis in 0..3 {
        let (origin, spacing) = (&lattice.origin()[axis], &lattice.spacing()[axis]);
        let closed = u8::from(lattice.closed()[axis]);
        hasher.update(format!("{origin} {spacing} {closed}\n").as_bytes());
    }
    Hash::cut(hasher.finalize())
}

impl Hash {
    fn cut(hash: blake3::Hash) -> Self {
        let mut cut = [0; 16];
        cut.copy_from_slice(&hash.as_bytes()[..16]);
        Self(cut)
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("v1:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Hash {
    type Err = String;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, String> {
        let broken = || format!("'{}' is no digest: v1: and 32 lower-case hex digits are", sanitize(text));
        let digits = text.strip_prefix("v1:").ok_or_else(broken)?;
        let is_hex = |c: u8| matches!(c, b'0'..=b'9' | b'a'..=b'f');
        if digits.len() != 32 || !digits.bytes().all(is_hex) {
            return Err(broken());
        }
        let bits = u128::from_str_radix(digits, 16).map_err(|_| broken())?;
        Ok(Self(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Rational;

    fn grid() -> BitGrid {
        BitGrid::from_text("##.\n#..\n\n...\n...\n\n..#\n...").unwrap()
    }

    #[test]
    fn every_cell_and_the_dims_count() {
        let whole = Digest::of(&grid(), None).cells;
        for cell in [[2, 0, 0], [0, 0, 1], [2, 1, 1]] {
            let mut other = grid();
            other.set(cell);
            assert_ne!(Digest::of(&other, None).cells, whole, "{cell:?}");
        }
        let (flat, tall) = (BitGrid::new([4, 2, 1]).unwrap(), BitGrid::new([4, 1, 2]).unwrap());
        assert_ne!(Digest::of(&flat, None).cells, Digest::of(&tall, None).cells);
    }

    #[test]
    fn the_lattice_counts_in_the_grid_digest_alone() {
        let at = |origin: i64, closed: bool| {
            let origin = [origin, 0, 0].map(Rational::from);
            let lattice =
                Lattice::new([3, 2, 3], origin, [1, 1, 1].map(Rational::from), [closed, true, true]);
            Digest::of(&grid(), Some(&lattice.unwrap()))
        };
        let base = at(0, true);
        for other in [at(1, true), at(0, false)] {
            assert_eq!(base.cells, other.cells);
            assert_ne!(base.grid, other.grid);
        }
    }

    #[test]
    fn windows_change_nothing() {
        let whole = Digest::of(&grid(), None);
        for cuts in [&[1, 1, 1][..], &[2, 1], &[1, 2]] {
            let (mut digester, mut first) = (Digester::new([3, 2, 3]), 0);
            for &layers in cuts {
                let mut window = BitGrid::new([3, 2, layers]).unwrap();
                let within = |k: usize| (first..first + layers).contains(&k);
                let cells = grid().iter().filter(|cell| within(cell[2])).collect::<Vec<_>>();
                cells.iter().for_each(|&[i, j, k]| window.set([i, j, k - first]));
                digester.add(&window);
                first += layers;
            }
            assert_eq!(digester.finish(None), whole, "{cuts:?}");
        }
    }

    #[test]
    #[should_panic(expected = "layers are missing")]
    fn half_a_grid_has_no_digest() {
        Digester::new([3, 2, 3]).finish(None);
    }

    #[test]
    fn version_one_never_changes() {
        // A change here means `v2`, not a new value.
        let digest = Digest::of(&grid(), None).cells.to_string();
        assert_eq!(digest, "v1:8d57eded3c8acae39a79bdb0ed729896");
    }

    #[test]
    fn digests_are_read_as_they_are_written() {
        let hash = Digest::of(&grid(), None).cells;
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for text in ["", "v1:", "v2:8d57eded3c8acae39a79bdb0ed729896", "v1:8D57eded3c8acae39a79bdb0ed729896"]
        {
            assert!(text.parse::<Hash>().is_err(), "{text}");
        }
        for text in [&hash.to_string()[..34], &format!("{hash}0"), &hash.to_string().replace('8', "+")] {
            assert!(text.parse::<Hash>().is_err(), "{text}");
        }
    }
}
