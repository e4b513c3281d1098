//! Digests of grids, for comparing grids. They do not depend on the output format.
//!
//! Version 1 uses BLAKE3, truncated to 128 bits and written as `v1:` and 32 lower-case hex digits. Numbers
//! are 64-bit integers in little-endian order. Word `n` has up to 64 cells of row `n / w`, from cell `64 (n
//! mod w)` on, where `w = ceil(nx / 64)`. Row `j + ny k` has the cells `(·, j, k)`.
//!
//! - layer `k`: the hash of `n, word` for every nonzero word of the layer, in order of `n`;
//! - `cells`: the hash of `"voxelize cells v1\n"`, `nx, ny, nz`, then `k` and the 32 bytes of the hash for
//!   each layer with a nonzero word, in order of `k`;
//! - `grid`: the hash of `"voxelize grid v1\n"`, the 16 bytes of `cells`, then for each axis the text `origin
//!   spacing closed\n`. Origin and spacing are fractions `p/q` in lowest terms, and closed is `0` or `1`.
//!
//! The digest of labels is the digest of their occupied cells, unless the legend specifies that it covers
//! [values](LabelDigest::Values). For such labels, and for fields, `cells` is the hash of the following
//! bytes:
//!
//! | | labels | field |
//! |---|---|---|
//! | first | `"voxelize labels v1\n"`, `nx, ny, nz` | `"voxelize field v1\n"`, `nx, ny, nz`, the 4 bytes of the background |
//! | bits of word `n` | cells with a label | cells with another value than the background |
//! | layer `k` | `n, word`, then a byte for each such cell: its label | `n, word`, then 4 bytes for each such cell: its value |
//!
//! Values of a field are IEEE 754 floats in little-endian order. Every NaN is hashed as `7fc00000`. −0 and +0
//! are different values. No digest covers names and colours of labels.
//!
//! Layers are hashed in parallel. The digest does not depend on the number of threads or the division into
//! slabs.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::str::FromStr;

use super::bits::{BitGrid, bits_of};
use super::cells::{CellType, CellsRef};
use super::field::{Field, canonical};
use super::labels::Labels;
use super::lattice::Lattice;
use super::legend::LabelDigest;
use crate::error::sanitize;
use crate::par;

/// Digests of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest {
    /// Digest of the dims and the cells.
    pub cells: Hash,
    /// Digest of the cells and the lattice. `None` if the lattice is unknown.
    pub grid: Option<Hash>,
}

/// 128-bit hash. `Display` writes `v1:` and 32 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hash([u8; 16]);

impl Digest {
    /// Computes the digests of cells on a lattice.
    pub fn of<'a>(cells: impl Into<CellsRef<'a>>, lattice: Option<&Lattice>) -> Self {
        let cells = cells.into();
        let mut builder = DigestBuilder::new(cells.dims(), cells.cell_type());
        builder.add(cells);
        builder.finish(lattice)
    }
}

/// Builder that computes the digests of a grid from slabs of layers.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::grid::{BitGrid, CellType, Digest, DigestBuilder};
///
/// let (whole, layer) = (BitGrid::from_text("##.\n\n.#.")?, BitGrid::from_text("##.")?);
/// let mut builder = DigestBuilder::new([3, 1, 2], CellType::Bits);
/// builder.add(&layer);
/// builder.add(&BitGrid::from_text(".#.")?);
/// assert_eq!(builder.finish(None), Digest::of(&whole, None));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DigestBuilder {
    hasher: blake3::Hasher,
    dims: [usize; 3],
    domain: Domain,
    /// Index of the next layer to hash.
    next: usize,
    /// Hashes of layers that were added before a lower layer.
    ahead: BTreeMap<usize, Option<LayerHash>>,
    /// Number of occupied cells in the layers that were added.
    occupied: u64,
}

/// Content that the digest covers.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Domain {
    Occupancy,
    Labels,
    /// Field, with the bits of its background value.
    Field(u32),
}

impl Domain {
    fn of(cells: CellType) -> Self {
        match cells {
            CellType::Bits => Self::Occupancy,
            CellType::Labels(legend) => match legend.digest() {
                LabelDigest::Occupancy => Self::Occupancy,
                LabelDigest::Values => Self::Labels,
            },
            CellType::Field { background } => Self::Field(canonical(background)),
        }
    }

    fn name(self) -> &'static [u8] {
        match self {
            Self::Occupancy => b"voxelize cells v1\n",
            Self::Labels => b"voxelize labels v1\n",
            Self::Field(_) => b"voxelize field v1\n",
        }
    }
}

impl DigestBuilder {
    /// Creates a builder for a grid of `dims` cells of this type.
    pub fn new(dims: [usize; 3], cells: CellType) -> Self {
        let domain = Domain::of(cells);
        let mut hasher = blake3::Hasher::new();
        hasher.update(domain.name());
        for n in dims {
            hasher.update(&(n as u64).to_le_bytes());
        }
        if let Domain::Field(background) = domain {
            hasher.update(&background.to_le_bytes());
        }
        Self {
            hasher,
            dims,
            domain,
            next: 0,
            ahead: BTreeMap::new(),
            occupied: 0,
        }
    }

    /// Adds the next layers. The slab must have the dims of the grid along x and y.
    ///
    /// # Panics
    /// Panics if the dims or the type of the cells differ from those of the grid, or if there are more layers
    /// than remain.
    pub fn add<'a>(&mut self, slab: impl Into<CellsRef<'a>>) {
        self.add_at(self.next, slab);
    }

    /// Adds the layers of a slab, whose layer 0 is layer `first` of the grid. Layers may be added in any
    /// order, each only once.
    ///
    /// ```
    /// # use voxelize_core as voxelize;
    /// use voxelize::grid::{BitGrid, CellType, Digest, DigestBuilder};
    ///
    /// let whole = BitGrid::from_text("##.\n\n.#.\n\n..#")?;
    /// let [mut low, mut high] = [(); 2].map(|()| DigestBuilder::new([3, 1, 3], CellType::Bits));
    /// high.add_at(2, &BitGrid::from_text("..#")?);
    /// low.add_at(1, &BitGrid::from_text(".#.")?);
    /// low.add_at(0, &BitGrid::from_text("##.")?);
    /// high.merge(low);
    /// assert_eq!(high.finish(None), Digest::of(&whole, None));
    /// # Ok::<(), voxelize::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the dims or the type of the cells differ from those of the grid, if the grid has no such
    /// layers, or if they were already added.
    pub fn add_at<'a>(&mut self, first: usize, slab: impl Into<CellsRef<'a>>) {
        let slab = slab.into();
        let [nx, ny, _] = slab.dims();
        assert!([nx, ny] == self.dims[..2], "layers of another grid");
        assert!(
            self.domain == Domain::of(slab.cell_type()),
            "cells of another type"
        );
        self.put_layers(first, layer_hashes(first, slab));
    }

    /// Adds the hashes of consecutive layers from `first` on. [`layer_hashes`] computes them from the cells
    /// of the grid.
    ///
    /// # Panics
    /// Panics if the grid has no such layers, or if they were already added.
    pub fn put_layers(&mut self, first: usize, hashes: Vec<Option<LayerHash>>) {
        let fits = first <= self.dims[2] && hashes.len() <= self.dims[2] - first;
        assert!(fits, "layers of another grid");
        for (k, hash) in hashes.into_iter().enumerate() {
            self.put(first + k, hash);
        }
    }

    /// Adds the layers of another builder for the same grid.
    ///
    /// # Panics
    /// Panics if the other builder is for another grid, or if a layer was added to both.
    pub fn merge(&mut self, other: Self) {
        assert!(
            self.dims == other.dims && self.domain == other.domain,
            "layers of another grid"
        );
        let mut other = other;
        if other.next > self.next {
            std::mem::swap(self, &mut other);
        }
        assert_eq!(other.next, 0, "layer 0 was taken before");
        for (layer, hash) in other.ahead {
            self.put(layer, hash);
        }
    }

    /// Adds the hash of a layer to the digest, or stores it until all lower layers have been added.
    fn put(&mut self, layer: usize, hash: Option<LayerHash>) {
        assert!(layer >= self.next, "layer {layer} was taken before");
        self.occupied += hash.as_ref().map_or(0, |hash| hash.occupied);
        assert!(
            self.ahead.insert(layer, hash).is_none(),
            "layer {layer} was taken before"
        );
        while let Some(hash) = self.ahead.remove(&self.next) {
            if let Some(LayerHash { hash, .. }) = hash {
                self.hasher
                    .update(&(self.next as u64).to_le_bytes())
                    .update(hash.as_bytes());
            }
            self.next += 1;
        }
    }

    /// Returns the number of occupied cells in the layers that were added. For a field, it is the number of
    /// cells that differ from the background.
    pub fn occupied(&self) -> u64 {
        self.occupied
    }

    /// Returns the digests of the whole grid, on the given lattice.
    ///
    /// # Panics
    /// Panics if a layer has not been added.
    pub fn finish(&self, lattice: Option<&Lattice>) -> Digest {
        assert_eq!(self.next, self.dims[2], "layers are missing");
        let cells = Hash::cut(self.hasher.finalize());
        Digest {
            cells,
            grid: lattice.map(|lattice| grid_hash(cells, lattice)),
        }
    }
}

/// Hash of a layer, with the number of the layer's occupied cells. `Display` writes 64 hex digits and the
/// number, and `FromStr` parses them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerHash {
    hash: blake3::Hash,
    occupied: u64,
}

impl LayerHash {
    /// Returns the number of occupied cells in the layer. For a field, it is the number of cells that differ
    /// from the background.
    pub fn occupied(&self) -> u64 {
        self.occupied
    }
}

impl fmt::Display for LayerHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.hash.to_hex(), self.occupied)
    }
}

impl FromStr for LayerHash {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| format!("'{}' is not the hash of a layer", sanitize(text)))
    }
}

impl LayerHash {
    fn parse(text: &str) -> Option<Self> {
        let (hash, occupied) = text.split_once(' ')?;
        Some(Self {
            hash: blake3::Hash::from_hex(hash).ok()?,
            occupied: occupied.parse().ok()?,
        })
    }
}

/// Computes the hashes of the layers of a slab, whose layer 0 is layer `first` of a grid. The hash of an
/// empty layer is `None`. [`DigestBuilder::put_layers`] accepts the hashes, also in another process. Uses the
/// calling thread pool.
pub fn layer_hashes<'a>(first: usize, slab: impl Into<CellsRef<'a>>) -> Vec<Option<LayerHash>> {
    let slab = slab.into();
    par::map_range(0..slab.dims()[2], |k| layer_hash(slab, k, first + k))
}

/// Hasher for the bytes of files, with the same hash function as digests.
#[derive(Debug, Clone, Default)]
pub struct BytesHasher(blake3::Hasher);

impl BytesHasher {
    /// Returns the hash of the bytes that were written.
    pub fn finish(&self) -> Hash {
        Hash::cut(self.0.finalize())
    }
}

impl io::Write for BytesHasher {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Computes the hash of layer `k` of a slab, which is layer `layer` of the grid. `None` if the layer is
/// empty.
fn layer_hash(slab: CellsRef, k: usize, layer: usize) -> Option<LayerHash> {
    match slab {
        CellsRef::Bits(bits) => bits_hash(bits, k, layer),
        CellsRef::Labels(labels) => match labels.legend().digest() {
            LabelDigest::Occupancy => bits_hash(labels.occupied(), k, layer),
            LabelDigest::Values => labels_hash(labels, k, layer),
        },
        CellsRef::Field(field) => field_hash(field, k, layer),
    }
}

/// Number of bytes that are hashed at a time. It is large enough for the hash function to process several
/// blocks in parallel.
const BATCH: usize = 16 * 1024;

/// Number of words that are tested together, because most words are zero.
const TOGETHER: usize = 8;

/// Hasher for the words of a layer. It also counts the occupied cells.
struct WordsHasher {
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
    occupied: u64,
}

impl WordsHasher {
    fn new() -> Self {
        Self {
            hasher: blake3::Hasher::new(),
            buffer: Vec::with_capacity(BATCH + 64),
            occupied: 0,
        }
    }

    /// Adds word `n` if it is not zero.
    #[inline(always)]
    fn add(&mut self, n: usize, word: u64) {
        if word == 0 {
            return;
        }
        self.occupied += u64::from(word.count_ones());
        self.buffer
            .extend_from_slice([n as u64, word].map(u64::to_le_bytes).as_flattened());
        if self.buffer.len() >= BATCH {
            self.hasher.update(&self.buffer);
            self.buffer.clear();
        }
    }

    fn finish(mut self) -> Option<LayerHash> {
        self.hasher.update(&self.buffer);
        (self.hasher.count() > 0).then(|| LayerHash {
            hash: self.hasher.finalize(),
            occupied: self.occupied,
        })
    }
}

fn bits_hash(bits: &BitGrid, k: usize, layer: usize) -> Option<LayerHash> {
    let first = layer * bits.layer_words();
    let mut hasher = WordsHasher::new();
    if let Some(words) = bits.noted(k) {
        words
            .iter()
            .for_each(|(place, word)| hasher.add(first + place, *word));
        return hasher.finish();
    }
    for (n, words) in bits.layer(k).chunks(TOGETHER).enumerate() {
        if words.iter().fold(0, |all, word| all | word) != 0 {
            let places = first + n * TOGETHER..;
            places.zip(words).for_each(|(n, word)| hasher.add(n, *word));
        }
    }
    hasher.finish()
}

fn labels_hash(labels: &Labels, k: usize, layer: usize) -> Option<LayerHash> {
    let mut row = vec![0; labels.dims()[0]];
    layer_of_rows(labels.dims(), layer, |j, hash_word| {
        let words = labels.occupied().row(j, k);
        if words.iter().any(|word| *word != 0) {
            labels.row(j, k, &mut row);
        }
        for (n, word) in words.iter().enumerate() {
            hash_word(n, *word, &mut |bit, buffer| buffer.push(row[64 * n + bit]));
        }
    })
}

fn field_hash(field: &Field, k: usize, layer: usize) -> Option<LayerHash> {
    layer_of_rows(field.dims(), layer, |j, hash_word| {
        let row = field.row(j, k);
        for n in 0..row.len().div_ceil(64) {
            hash_word(n, field.word(j, k, n), &mut |bit, buffer| {
                buffer.extend_from_slice(&canonical(row[64 * n + bit]).to_le_bytes());
            });
        }
    })
}

/// Function that is called with the index of a word in its row, the word, and a function that appends the
/// value of the cell at a given bit to a buffer.
type HashWord<'a> = dyn FnMut(usize, u64, &mut dyn FnMut(usize, &mut Vec<u8>)) + 'a;

/// Computes the hash of the nonzero words of a layer with the values of their cells. `row` passes the words
/// of row `j` to its second argument.
fn layer_of_rows(
    [nx, ny, _]: [usize; 3],
    layer: usize,
    mut row: impl FnMut(usize, &mut HashWord),
) -> Option<LayerHash> {
    let row_words = nx.div_ceil(64);
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::with_capacity(BATCH + 16 + 64 * 4);
    let mut occupied = 0;
    for j in 0..ny {
        row(j, &mut |n, word, value| {
            if word == 0 {
                return;
            }
            let place = (layer * ny + j) * row_words + n;
            buffer.extend_from_slice(&(place as u64).to_le_bytes());
            buffer.extend_from_slice(&word.to_le_bytes());
            bits_of(word).for_each(|bit| value(bit, &mut buffer));
            occupied += u64::from(word.count_ones());
            if buffer.len() >= BATCH {
                hasher.update(&buffer);
                buffer.clear();
            }
        });
    }
    hasher.update(&buffer);
    (hasher.count() > 0).then(|| LayerHash {
        hash: hasher.finalize(),
        occupied,
    })
}

fn grid_hash(cells: Hash, lattice: &Lattice) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"voxelize grid v1\n").update(&cells.0);
    for axis in 0..3 {
        let origin = &lattice.origin()[axis];
        let spacing = &lattice.spacing()[axis];
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

    /// Parses the text that `Display` writes.
    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| {
            format!(
                "'{}' is not a digest; expected v1: and 32 lower-case hex digits",
                sanitize(text)
            )
        })
    }
}

impl Hash {
    fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("v1:")?;
        let are_hex = digits
            .bytes()
            .all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        if digits.len() != 32 || !are_hex {
            return None;
        }
        let bits = u128::from_str_radix(digits, 16).ok()?;
        Some(Self(bits.to_be_bytes()))
    }
}

#[cfg(test)]
mod tests;
