//! Triangles within one cell, within two adjacent cells, or within four cells around an edge of the lattice.
//! They are decided without a test or with a test in one projection.
//!
//! Sixteen triangles at a time are mapped to index space in floats. If no coordinate is within its error
//! bound (docs/internals/error-bounds.md) of a wall or centre plane, the cells of the bounds are certain. If
//! these are one cell or two adjacent cells, the triangle touches all of them, because it reaches both ends
//! of its bounds. If they are four cells around an edge of the lattice, the projection along that edge
//! decides. Other triangles are left to more precise kernels.

use std::ops::Range;

use fearless_simd::{Simd, f32x8, f32x16, mask32x16, prelude::*, u32x16};

use super::bricks::Bricks;
use super::gather::Vertices;
use super::lanes::U32;
use super::lattice::{KernelAxis, KernelLattice};
use super::levels::{LANES, is_avx512};
use super::marks;

/// Lattice in floats, for the triangles of one mesh.
pub struct Tiny {
    axes: [FloatAxis; 3],
    /// Twice the sum of two bounds: the error of coordinates, and the distance from which they may snap.
    margin: f32,
    /// Error bound of the edge functions of four cells around an edge of the lattice.
    bound: f32,
    /// Sums of two floats are accurate enough to store the walls.
    splits: bool,
    /// Number of batches to skip. It is set if a batch contained too few of these small triangles.
    rest: u32,
}

/// Axis of the lattice in floats.
pub struct FloatAxis {
    /// Origin, as the sum of two floats.
    pub origin: [f32; 2],
    /// Number of cells per unit of world space.
    pub scale: f32,
}

/// Returns the axes of a lattice in floats, and twice the sum of two bounds: the error of coordinates, and
/// the distance from which they may snap. `None` if floats are too coarse.
pub fn in_floats(frame: &KernelLattice) -> Option<([FloatAxis; 3], f32)> {
    let [x, y, z] = &frame.axes;
    let (x, x_margin) = FloatAxis::new(x)?;
    let (y, y_margin) = FloatAxis::new(y)?;
    let (z, z_margin) = FloatAxis::new(z)?;
    let margin = x_margin.max(y_margin).max(z_margin);
    let margin = (2.000_001 * margin) as f32;
    if margin >= 0.01 {
        return None;
    }
    Some(([x, y, z], margin))
}

impl FloatAxis {
    /// Returns the axis in floats, and the sum of two bounds: the error of coordinates, and the distance from
    /// which they may snap. `None` if floats are too coarse.
    fn new(axis: &KernelAxis) -> Option<(Self, f64)> {
        let high = axis.origin[0] as f32;
        let low = ((axis.origin[0] - f64::from(high)) + axis.origin[1]) as f32;
        let scale = axis.scale as f32;
        // No coordinate is larger than this, so no difference overflows.
        let largest = axis.origin[0].abs() + axis.farthest / axis.scale;
        if !(scale.is_normal() && largest < f64::from(f32::MAX) / 4.0) {
            return None;
        }
        let absolute =
            f64::from(high.abs()) * axis.scale * 2f64.powi(-46) + f64::from(f32::MIN_POSITIVE);
        let error = 6.0 * f64::from(U32) * (axis.farthest + 1.0) + absolute;
        Some((
            Self {
                origin: [high, low],
                scale,
            },
            error + axis.reach_of_snap,
        ))
    }
}

impl Tiny {
    /// Creates the lattice in floats. `None` if floats are too coarse.
    pub fn new(frame: &KernelLattice) -> Option<Self> {
        let (axes, margin) = in_floats(frame)?;
        // The error of coordinates is below half the margin.
        let bound = 10.5 * margin + 336.0 * U32;
        Some(Self {
            axes,
            margin,
            bound,
            splits: frame.wall_error().is_some(),
            rest: 0,
        })
    }

    /// Occupies the cells of all triangles of `valid` for which this kernel is sure. Returns the other
    /// triangles.
    #[inline(always)]
    pub fn take<S: Simd>(
        &mut self,
        simd: S,
        vertices: &Vertices<S>,
        valid: u64,
        bricks: &mut Bricks,
    ) -> Left<S> {
        if self.rest > 0 {
            self.rest -= 1;
            let none = [f32x16::splat(simd, 0.0); 3];
            return Left {
                lanes: valid,
                bounded: 0,
                lows: none,
                highs: none,
            };
        }
        let left = self.take_lanes(simd, vertices, valid, bricks);
        // Consecutive batches usually have triangles of similar size, so the next batches are skipped.
        self.rest = if (left.lanes & !left.bounded).count_ones() > 13 {
            15
        } else {
            0
        };
        left
    }

    #[inline(always)]
    fn take_lanes<S: Simd>(
        &self,
        simd: S,
        vertices: &Vertices<S>,
        valid: u64,
        bricks: &mut Bricks,
    ) -> Left<S> {
        let ranges = bricks.ranges();
        let found = if is_avx512(simd) {
            self.look(simd, vertices, &ranges)
        } else {
            // On levels with eight lanes, sixteen lanes would take two registers for each value, and twice as
            // many values would be stored on the stack.
            let zero = f32x8::splat(simd, 0.0);
            let mut low = [[zero; 3]; 3];
            let mut high = [[zero; 3]; 3];
            for axis in 0..3 {
                for vertex in 0..3 {
                    (low[axis][vertex], high[axis][vertex]) = vertices[axis][vertex].split();
                }
            }
            let low = self.look(simd, &low, &ranges);
            let high = self.look(simd, &high, &ranges);
            low.join(&high)
        };
        let [small, one] = [found.small, found.one].map(|lanes| lanes & valid);
        let touched = found.touched.map(|lanes| lanes & valid);
        if touched[1] | touched[2] != 0 {
            mark(simd, &found.first, touched[1], bricks);
            mark(simd, &found.second, touched[2], bricks);
        }
        mark(simd, &found.lows, small | touched[0], bricks);
        mark(simd, &found.highs, small & !one | touched[3], bricks);
        let lanes = valid & !(found.small | found.decided);
        let bounded = if self.splits {
            lanes & found.bounded
        } else {
            0
        };
        Left {
            lanes,
            bounded,
            lows: found.lows,
            highs: found.highs,
        }
    }

    /// Examines one triangle in each lane of `V`.
    #[inline(always)]
    fn look<S: Simd, V: SimdFloat<S, Element = f32>>(
        &self,
        simd: S,
        vertices: &[[V; 3]; 3],
        ranges: &[Range<i64>; 3],
    ) -> Found<V> {
        let zero = V::splat(simd, 0.0);
        let mut lows = [zero; 3];
        let mut highs = [zero; 3];
        let mut local = *vertices;
        let mut nearest = V::splat(simd, 1.0);
        let mut steps = zero;
        let mut most = zero;
        let mut within = V::Mask::splat(simd, true);
        let mut outside = V::Mask::splat(simd, false);
        // These are loops because only inlined code is compiled for the level, and closures may not be
        // inlined.
        for axis in 0..3 {
            let FloatAxis { origin, scale } = &self.axes[axis];
            let mut u = vertices[axis];
            for u in &mut u {
                *u = ((*u - origin[0]) - origin[1]) * *scale;
                let twice = *u + *u;
                nearest = nearest.min((twice - twice.round_ties_even()).abs());
            }
            let low = u[0].min(u[1]).min(u[2]).floor();
            let high = u[0].max(u[1]).max(u[2]).floor();
            let first = V::splat(simd, ranges[axis].start as f32);
            let last = V::splat(simd, (ranges[axis].end - 1) as f32);
            within &= low.simd_ge(first) & high.simd_le(last);
            outside |= low.simd_gt(last) | high.simd_lt(first);
            steps += high - low;
            most = most.max(high - low);
            (lows[axis], highs[axis]) = (low, high);
            // These differences are exact within the lattice, because both numbers are multiples of the last
            // place of the smaller one.
            local[axis] = [u[0] - low, u[1] - low, u[2] - low];
        }
        let sure = nearest.simd_gt(V::splat(simd, self.margin));
        let small = within & sure & steps.simd_le(V::splat(simd, 1.5));
        let one = (small & steps.simd_lt(V::splat(simd, 0.5))).to_bitmask();
        let four = within & sure & steps.simd_eq(V::splat(simd, 2.0)) & most.simd_lt(zero + 1.5);
        let decided = (outside & sure).to_bitmask();
        let bounded = (within & sure).to_bitmask();
        let small = small.to_bitmask();
        let mut found = Found {
            lows,
            highs,
            first: lows,
            second: lows,
            small,
            one,
            touched: [0; 4],
            decided,
            bounded,
        };
        if four.any_true() {
            let (touched, sure) = corners(simd, &local, &lows, &highs, self.bound);
            let four = four.to_bitmask() & sure;
            found.touched = touched.map(|lanes| lanes & four);
            found.decided |= four;
            // `first` is one step along the first of the two axes, and `second` is one step along the second.
            let x_flat = lows[0].simd_eq(highs[0]);
            let z_flat = lows[2].simd_eq(highs[2]);
            found.first = [highs[0], x_flat.select(highs[1], lows[1]), lows[2]];
            found.second = [
                lows[0],
                x_flat.select(lows[1], z_flat.select(highs[1], lows[1])),
                highs[2],
            ];
        }
        found
    }
}

/// Triangles that this kernel did not decide.
pub struct Left<S: Simd> {
    pub lanes: u64,
    /// Triangles within the covered layers whose lowest and highest cells surely are `lows` and `highs`. None
    /// of their coordinates is near a wall or centre plane.
    pub bounded: u64,
    pub lows: [f32x16<S>; 3],
    pub highs: [f32x16<S>; 3],
}

/// Result of examining one triangle per lane, with the cells that the triangles may touch.
struct Found<V> {
    lows: [V; 3],
    highs: [V; 3],
    /// For triangles at an edge of the lattice: the cell one step from the lowest cell along the first axis
    /// perpendicular to that edge (`first`), and the cell one step along the second such axis (`second`).
    first: [V; 3],
    second: [V; 3],
    /// Triangles that surely touch exactly the lowest and the highest cell, which may be the same cell.
    small: u64,
    /// Triangles that touch exactly one cell.
    one: u64,
    /// For each of the four cells around an edge of the lattice, the triangles that surely touch it. The cell
    /// at `[i, j]` along the two axes perpendicular to the edge has number `i + 2 j`.
    touched: [u64; 4],
    /// Other triangles that are completely decided.
    decided: u64,
    /// Triangles whose lowest and highest cells are sure and within the covered layers.
    bounded: u64,
}

impl<S: Simd> Found<f32x8<S>> {
    /// Returns the lanes of this result followed by the lanes of `high`.
    #[inline(always)]
    fn join(&self, high: &Self) -> Found<f32x16<S>> {
        let cells = join::<S>;
        let lanes = |low: u64, high: u64| low | high << 8;
        Found {
            lows: cells(&self.lows, &high.lows),
            highs: cells(&self.highs, &high.highs),
            first: cells(&self.first, &high.first),
            second: cells(&self.second, &high.second),
            small: lanes(self.small, high.small),
            one: lanes(self.one, high.one),
            touched: std::array::from_fn(|n| lanes(self.touched[n], high.touched[n])),
            decided: lanes(self.decided, high.decided),
            bounded: lanes(self.bounded, high.bounded),
        }
    }
}

#[inline(always)]
fn join<S: Simd>(low: &[f32x8<S>; 3], high: &[f32x8<S>; 3]) -> [f32x16<S>; 3] {
    [
        low[0].combine(high[0]),
        low[1].combine(high[1]),
        low[2].combine(high[2]),
    ]
}

/// Returns, for each of the four cells around an edge of the lattice, the triangles that touch it. Also
/// returns the triangles for which this is sure. The edge functions of the projection along that edge decide,
/// as in `lanes.rs`.
#[inline(always)]
fn corners<S: Simd, V: SimdFloat<S, Element = f32>>(
    simd: S,
    local: &[[V; 3]; 3],
    lows: &[V; 3],
    highs: &[V; 3],
    bound: f32,
) -> ([u64; 4], u64) {
    let zero = V::splat(simd, 0.0);
    let x_flat = lows[0].simd_eq(highs[0]);
    let z_flat = lows[2].simd_eq(highs[2]);
    let mut s = [zero; 3];
    let mut t = [zero; 3];
    for v in 0..3 {
        s[v] = x_flat.select(local[1][v], local[0][v]);
        t[v] = z_flat.select(local[1][v], local[2][v]);
    }
    let ds = [s[1] - s[0], s[2] - s[1], s[0] - s[2]];
    let dt = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let normal = ds[0] * dt[1] - dt[0] * ds[1];
    let bound = V::splat(simd, bound);
    let turn = V::splat(simd, 1.0).copysign(normal);
    let mut least = [V::splat(simd, 1e30); 4];
    for e in 0..3 {
        let a = -(dt[e] * turn);
        let b = ds[e] * turn;
        let start = (a.max(zero) + b.max(zero)) - (a * s[e] + b * t[e]);
        let values = [start, start + a, start + b, start + a + b];
        for n in 0..4 {
            least[n] = least[n].min(values[n]);
        }
    }
    let mut touched = [0; 4];
    let mut sure = normal.abs().simd_gt(bound);
    for n in 0..4 {
        touched[n] = least[n].simd_gt(zero).to_bitmask();
        sure &= least[n].abs().simd_gt(bound);
    }
    (touched, sure.to_bitmask())
}

/// Marks one cell for each triangle in `lanes`.
#[inline(always)]
pub fn mark<S: Simd>(simd: S, cells: &[f32x16<S>; 3], lanes: u64, bricks: &mut Bricks) {
    let [x, y]: [u32x16<S>; 2] = [cells[0].to_int(), cells[1].to_int()];
    let z = bricks.layers_from_first(cells[2].to_int());
    let numbers = bricks.first_of_layers(z) + bricks.columns(x, y);
    let words = marks::words([x, y, z]) | 1;
    // Consecutive triangles of a file often touch the same cell, which is then marked once.
    let same = numbers.simd_eq(before(simd, numbers)) & words.simd_eq(before(simd, words));
    let lanes = lanes & !(same.to_bitmask() & lanes << 1);
    bricks.mark(simd, numbers, words, mask32x16::from_bitmask(simd, lanes));
}

/// Moves each lane to the next lane. The first lane gets a value that does not occur otherwise.
#[inline(always)]
fn before<S: Simd>(simd: S, lanes: u32x16<S>) -> u32x16<S> {
    u32x16::splat(simd, !0).slide::<{ LANES - 1 }>(lanes)
}
