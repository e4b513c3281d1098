//! How often triangles can wind around any point of a box, at most: whole blocks of cells need no closer
//! look where that is little (`docs/winding.md`, section 5).

use std::f64::consts::PI;

use super::Winding;
use crate::geom::solid_angle::Vector;
use voxelize_geom::vector::{cross, dot, minus};

impl Winding {
    /// No less than the size of the winding number at any point of the box.
    ///
    /// A triangle is seen from a distance of at least `d` as no more than its area over `d²`, and never as
    /// more than half of all around. A node's triangles are taken together from its radius away.
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
                sum += self.triangles[node.first..node.end]
                    .iter()
                    .map(|t| most(&t.corners, low, high).0)
                    .sum::<f64>();
            }
            n += 1;
        }
        // Room for rounding: terms are positive, each off by a few units in the last place.
        sum * (1.0 + 2f64.powi(-20))
    }
}

/// The most that one triangle can be from anywhere in the box; the square of how far its own box is away,
/// and the size of that.
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
    // A needle's area may be rounded to nothing.
    let rounded = (dot(one, one) * dot(two, two)).sqrt() * 2f64.powi(-49);
    let area = dot(normal, normal).sqrt() / 2.0 + rounded;
    ((area / (4.0 * PI * square)).min(0.5), square, size)
}

/// The square of the distance between two boxes.
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
