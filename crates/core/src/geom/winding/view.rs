//! What triangles wind around the points of a box, and of ever smaller boxes in it: those that are far
//! enough go into a polynomial, and what is left is looked at again from closer (`docs/winding.md`,
//! section 6).

use std::f64::consts::PI;

use super::Winding;
use super::fans::{Fan, FanGuess};
use super::local::{Ball, Local};
use super::reach::{apart, most};
use crate::geom::solid_angle::{U, Vector};
use voxelize_geom::vector::minus;
use voxelize_kernel::Level;

/// Triangles around a box.
#[derive(Debug, Clone)]
pub struct BoxView {
    level: Level,
    pub(super) ball: Ball,
    low: Vector,
    high: Vector,
    pub(super) far: Local,
    nodes: Vec<u32>,
    /// Fans that the box meets, or whose loop is near.
    fans: Vec<u32>,
    near: Vec<u32>,
}

impl BoxView {
    /// From the box with these corners.
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
        let ball = ball(low, high);
        let far = Local::default();
        let all = Self {
            level,
            ball,
            low: *low,
            high: *high,
            far,
            nodes,
            fans,
            near: vec![],
        };
        all.narrowed(winding, low, high, depth)
    }

    /// From a box in it.
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

    /// Takes fans into the polynomial where they are far, or where that tells all of the box; in the last box the
    /// triangles of the others one by one.
    fn take_fans(&mut self, winding: &Winding, fans: &[u32], depth: Depth) {
        let guess = |n: &u32| (winding.fans[*n as usize].guess(&self.ball), *n);
        let mut fans: Vec<_> = fans.iter().map(guess).collect();
        fans.sort_by(|(a, _), (b, _)| b.left_out.total_cmp(&a.left_out));
        // From the nearest on. Once one of them is no polynomial, others are evaluated only if they leave out little.
        let mut rest = Some(Local::default());
        for (FanGuess { left_out, first }, n) in &fans {
            let fan = &winding.fans[*n as usize];
            let is_asked = *left_out <= fan.aim() || rest.is_some() && left_out.is_finite();
            let seen = is_asked
                .then(|| Local::of_fan(fan, *first, &self.ball, winding.slack, self.level))
                .flatten();
            match seen {
                Some(seen) if seen.error <= fan.aim() => self.far.add(&seen),
                _ => {
                    self.fans.push(*n);
                    rest = rest.zip(seen).map(|(mut rest, seen)| {
                        rest.add(&seen);
                        rest
                    });
                }
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
                self.near
                    .extend(near.iter().flat_map(|n| &winding.fans[*n as usize].members));
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

    /// The greatest number of crossings that leave a point outside, if it is the same for all of the box.
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

    /// Twice how far off the angle of a triangle may be that is as far from the box, and of that size.
    fn doubt(&self, winding: &Winding, distance: f64, size: f64) -> f64 {
        let wide = (distance + 2.0 * self.ball.radius + size) / distance;
        let off = 0.05 * (64.0 * U + 23.0 * winding.slack / distance) * wide * wide * wide;
        // The least of both where that is not a number, too.
        2.0 * 0.25_f64.min(off + 2f64.powi(-50))
    }

    /// The triangles that are near, their corners seen from `from`, and what these may be off by.
    pub fn near(&self, winding: &Winding, from: &Vector) -> (Vec<[f64; 9]>, f64) {
        let mut farthest = from
            .iter()
            .chain(&minus(self.high, *from))
            .fold(0.0_f64, |most, c| most.max(c.abs()));
        let corners = |n: &u32| {
            let corners = winding.triangles[*n as usize]
                .corners
                .map(|v| minus(v, *from));
            let flat = corners.as_flattened();
            flat.try_into().unwrap_or([0.0; 9])
        };
        let near: Vec<[f64; 9]> = self.near.iter().map(corners).collect();
        farthest = near
            .iter()
            .flatten()
            .fold(farthest, |most, c| most.max(c.abs()));
        (near, winding.slack + 8.0 * U * farthest)
    }

    /// The greatest number of crossings that leave a point of the box outside, where near triangles wind
    /// around it by `near`, with numbers that are off by `off` of their sizes in all, if that says it.
    pub fn outside_at(&self, winding: &Winding, p: &Vector, near: f64, off: f64) -> Option<i32> {
        let value = near + self.far.at(&minus(*p, self.ball.centre));
        let rest = self.margin(winding, off);
        whole_between(value - rest, value + rest)
    }

    /// The same with polynomials of this box alone, where there are fans: those of larger boxes leave out more.
    pub fn sharpened(&self, winding: &Winding) -> Option<Self> {
        let is_near = |fan: &Fan| fan.members.first().is_some_and(|n| self.near.contains(n));
        let mut far = Local::default();
        for fan in winding.fans.iter().filter(|fan| !is_near(fan)) {
            far.add(&Local::of_fan(
                fan,
                0,
                &self.ball,
                winding.slack,
                self.level,
            )?);
        }
        (!winding.fans.is_empty()).then(|| Self {
            far,
            ..self.clone()
        })
    }

    /// How far from ½ a sum must be so that the sum of all angles one by one is on the same side of it, and
    /// farther than its own error.
    pub(super) fn margin(&self, winding: &Winding, off: f64) -> f64 {
        let count = winding.len() as f64;
        let near = self.near.len() as f64;
        let size = self.far.size + 0.5 * near + 1.0;
        let polynomial = self.far.value.abs() + self.far.varies(self.ball.radius);
        let place = self
            .ball
            .centre
            .iter()
            .fold(0.0_f64, |most, c| most.max(c.abs()));
        let rounded = 2f64.powi(-40)
            + if place > 0.0 {
                8.0 * U * place / self.ball.radius
            } else {
                0.0
            };
        // Three times: for the sum itself, and twice for that one by one.
        let of_near = 3.0 * (0.25 * off + near * 2f64.powi(-49));
        let of_far = self.far.error + 2.1 * self.far.direct + rounded * polynomial;
        1.001 * (of_near + of_far) + 8.0 * count * U * (size + polynomial)
    }
}

/// Whether a box is to be divided further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// It is.
    Further,
    /// It is not: what is near is taken triangle by triangle.
    Last,
}

/// Where no number between these, and a half, passes a whole one: the whole number below.
fn whole_between(low: f64, high: f64) -> Option<i32> {
    let low = (low + 0.5).floor();
    let high = (high + 0.5).floor();
    (low == high && low.abs() < 1e9).then_some(low as i32)
}

/// The ball around a box.
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
