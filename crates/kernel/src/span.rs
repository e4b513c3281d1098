//! Kernel that covers any triangle row by row. In each row of cells along x, the touched cells are one
//! interval.
//!
//! The thirteen axes of the triangle–box test (Akenine-Möller 2001) split as in Schwarz and Seidel 2010 into
//! the overlaps of the three projections and the plane. The part of the projection onto (s, t) in the strip
//! between two walls of t is convex. Its extent along s is the range of the vertices in the strip and of the
//! points where edges cross its walls. The result is a table with one interval along s for each strip of t. A
//! cell (i, j, k) is touched iff j is in table yz at k, and i is in table xy at j, in table zx at k, and
//! between the lattice lines where the plane enters and leaves row (j, k).
//!
//! Several strips or rows are computed at a time in the lanes of a vector. A crossing nearer to a wall than
//! its error bound (docs/internals/error-bounds.md) is *unsure* and decided in exact integers.

use fearless_simd::{Simd, f64x8, mask64x8, prelude::*};

use crate::geom::crossing::Floor;
use crate::geom::{Ties, Triangle};

use super::bricks::Bricks;
use super::exact::LazyExact;
use super::lattice::{KernelLattice, U};
use super::marks;
use super::plane::LongPlane;
use super::rows::Pieces;
use super::setup::Setup;
use super::sink::SIDE;
use super::table::{LANES, NOWHERE, RAMP, Table, lanes_of, whole};
use crate::bits::bits_of;

/// Eight layers are filled at a time if the last row minus the first row is below this.
const NARROW: f64 = 3.0;

/// Memory that is reused for every triangle.
#[derive(Default)]
pub struct Scratch {
    xy: Table,
    zx: Table,
    yz: Table,
    pieces: Pieces,
}

/// Triangle that is being covered.
struct Cover<'a> {
    frame: &'a KernelLattice,
    setup: &'a Setup,
    triangle: &'a Triangle,
    exact: LazyExact<'a>,
    /// Lowest and highest cell to fill along each axis, relative to the base. They are within the grid and
    /// the covered layers.
    low: [i64; 3],
    high: [i64; 3],
}

/// Rectangle of cells in one layer, relative to the base.
struct SpanLayer {
    /// First and last row.
    rows: [i64; 2],
    k: i64,
    /// First and last cell of each row.
    columns: [i64; 2],
}

/// Occupies every cell that the triangle touches within the current layers.
#[inline(always)]
pub fn cover<S: Simd>(
    simd: S,
    frame: &KernelLattice,
    setup: &Setup,
    triangle: &Triangle,
    bricks: &mut Bricks,
    scratch: &mut Scratch,
) {
    let [x, y, z] = setup.base;
    let low = [(-x).max(0), (-y).max(0), (bricks.layers.start - z).max(0)];
    let end = [
        frame.axes[0].cells - x,
        frame.axes[1].cells - y,
        bricks.layers.end - z,
    ];
    let high = std::array::from_fn(|a| setup.high[a].min(end[a] - 1));
    if (0..3).any(|a| low[a] > high[a]) {
        return;
    }
    let exact = LazyExact::new(frame, triangle, setup.base);
    let mut this = Cover {
        frame,
        setup,
        triangle,
        exact,
        low,
        high,
    };
    match (setup.wide_axes(), setup.high.map(|high| high > 0)) {
        (0 | 1, _) => this.fill_box(bricks),
        (2, [_, _, false]) => this.fill_strips(simd, [0, 1], bricks, scratch),
        (2, [_, false, _]) => this.fill_strips(simd, [0, 2], bricks, scratch),
        (2, [false, _, _]) => this.fill_columns(simd, bricks, scratch),
        _ => this.fill_rows(simd, bricks, scratch),
    }
}

impl Cover<'_> {
    /// Occupies the cells `low..=high` of a row, as far as they are within the cells to fill. All numbers are
    /// relative to the base.
    #[inline(always)]
    fn span(&self, bricks: &mut Bricks, low: i64, high: i64, j: i64, k: i64) {
        let low = low.max(self.low[0]);
        let high = high.min(self.high[0]);
        if low <= high {
            let [x, y, z] = self.setup.base;
            bricks.span(x + low, x + high, y + j, z + k);
        }
    }

    /// Occupies all cells of the bounds. The bounds are more than one cell along at most one axis, so the
    /// triangle touches every cell.
    fn fill_box(&self, bricks: &mut Bricks) {
        for k in self.low[2]..=self.high[2] {
            for j in self.low[1]..=self.high[1] {
                self.span(bricks, self.low[0], self.high[0], j, k);
            }
        }
    }

    /// Occupies the cells of a triangle whose bounds are one cell thick along y or z. The projection along
    /// that axis decides.
    #[inline(always)]
    fn fill_strips<S: Simd>(
        &mut self,
        simd: S,
        [s, t]: [usize; 2],
        bricks: &mut Bricks,
        scratch: &mut Scratch,
    ) {
        let Scratch {
            xy: table, pieces, ..
        } = scratch;
        self.project(simd, [s, t], table);
        if t == 1 {
            let [low, high] = [self.low, self.high];
            let layer = SpanLayer {
                rows: [low[1], high[1]],
                k: low[2],
                columns: [low[0], high[0]],
            };
            self.add_layer(
                simd,
                layer,
                bricks,
                pieces,
                #[inline(always)]
                |_, j, ends| table.within(simd, j, ends),
            );
            return pieces.put(simd, bricks);
        }
        for strip in self.low[t]..=self.high[t] {
            let (low, high) = table.interval(strip);
            self.span(bricks, low, high, self.low[1], strip);
        }
    }

    /// Occupies the cells of a triangle whose bounds are one cell thick along x. The projection along x
    /// decides.
    #[inline(always)]
    fn fill_columns<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, scratch: &mut Scratch) {
        let Scratch {
            yz: table, pieces, ..
        } = scratch;
        self.project(simd, [1, 2], table);
        for k in self.low[2]..=self.high[2] {
            let (first, last) = table.interval(k);
            let rows = [first.max(self.low[1]), last.min(self.high[1])];
            let layer = SpanLayer {
                rows,
                k,
                columns: [self.low[0], self.high[0]],
            };
            self.add_layer(
                simd,
                layer,
                bricks,
                pieces,
                #[inline(always)]
                |_, _, ends| ends,
            );
            if pieces.are_enough() {
                pieces.put(simd, bricks);
            }
        }
        pieces.put(simd, bricks);
    }

    /// Occupies the cells of a triangle whose bounds are more than one cell thick along every axis.
    #[inline(always)]
    fn fill_rows<S: Simd>(&mut self, simd: S, bricks: &mut Bricks, scratch: &mut Scratch) {
        let Scratch { xy, zx, yz, pieces } = scratch;
        self.project(simd, [0, 1], xy);
        self.project(simd, [0, 2], zx);
        self.project(simd, [1, 2], yz);
        let plane = LongPlane::new(self.setup, &mut self.exact);
        let [low, high] =
            [self.low, self.high].map(|ends| ends.map(|end| f64x8::splat(simd, end as f64)));
        for start in (self.low[2]..=self.high[2]).step_by(LANES) {
            let rows = yz.within(simd, start, [low[1], high[1]]);
            let columns = zx.within(simd, start, [low[0], high[0]]);
            let open = rows[0].simd_le(rows[1]) & columns[0].simd_le(columns[1]);
            let layers = (1 << LANES.min((self.high[2] + 1 - start) as usize)) - 1;
            let open = open & mask64x8::from_bitmask(simd, layers);
            let height = rows[1] - rows[0];
            if !(open & height.simd_ge(f64x8::splat(simd, NARROW))).any_true()
                && let Some(plane) = &plane
                && self.fill_narrow(
                    simd,
                    start,
                    [rows, columns],
                    open,
                    height,
                    (xy, plane),
                    bricks,
                )
            {
                continue;
            }
            // This is not written with `map`, because a closure would be compiled without the instructions of
            // the level.
            let rows = [whole(rows[0]), whole(rows[1])];
            let columns = [whole(columns[0]), whole(columns[1])];
            for n in bits_of(open.to_bitmask()) {
                let k = start + n as i64;
                let layer = SpanLayer {
                    rows: [rows[0][n], rows[1][n]],
                    k,
                    columns: [columns[0][n], columns[1][n]],
                };
                self.add_layer(
                    simd,
                    layer,
                    bricks,
                    pieces,
                    #[inline(always)]
                    |this, j, ends| {
                        let ends = xy.within(simd, j, ends);
                        let Some(plane) = &plane else { return ends };
                        let frame = this.frame;
                        let setup = this.setup;
                        let cell_of = |floor| cell_of(frame, setup, 0, floor);
                        plane.cut(simd, [j, k], ends, &mut this.exact, &cell_of)
                    },
                );
                if pieces.are_enough() {
                    pieces.put(simd, bricks);
                }
            }
        }
        pieces.put(simd, bricks);
    }

    /// Occupies the cells of several layers at a time, each in one lane. The layers are those in `open` of
    /// the eight layers from `start` on. Each has few rows, as in needles. The first arrays are the intervals
    /// of rows and columns of each layer. Returns `true` if all decisions were sure.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "one call, in the inner loop")]
    fn fill_narrow<S: Simd>(
        &self,
        simd: S,
        start: i64,
        [rows, columns]: [[f64x8<S>; 2]; 2],
        open: mask64x8<S>,
        height: f64x8<S>,
        (xy, plane): (&Table, &LongPlane),
        bricks: &mut Bricks,
    ) -> bool {
        let [x, y, z] = self.setup.base.map(|base| base as f64);
        let layer = f64x8::from_slice(simd, &RAMP) + start as f64;
        let most = open.select(height, f64x8::splat(simd, 0.0)).reduce_max();
        bricks.make_room(simd);
        let zero = f64x8::splat(simd, 0.0);
        for step in 0..=most as i64 {
            let row = rows[0] + step as f64;
            let within = open & row.simd_le(rows[1]);
            let row = within.select(row, f64x8::splat(simd, self.low[1] as f64));
            let js = whole(row);
            let mut ends = [[0.0; LANES]; 2];
            for lane in 0..LANES {
                [ends[0][lane], ends[1][lane]] = xy.ends(js[lane]);
            }
            let lows = columns[0].max(f64x8::from_slice(simd, &ends[0]));
            let highs = columns[1].min(f64x8::from_slice(simd, &ends[1]));
            let [enter, leave] = plane.ends(row, layer);
            let distance = (enter - enter.round_ties_even())
                .abs()
                .min((leave - leave.round_ties_even()).abs());
            let unsure =
                distance.simd_le(f64x8::splat(simd, plane.error)) & within & lows.simd_le(highs);
            if unsure.any_true() {
                return false;
            }
            let lows = lows.max(enter.floor());
            let highs = highs.min(leave.floor());
            let filled = within & lows.simd_le(highs);
            let long = filled & (highs - lows).simd_ge(f64x8::splat(simd, marks::CELLS as f64));
            let cells = [
                (lows + x).narrow(zero),
                (row + y).narrow(zero),
                (layer + z).narrow(zero),
            ];
            bricks.mark_runs(
                simd,
                cells,
                (highs - lows).narrow(zero),
                (filled & !long).to_bitmask(),
            );
            for lane in bits_of(long.to_bitmask()) {
                let [first, last] = [lows.as_array()[lane], highs.as_array()[lane]];
                self.span(
                    bricks,
                    first as i64,
                    last as i64,
                    js[lane],
                    start + lane as i64,
                );
            }
        }
        true
    }

    /// Adds the cells of a layer to `pieces`. `cut` is called with the first and last cells of the eight rows
    /// from `j` on, and returns the touched part of each.
    #[inline(always)]
    fn add_layer<S: Simd>(
        &mut self,
        simd: S,
        layer: SpanLayer,
        bricks: &Bricks,
        pieces: &mut Pieces,
        cut: impl Fn(&mut Self, i64, [f64x8<S>; 2]) -> [f64x8<S>; 2],
    ) {
        let [x, y, z] = self.setup.base;
        let SpanLayer {
            rows: [first, last],
            k,
            columns,
        } = layer;
        let base = f64x8::splat(simd, x as f64);
        let low = f64x8::splat(simd, columns[0] as f64);
        let high = f64x8::splat(simd, columns[1] as f64);
        let first_row = f64x8::splat(simd, first as f64);
        let last_row = f64x8::splat(simd, last as f64);
        let words = [(x + columns[0]) / 64, (x + columns[1]) / 64];
        // The rows start at the first row of a brick.
        let skipped = (y + first) % SIDE as i64;
        for j in (first - skipped..=last).step_by(LANES) {
            pieces.reserve((words[1] - words[0]) as usize + 1);
            let row = f64x8::from_slice(simd, &RAMP) + j as f64;
            let inside = row.simd_ge(first_row) & row.simd_le(last_row);
            let [lows, highs] = cut(
                self,
                j,
                [inside.select(low, f64x8::splat(simd, NOWHERE)), high],
            );
            pieces.add(
                simd,
                bricks,
                [y + j, z + k],
                [lows + base, highs + base],
                words,
            );
        }
    }

    /// Fills `table` with the intervals along `s` that the projection covers in each strip of `t`.
    #[inline(always)]
    fn project<S: Simd>(&mut self, simd: S, [s, t]: [usize; 2], table: &mut Table) {
        let first = self.low[t];
        let last = self.high[t];
        table.reset(first, last);
        let setup = self.setup;
        for v in 0..3 {
            let (low, high) = cell_of(self.frame, setup, s, (setup.floor[s][v], setup.on[s][v]));
            let strip = setup.floor[t][v];
            for strip in [strip - i64::from(setup.on[t][v]), strip] {
                if first <= strip && strip <= last {
                    table.include(strip, low, high);
                }
            }
        }
        for [v, w] in [[0, 1], [1, 2], [2, 0]] {
            let a = self.triangle[v][t];
            let b = self.triangle[w][t];
            if a != b {
                let edge = if a < b { [v, w] } else { [w, v] };
                self.project_edge(simd, edge, [s, t], table);
            }
        }
    }

    /// Extends the intervals by the crossings of an edge with the walls strictly between its ends. The edge
    /// rises along `t`.
    #[inline(always)]
    fn project_edge<S: Simd>(
        &mut self,
        simd: S,
        [v, w]: [usize; 2],
        [s, t]: [usize; 2],
        table: &mut Table,
    ) {
        let setup = self.setup;
        let from = (setup.floor[t][v] + 1).max(self.low[t]);
        let to = (setup.floor[t][w] - i64::from(setup.on[t][w])).min(self.high[t] + 1);
        if from > to {
            return;
        }
        let edge = LongEdge::new(setup, [v, w], [s, t]);
        let parallel = self.triangle[v][s] == self.triangle[w][s];
        let ends = cell_of(self.frame, setup, s, (setup.floor[s][v], setup.on[s][v]));
        let last = f64x8::splat(simd, to as f64);
        let nowhere = [f64x8::splat(simd, NOWHERE), f64x8::splat(simd, -NOWHERE)];
        let mut before = nowhere;
        // Includes the strip above the last wall.
        for wall in (from..=to + 1).step_by(LANES) {
            let walls = f64x8::from_slice(simd, &RAMP) + wall as f64;
            let inside = walls.simd_le(last);
            let [low, high] = if parallel {
                [
                    f64x8::splat(simd, ends.0 as f64),
                    f64x8::splat(simd, ends.1 as f64),
                ]
            } else {
                let crossing = (walls - edge.start[1]) * edge.slope + edge.start[0];
                let distance = (crossing - crossing.round_ties_even()).abs();
                let unsure = distance.simd_le(f64x8::splat(simd, edge.error)) & inside;
                let floor = crossing.floor();
                if unsure.any_true() {
                    let mut lows = lanes_of(floor);
                    let mut highs = lanes_of(floor);
                    let unsure = unsure.to_bitmask();
                    self.settle(
                        &lanes_of(crossing),
                        unsure,
                        &edge,
                        wall,
                        [&mut lows, &mut highs],
                    );
                    [
                        f64x8::from_slice(simd, &lows),
                        f64x8::from_slice(simd, &highs),
                    ]
                } else {
                    [floor, floor]
                }
            };
            let walls = [
                inside.select(low, nowhere[0]),
                inside.select(high, nowhere[1]),
            ];
            table.include_walls(simd, wall, before, walls);
            before = walls;
        }
    }

    /// Decides the lowest and the highest cell touched by each crossing in `unsure` exactly. The first
    /// crossing is with wall `wall`.
    #[cold]
    #[inline(never)]
    fn settle(
        &mut self,
        crossing: &[f64; LANES],
        unsure: u64,
        edge: &LongEdge,
        wall: i64,
        [lows, highs]: [&mut [f64; LANES]; 2],
    ) {
        for lane in bits_of(unsure) {
            let floor = if edge.on_grain {
                (crossing[lane].round_ties_even() as i64, true)
            } else {
                self.exact
                    .edge_crossing(edge.ends, edge.axes, wall + lane as i64)
            };
            let (low, high) = cell_of(self.frame, self.setup, edge.axes[0], floor);
            (lows[lane], highs[lane]) = (low as f64, high as f64);
        }
    }
}

/// Edge of a projection. It rises along the second of the projection's axes.
pub struct LongEdge {
    /// Indices of the vertices at its ends.
    ends: [usize; 2],
    /// Axis along which positions of crossings are measured, and axis of the walls.
    axes: [usize; 2],
    /// Coordinates of the first vertex along these two axes.
    start: [f64; 2],
    /// Change of the first coordinate when the second rises by one.
    slope: f64,
    /// Error bound of a crossing. Infinite if all crossings have to be decided exactly.
    pub error: f64,
    /// If a crossing is within `error` of a wall, it is exactly on the wall.
    pub on_grain: bool,
}

impl LongEdge {
    /// Creates the edge from vertex `v` up to vertex `w`. Positions are measured along axis `s`, and the
    /// walls are those of axis `t`.
    pub fn new(setup: &Setup, [v, w]: [usize; 2], [s, t]: [usize; 2]) -> Self {
        let start = [setup.u[s][v], setup.u[t][v]];
        let end = [setup.u[s][w], setup.u[t][w]];
        let run = end[0] - start[0];
        let rise = end[1] - start[1];
        let (slope, error) = if rise < 16.0 * setup.error || rise <= 0.0 {
            (0.0, f64::INFINITY)
        } else {
            let slope = run / rise;
            let size = start[0].abs().max(end[0].abs()) + run.abs();
            (
                slope,
                2.0 * setup.error * (1.0 + slope.abs()) + 8.0 * U * size,
            )
        };
        // If coordinates are exact, crossings are fractions with the denominator rise / grain². A crossing
        // within the error bound of a wall is therefore on the wall.
        let on_grain = setup.error == 0.0 && 2.0 * error * rise < setup.grain * setup.grain;
        Self {
            ends: [v, w],
            axes: [s, t],
            start,
            slope,
            error,
            on_grain,
        }
    }

    /// Returns the position along the first axis at which the edge crosses a wall.
    pub fn at(&self, wall: i64) -> f64 {
        (wall as f64 - self.start[1]) * self.slope + self.start[0]
    }
}

/// Returns the lowest and the highest cell along `axis` that a point touches, according to the ties rule of
/// the lattice.
#[inline(always)]
fn cell_of(frame: &KernelLattice, setup: &Setup, axis: usize, (floor, on): Floor) -> (i64, i64) {
    let below = floor - i64::from(on);
    match frame.ties {
        Ties::Both => (below, floor),
        Ties::None => (floor, below),
        Ties::Up => {
            // The last wall of a closed axis is displaced outwards. A point on this wall is therefore inside
            // the last cell.
            let outward = on && frame.axes[axis].closed && floor == setup.last_wall(frame, axis);
            let cell = if outward { below } else { floor };
            (cell, cell)
        }
    }
}
