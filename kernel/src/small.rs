//! Triangles of up to sixteen cells an axis, with lanes across rows.
//!
//! What the row kernel (`kernel/span.rs`) works out in doubles for any triangle is worked out here
//! in floats relative to the triangle's lowest cell: slopes of edges and plane for sixteen triangles
//! at once, then for one triangle at a time each table of intervals as one vector, and each layer as
//! one vector of rows. Triangles with a vertex on a wall or a centre plane do not come here. One
//! with a crossing nearer to a wall than its error bound (docs/error-bounds.md) is *unsure* and left
//! to the row kernel; what was written of it by then is sure.

use fearless_simd::{Simd, f32x16, f64x8, mask32x16, prelude::*, u32x16};

use crate::geom::Triangle;

use super::batch::LANES;
use super::bricks::Bricks;
use super::lanes::U32;
use super::lattice::{KernelAxis, KernelLattice, U};
use super::queue::{Queue, Unsure};
use super::rows::Pieces;
use super::sink::SIDE;

/// Cells an axis, at most: the lanes of a vector.
const CELLS: f32 = LANES as f32;

/// Beyond any cell.
const NOWHERE: f32 = 1e30;

/// The projections: which axis intervals are along, and which their strips.
const PROJECTIONS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// The numbers of lanes.
const RAMP: [f32; LANES] =
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0];

/// Nine coordinates, then the lowest cell and the highest relative to it.
pub const ROWS: usize = 15;

/// A number for each of sixteen triangles.
type LaneNumbers = [f32; LANES];

/// Triangles that wait until they are sixteen.
pub struct Small {
    queue: Queue<ROWS>,
    ready: Box<Ready>,
    pieces: Pieces,
    /// What coordinates relative to the lowest cell may be off by, in floats and in doubles.
    place: f32,
    place64: f64,
}

/// Sixteen triangles, ready to be covered one by one.
#[derive(Default)]
struct Ready {
    edges: [[ShortEdge; 3]; 3],
    /// What crossings of the edges of a projection may be off by.
    error: [LaneNumbers; 3],
    plane: ShortPlane,
}

/// An edge of a projection that rises along the second axis: where it begins and ends along that,
/// and how far it goes along the first as the second rises by one, from where it begins. An edge that
/// hardly rises is within one strip: it has no slope, and goes from one end to the other at once.
#[derive(Default, Clone, Copy)]
struct ShortEdge {
    from: LaneNumbers,
    to: LaneNumbers,
    /// Where it starts from as it enters a strip, and as it leaves one.
    starts: [LaneNumbers; 2],
    slope: LaneNumbers,
}

/// Where a plane meets the corner of row (0, 0) that it enters by, and that it leaves by, along x;
/// the slopes of x along y and z, and what crossings may be off by.
#[derive(Default)]
struct ShortPlane {
    enter: LaneNumbers,
    leave: LaneNumbers,
    slope: [LaneNumbers; 2],
    error: LaneNumbers,
}

/// The first or the last cells of strips, as floats and as integers.
struct Ends {
    lanes: LaneNumbers,
    cells: [u32; LANES],
}

impl Ends {
    #[inline(always)]
    fn of<S: Simd>(ends: f32x16<S>) -> Self {
        let mut this = Self { lanes: [0.0; LANES], cells: [0; LANES] };
        ends.store_slice(&mut this.lanes);
        let cells: u32x16<S> = ends.to_int();
        cells.store_slice(&mut this.cells);
        this
    }

    fn cell(&self, n: usize) -> i64 {
        self.cells[n].into()
    }
}

impl Small {
    /// An empty queue.
    pub fn new(frame: &KernelLattice) -> Self {
        let place64 = frame.local_error() + f64::from(CELLS) * U;
        let place = frame.local_error() as f32 * 1.000_001 + CELLS * U32;
        Self { queue: Queue::new(), ready: Box::default(), pieces: Pieces::default(), place, place64 }
    }

    /// Adds the lanes of `mask`; covers sixteen of those that wait, if there are as many. The
    /// unsure ones are added to `unsure`.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one call, in the inner loop")]
    pub fn push<S: Simd>(
        &mut self,
        simd: S,
        values: [f32x16<S>; ROWS],
        mask: u64,
        ids: u32x16<S>,
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        self.queue.push(simd, values, mask, ids);
        if self.queue.is_full() {
            self.cover(simd, frame, bricks, unsure);
        }
    }

    /// Adds one triangle.
    pub fn push_one<S: Simd>(
        &mut self,
        simd: S,
        (id, triangle): (u32, &Triangle),
        [x, y, z, i, j, k]: [f32; 6],
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        let [a, b, c] = triangle;
        let values = [a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2], x, y, z, i, j, k];
        self.queue.push_one(values, id);
        if self.queue.is_full() {
            self.cover(simd, frame, bricks, unsure);
        }
    }

    /// Covers all that wait.
    pub fn flush<S: Simd>(
        &mut self,
        simd: S,
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        while !self.queue.is_empty() {
            self.cover(simd, frame, bricks, unsure);
        }
    }

    fn cover<S: Simd>(
        &mut self,
        simd: S,
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                let doubt = self.prepare(simd, frame);
                let mut pieces = std::mem::take(&mut self.pieces);
                for lane in 0..self.queue.ready() {
                    if doubt >> lane & 1 == 1 || !self.cover_lane(simd, lane, bricks, &mut pieces) {
                        unsure.push(Unsure { id: self.queue.ids()[lane], small: None });
                    }
                    if pieces.are_enough() {
                        pieces.put(simd, bricks);
                    }
                }
                pieces.put(simd, bricks);
                self.pieces = pieces;
                self.queue.drop_ready(simd);
            },
        );
    }

    /// Works out slopes and bounds; answers for which triangles that cannot be done.
    #[inline(always)]
    fn prepare<S: Simd>(&mut self, simd: S, frame: &KernelLattice) -> u64 {
        let zero = f32x16::splat(simd, 0.0);
        let rows = self.queue.rows();
        let mut local = [[zero; 3]; 3];
        // The same in doubles, eight triangles each.
        let wide_zero = f64x8::splat(simd, 0.0);
        let mut wide = [[[wide_zero; 3]; 3]; 2];
        let mut nearest = f32x16::splat(simd, 1.0);
        for axis in 0..3 {
            let KernelAxis { origin, scale, .. } = &frame.axes[axis];
            let base = f32x16::from_slice(simd, &rows[9 + axis][..LANES]).widen();
            for v in 0..3 {
                let x = f32x16::from_slice(simd, &rows[3 * axis + v][..LANES]).widen();
                let low = ((x.0 - origin[0]) - origin[1]) * *scale - base.0;
                let high = ((x.1 - origin[0]) - origin[1]) * *scale - base.1;
                let float: f32x16<S> = low.narrow(high);
                nearest = nearest.min((float - float.round_ties_even()).abs());
                local[axis][v] = float;
                (wide[0][axis][v], wide[1][axis][v]) = (low, high);
            }
        }
        let mut doubt = nearest.simd_le(f32x16::splat(simd, self.place));
        for (p, [s, t]) in PROJECTIONS.into_iter().enumerate() {
            let mut error = zero;
            for e in 0..3 {
                let (v, w) = (e, (e + 1) % 3);
                let up = local[t][v].simd_le(local[t][w]);
                let (from, to) = (local[t][v].min(local[t][w]), local[t][v].max(local[t][w]));
                let start = up.select(local[s][v], local[s][w]);
                let end = up.select(local[s][w], local[s][v]);
                let (run, rise) = (end - start, to - from);
                let flat = rise.simd_lt(f32x16::splat(simd, 16.0 * self.place));
                doubt |= flat & from.floor().simd_lt(to.floor());
                let slope = flat.select(zero, run / flat.select(zero + 1.0, rise));
                let bound =
                    (slope.abs() + 1.0) * (2.0 * self.place) + (start.max(end) + run.abs()) * (8.0 * U32);
                error = error.max(bound);
                let edge = &mut self.ready.edges[p][e];
                from.store_slice(&mut edge.from);
                to.store_slice(&mut edge.to);
                start.store_slice(&mut edge.starts[0]);
                flat.select(end, start).store_slice(&mut edge.starts[1]);
                slope.store_slice(&mut edge.slope);
            }
            error.store_slice(&mut self.ready.error[p]);
        }
        let flat = f32x16::from_slice(simd, &rows[12][..LANES]).simd_lt(zero + 0.5).to_bitmask();
        doubt.to_bitmask() | self.prepare_plane(simd, &wide, flat)
    }

    /// The planes; those of triangles `flat` along x have no part in the decision.
    #[inline(always)]
    fn prepare_plane<S: Simd>(&mut self, simd: S, wide: &[[[f64x8<S>; 3]; 3]; 2], flat: u64) -> u64 {
        let zero = f64x8::splat(simd, 0.0);
        let mut halves = [[zero; 5]; 2];
        let mut doubt = 0;
        for half in 0..2 {
            let [x, y, z] = &wide[half];
            let (ax, ay, az) = (x[1] - x[0], y[1] - y[0], z[1] - z[0]);
            let (bx, by, bz) = (x[2] - x[0], y[2] - y[0], z[2] - z[0]);
            let normal = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
            // The longest edge component is at most the cells an axis.
            let size = f64::from(CELLS);
            let normal_error = 10.0 * size * (self.place64 + U * size);
            let unclear = normal[0].abs().simd_le(f64x8::splat(simd, 4.0 * normal_error));
            let n = unclear.select(f64x8::splat(simd, 1.0), normal[0]);
            let (py, pz) = (-(normal[1] / n), -(normal[2] / n));
            let corner = x[0] - py * y[0] - pz * z[0];
            let (low_y, low_z) = (py.min(zero), pz.min(zero));
            let steep = py.abs() + pz.abs();
            let reach = size + 2.0;
            let error = (steep + 1.0) * (2.0 * self.place64)
                + (steep + 2.0) / n.abs() * (2.0 * normal_error * reach)
                + (x[0].abs() + steep * reach) * (8.0 * f64::from(U32));
            halves[half] = [corner + low_y + low_z, corner + (py - low_y) + (pz - low_z), py, pz, error];
            doubt |= unclear.to_bitmask() << (8 * half);
        }
        let flat_lanes = mask32x16::from_bitmask(simd, flat);
        let nowhere = f32x16::splat(simd, NOWHERE);
        let none = f32x16::splat(simd, 0.0);
        let ShortPlane { enter, leave, slope: [py, pz], error } = &mut self.ready.plane;
        // What is flat has no plane: it enters before any cell and leaves behind all, for sure.
        let rows = [enter, leave, py, pz, error];
        let instead = [-nowhere, nowhere, none, none, none - 1.0];
        for (n, row) in rows.into_iter().enumerate() {
            let values: f32x16<S> = halves[0][n].narrow(halves[1][n]);
            flat_lanes.select(instead[n], values).store_slice(row);
        }
        doubt & !flat
    }

    /// Takes the cells of one triangle; answers whether that was sure.
    #[inline(always)]
    fn cover_lane<S: Simd>(&self, simd: S, lane: usize, bricks: &Bricks, pieces: &mut Pieces) -> bool {
        let ramp = f32x16::from_slice(simd, &RAMP);
        let [xy, zx, yz] = [self.table(simd, lane, 0), self.table(simd, lane, 1), self.table(simd, lane, 2)];
        let (Some(xy), Some(zx), Some(yz)) = (xy, zx, yz) else { return false };
        // Rows before the first and behind the last may be read; they are never chosen.
        let mut xy_rows = [[0.0; LANES + 3 * SIDE]; 2];
        xy[0].store_slice(&mut xy_rows[0][SIDE..][..LANES]);
        xy[1].store_slice(&mut xy_rows[1][SIDE..][..LANES]);
        let xy = xy_rows;
        let (zx, yz) = ([Ends::of(zx[0]), Ends::of(zx[1])], [Ends::of(yz[0]), Ends::of(yz[1])]);
        let Self { queue, ready, .. } = self;
        let rows = queue.rows();
        let ShortPlane { enter, leave, slope, error } = &ready.plane;
        let (enter, leave) = (f32x16::splat(simd, enter[lane]), f32x16::splat(simd, leave[lane]));
        let ([slope_y, slope_z], error) = (slope.map(|slope| slope[lane]), f32x16::splat(simd, error[lane]));
        let base = [9, 10, 11].map(|n| rows[n][lane] as i64);
        let x = f32x16::splat(simd, base[0] as f32);
        let first = (bricks.layers.start - base[2]).max(0);
        let last = (bricks.layers.end - 1 - base[2]).min(rows[14][lane] as i64);
        let mut sure = true;
        for k in first..=last {
            let n = k as usize % LANES;
            let (at, layer) = (slope_z * k as f32, base[2] + k);
            let (first_row, last_row) = (base[1] + yz[0].cell(n), base[1] + yz[1].cell(n));
            let words = [(base[0] + zx[0].cell(n)) / 64, (base[0] + zx[1].cell(n)) / 64];
            // LaneNumbers begin with a brick.
            for start in (first_row / SIDE as i64 * SIDE as i64..=last_row).step_by(LANES) {
                let skipped = start - base[1];
                let row = ramp + skipped as f32;
                let (enter, leave) = (enter + row * slope_y + at, leave + row * slope_y + at);
                let [first, last] = [&yz[0], &yz[1]].map(|ends| ends.lanes[n]);
                let within = row.simd_ge(f32x16::splat(simd, first)) & row.simd_le(f32x16::splat(simd, last));
                let distance =
                    (enter - enter.round_ties_even()).abs().min((leave - leave.round_ties_even()).abs());
                if (distance.simd_le(error) & within).any_true() {
                    sure = false;
                    continue;
                }
                let table = (skipped + SIDE as i64) as usize;
                let low = f32x16::from_slice(simd, &xy[0][table..][..LANES]);
                let high = f32x16::from_slice(simd, &xy[1][table..][..LANES]);
                let low = low.max(enter.floor()).max(f32x16::splat(simd, zx[0].lanes[n]));
                let high = high.min(leave.floor()).min(f32x16::splat(simd, zx[1].lanes[n]));
                pieces.add_sixteen(simd, bricks, [start, layer], [low + x, high + x], within, words);
            }
        }
        sure
    }

    /// The lowest and highest cell of a projection in each strip; `None` if one is unsure.
    #[inline(always)]
    fn table<S: Simd>(&self, simd: S, lane: usize, projection: usize) -> Option<[f32x16<S>; 2]> {
        let ramp = f32x16::from_slice(simd, &RAMP);
        let above = ramp + 1.0;
        let mut low = f32x16::splat(simd, NOWHERE);
        let mut high = -low;
        for edge in &self.ready.edges[projection] {
            let from = f32x16::splat(simd, edge.from[lane]);
            let to = f32x16::splat(simd, edge.to[lane]);
            let starts = edge.starts.map(|start| start[lane]);
            let slope = f32x16::splat(simd, edge.slope[lane]);
            // Where the edge is as it enters the strip and as it leaves it.
            let first = (ramp.min(to).max(from) - from) * slope + starts[0];
            let last = (above.min(to).max(from) - from) * slope + starts[1];
            let within = ramp.simd_lt(to) & above.simd_gt(from);
            low = within.select(low.min(first.min(last)), low);
            high = within.select(high.max(first.max(last)), high);
        }
        let near = (low - low.round_ties_even()).abs().min((high - high.round_ties_even()).abs());
        let strips = f32x16::splat(simd, self.queue.rows()[12 + PROJECTIONS[projection][1]][lane]);
        let unsure =
            near.simd_le(f32x16::splat(simd, self.ready.error[projection][lane])) & ramp.simd_le(strips);
        // Not `then`: a closure would be compiled without the instructions of the level.
        if unsure.any_true() { None } else { Some([low.floor(), high.floor()]) }
    }
}
