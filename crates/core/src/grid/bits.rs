//! Grid of bits: one bit per cell. A word has 64 cells along x, and rows are padded to whole words.

use std::fmt;

use super::lattice::Lattice;
use super::spread::spread_row;
use crate::error::{Error, Result};
use crate::par;
pub use voxelize_kernel::bits_of;
use voxelize_kernel::memory::Zeroed;

/// Grid of `[nx, ny, nz]` cells with one bit per cell.
///
/// Word `w` of row `(j, k)` contains the cells from `64 w` to `64 w + 63` along x. Its lowest bit is the
/// first cell. Bits beyond `nx` are always zero. Rows are stored with y fastest, then z.
#[derive(Clone)]
pub struct BitGrid {
    dims: [usize; 3],
    row_words: usize,
    words: Zeroed<u64>,
    /// For each layer, its nonzero words and their indices in the layer, in order. `None` if they are not
    /// known.
    noted: Option<Vec<NotedWords>>,
}

impl PartialEq for BitGrid {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims && *self.words == *other.words
    }
}

impl Eq for BitGrid {}

/// Nonzero words of a layer with their indices in the layer, in order.
type NotedWords = Vec<(usize, u64)>;

/// The nonzero words of a layer are recorded if at most one word in this many is nonzero.
const SPARSE: usize = 4;

/// Returns the number of elements of an array of these dims. `None` if it overflows.
pub(super) fn checked_size([x, y, z]: [usize; 3]) -> Option<usize> {
    x.checked_mul(y)?.checked_mul(z)
}

/// Fails if one of the dims is zero.
pub(super) fn check_dims(dims: [usize; 3]) -> Result<()> {
    if dims.contains(&0) {
        return Err(Error::usage("a grid needs at least one cell on every axis"));
    }
    Ok(())
}

impl BitGrid {
    /// Creates an empty grid. The system provides zeroed pages, which use no physical memory until cells are
    /// set.
    ///
    /// # Errors
    /// Fails if one of the dims is zero, or if the words do not fit in memory.
    pub fn new(dims: [usize; 3]) -> Result<Self> {
        check_dims(dims)?;
        let [x, y, z] = dims;
        let row_words = x.div_ceil(64);
        let words = checked_size([row_words, y, z])
            .and_then(Zeroed::new)
            .ok_or_else(|| {
                Error::too_large(format!(
                    "a grid of {x} × {y} × {z} cells does not fit in memory"
                ))
                .with_hint("use larger cells")
            })?;
        Ok(Self {
            dims,
            row_words,
            words,
            noted: None,
        })
    }

    /// Changes the dims and empties the grid. A grid that already has these dims stays unchanged.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`new`](Self::new).
    pub fn reshape(&mut self, dims: [usize; 3]) -> Result<()> {
        if self.dims != dims {
            // The old memory is freed first.
            *self = Self::new([1; 3])?;
            *self = Self::new(dims)?;
        }
        Ok(())
    }

    /// Returns the memory of a grid of these dims in bytes, for memory plans.
    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        8 * dims[0].div_ceil(64) as u128 * dims[1] as u128 * dims[2] as u128
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Returns the number of words in a row.
    pub fn row_words(&self) -> usize {
        self.row_words
    }

    /// Returns the number of words in a layer.
    pub fn layer_words(&self) -> usize {
        self.row_words * self.dims[1]
    }

    /// Returns all words. Rows are stored with y fastest, then z.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns all words for writing. Bits beyond `nx` must stay zero.
    pub fn words_mut(&mut self) -> &mut [u64] {
        self.noted = None;
        &mut self.words
    }

    /// Empties all cells.
    pub fn clear(&mut self) {
        let Some(mut noted) = self.noted.take() else {
            return self.words.fill(0);
        };
        let layer_words = self.layer_words();
        let layers = self.words.chunks_mut(layer_words).zip(&mut noted).collect();
        par::map(layers, |(layer, noted): (&mut [u64], &mut NotedWords)| {
            noted.drain(..).for_each(|(place, _)| layer[place] = 0);
        });
        self.noted = Some(noted);
    }

    /// Fills an empty grid. `each` is called for each layer. It must call its second argument once for each
    /// nonzero word of the layer, in order, with the index of the word in the layer and the word. If no layer
    /// has many nonzero words, the grid keeps a list of them for [`noted`](Self::noted). The next write by
    /// another method discards the list. Uses the calling thread pool.
    pub fn fill_noted(&mut self, each: impl Fn(usize, &mut dyn FnMut(usize, u64)) + Sync) {
        let layer_words = self.layer_words();
        let most = layer_words / SPARSE;
        let noted = match self.noted.take() {
            Some(noted) => noted,
            None => vec![vec![]; self.dims[2]],
        };
        let layers = self.words.chunks_mut(layer_words).zip(noted);
        let layers = layers.enumerate().collect();
        let noted = par::map(
            layers,
            |(k, (layer, mut noted)): (usize, (&mut [u64], NotedWords))| {
                let mut count = 0;
                noted.reserve_exact(most);
                each(k, &mut |place, word| {
                    layer[place] = word;
                    count += 1;
                    if count <= most {
                        noted.push((place, word));
                    }
                });
                (count <= most).then_some(noted)
            },
        );
        self.noted = noted.into_iter().collect();
    }

    /// Returns an upper bound of the memory, in bytes, of the recorded nonzero words of a grid of these dims,
    /// for memory plans.
    pub fn noted_bytes_for(dims: [usize; 3]) -> u128 {
        Self::bytes_for(dims) / (8 * SPARSE as u128) * size_of::<(usize, u64)>() as u128
    }

    /// Returns the nonzero words of layer `k` with their indices in the layer, in order. `None` if they are
    /// not recorded.
    pub fn noted(&self, k: usize) -> Option<&[(usize, u64)]> {
        self.noted.as_ref().map(|noted| noted[k].as_slice())
    }

    /// Writes zeros to every page, so that the system allocates the memory now and not during later writes.
    /// Benchmarks use this.
    pub fn touch(&mut self) {
        self.words_mut().fill(std::hint::black_box(0));
    }

    /// Returns the words of layer `k`.
    pub fn layer(&self, k: usize) -> &[u64] {
        let n = self.layer_words();
        &self.words[k * n..(k + 1) * n]
    }

    /// Returns the words of row `(j, k)`.
    pub fn row(&self, j: usize, k: usize) -> &[u64] {
        let start = (k * self.dims[1] + j) * self.row_words;
        &self.words[start..start + self.row_words]
    }

    /// Copies row `(j, k)` to `row`, with one byte per cell: 1 if the cell is occupied, otherwise 0.
    ///
    /// # Panics
    /// Panics if the length of `row` is not the number of cells along x.
    pub fn row_bytes(&self, j: usize, k: usize, row: &mut [u8]) {
        assert_eq!(row.len(), self.dims[0], "the length of a row");
        spread_row(self.row(j, k), row);
    }

    /// Reports whether the cell `(i, j, k)` is occupied.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid.
    pub fn get(&self, [i, j, k]: [usize; 3]) -> bool {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        self.row(j, k)[i / 64] >> (i % 64) & 1 == 1
    }

    /// Occupies cell `(i, j, k)`.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid.
    pub fn set(&mut self, [i, j, k]: [usize; 3]) {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        let word = (k * self.dims[1] + j) * self.row_words + i / 64;
        self.words_mut()[word] |= 1 << (i % 64);
    }

    /// Inverts cell `(i, j, k)`.
    pub fn toggle(&mut self, [i, j, k]: [usize; 3]) {
        debug_assert!(i < self.dims[0] && j < self.dims[1] && k < self.dims[2]);
        let word = (k * self.dims[1] + j) * self.row_words + i / 64;
        self.words_mut()[word] ^= 1 << (i % 64);
    }

    /// Occupies the cells that are occupied in `other`, which must have the same dims.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word | other);
    }

    /// Empties the cells that are empty in `other`, which must have the same dims.
    pub fn keep(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word & other);
    }

    /// Replaces this grid by the cells that are occupied in `other` and empty here. `other` must have the
    /// same dims.
    pub fn invert_within(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| other & !word);
    }

    /// Replaces this grid by the cells that are occupied in exactly one of both grids. `other` must have the
    /// same dims.
    pub fn differ(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word ^ other);
    }

    /// Replaces every word by the result of `f` for this word and the corresponding word of `other`. Layer 0
    /// of this grid corresponds to layer `first` of `other`.
    fn combine(&mut self, other: &Self, first: usize, f: impl Fn(u64, u64) -> u64 + Sync) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        debug_assert!(first + self.dims[2] <= other.dims[2]);
        let n = self.layer_words();
        let layers = self.words_mut().chunks_mut(n).enumerate().collect();
        par::map(layers, |(k, layer): (usize, &mut [u64])| {
            for (word, other) in layer.iter_mut().zip(other.layer(first + k)) {
                *word = f(*word, *other);
            }
        });
    }

    /// Copies all layers of `other` to the layers of this grid from `first` on. Both grids must have the same
    /// dims along x and y.
    pub fn put(&mut self, other: &Self, first: usize) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        let start = first * self.layer_words();
        self.words_mut()[start..start + other.words.len()].copy_from_slice(&other.words);
    }

    /// Occupies the cells that are occupied in `other`. Layer 0 of `other` corresponds to layer `first` of
    /// this grid. Both grids must have the same dims along x and y.
    pub fn add_at(&mut self, other: &Self, first: usize) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        let n = self.layer_words();
        let layers = self.words_mut()[first * n..]
            .chunks_mut(n)
            .zip(0..other.dims[2])
            .collect();
        par::map(layers, |(layer, k): (&mut [u64], usize)| {
            for (word, more) in layer.iter_mut().zip(other.layer(k)) {
                *word |= more;
            }
        });
    }

    /// Empties the cells that are occupied in `other`. Layer 0 of this grid corresponds to layer `first` of
    /// `other`.
    pub fn remove(&mut self, other: &Self, first: usize) {
        self.combine(other, first, |word, other| word & !other);
    }

    /// Occupies the cells that are occupied in `other`. Layer 0 of this grid corresponds to layer `first` of
    /// `other`.
    pub fn add_layers(&mut self, other: &Self, first: usize) {
        self.combine(other, first, |word, other| word | other);
    }

    /// Occupies the cells that are empty in both `one` and `two`. Layer 0 of this grid corresponds to layer
    /// `first` of both.
    pub fn add_neither(&mut self, one: &Self, two: &Self, first: usize) {
        let [nx, ..] = self.dims;
        let row_words = self.row_words;
        let n = self.layer_words();
        let last = !0 >> (63 - (nx - 1) % 64);
        par::map(
            self.words_mut().chunks_mut(n).enumerate().collect(),
            |(k, layer): (usize, &mut [u64])| {
                let others = one.layer(first + k).iter().zip(two.layer(first + k));
                for (place, (word, (one, two))) in layer.iter_mut().zip(others).enumerate() {
                    let row = if place % row_words == row_words - 1 {
                        last
                    } else {
                        !0
                    };
                    *word |= !(one | two) & row;
                }
            },
        );
    }

    /// Returns the number of occupied cells.
    pub fn count(&self) -> u64 {
        let counts = par::map_range(0..self.dims[2], |k| {
            let words = self.layer(k).iter();
            words.map(|word| u64::from(word.count_ones())).sum::<u64>()
        });
        counts.into_iter().sum()
    }

    /// Returns the occupied cells `[i, j, k]`, with x fastest.
    pub fn iter(&self) -> impl Iterator<Item = [usize; 3]> + '_ {
        let per_row = self.row_words;
        self.words
            .iter()
            .enumerate()
            .filter(|(_, word)| **word != 0)
            .flat_map(move |(n, &word)| {
                let row = n / per_row;
                let start = n % per_row * 64;
                let j = row % self.dims[1];
                let k = row / self.dims[1];
                bits_of(word).map(move |bit| [start + bit, j, k])
            })
    }

    /// Returns the bounding box of the occupied cells as its least and greatest cell, both inclusive. `None`
    /// if the grid is empty.
    pub fn occupied_box(&self) -> Option<[[usize; 3]; 2]> {
        let mut cells = self.iter();
        let mut low = cells.next()?;
        let mut high = low;
        for cell in cells {
            for axis in 0..3 {
                low[axis] = low[axis].min(cell[axis]);
                high[axis] = high[axis].max(cell[axis]);
            }
        }
        Some([low, high])
    }

    /// Parses the text that [`to_text`](Self::to_text) writes. Layers are separated by blank lines, from the
    /// lowest z up. Each layer has its rows from the highest y down. Occupied cells are `#`, and empty cells
    /// are `.`.
    ///
    /// # Errors
    /// Fails if rows or layers differ in size, or if the text contains a character other than `#` and `.`.
    pub fn from_text(text: &str) -> Result<Self> {
        let mut layers: Vec<Vec<&str>> = vec![];
        for layer in text.split("\n\n") {
            let mut rows: Vec<&str> = layer.lines().map(str::trim).collect();
            rows.retain(|row| !row.is_empty());
            if !rows.is_empty() {
                layers.push(rows);
            }
        }
        let rows = layers.first().map_or(0, Vec::len);
        let columns = layers.first().map_or(0, |rows| rows[0].len());
        let mut grid = Self::new([columns, rows, layers.len()])?;
        for (k, layer) in layers.iter().enumerate() {
            if layer.len() != rows || layer.iter().any(|row| row.len() != columns) {
                return Err(Error::usage(format!(
                    "layer {k} is not {columns} × {rows} cells"
                )));
            }
            for (j, row) in layer.iter().rev().enumerate() {
                for (i, cell) in row.bytes().enumerate() {
                    match cell {
                        b'#' => grid.set([i, j, k]),
                        b'.' => {}
                        _ => return Err(Error::usage("a text grid contains only '#' and '.'")),
                    }
                }
            }
        }
        Ok(grid)
    }

    /// Returns layer `k` as text, with the highest y in the first line. Occupied cells are `#`, and empty
    /// cells are `.`.
    pub fn layer_text(&self, k: usize) -> String {
        let [nx, ny, _] = self.dims;
        let mut text = String::new();
        for j in (0..ny).rev() {
            for i in 0..nx {
                text.push(if self.get([i, j, k]) { '#' } else { '.' });
            }
            text.push('\n');
        }
        text
    }

    /// Returns the whole grid as text: its layers from the lowest z up, separated by blank lines.
    pub fn to_text(&self) -> String {
        let layers: Vec<_> = (0..self.dims[2]).map(|k| self.layer_text(k)).collect();
        layers.join("\n")
    }
}

impl fmt::Debug for BitGrid {
    /// Writes the dims, and for a small grid also its cells as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.dims;
        write!(f, "BitGrid {x} × {y} × {z}")?;
        if self.words.len() <= 512 && x <= 128 {
            write!(f, "\n{}", self.to_text())
        } else {
            Ok(())
        }
    }
}

impl TryFrom<&Lattice> for BitGrid {
    type Error = Error;

    /// Creates an empty grid for the cells of `lattice`.
    fn try_from(lattice: &Lattice) -> Result<Self> {
        Self::new(lattice.dims())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: &str = "
        ###
        #..
        ##.
        #..

        ...
        ..#
        ...
        ...
    ";

    #[test]
    fn text_reads_x_right_y_up_z_by_layers() {
        let grid = BitGrid::from_text(F).unwrap();
        assert_eq!(grid.dims(), [3, 4, 2]);
        assert!(grid.get([2, 3, 0]) && !grid.get([2, 0, 0]) && grid.get([2, 2, 1]));
        assert_eq!(grid.count(), 8);
        assert_eq!(BitGrid::from_text(&grid.to_text()).unwrap(), grid);
    }

    #[test]
    fn cells_run_x_fastest() {
        let grid = BitGrid::from_text(F).unwrap();
        let cells: Vec<_> = grid.iter().collect();
        assert_eq!(cells[..3], [[0, 0, 0], [0, 1, 0], [1, 1, 0]]);
        assert_eq!(cells.last(), Some(&[2, 2, 1]));
        assert_eq!(grid.occupied_box(), Some([[0, 0, 0], [2, 3, 1]]));
    }

    #[test]
    fn words_that_are_not_zero_are_noted_if_they_are_few_until_one_is_written_to() {
        let dims = [130, 9, 17];
        let mut grid = BitGrid::new(dims).unwrap();
        let mut plain = grid.clone();
        for step in [7, 5] {
            grid.clear();
            plain.clear();
            let places = |k: usize| (k..27).step_by(step);
            grid.fill_noted(|k, take| places(k).for_each(|place| take(place, 3)));
            for (k, place) in (0..17).flat_map(|k| places(k).map(move |place| (k, place))) {
                plain.set([place % 3 * 64, place / 3, k]);
                plain.set([place % 3 * 64 + 1, place / 3, k]);
            }
            assert_eq!(grid, plain);
            for k in 0..17 {
                assert_eq!(
                    grid.noted(k),
                    Some(&places(k).map(|place| (place, 3)).collect::<Vec<_>>()[..])
                );
                assert_eq!(plain.noted(k), None);
            }
        }
        let mut other = grid.clone();
        other.set([1, 1, 2]);
        assert_eq!(other.noted(2), None);
        grid.clear();
        grid.fill_noted(|k, take| (k..27).step_by(4).for_each(|place| take(place, 3)));
        assert_eq!(grid.noted(16), None, "there are seven of 27 in layer 0");
        for mut grid in [grid, other] {
            assert!(grid.count() > 0);
            grid.clear();
            assert_eq!(grid.count(), 0);
        }
    }

    #[test]
    fn rows_are_padded_to_words() {
        let mut grid = BitGrid::new([65, 2, 3]).unwrap();
        grid.set([64, 1, 2]);
        assert_eq!((grid.row_words(), grid.row(1, 2)), (2, &[0, 1][..]));
        assert_eq!(grid.iter().collect::<Vec<_>>(), [[64, 1, 2]]);
        assert_eq!(
            grid.words().len() as u128 * 8,
            BitGrid::bytes_for([65, 2, 3])
        );
    }

    #[test]
    fn impossible_sizes_are_errors() {
        assert!(BitGrid::new([0, 1, 1]).is_err());
        assert!(BitGrid::new([1 << 24, 1 << 24, 1 << 24]).is_err());
    }
}
