//! Triangles whose bounds span a few cells wait here until they fill the lanes of a vector.
//!
//! Then all of them are tested at once (`kernel/lanes.rs`). Those the test is unsure of go to the
//! row kernel.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use super::batch::{Batch, LANES};
use super::frame::Frame;
use super::lanes::{ROWS, Test};
use super::slab::Slab;

/// Triangles of at most `N` cells an axis, waiting for their lanes to fill.
pub struct Few<const N: usize> {
    rows: [[f32; 2 * LANES]; ROWS],
    /// Which triangle each lane is.
    ids: [u32; 2 * LANES],
    count: usize,
    test: Test<N>,
}

impl<const N: usize> Few<N> {
    /// An empty queue.
    pub fn new(frame: &Frame) -> Self {
        let rows = [[0.0; 2 * LANES]; ROWS];
        Self { rows, ids: [0; 2 * LANES], count: 0, test: Test::new(frame) }
    }

    /// Adds the lanes of `mask`; lane `l` is triangle `ids[l]`. Answers whether a full set waits.
    #[inline(always)]
    pub fn push<S: Simd>(&mut self, simd: S, batch: &Batch<S>, mask: u64, ids: &[u32; LANES]) -> bool {
        let lanes = mask32x16::from_bitmask(simd, mask);
        // Spelled out, so that the vectors stay in registers.
        self.put(0, batch.local[0][0], lanes);
        self.put(1, batch.local[0][1], lanes);
        self.put(2, batch.local[0][2], lanes);
        self.put(3, batch.local[1][0], lanes);
        self.put(4, batch.local[1][1], lanes);
        self.put(5, batch.local[1][2], lanes);
        self.put(6, batch.local[2][0], lanes);
        self.put(7, batch.local[2][1], lanes);
        self.put(8, batch.local[2][2], lanes);
        self.put(9, batch.base[0], lanes);
        self.put(10, batch.base[1], lanes);
        self.put(11, batch.base[2], lanes);
        self.put(12, batch.span[0], lanes);
        self.put(13, batch.span[1], lanes);
        self.put(14, batch.span[2], lanes);
        self.put(15, batch.exact, lanes);
        u32x16::from_slice(simd, ids).compress(lanes).store_slice(&mut self.ids[self.count..][..LANES]);
        self.count += mask.count_ones() as usize;
        self.count >= LANES
    }

    /// Appends the chosen lanes to a row.
    #[inline(always)]
    fn put<S: Simd>(&mut self, row: usize, values: f32x16<S>, lanes: mask32x16<S>) {
        values.compress(lanes).store_slice(&mut self.rows[row][self.count..][..LANES]);
    }

    /// Tests the first sixteen triangles that wait, or what is left of them, and writes their cells;
    /// the numbers of the unsure ones are added to `unsure`.
    pub fn flush<S: Simd>(&mut self, simd: S, slab: &mut Slab, unsure: &mut Vec<u32>) {
        // Not inlined: the test is long, and there are many places that end in it.
        simd.vectorize(
            #[inline(always)]
            || self.flush_with(simd, slab, unsure),
        );
    }

    #[inline(always)]
    fn flush_with<S: Simd>(&mut self, simd: S, slab: &mut Slab, unsure: &mut Vec<u32>) {
        let count = self.count.min(LANES);
        let (cells, doubt) = self.test.run(simd, &self.rows);
        for lane in 0..count {
            if doubt >> lane & 1 == 1 {
                unsure.push(self.ids[lane]);
            } else {
                let row = |n: usize| self.rows[n][lane] as i64;
                let (base, high) = ([row(9), row(10), row(11)], [row(13), row(14)]);
                let cells = u64::from(cells[0][lane]) | u64::from(cells[1][lane]) << 32;
                slab.block::<N>(base, high, cells);
            }
        }
        for row in &mut self.rows {
            f32x16::from_slice(simd, &row[LANES..]).store_slice(&mut row[..LANES]);
        }
        u32x16::from_slice(simd, &self.ids[LANES..]).store_slice(&mut self.ids[..LANES]);
        self.count -= count;
    }

    /// Whether triangles wait.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}
