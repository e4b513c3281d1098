//! A field: a 32-bit float for every cell.

use std::fmt;

use super::bits::{BitGrid, check_dims};
use crate::error::{Error, Result};
use crate::par::{self, Progress};
use voxelize_kernel::memory::Zeroed;

/// A value for each cell of a grid of `[nx, ny, nz]` cells, x fastest, then y. A distance is in units of
/// length of the lattice, not in cells.
///
/// Cells that nothing was computed for have the background value, such as infinity or the width of a narrow
/// band. A NaN is a cell without a value. All NaNs are one value; −0 and +0 are two, so that a sign may say on
/// which side of a surface a cell is.
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

/// The values of a field at a glance. Cells of the background are left out, and those of
/// [its negative](Field::is_negated).
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FieldSummary {
    /// Cells that have a value.
    pub cells: u64,
    /// How many of them are NaN.
    pub nan: u64,
    /// Cells of the background with a minus, which are not among them: inside and beyond the band.
    pub negated: u64,
    /// The least and the greatest of the others.
    pub range: Option<[f32; 2]>,
}

/// The bits that tell a value from others: all NaNs are one.
pub fn canonical(value: f32) -> u32 {
    if value.is_nan() {
        0x7fc0_0000
    } else {
        value.to_bits()
    }
}

impl Field {
    /// A field whose cells all have the background value.
    ///
    /// # Errors
    /// If an axis is zero or the cells do not fit in memory.
    pub fn new(dims: [usize; 3], background: f32) -> Result<Self> {
        let mut field = Self::zeros(dims)?;
        // Zero pages that stay zero are never touched.
        if background.to_bits() != 0 {
            field.values.fill(background);
        }
        Ok(field.with_background(background))
    }

    /// As [`new`](Self::new), in the threads it is called in.
    ///
    /// # Errors
    /// As those of [`new`](Self::new), and if the run is cancelled.
    pub fn new_in_parallel(
        dims: [usize; 3],
        background: f32,
        progress: &dyn Progress,
    ) -> Result<Self> {
        /// Values that a thread fills between two looks at whether to stop: 16 MiB.
        const CHUNK: usize = 1 << 22;
        let mut field = Self::zeros(dims)?;
        if background.to_bits() == 0 {
            return Ok(field);
        }
        let chunks = field.values.chunks_mut(CHUNK).collect();
        par::map(chunks, |values: &mut [f32]| {
            progress.check().map(|()| values.fill(background))
        })
        .into_iter()
        .collect::<Result<()>>()?;
        Ok(field.with_background(background))
    }

    fn zeros(dims: [usize; 3]) -> Result<Self> {
        check_dims(dims)?;
        let [x, y, z] = dims;
        let cells = x
            .checked_mul(y)
            .and_then(|n| n.checked_mul(z))
            .and_then(Zeroed::new);
        let values = cells.ok_or_else(|| {
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

    /// A field of these values, x fastest.
    ///
    /// # Errors
    /// If they are not as many as the cells.
    pub fn from_values(dims: [usize; 3], background: f32, values: Vec<f32>) -> Result<Self> {
        let cells = dims[0]
            .checked_mul(dims[1])
            .and_then(|n| n.checked_mul(dims[2]));
        if cells != Some(values.len()) || values.is_empty() {
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

    /// The bytes that the values of a grid of these dims take.
    pub fn bytes_for(dims: [usize; 3]) -> u128 {
        dims.iter().map(|n| *n as u128).product::<u128>() * size_of::<f32>() as u128
    }

    /// Cells per axis, `[nx, ny, nz]`.
    pub fn dims(&self) -> [usize; 3] {
        self.dims
    }

    /// The value of cells that nothing was computed for.
    pub fn background(&self) -> f32 {
        self.background
    }

    /// These values with another background.
    #[must_use]
    pub fn with_background(self, background: f32) -> Self {
        Self { background, ..self }
    }

    /// All values, x fastest, then y.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All values, to write to.
    pub fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    /// The values of row `(j, k)`.
    pub fn row(&self, j: usize, k: usize) -> &[f32] {
        let start = (k * self.dims[1] + j) * self.dims[0];
        &self.values[start..start + self.dims[0]]
    }

    /// The values of row `(j, k)`, to write to.
    pub fn row_mut(&mut self, j: usize, k: usize) -> &mut [f32] {
        let start = (k * self.dims[1] + j) * self.dims[0];
        &mut self.values[start..start + self.dims[0]]
    }

    /// The value of cell `(i, j, k)`.
    ///
    /// # Panics
    /// If the cell is outside the grid.
    pub fn get(&self, [i, j, k]: [usize; 3]) -> f32 {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        self.row(j, k)[i]
    }

    /// Gives cell `(i, j, k)` a value.
    ///
    /// # Panics
    /// If the cell is outside the grid.
    pub fn set(&mut self, [i, j, k]: [usize; 3], value: f32) {
        assert!(
            i < self.dims[0] && j < self.dims[1] && k < self.dims[2],
            "cell outside the grid"
        );
        self.row_mut(j, k)[i] = value;
    }

    /// Whether a value is the background.
    pub fn is_background(&self, value: f32) -> bool {
        canonical(value) == canonical(self.background)
    }

    /// Whether a value is the background with a minus: of signed distances, a cell inside and beyond the band. Only of
    /// a background above zero.
    pub fn is_negated(&self, value: f32) -> bool {
        self.background > 0.0 && value == -self.background
    }

    /// Whether values are the background bit by bit: much faster to see than which of them are.
    fn is_all_background(&self, values: &[f32]) -> bool {
        let background = self.background.to_bits();
        values
            .iter()
            .fold(0, |differ, value| differ | (value.to_bits() ^ background))
            == 0
    }

    /// Which of up to 64 cells of row `(j, k)`, from cell `64 n` on, have another value than the background.
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

    /// The cells that have another value than the background.
    ///
    /// # Errors
    /// If they do not fit in memory.
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

    /// How many cells differ from the background, and the range of their values.
    pub fn summary(&self) -> FieldSummary {
        let layer = self.dims[0] * self.dims[1];
        let of_layer = |k: usize| {
            let cells = self.values[k * layer..(k + 1) * layer].chunks(64);
            let some = cells
                .filter(|cells| !self.is_all_background(cells))
                .map(|cells| self.summary_of(cells));
            some.fold(FieldSummary::default(), FieldSummary::and)
        };
        let layers = par::map_range(0..self.dims[2], of_layer);
        layers
            .into_iter()
            .fold(FieldSummary::default(), FieldSummary::and)
    }

    /// Of some values: without branches, so that the compiler makes lanes of it.
    fn summary_of(&self, values: &[f32]) -> FieldSummary {
        let background = canonical(self.background);
        // A NaN is equal to nothing.
        let negated = if self.background > 0.0 {
            -self.background
        } else {
            f32::NAN
        };
        let (mut counts, mut keys) = ([0_u32; 3], [i32::MAX, i32::MIN]);
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

/// The bits of a float as an integer that is greater for a greater float, −0 below 0; and back.
fn ordered(bits: i32) -> i32 {
    bits ^ ((bits >> 31) as u32 >> 1) as i32
}

impl FieldSummary {
    /// Of these values and others.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let range = match (self.range, other.range) {
            (Some([a, b]), Some([c, d])) => Some([a.min(c), b.max(d)]),
            (one, other) => one.or(other),
        };
        let cells = self.cells + other.cells;
        let nan = self.nan + other.nan;
        Self {
            cells,
            nan,
            negated: self.negated + other.negated,
            range,
        }
    }
}

impl PartialEq for Field {
    /// Whether background and values are equal. NaNs are equal; −0 and +0 are not.
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
