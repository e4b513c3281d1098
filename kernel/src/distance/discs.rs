//! Discs around clusters: what boxes along the axes are too thick for.
//!
//! Neighbouring triangles of a surface lie in a thin disc. From a point some cells above the surface, boxes of many
//! clusters are about as near as the nearest triangle; of discs only those around its foot are.
//!
//! A disc is a middle, an axis of length one, half a thickness and a radius. Seen from a point, the gap along the
//! axis and the gap across it bound the distance to all that is in the disc. Rounding is on the side of too near:
//! the square of what is across is a difference of squares, and loses [`SLACK`] of them first.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::cluster::Cluster;
use super::frames::FLOOR;
use crate::levels::LANES;

/// Sixteen discs: the middles x, y, z, the axes x, y, z, half the thicknesses, the radii.
pub type DiscGroup = [[f32; LANES]; 8];

/// No discs: infinitely far.
pub const NO_DISCS: DiscGroup = {
    let zero = [0.0; LANES];
    let far = [f32::INFINITY; LANES];
    [far, far, far, zero, zero, zero, zero, zero]
};

/// The part of squares that their difference may be off by: each is a sum of three rounded products.
const SLACK: f32 = 1.0 / (1 << 18) as f32;

/// Error of [`squared_distance`](crate::geom::distance::squared_distance), as a distance, relative to the extents of a
/// triangle: docs/distance.md.
const NOISE: f32 = 1.0 / (1_u64 << 44) as f32;

/// The surroundings of a cluster, scaled: a box, its lowest corner first, and a disc, as a column of a group.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surround {
    pub bounds: [f32; 6],
    pub disc: [f32; 8],
}

/// Encloses a cluster, scaled.
pub fn enclose<S: Simd>(simd: S, cluster: &Cluster, scale: f32) -> Surround {
    simd.vectorize(
        #[inline(always)]
        || {
            let mut v = [[f32x16::splat(simd, 0.0); 3]; 3];
            for row in 0..9 {
                v[row / 3][row % 3] = f32x16::from_slice(simd, &cluster.vertices[row]) * scale;
            }
            let [a, b] = [1, 2].map(
                #[inline(always)]
                |n| [v[n][0] - v[0][0], v[n][1] - v[0][1], v[n][2] - v[0][2]],
            );
            let normals = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
            let axis = unit(normals.map(
                #[inline(always)]
                |n| n.as_array().iter().sum(),
            ));
            // Halfway between the ends along the axis, over the middle of the bounds.
            let mut bounds = [0.0; 6];
            let mut middle = [0.0; 3];
            for n in 0..3 {
                bounds[n] = v[0][n].min(v[1][n]).min(v[2][n]).reduce_min();
                bounds[3 + n] = v[0][n].max(v[1][n]).max(v[2][n]).reduce_max();
                middle[n] = bounds[n] / 2.0 + bounds[3 + n] / 2.0;
            }
            let along = v.map(
                #[inline(always)]
                |v| seen_from(v, middle, axis)[0],
            );
            let low = along[0].min(along[1]).min(along[2]).reduce_min();
            let high = along[0].max(along[1]).max(along[2]).reduce_max();
            middle = [0, 1, 2].map(|n| axis[n].mul_add((low + high) / 2.0, middle[n]));

            let zero = f32x16::splat(simd, 0.0);
            let mut half = zero;
            let mut radius = zero;
            for v in v {
                let [along, squared] = seen_from(v, middle, axis);
                half = half.max(along.abs());
                radius = radius.max(squared * (1.0 + SLACK) - along * along);
            }
            let half = half.reduce_max() * (1.0 + SLACK);
            let radius = radius.reduce_max().sqrt() * (1.0 + SLACK);
            let [x, y, z] = middle;
            let [u, v, w] = axis;
            let disc = [x, y, z, u, v, w, half, radius];
            // Too large to be squared: no distance is known.
            let all = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, f32::INFINITY, f32::INFINITY];
            let disc = if disc.iter().all(|value| value.is_finite()) { disc } else { all };
            Surround { bounds: with_noise(bounds), disc }
        },
    )
}

/// Bounds, enlarged where the sequence of doubles may take triangles of their size to be nearer than they are by more
/// than [`FLOOR`].
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

/// How far a point is from another along an axis, and its squared distance.
#[inline(always)]
fn seen_from<S: Simd>(point: [f32x16<S>; 3], from: [f32; 3], axis: [f32; 3]) -> [f32x16<S>; 2] {
    let [x, y, z] = [point[0] - from[0], point[1] - from[1], point[2] - from[2]];
    [x * axis[0] + y * axis[1] + z * axis[2], x * x + y * y + z * z]
}

/// A vector over its length; any, where it has none.
fn unit(v: [f32; 3]) -> [f32; 3] {
    let most = v.iter().fold(0.0_f32, |most, c| most.max(c.abs()));
    let v = v.map(|c| c / most);
    let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    if length.is_finite() { v.map(|c| c / length) } else { [0.0, 0.0, 1.0] }
}

/// The squared gaps between discs, of which `row` has the numbers, and points, lane by lane: no more than the squared
/// distances to all that is in them.
#[inline(always)]
pub fn gaps_to_discs<S: Simd>(
    simd: S,
    row: impl Fn(usize) -> f32x16<S>,
    points: [f32x16<S>; 3],
) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut along = zero;
    let mut squared = zero;
    for n in 0..3 {
        let from = points[n] - row(n);
        along = from.mul_add(row(3 + n), along);
        squared = from.mul_add(from, squared);
    }
    let beyond = (along.abs() - row(6)).max(zero);
    let across = (squared * (1.0 - SLACK) - along * along).max(zero);
    let aside = (across.sqrt() - row(7)).max(zero);
    beyond.mul_add(beyond, aside * aside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distance::tree::{TriangleTree, gaps};
    use crate::geom::Triangle;
    use crate::geom::distance::squared_distance;
    use crate::levels::{Level, on_level};
    use crate::random::Random;

    /// The squared gaps from a point to the box and to the disc of the one cluster.
    fn measured(level: Level, tree: &TriangleTree, point: [f32; 3]) -> [f32; 2] {
        let token = level.token().unwrap();
        on_level!(
            token,
            simd => [
                gaps(simd, &tree.levels[0][0], [point; 2]).as_array()[0],
                gaps_to_discs(
                    simd,
                    |n| f32x16::from_slice(simd, &tree.discs[0][n]),
                    point.map(|c| f32x16::splat(simd, c)),
                ).as_array()[0],
            ],
            _scalar => [0.0; 2]
        )
    }

    #[test]
    fn gaps_are_no_more_than_distances() {
        let mut random = Random::new(3);
        let mut next = || 2.0 * random.unit() - 1.0;
        let mut compared = 0;
        let mut closer = 0;
        for round in 0..2000 {
            // Patches from flat to round, some of them points, lines, or far away.
            let depth = [0.0, 1e-4, 0.1, 1.0][round % 4];
            let shift = if round % 5 == 0 { 4096.0 } else { 0.0 };
            let width = [1.0, 0.0, 1.0][round % 3];
            let tilt = [next(), next()];
            let triangles: Vec<Triangle> = (0..16)
                .map(|_| {
                    [(); 3].map(|()| {
                        let x = next();
                        let y = width * next();
                        [x + shift, y, tilt[0] * x + tilt[1] * y + depth * next()]
                    })
                })
                .collect();
            let tree = TriangleTree::of(&triangles, 1.0);
            let far = 4.0 * next();
            let point = [far * next() + shift, far * next(), far * next()];
            let of_all = triangles.iter().map(|t| squared_distance(point.map(f64::from), t));
            let least = of_all.fold(f64::INFINITY, f64::min).sqrt();
            // What the search allows: an error of the sizes of the points around the middle of a brick.
            let error = f64::from(super::super::frames::ERROR) * 3.0 * (8.0 + f64::from(shift) * 1e-3);
            for level in Level::available() {
                let [of_box, of_disc] =
                    measured(level, &tree, point).map(|squared| f64::from(squared).sqrt());
                assert!(of_disc <= least + error, "{level:?} {round}: {of_disc} {least}");
                closer += usize::from(of_disc > of_box);
                compared += 1;
            }
        }
        assert!(compared >= 2000 && closer > compared / 10, "{compared} {closer}");
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
