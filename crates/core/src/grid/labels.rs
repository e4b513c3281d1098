//! Labels: a value from 1 to 255 for every occupied cell, 0 for empty ones.
//!
//! Up to sixteen named values are stored as one to four bits a cell in addition to the occupancy, which is what most
//! grids of this crate need (surface and interior, added and removed); other labels as a byte a cell.

use std::fmt;

use super::bits::{BitGrid, bits_of};
use super::legend::Legend;
use super::spread::{gather, spread};
use crate::error::{Error, Result};
use crate::par;
use voxelize_kernel::memory::Zeroed;

/// The most labels that are stored in planes of bits.
const IN_PLANES: usize = 16;

/// A label for every occupied cell of a grid of `[nx, ny, nz]` cells.
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

/// How values are stored. Which it is depends on the legend alone.
#[derive(Clone)]
enum LabelValues {
    /// Bit `p` of the place of a cell's label in the legend is in plane `p`; zero for empty cells.
    Planes(Vec<BitGrid>),
    /// A byte for each cell, x fastest.
    Bytes(Zeroed<u8>),
}

impl Labels {
    /// A grid without occupied cells. Its memory is zero pages of the system until cells are set.
    ///
    /// # Errors
    /// If an axis is zero or the cells do not fit in memory.
    pub fn new(dims: [usize; 3], legend: Legend) -> Result<Self> {
        let occupied = BitGrid::new(dims)?;
        let values = match planes_for(&legend) {
            Some(planes) => LabelValues::Planes(
                (0..planes)
                    .map(|_| BitGrid::new(dims))
                    .collect::<Result<_>>()?,
            ),
            None => {
                let [x, y, z] = dims;
                let cells = x
                    .checked_mul(y)
                    .and_then(|n| n.checked_mul(z))
                    .and_then(Zeroed::new);
                LabelValues::Bytes(cells.ok_or_else(|| {
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

    /// The bytes that labels of a legend take in a grid of these dims, at most.
    pub fn bytes_for(dims: [usize; 3], legend: &Legend) -> u128 {
        let bits = BitGrid::bytes_for(dims);
        match planes_for(legend) {
            Some(planes) => (1 + planes as u128) * bits,
            None => bits + dims.iter().map(|n| *n as u128).product::<u128>(),
        }
    }

    /// Labels in planes: `planes[p]` has the cells whose label's place in the legend has bit `p` set.
    pub fn from_planes(occupied: BitGrid, planes: Vec<BitGrid>, legend: Legend) -> Self {
        debug_assert_eq!(planes_for(&legend), Some(planes.len()));
        debug_assert!(planes.iter().all(|plane| plane.dims() == occupied.dims()));
        Self {
            occupied,
            values: LabelValues::Planes(planes),
            legend,
        }
    }

    /// The occupied cells, and the planes if there are any: memory for the next slab.
    pub fn into_planes(self) -> (BitGrid, Vec<BitGrid>) {
        match self.values {
            LabelValues::Planes(planes) => (self.occupied, planes),
            LabelValues::Bytes(_) => (self.occupied, Vec::new()),
        }
    }

    /// These cells and values under another legend.
    ///
    /// # Errors
    /// If a cell has a value that it does not name, or the cells do not fit in memory.
    pub fn with_legend(self, legend: Legend) -> Result<Self> {
        let refused =
            |value| Error::usage(format!("the legend has no label {value}, which cells have"));
        if self.legend.labels() == legend.labels() {
            return Ok(Self { legend, ..self });
        }
        let mut other = Self::new(self.dims(), legend)?;
        let mut row = vec![0; self.dims()[0]];
        for (j, k) in self.rows() {
            self.row(j, k, &mut row);
            other
                .put_row(j, k, &row)
                .map_err(|Unnamed(value)| refused(value))?;
        }
        Ok(other)
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.occupied.dims()
    }

    /// The names of the values.
    pub fn legend(&self) -> &Legend {
        &self.legend
    }

    /// The cells that have a label.
    pub fn occupied(&self) -> &BitGrid {
        &self.occupied
    }

    /// The occupied cells alone.
    pub fn into_occupied(self) -> BitGrid {
        self.occupied
    }

    /// The value of cell `(i, j, k)`; 0 if it is empty.
    ///
    /// # Panics
    /// If the cell is outside the grid.
    pub fn get(&self, cell: [usize; 3]) -> u8 {
        if !self.occupied.get(cell) {
            return 0;
        }
        match &self.values {
            LabelValues::Bytes(bytes) => bytes[self.index(cell)],
            LabelValues::Planes(planes) => {
                let bits = planes
                    .iter()
                    .enumerate()
                    .map(|(p, plane)| usize::from(plane.get(cell)) << p);
                self.legend.labels()[bits.sum::<usize>()].value
            }
        }
    }

    /// Gives cell `(i, j, k)` a value; 0 empties it.
    ///
    /// # Panics
    /// If the cell is outside the grid, or the legend does not name the value.
    pub fn set(&mut self, cell: [usize; 3], value: u8) {
        assert!(
            value == 0 || self.legend.allows(value),
            "the legend has no label {value}"
        );
        if self.occupied.get(cell) != (value != 0) {
            self.occupied.toggle(cell);
        }
        let index = self.index(cell);
        let place = || {
            self.legend
                .labels()
                .iter()
                .position(|label| label.value == value)
                .unwrap_or(0)
        };
        match &mut self.values {
            LabelValues::Bytes(bytes) => bytes[index] = value,
            LabelValues::Planes(planes) => {
                let place = place();
                for (p, plane) in planes.iter_mut().enumerate() {
                    if plane.get(cell) != (place >> p & 1 == 1) {
                        plane.toggle(cell);
                    }
                }
            }
        }
    }

    /// The values of row `(j, k)`, 0 for empty cells.
    ///
    /// # Panics
    /// If there is no such row, or `row` has not `nx` cells.
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

    /// The values of up to 64 cells of row `(j, k)`, from cell `64 n` on, 0 for empty cells.
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
                    let bits = planes
                        .iter()
                        .enumerate()
                        .fold(occupied, |bits, (p, plane)| {
                            let word = plane.row(j, k)[n];
                            bits & if place >> p & 1 == 1 { word } else { !word }
                        });
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

    /// Gives the cells of row `(j, k)`, all empty so far, these values.
    ///
    /// # Errors
    /// The first value that the legend does not name; some cells may have theirs then.
    ///
    /// # Panics
    /// If there is no such row, or `row` has not `nx` cells.
    pub fn put_row(&mut self, j: usize, k: usize, row: &[u8]) -> std::result::Result<(), Unnamed> {
        let [nx, ny, _] = self.dims();
        assert_eq!(row.len(), nx, "a row of another length");
        let first = (k * ny + j) * self.occupied.row_words();
        for (n, cells) in row.chunks(64).enumerate() {
            // Zero pages that stay zero are never touched.
            let word = gather(cells);
            if word == 0 {
                continue;
            }
            self.occupied.words_mut()[first + n] = word;
            match &mut self.values {
                LabelValues::Bytes(bytes) => {
                    if let Some(value) = cells
                        .iter()
                        .find(|value| **value != 0 && !self.legend.allows(**value))
                    {
                        return Err(Unnamed(*value));
                    }
                    let start = (k * ny + j) * nx + 64 * n;
                    bytes[start..start + cells.len()].copy_from_slice(cells);
                }
                LabelValues::Planes(planes) => {
                    for bit in bits_of(word) {
                        let value = cells[bit];
                        let place = self
                            .legend
                            .labels()
                            .iter()
                            .position(|label| label.value == value);
                        let place = place.ok_or(Unnamed(value))?;
                        for (p, plane) in planes.iter_mut().enumerate() {
                            plane.words_mut()[first + n] |= ((place >> p & 1) as u64) << bit;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives the empty ones of these cells this value. Returns how many of the others have each label, in the order of
    /// the legend.
    ///
    /// # Panics
    /// If the dims differ, or the legend does not name the value.
    pub fn add(&mut self, cells: &BitGrid, value: u8) -> Vec<u64> {
        assert_eq!(cells.dims(), self.dims(), "cells of another grid");
        let place = self
            .legend
            .labels()
            .iter()
            .position(|label| label.value == value);
        let place = place.unwrap_or_else(|| panic!("the legend has no label {value}"));
        let nx = self.dims()[0];
        let row_words = self.occupied.row_words();
        let occupied = self.occupied.words_mut();
        // By value, and by place.
        let mut by_value = [0_u64; 256];
        let mut taken = vec![0; self.legend.labels().len()];
        for (n, word) in cells
            .words()
            .iter()
            .enumerate()
            .filter(|(_, word)| **word != 0)
        {
            let new = word & !occupied[n];
            let others = word & occupied[n];
            occupied[n] |= new;
            match &mut self.values {
                LabelValues::Planes(planes) => {
                    if others != 0 {
                        for (place, taken) in taken.iter_mut().enumerate() {
                            let of_label =
                                planes.iter().enumerate().fold(others, |cells, (p, plane)| {
                                    let word = plane.words()[n];
                                    cells & if place >> p & 1 == 1 { word } else { !word }
                                });
                            *taken += u64::from(of_label.count_ones());
                        }
                    }
                    for plane in planes
                        .iter_mut()
                        .enumerate()
                        .filter(|(p, _)| place >> p & 1 == 1)
                    {
                        plane.1.words_mut()[n] |= new;
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

    /// The cells of the label at this place of the legend in row `(j, k)`, 64 to a word.
    ///
    /// # Panics
    /// If labels are not stored in planes.
    pub fn words(&self, place: usize, j: usize, k: usize) -> impl Iterator<Item = u64> + '_ {
        let LabelValues::Planes(planes) = &self.values else {
            panic!("labels are stored as bytes")
        };
        self.occupied
            .row(j, k)
            .iter()
            .enumerate()
            .map(move |(n, word)| match word {
                0 => 0,
                word => planes.iter().enumerate().fold(*word, |cells, (p, plane)| {
                    let word = plane.row(j, k)[n];
                    cells & if place >> p & 1 == 1 { word } else { !word }
                }),
            })
    }

    /// Whether labels are stored in planes, so that [`words`](Self::words) gives them.
    pub fn is_in_planes(&self) -> bool {
        matches!(self.values, LabelValues::Planes(_))
    }

    /// How many cells have this value.
    pub fn count(&self, value: u8) -> u64 {
        self.counts()
            .into_iter()
            .find(|(other, _)| *other == value)
            .map_or(0, |(_, count)| count)
    }

    /// How many cells have each value: every label of the legend in its order, or, without names, every
    /// value that occurs.
    pub fn counts(&self) -> Vec<(u8, u64)> {
        let [nx, ny, nz] = self.dims();
        let layer = |k: usize| {
            let mut counts = [0_u64; 256];
            match &self.values {
                LabelValues::Bytes(bytes) => {
                    bytes[k * nx * ny..(k + 1) * nx * ny]
                        .iter()
                        .for_each(|value| counts[usize::from(*value)] += 1);
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
        };
        let all = par::map_range(0..nz, layer)
            .into_iter()
            .fold([0; 256], |mut all, counts| {
                all.iter_mut()
                    .zip(counts)
                    .for_each(|(all, count)| *all += count);
                all
            });
        let count = |value: u8| (value, all[usize::from(value)]);
        match self.legend.labels() {
            [] => (1..=255)
                .map(count)
                .filter(|(_, count)| *count > 0)
                .collect(),
            labels => labels.iter().map(|label| count(label.value)).collect(),
        }
    }

    /// The cells of one value.
    ///
    /// # Errors
    /// If they do not fit in memory.
    pub fn cells_of(&self, value: u8) -> Result<BitGrid> {
        let mut cells = BitGrid::new(self.dims())?;
        let mut row = vec![0; self.dims()[0]];
        let row_words = cells.row_words();
        for (n, (j, k)) in self.rows().enumerate() {
            if self.occupied.row(j, k).iter().all(|word| *word == 0) {
                continue;
            }
            self.row(j, k, &mut row);
            row.iter_mut()
                .for_each(|cell| *cell = u8::from(*cell == value && value != 0));
            for (w, cells_of_word) in row.chunks(64).enumerate() {
                let word = gather(cells_of_word);
                if word != 0 {
                    cells.words_mut()[n * row_words + w] = word;
                }
            }
        }
        Ok(cells)
    }

    /// The occupied cells and their values, x fastest.
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

/// A value that a legend does not name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unnamed(pub u8);

/// How many planes the labels of this legend take; `None` if they are stored as bytes.
fn planes_for(legend: &Legend) -> Option<usize> {
    let count = legend.labels().len();
    (1..=IN_PLANES)
        .contains(&count)
        .then(|| count.next_power_of_two().ilog2() as usize)
}

impl PartialEq for Labels {
    /// Whether values and legend are equal.
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
        let counts = self
            .counts()
            .into_iter()
            .map(|(value, count)| format!("{count} {}", self.legend.name(value)));
        write!(
            f,
            "Labels {x} × {y} × {z}: {}",
            counts.collect::<Vec<_>>().join(", ")
        )
    }
}

#[cfg(test)]
mod tests;
