//! Field: a grid with a 32-bit float for every cell.

use std::fmt;

use super::bits::{BitGrid, check_dims, checked_size};
use crate::error::{Error, Result};
use crate::par::{self, Progress};
use voxelize_kernel::memory::Zeroed;

/// Grid of `[nx, ny, nz]` cells with a 32-bit float for each cell, stored with x fastest, then y. Distances
/// are in the lattice's unit of length, not in cells.
///
/// Cells for which no value was computed have the background value, such as infinity or the width of a narrow
/// band. NaN means that a cell has no value. Comparisons treat all NaNs as equal. They treat −0 and +0 as
/// different, so that the sign can state the side of a surface.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::grid::Field;
///
/// let mut field = Field::new([4, 2, 1], f32::INFINITY)?;
/// field.set([1, 0, 0], -0.25);
/// assert_eq!(field.row(0, 0), [f32::INFINITY, -0.25, f32::INFINITY, f32::INFINITY]);
/// assert_eq!(field.summary().range, Some([-0.25, -0.25]));
/// # Ok::<(), voxelize::Error>(())
/// ```
#[derive(Clone)]
pub struct Field {
    dims: [usize; 3],
    background: f32,
    values: Zeroed<f32>,
}

/// Summary of the values of a field. It excludes cells with the background value or [its
/// negative](Field::is_negated).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FieldSummary {
    /// Number of cells whose value is neither the background nor its negative.
    pub cells: u64,
    /// Number of these cells that are NaN.
    pub nan: u64,
    /// Number of cells with the negated background value, which are inside the mesh and beyond the band.
    /// `cells` does not include them.
    pub negated: u64,
    /// Least and greatest value of the cells counted in `cells`, except NaN. `None` if there are no such
    /// values.
    pub range: Option<[f32; 2]>,
}

/// Returns the bits of a value for comparisons. All NaNs have the same bits.
pub fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits()
    }
}

impl Field {
    /// Creates a field whose cells all have the background value.
    ///
    /// # Errors
    /// Fails if one of the dims is zero, or if the cells do not fit in memory.
    pub fn new(dims: [usize; 3], background: f32) -> Result<Self> {
        let mut field = Self::zeros(dims)?;
        // Zeroed pages from the system are not touched if the background is zero.
        if background.to_bits() != 0 {
            field.values.fill(background);
        }
        Ok(field.with_background(background))
    }

    /// Creates a field as [`new`](Self::new) does. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails for the reasons listed at [`new`](Self::new), and if the run is cancelled.
    pub fn new_in_parallel(
        dims: [usize; 3],
        background: f32,
        progress: &dyn Progress,
    ) -> Result<Self> {
        /// Number of values (16 MiB) that a thread fills between two checks for cancellation.
        const CHUNK: usize = 1 << 22;
        let mut field = Self::zeros(dims)?;
        if background.to_bits() == 0 {
            return Ok(field);
        }
        let chunks = field.values.chunks_mut(CHUNK).collect();
        let filled = par::map(chunks, |values: &mut [f32]| {
            progress.check()?;
            values.fill(background);
            Ok(())
        });
        filled.into_iter().collect::<Result<()>>()?;
        Ok(field.with_background(background))
    }

    fn zeros(dims: [usize; 3]) -> Result<Self> {
        check_dims(dims)?;
        let [x, y, z] = dims;
        let values = checked_size(dims).and_then(Zeroed::new).ok_or_else(|| {
            Error::too_large(format!(
                "a field of {x} × {y} × {z} cells does not fit in memory"
            ))
            .with_hint("use larger cells")
        })?;
        Ok(Self {
            dims,
            background: 0.0,
            values,
        })
    }

    /// Creates a field from a list of values, with x fastest.
    ///
    /// # Errors
    /// Fails if the number of values differs from the number of cells.
    pub fn from_values(dims: [usize; 3], background: f32, values: Vec<f32>) -> Result<Self> {
        if checked_size(dims) != Some(values.len()) || values.is_empty() {
            let [x, y, z] = dims;
            return Err(Error::usage(format!(
                "{} values for {x} × {y} × {z} cells",
                values.len()
            )));
        }
        Ok(Self {
            dims,
            background,
            values: values.into(),
        })
    }

    /// Returns the memory of a field of these dims in bytes.
    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        dims.iter().map(|n| *n as u128).product::<u128>() * size_of::<f32>() as u128
    }

    /// Returns the number of cells along each axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// Returns the background: the value of cells for which no value was computed.
    pub fn background(&self) -> f32 {
        self.background
    }

    /// Replaces the background value without changing the values of cells.
    #[must_use]
    pub fn with_background(self, background: f32) -> Self {
        Self { background, ..self }
    }

    /// Returns all values, with x fastest, then y.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Returns all values for writing.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// Returns the values of row `(j, k)`.
    pub fn row(&self, j: usize, k: usize) -> &[f32] {
        let start = (k * self.dims[1] + j) * self.dims[0];
        &self.values[start..start + self.dims[0]]
    }

    /// Returns the values of row `(j, k)` for writing.
    pub fn row_mut(&mut self, j: usize, k: usize) -> &mut [f32] {
        let start = (k * self.dims[1] + j) * self.dims[0];
        &mut self.values[start..start + self.dims[0]]
    }

    /// Returns the value of cell `(i, j, k)`.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid.
    pub fn get(&self, [i, j, k]: [usize; 3]) -> f32 {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        self.row(j, k)[i]
    }

    /// Sets the value of cell `(i, j, k)`.
    ///
    /// # Panics
    /// Panics if the cell is outside the grid.
    pub fn set(&mut self, [i, j, k]: [usize; 3], value: f32) {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        self.row_mut(j, k)[i] = value;
    }

    /// Reports whether a value is the background value.
    pub fn is_background(&self, value: f32) -> bool {
        canonical(value) == canonical(self.background)
    }

    /// Reports whether a value is the negated background value. In a field of signed distances, such a cell
    /// is inside the mesh and beyond the band. The result is `false` if the background is not positive.
    pub fn is_negated(&self, value: f32) -> bool {
        self.background > 0.0 && value == -self.background
    }

    /// Reports whether all values are bitwise equal to the background. This test is much faster than finding
    /// the values that differ.
    fn is_all_background(&self, values: &[f32]) -> bool {
        let background = self.background.to_bits();
        values
            .iter()
            .fold(0, |differ, value| differ | (value.to_bits() ^ background))
            == 0
    }

    /// Returns 64 cells of row `(j, k)` from cell `64 n` on as a word. It has one bit for each cell that
    /// differs from the background.
    pub fn word(&self, j: usize, k: usize, n: usize) -> u64 {
        let row = &self.row(j, k)[64 * n..];
        let row = &row[..row.len().min(64)];
        if self.is_all_background(row) {
            return 0;
        }
        let background = canonical(self.background);
        row.iter().enumerate().fold(0, |word, (i, value)| {
            word | u64::from(canonical(*value) != background) << i
        })
    }

    /// Returns the cells that differ from the background.
    ///
    /// # Errors
    /// Fails if the cells do not fit in memory.
    pub fn differing(&self) -> Result<BitGrid> {
        let mut cells = BitGrid::new(self.dims)?;
        let row_words = cells.row_words();
        let ny = self.dims[1];
        for (n, word) in cells.words_mut().iter_mut().enumerate() {
            let found = self.word(n / row_words % ny, n / row_words / ny, n % row_words);
            if found != 0 {
                *word = found;
            }
        }
        Ok(cells)
    }

    /// Returns the summary of the values of all cells.
    pub fn summary(&self) -> FieldSummary {
        let layer = self.dims[0] * self.dims[1];
        let layers = par::map_range(0..self.dims[2], |k| {
            let mut summary = FieldSummary::default();
            for cells in self.values[k * layer..(k + 1) * layer].chunks(64) {
                if !self.is_all_background(cells) {
                    summary = summary.and(self.summary_of(cells));
                }
            }
            summary
        });
        layers
            .into_iter()
            .fold(FieldSummary::default(), FieldSummary::and)
    }

    /// Returns the summary of some values. The loop has no branches, so that the compiler can vectorize it.
    fn summary_of(&self, values: &[f32]) -> FieldSummary {
        let background = canonical(self.background);
        // No value equals NaN.
        let negated = if self.background > 0.0 {
            -self.background
        } else {
            f32::NAN
        };
        let mut counts = [0_u32; 3];
        let mut keys = [i32::MAX, i32::MIN];
        for value in values {
            let is_negated = *value == negated;
            let is_value = (canonical(*value) != background) & !is_negated;
            let is_nan = is_value & value.is_nan();
            for (count, one) in counts.iter_mut().zip([is_value, is_nan, is_negated]) {
                *count += u32::from(one);
            }
            let key = ordered(value.to_bits() as i32);
            let [low, high] = if is_value & !is_nan {
                [key; 2]
            } else {
                [i32::MAX, i32::MIN]
            };
            keys = [keys[0].min(low), keys[1].max(high)];
        }
        let [cells, nan, negated] = counts.map(u64::from);
        let range = (cells > nan).then(|| keys.map(|key| f32::from_bits(ordered(key) as u32)));
        FieldSummary {
            cells,
            nan,
            negated,
            range,
        }
    }
}

/// Converts the bits of a float to an integer that sorts in the same order, with −0 before 0. Applied twice,
/// it returns the original bits.
fn ordered(bits: i32) -> i32 {
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

impl FieldSummary {
    /// Returns the summary of the union of two sets of cells.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let range = match (self.range, other.range) {
            (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
            (one, other) => one.or(other),
        };
        Self {
            cells: self.cells + other.cells,
            nan: self.nan + other.nan,
            negated: self.negated + other.negated,
            range,
        }
    }
}

impl PartialEq for Field {
    /// Compares the dims, the background and the values. NaNs are equal, and −0 differs from +0.
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): (&f32, &f32)| canonical(*a) == canonical(*b);
        self.dims == other.dims
            && same((&self.background, &other.background))
            && self.values.iter().zip(other.values.iter()).all(same)
    }
}

impl Eq for Field {}

impl fmt::Debug for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.dims;
        let summary = self.summary();
        write!(
            f,
            "Field {x} × {y} × {z}, background {}: {summary:?}",
            self.background
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_differ_from_the_background_by_their_bits() {
        let values = vec![0.0, -0.0, f32::NAN, -f32::NAN, 1.5, f32::INFINITY];
        let field = Field::from_values([3, 2, 1], 0.0, values.clone()).unwrap();
        assert_eq!(field.differing().unwrap().to_text(), "###\n.##\n");
        let summary = field.summary();
        assert_eq!((summary.cells, summary.nan), (5, 2));
        assert_eq!(summary.range, Some([-0.0, f32::INFINITY]));
        let nothing = field.with_background(f32::NAN);
        assert_eq!(nothing.differing().unwrap().to_text(), ".##\n##.\n");
        assert_eq!(nothing.summary().nan, 0);
        assert!(Field::from_values([3, 2, 2], 0.0, values).is_err());
    }

    #[test]
    fn the_background_with_a_minus_is_no_value() {
        let field =
            Field::from_values([3, 2, 1], 2.0, vec![2.0, -2.0, -2.0, -1.5, 0.5, f32::NAN]).unwrap();
        let FieldSummary {
            cells,
            nan,
            negated,
            range,
        } = field.summary();
        assert_eq!((cells, nan, negated, range), (3, 1, 2, Some([-1.5, 0.5])));
        let zero = Field::from_values([2, 1, 1], 0.0, vec![-0.0, 1.0])
            .unwrap()
            .summary();
        assert_eq!((zero.cells, zero.negated), (2, 0));
    }

    #[test]
    fn all_nans_are_equal_and_zeros_have_signs() {
        let field = |values: [f32; 2]| Field::from_values([2, 1, 1], 0.0, values.to_vec()).unwrap();
        assert_eq!(field([f32::NAN, 1.0]), field([-f32::NAN, 1.0]));
        assert_ne!(field([0.0, 1.0]), field([-0.0, 1.0]));
        let wide = Field::new([130, 2, 2], 7.0).unwrap();
        assert!(
            wide.values().iter().all(|value| *value == 7.0)
                && wide.summary() == FieldSummary::default()
        );
    }
}
