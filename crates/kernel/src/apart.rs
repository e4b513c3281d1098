//! Pairs of triangles that surely have nothing in common except the vertices they share. This is proved in
//! doubles, for sixteen pairs at a time.
//!
//! A proof is a plane that separates the triangles, apart from their shared vertex. If the triangles share a
//! vertex, the plane passes through it. Triangles with a common edge only need a proof that they are not
//! folded onto each other. Only one plane is tried. It is perpendicular to the line between the middles of
//! the triangles, and separates most neighbours in a mesh. The remaining pairs need exact arithmetic.
//!
//! Error bound: differences of floats have an error factor within 1 ± u, products within (1 ± u)^2, sums of
//! three products within (1 ± u)^4, which is less than 4.01 u times the sum of the absolute values. 8 u
//! leaves room for the rounding of the test itself. The rounding of a direction does not matter. Nothing
//! overflows or underflows: a direction is a sum of differences of floats.

use fearless_simd::{Simd, f64x8, mask64x8, prelude::*};

use crate::geom::Triangle;

use super::gather::gather;
use super::lattice::U;
use super::levels::{LANES, Level, on_level};

/// Maximum number of pairs per call.
pub const PAIRS: usize = LANES;

/// Vertices that two triangles share. In both triangles they come first and are in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Common {
    /// No vertex.
    Nothing,
    /// One vertex.
    Vertex,
    /// Two vertices.
    Edge,
}

/// Returns a bit mask of the pairs that surely have nothing in common except the shared vertices. Pairs
/// without a bit are undecided. There may be at most [`PAIRS`] pairs. The coordinates must be finite, and the
/// machine must support the level.
pub fn surely_part(level: Level, common: Common, [s, t]: [&[Triangle]; 2]) -> u64 {
    assert!(
        s.len() == t.len() && (1..=PAIRS).contains(&s.len()),
        "up to sixteen pairs"
    );
    let proven = on_level!(level, simd => part_lanes(simd, common, s, t));
    proven & (!0 >> (64 - s.len()))
}

/// Coordinates of eight triangles, indexed by axis, then by vertex.
type PairCorners<S> = [[f64x8<S>; 3]; 3];

#[inline(always)]
fn part_lanes<S: Simd>(simd: S, common: Common, s: &[Triangle], t: &[Triangle]) -> u64 {
    let [s, t] = [gather(simd, s), gather(simd, t)];
    let mut low = [[[f64x8::splat(simd, 0.0); 3]; 3]; 2];
    let mut high = low;
    // These are loops because only inlined code is compiled for the level, and closures may not be inlined.
    for a in 0..3 {
        for v in 0..3 {
            (low[0][a][v], high[0][a][v]) = s[a][v].widen();
            (low[1][a][v], high[1][a][v]) = t[a][v].widen();
        }
    }
    part_half(simd, common, &mut low) | part_half(simd, common, &mut high) << (LANES / 2)
}

#[inline(always)]
fn part_half<S: Simd>(simd: S, common: Common, [s, t]: &mut [PairCorners<S>; 2]) -> u64 {
    for a in 0..3 {
        let origin = s[a][0];
        for v in 0..3 {
            s[a][v] -= origin;
            t[a][v] -= origin;
        }
    }
    if common == Common::Edge {
        return is_no_fold(simd, s, t).to_bitmask();
    }
    // If a vertex is shared, it is the origin.
    let first = usize::from(common == Common::Vertex);
    let mut direction = [f64x8::splat(simd, 0.0); 3];
    for a in 0..3 {
        direction[a] = (t[a][0] + t[a][1] + t[a][2]) - (s[a][0] + s[a][1] + s[a][2]);
    }
    let [_, most_of_s] = reach(simd, &direction, s, first);
    let [least_of_t, _] = reach(simd, &direction, t, first);
    // The direction points from the first triangle to the second, so only this order is tested.
    let parts = match common {
        Common::Nothing => most_of_s.simd_lt(least_of_t),
        _ => most_of_s.simd_lt(0.0) & least_of_t.simd_gt(0.0),
    };
    parts.to_bitmask()
}

/// Returns bounds of the dot products of a direction with the corners from number `first` on.
#[inline(always)]
fn reach<S: Simd>(
    simd: S,
    direction: &[f64x8<S>; 3],
    points: &PairCorners<S>,
    first: usize,
) -> [f64x8<S>; 2] {
    let mut least = f64x8::splat(simd, f64::INFINITY);
    let mut most = f64x8::splat(simd, f64::NEG_INFINITY);
    for v in first..3 {
        let products = [
            direction[0] * points[0][v],
            direction[1] * points[1][v],
            direction[2] * points[2][v],
        ];
        let product = products[0] + products[1] + products[2];
        let error = (products[0].abs() + products[1].abs() + products[2].abs()) * (8.0 * U);
        least = least.min(product - error);
        most = most.max(product + error);
    }
    [least, most]
}

/// Returns the lanes whose two triangles surely are not folded onto each other. The triangles have a common
/// edge. They are not folded if the cross products of this edge with both triangles have a negative dot
/// product. Let `A` and `B` be the sums of the absolute products in the components of the cross products. The
/// components have errors below 4.01 u `A` and 4.01 u `B`, and their dot product has an error below 11.1 u
/// times the sum of `A B`.
#[inline(always)]
fn is_no_fold<S: Simd>(simd: S, s: &PairCorners<S>, t: &PairCorners<S>) -> mask64x8<S> {
    let mut dot = f64x8::splat(simd, 0.0);
    let mut sizes = dot;
    for [i, j] in [[1, 2], [2, 0], [0, 1]] {
        let edge = [s[i][1], s[j][1]];
        let of_s = [edge[0] * s[j][2], edge[1] * s[i][2]];
        let of_t = [edge[0] * t[j][2], edge[1] * t[i][2]];
        dot += (of_s[0] - of_s[1]) * (of_t[0] - of_t[1]);
        sizes += (of_s[0].abs() + of_s[1].abs()) * (of_t[0].abs() + of_t[1].abs());
    }
    (-dot).simd_gt(sizes * (16.0 * U))
}
