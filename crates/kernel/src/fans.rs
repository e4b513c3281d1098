//! Fan of triangles seen from a ball: its winding number at the centre, the derivatives of the winding
//! number, and bounds of the remainder. The lanes of a vector hold different triangles. Mathematics:
//! `docs/internals/winding.md`, sections 6 and 7.

use std::f64::consts::FRAC_PI_2;

use fearless_simd::{Simd, f64x8, prelude::*};

use super::angles::{FACTORS, Turning, TurningLanes};
use super::lattice::U;
use super::levels::{Aligned, Level, on_level};

/// Number of triangles in a vector.
const LANES: usize = 8;

/// Coordinates of the triangles of a fan. Each triangle goes from its first corner over the second to the
/// apex. Its first two corners are an edge of the loop that the fan closes.
#[derive(Debug, Clone)]
pub struct FanLanes {
    /// Nine coordinates of eight triangles each. The last group is filled up with copies of the last
    /// triangle.
    groups: Vec<Aligned<[[f64; LANES]; 9]>>,
    /// 1 for a triangle, 0 for a copy.
    weights: Vec<Aligned<[f64; LANES]>>,
}

/// Properties of a fan that is seen from the centre of a ball.
#[derive(Debug, Clone, Copy)]
pub struct FanSeen {
    /// Winding of the fan around the centre.
    pub turning: Turning,
    /// Error bound of the winding. It does not include the rounding errors of products and of the arctangent.
    pub error: f64,
    /// Error bound of the sum of the triangles' angles if these are computed individually, at any point of
    /// the ball. It does not include the rounding errors of arctangents.
    pub direct: f64,
    /// Bound of the integral of 1/dist⁴ over the edges of the loop. Each edge is divided by the factor by
    /// which its distance may shrink within the ball.
    pub by_edges: f64,
    /// First derivatives of the winding number, times 4π.
    pub gradient: [f64; 3],
    /// Second derivatives of the winding number, times 4π. Each mixed derivative occurs twice, and the two
    /// values must be averaged.
    pub second: [[f64; 3]; 3],
    /// Distance from the centre to the nearest edge of the loop.
    pub nearest: f64,
    /// Distance from the centre to the farthest corner.
    pub farthest: f64,
}

impl FanLanes {
    /// Creates the fan of these triangles.
    pub fn new(triangles: &[[[f64; 3]; 3]]) -> Self {
        let mut groups = vec![];
        let mut weights = vec![];
        for chunk in triangles.chunks(LANES) {
            let mut group = [[0.0; LANES]; 9];
            let mut weight = [0.0; LANES];
            for lane in 0..LANES {
                let corners = chunk[lane.min(chunk.len() - 1)].as_flattened();
                for row in 0..9 {
                    group[row][lane] = corners[row];
                }
                if lane < chunk.len() {
                    weight[lane] = 1.0;
                }
            }
            groups.push(Aligned(group));
            weights.push(Aligned(weight));
        }
        Self { groups, weights }
    }

    /// Returns the properties of the fan, seen from a ball with this centre and with radius `reach`. Each
    /// coordinate of a corner may have an error of `slack`. `None` if the loop is too close to the ball for a
    /// polynomial, or if the ball meets the fan. Triangles from number `first` on are processed first.
    pub fn seen(
        &self,
        level: Level,
        first: usize,
        centre: [f64; 3],
        reach: f64,
        slack: f64,
    ) -> Option<FanSeen> {
        on_level!(level, simd => seen(simd, self, first / LANES, centre, reach, slack))
    }
}

#[inline(always)]
fn dot<S: Simd>(a: [f64x8<S>; 3], b: [f64x8<S>; 3]) -> f64x8<S> {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline(always)]
fn cross<S: Simd>(a: [f64x8<S>; 3], b: [f64x8<S>; 3]) -> [f64x8<S>; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

#[inline(always)]
fn minus<S: Simd>(a: [f64x8<S>; 3], b: [f64x8<S>; 3]) -> [f64x8<S>; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Returns the distance of an edge from the origin, reduced slightly to allow for rounding. `length` is the
/// length of the edge. NaN if it is zero.
#[inline(always)]
fn distance<S: Simd>(
    simd: S,
    from: [f64x8<S>; 3],
    of_from: f64x8<S>,
    side: [f64x8<S>; 3],
    length: f64x8<S>,
) -> f64x8<S> {
    let splat = |x: f64| f64x8::splat(simd, x);
    let zero = splat(0.0);
    let along = (zero - dot(from, side)) / (length * length);
    // These comparisons are written so that NaN stays NaN.
    let along = along.simd_lt(zero).select(zero, along);
    let along = along.simd_gt(splat(1.0)).select(splat(1.0), along);
    let nearest = [
        from[0] + along * side[0],
        from[1] + along * side[1],
        from[2] + along * side[2],
    ];
    let far = dot(nearest, nearest).sqrt() - splat(8.0 * U) * (of_from + length);
    far * splat(1.0 - 2f64.powi(-40))
}

/// Returns the lesser of two numbers, or the first one if the second is NaN.
#[inline(always)]
fn lesser<S: Simd>(a: f64x8<S>, b: f64x8<S>) -> f64x8<S> {
    b.simd_lt(a).select(b, a)
}

#[inline(always)]
fn seen<S: Simd>(
    simd: S,
    fan: &FanLanes,
    first: usize,
    centre: [f64; 3],
    reach: f64,
    slack: f64,
) -> Option<FanSeen> {
    let splat = |x: f64| f64x8::splat(simd, x);
    let zero = splat(0.0);
    let one = splat(1.0);
    let infinite = splat(f64::INFINITY);
    let middle = centre.map(splat);
    let mut turning = TurningLanes::none(simd);
    let [mut error, mut direct, mut by_edges] = [zero; 3];
    let mut gradient = [zero; 3];
    let mut second = [[zero; 3]; 3];
    let [mut nearest, mut farthest] = [infinite, zero];
    let all = fan.groups.iter().zip(&fan.weights);
    for (n, (group, weight)) in all.clone().skip(first).chain(all.take(first)).enumerate() {
        let row = |n: usize| f64x8::from_slice(simd, &group[n]);
        let a = minus([row(0), row(1), row(2)], middle);
        let b = minus([row(3), row(4), row(5)], middle);
        let c = minus([row(6), row(7), row(8)], middle);
        let weight = f64x8::from_slice(simd, &**weight);
        let [of_a, of_b, of_c] = [dot(a, a).sqrt(), dot(b, b).sqrt(), dot(c, c).sqrt()];
        let sides = [minus(b, a), minus(c, b), minus(a, c)];
        let lengths = [
            dot(sides[0], sides[0]).sqrt(),
            dot(sides[1], sides[1]).sqrt(),
            dot(sides[2], sides[2]).sqrt(),
        ];
        let to_edge = distance(simd, a, of_a, sides[0], lengths[0]);
        let to_spokes = lesser(
            lesser(infinite, distance(simd, b, of_b, sides[1], lengths[1])),
            distance(simd, c, of_c, sides[2], lengths[2]),
        );
        let to_rim = lesser(to_spokes, to_edge);
        let to_rim = to_rim.simd_lt(zero).select(zero, to_rim);
        let far = of_a.max(of_b).max(of_c);
        // Distance to the triangle itself. It is the distance to the plane if the centre projects onto the
        // triangle.
        let normal = cross(sides[0], minus(c, a));
        let v = cross(a, b);
        let is_above = dot(v, normal).simd_ge(zero)
            & dot(cross(b, c), normal).simd_ge(zero)
            & dot(cross(c, a), normal).simd_ge(zero);
        let height = dot(a, normal).abs() / dot(normal, normal).sqrt();
        let to_face = is_above.select(lesser(to_rim, height), to_rim);
        // Solid angle of the triangle.
        let both = of_a * of_b;
        let size = both * of_c;
        let across = dot(c, v);
        let along = size + dot(a, b) * of_c + dot(b, c) * of_a + dot(c, a) * of_b;
        let off = splat(64.0 * U) * size;
        let radius = (across * across + along * along).sqrt();
        let is_beside = to_edge.simd_ge(splat(2.0 * reach))
            & to_face.simd_ge(splat(1.01 * reach))
            & to_face.simd_gt(zero)
            & radius.simd_gt(off + off);
        if !is_beside.all_true() {
            return None;
        }
        let scale = one / (across.abs() + along.abs());
        let is_one = weight.simd_gt(zero);
        turning.turn(
            simd,
            is_one.select(along * scale, one),
            across * scale * weight,
        );
        if n % FACTORS == FACTORS - 1 {
            turning.rescale(simd);
        }
        error += weight * (splat(0.17) * (off / radius));
        // Bounds of the remainder.
        let widest = lesser(splat(FRAC_PI_2), lengths[0] / to_edge);
        let edge = widest / (to_edge * to_edge * to_edge) / (one - splat(reach) / to_edge);
        by_edges += weight * edge;
        // A point of the ball is at least as far from the edges of the triangle as from the triangle itself.
        let rest = to_face - splat(reach);
        let wide = (far + splat(reach)) / rest;
        let off = splat(0.05) * (splat(64.0 * U) + splat(23.0 * slack) / rest) * wide * wide * wide;
        direct += weight * lesser(splat(0.25), off);
        nearest = lesser(nearest, to_edge);
        farthest = farthest.max(far);
        // Magnetic field of a current along the edge of the loop (Biot and Savart), and its derivatives.
        let round = both + dot(a, b);
        let bottom = both * round;
        let f = weight * ((of_a + of_b) / bottom);
        let per_bottom = weight / bottom;
        let [per_a, per_b] = [one / of_a, one / of_b];
        let edge = [zero - sides[0][0], zero - sides[0][1], zero - sides[0][2]];
        // This is a loop, because a closure would be compiled without the instructions of the level.
        let mut of_f = [zero; 3];
        for i in 0..3 {
            let [to_a, to_b] = [a[i] * per_a, b[i] * per_b];
            let of_both = zero - (of_b * to_a + of_a * to_b);
            let of_bottom = of_both * round + both * (of_both - (a[i] + b[i]));
            of_f[i] = per_bottom * (zero - (to_a + to_b)) - f * of_bottom / bottom;
        }
        let of_v = [
            [zero, edge[2], zero - edge[1]],
            [zero - edge[2], zero, edge[0]],
            [edge[1], zero - edge[0], zero],
        ];
        for i in 0..3 {
            gradient[i] += f * v[i];
            for j in 0..3 {
                second[i][j] += v[i] * of_f[j] + f * of_v[i][j];
            }
        }
    }
    Some(FanSeen {
        turning: turning.all(simd),
        error: sum(error),
        direct: sum(direct),
        by_edges: sum(by_edges),
        gradient: gradient.map(sum),
        second: second.map(|row| row.map(sum)),
        nearest: lanes(nearest).into_iter().fold(f64::INFINITY, f64::min),
        farthest: lanes(farthest).into_iter().fold(0.0, f64::max),
    })
}

#[inline(always)]
fn lanes<S: Simd>(of: f64x8<S>) -> [f64; LANES] {
    let mut all = [0.0; LANES];
    of.store_slice(&mut all);
    all
}

#[inline(always)]
fn sum<S: Simd>(of: f64x8<S>) -> f64 {
    lanes(of).iter().sum()
}
