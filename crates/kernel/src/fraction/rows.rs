//! Mean winding numbers of the cells of a row, computed from the sums of the pieces in them, and the shares
//! of the cells.

use super::bricks::SIDE;
use super::cut_cells::{CutCells, PieceSum};
use super::units::{LIMIT, NEAR, UNITS, whole, without_sign};

/// Mean winding number 1, in units.
const ONE: i64 = UNITS as i64;

/// Cells in which the mesh winds around some points other than 0 or 1 times, as far as the mean winding
/// numbers of the cells show this.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OddCells {
    /// Number of cells.
    pub cells: u64,
    /// Mean that is farthest outside of 0 … 1, and the first cell with this mean.
    pub farthest: Option<(f64, [usize; 3])>,
    /// Number of cells whose mean is so little below 0 that this may be a rounding error.
    pub doubtful: u64,
}

impl OddCells {
    /// Adds the result for later cells.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.doubtful += other.doubtful;
        let Some((mean, _)) = other.farthest else {
            return;
        };
        let is_farther = match self.farthest {
            Some((farthest, _)) => excess(mean) > excess(farthest),
            None => true,
        };
        if is_farther {
            self.farthest = other.farthest;
        }
    }

    /// Adds `cells` cells with the same mean if it is outside of 0 … 1 by more than a rounding error. `first`
    /// is the first of them.
    fn add_mean(&mut self, mean: i64, cells: usize, first: [usize; 3]) {
        if is_odd(mean) {
            self.add_odd(mean as f64 / UNITS, cells, first);
        } else if is_odd_or_doubtful(mean) {
            self.doubtful += cells as u64;
        }
    }

    /// Adds `cells` cells with the same mean, which is outside of 0 … 1.
    pub(super) fn add_odd(&mut self, mean: f64, cells: usize, first: [usize; 3]) {
        self.add(Self {
            cells: cells as u64,
            farthest: Some((mean, first)),
            doubtful: 0,
        });
    }
}

/// Returns how far a mean is outside of 0 … 1.
fn excess(mean: f64) -> f64 {
    (mean - mean.clamp(0.0, 1.0)).abs()
}

/// Returns `true` if a mean is outside of 0 … 1 by more than a rounding error.
#[inline(always)]
pub(super) fn is_odd(mean: i64) -> bool {
    !(-LIMIT..=ONE + LIMIT).contains(&mean)
}

/// Returns `true` if a mean is outside of 0 … 1 by more than a rounding error, or so little below 0 that this
/// may be a rounding error.
#[inline(always)]
fn is_odd_or_doubtful(mean: i64) -> bool {
    !(-NEAR..=ONE + LIMIT).contains(&mean)
}

/// Returns the share of a cell with this mean winding number. It is the absolute value of the mean, but at
/// most 1.
#[inline(always)]
fn share(mean: i64) -> f32 {
    (without_sign(mean) as f64 / UNITS) as f32
}

/// Returns the mean winding number of the next cell. `cover` is the covered share of the wall before this
/// cell, and is set to that of the wall after it.
#[inline(always)]
fn next_mean(cover: &mut i64, sum: PieceSum) -> i64 {
    let rest = cover.wrapping_sub(sum.area);
    let cut = sum.cut();
    *cover = if cut.is_some() { rest } else { whole(rest) };
    cover.wrapping_add(cut.unwrap_or(0))
}

/// Fills `values` with the shares of the cells of row `(j, k)`. `layer` is its layer within the bricks. Adds
/// the odd cells to `odd`.
#[inline(always)]
pub(super) fn fill(
    cells: &CutCells,
    [j, k, layer]: [usize; 3],
    values: &mut [f32],
    odd: &mut OddCells,
) {
    // Covered share of the wall after the last cell.
    let mut cover = 0_i64;
    let mut done = 0;
    for brick in cells.bricks_along([j, layer]) {
        let Some((first, sums)) = cells.row(brick, j) else {
            continue;
        };
        if done < first {
            cover = whole(cover);
            values[done..first].fill(share(cover));
            odd.add_mean(cover, first - done, [done, j, k]);
        }
        let mut means = [0; SIDE];
        for n in 0..SIDE {
            means[n] = next_mean(&mut cover, sums[n]);
        }
        let mut shares = [0.0; SIDE];
        let mut is_any_odd = false;
        for n in 0..SIDE {
            is_any_odd |= is_odd_or_doubtful(means[n]);
            shares[n] = share(means[n]);
        }
        done = values.len().min(first + SIDE);
        if let Some(values) = values[first..].first_chunk_mut::<SIDE>() {
            *values = shares;
        } else {
            values[first..done].copy_from_slice(&shares[..done - first]);
        }
        if is_any_odd {
            (first..done).for_each(|i| odd.add_mean(means[i - first], 1, [i, j, k]));
        }
    }
    if done < values.len() {
        cover = whole(cover);
        odd.add_mean(cover, values.len() - done, [done, j, k]);
        values[done..].fill(share(cover));
    }
}

/// Fills `values` with the shares of the cells of a row from cell `first` on. Adds the odd cells to `odd`.
pub(super) fn fill_from(
    cells: &CutCells,
    [j, k, layer]: [usize; 3],
    first: usize,
    values: &mut [f32],
    odd: &mut OddCells,
) {
    let means = means(cells, [j, layer]);
    for (n, value) in values.iter_mut().enumerate() {
        let mean = means[first + n];
        *value = share(mean);
        odd.add_mean(mean, 1, [first + n, j, k]);
    }
}

/// Returns the cells of a row that contain a triangle in their inside and whose mean winding number is, or
/// may be, outside of 0 … 1.
pub(super) fn odd_cut_cells(cells: &CutCells, [j, layer]: [usize; 2]) -> Vec<usize> {
    let means = means(cells, [j, layer]);
    let mut found = vec![];
    for brick in cells.bricks_along([j, layer]) {
        let Some((first, sums)) = cells.row(brick, j) else {
            continue;
        };
        for (sum, n) in sums.iter().zip(first..means.len()) {
            if sum.cut().is_some() && is_odd_or_doubtful(means[n]) {
                found.push(n);
            }
        }
    }
    found
}

/// Returns the mean winding numbers of the cells of row `j` of a layer.
pub(super) fn means(cells: &CutCells, [j, layer]: [usize; 2]) -> Vec<i64> {
    let mut cover = 0;
    let mut means = vec![];
    for brick in cells.bricks_along([j, layer]) {
        let Some((first, sums)) = cells.row(brick, j) else {
            continue;
        };
        if means.len() < first {
            cover = whole(cover);
            means.resize(first, cover);
        }
        means.extend(sums.iter().map(|sum| next_mean(&mut cover, *sum)));
    }
    means.resize(cells.cells[0], whole(cover));
    means
}
