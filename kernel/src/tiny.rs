//! Triangles within one cell, two, or four around an edge of the lattice: they need no test, or a test
//! in one projection.
//!
//! Sixteen at a time are taken to index space in floats. Where no coordinate is within its error
//! bound (docs/error-bounds.md) of a wall or a centre plane, the cells of the bounds are certain. If
//! these are one cell, or two side by side, the triangle touches them, as it reaches both ends of its
//! bounds. If they are four around an edge of the lattice, the projection along that edge decides.
//! The others are left to the kernels that look closer.

use fearless_simd::{Simd, f32x16, mask32x16, prelude::*, u32x16};

use super::bricks::Bricks;
use super::gather::Vertices;
use super::lanes::U32;
use super::lattice::{KernelAxis, KernelLattice};
use super::levels::LANES;
use super::marks;

/// The lattice in floats, for the meshes of a frame.
pub struct Tiny {
    axes: [FloatAxis; 3],
    /// Twice what coordinates may be off by and reach to snap.
    margin: f32,
    /// What edge functions of four cells may be off by.
    bound: f32,
    /// How many batches to leave alone, as the last one held too few.
    rest: u32,
}

/// An axis in floats.
pub struct FloatAxis {
    /// The origin as a sum of two floats.
    pub origin: [f32; 2],
    /// LaneCells per unit of world space.
    pub scale: f32,
}

/// The axes of a frame in floats, and twice what their coordinates may be off by and reach to snap; `None`
/// where floats are of no use.
pub fn in_floats(frame: &KernelLattice) -> Option<([FloatAxis; 3], f32)> {
    let [x, y, z] = &frame.axes;
    let axes = [FloatAxis::new(x)?, FloatAxis::new(y)?, FloatAxis::new(z)?];
    let margin = axes.iter().fold(0.0_f64, |most, axis| most.max(axis.1));
    let margin = (2.000_001 * margin) as f32;
    (margin < 0.01).then_some((axes.map(|axis| axis.0), margin))
}

impl FloatAxis {
    /// The axis with what its coordinates may be off by; `None` where floats are of no use.
    fn new(axis: &KernelAxis) -> Option<(Self, f64)> {
        let high = axis.origin[0] as f32;
        let low = ((axis.origin[0] - f64::from(high)) + axis.origin[1]) as f32;
        let scale = axis.scale as f32;
        // No coordinate is larger than this, and no difference overflows.
        let largest = axis.origin[0].abs() + axis.farthest / axis.scale;
        if !(scale.is_normal() && largest < f64::from(f32::MAX) / 4.0) {
            return None;
        }
        let absolute = f64::from(high.abs()) * axis.scale * 2f64.powi(-46) + f64::from(f32::MIN_POSITIVE);
        let error = 6.0 * f64::from(U32) * (axis.farthest + 1.0) + absolute;
        Some((Self { origin: [high, low], scale }, error + axis.reach_of_snap))
    }
}

impl Tiny {
    /// The lattice of `frame`; `None` where floats are of no use.
    pub fn new(frame: &KernelLattice) -> Option<Self> {
        let (axes, margin) = in_floats(frame)?;
        // Coordinates are off by less than half the margin.
        let bound = 10.5 * margin + 336.0 * U32;
        Some(Self { axes, margin, bound, rest: 0 })
    }

    /// Occupies the cells of those it is sure of, and answers which others of `valid` are left.
    #[inline(always)]
    pub fn take<S: Simd>(&mut self, simd: S, vertices: &Vertices<S>, valid: u64, bricks: &mut Bricks) -> u64 {
        if self.rest > 0 {
            self.rest -= 1;
            return valid;
        }
        let left = valid & self.take_lanes(simd, vertices, valid, bricks);
        // Meshes are of one kind for long: look again later.
        self.rest = if left.count_ones() > 13 { 15 } else { 0 };
        left
    }

    #[inline(always)]
    fn take_lanes<S: Simd>(&self, simd: S, vertices: &Vertices<S>, valid: u64, bricks: &mut Bricks) -> u64 {
        let zero = f32x16::splat(simd, 0.0);
        let (mut lows, mut highs) = ([zero; 3], [zero; 3]);
        let mut local = *vertices;
        let mut nearest = f32x16::splat(simd, 1.0);
        let mut steps = zero;
        let mut most = zero;
        let mut within = mask32x16::splat(simd, true);
        let mut outside = mask32x16::splat(simd, false);
        let ranges = bricks.ranges();
        // Loops, not closures: only what is inlined here is compiled for the level.
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
            let first = f32x16::splat(simd, ranges[axis].start as f32);
            let last = f32x16::splat(simd, (ranges[axis].end - 1) as f32);
            within &= low.simd_ge(first) & high.simd_le(last);
            outside |= low.simd_gt(last) | high.simd_lt(first);
            steps += high - low;
            most = most.max(high - low);
            (lows[axis], highs[axis]) = (low, high);
            // Exact within the lattice: both are multiples of the last place of the smaller.
            local[axis] = [u[0] - low, u[1] - low, u[2] - low];
        }
        let sure = nearest.simd_gt(f32x16::splat(simd, self.margin));
        let small = within & sure & steps.simd_le(f32x16::splat(simd, 1.5));
        let one = (small & steps.simd_lt(f32x16::splat(simd, 0.5))).to_bitmask();
        let small = small.to_bitmask();
        let four = within & sure & steps.simd_eq(f32x16::splat(simd, 2.0)) & most.simd_lt(zero + 1.5);
        let mut cells = FourCells { touched: [0; 4], sure: 0 };
        if four.any_true() {
            cells = corners(simd, &local, &lows, &highs, self.bound);
            let four = four.to_bitmask() & cells.sure;
            cells = FourCells { touched: cells.touched.map(|lanes| lanes & four), sure: four };
            // One step along the first of the two axes, and along the second.
            let (x_flat, z_flat) = (lows[0].simd_eq(highs[0]), lows[2].simd_eq(highs[2]));
            let first = [highs[0], x_flat.select(highs[1], lows[1]), lows[2]];
            let second = [lows[0], x_flat.select(lows[1], z_flat.select(highs[1], lows[1])), highs[2]];
            mark(simd, &first, cells.touched[1] & valid, bricks);
            mark(simd, &second, cells.touched[2] & valid, bricks);
        }
        mark(simd, &lows, (small | cells.touched[0]) & valid, bricks);
        mark(simd, &highs, (small & !one | cells.touched[3]) & valid, bricks);
        !(small | cells.sure | (outside & sure).to_bitmask())
    }
}

/// Four cells around an edge of the lattice, `[i, j]` being number `i + 2 j` along the two axes across.
struct FourCells {
    /// The triangles that touch each.
    touched: [u64; 4],
    /// The triangles for which that is sure.
    sure: u64,
}

/// Which of the four cells around an edge of the lattice triangles touch: the functions of the edges
/// of the projection along it, as in `kernel/lanes.rs`.
#[inline(always)]
fn corners<S: Simd>(
    simd: S,
    local: &Vertices<S>,
    lows: &[f32x16<S>; 3],
    highs: &[f32x16<S>; 3],
    bound: f32,
) -> FourCells {
    let zero = f32x16::splat(simd, 0.0);
    let (x_flat, z_flat) = (lows[0].simd_eq(highs[0]), lows[2].simd_eq(highs[2]));
    let (mut s, mut t) = ([zero; 3], [zero; 3]);
    for v in 0..3 {
        s[v] = x_flat.select(local[1][v], local[0][v]);
        t[v] = z_flat.select(local[1][v], local[2][v]);
    }
    let (ds, dt) = ([s[1] - s[0], s[2] - s[1], s[0] - s[2]], [t[1] - t[0], t[2] - t[1], t[0] - t[2]]);
    let normal = ds[0] * dt[1] - dt[0] * ds[1];
    let bound = f32x16::splat(simd, bound);
    let turn = f32x16::splat(simd, 1.0).copysign(normal);
    let mut least = [f32x16::splat(simd, 1e30); 4];
    for e in 0..3 {
        let (a, b) = (-(dt[e] * turn), ds[e] * turn);
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
    FourCells { touched, sure: sure.to_bitmask() }
}

/// Marks one cell of each of some triangles.
#[inline(always)]
pub fn mark<S: Simd>(simd: S, cells: &[f32x16<S>; 3], lanes: u64, bricks: &mut Bricks) {
    let [x, y]: [u32x16<S>; 2] = [cells[0].to_int(), cells[1].to_int()];
    let z = bricks.layers_from_first(cells[2].to_int());
    let numbers = bricks.first_of_layers(z) + bricks.columns(x, y);
    let words = marks::words([x, y, z]) | 1;
    // Neighbours in the file often have their cell in common.
    let same = numbers.simd_eq(before(simd, numbers)) & words.simd_eq(before(simd, words));
    let lanes = lanes & !(same.to_bitmask() & lanes << 1);
    bricks.mark(simd, numbers, words, mask32x16::from_bitmask(simd, lanes));
}

/// Each lane has what was in the one before it; the first has what cannot be there.
#[inline(always)]
fn before<S: Simd>(simd: S, lanes: u32x16<S>) -> u32x16<S> {
    u32x16::splat(simd, !0).slide::<{ LANES - 1 }>(lanes)
}
