//! Triangles whose bounds span a few cells wait here until they fill the lanes of a vector.
//!
//! Then all of them are tested at once (`kernel/lanes.rs`). Those the test is unsure of go to the
//! row kernel.

use fearless_simd::{Simd, u32x16};

use super::batch::Batch;
use super::bricks::Bricks;
use super::frame::Frame;
use super::lanes::{ROWS, Test};
use super::queue::Queue;

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
        unsure: &mut Vec<u32>,
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
    pub fn flush<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<u32>) {
        while !self.queue.is_empty() {
            self.test(simd, bricks, unsure);
        }
    }

    /// Tests the first sixteen triangles that wait, or what is left of them, and writes their cells;
    /// the numbers of the unsure ones are added to `unsure`.
    fn test<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<u32>) {
        // Not inlined: the test is long, and there are many places that end in it.
        simd.vectorize(
            #[inline(always)]
            || self.test_with(simd, bricks, unsure),
        );
    }

    #[inline(always)]
    fn test_with<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<u32>) {
        let rows = self.queue.rows();
        let (cells, doubt) = self.test.run(simd, rows);
        for lane in 0..self.queue.ready() {
            if doubt >> lane & 1 == 1 {
                unsure.push(self.queue.ids()[lane]);
            } else {
                let row = |n: usize| rows[n][lane] as i64;
                let (base, high) = ([row(9), row(10), row(11)], [row(13), row(14)]);
                let cells = u64::from(cells[0][lane]) | u64::from(cells[1][lane]) << 32;
                bricks.block::<N>(base, high, cells);
            }
        }
        self.queue.drop_ready(simd);
    }
}
