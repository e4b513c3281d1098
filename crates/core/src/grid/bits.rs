//! Occupancy: one bit a cell, 64 cells along x per word, rows padded to whole words.

use std::fmt;

use super::lattice::Lattice;
use super::spread::spread_row;
use crate::error::{Error, Result};
use crate::par;
pub use voxelize_kernel::bits_of;
use voxelize_kernel::memory::Zeroed;

/// One bit per cell of a grid of `[nx, ny, nz]` cells.
///
/// Word `w` of row `(j, k)` holds cells `64 w .. 64 w + 63` along x, the first in its lowest bit;
/// bits beyond `nx` are always zero. Rows run along y, then z.
#[derive(Clone)]
pub struct BitGrid {
    dims: [usize; 3],
    row_words: usize,
    words: Zeroed<u64>,
    /// The words of each layer that are not zero, with their places in the layer, in order; `None` if that is not known.
    noted: Option<Vec<NotedWords>>,
}

impl PartialEq for BitGrid {
    fn eq(&self, other: &Self) -> bool {
        self.dims == other.dims && *self.words == *other.words
    }
}

impl Eq for BitGrid {}

/// Words that are not zero, with their places in a layer, in order.
type NotedWords = Vec<(usize, u64)>;

/// Words are noted if at most one of so many is not zero.
const SPARSE: usize = 4;

/// Refuses dims of which one is zero.
pub(super) fn check_dims(dims: [usize; 3]) -> Result<()> {
    if dims.contains(&0) {
        return Err(Error::usage("a grid needs at least one cell on every axis"));
    }
    Ok(())
}

impl BitGrid {
    /// An empty grid. Its memory is zero pages of the system until cells are set.
    ///
    /// # Errors
    /// If an axis is zero or the words do not fit in memory.
    pub fn new(dims: [usize; 3]) -> Result<Self> {
        check_dims(dims)?;
        let row_words = dims[0].div_ceil(64);
        let too_large = || {
            let [x, y, z] = dims;
            Error::too_large(format!(
                "a grid of {x} × {y} × {z} cells does not fit in memory"
            ))
            .with_hint("use larger cells")
        };
        let count = row_words
            .checked_mul(dims[1])
            .and_then(|n| n.checked_mul(dims[2]))
            .ok_or_else(too_large)?;
        let words = Zeroed::new(count).ok_or_else(too_large)?;
        Ok(Self {
            dims,
            row_words,
            words,
            noted: None,
        })
    }

    /// Makes it a grid of these dims, in the same memory if it has them already: then its cells stay as they
    /// are.
    ///
    /// # Errors
    /// As those of [`new`](Self::new).
    pub fn reshape(&mut self, dims: [usize; 3]) -> Result<()> {
        if self.dims != dims {
            // What is left of it goes first.
            *self = Self::new([1; 3])?;
            *self = Self::new(dims)?;
        }
        Ok(())
    }

    /// The bytes a grid of these dims takes, for plans.
    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        8 * dims[0].div_ceil(64) as u128 * dims[1] as u128 * dims[2] as u128
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Words per row.
    pub fn row_words(&self) -> usize {
        self.row_words
    }

    /// Words per layer of z.
    pub fn layer_words(&self) -> usize {
        self.row_words * self.dims[1]
    }

    /// All words, rows along y, then z.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, to write to. Bits beyond `nx` must stay zero.
    pub fn words_mut(&mut self) -> &mut [u64] {
        self.noted = None;
        &mut self.words
    }

    /// Empties every cell.
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

    /// Fills an empty grid: `each` hands the words of a layer that are not zero, with their places in the layer, in order
    /// and each once, to its second argument. They are noted, if they are few, until one is written to. In the threads it is
    /// called in.
    pub fn fill_noted(&mut self, each: impl Fn(usize, &mut dyn FnMut(usize, u64)) + Sync) {
        let layer_words = self.layer_words();
        let most = layer_words / SPARSE;
        let noted = self
            .noted
            .take()
            .unwrap_or_else(|| vec![vec![]; self.dims[2]]);
        let layers = self
            .words
            .chunks_mut(layer_words)
            .zip(noted)
            .enumerate()
            .collect();
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

    /// The bytes of what a grid of these dims notes, at most, for plans.
    pub fn noted_bytes_for(dims: [usize; 3]) -> u128 {
        Self::bytes_for(dims) / (8 * SPARSE as u128) * size_of::<(usize, u64)>() as u128
    }

    /// The words of layer `k` that are not zero, with their places in the layer, in order; `None` if that is not known.
    pub fn noted(&self, k: usize) -> Option<&[(usize, u64)]> {
        self.noted.as_ref().map(|noted| noted[k].as_slice())
    }

    /// Writes to every page, so that later writes find the memory there. For benchmarks.
    pub fn touch(&mut self) {
        self.words_mut().fill(std::hint::black_box(0));
    }

    /// The words of layer `k`.
    pub fn layer(&self, k: usize) -> &[u64] {
        let n = self.layer_words();
        &self.words[k * n..(k + 1) * n]
    }

    /// The words of row `(j, k)`.
    pub fn row(&self, j: usize, k: usize) -> &[u64] {
        let start = (k * self.dims[1] + j) * self.row_words;
        &self.words[start..start + self.row_words]
    }

    /// Takes out row `(j, k)`: a byte for each cell, 1 where it is occupied.
    ///
    /// # Panics
    /// If the row is not as long as the grid along x.
    pub fn row_bytes(&self, j: usize, k: usize, row: &mut [u8]) {
        assert_eq!(row.len(), self.dims[0], "the length of a row");
        spread_row(self.row(j, k), row);
    }

    /// Whether cell `(i, j, k)` is occupied.
    ///
    /// # Panics
    /// If the cell is outside the grid.
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
    /// If the cell is outside the grid.
    pub fn set(&mut self, [i, j, k]: [usize; 3]) {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        let word = (k * self.dims[1] + j) * self.row_words + i / 64;
        self.words_mut()[word] |= 1 << (i % 64);
    }

    /// Empties a cell that is occupied, and occupies one that is empty.
    pub fn toggle(&mut self, [i, j, k]: [usize; 3]) {
        debug_assert!(i < self.dims[0] && j < self.dims[1] && k < self.dims[2]);
        let word = (k * self.dims[1] + j) * self.row_words + i / 64;
        self.words_mut()[word] ^= 1 << (i % 64);
    }

    /// Occupies the cells that `other`, of the same dims, has.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word | other);
    }

    /// Empties the cells that `other`, of the same dims, does not have.
    pub fn keep(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word & other);
    }

    /// Occupies the cells that `other`, of the same dims, has and this has not; empties the rest.
    pub fn invert_within(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| other & !word);
    }

    /// Occupies the cells that this or `other`, of the same dims, has, and not both.
    pub fn differ(&mut self, other: &Self) {
        self.combine(other, 0, |word, other| word ^ other);
    }

    /// Makes every word what `f` makes of it and that of a grid as high or higher, whose layer `first` is the first of
    /// this.
    fn combine(&mut self, other: &Self, first: usize, f: impl Fn(u64, u64) -> u64 + Sync) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        debug_assert!(first + self.dims[2] <= other.dims[2]);
        let n = self.layer_words();
        par::map(
            self.words_mut().chunks_mut(n).enumerate().collect(),
            |(k, layer): (usize, &mut [u64])| {
                layer
                    .iter_mut()
                    .zip(other.layer(first + k))
                    .for_each(|(word, other)| *word = f(*word, *other));
            },
        );
    }

    /// Copies all layers of a grid of as many cells along x and y, the first to layer `first`.
    pub fn put(&mut self, other: &Self, first: usize) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        let start = first * self.layer_words();
        self.words_mut()[start..start + other.words.len()].copy_from_slice(&other.words);
    }

    /// Occupies the cells of a grid of as many cells along x and y, whose first layer is layer `first` of this.
    pub fn add_at(&mut self, other: &Self, first: usize) {
        debug_assert_eq!(self.dims[..2], other.dims[..2]);
        let n = self.layer_words();
        let layers = self.words_mut()[first * n..]
            .chunks_mut(n)
            .zip(0..other.dims[2])
            .collect();
        par::map(layers, |(layer, k): (&mut [u64], usize)| {
            layer
                .iter_mut()
                .zip(other.layer(k))
                .for_each(|(word, more)| *word |= more);
        });
    }

    /// Empties the cells that a grid as high or higher has, whose layer `first` is the first of this.
    pub fn remove(&mut self, other: &Self, first: usize) {
        self.combine(other, first, |word, other| word & !other);
    }

    /// Occupies the cells that a grid as high or higher has, whose layer `first` is the first of this.
    pub fn add_layers(&mut self, other: &Self, first: usize) {
        self.combine(other, first, |word, other| word | other);
    }

    /// Occupies the cells that neither of two larger grids has, whose layer `first` is the first of this.
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

    /// How many cells are occupied.
    pub fn count(&self) -> u64 {
        let n = self.layer_words();
        let layer = |k: usize| {
            self.words[k * n..(k + 1) * n]
                .iter()
                .map(|w| u64::from(w.count_ones()))
                .sum::<u64>()
        };
        crate::par::map_range(0..self.dims[2], layer)
            .into_iter()
            .sum::<u64>()
    }

    /// The occupied cells `[i, j, k]`, x fastest.
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

    /// The box of the occupied cells, `[lowest, highest]`, both inclusive; `None` if empty.
    pub fn occupied_box(&self) -> Option<[[usize; 3]; 2]> {
        self.iter().fold(None, |found, cell| {
            let [low, high] = found.unwrap_or([cell, cell]);
            Some([
                std::array::from_fn(|a| low[a].min(cell[a])),
                std::array::from_fn(|a| high[a].max(cell[a])),
            ])
        })
    }

    /// Reads the picture that [`to_text`](Self::to_text) draws: layers of z separated by blank
    /// lines, in each the rows of y from the highest to the lowest, `#` for occupied.
    ///
    /// # Errors
    /// If rows or layers differ in size or hold anything but `#` and `.`.
    pub fn from_text(text: &str) -> Result<Self> {
        let layers: Vec<Vec<&str>> = text
            .split("\n\n")
            .map(|layer| {
                layer
                    .lines()
                    .map(str::trim)
                    .filter(|l| !l.is_empty())
                    .collect()
            })
            .filter(|layer: &Vec<&str>| !layer.is_empty())
            .collect();
        let rows = layers.first().map_or(0, Vec::len);
        let columns = layers
            .first()
            .and_then(|l| l.first())
            .map_or(0, |r| r.len());
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
                        _ => return Err(Error::usage("a text grid holds only '#' and '.'")),
                    }
                }
            }
        }
        Ok(grid)
    }

    /// Layer `k` as text, y upwards, `#` for occupied.
    pub fn layer_text(&self, k: usize) -> String {
        let [nx, ny, _] = self.dims;
        let row = |j| {
            (0..nx)
                .map(|i| if self.get([i, j, k]) { '#' } else { '.' })
                .collect::<String>()
        };
        (0..ny).rev().map(|j| row(j) + "\n").collect()
    }

    /// The whole grid as text: its layers from the lowest z, separated by blank lines.
    pub fn to_text(&self) -> String {
        (0..self.dims[2])
            .map(|k| self.layer_text(k))
            .collect::<Vec<_>>()
            .join("\n")
    }
}

impl fmt::Debug for BitGrid {
    /// Small grids as text, large ones as their size.
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

    /// An empty grid for the cells of `lattice`.
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
