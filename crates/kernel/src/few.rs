//! Queue of triangles whose bounds span a few cells. They wait until there are enough to fill the lanes of a
//! vector.
//!
//! Then all of them are tested at once (`lanes.rs`). Triangles for which the test is unsure are passed to
//! more precise kernels.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use crate::bits::bits_of;

use super::batch::TriangleBatch;
use super::bricks::Bricks;
use super::lanes::{BoxTest, ROWS};
use super::lattice::KernelLattice;
use super::levels::LANES;
use super::marks;
use super::queue::{Queue, Unsure};

/// Queue of triangles with bounds of at most `N` cells per axis.
pub struct Few<const N: usize> {
    queue: Queue<ROWS>,
    test: BoxTest<N>,
}

impl<const N: usize> Few<N> {
    /// Creates an empty queue.
    pub fn new(frame: &KernelLattice) -> Self {
        Self {
            queue: Queue::new(),
            test: BoxTest::new(frame),
        }
    }

    /// Adds the triangles in the lanes of `mask`. Lane `l` is triangle `ids[l]`. If sixteen triangles are
    /// waiting, tests them.
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
        let [x, y, z] = batch.base;
        let [i, j, k] = batch.span;
        let values = [
            xa,
            xb,
            xc,
            ya,
            yb,
            yc,
            za,
            zb,
            zc,
            x,
            y,
            z,
            i,
            j,
            k,
            batch.exact,
        ];
        self.queue.push(simd, values, mask, ids);
        if self.queue.is_full() {
            self.test(simd, bricks, unsure);
        }
    }

    /// Tests all waiting triangles.
    pub fn flush<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<Unsure>) {
        while !self.queue.is_empty() {
            self.test(simd, bricks, unsure);
        }
    }

    /// Tests the next waiting triangles, sixteen or fewer if fewer are waiting, and marks their cells. Unsure
    /// triangles are added to `unsure`.
    fn test<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, unsure: &mut Vec<Unsure>) {
        // The test is long and called in many places. It must not be inlined.
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
        let mut base = [u32x16::splat(simd, 0); 3];
        for axis in 0..3 {
            base[axis] = f32x16::from_slice(simd, &rows[9 + axis][..LANES]).to_int();
        }
        let span: u32x16<S> = f32x16::from_slice(simd, &rows[12][..LANES]).to_int();
        let within = inside & ready & !doubt;
        let found = Blocks::<N, S> {
            base,
            cells,
            lanes: mask32x16::from_bitmask(simd, within),
        };
        found.mark(simd, span, bricks);
        let outside = ready & !doubt & !inside;
        if outside != 0 {
            let mut words = [[0; LANES]; 2];
            cells[0].store_slice(&mut words[0]);
            cells[1].store_slice(&mut words[1]);
            for lane in bits_of(outside) {
                let cells = u64::from(words[0][lane]) | u64::from(words[1][lane]) << 32;
                bricks.block::<N>([9, 10, 11].map(|n| rows[n][lane] as i64), cells);
            }
        }
        bricks.make_room(simd);
        for lane in bits_of(doubt & ready) {
            let bounds = || [9, 10, 11, 12, 13, 14].map(|n| rows[n][lane]);
            let plain = rows[15][lane] == 0.0 && inside >> lane & 1 == 1;
            unsure.push(Unsure {
                id: self.queue.ids()[lane],
                small: plain.then(bounds),
            });
        }
        self.queue.drop_ready(simd);
    }
}

/// Blocks of `N` cells per axis, one in each lane.
struct Blocks<const N: usize, S: Simd> {
    /// Lowest cell of each block.
    base: [u32x16<S>; 3],
    /// Cells of each block. Cell `[i, j, k]` is bit `i + N (j + N k)` of the two words.
    cells: [u32x16<S>; 2],
    /// Lanes that contain a block.
    lanes: mask32x16<S>,
}

impl<const N: usize, S: Simd> Blocks<N, S> {
    /// Marks the cells of the blocks. `span` is the largest distance of a cell from the lowest cell along x.
    #[inline(always)]
    fn mark(&self, simd: S, span: u32x16<S>, bricks: &mut Bricks) {
        let [x, y, z] = self.base;
        let none = u32x16::splat(simd, 0);
        let straddles = ((x & 63) + span).simd_gt(u32x16::splat(simd, 63)) & self.lanes;
        let straddles_any = straddles.any_true();
        let mut columns = [none; N];
        let mut rows = [none; N];
        for j in 0..N {
            columns[j] = bricks.columns(x, y + j as u32);
            rows[j] = marks::words([x, y + j as u32, none]);
        }
        let z = bricks.layers_from_first(z);
        for k in 0..N {
            let layer = bricks.first_of_layers(z + k as u32);
            let words = marks::words([none, none, z + k as u32]);
            for j in 0..N {
                let bit = N * (j + N * k);
                let cells = (self.cells[bit / 32] >> (bit % 32) as u32) & ((1 << N) - 1);
                let lanes = cells.simd_ne(none) & self.lanes;
                let number = layer + columns[j];
                let word = words | rows[j] | cells;
                bricks.mark(simd, number, word, lanes);
                if straddles_any {
                    let rest = marks::beyond(simd, word);
                    let lanes = straddles & (rest & 0xffff).simd_ne(none);
                    bricks.mark(simd, number + 1, rest, lanes);
                }
            }
        }
    }
}
