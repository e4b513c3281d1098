//! Triangles whose bounds span a few cells wait here until they fill the lanes of a vector.
//!
//! Then all of them are tested at once (`kernel/lanes.rs`). Those the test is unsure of go to the
//! row kernel.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16, u64x8};

use crate::grid::bits::bits_of;

use super::batch::{Batch, LANES};
use super::bricks::{Bricks, SIDE};
use super::frame::Frame;
use super::lanes::{ROWS, Test};
use super::queue::{Queue, Unsure};

/// Triangles of at most `N` cells an axis, waiting for their lanes to fill.
pub struct Few<const N: usize> {
    queue: Queue<ROWS>,
    test: Test<N>,
}

impl<const N: usize> Few<N> {
    /// An empty queue.
    pub fn new(frame: &Frame) -> Self {
        Self { queue: Queue::new(), test: Test::new(frame) }
    }

    /// Adds the lanes of `mask`; lane `l` is triangle `ids[l]`. Tests sixteen of those that wait, if
    /// there are as many.
    #[inline(always)]
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        batch: &Batch<S>,
        mask: u64,
        ids: u32x16<S>,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        let [[xa, xb, xc], [ya, yb, yc], [za, zb, zc]] = batch.local;
        let ([x, y, z], [i, j, k]) = (batch.base, batch.span);
        let values = [xa, xb, xc, ya, yb, yc, za, zb, zc, x, y, z, i, j, k, batch.exact];
        self.queue.push(simd, values, mask, ids);
        if self.queue.is_full() {
            self.test(simd, bricks, unsure);
        }
    }

    /// Tests all that wait.
    pub fn flush<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<Unsure>) {
        while !self.queue.is_empty() {
            self.test(simd, bricks, unsure);
        }
    }

    /// Tests the first sixteen triangles that wait, or what is left of them, and writes their cells;
    /// the unsure ones are added to `unsure`.
    fn test<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<Unsure>) {
        // Not inlined: the test is long, and there are many places that end in it.
        simd.vectorize(
            #[inline(always)]
            || self.test_with(simd, bricks, unsure),
        );
    }

    #[inline(always)]
    fn test_with<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<Unsure>) {
        let rows = self.queue.rows();
        let ready = (1 << self.queue.ready()) - 1;
        let (cells, doubt) = self.test.run(simd, rows);
        let ranges = bricks.ranges();
        let mut within = mask32x16::splat(simd, true);
        for axis in 0..3 {
            let low = f32x16::from_slice(simd, &rows[9 + axis][..LANES]);
            let high = low + f32x16::from_slice(simd, &rows[12 + axis][..LANES]);
            let first = f32x16::splat(simd, ranges[axis].start as f32);
            let last = f32x16::splat(simd, (ranges[axis].end - 1) as f32);
            within &= low.simd_ge(first) & high.simd_le(last);
        }
        let inside = within.to_bitmask();
        let x: u32x16<S> = f32x16::from_slice(simd, &rows[9][..LANES]).to_int();
        let y: u32x16<S> = f32x16::from_slice(simd, &rows[10][..LANES]).to_int();
        // Where all cells of a row are in one word.
        let whole = (x & 63).simd_le(u32x16::splat(simd, 64 - N as u32));
        let column = (y >> SIDE.ilog2()) * bricks.across() + (x >> 6);
        let [mut columns, mut places, mut shifts] = [[0; LANES]; 3];
        column.store_slice(&mut columns);
        (y & (SIDE as u32 - 1)).store_slice(&mut places);
        (x & 63).store_slice(&mut shifts);
        let (within, whole) = (inside & ready & !doubt, whole.to_bitmask());
        let cells = |lane: usize| u64::from(cells[0][lane]) | u64::from(cells[1][lane]) << 32;
        for lane in bits_of(within) {
            let layers = [rows[11][lane] as i64, rows[11][lane] as i64 + rows[14][lane] as i64];
            let (place, shift) = (places[lane] as usize, shifts[lane]);
            let high = rows[13][lane] as usize;
            put::<N, S>(simd, bricks, columns[lane], layers, [place, high], [shift, 64], cells(lane));
            if whole >> lane & 1 == 0 {
                let next = columns[lane] + 1;
                put::<N, S>(simd, bricks, next, layers, [place, high], [0, 64 - shift], cells(lane));
            }
        }
        for lane in bits_of(ready & !doubt & !within) {
            bricks.block::<N>([9, 10, 11].map(|n| rows[n][lane] as i64), cells(lane));
        }
        for lane in bits_of(doubt & ready) {
            let bounds = || [9, 10, 11, 12, 13, 14].map(|n| rows[n][lane]);
            let plain = rows[15][lane] == 0.0 && inside >> lane & 1 == 1;
            unsure.push(Unsure { id: self.queue.ids()[lane], small: plain.then(bounds) });
        }
        self.queue.drop_ready(simd);
    }
}

/// Occupies the cells of a block in the bricks of a column and, for rows beyond those, in the next
/// along y: layers `low` to `high`, rows from `place` to `place + top`. Cells go up in their words by
/// `up`, and down by `down` if that is below 64.
#[inline(always)]
fn put<const N: usize, S: Simd>(
    simd: S,
    bricks: &mut Bricks,
    column: u32,
    [low, high]: [i64; 2],
    [place, top]: [usize; 2],
    [up, down]: [u32; 2],
    cells: u64,
) {
    let behind = column + bricks.across();
    let row = u64x8::splat(simd, (1 << N) - 1);
    let places = u64x8::from_slice(simd, &PLACES) * N as u64;
    let ends = if place + top < SIDE { &[column][..] } else { &[column, behind] };
    for (half, &column) in ends.iter().enumerate() {
        for k in 0..N {
            // Layers above the bounds have no cells: the last serves as well as any.
            let plane = bricks.plane(column, high.min(low + k as i64));
            let layer = cells >> (N * N * k) & ((1 << (N * N)) - 1);
            let layer = u64x8::splat(simd, layer << (N * place) >> (N * SIDE * half));
            let words = (layer >> places) & row;
            let words = if down < 64 { words >> down } else { words << up };
            (u64x8::from_slice(simd, plane) | words).store_slice(plane);
        }
    }
}

/// The rows of a brick.
const PLACES: [u64; SIDE] = [0, 1, 2, 3, 4, 5, 6, 7];
