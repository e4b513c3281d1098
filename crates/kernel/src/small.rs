//! Triangles of up to sixteen cells per axis. The lanes of a vector hold different triangles.
//!
//! The row kernel (`span.rs`) handles any triangle in doubles. This kernel computes the same values for
//! sixteen triangles at once, in floats relative to each triangle's lowest cell: slopes of the edges and the
//! plane, tables of intervals strip by strip, and then the cells row by row. Triangles are queued until there
//! are enough with a similar number of rows. Triangles with a vertex on a wall or centre plane are handled
//! elsewhere, unless their bounds are one cell along that axis. If a crossing is nearer to a wall than its
//! error bound (docs/internals/error-bounds.md), its triangle is *unsure*, and the row kernel repeats the
//! triangle. The cells that were marked before are certain.

use std::array;

use fearless_simd::{Simd, f32x16, f64x8, i32x16, mask32x16, prelude::*, u32x16};

use crate::bits::bits_of;
use crate::geom::Triangle;

use super::bricks::Bricks;
use super::lanes::U32;
use super::lattice::{KernelAxis, KernelLattice, U};
use super::levels::LANES;
use super::marks;
use super::queue::{Queue, Unsure};

/// Maximum number of cells per axis.
const CELLS: usize = 16;

/// Value that is beyond any cell.
const NOWHERE: f32 = 1e30;

/// The two axes of each projection. Intervals lie along the first axis, and strips follow each other along
/// the second.
const PROJECTIONS: [[usize; 2]; 3] = [[0, 1], [0, 2], [1, 2]];

/// Number of rows of a queue: nine coordinates, the lowest cell (three), and the highest cell relative to it
/// (three).
pub const ROWS: usize = 15;

/// Number of queues: one for triangles within one layer, one for triangles of one row in each layer, and four
/// for other triangles by the larger of their numbers of rows and layers.
const CLASSES: usize = 6;

/// Upper limit of the last row or layer, relative to the first, in each of the classes of other triangles.
const LIMITS: [f32; 4] = [4.5, 6.5, 9.5, 15.5];

/// Queues of triangles, one for each class. A class is covered when sixteen triangles are waiting.
pub struct Small {
    queues: [Queue<ROWS>; CLASSES],
    /// Error bounds of coordinates relative to the lowest cell: in floats (`place`) and in doubles
    /// (`place64`).
    place: f32,
    place64: f64,
}

/// Edge of a projection. Along the second axis it rises from `from` to `to`. A nearly horizontal edge lies
/// within one strip. It gets no slope and covers its whole range there.
#[derive(Clone, Copy)]
struct ShortEdge<S: Simd> {
    from: f32x16<S>,
    to: f32x16<S>,
    /// First coordinate at `from`. The first value is used where the edge enters a strip, the second where it
    /// leaves one.
    starts: [f32x16<S>; 2],
    slope: f32x16<S>,
}

/// Plane of a triangle: positions along x at which it enters and leaves row (0, 0), slopes of x along y and
/// z, and the error bound of crossings.
struct ShortPlane<S: Simd> {
    ends: [f32x16<S>; 2],
    slope: [f32x16<S>; 2],
    error: f32x16<S>,
}

/// Sixteen triangles, each relative to its lowest cell.
struct ShortTriangles<S: Simd> {
    base: [f32x16<S>; 3],
    span: [f32x16<S>; 3],
    edges: [[ShortEdge<S>; 3]; 3],
    /// Error bound of the crossings of edges, for each projection.
    error: [f32x16<S>; 3],
    plane: ShortPlane<S>,
    /// Lanes whose triangles are unsure.
    doubt: mask32x16<S>,
}

/// Lowest and highest cell that the projections of sixteen triangles cover in each strip.
type ShortTable<S> = [[f32x16<S>; 2]; CELLS];

/// Returns, for each class, the lanes whose triangles belong to it. `mask` has the lanes to classify.
#[inline(always)]
fn classes<S: Simd>(simd: S, mask: u64, [_, y, z]: [f32x16<S>; 3]) -> [u64; CLASSES] {
    let half = f32x16::splat(simd, 0.5);
    let layer = z.simd_lt(half).to_bitmask() & mask;
    let row = y.simd_lt(half).to_bitmask() & mask & !layer;
    let most = y.max(z);
    let mut rest = mask & !layer & !row;
    let mut masks = [layer, row, 0, 0, 0, 0];
    for (n, limit) in LIMITS.into_iter().enumerate() {
        masks[2 + n] = most.simd_lt(f32x16::splat(simd, limit)).to_bitmask() & rest;
        rest &= !masks[2 + n];
    }
    masks
}

impl Small {
    /// Creates empty queues.
    pub fn new(frame: &KernelLattice) -> Self {
        let place64 = frame.local_error() + CELLS as f64 * U;
        let place = frame.local_error() as f32 * 1.000_001 + CELLS as f32 * U32;
        Self {
            queues: array::from_fn(|_| Queue::new()),
            place,
            place64,
        }
    }

    /// Adds the triangles in the lanes of `mask`. A class with sixteen waiting triangles is covered at once.
    /// Its unsure triangles are added to `unsure`.
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
        let classes = classes(simd, mask, [values[12], values[13], values[14]]);
        for (class, mask) in classes.into_iter().enumerate() {
            if mask != 0 {
                self.queues[class].push(simd, values, mask, ids);
                if self.queues[class].is_full() {
                    self.cover(simd, class, frame, bricks, unsure);
                }
            }
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
        let values = [
            a[0], b[0], c[0], a[1], b[1], c[1], a[2], b[2], c[2], x, y, z, i, j, k,
        ];
        let class = match (j, k) {
            (_, 0.0) => 0,
            (0.0, _) => 1,
            _ => 2 + LIMITS.iter().take_while(|limit| j.max(k) > **limit).count(),
        };
        self.queues[class].push_one(values, id);
        if self.queues[class].is_full() {
            self.cover(simd, class, frame, bricks, unsure);
        }
    }

    /// Covers all waiting triangles.
    pub fn flush<S: Simd>(
        &mut self,
        simd: S,
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        for class in 0..CLASSES {
            while !self.queues[class].is_empty() {
                self.cover(simd, class, frame, bricks, unsure);
            }
        }
    }

    /// Covers the next triangles of a class: sixteen, or fewer if fewer are waiting.
    fn cover<S: Simd>(
        &mut self,
        simd: S,
        class: usize,
        frame: &KernelLattice,
        bricks: &mut Bricks,
        unsure: &mut Vec<Unsure>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                let queue = &self.queues[class];
                let mut triangles = self.prepare(simd, queue, frame);
                let ready = mask32x16::from_bitmask(simd, (1 << queue.ready()) - 1);
                let doubt = triangles.mark(simd, ready, bricks);
                for lane in bits_of(doubt) {
                    unsure.push(Unsure {
                        id: queue.ids()[lane],
                        small: None,
                    });
                }
                self.queues[class].drop_ready(simd);
            },
        );
    }

    /// Computes the slopes and error bounds of triangles.
    #[inline(always)]
    fn prepare<S: Simd>(
        &self,
        simd: S,
        queue: &Queue<ROWS>,
        frame: &KernelLattice,
    ) -> ShortTriangles<S> {
        let zero = f32x16::splat(simd, 0.0);
        let rows = queue.rows();
        let mut base = [zero; 3];
        let mut span = [zero; 3];
        let mut local = [[zero; 3]; 3];
        // Coordinates in doubles, in two halves of eight triangles.
        let wide_zero = f64x8::splat(simd, 0.0);
        let mut wide = [[[wide_zero; 3]; 3]; 2];
        let mut nearest = f32x16::splat(simd, 1.0);
        let mut flat = mask32x16::splat(simd, false);
        for axis in 0..3 {
            let KernelAxis { origin, scale, .. } = &frame.axes[axis];
            base[axis] = f32x16::from_slice(simd, &rows[9 + axis][..LANES]);
            span[axis] = f32x16::from_slice(simd, &rows[12 + axis][..LANES]);
            let base = base[axis].widen();
            let single = span[axis].simd_lt(zero + 0.5);
            flat |= single;
            for v in 0..3 {
                let x = f32x16::from_slice(simd, &rows[3 * axis + v][..LANES]).widen();
                let low = ((x.0 - origin[0]) - origin[1]) * *scale - base.0;
                let high = ((x.1 - origin[0]) - origin[1]) * *scale - base.1;
                let float: f32x16<S> = low.narrow(high);
                // If the bounds are one cell along an axis, the exact position in this cell does not matter.
                let float = single.select(zero + 0.5, float);
                nearest = nearest.min((float - float.round_ties_even()).abs());
                local[axis][v] = float;
                (wide[0][axis][v], wide[1][axis][v]) = (low, high);
            }
        }
        let edge = ShortEdge {
            from: zero,
            to: zero,
            starts: [zero; 2],
            slope: zero,
        };
        let mut edges = [[edge; 3]; 3];
        let mut errors = [zero; 3];
        let mut doubt = nearest.simd_le(f32x16::splat(simd, self.place));
        for (p, [s, t]) in PROJECTIONS.into_iter().enumerate() {
            let mut error = zero;
            for e in 0..3 {
                let v = e;
                let w = (e + 1) % 3;
                let up = local[t][v].simd_le(local[t][w]);
                let from = local[t][v].min(local[t][w]);
                let to = local[t][v].max(local[t][w]);
                let start = up.select(local[s][v], local[s][w]);
                let end = up.select(local[s][w], local[s][v]);
                let run = end - start;
                let rise = to - from;
                let flat = rise.simd_lt(f32x16::splat(simd, 16.0 * self.place));
                doubt |= flat & from.floor().simd_lt(to.floor());
                let slope = flat.select(zero, run / flat.select(zero + 1.0, rise));
                let bound = (slope.abs() + 1.0) * (2.0 * self.place)
                    + (start.max(end) + run.abs()) * (8.0 * U32);
                error = error.max(bound);
                edges[p][e] = ShortEdge {
                    from,
                    to,
                    starts: [start, flat.select(end, start)],
                    slope,
                };
            }
            errors[p] = error;
        }
        let (plane, unclear) = self.prepare_plane(simd, &wide, flat);
        ShortTriangles {
            base,
            span,
            edges,
            error: errors,
            plane,
            doubt: doubt | unclear,
        }
    }

    /// Returns the planes, and the lanes whose decisions are in doubt. The bounds of the triangles in `flat`
    /// are one cell along some axis, so their plane does not affect the decision.
    #[inline(always)]
    fn prepare_plane<S: Simd>(
        &self,
        simd: S,
        wide: &[[[f64x8<S>; 3]; 3]; 2],
        flat: mask32x16<S>,
    ) -> (ShortPlane<S>, mask32x16<S>) {
        let zero = f64x8::splat(simd, 0.0);
        let mut halves = [[zero; 5]; 2];
        let mut doubt = 0;
        for half in 0..2 {
            let [x, y, z] = &wide[half];
            let ax = x[1] - x[0];
            let ay = y[1] - y[0];
            let az = z[1] - z[0];
            let bx = x[2] - x[0];
            let by = y[2] - y[0];
            let bz = z[2] - z[0];
            let normal = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
            // No component of an edge is longer than the maximum number of cells per axis.
            let size = CELLS as f64;
            let normal_error = 10.0 * size * (self.place64 + U * size);
            let unclear = normal[0]
                .abs()
                .simd_le(f64x8::splat(simd, 4.0 * normal_error));
            let n = unclear.select(f64x8::splat(simd, 1.0), normal[0]);
            let py = -(normal[1] / n);
            let pz = -(normal[2] / n);
            let corner = x[0] - py * y[0] - pz * z[0];
            let low_y = py.min(zero);
            let low_z = pz.min(zero);
            let steep = py.abs() + pz.abs();
            let reach = size + 2.0;
            let error = (steep + 1.0) * (2.0 * self.place64)
                + (steep + 2.0) / n.abs() * (2.0 * normal_error * reach)
                + (x[0].abs() + steep * reach) * (8.0 * f64::from(U32));
            halves[half] = [
                corner + low_y + low_z,
                corner + (py - low_y) + (pz - low_z),
                py,
                pz,
                error,
            ];
            doubt |= unclear.to_bitmask() << (8 * half);
        }
        let nowhere = f32x16::splat(simd, NOWHERE);
        let none = f32x16::splat(simd, 0.0);
        // The plane of a flat triangle is ignored: it enters before all cells and leaves after all cells.
        let mut values = [-nowhere, nowhere, none, none, none - 1.0];
        for n in 0..5 {
            values[n] = flat.select(values[n], halves[0][n].narrow(halves[1][n]));
        }
        let [enter, leave, y, z, error] = values;
        let plane = ShortPlane {
            ends: [enter, leave],
            slope: [y, z],
            error,
        };
        (plane, mask32x16::from_bitmask(simd, doubt) & !flat)
    }
}

impl<S: Simd> ShortTriangles<S> {
    /// Marks the cells of the triangles in `ready`. Returns the lanes of unsure triangles.
    #[inline(always)]
    fn mark(&mut self, simd: S, ready: mask32x16<S>, bricks: &mut Bricks) -> u64 {
        let zero = f32x16::splat(simd, 0.0);
        let none = u32x16::splat(simd, 0);
        let mut tables = [[[zero; 2]; CELLS]; 3];
        for p in 0..3 {
            self.tabulate(simd, p, ready, &mut tables[p]);
        }
        let [xy, zx, yz] = &tables;
        let [x, y]: [u32x16<S>; 2] = [self.base[0].to_int(), self.base[1].to_int()];
        // The lowest cell may be below the covered layers.
        let z: u32x16<S> = self.base[2].to_int::<i32x16<S>>().bitcast();
        let across: u32x16<S> = self.span[0].to_int();
        let straddles = ((x & 63) + across).simd_gt(u32x16::splat(simd, 63)) & ready;
        let straddles_any = straddles.any_true();
        let rows = self.most(simd, 1, ready);
        let layers = self.most(simd, 2, ready);
        let one = u32x16::splat(simd, 1);
        let two = u32x16::splat(simd, 2);
        // These values are the same for all layers.
        let mut ends = [[zero; 2]; CELLS];
        let mut places = [[none; 2]; CELLS];
        for j in 0..rows {
            let at = self.plane.slope[0] * j as f32;
            ends[j] = [at + self.plane.ends[0], at + self.plane.ends[1]];
            let y = y + j as u32;
            places[j] = [bricks.columns(x, y), marks::words([x, y, none])];
        }
        // A crossing is sure if its distance from the middle between two walls is below this. The subtracted
        // last place allows for upward rounding of the computed distance.
        let clear = (0.5 - U32) - self.plane.error;
        let taken = bricks.layers.clone();
        let first = f32x16::splat(simd, taken.start as f32);
        let end = f32x16::splat(simd, taken.end as f32);
        for k in 0..layers {
            let layer = self.base[2] + k as f32;
            let here = layer.simd_ge(first) & layer.simd_lt(end) & ready & !self.doubt;
            let here = here & self.span[2].simd_ge(f32x16::splat(simd, k as f32));
            let at = self.plane.slope[1] * k as f32;
            let z = bricks.layers_from_first(z + k as u32);
            let in_layer = bricks.first_of_layers(z);
            let word = marks::words([none, none, z]);
            for j in 0..rows {
                let row = f32x16::splat(simd, j as f32);
                let within = here & row.simd_ge(yz[k][0]) & row.simd_le(yz[k][1]);
                let enter = ends[j][0] + at;
                let leave = ends[j][1] + at;
                let first = enter.floor();
                let last = leave.floor();
                // Distances of the crossings from the middle between two walls.
                let distance = ((enter - first) - 0.5)
                    .abs()
                    .max(((leave - last) - 0.5).abs());
                let near = distance.simd_ge(clear) & within;
                self.doubt |= near;
                let low = xy[j][0].max(first).max(zx[k][0]);
                let high = xy[j][1].min(last).min(zx[k][1]);
                let lanes = within & !near & low.simd_le(high);
                let (low, high): (u32x16<S>, u32x16<S>) = (low.to_int(), high.to_int());
                // There are at most sixteen cells. Lanes with more cells are not in `lanes`.
                let cells = (two << high) - (one << low);
                let number = in_layer + places[j][0];
                let words = word | places[j][1] | cells;
                bricks.mark(simd, number, words, lanes);
                if straddles_any {
                    let rest = marks::beyond(simd, words);
                    bricks.mark(
                        simd,
                        number + 1,
                        rest,
                        lanes & straddles & (rest & 0xffff).simd_ne(none),
                    );
                }
            }
            bricks.make_room(simd);
        }
        (self.doubt & ready).to_bitmask()
    }

    /// Returns the largest number of cells along an axis that a triangle in `ready` has.
    #[inline(always)]
    fn most(&self, simd: S, axis: usize, ready: mask32x16<S>) -> usize {
        let most = ready
            .select(self.span[axis], f32x16::splat(simd, 0.0))
            .reduce_max();
        (most as usize + 1).min(CELLS)
    }

    /// Fills a table with the interval of a projection in each strip.
    #[inline(always)]
    fn tabulate(
        &mut self,
        simd: S,
        projection: usize,
        ready: mask32x16<S>,
        table: &mut ShortTable<S>,
    ) {
        let along = PROJECTIONS[projection][1];
        let nowhere = f32x16::splat(simd, NOWHERE);
        let edges = &self.edges[projection];
        // Positions of the edges at the lower wall of the current strip, relative to their starts.
        let mut before = [nowhere; 3];
        for e in 0..3 {
            let edge = &edges[e];
            before[e] =
                (f32x16::splat(simd, 0.0).min(edge.to).max(edge.from) - edge.from) * edge.slope;
        }
        for n in 0..self.most(simd, along, ready) {
            let strip = f32x16::splat(simd, n as f32);
            let above = f32x16::splat(simd, (n + 1) as f32);
            let mut low = nowhere;
            let mut high = -nowhere;
            for e in 0..3 {
                let edge = &edges[e];
                // Positions at which the edge enters the strip and leaves it.
                let after = (above.min(edge.to).max(edge.from) - edge.from) * edge.slope;
                let first = before[e] + edge.starts[0];
                let last = after + edge.starts[1];
                before[e] = after;
                let within = strip.simd_lt(edge.to) & above.simd_gt(edge.from);
                low = within.select(low.min(first.min(last)), low);
                high = within.select(high.max(first.max(last)), high);
            }
            let near = (low - low.round_ties_even())
                .abs()
                .min((high - high.round_ties_even()).abs());
            self.doubt |= near.simd_le(self.error[projection]) & strip.simd_le(self.span[along]);
            table[n] = [low.floor(), high.floor()];
        }
    }
}
