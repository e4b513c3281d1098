//! Tree of the bounding boxes of clusters, sixteen per node.

use fearless_simd::{Simd, f32x16, prelude::*};

use super::cluster::Cluster;
use super::order::{ClusterJob, Keyed, OrderedTriangles, clusters_for};
use super::oriented::{NO_ORIENTED, OrientedGroup, ROWS, Surround};
use crate::geom::{Bounds, Triangle};
use crate::levels::{Aligned, LANES, Level, rows, splats};

/// Sixteen bounding boxes: their lowest x, y and z, then their highest x, y and z.
pub type BoxGroup = Aligned<[[f32; LANES]; 6]>;

/// Sixteen empty boxes.
pub const NO_BOXES: BoxGroup = {
    let low = [f32::INFINITY; LANES];
    let high = [f32::NEG_INFINITY; LANES];
    Aligned([low, low, low, high, high, high])
};

/// Triangles of a mesh, arranged to find the triangles near a point.
#[derive(Debug, Clone)]
pub struct TriangleTree {
    pub(super) clusters: Vec<Cluster>,
    /// For each level of the tree, groups of scaled bounding boxes. The first level has the boxes of
    /// clusters, the next the boxes of these groups, and so on. The last level has one group.
    pub(super) levels: Vec<Vec<BoxGroup>>,
    /// Scaled oriented boxes of the clusters.
    pub(super) oriented: Vec<OrientedGroup>,
    /// Power of two by which coordinates are multiplied, so that the size of a cell is about one.
    pub(super) scale: f32,
    /// Scaled bounds of all triangles.
    pub(super) bounds: [f32; 6],
}

impl TriangleTree {
    /// Creates the tree of these triangles. At least one triangle is required, and all must be within
    /// `bounds`. The size of a cell is about `cell`. `share` must run all jobs it is given, which are
    /// independent. It may use several threads.
    ///
    /// # Panics
    /// If there are no triangles, or more than 2^32 - 1, or the machine does not support the level.
    pub fn new(
        triangles: &[Triangle],
        bounds: &Bounds,
        cell: f64,
        level: Level,
        share: impl FnOnce(Vec<ClusterJob>),
    ) -> Self {
        assert!(
            !triangles.is_empty() && u32::try_from(triangles.len()).is_ok(),
            "triangles without numbers"
        );
        let scale = (-(cell.log2().floor())).clamp(-126.0, 126.0).exp2() as f32;
        let (clusters, surrounds) =
            OrderedTriangles::new(triangles, bounds).clusters(level, scale, share);
        let mut levels = vec![group(surrounds.iter().map(|surround| surround.bounds))];
        while let Some(last) = levels.last().filter(|last| last.len() > 1) {
            levels.push(group(last.iter().map(bounds_of)));
        }
        let mut oriented = vec![NO_ORIENTED; levels[0].len()];
        for (n, surround) in surrounds.iter().enumerate() {
            for row in 0..ROWS {
                oriented[n / LANES][row][n % LANES] = surround.oriented[row];
            }
        }
        let bounds = bounds_of(&levels.last().expect("there is one")[0]);
        Self {
            clusters,
            levels,
            oriented,
            scale,
            bounds,
        }
    }

    /// Returns the memory in bytes for `triangles` triangles. It includes memory that is used only while the
    /// tree is created.
    pub fn bytes_for(triangles: usize) -> u128 {
        let clusters = clusters_for(triangles);
        let boxes = (clusters.div_ceil(LANES as u128) * size_of::<BoxGroup>() as u128) * 17 / 16;
        let oriented = clusters.div_ceil(LANES as u128) * size_of::<OrientedGroup>() as u128;
        let each = (size_of::<Cluster>() + size_of::<Surround>()) as u128;
        let order = 2 * triangles as u128 * size_of::<Keyed>() as u128;
        clusters * each + boxes + oriented + 2 * size_of::<BoxGroup>() as u128 + order
    }
}

#[cfg(test)]
impl TriangleTree {
    /// Creates the tree of these triangles in a single thread.
    pub fn of(triangles: &[Triangle], cell: f64) -> Self {
        let bounds = Bounds::of(triangles);
        Self::new(triangles, &bounds, cell, Level::best(), |jobs| {
            for job in jobs {
                job.run();
            }
        })
    }
}

/// Divides bounding boxes into groups of sixteen.
fn group(bounds: impl ExactSizeIterator<Item = [f32; 6]>) -> Vec<BoxGroup> {
    let mut groups = vec![NO_BOXES; bounds.len().div_ceil(LANES)];
    for (n, bounds) in bounds.enumerate() {
        for row in 0..6 {
            groups[n / LANES][row][n % LANES] = bounds[row];
        }
    }
    groups
}

fn bounds_of(group: &BoxGroup) -> [f32; 6] {
    let mut bounds = [0.0; 6];
    for axis in 0..3 {
        bounds[axis] = group[axis].into_iter().fold(f32::INFINITY, f32::min);
        bounds[3 + axis] = group[3 + axis]
            .into_iter()
            .fold(f32::NEG_INFINITY, f32::max);
    }
    bounds
}

/// Returns the squared distances between sixteen bounding boxes and one box.
#[inline(always)]
pub fn gaps<S: Simd>(simd: S, boxes: &BoxGroup, corners: [[f32; 3]; 2]) -> f32x16<S> {
    gaps_to_boxes(simd, rows(simd, boxes), corners.map(splats(simd)))
}

/// Returns the squared distances between bounding boxes and other boxes, lane by lane. `row` returns a
/// coordinate of the bounding boxes by its number.
#[inline(always)]
pub fn gaps_to_boxes<S: Simd>(
    simd: S,
    row: impl Fn(usize) -> f32x16<S>,
    [low, high]: [[f32x16<S>; 3]; 2],
) -> f32x16<S> {
    let zero = f32x16::splat(simd, 0.0);
    let mut sum = zero;
    for axis in 0..3 {
        let gap = (row(axis) - high[axis])
            .max(low[axis] - row(3 + axis))
            .max(zero);
        sum = gap.mul_add(gap, sum);
    }
    sum
}

/// Returns the squared distances from a point to the farthest corners of sixteen bounding boxes.
#[inline(always)]
pub fn farthest<S: Simd>(simd: S, boxes: &BoxGroup, point: [f32; 3]) -> f32x16<S> {
    let mut sum = f32x16::splat(simd, 0.0);
    for axis in 0..3 {
        let below = (f32x16::from_slice(simd, &boxes[axis]) - point[axis]).abs();
        let above = (f32x16::from_slice(simd, &boxes[3 + axis]) - point[axis]).abs();
        let far = below.max(above);
        sum = far.mul_add(far, sum);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_triangle_is_in_a_cluster_within_its_bounds() {
        let at = |n: usize| (n * 7919 % 1009) as f32;
        let corner = |n: usize| [at(n), at(n + 1), at(n + 2)];
        let triangles: Vec<_> = (0..3001)
            .map(|n| [corner(n), corner(n).map(|c| c + 1.0), corner(5 * n)])
            .collect();
        let tree = TriangleTree::of(&triangles, 0.3);
        let mut seen = vec![0; triangles.len()];
        for (n, cluster) in tree.clusters.iter().enumerate() {
            let boxes = &tree.levels[0][n / LANES];
            for lane in 0..LANES {
                let triangle = cluster.triangle(lane);
                seen[cluster.numbers[lane] as usize] += 1;
                let mut sorted = [triangle, triangles[cluster.numbers[lane] as usize]];
                sorted
                    .iter_mut()
                    .for_each(|t| t.sort_by(|a, b| a.partial_cmp(b).unwrap()));
                assert_eq!(sorted[0], sorted[1]);
                let within = |v: [f32; 3]| {
                    (0..3).all(|a| {
                        let v = v[a] * tree.scale;
                        boxes[a][n % LANES] <= v && v <= boxes[3 + a][n % LANES]
                    })
                };
                assert!(triangle.into_iter().all(within));
            }
        }
        assert!(seen.iter().all(|count| *count >= 1));
        assert!(
            tree.clusters.len() < 250,
            "{} clusters",
            tree.clusters.len()
        );
        assert_eq!(
            (tree.levels.len(), tree.levels[1].len(), tree.scale),
            (2, 1, 4.0)
        );
    }
}
