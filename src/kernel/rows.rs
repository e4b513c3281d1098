//! Sixteen rows of cells at a time.

use std::ops::RangeInclusive;

use fearless_simd::{Simd, f32x16, mask32x16, mask64x8, prelude::*, u32x16, u64x8};

use super::bricks::{Bricks, SIDE};

/// Above any cell.
const FAR: f32 = 1e30;

/// The words along x that hold the cells `low..=high` of some lanes; at least one must be chosen.
#[inline(always)]
pub fn words_of<S: Simd>(simd: S, [low, high]: [f32x16<S>; 2], lanes: mask32x16<S>) -> RangeInclusive<i64> {
    let far = f32x16::splat(simd, FAR);
    let first = lanes.select(low, far).reduce_min() as i64 / 64;
    first..=lanes.select(high, -far).reduce_max() as i64 / 64
}

/// Occupies cells `low..=high` of the rows of `lanes` in layer `k`: lane 0 is row `j`, a multiple of
/// [`SIDE`]. The cells are within these words, and all is within the layers and the grid.
#[inline(always)]
pub fn put<S: Simd>(
    simd: S,
    bricks: &mut Bricks,
    [j, k]: [i64; 2],
    [low, high]: [f32x16<S>; 2],
    lanes: mask32x16<S>,
    words: RangeInclusive<i64>,
) {
    let (shift, last): (u32x16<S>, u32x16<S>) = (low.to_int(), high.to_int());
    let (shift, rest) = ((shift & 63).widen(), (!last & 63).widen());
    let ones = u64x8::splat(simd, !0);
    let heads = [ones << shift.0, ones << shift.1];
    let tails = [ones >> rest.0, ones >> rest.1];
    for n in words {
        let (start, end) = ((64 * n) as f32, (64 * n + 63) as f32);
        let (start, end) = (f32x16::splat(simd, start), f32x16::splat(simd, end));
        let inside = (lanes & low.simd_le(end) & high.simd_ge(start)).to_bitmask();
        let (before, after) = (low.simd_le(start).to_bitmask(), high.simd_ge(end).to_bitmask());
        for half in 0..2 {
            if inside >> (SIDE * half) & 0xff == 0 {
                continue;
            }
            let cells = lanes_of(simd, before, half).select(ones, heads[half])
                & lanes_of(simd, after, half).select(ones, tails[half]);
            let cells = lanes_of(simd, inside, half).select(cells, u64x8::splat(simd, 0));
            let column = bricks.column(n, j + (SIDE * half) as i64);
            let plane = bricks.plane(column, k);
            (u64x8::from_slice(simd, plane) | cells).store_slice(plane);
        }
    }
}

/// Half of the lanes of a mask.
#[inline(always)]
fn lanes_of<S: Simd>(simd: S, mask: u64, half: usize) -> mask64x8<S> {
    mask64x8::from_bitmask(simd, mask >> (SIDE * half) & 0xff)
}
