//! Every triangle of a mesh, into one slab.

use fearless_simd::{Simd, prelude::*};

use crate::geom::Triangle;
use crate::grid::bits::bits_of;

use super::batch::{self, Batch, LANES, Soa};
use super::few::Few;
use super::frame::Frame;
use super::levels::{Level, on_level};
use super::setup::Setup;
use super::slab::Slab;
use super::span::{self, Scratch};

/// Which triangles of a mesh to take.
#[derive(Clone, Copy)]
pub enum Take<'a> {
    /// This many from the first number.
    Range(u32, u32),
    /// Those of these numbers.
    These(&'a [u32]),
}

impl Take<'_> {
    /// How many triangles.
    fn len(self) -> usize {
        match self {
            Self::Range(_, count) => count as usize,
            Self::These(numbers) => numbers.len(),
        }
    }

    /// The number of the `n`th of them.
    #[inline(always)]
    fn number(self, n: usize) -> u32 {
        match self {
            Self::Range(first, _) => first + n as u32,
            Self::These(numbers) => numbers[n],
        }
    }
}

/// Covers a slab with triangles, a few at a time; [`finish`](Self::finish) takes the last of them.
pub struct Coverer<'a, 'b> {
    frame: &'a Frame,
    triangles: &'a [Triangle],
    slab: Slab<'b>,
    scratch: Scratch,
    two: Few<2>,
    four: Few<4>,
    unsure: Vec<u32>,
    snapped: u64,
}

impl<'a, 'b> Coverer<'a, 'b> {
    /// Covers `slab` with triangles of a mesh.
    pub fn new(frame: &'a Frame, triangles: &'a [Triangle], slab: Slab<'b>) -> Self {
        Self {
            frame,
            triangles,
            slab,
            scratch: Scratch::default(),
            two: Few::new(frame),
            four: Few::new(frame),
            unsure: vec![],
            snapped: 0,
        }
    }

    /// Occupies every cell of the slab that one of the triangles touches, save those that wait.
    pub fn cover(&mut self, level: Level, take: Take) {
        let token = level.token().expect("the level was checked to run here");
        on_level!(token, simd => self.cover_with(simd, take), scalar => self.cover_each(scalar, take));
    }

    /// Covers what waits. The answer counts the coordinates that snapping moved, of triangles that
    /// begin in this slab.
    pub fn finish(mut self, level: Level) -> u64 {
        let token = level.token().expect("the level was checked to run here");
        on_level!(token, simd => self.flush(simd), _scalar => ());
        self.snapped
    }

    #[inline(always)]
    fn cover_with<S: Simd>(&mut self, simd: S, take: Take) {
        let mut soa: Soa = [[[0.0; LANES]; 3]; 3];
        let mut ids = [0; LANES];
        for start in (0..take.len()).step_by(LANES) {
            let count = LANES.min(take.len() - start);
            // Lanes beyond the last triangle repeat it.
            for (lane, id) in ids.iter_mut().enumerate() {
                *id = take.number(start + lane.min(count - 1));
            }
            batch::gather(self.triangles, &ids, &mut soa);
            self.cover_batch(simd, &soa, &ids, count);
        }
    }

    /// One triangle after the other, by rows.
    fn cover_each<S: Simd>(&mut self, simd: S, take: Take) {
        for n in 0..take.len() {
            self.snapped += self.cover_rows(simd, take.number(n));
        }
    }

    #[inline(always)]
    fn cover_batch<S: Simd>(&mut self, simd: S, soa: &Soa, ids: &[u32; LANES], count: usize) {
        let batch = Batch::new(simd, self.frame, soa, count, &self.slab);
        let kinds = batch.kinds;
        self.count_moved(&batch, !kinds.careful & ((1 << count) - 1));
        if kinds.single != 0 {
            let mut base = [[0.0; LANES]; 3];
            for (lanes, axis) in base.iter_mut().zip(batch.base) {
                axis.store_slice(lanes);
            }
            for lane in bits_of(kinds.single) {
                self.slab.cell([base[0][lane] as i64, base[1][lane] as i64, base[2][lane] as i64]);
            }
        }
        if kinds.two != 0 && self.two.push(simd, &batch, kinds.two, ids) {
            self.two.flush(simd, &mut self.slab, &mut self.unsure);
        }
        if kinds.four != 0 && self.four.push(simd, &batch, kinds.four, ids) {
            self.four.flush(simd, &mut self.slab, &mut self.unsure);
        }
        for lane in bits_of(kinds.careful) {
            self.snapped += self.cover_rows(simd, ids[lane]);
        }
        for lane in bits_of(kinds.large) {
            self.cover_rows(simd, ids[lane]);
        }
        self.cover_unsure(simd);
    }

    /// Takes by rows what the few-cell kernels were unsure of.
    #[inline(always)]
    fn cover_unsure<S: Simd>(&mut self, simd: S) {
        while let Some(id) = self.unsure.pop() {
            self.cover_rows(simd, id);
        }
    }

    /// Counts the coordinates that snapping moved, of those lanes that begin in this slab. Careful
    /// triangles are counted where they are set up.
    #[inline(always)]
    fn count_moved<S: Simd>(&mut self, batch: &Batch<S>, lanes: u64) {
        let moved = batch.moved.simd_gt(0.0).to_bitmask() & lanes;
        for lane in bits_of(moved) {
            let (low, span) = (batch.base[2].as_array()[lane], batch.span);
            let touches = (0..3).all(|axis| span[axis].as_array()[lane] >= 0.0);
            if touches && self.slab.layers.contains(&(low.max(0.0) as i64)) {
                self.snapped += batch.moved.as_array()[lane] as u64;
            }
        }
    }

    /// One triangle by rows. The answer is how many coordinates snapping moved, if it begins in
    /// this slab.
    #[inline(always)]
    fn cover_rows<S: Simd>(&mut self, simd: S, id: u32) -> u64 {
        let Self { frame, triangles, slab, scratch, .. } = self;
        let triangle = &triangles[id as usize];
        simd.vectorize(
            #[inline(always)]
            || {
                let Some(setup) = Setup::new(frame, triangle) else { return 0 };
                span::cover(simd, frame, &setup, triangle, slab, scratch);
                let begins = slab.layers.contains(&setup.base[2].max(0));
                if begins { u64::from(setup.snapped) } else { 0 }
            },
        )
    }

    #[inline(always)]
    fn flush<S: Simd>(&mut self, simd: S) {
        while !self.two.is_empty() {
            self.two.flush(simd, &mut self.slab, &mut self.unsure);
        }
        while !self.four.is_empty() {
            self.four.flush(simd, &mut self.slab, &mut self.unsure);
        }
        self.cover_unsure(simd);
    }
}
