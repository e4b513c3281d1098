//! Triangles along a space-filling curve (Morton 1966), and a tree of halves over them.

use std::cmp::Ordering;
use std::ops::Range;

use super::{Moments, Placed};
use crate::error::Result;
use crate::geom::solid_angle::Vector;
use crate::par::Progress;
use voxelize_geom::morton;
use voxelize_geom::vector::minus;

/// The most triangles of a leaf.
const LEAF: usize = 8;

/// Triangles between two looks at whether to go on.
const CHUNK: usize = 1 << 14;

/// Some triangles that follow each other. Its first half, if it has one, is the node after it.
#[derive(Debug, Clone)]
pub(super) struct TreeNode {
    pub first: usize,
    pub end: usize,
    /// The node after all that are below this one.
    pub next: usize,
    pub moments: Moments,
    /// The box around its triangles.
    pub low: Vector,
    pub high: Vector,
}

impl TreeNode {
    /// Whether node `n` is a leaf.
    pub(super) fn is_leaf(&self, n: usize) -> bool {
        self.next == n + 1
    }
}

/// The triangles by the place of their middles on the curve, then by their corners; each begins with its
/// least corner. One order for any given.
///
/// # Errors
/// If the work is cancelled.
pub(super) fn sorted(triangles: Vec<[Vector; 3]>, progress: &dyn Progress) -> Result<Vec<Placed>> {
    let turned = triangles.into_iter().enumerate().map(|(given, triangle)| {
        let given = u32::try_from(given).expect("at most 2^32 triangles");
        let (first, corners) = least_first(&triangle);
        Placed {
            corners,
            given,
            first,
        }
    });
    let turned: Vec<Placed> = turned.collect();
    let (low, high) = bounds(&turned);
    let mut keyed: Vec<(u64, Placed)> = turned
        .into_iter()
        .map(|t| (code(&middle(&t), &low, &high), t))
        .collect();
    let order = |(p, a): &(u64, Placed), (q, b): &(u64, Placed)| {
        p.cmp(q).then_with(|| compare(&a.corners, &b.corners))
    };
    for some in keyed.chunks_mut(CHUNK) {
        progress.check()?;
        some.sort_unstable_by(order);
    }
    // This one merges what is in order; equal ones are the same.
    keyed.sort_by(order);
    progress.check()?;
    Ok(keyed.into_iter().map(|(_, triangle)| triangle).collect())
}

fn compare(a: &[Vector; 3], b: &[Vector; 3]) -> Ordering {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs
        .map(|(p, q)| p.total_cmp(q))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// The number of the least corner, and the corners from it on.
fn least_first(triangle: &[Vector; 3]) -> (u8, [Vector; 3]) {
    // −0 + 0 is 0.
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
    let empty = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
    triangles
        .iter()
        .flat_map(|t| &t.corners)
        .fold(empty, |(low, high), v| {
            (
                std::array::from_fn(|i| low[i].min(v[i])),
                std::array::from_fn(|i| high[i].max(v[i])),
            )
        })
}

/// Where a point of the box is on the curve: the bits of its three coordinates in turn, 21 of each.
fn code(point: &Vector, low: &Vector, high: &Vector) -> u64 {
    const STEPS: f64 = (1 << 21) as f64;
    let widest = (0..3).map(|i| high[i] - low[i]).fold(0.0, f64::max);
    let scale = if widest > 0.0 { STEPS / widest } else { 0.0 };
    morton::code([0, 1, 2].map(|i| ((point[i] - low[i]) * scale).clamp(0.0, STEPS - 1.0) as u64))
}

/// The tree over sorted triangles: every node before those below it, halves in their order.
///
/// # Errors
/// If the work is cancelled.
pub(super) fn nodes(triangles: &[Placed], progress: &dyn Progress) -> Result<Vec<TreeNode>> {
    let mut nodes = Vec::with_capacity(triangles.len() / LEAF * 4 + 1);
    if !triangles.is_empty() {
        grow(triangles, 0..triangles.len(), &mut nodes, progress)?;
    }
    Ok(nodes)
}

/// Puts the node of a range of triangles, and those below it.
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
    // No corner is farther than the corners of the box.
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
