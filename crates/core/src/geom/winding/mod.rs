//! How often triangles wind around a point: the generalized winding number, the sum of their solid angles
//! over 4π (Jacobson, Kavan and Sorkine-Hornung 2013). By a tree whose far nodes are seen as three terms
//! of an expansion (Barill et al., Fast Winding Numbers for Soups and Clouds, 2018), each with a proven
//! bound of what it leaves out (`docs/winding.md`).
//!
//! What is decided never depends on the tree: where its bound does not settle a question, all angles are
//! summed one by one. Nor on the order of the triangles: they are sorted.

mod fans;
mod local;
mod moments;
mod reach;
mod tree;
mod view;

#[cfg(test)]
mod boxes;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

pub(crate) use super::solid_angle::Estimate;
pub use super::solid_angle::RimPlace;
use super::solid_angle::{self, U, Vector};
use crate::error::Result;
use crate::par::Progress;
use fans::Fan;
use moments::Moments;
use tree::TreeNode;
pub use view::{BoxView, Depth};

/// Triangles to wind around points.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::Winding;
///
/// let winding = Winding::new(vec![[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
/// let far = winding.at(&[1e6, 0.0, 0.0], 1e-4, |_| unreachable!("the side is clear"));
/// assert!(far.value.abs() < 1e-3 && far.error < 1e-4);
/// ```
#[derive(Debug, Clone)]
pub struct Winding {
    /// Sorted, each with its place in the list as it was given.
    triangles: Vec<Placed>,
    nodes: Vec<TreeNode>,
    /// If they are few fans, these.
    fans: Vec<Fan>,
    /// The error bound of corners, along each axis.
    slack: f64,
    /// The error that the polynomial of a triangle or node may have: the sum of all errors grows with their area.
    aim: f64,
}

/// A triangle and its place in the list as it was given.
#[derive(Debug, Clone, Copy)]
struct Placed {
    corners: [Vector; 3],
    given: u32,
    /// The number that the first of these corners had.
    first: u8,
}

/// A sum of angles: what it is, how far off, and the sum of the sizes of its terms.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    error: f64,
    size: f64,
    /// The error that angles one by one may have because corners have one, where nodes were seen as a whole.
    shaken: f64,
}

impl Sum {
    fn add(&mut self, term: Estimate) {
        self.value += term.value;
        self.error += term.error + U * self.value.abs();
        self.size += term.value.abs();
    }

    /// The value and its error, with room for the roundings of the bound itself.
    fn estimate(&self) -> Estimate {
        Estimate {
            value: self.value,
            error: 1.001 * self.error,
        }
    }
}

/// The error that the polynomial of a triangle or node may have, where there are few of them.
const AIM: f64 = 1.0 / 8192.0;

/// How much less that is at most, where many triangles are around every point.
const FINEST: f64 = 1024.0;

/// How much farther from a node than its radius points are for which it is seen as a whole. The next is
/// tried where one does not settle a question.
const FAR: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];

/// The error of an angle above which the point may be on the rim of the triangle: there it is a quarter.
const NEAR_RIM: f64 = 0.2;

/// The entries of `FAR` that are tried for single points that are near one half.
const FAR_APART: [f64; 2] = [8.0, 32.0];

impl Winding {
    /// Of these triangles, whose coordinates are finite and below 1e40. At most 2³² of them.
    ///
    /// # Panics
    /// If there are more.
    pub fn new(triangles: Vec<[Vector; 3]>) -> Self {
        Self::about(triangles, 0.0, &()).unwrap_or_else(|_| unreachable!("nobody cancels"))
    }

    /// Of triangles whose corners may be off by `slack` along each axis.
    ///
    /// # Errors
    /// If the work is cancelled.
    ///
    /// # Panics
    /// If there are more than 2³².
    pub fn about(triangles: Vec<[Vector; 3]>, slack: f64, progress: &dyn Progress) -> Result<Self> {
        let fans = fans::fans(&triangles);
        let triangles = tree::sorted(triangles, progress)?;
        let nodes = tree::nodes(&triangles, progress)?;
        let fans = fans::placed(fans, &triangles);
        let area = |all: &TreeNode| all.moments.area / (all.moments.radius * all.moments.radius);
        let density = nodes
            .first()
            .map(area)
            .filter(|density| *density > 1.0)
            .unwrap_or(1.0);
        Ok(Self {
            triangles,
            nodes,
            fans,
            slack,
            aim: AIM / density.min(FINEST),
        })
    }

    /// How many triangles there are.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// How often the triangles wind around `p`, with an error of at most `aim`; where that cannot be had, as
    /// on the edges of the triangles, the sum of all angles.
    ///
    /// `side` says of the triangle with that place in the list on which side of it `p` is, where doubles
    /// do not tell; see [`solid_angle::of`].
    pub fn at(&self, p: &Vector, aim: f64, side: impl Fn(usize) -> Ordering) -> Estimate {
        let by_tree = FAR.iter().map(|far| self.sum(p, *far, &side).estimate());
        by_tree
            .into_iter()
            .find(|found| found.error <= aim)
            .unwrap_or_else(|| self.direct(p, side))
    }

    /// The sum of all angles, one by one.
    pub fn direct(&self, p: &Vector, side: impl Fn(usize) -> Ordering) -> Estimate {
        let mut sum = Sum::default();
        for triangle in &self.triangles {
            sum.add(triangle.seen_from(p, self.slack, &side));
        }
        sum.estimate()
    }

    /// Whether a mesh winds around `p` more than half that these triangles close, if it is without them:
    /// `crossings`, counted with their signs along a ray from `p`, are those of the mesh and these
    /// triangles together, so the question is whether `crossings - w > ½`.
    ///
    /// Where the sum of all angles cannot tell this from ½, as on a flat hole or on an edge, it does not.
    pub fn inside_without(
        &self,
        p: &Vector,
        crossings: i32,
        side: impl Fn(usize) -> Ordering,
    ) -> bool {
        crossings > self.outside_up_to(p, side, |_| None)
    }

    /// The greatest number of crossings that leave `p` outside, in [`inside_without`](Self::inside_without). `rim` says
    /// of a triangle near `p` where exactly on its rim `p` is: there the triangle is seen from the displaced point, that
    /// of `side`.
    pub fn outside_up_to(
        &self,
        p: &Vector,
        side: impl Fn(usize) -> Ordering,
        rim: impl Fn(usize) -> Option<RimPlace>,
    ) -> i32 {
        let below = |value: f64| (value + 0.5).floor() as i32;
        for far in FAR_APART {
            let sum = self.sum(p, far, &side);
            let settles = self.settles(&sum);
            let low = below(sum.value - settles);
            let high = below(sum.value + settles);
            if low == high {
                return low;
            }
        }
        let sum = self.displaced(p, side, rim);
        below(sum.value + sum.error)
    }

    /// The sum of all angles, one by one, those of triangles whose rim `p` is on as seen from the displaced point.
    fn displaced(
        &self,
        p: &Vector,
        side: impl Fn(usize) -> Ordering,
        rim: impl Fn(usize) -> Option<RimPlace>,
    ) -> Estimate {
        let mut sum = Sum::default();
        for triangle in &self.triangles {
            let given = triangle.given as usize;
            let mut seen = triangle.seen_from(p, self.slack, &side);
            if seen.error > NEAR_RIM
                && let Some(rim) = rim(given)
            {
                let rim = rim.counted_from(usize::from(triangle.first));
                seen = solid_angle::from_rim(&triangle.corners, rim, self.slack, side(given));
            }
            sum.add(seen);
        }
        sum.estimate()
    }

    /// How far from ½ a sum by the tree must be so that the direct sum is on the same side of it, and
    /// farther than its own error (`docs/winding.md`, section 4).
    fn settles(&self, sum: &Sum) -> f64 {
        let count = self.len() as f64;
        3.1 * (sum.error + sum.shaken + count * (2f64.powi(-49) + U * sum.size))
    }

    /// The sum of angles, nodes farther than `far` of their radii seen as a whole.
    fn sum(&self, p: &Vector, far: f64, side: &impl Fn(usize) -> Ordering) -> Sum {
        let mut sum = Sum::default();
        let mut n = 0;
        while let Some(node) = self.nodes.get(n) {
            if let Some(seen) = node.moments.seen_from(p, far) {
                sum.add(seen.estimate);
                sum.size += seen.size;
                sum.shaken += (node.end - node.first) as f64 * self.slack * seen.nearness;
                n = node.next;
                continue;
            }
            if node.is_leaf(n) {
                for triangle in &self.triangles[node.first..node.end] {
                    sum.add(triangle.seen_from(p, self.slack, side));
                }
            }
            n += 1;
        }
        sum
    }
}

impl Placed {
    fn seen_from(&self, p: &Vector, slack: f64, side: &impl Fn(usize) -> Ordering) -> Estimate {
        solid_angle::of_about(&self.corners, p, slack, || side(self.given as usize))
    }
}
