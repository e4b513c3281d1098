//! Cells of eight rows at a time.

use fearless_simd::{Simd, f64x8, prelude::*, u64x8};

use super::bricks::Bricks;
use super::sink::{BrickPlane, SIDE};
use super::table::{NOWHERE, integers};

/// List of groups of eight rows that wait to be written into bricks. Creating a brick is a function call,
/// which clears the vector registers. Therefore many rows are computed first and then written together.
#[derive(Default)]
pub struct Pieces {
    /// For each group of rows: the column of bricks and the layer.
    places: Vec<(u32, i64)>,
    cells: Vec<BrickPlane>,
    count: usize,
}

impl Pieces {
    /// Number of groups at which the list should be written.
    const ENOUGH: usize = 64;

    /// Adds the cells `low..=high` of eight rows of layer `k`. The first row is `j`, a multiple of [`SIDE`].
    /// The cells are within the words `first..=last` of the rows. All cells must be within the covered layers
    /// and the grid.
    #[inline(always)]
    pub fn add<S: Simd>(
        &mut self,
        simd: S,
        bricks: &Bricks,
        [j, k]: [i64; 2],
        [low, high]: [f64x8<S>; 2],
        [first, last]: [i64; 2],
    ) {
        let rows = low.simd_le(high);
        if !rows.any_true() {
            return;
        }
        let from = integers(low);
        let to = integers(high);
        let none = u64x8::splat(simd, 0);
        let ones = u64x8::splat(simd, !0);
        let head = ones << (from & 63);
        let tail = ones >> (!to & 63);
        if first == last {
            return self.push(bricks, [first, j, k], rows.select(head & tail, none));
        }
        // If there are at most two words, trying both costs less than finding out which are needed.
        let (first, last) = if last - first < 2 {
            (first, last)
        } else {
            let far = f64x8::splat(simd, NOWHERE);
            (
                rows.select(low, far).reduce_min() as i64 / 64,
                rows.select(high, -far).reduce_max() as i64 / 64,
            )
        };
        for n in first..=last {
            let start = f64x8::splat(simd, (64 * n) as f64);
            let end = f64x8::splat(simd, (64 * n + 63) as f64);
            let inside = rows & low.simd_le(end) & high.simd_ge(start);
            if inside.any_true() {
                let cells =
                    low.simd_le(start).select(ones, head) & high.simd_ge(end).select(ones, tail);
                self.push(bricks, [n, j, k], inside.select(cells, none));
            }
        }
    }

    /// Reserves memory for `more` groups.
    #[inline(always)]
    pub fn reserve(&mut self, more: usize) {
        let needed = self.count + more;
        if needed > self.cells.len() {
            self.cells.resize(2 * needed, [0; SIDE]);
            self.places.resize(2 * needed, (0, 0));
        }
    }

    #[inline(always)]
    fn push<S: Simd>(&mut self, bricks: &Bricks, [n, j, k]: [i64; 3], cells: u64x8<S>) {
        cells.store_slice(&mut self.cells[self.count]);
        self.places[self.count] = (bricks.column(n, j), k);
        self.count += 1;
    }

    /// Returns `true` if the list should be written now.
    #[inline(always)]
    pub fn are_enough(&self) -> bool {
        self.count >= Self::ENOUGH
    }

    /// Occupies the cells of all groups and empties the list.
    #[inline(always)]
    pub fn put<S: Simd>(&mut self, simd: S, bricks: &mut Bricks) {
        for (&(column, k), cells) in self.places[..self.count].iter().zip(&self.cells) {
            let plane = bricks.plane(column, k);
            (u64x8::from_slice(simd, plane) | u64x8::from_slice(simd, cells)).store_slice(plane);
        }
        self.count = 0;
    }
}
