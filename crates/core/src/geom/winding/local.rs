//! Winding numbers in a ball, as a polynomial of second degree about its centre. Triangles are added one by
//! one, and nodes of the tree at once if they are far enough for their size (`docs/internals/winding.md`, section 6).

use std::f64::consts::PI;

use super::Estimate;
use super::moments::{Moments, PAIRS};
use crate::geom::solid_angle::{self, U, Vector};
use voxelize_geom::vector::{cross, dot, minus};

/// Ball.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ball {
    pub centre: Vector,
    pub radius: f64,
}

/// Winding number around a point of a ball, as a polynomial.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Local {
    pub value: f64,
    pub gradient: Vector,
    /// Coefficients of the products of pairs of axes.
    pub square: [f64; 6],
    /// Error bound relative to the sum of exact angles.
    pub error: f64,
    /// Error bound of the direct sum of angles relative to the sum of exact angles.
    pub direct: f64,
    /// Upper bound of the sum of the magnitudes of the angles.
    pub size: f64,
}

impl Local {
    /// Evaluates the polynomial at a point relative to the centre.
    pub(super) fn at(&self, h: &Vector) -> f64 {
        let square: f64 = PAIRS
            .iter()
            .zip(&self.square)
            .map(|((i, j), its)| its * h[*i] * h[*j])
            .sum();
        self.value + dot(self.gradient, *h) + square
    }

    /// Returns an upper bound of the deviation from the central value in a ball of that radius.
    pub(super) fn varies(&self, radius: f64) -> f64 {
        let square: f64 = self.square.iter().map(|x| x * x).sum();
        1.000_001 * radius * (dot(self.gradient, self.gradient).sqrt() + radius * square.sqrt())
    }

    /// Returns this polynomial about another centre, displaced by `by`.
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

    /// Returns the polynomial of a node with `count` triangles if its error is at most `aim`.
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

    /// Returns the polynomial of a triangle if its error is at most `aim`, its rim is far enough, and the
    /// ball does not meet it.
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

/// Rim of a triangle, seen from the centre of a ball.
struct Rim {
    /// Distances of the corners.
    lengths: [f64; 3],
    /// Lengths of the edges.
    edges: [f64; 3],
    /// Distances of the edges.
    distances: [f64; 3],
    /// Distance of the nearest edge.
    distance: f64,
    /// Distance of the farthest corner.
    farthest: f64,
    /// Twice the area, as a vector.
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
            // Slightly less, for rounding.
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

    /// Returns the distance of the triangle: the distance of its plane if the centre is above its face,
    /// otherwise the distance of its rim.
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

    /// Bounds the integral of 1/dist⁴ over the edges, for distances reduced by the radius of the ball.
    fn by_edges(&self, reach: f64) -> f64 {
        self.by_edge(0, reach) + self.by_edge(1, reach) + self.by_edge(2, reach)
    }

    /// Bounds the integral of 1/dist⁴ over one edge.
    fn by_edge(&self, n: usize, reach: f64) -> f64 {
        let d = self.distances[n];
        (self.edges[n] / d).min(PI / 2.0) / (d * d * d) / (1.0 - reach / d)
    }

    /// Bounds the integral of 1/dist⁵ over the triangle.
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

/// Derivatives of the winding number of a surface with given edges: the field of a current along the edges,
/// by the law of Biot and Savart.
#[derive(Default)]
pub(super) struct EdgeSlopes {
    pub gradient: Vector,
    pub second: [Vector; 3],
}

impl EdgeSlopes {
    /// Adds an edge, given by its ends relative to the centre and their distances.
    fn add(&mut self, a: &Vector, b: &Vector, of_a: f64, of_b: f64) {
        let v = cross(*a, *b);
        let both = of_a * of_b;
        let round = both + dot(*a, *b);
        let bottom = both * round;
        let f = (of_a + of_b) / bottom;
        let edge = minus(*a, *b);
        // Change of f as the centre moves.
        let of_f: Vector = std::array::from_fn(|i| {
            let to_a = a[i] / of_a;
            let to_b = b[i] / of_b;
            let of_both = -(of_b * to_a + of_a * to_b);
            let of_bottom = of_both * round + both * (of_both - (a[i] + b[i]));
            (-(to_a + to_b) - f * of_bottom) / bottom
        });
        // Change of v: the cross product of an axis and the edge.
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
