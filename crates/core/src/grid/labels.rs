//! Labels: a grid with a value from 1 to 255 for every occupied cell, and 0 for every empty cell.
//!
//! If the legend has at most sixteen labels, up to four bits per cell are stored in addition to the
//! occupancy. This suffices for most grids that this crate makes, such as surface and interior, or added and
//! removed. Otherwise a byte per cell is stored.

use std::fmt;

use super::bits::{BitGrid, bits_of, checked_size};
use super::legend::Legend;
use super::spread::{gather, spread};
use crate::error::{Error, Result};
use crate::par;
use voxelize_kernel::memory::Zeroed;

/// Greatest number of labels that are stored in planes of bits.
const IN_PLANES: usize = 16;

/// Grid of `[nx, ny, nz]` cells with a label for every occupied cell.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::grid::{Label, Labels, Legend};
///
/// let legend = Legend::new([Label::new(1, "bone"), Label::new(9, "implant")])?;
/// let mut labels = Labels::new([3, 1, 1], legend)?;
/// labels.set([0, 0, 0], 1);
/// labels.set([2, 0, 0], 9);
/// assert_eq!(labels.occupied().to_text(), "#.#\n");
/// assert_eq!((labels.get([2, 0, 0]), labels.count(9)), (9, 1));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Clone)]
pub struct Labels {
    occupied: BitGrid,
    values: LabelValues,
    legend: Legend,
}

/// Storage of the labels. The variant depends only on the legend.
#[derive(Clone)]
enum LabelValues {
    /// Plane `p` has bit `p` of the index of each cell's label in the legend. The bits of empty cells are
    /// zero.
    Planes(Vec<BitGrid>),
    /// The value of each cell as a byte, with x fastest.
    Bytes(Zeroed<u8>),
}

impl Labels {
    /// Creates a grid without occupied cells. The system provides zeroed pages, which use no physical memory
    /// until cells are set.
    ///
    /// # Errors
    /// Fails if one of the dims is zero, or if the cells do not fit in memory.
    pub fn new(dims: [usize; 3], legend: Legend) -> Result<Self> {
        let occupied = BitGrid::new(dims)?;
        let values = match planes_for(&legend) {
            Some(count) => {
                let planes = (0..count).map(|_| BitGrid::new(dims));
                LabelValues::Planes(planes.collect::<Result<_>>()?)
            }
            None => {
                let [x, y, z] = dims;
                LabelValues::Bytes(checked_size(dims).and_then(Zeroed::new).ok_or_else(|| {
                    Error::too_large(format!(
                        "labels of {x} × {y} × {z} cells do not fit in memory"
                    ))
                    .with_hint("use larger cells")
                })?)
            }
        };
        Ok(Self {
            occupied,
            values,
            legend,
        })
    }

    /// Returns an upper bound of the memory, in bytes, of labels with this legend in a grid of these dims.
    pub fn bytes_for(dims: [usize; 3], legend: &Legend) -> u128 {
        let bits = BitGrid::bytes_for(dims);
        match planes_for(legend) {
            Some(planes) => (1 + planes as u128) * bits,
            None => bits + dims.iter().map(|n| *n as u128).product::<u128>(),
        }
    }

    /// Creates labels from planes of bits. `planes[p]` has bit `p` of the index of each cell's label in the
    /// legend.
    pub fn from_planes(occupied: BitGrid, planes: Vec<BitGrid>, legend: Legend) -> Self {
        debug_assert_eq!(planes_for(&legend), Some(planes.len()));
        debug_assert!(planes.iter().all(|plane| plane.dims() == occupied.dims()));
        Self {
            occupied,
            values: LabelValues::Planes(planes),
            legend,
        }
    }

    /// Returns the occupied cells and the planes, so that their memory can be reused. The list is empty if
    /// there are no planes.
    pub fn into_planes(self) -> (BitGrid, Vec<BitGrid>) {
        match self.values {
            LabelValues::Planes(planes) => (self.occupied, planes),
            LabelValues::Bytes(_) => (self.occupied, Vec::new()),
        }
    }

    /// Converts the labels to another legend.
    ///
    /// # Errors
    /// Fails if a cell has a value that the new legend does not name, or if the cells do not fit in memory.
    pub fn with_legend(self, legend: Legend) -> Result<Self> {
        if self.legend.labels() == legend.labels() {
            return Ok(Self { legend, ..self });
        }
        let mut other = Self::new(self.dims(), legend)?;
        let mut row = vec![0; self.dims()[0]];
        for (j, k) in self.rows() {
            self.row(j, k, &mut row);
            other.put_row(j, k, &row).map_err(|Unnamed(value)| {
                Error::usage(format!(
                    "cells have the label {value}, which is not in the legend"
                ))
            })?;
        }
        Ok(other)
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.occupied.dims()
    }

    /// Returns the legend, which names the values.
    pub fn legend(&self) -> &Legend {
        &self.legend
    }

    /// Returns the grid of the cells that have a label.
    pub fn occupied(&self) -> &BitGrid {
        &self.occupied
    }

    /// Returns the grid of the occupied cells, without their labels.
    pub fn into_occupied(self) -> BitGrid {
        self.occupied
    }

    /// Returns the value of cell `(i, j, k)`. It is 0 if the cell is empty.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid.
    pub fn get(&self, cell: [usize; 3]) -> u8 {
        if !self.occupied.get(cell) {
            return 0;
        }
        match &self.values {
            LabelValues::Bytes(bytes) => bytes[self.index(cell)],
            LabelValues::Planes(planes) => {
                let mut place = 0;
                for (p, plane) in planes.iter().enumerate() {
                    place |= usize::from(plane.get(cell)) << p;
                }
                self.legend.labels()[place].value
            }
        }
    }

    /// Sets the value of cell `(i, j, k)`. The value 0 empties the cell.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid, or if the legend does not name the value.
    pub fn set(&mut self, cell: [usize; 3], value: u8) {
        assert!(
            value == 0 || self.legend.allows(value),
            "the legend has no label {value}"
        );
        if self.occupied.get(cell) != (value != 0) {
            self.occupied.toggle(cell);
        }
        let index = self.index(cell);
        match &mut self.values {
            LabelValues::Bytes(bytes) => bytes[index] = value,
            LabelValues::Planes(planes) => {
                let place = place_of(&self.legend, value).unwrap_or(0);
                for (p, plane) in planes.iter_mut().enumerate() {
                    if plane.get(cell) != (place >> p & 1 == 1) {
                        plane.toggle(cell);
                    }
                }
            }
        }
    }

    /// Copies the values of row `(j, k)` to `row`. Empty cells have the value 0.
    ///
    /// # Panics
    /// Panics if the row does not exist, or if the length of `row` is not `nx`.
    pub fn row(&self, j: usize, k: usize, row: &mut [u8]) {
        let [nx, ny, _] = self.dims();
        assert_eq!(row.len(), nx, "a row of another length");
        if let LabelValues::Bytes(bytes) = &self.values {
            let start = (k * ny + j) * nx;
            return row.copy_from_slice(&bytes[start..start + nx]);
        }
        for (n, cells) in row.chunks_mut(64).enumerate() {
            self.word_values(n, j, k, cells);
        }
    }

    /// Copies the values of up to 64 cells of row `(j, k)`, from cell `64 n` on, to `cells`. Empty cells have
    /// the value 0.
    pub fn word_values(&self, n: usize, j: usize, k: usize, cells: &mut [u8]) {
        let occupied = self.occupied.row(j, k)[n];
        if occupied == 0 {
            return cells.fill(0);
        }
        match &self.values {
            LabelValues::Bytes(bytes) => {
                let start = self.index([64 * n, j, k]);
                cells.copy_from_slice(&bytes[start..start + cells.len()]);
            }
            LabelValues::Planes(planes) => {
                cells.fill(0);
                for (place, label) in self.legend.labels().iter().enumerate() {
                    let words = planes.iter().map(|plane| plane.row(j, k)[n]);
                    let bits = with_label(occupied, words, place);
                    if bits == 0 {
                        continue;
                    }
                    for (cell, is_there) in cells.iter_mut().zip(spread(bits).as_flattened()) {
                        *cell |= label.value * is_there;
                    }
                }
            }
        }
    }

    /// Sets the values of row `(j, k)`. All cells of the row must be empty before.
    ///
    /// # Errors
    /// Returns the first value that the legend does not name. Some cells of the row may then already be set.
    ///
    /// # Panics
    /// Panics if the row does not exist, or if the length of `row` is not `nx`.
    pub fn put_row(&mut self, j: usize, k: usize, row: &[u8]) -> std::result::Result<(), Unnamed> {
        let [nx, ny, _] = self.dims();
        assert_eq!(row.len(), nx, "a row of another length");
        let first = (k * ny + j) * self.occupied.row_words();
        for (n, cells) in row.chunks(64).enumerate() {
            // Zeroed pages from the system are not touched if their cells are empty.
            let word = gather(cells);
            if word == 0 {
                continue;
            }
            self.occupied.words_mut()[first + n] = word;
            match &mut self.values {
                LabelValues::Bytes(bytes) => {
                    for value in cells {
                        if *value != 0 && !self.legend.allows(*value) {
                            return Err(Unnamed(*value));
                        }
                    }
                    let start = (k * ny + j) * nx + 64 * n;
                    bytes[start..start + cells.len()].copy_from_slice(cells);
                }
                LabelValues::Planes(planes) => {
                    for bit in bits_of(word) {
                        let value = cells[bit];
                        let place = place_of(&self.legend, value).ok_or(Unnamed(value))?;
                        for (p, plane) in planes.iter_mut().enumerate() {
                            plane.words_mut()[first + n] |= ((place >> p & 1) as u64) << bit;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Sets those of the cells `cells` that are empty to this value. Cells that already have a label keep it.
    /// Returns the number of these for each label, in the order of the legend.
    ///
    /// # Panics
    /// Panics if the dims differ, or if the legend does not name the value.
    pub fn add(&mut self, cells: &BitGrid, value: u8) -> Vec<u64> {
        assert_eq!(cells.dims(), self.dims(), "cells of another grid");
        let place = place_of(&self.legend, value)
            .unwrap_or_else(|| panic!("the legend has no label {value}"));
        let nx = self.dims()[0];
        let row_words = self.occupied.row_words();
        let occupied = self.occupied.words_mut();
        // Counts by value, if bytes are stored, and counts by index in the legend, if planes are stored.
        let mut by_value = [0_u64; 256];
        let mut taken = vec![0; self.legend.labels().len()];
        for (n, word) in cells.words().iter().enumerate() {
            if *word == 0 {
                continue;
            }
            let new = word & !occupied[n];
            let others = word & occupied[n];
            occupied[n] |= new;
            match &mut self.values {
                LabelValues::Planes(planes) => {
                    if others != 0 {
                        for (place, taken) in taken.iter_mut().enumerate() {
                            let words = planes.iter().map(|plane| plane.words()[n]);
                            let of_label = with_label(others, words, place);
                            *taken += u64::from(of_label.count_ones());
                        }
                    }
                    for (p, plane) in planes.iter_mut().enumerate() {
                        if place >> p & 1 == 1 {
                            plane.words_mut()[n] |= new;
                        }
                    }
                }
                LabelValues::Bytes(bytes) => {
                    let start = n / row_words * nx + 64 * (n % row_words);
                    bits_of(others).for_each(|bit| by_value[usize::from(bytes[start + bit])] += 1);
                    bits_of(new).for_each(|bit| bytes[start + bit] = value);
                }
            }
        }
        for (taken, label) in taken.iter_mut().zip(self.legend.labels()) {
            *taken += by_value[usize::from(label.value)];
        }
        taken
    }

    /// Returns the words of row `(j, k)` for one label. Their bits are the cells that have the label with the
    /// index `place` in the legend.
    ///
    /// # Panics
    /// Panics if the labels are not stored in planes.
    pub fn words(&self, place: usize, j: usize, k: usize) -> impl Iterator<Item = u64> + '_ {
        let LabelValues::Planes(planes) = &self.values else {
            panic!("labels are stored as bytes")
        };
        let occupied = self.occupied.row(j, k).iter().enumerate();
        occupied.map(move |(n, word)| {
            if *word == 0 {
                return 0;
            }
            let words = planes.iter().map(|plane| plane.row(j, k)[n]);
            with_label(*word, words, place)
        })
    }

    /// Reports whether the labels are stored in planes, as [`words`](Self::words) requires.
    pub fn is_in_planes(&self) -> bool {
        matches!(self.values, LabelValues::Planes(_))
    }

    /// Returns the number of cells that have this value.
    pub fn count(&self, value: u8) -> u64 {
        for (other, count) in self.counts() {
            if other == value {
                return count;
            }
        }
        0
    }

    /// Returns the values and the number of cells that have each value. The list has all labels in the order
    /// of the legend. If the legend has no labels, it has all values that occur.
    pub fn counts(&self) -> Vec<(u8, u64)> {
        let [nx, ny, nz] = self.dims();
        let layers = par::map_range(0..nz, |k| {
            let mut counts = [0_u64; 256];
            match &self.values {
                LabelValues::Bytes(bytes) => {
                    for value in &bytes[k * nx * ny..(k + 1) * nx * ny] {
                        counts[usize::from(*value)] += 1;
                    }
                }
                LabelValues::Planes(_) => {
                    for (place, label) in self.legend.labels().iter().enumerate() {
                        let words = (0..ny).flat_map(|j| self.words(place, j, k));
                        counts[usize::from(label.value)] =
                            words.map(|word| u64::from(word.count_ones())).sum();
                    }
                }
            }
            counts
        });
        let mut all = [0; 256];
        for counts in layers {
            for (all, count) in all.iter_mut().zip(counts) {
                *all += count;
            }
        }
        let mut found = vec![];
        for label in self.legend.labels() {
            found.push((label.value, all[usize::from(label.value)]));
        }
        if found.is_empty() {
            for value in 1..=255 {
                let count = all[usize::from(value)];
                if count > 0 {
                    found.push((value, count));
                }
            }
        }
        found
    }

    /// Returns a grid of the cells that have this value.
    ///
    /// # Errors
    /// Fails if the cells do not fit in memory.
    pub fn cells_of(&self, value: u8) -> Result<BitGrid> {
        let mut cells = BitGrid::new(self.dims())?;
        let mut row = vec![0; self.dims()[0]];
        let row_words = cells.row_words();
        for (n, (j, k)) in self.rows().enumerate() {
            if self.occupied.row(j, k).iter().all(|word| *word == 0) {
                continue;
            }
            self.row(j, k, &mut row);
            for cell in &mut row {
                *cell = u8::from(*cell == value && value != 0);
            }
            for (w, cells_of_word) in row.chunks(64).enumerate() {
                let word = gather(cells_of_word);
                if word != 0 {
                    cells.words_mut()[n * row_words + w] = word;
                }
            }
        }
        Ok(cells)
    }

    /// Returns the occupied cells and their values, with x fastest.
    pub fn iter(&self) -> impl Iterator<Item = ([usize; 3], u8)> + '_ {
        self.occupied.iter().map(|cell| (cell, self.get(cell)))
    }

    fn rows(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let [_, ny, nz] = self.dims();
        (0..nz).flat_map(move |k| (0..ny).map(move |j| (j, k)))
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.dims();
        (k * ny + j) * nx + i
    }
}

/// Error: a value that the legend does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unnamed(pub u8);

/// Returns the number of planes that labels with this legend need. `None` if they are stored as bytes.
fn planes_for(legend: &Legend) -> Option<usize> {
    let count = legend.labels().len();
    if count == 0 || count > IN_PLANES {
        return None;
    }
    Some(count.next_power_of_two().ilog2() as usize)
}

/// Returns the index in the legend of the label with this value. `None` if there is no such label.
fn place_of(legend: &Legend, value: u8) -> Option<usize> {
    legend
        .labels()
        .iter()
        .position(|label| label.value == value)
}

/// Returns those of the cells in a word whose label has the index `place` in the legend. `planes` has the
/// corresponding word of each plane.
fn with_label(mut cells: u64, planes: impl Iterator<Item = u64>, place: usize) -> u64 {
    for (p, word) in planes.enumerate() {
        cells &= if place >> p & 1 == 1 { word } else { !word };
    }
    cells
}

impl PartialEq for Labels {
    /// Compares the values of all cells and the legends.
    fn eq(&self, other: &Self) -> bool {
        let values = match (&self.values, &other.values) {
            (LabelValues::Bytes(a), LabelValues::Bytes(b)) => a == b,
            (LabelValues::Planes(a), LabelValues::Planes(b)) => a == b,
            _ => false,
        };
        self.legend == other.legend && self.occupied == other.occupied && values
    }
}

impl Eq for Labels {}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.dims();
        let mut counts = vec![];
        for (value, count) in self.counts() {
            counts.push(format!("{count} {}", self.legend.name(value)));
        }
        write!(f, "Labels {x} × {y} × {z}: {}", counts.join(", "))
    }
}

#[cfg(test)]
mod tests;
