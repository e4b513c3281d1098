//! Sixteen triangles at a time, sorted by how many cells their bounds span.
//!
//! A vertex nearer to a wall or centre plane than doubles can tell, or than it may snap, makes its
//! triangle *careful*: it is set up in scalar code that decides such questions exactly. All others
//! are in general position, so ties play no part for them.

use fearless_simd::{Simd, SimdBase, SimdFloat, SimdMask, f32x16, f64x8, mask64x8, prelude::*};

use crate::geom::Triangle;

use super::frame::{Frame, FrameAxis};
use super::slab::Slab;

/// Triangles in a batch: the lanes of a vector of floats.
pub const LANES: usize = 16;

/// Coordinates of up to sixteen triangles, `[axis][vertex][lane]`.
pub type Soa = [[[f32; LANES]; 3]; 3];

/// A batch in index space.
pub struct Batch<S: Simd> {
    /// Coordinates relative to `base`, `[axis][vertex]`, rounded to floats.
    pub local: [[f32x16<S>; 3]; 3],
    /// The lowest cell of each triangle's bounds per axis.
    pub base: [f32x16<S>; 3],
    /// The highest cell of each triangle's bounds, relative to `base`.
    pub span: [f32x16<S>; 3],
    /// Which triangles are what; a triangle outside the slab is nothing.
    pub kinds: Kinds,
}

/// Bit masks over the lanes of a batch, disjoint.
#[derive(Debug, Default, Clone, Copy)]
pub struct Kinds {
    /// To be set up in scalar code.
    pub careful: u64,
    /// Bounds within one cell.
    pub single: u64,
    /// Bounds of at most two cells an axis.
    pub two: u64,
    /// Bounds of at most four cells an axis.
    pub four: u64,
    /// Larger bounds.
    pub large: u64,
}

/// Writes the triangles `ids` of a mesh into lanes.
#[inline(always)]
pub fn gather(triangles: &[Triangle], ids: &[u32; LANES], soa: &mut Soa) {
    for lane in 0..LANES {
        let [a, b, c] = &triangles[ids[lane] as usize];
        for axis in 0..3 {
            soa[axis][0][lane] = a[axis];
            soa[axis][1][lane] = b[axis];
            soa[axis][2][lane] = c[axis];
        }
    }
}

/// What [`index_axis`] finds for eight lanes of one axis.
struct Half<S: Simd> {
    local: [f64x8<S>; 3],
    base: f64x8<S>,
    span: f64x8<S>,
    careful: mask64x8<S>,
}

/// Takes eight lanes of an axis to index space.
#[inline(always)]
fn index_axis<S: Simd>(simd: S, axis: &FrameAxis, v: [f64x8<S>; 3]) -> Half<S> {
    let margin = f64x8::splat(simd, axis.margin);
    let mut careful = mask64x8::splat(simd, false);
    // Loops, not closures: only what is inlined here is compiled for the level.
    let mut u = v;
    for u in &mut u {
        *u = ((*u - axis.origin[0]) - axis.origin[1]) * axis.scale;
        let u = *u;
        let half_plane = (u + u).round_ties_even() * 0.5;
        careful |= (u - half_plane).abs().simd_le(margin);
    }
    let base = u[0].min(u[1]).min(u[2]).floor();
    let span = u[0].max(u[1]).max(u[2]).floor() - base;
    // Cells beyond this count are not whole in floats, nor in any lattice.
    let far = base.abs().simd_ge(f64x8::splat(simd, (1u32 << 24) as f64));
    Half { local: [u[0] - base, u[1] - base, u[2] - base], base, span, careful: careful | far }
}

impl<S: Simd> Batch<S> {
    /// Takes the first `count` lanes to index space and sorts them.
    #[inline(always)]
    pub fn new(simd: S, frame: &Frame, soa: &Soa, count: usize, slab: &Slab) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let mut this =
            Self { local: [[zero; 3]; 3], base: [zero; 3], span: [zero; 3], kinds: Kinds::default() };
        let valid = (1u64 << count) - 1;
        let mut careful = 0;
        let mut outside = fearless_simd::mask32x16::splat(simd, false);
        let mut most = zero;
        for axis in 0..3 {
            let [a, b, c] = &soa[axis];
            let (a, b, c) = (
                f32x16::from_slice(simd, a).widen(),
                f32x16::from_slice(simd, b).widen(),
                f32x16::from_slice(simd, c).widen(),
            );
            let low = index_axis(simd, &frame.axes[axis], [a.0, b.0, c.0]);
            let high = index_axis(simd, &frame.axes[axis], [a.1, b.1, c.1]);
            careful |= low.careful.to_bitmask() | high.careful.to_bitmask() << 8;
            for v in 0..3 {
                this.local[axis][v] = low.local[v].narrow(high.local[v]);
            }
            let base: f32x16<S> = low.base.narrow(high.base);
            let span: f32x16<S> = low.span.narrow(high.span);
            let range = if axis == 2 { slab.layers.clone() } else { 0..frame.axes[axis].cells };
            (this.base[axis], this.span[axis]) = (base, span);
            outside |= base.simd_gt(f32x16::splat(simd, (range.end - 1) as f32))
                | (base + span).simd_lt(f32x16::splat(simd, range.start as f32));
            most = most.max(span);
        }
        // Whether a careful triangle is outside is a careful question.
        let sure = valid & !careful & !outside.to_bitmask();
        let single = most.simd_le(zero).to_bitmask();
        let two = most.simd_le(f32x16::splat(simd, 1.0)).to_bitmask();
        let four = most.simd_le(f32x16::splat(simd, 3.0)).to_bitmask();
        this.kinds = Kinds {
            careful: valid & careful,
            single: sure & single,
            two: sure & two & !single,
            four: sure & four & !two,
            large: sure & !four,
        };
        this
    }
}
