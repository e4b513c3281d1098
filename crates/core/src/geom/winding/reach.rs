//! Upper bounds of the winding number in a box. If the bound is small, the cells of the box need no closer
//! examination (`docs/internals/winding.md`, section 5).

use std::f64::consts::PI;

use super::Winding;
use crate::geom::solid_angle::Vector;
use voxelize_geom::vector::{cross, dot, minus};

impl Winding {
    /// Returns an upper bound of the magnitude of the winding number in the box.
    ///
    /// Seen from a distance of at least `d`, the solid angle of a triangle is at most its area divided by
    /// `d²`, and never more than half of the full sphere. If a node is farther away than its radius, one
    /// bound is used for all of its triangles.
    pub fn bound(&self, low: &Vector, high: &Vector) -> f64 {
        let mut sum = 0.0;
        let mut n = 0;
        while let Some(node) = self.nodes.get(n) {
            let square = apart(low, high, &node.low, &node.high);
            let radius = node.moments.radius;
            if square > radius * radius {
                sum += node.moments.area / (4.0 * PI * square);
                n = node.next;
                continue;
            }
            if node.is_leaf(n) {
                let triangles = &self.triangles[node.first..node.end];
                let bounds = triangles.iter().map(|t| most(&t.corners, low, high).0);
                sum += bounds.sum::<f64>();
            }
            n += 1;
        }
        // The factor allows for rounding: all terms are positive, and each has an error of a few units in the
        // last place.
        sum * (1.0 + 2f64.powi(-20))
    }
}

/// Returns three numbers: an upper bound of the fraction of the sphere that a triangle covers as seen from
/// any point of the box, the squared distance from the box to the triangle's bounding box, and the sum of the
/// side lengths of that bounding box.
pub(super) fn most([a, b, c]: &[Vector; 3], low: &Vector, high: &Vector) -> (f64, f64, f64) {
    let least = std::array::from_fn(|i| a[i].min(b[i]).min(c[i]));
    let greatest = std::array::from_fn(|i| a[i].max(b[i]).max(c[i]));
    let square = apart(low, high, &least, &greatest);
    let size = (0..3).map(|i| greatest[i] - least[i]).sum();
    if square == 0.0 {
        return (0.5, square, size);
    }
    let one = minus(*b, *a);
    let two = minus(*c, *a);
    let normal = cross(one, two);
    // The computed area of an extremely thin triangle may be zero.
    let rounded = (dot(one, one) * dot(two, two)).sqrt() * 2f64.powi(-49);
    let area = dot(normal, normal).sqrt() / 2.0 + rounded;
    ((area / (4.0 * PI * square)).min(0.5), square, size)
}

/// Returns the squared distance between two boxes.
pub(super) fn apart(low: &Vector, high: &Vector, least: &Vector, greatest: &Vector) -> f64 {
    (0..3)
        .map(|i| {
            (least[i] - high[i])
                .max(low[i] - greatest[i])
                .max(0.0)
                .powi(2)
        })
        .sum()
}
