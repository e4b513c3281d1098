//! Approximates the winding number in a ball by a quadratic polynomial about its centre. Triangles are added
//! one by one. A node of the tree is added as a whole if it is far enough away for its size
//! (`docs/internals/winding.md`, section 6).

use std::f64::consts::PI;

use super::Estimate;
use super::moments::{Moments, PAIRS};
use crate::geom::solid_angle::{self, U, Vector};
use voxelize_geom::vector::{cross, dot, minus};

/// Ball, given by its centre and radius.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    pub centre: Vector,
    pub radius: f64,
}

/// Winding number in a ball, as a quadratic polynomial in the offset from the centre.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub value: f64,
    pub gradient: Vector,
    /// Coefficients of the products of two coordinates, in the order of [`PAIRS`].
    pub square: [f64; 6],
    /// Bound of the difference between the polynomial and the sum of the exact angles.
    pub error: f64,
    /// Bound of the difference between the direct sum of computed angles and the sum of the exact angles.
    pub direct: f64,
    /// Upper bound of the sum of the magnitudes of the angles.
    pub size: f64,
}

impl Local {
    /// Evaluates the polynomial at a point, which is given relative to the centre.
    pub(super) fn at(&self, h: &Vector) -> f64 {
        let square: f64 = PAIRS
            .iter()
            .zip(&self.square)
            .map(|((i, j), its)| its * h[*i] * h[*j])
            .sum();
        self.value + dot(self.gradient, *h) + square
    }

    /// Returns an upper bound of the difference between the value at the centre and any value in a ball of
    /// this radius.
    pub(super) fn varies(&self, radius: f64) -> f64 {
        let square: f64 = self.square.iter().map(|x| x * x).sum();
        1.000_001 * radius * (dot(self.gradient, self.gradient).sqrt() + radius * square.sqrt())
    }

    /// Returns the same polynomial about another centre, which is displaced by `by`.
    pub(super) fn moved(&self, by: &Vector) -> Self {
        let mut gradient = self.gradient;
        for ((i, j), its) in PAIRS.into_iter().zip(&self.square) {
            gradient[i] += its * by[j];
            gradient[j] += its * by[i];
        }
        Self {
            value: self.at(by),
            gradient,
            ..*self
        }
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.value += more.value;
        (0..3).for_each(|i| self.gradient[i] += more.gradient[i]);
        (0..6).for_each(|i| self.square[i] += more.square[i]);
        self.error += more.error;
        self.direct += more.direct;
        self.size += more.size;
    }

    /// Returns the polynomial of a node with `count` triangles. `None` if its error may exceed `aim`.
    pub(super) fn of_node(
        node: &Moments,
        count: usize,
        ball: &Ball,
        aim: f64,
        slack: f64,
    ) -> Option<Self> {
        let to = minus(node.centre, ball.centre);
        let way = dot(to, to);
        let reach = node.radius + ball.radius;
        if way <= 4.0 * reach * reach {
            return None;
        }
        let distance = way.sqrt();
        let q = reach / distance;
        let scale = 1.0 / (4.0 * PI * way);
        let left_out = (4.0 - 3.0 * q) / ((1.0 - q) * (1.0 - q)) * q * q * q * node.area;
        let error = 1.001 * scale * (left_out + node.span * 2f64.powi(-38));
        if error > aim {
            return None;
        }
        let value = node.seen_from(&ball.centre, 2.0)?.estimate.value;
        let (gradient, square) = node.slopes(&to, distance);
        let nearest = distance - reach;
        let direct = count as f64 * (2f64.powi(-49) + 1.6 * slack / nearest);
        let size = 1.01 * node.area / (4.0 * PI * nearest * nearest);
        Some(Self {
            value,
            gradient,
            square,
            error,
            direct,
            size,
        })
    }

    /// Returns the polynomial of a triangle. `None` if its error may exceed `aim`, if its rim is too near, or
    /// if the ball may intersect the triangle.
    pub(super) fn of_triangle(
        triangle: &[Vector; 3],
        ball: &Ball,
        aim: f64,
        slack: f64,
    ) -> Option<Self> {
        let corners = triangle.map(|v| minus(v, ball.centre));
        let reach = ball.radius;
        let rim = Rim::of(&corners);
        let near = rim.distance;
        let to_face = rim.to_face(&corners);
        if near < 2.0 * reach || to_face < 1.01 * reach || near == 0.0 {
            return None;
        }
        let cube = reach * reach * reach;
        let q = reach / to_face;
        let by_area = rim.by_area(to_face) * (4.0 - 3.0 * q) / ((1.0 - q) * (1.0 - q));
        let left_out = cube / (4.0 * PI) * rim.by_edges(reach).min(by_area);
        let far = rim.farthest;
        let rest = near - reach;
        let wide = (far / near) * (far / near);
        let error = 1.001 * left_out + 2f64.powi(-44) * wide * wide;
        if error > aim || error.is_nan() {
            return None;
        }
        let Estimate {
            value,
            error: of_value,
        } = solid_angle::far_from(triangle, &ball.centre)?;
        let (gradient, square) = slopes(&corners, &rim.lengths);
        let wide = (far + reach) / rest;
        let direct = 0.05 * (64.0 * U + 23.0 * slack / rest) * wide * wide * wide + 2f64.powi(-50);
        Some(Self {
            value,
            gradient,
            square,
            error: error + of_value,
            direct,
            size: 0.5,
        })
    }
}

/// Measurements of a triangle's rim relative to the centre of a ball.
struct Rim {
    /// Distance of each corner from the centre.
    lengths: [f64; 3],
    /// Length of each edge.
    edges: [f64; 3],
    /// Lower bound of the distance of each edge from the centre.
    distances: [f64; 3],
    /// Lower bound of the distance of the nearest edge.
    distance: f64,
    /// Distance of the farthest corner from the centre.
    farthest: f64,
    /// Normal whose length is twice the area.
    normal: Vector,
}

impl Rim {
    fn of(corners: &[Vector; 3]) -> Self {
        let lengths = corners.map(|v| dot(v, v).sqrt());
        let [a, b, c] = corners;
        let sides = [minus(*b, *a), minus(*c, *b), minus(*a, *c)];
        let edges = sides.map(|v| dot(v, v).sqrt());
        let distance = |n: usize| {
            let from = &corners[n];
            let side = &sides[n];
            let along = (-dot(*from, *side) / (edges[n] * edges[n])).clamp(0.0, 1.0);
            let nearest: Vector = std::array::from_fn(|i| from[i] + along * side[i]);
            // Slightly reduced to allow for rounding.
            (dot(nearest, nearest).sqrt() - 8.0 * U * (lengths[n] + edges[n]))
                * (1.0 - 2f64.powi(-40))
        };
        let distances = [distance(0), distance(1), distance(2)];
        let normal = cross(sides[0], minus(*c, *a));
        let distance = distances.into_iter().fold(f64::INFINITY, f64::min).max(0.0);
        let farthest = lengths.into_iter().fold(0.0, f64::max);
        Self {
            lengths,
            edges,
            distances,
            distance,
            farthest,
            normal,
        }
    }

    /// Returns a lower bound of the distance of the triangle. It is the distance of its plane if the centre
    /// projects into the triangle, otherwise the distance of its rim.
    fn to_face(&self, corners: &[Vector; 3]) -> f64 {
        let [a, b, c] = corners;
        let above = [(a, b), (b, c), (c, a)]
            .iter()
            .all(|(p, q)| dot(cross(**p, **q), self.normal) >= 0.0);
        let height = dot(*a, self.normal).abs() / dot(self.normal, self.normal).sqrt();
        if above {
            height.min(self.distance)
        } else {
            self.distance
        }
    }

    /// Returns an upper bound of the integral of 1/dist⁴ over the edges, for any point of the ball. `reach`
    /// is the radius of the ball.
    fn by_edges(&self, reach: f64) -> f64 {
        self.by_edge(0, reach) + self.by_edge(1, reach) + self.by_edge(2, reach)
    }

    /// Returns an upper bound of the integral of 1/dist⁴ over one edge, for any point of the ball.
    fn by_edge(&self, n: usize, reach: f64) -> f64 {
        let d = self.distances[n];
        (self.edges[n] / d).min(PI / 2.0) / (d * d * d) / (1.0 - reach / d)
    }

    /// Returns an upper bound of the integral of 1/dist⁵ over the triangle. `distance` is a lower bound of
    /// its distance.
    fn by_area(&self, distance: f64) -> f64 {
        let longest = self.edges.into_iter().fold(0.0, f64::max);
        let rounded = longest * longest * 2f64.powi(-49);
        let area = dot(self.normal, self.normal).sqrt() / 2.0 + rounded;
        let fourth = distance * distance * distance * distance;
        area / fourth * (1.0 / distance).min(5.0 / longest)
    }
}

/// Returns the first derivatives of the winding number of a triangle, and half its second derivatives.
fn slopes(corners: &[Vector; 3], lengths: &[f64; 3]) -> (Vector, [f64; 6]) {
    let mut slopes = EdgeSlopes::default();
    for n in 0..3 {
        let m = (n + 1) % 3;
        slopes.add(&corners[n], &corners[m], lengths[n], lengths[m]);
    }
    slopes.done()
}

/// Derivatives of the winding number of a surface with given boundary edges. The gradient is the magnetic
/// field of a current along the edges, by the law of Biot and Savart.
#[derive(Default)]
pub(super) struct EdgeSlopes {
    pub gradient: Vector,
    pub second: [Vector; 3],
}

impl EdgeSlopes {
    /// Adds an edge. `a` and `b` are its ends relative to the centre, and `of_a` and `of_b` are their
    /// distances from it.
    fn add(&mut self, a: &Vector, b: &Vector, of_a: f64, of_b: f64) {
        let v = cross(*a, *b);
        let both = of_a * of_b;
        let round = both + dot(*a, *b);
        let bottom = both * round;
        let f = (of_a + of_b) / bottom;
        let edge = minus(*a, *b);
        // Derivatives of f with respect to the position of the centre.
        let of_f: Vector = std::array::from_fn(|i| {
            let to_a = a[i] / of_a;
            let to_b = b[i] / of_b;
            let of_both = -(of_b * to_a + of_a * to_b);
            let of_bottom = of_both * round + both * (of_both - (a[i] + b[i]));
            (-(to_a + to_b) - f * of_bottom) / bottom
        });
        // Derivatives of v with respect to the position of the centre: the cross products of an axis and the
        // edge.
        let of_v = [
            [0.0, edge[2], -edge[1]],
            [-edge[2], 0.0, edge[0]],
            [edge[1], -edge[0], 0.0],
        ];
        for i in 0..3 {
            self.gradient[i] += f * v[i];
            (0..3).for_each(|j| self.second[i][j] += v[i] * of_f[j] + f * of_v[i][j]);
        }
    }

    /// Returns the first derivatives and half the second derivatives.
    pub(super) fn done(&self) -> (Vector, [f64; 6]) {
        let Self { gradient, second } = self;
        let scale = 1.0 / (4.0 * PI);
        let half = |(i, j): (usize, usize)| {
            if i == j {
                scale / 2.0 * second[i][i]
            } else {
                scale / 2.0 * (second[i][j] + second[j][i])
            }
        };
        (gradient.map(|x| scale * x), PAIRS.map(half))
    }
}
