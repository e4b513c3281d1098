//! Approximates the winding number of distant triangles by their area vector and its first and second moments
//! about a centre. `docs/internals/winding.md`, sections 2 and 3, derives the formulas.

use std::f64::consts::PI;

use super::{Estimate, Placed};
use crate::geom::solid_angle::Vector;
use voxelize_geom::vector::{cross, dot, minus};

/// Integrals over a set of triangles. `h` is the offset of a point of a triangle from `centre`, and `n` is
/// the unit normal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moments {
    pub centre: Vector,
    /// Upper bound of the distance from the centre to the points of the triangles.
    pub radius: f64,
    /// ∫ dA, rounded up.
    pub area: f64,
    /// Sum over all triangles of the product of two side lengths. Rounding errors are proportional to it.
    pub span: f64,
    /// ∫ h dA. It is almost zero, because the centre is the centroid.
    first: Vector,
    /// ∫ |h|² dA.
    second: f64,
    /// ∫ n dA.
    dipole: Vector,
    /// Entry `[i][k]` is ∫ h_i n_k dA.
    linear: [Vector; 3],
    /// Entry `[PLACE[i][j]][k]` is ∫ h_i h_j n_k dA, for each pair of axes.
    square: [Vector; 6],
}

/// All pairs of axes, without regard to order.
pub(super) const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// Index of the pair (i, j) in [`PAIRS`], in either order.
const PLACE: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

/// Winding number of a set of triangles at a point, with bounds.
pub(super) struct Seen {
    pub estimate: Estimate,
    /// Upper bound of the sum of the magnitudes of the triangles' angles.
    pub size: f64,
    /// Error bound of the angle of one triangle, divided by the error of the triangle's corners.
    pub nearness: f64,
}

impl Moments {
    /// Returns the moments of an empty set of triangles.
    pub(super) fn none(centre: Vector) -> Self {
        let linear = [[0.0; 3]; 3];
        let square = [[0.0; 3]; 6];
        Self {
            centre,
            radius: 0.0,
            area: 0.0,
            span: 0.0,
            first: [0.0; 3],
            second: 0.0,
            dipole: [0.0; 3],
            linear,
            square,
        }
    }

    /// Returns the moments of a few triangles about their centroid, or about `middle` if they have no area.
    pub(super) fn of(triangles: &[Placed], middle: Vector) -> Self {
        let mut area = 0.0;
        let mut first = [0.0; 3];
        for Placed {
            corners: [a, b, c], ..
        } in triangles
        {
            let normal = cross(minus(*b, *a), minus(*c, *a));
            let its = dot(normal, normal).sqrt();
            area += its;
            (0..3).for_each(|i| {
                first[i] += its * ((a[i] - middle[i]) + (b[i] - middle[i]) + (c[i] - middle[i]))
            });
        }
        let mut all = Self::none(centre_of(area * 3.0, &first, middle));
        triangles.iter().for_each(|triangle| all.add(triangle));
        all
    }

    fn add(&mut self, triangle: &Placed) {
        let [a, b, c] = triangle.corners.map(|v| minus(v, self.centre));
        for corner in [&a, &b, &c] {
            self.radius = self
                .radius
                .max(dot(*corner, *corner).sqrt() * (1.0 + 1e-12));
        }
        let vector = cross(minus(b, a), minus(c, a)).map(|x| x / 2.0);
        let span = (dot(minus(b, a), minus(b, a)) * dot(minus(c, a), minus(c, a))).sqrt();
        // The computed area of an extremely thin triangle may be zero.
        let area = dot(vector, vector).sqrt() + span * 2f64.powi(-49);
        let sum: Vector = std::array::from_fn(|i| a[i] + b[i] + c[i]);
        // Integral of h_i h_j over a triangle, divided by its area.
        let square =
            |i: usize, j: usize| (a[i] * a[j] + b[i] * b[j] + c[i] * c[j] + sum[i] * sum[j]) / 12.0;
        self.area += area;
        self.span += span;
        self.second += area * (square(0, 0) + square(1, 1) + square(2, 2));
        for i in 0..3 {
            self.first[i] += area * sum[i] / 3.0;
            self.dipole[i] += vector[i];
            (0..3).for_each(|k| self.linear[i][k] += sum[i] / 3.0 * vector[k]);
        }
        for (n, (i, j)) in PAIRS.into_iter().enumerate() {
            let its = square(i, j);
            (0..3).for_each(|k| self.square[n][k] += its * vector[k]);
        }
    }

    /// Returns the moments of the union of two sets about their common centroid, or about `middle` if they
    /// have no area.
    pub(super) fn joined(one: &Self, two: &Self, middle: Vector) -> Self {
        let mut first = [0.0; 3];
        for part in [one, two] {
            let from = minus(part.centre, middle);
            (0..3).for_each(|i| first[i] += part.area * from[i] + part.first[i]);
        }
        let mut all = Self::none(centre_of(one.area + two.area, &first, middle));
        all.take(one);
        all.take(two);
        all
    }

    /// Adds the moments of `part`, converted to this centre.
    fn take(&mut self, part: &Self) {
        let by = minus(part.centre, self.centre);
        let way = dot(by, by);
        self.radius = self.radius.max((way.sqrt() + part.radius) * (1.0 + 1e-12));
        self.area += part.area;
        self.span += part.span;
        self.second += part.second + 2.0 * dot(by, part.first) + way * part.area;
        for (i, by) in by.iter().enumerate() {
            self.first[i] += part.first[i] + by * part.area;
            self.dipole[i] += part.dipole[i];
            for (k, dipole) in part.dipole.iter().enumerate() {
                self.linear[i][k] += part.linear[i][k] + by * dipole;
            }
        }
        for (n, (i, j)) in PAIRS.into_iter().enumerate() {
            for k in 0..3 {
                let moved = by[i] * part.linear[j][k] + by[j] * part.linear[i][k];
                self.square[n][k] += part.square[n][k] + moved + by[i] * by[j] * part.dipole[k];
            }
        }
    }

    /// Returns the approximate winding number of the triangles at `p`. `None` if `p` is not farther from the
    /// centre than `far` times the radius. `far` must be at least two.
    #[inline]
    pub(super) fn seen_from(&self, p: &Vector, far: f64) -> Option<Seen> {
        let to = minus(self.centre, *p);
        let square = dot(to, to);
        if square <= far * far * self.radius * self.radius || square == 0.0 {
            return None;
        }
        let distance = square.sqrt();
        let way = to.map(|x| x / distance);
        let mut trace = 0.0;
        let mut linear = 0.0;
        let mut lone = 0.0;
        let mut twice = 0.0;
        for k in 0..3 {
            trace += self.linear[k][k];
            for i in 0..3 {
                linear += way[i] * way[k] * self.linear[i][k];
                lone += way[k] * self.square[PLACE[i][i]][k]
                    + 2.0 * way[i] * self.square[PLACE[i][k]][k];
                for j in 0..3 {
                    twice += way[i] * way[j] * way[k] * self.square[PLACE[i][j]][k];
                }
            }
        }
        let scale = 1.0 / (4.0 * PI * square);
        let second = (-1.5 * lone + 7.5 * twice) / square;
        let value = scale * (dot(way, self.dipole) + (trace - 3.0 * linear) / distance + second);
        let q = self.radius / distance;
        let left_out = (4.0 - 3.0 * q) / ((1.0 - q) * (1.0 - q)) * q * self.second / square;
        // The second term bounds the rounding errors.
        let error = 1.001 * scale * (left_out + self.span * 2f64.powi(-40));
        let nearness = 1.6 / (distance - self.radius);
        // The factor 4.1 is valid because the nearest point of the ball is at least half as far away as the
        // centre.
        Some(Seen {
            estimate: Estimate { value, error },
            size: 4.1 * scale * self.area,
            nearness,
        })
    }

    /// Returns the first derivatives and half the second derivatives of the winding number at a point. `to`
    /// is the vector from the point to the centre. The first derivatives ignore the second moments, and the
    /// second derivatives ignore the first and second moments.
    pub(super) fn slopes(&self, to: &Vector, distance: f64) -> (Vector, [f64; 6]) {
        let way = to.map(|x| x / distance);
        let along = dot(way, self.dipole);
        let linear = &self.linear;
        let trace = linear[0][0] + linear[1][1] + linear[2][2];
        let both: Vector =
            std::array::from_fn(|i| (0..3).map(|k| (linear[i][k] + linear[k][i]) * way[k]).sum());
        let twice = dot(way, both) / 2.0;
        let scale = 1.0 / (4.0 * PI * distance * distance * distance);
        let gradient = std::array::from_fn(|i| {
            let first = 3.0 * along * way[i] - self.dipole[i];
            let second = 3.0 * (trace * way[i] + both[i]) - 15.0 * twice * way[i];
            scale * (first + second / distance)
        });
        let scale = scale / distance;
        let square = PAIRS.map(|(i, j)| {
            let mixed = -3.0 * (self.dipole[i] * way[j] + self.dipole[j] * way[i]);
            let all = mixed + 15.0 * along * way[i] * way[j];
            if i == j {
                scale / 2.0 * (all - 3.0 * along)
            } else {
                scale * all
            }
        });
        (gradient, square)
    }
}

fn centre_of(area: f64, first: &Vector, middle: Vector) -> Vector {
    let centre = std::array::from_fn(|i| middle[i] + first[i] / area);
    if area > 0.0 && centre.iter().all(|c| c.is_finite()) {
        centre
    } else {
        middle
    }
}
