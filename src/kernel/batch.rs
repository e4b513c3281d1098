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
    /// The cells to fill relative to `base`, within bounds, grid and slab: lowest and highest.
    pub low: [f32x16<S>; 3],
    pub high: [f32x16<S>; 3],
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

/// Writes triangles into lanes; lanes beyond them repeat the last.
#[inline(always)]
pub fn gather<'a>(triangles: impl Iterator<Item = &'a Triangle>, soa: &mut Soa) -> usize {
    let mut count = 0;
    for (lane, triangle) in triangles.take(LANES).enumerate() {
        for (v, vertex) in triangle.iter().enumerate() {
            for (axis, coordinate) in vertex.iter().enumerate() {
                soa[axis][v][lane] = *coordinate;
            }
        }
        count = lane + 1;
    }
    count
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
    let u = v.map(|v| ((v - axis.origin[0]) - axis.origin[1]) * axis.scale);
    for u in u {
        let half_plane = (u + u).round_ties_even() * 0.5;
        careful |= (u - half_plane).abs().simd_le(margin);
    }
    let base = u[0].min(u[1]).min(u[2]).floor();
    let span = u[0].max(u[1]).max(u[2]).floor() - base;
    // Cells beyond this count are not whole in floats, nor in any lattice.
    let far = base.abs().simd_ge(f64x8::splat(simd, (1u32 << 24) as f64));
    Half { local: u.map(|u| u - base), base, span, careful: careful | far }
}

impl<S: Simd> Batch<S> {
    /// Takes the first `count` lanes to index space and sorts them.
    #[inline(always)]
    pub fn new(simd: S, frame: &Frame, soa: &Soa, count: usize, slab: &Slab) -> Self {
        let zero = f32x16::splat(simd, 0.0);
        let mut this = Self {
            local: [[zero; 3]; 3],
            base: [zero; 3],
            low: [zero; 3],
            high: [zero; 3],
            kinds: Kinds::default(),
        };
        let valid = (1u64 << count) - 1;
        let mut careful = 0;
        let mut outside = fearless_simd::mask32x16::splat(simd, false);
        let mut most = zero;
        for axis in 0..3 {
            let wide = soa[axis].each_ref().map(|lanes| f32x16::from_slice(simd, lanes).widen());
            let low = index_axis(simd, &frame.axes[axis], wide.map(|w| w.0));
            let high = index_axis(simd, &frame.axes[axis], wide.map(|w| w.1));
            careful |= low.careful.to_bitmask() | high.careful.to_bitmask() << 8;
            for v in 0..3 {
                this.local[axis][v] = low.local[v].narrow(high.local[v]);
            }
            let base: f32x16<S> = low.base.narrow(high.base);
            let span: f32x16<S> = low.span.narrow(high.span);
            let range = if axis == 2 { slab.layers.clone() } else { 0..frame.axes[axis].cells };
            this.base[axis] = base;
            this.low[axis] = (f32x16::splat(simd, range.start as f32) - base).max(zero);
            this.high[axis] = (f32x16::splat(simd, (range.end - 1) as f32) - base).min(span);
            outside |= this.low[axis].simd_gt(this.high[axis]);
            most = most.max(span);
        }
        let within = |n: f32| most.simd_le(f32x16::splat(simd, n)).to_bitmask();
        // Whether a careful triangle is outside is a careful question.
        let sure = valid & !careful & !outside.to_bitmask();
        let (single, two, four) = (within(0.0), within(1.0), within(3.0));
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
