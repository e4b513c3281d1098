//! Triangles whose bounds span a few cells wait here until they fill the lanes of a vector.
//!
//! Then all of them are tested at once (`kernel/lanes.rs`). Those the test is unsure of go to the
//! kernels that look closer.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16, u64x8};

use crate::bits::bits_of;

use super::batch::{LANES, TriangleBatch};
use super::bricks::Bricks;
use super::lanes::{BoxTest, ROWS};
use super::lattice::KernelLattice;
use super::queue::{Queue, Unsure};
use super::sink::SIDE;

/// Triangles of at most `N` cells an axis, waiting for their lanes to fill.
pub struct Few<const N: usize> {
    queue: Queue<ROWS>,
    test: BoxTest<N>,
}

impl<const N: usize> Few<N> {
    /// An empty queue.
    pub fn new(frame: &KernelLattice) -> Self {
        Self { queue: Queue::new(), test: BoxTest::new(frame) }
    }

    /// Adds the lanes of `mask`; lane `l` is triangle `ids[l]`. Tests sixteen of those that wait, if
    /// there are as many.
    #[inline(always)]
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        batch: &TriangleBatch<S>,
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
        let span: u32x16<S> = f32x16::from_slice(simd, &rows[12][..LANES]).to_int();
        let whole = ((x & 63) + span).simd_lt(u32x16::splat(simd, 64));
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
            let block = CellBlock { layers, place, top: rows[13][lane] as usize, cells: cells(lane) };
            block.put::<N, S>(simd, bricks, columns[lane], [shift, 0]);
            if whole >> lane & 1 == 0 {
                block.put::<N, S>(simd, bricks, columns[lane] + 1, [0, 64 - shift]);
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

/// A block of `N` cells an axis.
struct CellBlock {
    /// The lowest and the highest layer with cells.
    layers: [i64; 2],
    /// The lowest row, in its brick.
    place: usize,
    /// The highest row with cells, relative to that.
    top: usize,
    /// Cell `[i, j, k]` is bit `i + N (j + N k)`.
    cells: u64,
}

impl CellBlock {
    /// Occupies the cells in the bricks of a column and, for rows beyond those, in the next along y.
    /// Cells go up in their words by so many places, then down by so many.
    #[inline(always)]
    fn put<const N: usize, S: Simd>(&self, simd: S, bricks: &mut Bricks, column: u32, [up, down]: [u32; 2]) {
        let Self { layers: [low, high], place, top, cells } = *self;
        let behind = column + bricks.across();
        let ends = if place + top < SIDE { &[column][..] } else { &[column, behind] };
        let row = (1 << N) - 1;
        let places = u64x8::from_slice(simd, &PLACES) * N as u64;
        for (half, &column) in ends.iter().enumerate() {
            for k in 0..N {
                // Layers above the bounds have no cells: the last serves as well as any.
                let plane = bricks.plane(column, high.min(low + k as i64));
                let layer = cells >> (N * N * k) & ((1 << (N * N)) - 1);
                // Row by row from the first of the brick.
                let layer = layer << (N * place) >> (N * SIDE * half);
                if N == 2 {
                    // Two rows are written faster one by one.
                    let first = if half == 0 { place } else { 0 };
                    for j in [first % SIDE, (first + 1) % SIDE] {
                        plane[j] |= (layer >> (N * j) & row) << up >> down;
                    }
                } else {
                    let words = (u64x8::splat(simd, layer) >> places) & row;
                    (u64x8::from_slice(simd, plane) | (words << up >> down)).store_slice(plane);
                }
            }
        }
    }
}

/// The rows of a brick.
const PLACES: [u64; SIDE] = [0, 1, 2, 3, 4, 5, 6, 7];
