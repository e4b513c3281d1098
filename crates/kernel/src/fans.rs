//! A fan of triangles seen from a ball, lanes across its triangles: how often it winds around the middle, the slopes of
//! that, and bounds of what is left out. Mathematics: `docs/winding.md`, sections 6 and 7.

use std::f64::consts::FRAC_PI_2;

use fearless_simd::{Simd, f64x8, prelude::*};

use super::angles::{FACTORS, Turning, TurningLanes};
use super::lattice::U;
use super::levels::{Aligned, Level, on_level};

/// Triangles that are looked at together.
const LANES: usize = 8;

/// The triangles of a fan, coordinate by coordinate: from each first corner, over the second, to the apex. The first two
/// make an edge of its loop.
#[derive(Debug, Clone)]
pub struct FanLanes {
    /// The nine coordinates of eight triangles. The last are filled up with the last triangle.
    groups: Vec<Aligned<[[f64; LANES]; 9]>>,
    /// One for a triangle, zero for one that fills up.
    weights: Vec<Aligned<[f64; LANES]>>,
}

/// A fan seen from the middle of a ball.
#[derive(Debug, Clone, Copy)]
pub struct FanSeen {
    /// How often it winds around the middle.
    pub turning: Turning,
    /// How far off that may be, before the roundings of products and the arctangent.
    pub error: f64,
    /// How far the angles of the triangles, one by one, may be off in the ball, before roundings of arctangents.
    pub direct: f64,
    /// The integral of 1/dist⁴ over the edges of the loop, less the shorter that they become in the ball.
    pub by_edges: f64,
    /// 4π times the first derivatives.
    pub gradient: [f64; 3],
    /// 4π times the second derivatives; those of pairs of axes twice, to be averaged.
    pub second: [[f64; 3]; 3],
    /// How far the nearest edge of the loop is.
    pub nearest: f64,
    /// How far the farthest corner is.
    pub farthest: f64,
}

impl FanLanes {
    /// Of these triangles.
    pub fn new(triangles: &[[[f64; 3]; 3]]) -> Self {
        let group = |some: &[[[f64; 3]; 3]]| {
            let of = |n: usize| some[n.min(some.len() - 1)].as_flattened();
            Aligned(std::array::from_fn(|row| {
                std::array::from_fn(|n| of(n)[row])
            }))
        };
        let weight = |some: &[[[f64; 3]; 3]]| {
            Aligned(std::array::from_fn(|n| f64::from(u8::from(n < some.len()))))
        };
        let chunks = triangles.chunks(LANES);
        Self {
            groups: chunks.clone().map(group).collect(),
            weights: chunks.map(weight).collect(),
        }
    }

    /// The fan seen from a ball, whose corners may be off by `slack` along each axis: if its loop is far enough for a
    /// polynomial, and the ball does not meet it. Triangles from `first` on are looked at first.
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

/// How far an edge of a length is, a little less for rounding; not a number if it has no length.
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
    // Comparisons keep what is not a number.
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

/// The lesser, the first if the second is not a number.
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
        // The triangle itself: its plane where the middle is above its face.
        let normal = cross(sides[0], minus(c, a));
        let v = cross(a, b);
        let is_above = dot(v, normal).simd_ge(zero)
            & dot(cross(b, c), normal).simd_ge(zero)
            & dot(cross(c, a), normal).simd_ge(zero);
        let height = dot(a, normal).abs() / dot(normal, normal).sqrt();
        let to_face = is_above.select(lesser(to_rim, height), to_rim);
        // The angle.
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
        // What is left out.
        let widest = lesser(splat(FRAC_PI_2), lengths[0] / to_edge);
        let edge = widest / (to_edge * to_edge * to_edge) / (one - splat(reach) / to_edge);
        by_edges += weight * edge;
        // A point of the ball is no nearer to its edges than to the triangle.
        let rest = to_face - splat(reach);
        let wide = (far + splat(reach)) / rest;
        let off = splat(0.05) * (splat(64.0 * U) + splat(23.0 * slack) / rest) * wide * wide * wide;
        direct += weight * lesser(splat(0.25), off);
        nearest = lesser(nearest, to_edge);
        farthest = farthest.max(far);
        // The field of a current along the edge of the loop (Biot and Savart), and how it changes as the middle moves.
        let round = both + dot(a, b);
        let bottom = both * round;
        let f = weight * ((of_a + of_b) / bottom);
        let per_bottom = weight / bottom;
        let [per_a, per_b] = [one / of_a, one / of_b];
        let edge = [zero - sides[0][0], zero - sides[0][1], zero - sides[0][2]];
        // A loop, as a closure would be compiled without the instructions of the level.
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
