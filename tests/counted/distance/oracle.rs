//! Distances by testing all triangles: doubles select the few candidates for the nearest, and fractions
//! decide.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Rational};

type Exact3 = [Rational; 3];

/// Triangles of a mesh, each with one of its points and the radius of a ball around that point.
pub struct Brute<'a> {
    triangles: &'a [Triangle],
    balls: Vec<[f32; 4]>,
}

impl<'a> Brute<'a> {
    pub fn new(triangles: &'a [Triangle]) -> Self {
        let ball = |triangle: &Triangle| {
            let middle =
                [0, 1, 2].map(|a| triangle.iter().map(|v| f64::from(v[a])).sum::<f64>() / 3.0);
            let centre = middle.map(|c| c as f32);
            let reach = triangle
                .iter()
                .map(|v| length([0, 1, 2].map(|a| f64::from(v[a]) - f64::from(centre[a]))));
            let radius = reach.fold(0.0, f64::max) * 1.0001;
            [centre[0], centre[1], centre[2], radius as f32]
        };
        Self {
            triangles,
            balls: triangles.iter().map(ball).collect(),
        }
    }

    /// Returns the exact squared distance of a cell's centre, and the first of the triangles at exactly that
    /// distance.
    pub fn nearest(&self, lattice: &Lattice, cell: [usize; 3]) -> (Rational, usize) {
        let exact: Exact3 = [0, 1, 2].map(|a| {
            let half = &lattice.spacing()[a] * &Rational::new(2 * cell[a] as i64 + 1, 2);
            &lattice.origin()[a] + &half
        });
        let point = exact.each_ref().map(Rational::to_f64);
        let near = point.map(|c| c as f32);
        let square = |ball: &[f32; 4]| {
            let [x, y, z] = [ball[0] - near[0], ball[1] - near[1], ball[2] - near[2]];
            x * x + y * y + z * z
        };
        // The centre and radius of the ball bound the distance of the triangle.
        let bound = self
            .balls
            .iter()
            .map(|ball| square(ball).sqrt() + ball[3])
            .fold(f32::INFINITY, f32::min);
        let largest = near.iter().fold(0.0_f32, |most, c| most.max(c.abs()));
        let bound = bound * 1.0001 + 1e-5 * largest;
        let may_be =
            |(n, ball): (usize, &[f32; 4])| (square(ball).sqrt() - ball[3] <= bound).then_some(n);
        let candidates: Vec<usize> = self.balls.iter().enumerate().filter_map(may_be).collect();
        let about: Vec<f64> = candidates
            .iter()
            .map(|n| rough(point, &self.triangles[*n]))
            .collect();
        let least = about.iter().copied().fold(f64::INFINITY, f64::min);
        let limit = least * (1.0 + 1e-6) + 1e-6 * f64::from(largest);
        let close = candidates
            .iter()
            .zip(&about)
            .filter(|(_, about)| **about <= limit);
        let decided = close.map(|(n, _)| (squared(&exact, &self.triangles[*n]), *n));
        decided.min().expect("a mesh has triangles")
    }
}

fn length(v: [f64; 3]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}

/// Returns a distance with a relative error of a millionth, computed from the edges and the face.
fn rough(point: [f64; 3], triangle: &Triangle) -> f64 {
    let [a, b, c] = triangle.map(|v| v.map(f64::from));
    let less = |p: [f64; 3], q: [f64; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    let dot = |p: [f64; 3], q: [f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let edge = |a: [f64; 3], b: [f64; 3]| {
        let along = less(b, a);
        let from = less(point, a);
        let size = dot(along, along);
        let t = if size > 0.0 {
            (dot(from, along) / size).clamp(0.0, 1.0)
        } else {
            0.0
        };
        length([0, 1, 2].map(|n| from[n] - t * along[n]))
    };
    let edges = edge(a, b).min(edge(b, c)).min(edge(c, a));
    let u = less(b, a);
    let v = less(c, a);
    let w = less(point, a);
    let uu = dot(u, u);
    let uv = dot(u, v);
    let vv = dot(v, v);
    let wu = dot(w, u);
    let wv = dot(w, v);
    let size = uu * vv - uv * uv;
    let s = (vv * wu - uv * wv) / size;
    let t = (uu * wv - uv * wu) / size;
    if !(size > 0.0 && s >= 0.0 && t >= 0.0 && s + t <= 1.0) {
        return edges;
    }
    edges.min(length([0, 1, 2].map(|n| w[n] - s * u[n] - t * v[n])))
}

fn dot(a: &Exact3, b: &Exact3) -> Rational {
    (0..3).fold(Rational::ZERO, |sum, n| sum + &a[n] * &b[n])
}

fn less(a: &Exact3, b: &Exact3) -> Exact3 {
    [0, 1, 2].map(|n| &a[n] - &b[n])
}

/// Returns the exact squared distance of a point from a triangle of any shape.
fn squared(point: &Exact3, triangle: &Triangle) -> Rational {
    let [a, b, c] = triangle.map(|v| v.map(|c| Rational::from_f32(c).expect("finite")));
    let edges = [(&a, &b), (&b, &c), (&c, &a)].map(|(a, b)| {
        let along = less(b, a);
        let from = less(point, a);
        let size = dot(&along, &along);
        let part = dot(&from, &along);
        if part <= Rational::ZERO {
            return dot(&from, &from);
        }
        if part >= size {
            let from = less(point, b);
            return dot(&from, &from);
        }
        dot(&from, &from) - &part * &part / &size
    });
    let edges = edges.into_iter().min().expect("three edges");
    // The foot of the perpendicular, by Gram's determinants.
    let u = less(&b, &a);
    let v = less(&c, &a);
    let w = less(point, &a);
    let uu = dot(&u, &u);
    let uv = dot(&u, &v);
    let vv = dot(&v, &v);
    let wu = dot(&w, &u);
    let wv = dot(&w, &v);
    let size = &uu * &vv - &uv * &uv;
    let s = &vv * &wu - &uv * &wv;
    let t = &uu * &wv - &uv * &wu;
    if size <= Rational::ZERO || s < Rational::ZERO || t < Rational::ZERO || &s + &t > size {
        return edges;
    }
    let plane = dot(&w, &w) - (&s * &wu + &t * &wv) / &size;
    edges.min(plane)
}
