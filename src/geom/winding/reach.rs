//! How often triangles can wind around any point of a box: whole blocks of cells need no closer look
//! where that is surely little, or surely much (`docs/winding.md`, section 5).

use std::cmp::Ordering;
use std::f64::consts::PI;

use super::super::solid_angle::{self, Estimate, Vector, cross, dot, minus};
use super::{Sum, Winding};

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
                    .map(|t| most(&t.corners, low, high))
                    .sum::<f64>();
            }
            n += 1;
        }
        // Room for rounding: terms are positive, each off by a few units in the last place.
        sum * (1.0 + 2f64.powi(-20))
    }
}

impl Winding {
    /// How many crossings it takes to be inside, as [`Winding::inside_without`] asks it, where that is the same
    /// number all over the box: seen from its middle, and by how much that can change on the way to its corners.
    pub fn crossings_needed(&self, low: &Vector, high: &Vector) -> Option<i32> {
        let middle = std::array::from_fn(|i| low[i] + (high[i] - low[i]) / 2.0);
        let (up, down) = (minus(high, &middle), minus(&middle, low));
        let half = std::array::from_fn(|i| up[i].max(down[i]));
        let reach = Reach { low, high, middle, way: dot(&half, &half).sqrt() * (1.0 + 1e-9) };
        let mut sum = Sum::default();
        let mut n = 0;
        while let Some(node) = self.nodes.get(n) {
            let distance = apart(low, high, &node.low, &node.high).sqrt();
            if distance > 2.0 * node.moments.radius
                && let Some(seen) = node.moments.seen_from(&middle, 2.0)
            {
                sum.add(seen.estimate);
                sum.size += seen.size;
                sum.error += reach.change(node.moments.area, distance);
                n = node.next;
                continue;
            }
            if node.is_leaf(n) {
                self.triangles[node.first..node.end].iter().for_each(|t| sum.add(reach.seen(&t.corners)));
            }
            if sum.error > 0.5 {
                return None;
            }
            n += 1;
        }
        let least = (sum.value + 0.5).floor();
        let within = (sum.value + 0.5 - least).min(least + 0.5 - sum.value);
        (within > self.settles(&sum)).then_some(least as i32 + 1)
    }
}

/// A box to look from.
struct Reach<'a> {
    low: &'a Vector,
    high: &'a Vector,
    middle: Vector,
    /// From its middle to its corners.
    way: f64,
}

impl Reach<'_> {
    /// By how much what is seen from the middle of triangles of this area can change within the box, if they
    /// are no nearer than this to it.
    fn change(&self, area: f64, distance: f64) -> f64 {
        1.001 * self.way * area / (2.0 * PI * distance * distance * distance)
    }

    /// A triangle from the middle, and what it can differ by from elsewhere; all of it, if the triangle is very
    /// near.
    fn seen(&self, triangle: &[Vector; 3]) -> Estimate {
        const ALL: Estimate = Estimate { value: 0.0, error: 1.0 };
        let [a, b, c] = triangle;
        let least = std::array::from_fn(|i| a[i].min(b[i]).min(c[i]));
        let greatest = std::array::from_fn(|i| a[i].max(b[i]).max(c[i]));
        let (one, two) = (minus(b, a), minus(c, a));
        let (normal, size) = (cross(&one, &two), dot(&one, &one).max(dot(&two, &two)).sqrt());
        let length = dot(&normal, &normal).sqrt();
        let beside = apart(self.low, self.high, &least, &greatest).sqrt();
        // Off its plane. What is rounded is far below the nearness that is told apart.
        let from = minus(&self.middle, a);
        let off = dot(&normal, &from).abs() / length - self.way - 1e-9 * dot(&from, &from).sqrt();
        let is_needle = length < 1e-6 * size * size;
        let distance = if is_needle { beside } else { beside.max(off) };
        if distance <= size / 512.0 {
            return ALL;
        }
        let area = length / 2.0 + size * size * 2f64.powi(-49);
        let seen = solid_angle::of(triangle, &self.middle, || Ordering::Equal);
        let most = (area / (4.0 * PI * distance * distance)).min(0.5);
        let mut change = self.change(area, distance).min(2.0 * most);
        if !is_needle && off > 0.0 {
            // All of the box is on one side of it.
            change = change.min(seen.value.abs().max(most - seen.value.abs()));
        }
        // No error where the middle is on the plane, and its side unknown.
        let here = if seen.error == 0.0 { most } else { seen.error };
        Estimate { value: seen.value, error: change + here + NEAR }
    }
}

/// Room for the error of the angle from elsewhere in the box, that a direct sum may have (`docs/winding.md`).
const NEAR: f64 = 1.0 / 65_536.0;

/// The most that one triangle can be from anywhere in the box.
fn most([a, b, c]: &[Vector; 3], low: &Vector, high: &Vector) -> f64 {
    let least = std::array::from_fn(|i| a[i].min(b[i]).min(c[i]));
    let greatest = std::array::from_fn(|i| a[i].max(b[i]).max(c[i]));
    let square = apart(low, high, &least, &greatest);
    if square == 0.0 {
        return 0.5;
    }
    let (one, two) = (minus(b, a), minus(c, a));
    let normal = cross(&one, &two);
    // A needle's area may be rounded to nothing.
    let rounded = (dot(&one, &one) * dot(&two, &two)).sqrt() * 2f64.powi(-49);
    let area = dot(&normal, &normal).sqrt() / 2.0 + rounded;
    (area / (4.0 * PI * square)).min(0.5)
}

/// The square of the distance between two boxes.
fn apart(low: &Vector, high: &Vector, least: &Vector, greatest: &Vector) -> f64 {
    (0..3).map(|i| (least[i] - high[i]).max(low[i] - greatest[i]).max(0.0).powi(2)).sum()
}
