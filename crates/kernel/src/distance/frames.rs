//! Frames (local coordinate systems) of sixteen triangles, and distances of the triangles from a point, in
//! floats.
//!
//! The first axis of a triangle's frame is along its longest side and starts at the first vertex. The second
//! axis is in the plane of the triangle, towards the third vertex. The third axis is perpendicular to the
//! plane. In its frame the triangle is flat, with corners (0, 0), (l, 0) and (x, y), y >= 0. The squared
//! distance of a point is its squared distance in the plane plus the square of its third coordinate.
//!
//! The axes are orthogonalized three times, so that they are orthonormal up to a few roundings for every
//! shape. The triangle in its frame therefore differs from the true triangle by a few roundings of its size.
//! This is also true for needles: an error in the plane of a needle has an effect only within the needle's
//! width. Lengths below [`TINY`] count as zero, so that a direction never depends on a square that
//! underflowed. The error of every distance is at most [`ERROR`] times the size of the inputs, plus
//! [`FLOOR`].

use fearless_simd::{Simd, f32x16, prelude::*};

use super::cluster::Cluster;
use crate::levels::{Aligned, LANES, rows, splats};

/// Largest error of a distance, relative to the size of the inputs: the sum over the axes of the largest
/// absolute coordinates of the triangle and of the point. It is 64 roundings. Distances need 57 and distances
/// to oriented boxes 51 (docs/internals/distance.md).
pub const ERROR: f32 = 1.0 / (1 << 18) as f32;

/// Error of a scaled distance in addition to [`ERROR`]. It is a few times [`TINY`].
pub const FLOOR: f32 = 16.0 * TINY;

/// Scaled lengths below this count as zero. The squares of all other lengths are far from underflow.
const TINY: f32 = 1.0 / (1_u64 << 40) as f32;

/// If the squared height of a triangle, relative to its squared longest side, is below this, the third vertex
/// counts as lying on that side.
const FLAT: f32 = 1.0 / (1_u64 << 56) as f32;

/// If the squared length of a side is not below this, squares may overflow. The distance of such a triangle
/// is treated as unknown.
const HUGE: f32 = 1e30;

/// Number of values per triangle: the first vertex, the three axes, the length of the longest side, and the
/// directions in the plane and lengths of the other two sides. These sides go from the first and from the
/// second vertex to the third.
const ROWS: usize = 19;

/// Frame of one triangle.
pub type TriangleFrame = [f32; ROWS];

/// Frames of sixteen triangles.
pub type TriangleFrames = Aligned<[[f32; LANES]; ROWS]>;

/// Returns the frames of a cluster's triangles. Coordinates are multiplied by `scale` and are then relative
/// to `origin`.
pub fn frames<S: Simd>(simd: S, cluster: &Cluster, origin: [f32; 3], scale: f32) -> TriangleFrames {
    simd.vectorize(
        #[inline(always)]
        || make(simd, cluster, origin, scale),
    )
}

#[inline(always)]
fn make<S: Simd>(simd: S, cluster: &Cluster, origin: [f32; 3], scale: f32) -> TriangleFrames {
    let splat = |value: f32| f32x16::splat(simd, value);
    let zero = splat(0.0);
    let one = splat(1.0);
    let mut a = [zero; 3];
    let mut u = [zero; 3];
    let mut v = [zero; 3];
    for n in 0..3 {
        let [p, q, r] = [n, n + 3, n + 6].map(
            #[inline(always)]
            |row| f32x16::from_slice(simd, &cluster.vertices[row]) * scale,
        );
        a[n] = p - origin[n];
        u[n] = q - p;
        v[n] = r - p;
    }
    let squared = dot(u, u);
    let tiny = splat(TINY * TINY);
    let length = squared.sqrt();
    // If squares overflow, the distance of the triangle becomes NaN, which stands for unknown.
    a[0] = squared.simd_lt(splat(HUGE)).select(a[0], splat(f32::NAN));
    let is_line = squared.simd_gt(tiny);
    let x = direction(u, length, is_line, [one, zero, zero]);

    let once = without(v, x);
    let twice = without(once, x);
    let height = dot(twice, twice);
    let is_flat = height.simd_le((squared * FLAT).max(tiny));
    let wide = !is_flat;
    let rest = any_across(simd, x);
    // The second removal of x is for needles: the remainder along x is only a rounding error, but not small
    // relative to the rest.
    let y = without(direction(twice, height.sqrt(), wide, rest), x);
    let z = [
        x[1] * y[2] - x[2] * y[1],
        x[2] * y[0] - x[0] * y[2],
        x[0] * y[1] - x[1] * y[0],
    ];

    let along = dot(v, x);
    let across = is_flat.select(zero, dot(v, y).max(zero));
    let (first, first_length) = side([along, across], [one, zero]);
    let (second, second_length) = side([along - length, across], [-one, zero]);
    let rows = [
        a[0],
        a[1],
        a[2],
        x[0],
        x[1],
        x[2],
        y[0],
        y[1],
        y[2],
        z[0],
        z[1],
        z[2],
        length,
        first[0],
        first[1],
        first_length,
        second[0],
        second[1],
        second_length,
    ];
    let mut frames = Aligned([[0.0; LANES]; ROWS]);
    for n in 0..ROWS {
        rows[n].store_slice(&mut frames[n]);
    }
    frames
}

/// Returns the squared distances of sixteen triangles from a point. The point is relative to the same origin
/// as the frames.
#[inline(always)]
pub fn squared<S: Simd>(simd: S, frames: &TriangleFrames, point: [f32; 3]) -> f32x16<S> {
    distances(simd, rows(simd, frames), splats(simd)(point))
}

/// Returns the squared distances of a triangle from sixteen points. The points are relative to the same
/// origin as the frame.
#[inline(always)]
pub fn squared_from<S: Simd>(simd: S, frame: &TriangleFrame, points: [f32x16<S>; 3]) -> f32x16<S> {
    distances(
        simd,
        #[inline(always)]
        |n: usize| f32x16::splat(simd, frame[n]),
        points,
    )
}

#[inline(always)]
fn distances<S: Simd>(
    simd: S,
    row: impl Fn(usize) -> f32x16<S>,
    point: [f32x16<S>; 3],
) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let w = [row(0) - point[0], row(1) - point[1], row(2) - point[2]];
    // The difference has the opposite sign, so x and y are negated.
    let x = -w[0].mul_add(row(3), w[1].mul_add(row(4), w[2] * row(5)));
    let y = -w[0].mul_add(row(6), w[1].mul_add(row(7), w[2] * row(8)));
    let z = w[0].mul_add(row(9), w[1].mul_add(row(10), w[2] * row(11)));
    let length = row(12);
    let beyond = (-x).max(x - length).max(zero);
    let base = beyond.mul_add(beyond, y * y);

    let first = [row(13), row(14)];
    let second = [row(16), row(17)];
    let (left, left_out) = off_line([x, y], first, row(15), zero);
    let (right, right_out) = off_line([x - length, y], second, row(18), zero);
    let least = base.min(left.mul_add(left, left_out * left_out));
    let least = least.min(right.mul_add(right, right_out * right_out));
    let inside =
        beyond.simd_le(zero) & y.simd_ge(zero) & left_out.simd_ge(zero) & right_out.simd_le(zero);
    z.mul_add(z, inside.select(zero, least))
}

/// Returns how far a point is beyond the ends of a side, and its distance from the line of the side, which is
/// positive to the right.
#[inline(always)]
fn off_line<S: Simd>(
    [x, y]: [f32x16<S>; 2],
    [u, v]: [f32x16<S>; 2],
    length: f32x16<S>,
    zero: f32x16<S>,
) -> (f32x16<S>, f32x16<S>) {
    let along = x.mul_add(u, y * v);
    let across = x.mul_add(v, -(y * u));
    ((-along).max(along - length).max(zero), across)
}

#[inline(always)]
fn dot<S: Simd>(a: [f32x16<S>; 3], b: [f32x16<S>; 3]) -> f32x16<S> {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

/// Returns a vector divided by its length. If the length is not known to be positive, returns another vector.
#[inline(always)]
fn direction<S: Simd>(
    v: [f32x16<S>; 3],
    length: f32x16<S>,
    is_known: fearless_simd::mask32x16<S>,
    other: [f32x16<S>; 3],
) -> [f32x16<S>; 3] {
    let [x, y, z] = v;
    [
        is_known.select(x / length, other[0]),
        is_known.select(y / length, other[1]),
        is_known.select(z / length, other[2]),
    ]
}

/// Returns the component of a vector that is perpendicular to the unit vector `x`.
#[inline(always)]
fn without<S: Simd>(v: [f32x16<S>; 3], x: [f32x16<S>; 3]) -> [f32x16<S>; 3] {
    let along = dot(v, x);
    [
        v[0] - along * x[0],
        v[1] - along * x[1],
        v[2] - along * x[2],
    ]
}

/// Returns a vector that is perpendicular to `x`. It is made from the coordinate axis along which `x` has its
/// least component.
#[inline(always)]
fn any_across<S: Simd>(simd: S, x: [f32x16<S>; 3]) -> [f32x16<S>; 3] {
    let zero = f32x16::splat(simd, 0.0);
    let one = f32x16::splat(simd, 1.0);
    let size = [x[0].abs(), x[1].abs(), x[2].abs()];
    let first = size[0].simd_le(size[1]) & size[0].simd_le(size[2]);
    let second = size[1].simd_le(size[2]);
    let axis = [
        first.select(one, zero),
        first.select(zero, second.select(one, zero)),
        first.select(zero, second.select(zero, one)),
    ];
    let across = without(without(axis, x), x);
    let length = dot(across, across).sqrt();
    [across[0] / length, across[1] / length, across[2] / length]
}

/// Returns the direction and the length of a side. If the length is about zero, the direction is `other`.
#[inline(always)]
fn side<S: Simd>([x, y]: [f32x16<S>; 2], other: [f32x16<S>; 2]) -> ([f32x16<S>; 2], f32x16<S>) {
    let length = x.mul_add(x, y * y).sqrt();
    let is_line = length.simd_gt(TINY);
    (
        [
            is_line.select(x / length, other[0]),
            is_line.select(y / length, other[1]),
        ],
        length,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::tree::TriangleTree;
    use crate::geom::Triangle;
    use crate::geom::distance::squared_distance;
    use crate::levels::{Level, on_level};
    use crate::random::Random;

    /// Returns the distances of triangles from a point. The triangles form one cluster.
    fn measured(level: Level, triangles: &[Triangle], point: [f32; 3]) -> Vec<(u32, f32)> {
        let tree = TriangleTree::of(triangles, 1.0);
        let cluster = &tree.clusters[0];
        on_level!(
            level,
            simd => {
                let frames = frames(simd, cluster, [0.0; 3], 1.0);
                cluster.numbers.into_iter().zip(squared(simd, &frames, point).as_array().map(f32::sqrt)).collect()
            }
        )
    }

    #[test]
    fn distances_are_within_their_error() {
        let mut random = Random::new(1);
        let mut next = || 2.0 * random.unit() - 1.0;
        let mut compared = 0;
        let mut worst = 0.0_f64;
        for round in 0..6000 {
            // Needles of various widths, triangles without area, and small triangles that are far from the
            // point.
            let width = 2_f32.powi(-(round % 53));
            let size = [1.0, 1.0, 1e-6, 1e-12, 1e-20, 1e14][round as usize / 53 % 6];
            let triangles: Vec<Triangle> = (0..16)
                .map(|n| {
                    let [a, d] = [(); 2].map(|()| [(); 3].map(|()| next()));
                    let [p, q] = [(); 2].map(|()| [(); 3].map(|()| width * next()));
                    let t = if n % 3 == 0 { 1.5 } else { 0.5 } * (1.0 + next());
                    let b = [0, 1, 2].map(|i| a[i] + d[i]);
                    let c = [0, 1, 2].map(|i| a[i] + t * d[i] + width * next());
                    let middle = [0, 1, 2].map(|i| a[i] + 0.5 * d[i]);
                    // Near the origin, some coordinates are as small as the width.
                    let shapes = [
                        [a, b, c],
                        [a, a, b],
                        [a, a, a],
                        [a, b, middle],
                        [p, q, d],
                        [d.map(|c| -c), d, p],
                    ];
                    shapes[n % 11 % 6].map(|vertex| vertex.map(|c| size * c))
                })
                .collect();
            let point = if round % 2 == 0 {
                [(); 3].map(|()| next())
            } else {
                let [a, b, c] = triangles[round as usize % 16];
                let s = next();
                let t = next();
                [0, 1, 2].map(|i| {
                    a[i] + s * (b[i] - a[i]) + t * (c[i] - a[i]) + size * width * 0.1 * next()
                })
            };
            for level in Level::available() {
                for (number, found) in measured(level, &triangles, point) {
                    let triangle = &triangles[number as usize];
                    let true_one = squared_distance(point.map(f64::from), triangle).sqrt();
                    let reach = |n: usize| {
                        triangle.iter().map(|v| v[n].abs()).fold(0.0, f32::max) + point[n].abs()
                    };
                    let allowed = f64::from(ERROR * (0..3).map(reach).sum::<f32>() + FLOOR);
                    let off = (f64::from(found) - true_one).abs() / allowed;
                    assert!(
                        off < 1.0,
                        "{level:?} {point:?} {found} {true_one} {triangle:?}"
                    );
                    worst = worst.max(off);
                    compared += 1;
                }
            }
        }
        assert!(compared >= 16 * 6000 && worst > 1e-3, "{compared} {worst}");
        println!("worst: {worst:.3} of the error");
    }
}
