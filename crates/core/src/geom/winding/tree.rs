//! Binary tree over triangles that are sorted along a space-filling curve (Morton 1966).

use std::cmp::Ordering;
use std::ops::Range;

use super::{Moments, Placed};
use crate::error::Result;
use crate::geom::solid_angle::Vector;
use crate::par::Progress;
use voxelize_geom::morton;
use voxelize_geom::vector::minus;

/// Greatest number of triangles in a leaf.
const LEAF: usize = 8;

/// Number of triangles between two checks for cancellation.
const CHUNK: usize = 1 << 14;

/// Node of the tree, which covers a range of consecutive triangles. The first child of an inner node directly
/// follows it in the list of nodes.
#[derive(Debug, Clone)]
pub(super) struct TreeNode {
    pub first: usize,
    pub end: usize,
    /// Index of the node that follows all descendants of this node.
    pub next: usize,
    pub moments: Moments,
    /// Least corner of the bounding box of the triangles. `high` is the greatest corner.
    pub low: Vector,
    pub high: Vector,
}

impl TreeNode {
    /// Reports whether node `n` is a leaf.
    pub(super) fn is_leaf(&self, n: usize) -> bool {
        self.next == n + 1
    }
}

/// Sorts triangles by the positions of their centroids on the curve, and equal positions by the corners. The
/// corners of each triangle are rotated so that the least corner comes first. The result does not depend on
/// the given order.
///
/// # Errors
/// Fails if the work is cancelled.
pub(super) fn sorted(triangles: Vec<[Vector; 3]>, progress: &dyn Progress) -> Result<Vec<Placed>> {
    let mut turned = Vec::with_capacity(triangles.len());
    for (given, triangle) in triangles.into_iter().enumerate() {
        let (first, corners) = least_first(&triangle);
        turned.push(Placed {
            corners,
            given: u32::try_from(given).expect("at most 2^32 triangles"),
            first,
        });
    }
    let (low, high) = bounds(&turned);
    let mut keyed: Vec<(u64, Placed)> = turned
        .into_iter()
        .map(|t| (code(&middle(&t), &low, &high), t))
        .collect();
    for some in keyed.chunks_mut(CHUNK) {
        progress.check()?;
        some.sort_unstable_by(compare_keyed);
    }
    // This sort merges the sorted chunks. Triangles that compare as equal have identical corners.
    keyed.sort_by(compare_keyed);
    progress.check()?;
    Ok(keyed.into_iter().map(|(_, triangle)| triangle).collect())
}

fn compare_keyed((p, a): &(u64, Placed), (q, b): &(u64, Placed)) -> Ordering {
    p.cmp(q).then_with(|| compare(&a.corners, &b.corners))
}

fn compare(a: &[Vector; 3], b: &[Vector; 3]) -> Ordering {
    for (p, q) in a.as_flattened().iter().zip(b.as_flattened()) {
        let order = p.total_cmp(q);
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Returns the index of the least corner, and the corners rotated so that it comes first.
fn least_first(triangle: &[Vector; 3]) -> (u8, [Vector; 3]) {
    // The addition of zero turns −0 into 0.
    let [a, b, c] = triangle.map(|v| v.map(|coordinate| coordinate + 0.0));
    let turns = [(0, [a, b, c]), (1, [b, c, a]), (2, [c, a, b])];
    turns
        .into_iter()
        .min_by(|(_, a), (_, b)| compare(a, b))
        .expect("three of them")
}

fn middle(triangle: &Placed) -> Vector {
    let [a, b, c] = &triangle.corners;
    std::array::from_fn(|i| (a[i] + b[i] + c[i]) / 3.0)
}

fn bounds(triangles: &[Placed]) -> (Vector, Vector) {
    let mut low = [f64::INFINITY; 3];
    let mut high = [f64::NEG_INFINITY; 3];
    for corner in triangles.iter().flat_map(|t| &t.corners) {
        for axis in 0..3 {
            low[axis] = low[axis].min(corner[axis]);
            high[axis] = high[axis].max(corner[axis]);
        }
    }
    (low, high)
}

/// Returns the position of a point on the curve: the interleaved bits of its three coordinates, which have 21
/// bits each.
fn code(point: &Vector, low: &Vector, high: &Vector) -> u64 {
    const STEPS: f64 = (1 << 21) as f64;
    let widest = (0..3).map(|i| high[i] - low[i]).fold(0.0, f64::max);
    let scale = if widest > 0.0 { STEPS / widest } else { 0.0 };
    morton::code([0, 1, 2].map(|i| ((point[i] - low[i]) * scale).clamp(0.0, STEPS - 1.0) as u64))
}

/// Builds the tree over sorted triangles. In the list, every node precedes its descendants, and the first
/// child of a node precedes the second.
///
/// # Errors
/// Fails if the work is cancelled.
pub(super) fn nodes(triangles: &[Placed], progress: &dyn Progress) -> Result<Vec<TreeNode>> {
    let mut nodes = Vec::with_capacity(triangles.len() / LEAF * 4 + 1);
    if !triangles.is_empty() {
        grow(triangles, 0..triangles.len(), &mut nodes, progress)?;
    }
    Ok(nodes)
}

/// Appends the node for a range of triangles, and all of its descendants.
fn grow(
    triangles: &[Placed],
    Range { start: first, end }: Range<usize>,
    nodes: &mut Vec<TreeNode>,
    progress: &dyn Progress,
) -> Result<()> {
    if end - first > CHUNK / 2 {
        progress.check()?;
    }
    let (low, high) = bounds(&triangles[first..end]);
    let here = nodes.len();
    let middle = std::array::from_fn(|i| low[i] + (high[i] - low[i]) / 2.0);
    nodes.push(TreeNode {
        first,
        end,
        next: 0,
        moments: Moments::none(middle),
        low,
        high,
    });
    let moments = if end - first <= LEAF {
        Moments::of(&triangles[first..end], middle)
    } else {
        let half = first + (end - first) / 2;
        grow(triangles, first..half, nodes, progress)?;
        let second = nodes.len();
        grow(triangles, half..end, nodes, progress)?;
        Moments::joined(&nodes[here + 1].moments, &nodes[second].moments, middle)
    };
    let node = &mut nodes[here];
    node.moments = moments;
    // The distance to the farthest corner of the bounding box is another bound of the radius.
    let reach = minus(high, moments.centre).map(f64::abs);
    let other = minus(low, moments.centre).map(f64::abs);
    let corner = (0..3)
        .map(|i| reach[i].max(other[i]).powi(2))
        .sum::<f64>()
        .sqrt()
        * (1.0 + 1e-9);
    node.moments.radius = node.moments.radius.min(corner);
    nodes[here].next = nodes.len();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_hold_all_triangles_once() {
        for count in [0, 1, 8, 9, 17, 1000] {
            let at = |n: usize| [(n * 37 % 101) as f64, (n * 53 % 97) as f64, (n % 7) as f64];
            let triangles: Vec<_> = (0..count).map(|n| [at(n), at(n + 1), at(n + 2)]).collect();
            let placed = sorted(triangles, &()).unwrap();
            let nodes = nodes(&placed, &()).unwrap();
            let leaves = nodes
                .iter()
                .enumerate()
                .filter(|(n, node)| node.is_leaf(*n));
            let mut end = 0;
            for (_, leaf) in leaves {
                assert!(leaf.first == end && leaf.end - leaf.first <= LEAF);
                end = leaf.end;
            }
            assert_eq!(end, count);
        }
    }
}
