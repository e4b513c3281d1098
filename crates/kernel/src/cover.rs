//! Finds the cells that triangles of a mesh touch, in one thread.

use std::ops::Range;

use fearless_simd::{Simd, f32x16, prelude::*, u32x16};

use crate::bits::bits_of;
use crate::geom::Triangle;

use super::batch::TriangleBatch;
use super::bricks::Bricks;
use super::few::Few;
use super::flat::Flat;
use super::gather::{Vertices, gather};
use super::lattice::KernelLattice;
use super::levels::LANES;
use super::levels::{Level, on_level};
use super::queue::{Queue, Unsure};
use super::setup::Setup;
use super::sink::BrickSink;
use super::sink::ThreadBricks;
use super::small::{self, Small};
use super::span::{self, Scratch};
use super::tiny::{self, Left, Tiny};

/// Number of each lane.
const RAMP: [u32; LANES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// Minimum number of triangles with known bounds in a vector for which they are covered at once. Fewer are
/// queued.
const MIN_BOUNDED: u32 = 6;

/// Occupies the cells that triangles touch, in the bricks of one thread. Triangles may wait in queues until
/// [`finish`](Self::finish).
pub struct Coverer<'a, 'b, 't> {
    frame: &'a KernelLattice,
    triangles: &'a [Triangle],
    bricks: Bricks<'b, 't>,
    scratch: Scratch,
    flat: Option<Flat>,
    tiny: Option<Tiny>,
    others: Queue<9>,
    two: Few<2>,
    three: Few<3>,
    four: Few<4>,
    small: Small,
    unsure: Vec<Unsure>,
    snapped: u64,
}

impl<'a, 'b, 't> Coverer<'a, 'b, 't> {
    /// Creates the state of one thread for triangles of a mesh. The cells are written to `target`, to which
    /// `threads` threads write.
    pub fn new(
        frame: &'a KernelLattice,
        triangles: &'a [Triangle],
        target: &'b BrickSink<'t>,
        threads: usize,
    ) -> Self {
        Self {
            frame,
            triangles,
            bricks: Bricks::new(target, threads),
            scratch: Scratch::default(),
            flat: Flat::new(frame),
            tiny: Tiny::new(frame),
            others: Queue::new(),
            two: Few::new(frame),
            three: Few::new(frame),
            four: Few::new(frame),
            small: Small::new(frame),
            unsure: vec![],
            snapped: 0,
        }
    }

    /// Occupies every cell of `layers` that one of `triangles` touches, except cells of triangles that still
    /// wait in queues.
    pub fn cover(&mut self, level: Level, triangles: Range<u32>, layers: Range<i64>) {
        if self.bricks.layers != layers {
            self.flush(level);
            self.bricks.layers = layers;
        }
        on_level!(level, simd => self.cover_with(simd, triangles), scalar => self.cover_each(scalar, triangles));
    }

    /// Covers the triangles in queues. Returns the occupied cells, and the number of coordinates that
    /// snapping moved. A triangle is counted only by the call of [`cover`](Self::cover) whose layers contain
    /// its lowest cell.
    pub fn finish(mut self, level: Level) -> (ThreadBricks, u64) {
        self.flush(level);
        (self.bricks.finish(), self.snapped)
    }

    fn flush(&mut self, level: Level) {
        on_level!(level, simd => self.flush_with(simd), scalar => self.bricks.put_marks(scalar));
    }

    #[inline(always)]
    fn cover_with<S: Simd>(&mut self, simd: S, triangles: Range<u32>) {
        let ramp = u32x16::from_slice(simd, &RAMP);
        for first in triangles.clone().step_by(LANES) {
            let vertices = gather(
                simd,
                &self.triangles[first as usize..triangles.end as usize],
            );
            let valid = (1 << LANES.min((triangles.end - first) as usize)) - 1;
            let mut left = valid;
            if let Some(flat) = &mut self.flat {
                left = flat.take(simd, &vertices, left, &mut self.bricks);
            }
            if left != 0
                && let Some(tiny) = &mut self.tiny
            {
                let found = tiny.take(simd, &vertices, left, &mut self.bricks);
                left = found.lanes;
                self.bricks.make_room(simd);
                if found.bounded.count_ones() >= MIN_BOUNDED {
                    left &= !found.bounded;
                    self.cover_bounded(simd, &vertices, &found, ramp + first);
                }
            }
            self.bricks.make_room(simd);
            if left == (1 << LANES) - 1 {
                self.cover_batch(simd, &vertices, LANES, ramp + first);
            } else if left != 0 {
                let [[xa, xb, xc], [ya, yb, yc], [za, zb, zc]] = vertices;
                let values = [xa, xb, xc, ya, yb, yc, za, zb, zc];
                self.others.push(simd, values, left, ramp + first);
                if self.others.is_full() {
                    self.cover_others(simd);
                }
            }
        }
    }

    /// Covers the next triangles of the queue `others`: sixteen, or fewer if fewer are waiting.
    fn cover_others<S: Simd>(&mut self, simd: S) {
        simd.vectorize(
            #[inline(always)]
            || {
                let rows = self.others.rows();
                let mut vertices = [[f32x16::splat(simd, 0.0); 3]; 3];
                for axis in 0..3 {
                    for v in 0..3 {
                        vertices[axis][v] = f32x16::from_slice(simd, &rows[3 * axis + v][..LANES]);
                    }
                }
                let count = self.others.ready();
                let ids = u32x16::from_slice(simd, self.others.ids());
                self.others.drop_ready(simd);
                self.cover_batch(simd, &vertices, count, ids);
            },
        );
    }

    /// Covers the triangles one after another with the row kernel (`span.rs`).
    fn cover_each<S: Simd>(&mut self, simd: S, triangles: Range<u32>) {
        for id in triangles {
            self.snapped += self.cover_rows(simd, id);
        }
    }

    /// Covers the first `count` of sixteen triangles. Their numbers are `ids`.
    fn cover_batch<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        count: usize,
        ids: u32x16<S>,
    ) {
        // This function is long and called in two places. It must not be inlined.
        simd.vectorize(
            #[inline(always)]
            || self.cover_batch_with(simd, vertices, count, ids),
        );
    }

    #[inline(always)]
    fn cover_batch_with<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        count: usize,
        ids: u32x16<S>,
    ) {
        let Self { frame, bricks, .. } = self;
        let batch = TriangleBatch::new(simd, frame, vertices, count, bricks);
        self.count_moved(&batch, !batch.kinds.careful & ((1 << count) - 1));
        self.share_out(simd, vertices, &batch, ids);
    }

    /// Covers triangles whose lowest and highest cells are known.
    fn cover_bounded<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        left: &Left<S>,
        ids: u32x16<S>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                let Left {
                    bounded,
                    lows,
                    highs,
                    ..
                } = left;
                let batch =
                    TriangleBatch::of_bounds(simd, self.frame, vertices, lows, highs, *bounded);
                self.share_out(simd, vertices, &batch, ids);
            },
        );
    }

    /// Passes the triangles of a batch to the kernels of their classes.
    fn share_out<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        batch: &TriangleBatch<S>,
        ids: u32x16<S>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || self.share_out_with(simd, vertices, batch, ids),
        );
    }

    #[inline(always)]
    fn share_out_with<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        batch: &TriangleBatch<S>,
        ids: u32x16<S>,
    ) {
        let Self {
            frame,
            bricks,
            unsure,
            ..
        } = self;
        let kinds = batch.kinds;
        if kinds.small != 0 {
            let mut values = [f32x16::splat(simd, 0.0); small::ROWS];
            values[..9].copy_from_slice(vertices.as_flattened());
            values[9..12].copy_from_slice(&batch.base);
            values[12..].copy_from_slice(&batch.span);
            self.small
                .push(simd, values, kinds.small, ids, frame, bricks, unsure);
        }
        if kinds.single != 0 {
            tiny::mark(simd, &batch.base, kinds.single, bricks);
        }
        if kinds.two != 0 {
            self.two.push(simd, batch, kinds.two, ids, bricks, unsure);
        }
        if kinds.three != 0 {
            self.three
                .push(simd, batch, kinds.three, ids, bricks, unsure);
        }
        if kinds.four != 0 {
            self.four.push(simd, batch, kinds.four, ids, bricks, unsure);
        }
        let ids = ids.as_array();
        for lane in bits_of(kinds.careful) {
            self.snapped += self.cover_rows(simd, ids[lane]);
        }
        for lane in bits_of(kinds.large) {
            self.cover_rows(simd, ids[lane]);
        }
        self.cover_unsure(simd);
    }

    /// Covers the triangles for which other kernels were unsure. A more precise kernel is tried first if
    /// possible, and the row kernel last.
    #[inline(always)]
    fn cover_unsure<S: Simd>(&mut self, simd: S) {
        while let Some(Unsure { id, small }) = self.unsure.pop() {
            if let Some(bounds) = small {
                let Self {
                    frame,
                    triangles,
                    bricks,
                    unsure,
                    ..
                } = self;
                let triangle = (id, &triangles[id as usize]);
                self.small
                    .push_one(simd, triangle, bounds, frame, bricks, unsure);
            } else {
                self.cover_rows(simd, id);
            }
        }
    }

    /// Counts the coordinates that snapping moved, for triangles in `lanes` whose lowest cell is in the
    /// covered layers. Careful triangles are counted when they are prepared.
    #[inline(always)]
    fn count_moved<S: Simd>(&mut self, batch: &TriangleBatch<S>, lanes: u64) {
        let moved = batch.moved.simd_gt(0.0).to_bitmask() & lanes;
        for lane in bits_of(moved) {
            let low = batch.base[2].as_array()[lane];
            let span = batch.span;
            let touches = (0..3).all(|axis| span[axis].as_array()[lane] >= 0.0);
            if touches && self.bricks.layers.contains(&(low.max(0.0) as i64)) {
                self.snapped += batch.moved.as_array()[lane] as u64;
            }
        }
    }

    /// Covers one triangle with the row kernel. Returns the number of coordinates that snapping moved, or
    /// zero if the lowest cell of the triangle is not in the covered layers.
    #[inline(always)]
    fn cover_rows<S: Simd>(&mut self, simd: S, id: u32) -> u64 {
        let Self {
            frame,
            triangles,
            bricks,
            scratch,
            ..
        } = self;
        let triangle = &triangles[id as usize];
        simd.vectorize(
            #[inline(always)]
            || {
                let Some(setup) = Setup::new(frame, triangle) else {
                    return 0;
                };
                span::cover(simd, frame, &setup, triangle, bricks, scratch);
                let begins = bricks.layers.contains(&setup.base[2].max(0));
                if begins { u64::from(setup.snapped) } else { 0 }
            },
        )
    }

    #[inline(always)]
    fn flush_with<S: Simd>(&mut self, simd: S) {
        while !self.others.is_empty() {
            self.cover_others(simd);
        }
        self.two.flush(simd, &mut self.bricks, &mut self.unsure);
        self.three.flush(simd, &mut self.bricks, &mut self.unsure);
        self.four.flush(simd, &mut self.bricks, &mut self.unsure);
        self.cover_unsure(simd);
        self.small
            .flush(simd, self.frame, &mut self.bricks, &mut self.unsure);
        self.cover_unsure(simd);
        self.bricks.put_marks(simd);
    }
}
