//! Oriented boxes around clusters. They are thinner than axis-aligned boxes.
//!
//! Neighbouring triangles of a surface lie in a thin box. From a point some cells above the surface, the
//! axis-aligned boxes of many clusters are about as near as the nearest triangle. With boxes aligned to the
//! surface, only the boxes around the foot of the perpendicular are that near.
//!
//! An oriented box consists of a middle, three axes that are orthonormal up to one rounding, and half of its
//! extents along these axes. This rounding is within the error that a search allows for
//! (docs/internals/distance.md).

use fearless_simd::{Simd, f32x16, prelude::*};

use super::cluster::Cluster;
use super::frames::FLOOR;
use crate::geom::vector::{cross, dot, minus};
use crate::levels::{Aligned, LANES};

/// Number of values per oriented box: the middle (3), the x, y and z of each of its three axes (9), and half
/// of the extents (3).
pub const ROWS: usize = 15;

/// Sixteen oriented boxes.
pub type OrientedGroup = Aligned<[[f32; LANES]; ROWS]>;

/// Group without boxes. The distance to a missing box is not a valid number, so the lanes without boxes must
/// be masked.
pub const NO_ORIENTED: OrientedGroup = {
    let mut rows = [[0.0; LANES]; ROWS];
    (rows[0], rows[1], rows[2]) = (
        [f32::INFINITY; LANES],
        [f32::INFINITY; LANES],
        [f32::INFINITY; LANES],
    );
    Aligned(rows)
};

/// Error of [`squared_distance`](crate::geom::distance::squared_distance), expressed as an error of the
/// distance and relative to the extents of a triangle. See docs/internals/distance.md.
const NOISE: f32 = 1.0 / (1_u64 << 44) as f32;

/// Scaled boxes around a cluster: an axis-aligned box, with its lowest corner first, and the values of an
/// oriented box.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surround {
    pub bounds: [f32; 6],
    pub oriented: [f32; ROWS],
}

/// Returns the scaled boxes around a cluster.
pub fn enclose<S: Simd>(simd: S, cluster: &Cluster, scale: f32) -> Surround {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut v = [[f32x16::splat(simd, 0.0); 3]; 3];
            for row in 0..9 {
                v[row / 3][row % 3] = f32x16::from_slice(simd, &cluster.vertices[row]) * scale;
            }
            let side = |n: usize| [v[n][0] - v[0][0], v[n][1] - v[0][1], v[n][2] - v[0][2]];
            let [a, b] = [side(1), side(2)];
            let normals = [
                a[1] * b[2] - a[2] * b[1],
                a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0],
            ];
            let sum = |of: f32x16<S>| of.as_array().iter().map(|c| f64::from(*c)).sum();
            let across = unit([sum(normals[0]), sum(normals[1]), sum(normals[2])]);
            // Starts from the middle of the bounds, and moves along each axis to the middle between the ends.
            let mut bounds = [0.0; 6];
            for n in 0..3 {
                bounds[n] = v[0][n].min(v[1][n]).min(v[2][n]).reduce_min();
                bounds[3 + n] = v[0][n].max(v[1][n]).max(v[2][n]).reduce_max();
            }
            // The longest side of each triangle is its first side. The longest of these sides is the longest
            // side of the cluster.
            let squared = a[0] * a[0] + a[1] * a[1] + a[2] * a[2];
            let longest = squared.reduce_max();
            let lane = (squared.simd_ge(longest).to_bitmask() | 1 << (LANES - 1)).trailing_zeros()
                as usize;
            let extent = (0..3)
                .map(|n| bounds[3 + n] - bounds[n])
                .fold(0.0, f32::max);
            let are_long = 4.0 * longest > extent * extent;
            let axes = axes(
                across,
                are_long.then(|| [0, 1, 2].map(|n| f64::from(a[n].as_array()[lane]))),
            );
            let from = [0, 1, 2].map(|n| bounds[n] / 2.0 + bounds[3 + n] / 2.0);
            let mut oriented = [
                from[0], from[1], from[2], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
                0.0,
            ];
            for (k, axis) in axes.into_iter().enumerate() {
                let [low, high] = ends(simd, v, from, axis);
                for n in 0..3 {
                    oriented[n] += axis[n] * ((low + high) / 2.0);
                    oriented[3 + 3 * k + n] = axis[n];
                }
            }
            let middle = [oriented[0], oriented[1], oriented[2]];
            for (k, axis) in axes.into_iter().enumerate() {
                let [low, high] = ends(simd, v, middle, axis);
                oriented[12 + k] = high.max(-low);
            }
            // If squares overflow, all distances count as unknown, so the box contains everything.
            if !oriented.iter().all(|value| value.is_finite()) {
                oriented = std::array::from_fn(|row| if row < 12 { 0.0 } else { f32::INFINITY });
            }
            Surround {
                bounds: with_noise(bounds),
                oriented,
            }
        },
    )
}

/// Enlarges the bounds of large triangles. The sequence of doubles may compute distances of these triangles
/// that are too small by more than [`FLOOR`].
fn with_noise(bounds: [f32; 6]) -> [f32; 6] {
    let noise = NOISE * (0..3).map(|n| bounds[3 + n] - bounds[n]).sum::<f32>();
    if noise <= FLOOR {
        return bounds;
    }
    let [low, high] = [0, 3].map(|first| [0, 1, 2].map(|n| bounds[first + n]));
    let low = low.map(|c| (c - noise).next_down());
    let high = high.map(|c| (c + noise).next_up());
    [low[0], low[1], low[2], high[0], high[1], high[2]]
}

/// Returns the least and the greatest position of vertices along an axis, relative to a point.
#[inline(always)]
fn ends<S: Simd>(
    simd: S,
    vertices: [[f32x16<S>; 3]; 3],
    from: [f32; 3],
    axis: [f32; 3],
) -> [f32; 2] {
    let mut along = [f32x16::splat(simd, 0.0); 3];
    for n in 0..3 {
        let [x, y, z] = vertices[n];
        along[n] = (x - from[0]) * axis[0] + (y - from[1]) * axis[1] + (z - from[2]) * axis[2];
    }
    [
        along[0].min(along[1]).min(along[2]).reduce_min(),
        along[0].max(along[1]).max(along[2]).reduce_max(),
    ]
}

/// Returns the unit vector `across` and two vectors perpendicular to it. If `side` is at least 45° from the
/// unit vector, the first of them has the direction of the perpendicular part of `side`. Adjacent needles
/// then lie in a narrow box. Otherwise it is as close as possible to a coordinate axis, because clusters are
/// cut at planes across the coordinate axes.
fn axes(across: [f64; 3], side: Option<[f64; 3]>) -> [[f32; 3]; 3] {
    let [x, y, z] = across;
    let least = if x.abs() <= y.abs().min(z.abs()) {
        0
    } else {
        1 + usize::from(z.abs() < y.abs())
    };
    let rest = |v: [f64; 3]| minus(v, across.map(|c| c * dot(v, across)));
    let is_across = |side: &[f64; 3]| 2.0 * dot(rest(*side), rest(*side)) > dot(*side, *side);
    let along = side
        .filter(is_across)
        .unwrap_or([0, 1, 2].map(|n| f64::from(u8::from(n == least))));
    let second = unit(rest(along));
    [across, second, cross(across, second)].map(|axis| axis.map(|c| c as f32))
}

/// Normalizes a vector. A vector of length zero gives an arbitrary unit vector.
fn unit(v: [f64; 3]) -> [f64; 3] {
    let unit = v.map(|c| c / dot(v, v).sqrt());
    if unit.iter().all(|c| c.is_finite()) {
        unit
    } else {
        [0.0, 0.0, 1.0]
    }
}

/// Returns lower bounds of the squared distances between the contents of oriented boxes and points, lane by
/// lane. `row` returns a value of the boxes by its number.
#[inline(always)]
pub fn gaps_to_oriented<S: Simd>(
    simd: S,
    row: impl Fn(usize) -> f32x16<S>,
    points: [f32x16<S>; 3],
) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let [x, y, z] = [points[0] - row(0), points[1] - row(1), points[2] - row(2)];
    let mut sum = zero;
    for k in 0..3 {
        let along = x.mul_add(
            row(3 + 3 * k),
            y.mul_add(row(4 + 3 * k), z * row(5 + 3 * k)),
        );
        let beyond = (along.abs() - row(12 + k)).max(zero);
        sum = beyond.mul_add(beyond, sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::tree::{TriangleTree, gaps};
    use crate::geom::Triangle;
    use crate::geom::distance::squared_distance;
    use crate::levels::{Level, on_level, rows, splats};
    use crate::random::Random;

    /// Returns the squared distances from a point to the axis-aligned and to the oriented box of a tree's
    /// first cluster.
    fn measured(level: Level, tree: &TriangleTree, point: [f32; 3]) -> [f32; 2] {
        on_level!(
            level,
            simd => [
                gaps(simd, &tree.levels[0][0], [point; 2]).as_array()[0],
                gaps_to_oriented(simd, rows(simd, &tree.oriented[0]), splats(simd)(point)).as_array()[0],
            ]
        )
    }

    #[test]
    fn gaps_are_no_more_than_distances() {
        let mut random = Random::new(3);
        let mut next = || 2.0 * random.unit() - 1.0;
        let mut compared = 0;
        let mut closer = 0;
        for round in 0..2000 {
            // Patches of triangles from flat to round. Some are points or lines, and some are far away.
            let depth = [0.0, 1e-4, 0.1, 1.0][round % 4];
            let shift = if round % 5 == 0 { 4096.0 } else { 0.0 };
            let width = [1.0, 0.0, 1.0][round % 3];
            let tilt = [next(), next()];
            // Triangles that extend across the patch, or small triangles.
            let size = [1.0, 0.05][round / 7 % 2];
            let triangles: Vec<Triangle> = (0..16)
                .map(|_| {
                    let from = [next(), next()];
                    [(); 3].map(|()| {
                        let x = from[0] + size * next();
                        let y = width * (from[1] + size * next());
                        [x + shift, y, tilt[0] * x + tilt[1] * y + depth * next()]
                    })
                })
                .collect();
            let tree = TriangleTree::of(&triangles, 1.0);
            let far = 4.0 * next();
            let point = [far * next() + shift, far * next(), far * next()];
            let of_all = triangles
                .iter()
                .map(|t| squared_distance(point.map(f64::from), t));
            let least = of_all.fold(f64::INFINITY, f64::min).sqrt();
            // Error that the search allows for, relative to the size of the coordinates around the middle of
            // a brick.
            let error =
                f64::from(crate::distance::frames::ERROR) * 3.0 * (8.0 + f64::from(shift) * 1e-3);
            for level in Level::available() {
                let [of_box, of_oriented] =
                    measured(level, &tree, point).map(|squared| f64::from(squared).sqrt());
                assert!(
                    of_oriented <= least + error,
                    "{level:?} {round}: {of_oriented} {least}"
                );
                closer += usize::from(of_oriented > of_box);
                compared += 1;
            }
        }
        assert!(
            compared >= 2000 && closer > compared / 10,
            "{compared} {closer}"
        );
    }

    #[test]
    fn clusters_too_large_to_square_are_near_to_all() {
        let triangles = [[[-2e38; 3], [2e38; 3], [2e38, -2e38, 0.0]]; 3];
        let tree = TriangleTree::of(&triangles, 1.0);
        for level in Level::available() {
            let [_, gap] = measured(level, &tree, [5.0; 3]);
            assert!(gap <= 0.0 || gap.is_nan(), "{gap}");
        }
    }
}
