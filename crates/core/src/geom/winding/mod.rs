//! Generalized winding number: the sum of the solid angles of triangles, divided by 4π (Jacobson, Kavan and
//! Sorkine-Hornung 2013). Distant nodes of a tree of triangles are approximated by three terms of an
//! expansion (Barill et al., Fast Winding Numbers for Soups and Clouds, 2018), with a proven bound of the
//! truncation error (`docs/internals/winding.md`).
//!
//! Decisions whether a point is inside never depend on the tree: if its error bound does not allow a
//! decision, all angles are summed one by one. The decisions do not depend on the order of the triangles
//! either, because the triangles are sorted.

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

/// Set of triangles whose winding number can be evaluated at points.
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
    /// Sorted triangles, each with its index in the given list.
    triangles: Vec<Placed>,
    nodes: Vec<TreeNode>,
    /// Fans that the triangles form. Empty if they do not form fans or form too many.
    fans: Vec<Fan>,
    /// Error bound of the coordinates of corners.
    slack: f64,
    /// Permitted error of the polynomial of a triangle or node. It is smaller for sets with a large total
    /// area, because the sum of all errors grows with the area.
    aim: f64,
}

/// Triangle with its index in the given list.
#[derive(Debug, Clone, Copy)]
struct Placed {
    corners: [Vector; 3],
    given: u32,
    /// Index in the given triangle of the corner that is now first.
    first: u8,
}

/// Sum of angles, with its error bound and the sum of the magnitudes of its terms.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    value: f64,
    error: f64,
    size: f64,
    /// Error that the direct sum of the angles in approximated nodes may have because of the errors of
    /// corners.
    shaken: f64,
}

impl Sum {
    fn add(&mut self, term: Estimate) {
        self.value += term.value;
        self.error += term.error + U * self.value.abs();
        self.size += term.value.abs();
    }

    /// Returns the value and its error bound, which is increased to allow for rounding of the bound itself.
    fn estimate(&self) -> Estimate {
        Estimate {
            value: self.value,
            error: 1.001 * self.error,
        }
    }
}

/// Permitted error of the polynomial of a triangle or node, for sets with a small total area.
const AIM: f64 = 1.0 / 8192.0;

/// Greatest divisor of `AIM`, for sets in which many triangles are near every point.
const FINEST: f64 = 1024.0;

/// Distances, in units of a node's radius, beyond which the node is approximated. If the error with one
/// distance is too large, the next distance is tried.
const FAR: [f64; 5] = [2.0, 4.0, 8.0, 16.0, 32.0];

/// Error bound of an angle above which the point may be on the rim of the triangle. On the rim the error
/// bound is 1/4.
const NEAR_RIM: f64 = 0.2;

/// Distances, as in `FAR`, that [`Winding::outside_up_to`] tries.
const FAR_APART: [f64; 2] = [8.0, 32.0];

impl Winding {
    /// Prepares triangles. The magnitudes of their coordinates must be below 1e40.
    ///
    /// # Panics
    /// Panics if there are more than 2³² triangles.
    pub fn new(triangles: Vec<[Vector; 3]>) -> Self {
        Self::about(triangles, 0.0, &()).unwrap_or_else(|_| unreachable!("nobody cancels"))
    }

    /// Prepares triangles whose corners may deviate by `slack` along each axis.
    ///
    /// # Errors
    /// Fails if the work is cancelled.
    ///
    /// # Panics
    /// Panics if there are more than 2³² triangles.
    pub fn about(triangles: Vec<[Vector; 3]>, slack: f64, progress: &dyn Progress) -> Result<Self> {
        let fans = fans::fans(&triangles);
        let triangles = tree::sorted(triangles, progress)?;
        let nodes = tree::nodes(&triangles, progress)?;
        let fans = fans::placed(fans, &triangles);
        let mut density = 1.0;
        if let Some(TreeNode { moments, .. }) = nodes.first() {
            let found = moments.area / (moments.radius * moments.radius);
            if found > 1.0 {
                density = found;
            }
        }
        Ok(Self {
            triangles,
            nodes,
            fans,
            slack,
            aim: AIM / density.min(FINEST),
        })
    }

    /// Returns the number of triangles.
    pub fn len(&self) -> usize {
        self.triangles.len()
    }

    /// Reports whether there are no triangles.
    pub fn is_empty(&self) -> bool {
        self.triangles.is_empty()
    }

    /// Returns the winding number at `p` with an error of at most `aim`. If this is impossible, as on the
    /// edges of triangles, returns the sum of all angles with a larger error.
    ///
    /// `side` must return the side of `p` relative to the triangle with the given index in the list. It is
    /// called if doubles cannot decide, see [`solid_angle::of`].
    pub fn at(&self, p: &Vector, aim: f64, side: impl Fn(usize) -> Ordering) -> Estimate {
        for far in FAR {
            let found = self.sum(p, far, &side).estimate();
            if found.error <= aim {
                return found;
            }
        }
        self.direct(p, side)
    }

    /// Returns the sum of all angles, computed one by one.
    pub fn direct(&self, p: &Vector, side: impl Fn(usize) -> Ordering) -> Estimate {
        let mut sum = Sum::default();
        for triangle in &self.triangles {
            sum.add(triangle.seen_from(p, self.slack, &side));
        }
        sum.estimate()
    }

    /// Reports whether `p` is inside a mesh whose holes these triangles close. `crossings` is the signed
    /// number of crossings of a ray from `p` with the mesh and with these triangles. The test is `crossings -
    /// w > ½`, where `w` is the winding number of these triangles.
    ///
    /// If `crossings - w` cannot be distinguished from ½, as on a flat hole or on an edge, `p` is outside.
    pub fn inside_without(
        &self,
        p: &Vector,
        crossings: i32,
        side: impl Fn(usize) -> Ordering,
    ) -> bool {
        crossings > self.outside_up_to(p, side, |_| None)
    }

    /// Returns the largest number of crossings for which `p` is outside, in the sense of
    /// [`inside_without`](Self::inside_without). `rim` must return the corner or edge of a triangle that
    /// contains `p` exactly, if there is one. For such a triangle the angle is that seen from the displaced
    /// point, to which `side` refers.
    pub fn outside_up_to(
        &self,
        p: &Vector,
        side: impl Fn(usize) -> Ordering,
        rim: impl Fn(usize) -> Option<RimPlace>,
    ) -> i32 {
        for far in FAR_APART {
            let sum = self.sum(p, far, &side);
            let settles = self.settles(&sum);
            let low = half_up(sum.value - settles);
            let high = half_up(sum.value + settles);
            if low == high {
                return low;
            }
        }
        let sum = self.displaced(p, side, rim);
        half_up(sum.value + sum.error)
    }

    /// Returns the sum of all angles, computed one by one. Triangles with `p` on their rim are seen from the
    /// displaced point.
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

    /// Returns a distance with the following property: if a sum by the tree differs from ½ by more than this
    /// distance, the direct sum is on the same side of ½, and its difference from ½ exceeds its own error
    /// bound (`docs/internals/winding.md`, section 4).
    fn settles(&self, sum: &Sum) -> f64 {
        let count = self.len() as f64;
        3.1 * (sum.error + sum.shaken + count * (2f64.powi(-49) + U * sum.size))
    }

    /// Returns the sum of all angles. Nodes that are farther away than `far` times their radius are
    /// approximated.
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

/// Rounds to the nearest integer. Halves are rounded up.
fn half_up(value: f64) -> i32 {
    (value + 0.5).floor() as i32
}

impl Placed {
    fn seen_from(&self, p: &Vector, slack: f64, side: &impl Fn(usize) -> Ordering) -> Estimate {
        solid_angle::of_about(&self.corners, p, slack, || side(self.given as usize))
    }
}
