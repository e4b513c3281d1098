//! Any triangle, row by row: in each row of cells along x the touched ones are one interval.
//!
//! The thirteen axes of the triangle–box test (Akenine-Möller 2001) split as in Schwarz and Seidel
//! 2010 into the overlaps of the three projections and the plane. The projection onto (s, t) meets
//! the strip between two walls of t in a convex piece whose extent along s is spanned by vertices in
//! the strip and by edges crossing its walls: a table over t of intervals along s. A cell (i, j, k)
//! is touched iff j is in table yz at k, and i is in table xy at j, in table zx at k, and between
//! the lattice lines where the plane enters and leaves row (j, k).
//!
//! Strips and rows are done in lanes. A crossing nearer to a wall than its error bound
//! (docs/error-bounds.md) is *unsure* and decided in exact integers.

use fearless_simd::{Simd, f64x8, prelude::*};

use crate::geom::crossing::Floor;
use crate::geom::{Ties, Triangle};

use super::exact::LazyExact;
use super::frame::{Frame, U};
use super::setup::Setup;
use super::slab::Slab;

/// Lanes of a vector.
const LANES: usize = 8;

/// Beyond any cell: the end of an empty interval.
const NOWHERE: f64 = 1e300;

/// Intervals of cells, one per strip, as doubles.
#[derive(Default)]
struct Table {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The strip of entry 1; entry 0 and the lanes behind the last catch what is out of range.
    first: i64,
}

impl Table {
    fn reset(&mut self, first: i64, last: i64) {
        let len = (last - first) as usize + 2 + 2 * LANES;
        self.first = first;
        self.low.clear();
        self.low.resize(len, NOWHERE);
        self.high.clear();
        self.high.resize(len, -NOWHERE);
    }

    fn entry(&self, strip: i64) -> usize {
        (strip - self.first + 1) as usize
    }

    fn include(&mut self, strip: i64, low: i64, high: i64) {
        let n = self.entry(strip);
        self.low[n] = self.low[n].min(low as f64);
        self.high[n] = self.high[n].max(high as f64);
    }

    fn interval(&self, strip: i64) -> (i64, i64) {
        let n = self.entry(strip);
        (self.low[n] as i64, self.high[n] as i64)
    }
}

/// Memory that is used again for every triangle.
#[derive(Default)]
pub struct Scratch {
    xy: Table,
    zx: Table,
    yz: Table,
}

/// One triangle being covered.
struct Cover<'a> {
    frame: &'a Frame,
    setup: &'a Setup,
    triangle: &'a Triangle,
    exact: LazyExact<'a>,
    /// The cells to fill, within grid and slab, relative to the base: lowest and highest per axis.
    low: [i64; 3],
    high: [i64; 3],
}

/// Occupies every cell of the slab that the triangle touches.
#[inline(always)]
pub fn cover<S: Simd>(
    simd: S,
    frame: &Frame,
    setup: &Setup,
    triangle: &Triangle,
    slab: &mut Slab,
    scratch: &mut Scratch,
) {
    let [x, y, z] = setup.base;
    let low = [(-x).max(0), (-y).max(0), (slab.layers.start - z).max(0)];
    let end = [frame.axes[0].cells - x, frame.axes[1].cells - y, slab.layers.end - z];
    let high = std::array::from_fn(|a| setup.high[a].min(end[a] - 1));
    if (0..3).any(|a| low[a] > high[a]) {
        return;
    }
    let exact = LazyExact::new(frame, triangle, setup.base);
    let mut this = Cover { frame, setup, triangle, exact, low, high };
    match (setup.wide_axes(), setup.high.map(|high| high > 0)) {
        (0 | 1, _) => this.fill_box(slab),
        (2, [_, _, false]) => this.fill_strips(simd, [0, 1], slab, &mut scratch.xy),
        (2, [_, false, _]) => this.fill_strips(simd, [0, 2], slab, &mut scratch.zx),
        (2, [false, _, _]) => this.fill_columns(simd, slab, &mut scratch.yz),
        _ => this.fill_rows(simd, slab, scratch),
    }
}

impl Cover<'_> {
    /// Occupies a row's cells `low..=high`, clipped; all relative to the base.
    #[inline(always)]
    fn span(&self, slab: &mut Slab, low: i64, high: i64, j: i64, k: i64) {
        let (low, high) = (low.max(self.low[0]), high.min(self.high[0]));
        if low <= high {
            let [x, y, z] = self.setup.base;
            slab.span(x + low, x + high, y + j, z + k);
        }
    }

    /// Bounds that span more than one cell along one axis at most: every cell is touched.
    fn fill_box(&self, slab: &mut Slab) {
        for k in self.low[2]..=self.high[2] {
            for j in self.low[1]..=self.high[1] {
                self.span(slab, self.low[0], self.high[0], j, k);
            }
        }
    }

    /// Bounds one cell thick along y or z: the projection along that axis decides.
    #[inline(always)]
    fn fill_strips<S: Simd>(&mut self, simd: S, [s, t]: [usize; 2], slab: &mut Slab, table: &mut Table) {
        self.project(simd, [s, t], table);
        for strip in self.low[t]..=self.high[t] {
            let (low, high) = table.interval(strip);
            let (j, k) = if t == 1 { (strip, self.low[2]) } else { (self.low[1], strip) };
            self.span(slab, low, high, j, k);
        }
    }

    /// Bounds one cell thick along x: the projection along x decides.
    #[inline(always)]
    fn fill_columns<S: Simd>(&mut self, simd: S, slab: &mut Slab, table: &mut Table) {
        self.project(simd, [1, 2], table);
        for k in self.low[2]..=self.high[2] {
            let (first, last) = table.interval(k);
            for j in first.max(self.low[1])..=last.min(self.high[1]) {
                self.span(slab, self.low[0], self.high[0], j, k);
            }
        }
    }

    /// The general case.
    #[inline(always)]
    fn fill_rows<S: Simd>(&mut self, simd: S, slab: &mut Slab, scratch: &mut Scratch) {
        let Scratch { xy, zx, yz } = scratch;
        self.project(simd, [0, 1], xy);
        self.project(simd, [0, 2], zx);
        self.project(simd, [1, 2], yz);
        let plane = self.plane();
        for k in self.low[2]..=self.high[2] {
            let (first, last) = yz.interval(k);
            let (first, last) = (first.max(self.low[1]), last.min(self.high[1]));
            let (low, high) = zx.interval(k);
            let (low, high) = (low.max(self.low[0]), high.min(self.high[0]));
            let mut j = first;
            while j <= last && low <= high {
                let n = xy.entry(j);
                let lows = f64x8::from_slice(simd, &xy.low[n..n + LANES]).max(low as f64);
                let highs = f64x8::from_slice(simd, &xy.high[n..n + LANES]).min(high as f64);
                let (lows, highs) = match &plane {
                    Some(plane) => self.cut(simd, plane, j, k, lows, highs),
                    None => (lows, highs),
                };
                let (mut l, mut h) = ([0.0; LANES], [0.0; LANES]);
                lows.store_slice(&mut l);
                highs.store_slice(&mut h);
                for lane in 0..LANES.min((last - j + 1) as usize) {
                    self.span(slab, l[lane] as i64, h[lane] as i64, j + lane as i64, k);
                }
                j += LANES as i64;
            }
        }
    }

    /// Fills `table` with the intervals along `s` of the projection's piece in each strip of `t`.
    #[inline(always)]
    fn project<S: Simd>(&mut self, simd: S, [s, t]: [usize; 2], table: &mut Table) {
        let (first, last) = (self.low[t], self.high[t]);
        table.reset(first, last);
        let setup = self.setup;
        for v in 0..3 {
            let (low, high) = self.cell_of(s, (setup.floor[s][v], setup.on[s][v]));
            let strip = setup.floor[t][v];
            for strip in [strip - i64::from(setup.on[t][v]), strip] {
                if first <= strip && strip <= last {
                    table.include(strip, low, high);
                }
            }
        }
        for [v, w] in [[0, 1], [1, 2], [2, 0]] {
            let (a, b) = (self.triangle[v][t], self.triangle[w][t]);
            if a != b {
                let edge = if a < b { [v, w] } else { [w, v] };
                self.project_edge(simd, edge, [s, t], table);
            }
        }
    }

    /// Includes where an edge, rising along `t`, crosses the walls strictly between its ends.
    #[inline(always)]
    fn project_edge<S: Simd>(&mut self, simd: S, [v, w]: [usize; 2], [s, t]: [usize; 2], table: &mut Table) {
        let setup = self.setup;
        let from = (setup.floor[t][v] + 1).max(self.low[t]);
        let to = (setup.floor[t][w] - i64::from(setup.on[t][w])).min(self.high[t] + 1);
        if from > to {
            return;
        }
        let (a, b) = ([setup.u[s][v], setup.u[t][v]], [setup.u[s][w], setup.u[t][w]]);
        let rise = b[1] - a[1];
        // No double tells how far such an edge rises, if at all: every crossing is decided exactly.
        let flat = rise < 16.0 * setup.error;
        let slope = if flat { 0.0 } else { (b[0] - a[0]) / rise };
        let parallel = self.triangle[v][s] == self.triangle[w][s];
        let bound = if parallel {
            -1.0 // the floor is that of the ends
        } else if flat {
            f64::INFINITY
        } else {
            let size = a[0].abs().max(b[0].abs()) + (b[0] - a[0]).abs();
            2.0 * setup.error * (1.0 + slope.abs()) + 8.0 * U * size
        };
        // Crossings of exact coordinates are fractions over rise / grain²: near means on.
        let on_grain = setup.error == 0.0 && 2.0 * bound * rise < setup.grain * setup.grain;
        let (at, last) = (f64x8::splat(simd, a[1]), f64x8::splat(simd, to as f64));
        let mut wall = from;
        while wall <= to {
            let walls = f64x8::from_slice(simd, &RAMP) + wall as f64;
            let crossing = (walls - at) * slope + a[0];
            let floor =
                if parallel { f64x8::splat(simd, setup.floor[s][v] as f64) } else { crossing.floor() };
            let distance = (crossing - crossing.round_ties_even()).abs();
            let inside = walls.simd_le(last);
            let unsure = distance.simd_le(f64x8::splat(simd, bound)) & inside;
            let (mut low, mut high) = (floor, floor);
            if parallel {
                let (l, h) = self.cell_of(s, (setup.floor[s][v], setup.on[s][v]));
                (low, high) = (f64x8::splat(simd, l as f64), f64x8::splat(simd, h as f64));
            } else if unsure.any_true() {
                let mut fixed = Lanes::of(low, high);
                fixed.fix(unsure.to_bitmask(), |lane| {
                    let near = || (crossing_of(&crossing, lane).round_ties_even() as i64, true);
                    let wall = wall + lane as i64;
                    let floor =
                        if on_grain { near() } else { self.exact.edge_crossing([v, w], [s, t], wall) };
                    self.cell_of(s, floor)
                });
                (low, high) = fixed.load(simd);
            }
            low = inside.select(low, f64x8::splat(simd, NOWHERE));
            high = inside.select(high, f64x8::splat(simd, -NOWHERE));
            // A crossing belongs to the strips on either side of its wall.
            for n in [table.entry(wall) - 1, table.entry(wall)] {
                let lows = &mut table.low[n..n + LANES];
                f64x8::from_slice(simd, lows).min(low).store_slice(lows);
                let highs = &mut table.high[n..n + LANES];
                f64x8::from_slice(simd, highs).max(high).store_slice(highs);
            }
            wall += LANES as i64;
        }
    }

    /// The lowest and highest cell along `axis` that a point touches, by the ties in force.
    #[inline(always)]
    fn cell_of(&self, axis: usize, (floor, on): Floor) -> (i64, i64) {
        let below = floor - i64::from(on);
        match self.frame.ties {
            Ties::Both => (below, floor),
            Ties::None => (floor, below),
            Ties::Up => {
                let outward =
                    on && self.frame.axes[axis].closed && floor == self.setup.last_wall(self.frame, axis);
                let cell = if outward { below } else { floor };
                (cell, cell)
            }
        }
    }
}

/// 0, 1, 2, …: the offsets of lanes.
const RAMP: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// One lane of a vector.
fn crossing_of<S: Simd>(vector: &f64x8<S>, lane: usize) -> f64 {
    let mut lanes = [0.0; LANES];
    vector.store_slice(&mut lanes);
    lanes[lane]
}

/// Intervals taken out of vectors to be decided one by one.
struct Lanes {
    low: [f64; LANES],
    high: [f64; LANES],
}

impl Lanes {
    #[inline(always)]
    fn of<S: Simd>(low: f64x8<S>, high: f64x8<S>) -> Self {
        let mut this = Self { low: [0.0; LANES], high: [0.0; LANES] };
        low.store_slice(&mut this.low);
        high.store_slice(&mut this.high);
        this
    }

    /// Replaces the intervals of the lanes in `mask`.
    fn fix(&mut self, mask: u64, mut decide: impl FnMut(usize) -> (i64, i64)) {
        for lane in crate::grid::bits::bits_of(mask) {
            let (low, high) = decide(lane);
            (self.low[lane], self.high[lane]) = (low as f64, high as f64);
        }
    }

    #[inline(always)]
    fn load<S: Simd>(&self, simd: S) -> (f64x8<S>, f64x8<S>) {
        (f64x8::from_slice(simd, &self.low), f64x8::from_slice(simd, &self.high))
    }
}

/// The plane of a triangle as `x = at + along_y * (y - …) + along_z * (z - …)` at lattice lines.
struct Plane {
    /// Slopes of x along y and z.
    slope: [f64; 2],
    /// A point of the plane.
    through: [f64; 3],
    /// What a crossing may be off by; infinite to decide all exactly.
    error: f64,
    /// Whether a crossing within `error` of a wall is on it.
    on_grain: bool,
    /// Per y and z, which wall of a row the plane meets first along x: 0 the lower, 1 the upper.
    first: [i64; 2],
}

impl Plane {
    /// Where the plane meets the lattice lines at walls `y, y + 1, …` and wall `z`, along x.
    #[inline(always)]
    fn meets<S: Simd>(&self, simd: S, y: i64, z: i64) -> f64x8<S> {
        let at = self.through[0] + self.slope[1] * (z as f64 - self.through[2]);
        let ys = f64x8::from_slice(simd, &RAMP) + (y as f64 - self.through[1]);
        ys * self.slope[0] + at
    }
}

impl Cover<'_> {
    /// The plane of the triangle; `None` if it is parallel to x, where table yz says all.
    fn plane(&mut self) -> Option<Plane> {
        let setup = self.setup;
        let [a, b, c]: [[f64; 3]; 3] = std::array::from_fn(|v| std::array::from_fn(|axis| setup.u[axis][v]));
        let e1: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
        let e2: [f64; 3] = std::array::from_fn(|i| c[i] - a[i]);
        let n = [e1[1] * e2[2] - e1[2] * e2[1], e1[2] * e2[0] - e1[0] * e2[2], e1[0] * e2[1] - e1[1] * e2[0]];
        let size = e1.iter().chain(&e2).fold(0.0_f64, |size, e| size.max(e.abs()));
        let normal_error = 10.0 * size * (setup.error + U * size);

        if n[0].abs() <= 4.0 * normal_error || setup.error > size / 16.0 {
            let signs = self.exact.normal_signs();
            let first = [1, 2].map(|axis| i64::from(signs[axis] * signs[0] > 0));
            let (slope, through) = ([0.0; 2], a);
            let exact = Plane { slope, through, error: f64::INFINITY, on_grain: false, first };
            return (signs[0] != 0).then_some(exact);
        }
        let slope = [-n[1] / n[0], -n[2] / n[0]];
        let reach = [setup.high[1] as f64 + 2.0, setup.high[2] as f64 + 2.0];
        let steep = [slope[0].abs(), slope[1].abs()];
        let rise = reach[0] * steep[0] + reach[1] * steep[1];
        let error = 2.0 * setup.error * (1.0 + steep[0] + steep[1])
            + 2.0 * normal_error / n[0].abs() * (reach[0] + reach[1] + rise)
            + 8.0 * U * (a[0].abs() + rise);
        let on_grain = setup.error == 0.0 && 2.0 * error * n[0].abs() < setup.grain.powi(3);
        // Small whole numbers of grains multiply exactly; else a sign within the error is in doubt.
        let certain = setup.error == 0.0 && size < setup.grain * (1u32 << 25) as f64
            || n[1].abs().min(n[2].abs()) > normal_error;
        let first = if certain {
            slope.map(|slope| i64::from(slope < 0.0))
        } else {
            let signs = self.exact.normal_signs();
            [1, 2].map(|axis| i64::from(signs[axis] * signs[0] > 0))
        };
        Some(Plane { slope, through: a, error, on_grain, first })
    }

    /// Cuts the intervals of rows `j..j + 8` of layer `k` to where the plane passes.
    #[inline(always)]
    fn cut<S: Simd>(
        &mut self,
        simd: S,
        plane: &Plane,
        j: i64,
        k: i64,
        lows: f64x8<S>,
        highs: f64x8<S>,
    ) -> (f64x8<S>, f64x8<S>) {
        let [y0, z0] = plane.first;
        let enter = plane.meets(simd, j + y0, k + z0);
        let leave = plane.meets(simd, j + 1 - y0, k + 1 - z0);
        let error = f64x8::splat(simd, plane.error);
        let near = |x: f64x8<S>| (x - x.round_ties_even()).abs().simd_le(error);
        let open = lows.simd_le(highs);
        // Unsure matters only where it could move an end of the interval.
        let unsure_low =
            near(enter) & open & (enter + error).simd_ge(lows + 1.0) & (enter - error).simd_le(highs + 1.0);
        let unsure_high = near(leave) & open & (leave - error).simd_le(highs) & (leave + error).simd_ge(lows);
        let (mut low, mut high) = (enter.floor(), leave.floor());
        if (unsure_low | unsure_high).any_true() {
            let mut fixed = Lanes::of(low, high);
            let keep = Lanes::of(low, high);
            let mut floor = |x: &f64x8<S>, lane: usize, y: i64, z: i64| {
                let near = || (crossing_of(x, lane).round_ties_even() as i64, true);
                let exact = &mut self.exact;
                if plane.on_grain { near() } else { exact.plane_crossing(j + lane as i64 + y, k + z) }
            };
            let mut found = [(0, false); 2 * LANES];
            for lane in crate::grid::bits::bits_of(unsure_low.to_bitmask()) {
                found[lane] = floor(&enter, lane, y0, z0);
            }
            for lane in crate::grid::bits::bits_of(unsure_high.to_bitmask()) {
                found[LANES + lane] = floor(&leave, lane, 1 - y0, 1 - z0);
            }
            fixed.fix(unsure_low.to_bitmask(), |lane| {
                (self.cell_of(0, found[lane]).0, keep.high[lane] as i64)
            });
            let keep = Lanes { low: fixed.low, high: fixed.high };
            fixed.fix(unsure_high.to_bitmask(), |lane| {
                (keep.low[lane] as i64, self.cell_of(0, found[LANES + lane]).1)
            });
            (low, high) = fixed.load(simd);
        }
        (lows.max(low), highs.min(high))
    }
}
