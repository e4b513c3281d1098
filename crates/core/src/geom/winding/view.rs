//! Computes winding numbers in a box and in successively smaller boxes within it. Distant triangles are added
//! to a polynomial. The other triangles are examined again for the smaller boxes
//! (`docs/internals/winding.md`, section 6).

use std::f64::consts::PI;

use super::Winding;
use super::fans::FanGuess;
use super::local::{Ball, Local};
use super::reach::{apart, most};
use crate::geom::solid_angle::{U, Vector};
use voxelize_geom::vector::minus;
use voxelize_kernel::Level;

/// Triangles as seen from a box: a polynomial for distant triangles, and lists of the others.
#[derive(Debug, Clone)]
pub struct BoxView {
    level: Level,
    pub(super) ball: Ball,
    low: Vector,
    high: Vector,
    pub(super) far: Local,
    nodes: Vec<u32>,
    /// Indices of the fans that are not in the polynomial, because the box intersects them or their loop is
    /// near.
    fans: Vec<u32>,
    near: Vec<u32>,
}

impl BoxView {
    /// Returns the view from the box with the corners `low` and `high`.
    pub fn whole(
        winding: &Winding,
        low: &Vector,
        high: &Vector,
        depth: Depth,
        level: Level,
    ) -> Self {
        let fans: Vec<u32> = (0..winding.fans.len() as u32).collect();
        let nodes = if winding.is_empty() || !fans.is_empty() {
            vec![]
        } else {
            vec![0]
        };
        let all = Self {
            level,
            ball: ball(low, high),
            low: *low,
            high: *high,
            far: Local::default(),
            nodes,
            fans,
            near: vec![],
        };
        all.narrowed(winding, low, high, depth)
    }

    /// Returns the view from a box that is within this box.
    #[must_use]
    pub fn narrowed(&self, winding: &Winding, low: &Vector, high: &Vector, depth: Depth) -> Self {
        let ball = ball(low, high);
        let far = self.far.moved(&minus(ball.centre, self.ball.centre));
        let mut here = Self {
            ball,
            low: *low,
            high: *high,
            far,
            nodes: vec![],
            fans: vec![],
            near: vec![],
            ..*self
        };
        here.take_fans(winding, &self.fans, depth);
        self.near.iter().for_each(|n| here.take(winding, *n));
        let mut nodes = self.nodes.clone();
        while let Some(n) = nodes.pop() {
            let node = &winding.nodes[n as usize];
            let count = node.end - node.first;
            if let Some(seen) =
                Local::of_node(&node.moments, count, &ball, winding.aim, winding.slack)
            {
                here.far.add(&seen);
            } else if depth == Depth::Further && node.moments.radius < ball.radius / 2.0 {
                here.nodes.push(n);
            } else if node.is_leaf(n as usize) {
                (node.first..node.end).for_each(|n| here.take(winding, n as u32));
            } else {
                nodes.extend([n + 1, winding.nodes[n as usize + 1].next as u32]);
            }
        }
        here
    }

    /// Adds a fan to the polynomial if it is far away. Also adds all other fans if their sum shows that the
    /// whole box is outside. At the last depth, the triangles of the remaining fans are kept individually.
    fn take_fans(&mut self, winding: &Winding, fans: &[u32], depth: Depth) {
        let mut fans: Vec<_> = fans
            .iter()
            .map(|n| (winding.fans[*n as usize].guess(&self.ball), *n))
            .collect();
        fans.sort_by(|(a, _), (b, _)| b.left_out.total_cmp(&a.left_out));
        // The nearest fan comes first. Once a fan has no polynomial, other fans are evaluated only if their
        // error is small.
        let mut rest = Some(Local::default());
        for (FanGuess { left_out, first }, n) in &fans {
            let fan = &winding.fans[*n as usize];
            let mut seen = None;
            if *left_out <= fan.aim() || rest.is_some() && left_out.is_finite() {
                seen = Local::of_fan(fan, *first, &self.ball, winding.slack, self.level);
            }
            if let Some(seen) = seen
                && seen.error <= fan.aim()
            {
                self.far.add(&seen);
                continue;
            }
            self.fans.push(*n);
            match (&mut rest, seen) {
                (Some(rest), Some(seen)) => rest.add(&seen),
                _ => rest = None,
            }
        }
        if self.fans.is_empty() {
            return;
        }
        let near = std::mem::take(&mut self.fans);
        let far = self.far;
        if let Some(rest) = rest {
            self.far.add(&rest);
            if self.outside(winding).is_some() {
                return;
            }
            self.far = far;
        }
        match depth {
            Depth::Further => self.fans = near,
            Depth::Last => {
                for n in near {
                    self.near.extend(&winding.fans[n as usize].members);
                }
            }
        }
    }

    fn take(&mut self, winding: &Winding, n: u32) {
        let triangle = &winding.triangles[n as usize].corners;
        match Local::of_triangle(triangle, &self.ball, winding.aim, winding.slack) {
            Some(seen) => self.far.add(&seen),
            None => self.near.push(n),
        }
    }

    /// Returns the greatest number of crossings for which a point is outside. `None` if it is not proven to
    /// be the same for the whole box.
    pub fn outside(&self, winding: &Winding) -> Option<i32> {
        if !self.fans.is_empty() {
            return None;
        }
        let mut rest = self.far.varies(self.ball.radius) + self.margin(winding, 0.0);
        for n in &self.nodes {
            let node = &winding.nodes[*n as usize];
            let square = apart(&self.low, &self.high, &node.low, &node.high);
            let count = (node.end - node.first) as f64;
            let doubt = self.doubt(winding, square.sqrt(), 2.0 * node.moments.radius);
            rest += (node.moments.area / (4.0 * PI * square)).min(count / 2.0) + count * doubt;
            if rest >= 0.5 {
                return None;
            }
        }
        for n in &self.near {
            let (bound, square, size) = most(
                &winding.triangles[*n as usize].corners,
                &self.low,
                &self.high,
            );
            rest += bound + self.doubt(winding, square.sqrt(), size);
            if rest >= 0.5 {
                return None;
            }
        }
        whole_between(self.far.value - rest, self.far.value + rest)
    }

    /// Returns twice the error bound of the angle of a triangle. `distance` is its distance from the box, and
    /// `size` is its size.
    fn doubt(&self, winding: &Winding, distance: f64, size: f64) -> f64 {
        let wide = (distance + 2.0 * self.ball.radius + size) / distance;
        let off = 0.05 * (64.0 * U + 23.0 * winding.slack / distance) * wide * wide * wide;
        // The minimum is also correct if the error is NaN.
        2.0 * 0.25_f64.min(off + 2f64.powi(-50))
    }

    /// Returns the near triangles, with corners relative to `from`, and the error bound of the corners'
    /// coordinates.
    pub fn near(&self, winding: &Winding, from: &Vector) -> (Vec<[f64; 9]>, f64) {
        let mut farthest = largest(from).max(largest(&minus(self.high, *from)));
        let mut near = Vec::with_capacity(self.near.len());
        for n in &self.near {
            let triangle = &winding.triangles[*n as usize];
            let corners = triangle.corners.map(|v| minus(v, *from));
            let flat: [f64; 9] = corners.as_flattened().try_into().unwrap_or([0.0; 9]);
            farthest = farthest.max(largest(&flat));
            near.push(flat);
        }
        (near, winding.slack + 8.0 * U * farthest)
    }

    /// Returns the greatest number of crossings for which the point `p` of the box is outside. `None` if the
    /// error bounds do not allow a decision. `near` is the winding number of the near triangles at `p`, and
    /// `off` is the relative error bound of the sums from which it was computed.
    pub fn outside_at(&self, winding: &Winding, p: &Vector, near: f64, off: f64) -> Option<i32> {
        let value = near + self.far.at(&minus(*p, self.ball.centre));
        let rest = self.margin(winding, off);
        whole_between(value - rest, value + rest)
    }

    /// Returns the view with polynomials that are computed anew for this box, because polynomials of larger
    /// boxes have larger errors. `None` if there are no fans or a fan has no polynomial.
    pub fn sharpened(&self, winding: &Winding) -> Option<Self> {
        if winding.fans.is_empty() {
            return None;
        }
        let mut far = Local::default();
        for fan in &winding.fans {
            let is_near = fan.members.first().is_some_and(|n| self.near.contains(n));
            if !is_near {
                let seen = Local::of_fan(fan, 0, &self.ball, winding.slack, self.level);
                far.add(&seen?);
            }
        }
        Some(Self {
            far,
            ..self.clone()
        })
    }

    /// Returns a distance with the following property: if a sum differs from ½ by more than this distance,
    /// the direct sum of all angles is on the same side of ½, and its difference from ½ exceeds its own error
    /// bound.
    pub(super) fn margin(&self, winding: &Winding, off: f64) -> f64 {
        let count = winding.len() as f64;
        let near = self.near.len() as f64;
        let size = self.far.size + 0.5 * near + 1.0;
        let polynomial = self.far.value.abs() + self.far.varies(self.ball.radius);
        let place = largest(&self.ball.centre);
        let mut rounded = 2f64.powi(-40);
        if place > 0.0 {
            rounded += 8.0 * U * place / self.ball.radius;
        }
        // The factor three is the sum of one for the error of this sum and two for the direct sum.
        let of_near = 3.0 * (0.25 * off + near * 2f64.powi(-49));
        let of_far = self.far.error + 2.1 * self.far.direct + rounded * polynomial;
        1.001 * (of_near + of_far) + 8.0 * count * U * (size + polynomial)
    }
}

/// Depth of the subdivision of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The box will be divided further.
    Further,
    /// The box is not divided further. Near triangles are kept individually.
    Last,
}

/// Rounds both numbers to the nearest integer, halves up. Returns the result if it is the same for both,
/// otherwise `None`.
fn whole_between(low: f64, high: f64) -> Option<i32> {
    let low = (low + 0.5).floor();
    let high = (high + 0.5).floor();
    (low == high && low.abs() < 1e9).then_some(low as i32)
}

/// Returns the greatest absolute value.
fn largest(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |most, c| most.max(c.abs()))
}

/// Returns a ball that contains a box.
fn ball(low: &Vector, high: &Vector) -> Ball {
    let centre = std::array::from_fn(|i| low[i] + (high[i] - low[i]) / 2.0);
    let square: f64 = (0..3)
        .map(|i| (high[i] - low[i]) * (high[i] - low[i]))
        .sum();
    Ball {
        centre,
        radius: square.sqrt() / 2.0 * (1.0 + 2f64.powi(-40)),
    }
}
