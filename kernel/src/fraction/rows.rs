//! The means of the cells of a row, from the sums of the pieces in them, and their shares.

use super::bricks::SIDE;
use super::cut_cells::{CutCells, PieceSum};
use super::units::{LIMIT, UNITS, whole, without_sign};

/// One cell, in units.
const ONE: i64 = UNITS as i64;

/// The cells in which the mesh winds around points other than 0 or 1 times, as far as their means show it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OddCells {
    /// How many.
    pub cells: u64,
    /// The mean that is farthest from 0 … 1, and the first of the cells that have it.
    pub farthest: Option<(f64, [usize; 3])>,
}

impl OddCells {
    /// Adds a cell, or cells, that follow.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        let off = |mean: f64| (mean - mean.clamp(0.0, 1.0)).abs();
        let is_farther = |(mean, _): &(f64, _)| self.farthest.is_none_or(|(most, _)| off(*mean) > off(most));
        if let Some(farther) = other.farthest.filter(is_farther) {
            self.farthest = Some(farther);
        }
    }

    /// Adds some cells of this mean, if it is beyond 0 … 1 by more than rounding.
    fn add_mean(&mut self, mean: i64, cells: usize, first: [usize; 3]) {
        if is_odd(mean) {
            self.add(Self { cells: cells as u64, farthest: Some((mean as f64 / UNITS, first)) });
        }
    }
}

/// Whether a mean is beyond 0 … 1 by more than rounding.
#[inline(always)]
fn is_odd(mean: i64) -> bool {
    mean < -LIMIT || mean > ONE + LIMIT
}

/// The share of a cell that the mesh winds around so often on average: without its sign, and 1 at most.
#[inline(always)]
fn share(mean: i64) -> f32 {
    (without_sign(mean) as f64 / UNITS) as f32
}

/// Calls `take` with the cells of a row in their order, the number of the first, and how often the mesh winds around
/// the points of each on average, in units; `same` with the first cell, the end and the mean of some that have one.
#[inline(always)]
fn each_mean<T>(
    cells: &CutCells,
    [j, layer]: [usize; 2],
    to: &mut T,
    mut same: impl FnMut(&mut T, [usize; 2], i64),
    mut take: impl FnMut(&mut T, usize, &[i64; SIDE]),
) {
    // The covered share of the wall between two cells.
    let mut cover = 0_i64;
    let mut done = 0;
    for (first, sums) in cells.row(j, layer) {
        if done < first {
            cover = whole(cover);
            same(to, [done, first], cover);
        }
        let mut means = [0; SIDE];
        for n in 0..SIDE {
            means[n] = next_mean(&mut cover, sums[n]);
        }
        take(to, first, &means);
        done = first + SIDE;
    }
    if done < cells.cells[0] {
        same(to, [done, cells.cells[0]], whole(cover));
    }
}

/// The mean of the next cell; `cover` becomes the covered share of the wall behind it.
#[inline(always)]
fn next_mean(cover: &mut i64, sum: PieceSum) -> i64 {
    let rest = cover.wrapping_sub(sum.area);
    let cut = sum.cut();
    *cover = if cut.is_some() { rest } else { whole(rest) };
    cover.wrapping_add(cut.unwrap_or(0))
}

/// Makes `values` the shares of the cells of row `(j, k)`, in this layer of the bricks.
#[inline(always)]
pub(super) fn fill(cells: &CutCells, [j, k, layer]: [usize; 3], values: &mut [f32], odd: &mut OddCells) {
    let same = |(values, odd): &mut (&mut [f32], &mut OddCells), [first, end]: [usize; 2], mean| {
        values[first..end].fill(share(mean));
        odd.add_mean(mean, end - first, [first, j, k]);
    };
    let take = |(values, odd): &mut (&mut [f32], &mut OddCells), first: usize, means: &[i64; SIDE]| {
        let end = values.len().min(first + SIDE);
        let mut shares = [0.0; SIDE];
        let mut is_any_odd = false;
        for n in 0..SIDE {
            is_any_odd |= is_odd(means[n]);
            shares[n] = share(means[n]);
        }
        match values[first..].first_chunk_mut::<SIDE>() {
            Some(values) => *values = shares,
            None => values[first..end].copy_from_slice(&shares[..end - first]),
        }
        if is_any_odd {
            (first..end).for_each(|i| odd.add_mean(means[i - first], 1, [i, j, k]));
        }
    };
    each_mean(cells, [j, layer], &mut (values, odd), same, take);
}

/// The means of the cells of row `j` of a layer.
pub(super) fn means(cells: &CutCells, place: [usize; 2]) -> Vec<i64> {
    let mut means = vec![0; cells.cells[0].next_multiple_of(SIDE)];
    let same = |means: &mut Vec<i64>, [first, end]: [usize; 2], mean| means[first..end].fill(mean);
    let take = |means: &mut Vec<i64>, first: usize, some: &[i64; SIDE]| {
        means[first..first + SIDE].copy_from_slice(some);
    };
    each_mean(cells, place, &mut means, same, take);
    means.truncate(cells.cells[0]);
    means
}
