//! The share of a cell in rational numbers: every triangle is cut by the walls of the column of cells along x, and adds
//! the volume that it bounds in the cell, from it to the high wall.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Mesh, Rational};

type Point = [Rational; 3];

/// A mesh in index space.
pub struct Exact {
    triangles: Vec<[Point; 3]>,
}

impl Exact {
    pub fn new(mesh: &Mesh, lattice: &Lattice) -> Self {
        let axes = [0, 1, 2].map(|a| lattice.axis(a));
        let placed = |t: &Triangle| t.map(|v| [0, 1, 2].map(|a| axes[a].index(v[a])));
        Self { triangles: mesh.triangles().iter().map(placed).collect() }
    }

    /// How often it winds around the points of cells of a row, on average.
    pub fn row(&self, [j, k]: [usize; 2], cells: usize) -> Vec<Rational> {
        let cut = |t: &[Point; 3]| {
            let part = [(1, j), (2, k)].into_iter().fold(t.to_vec(), |part, (a, n)| band(&part, a, n as i64));
            (part.len() > 2).then_some(part)
        };
        let parts: Vec<_> = self.triangles.iter().filter_map(cut).collect();
        (0..cells as i64)
            .map(|i| parts.iter().fold(Rational::ZERO, |sum, part| sum + bounded(part, i)))
            .collect()
    }
}

/// The signed volume in cell `i` between a part and the high wall: ∫ −n_x · min(1, i + 1 − x) dA below that wall.
fn bounded(part: &[Point], i: i64) -> Rational {
    let [low, high] = [i, i + 1].map(Rational::from);
    let below = half(part, 0, &low, false);
    let far = integral(&below, |_| Rational::ONE);
    if part.iter().all(|p| p[0] <= low) {
        return far;
    }
    let within = half(&half(part, 0, &low, true), 0, &high, false);
    let near = integral(&within, |x| &high - x);
    far + near
}

/// ∫ −n_x f(x) dA of a polygon, for an f that is linear.
fn integral(part: &[Point], f: impl Fn(&Rational) -> Rational) -> Rational {
    let mut sum = Rational::ZERO;
    for n in 2..part.len() {
        let [a, b, c] = [&part[0], &part[n - 1], &part[n]];
        let across = (&b[1] - &a[1]) * (&c[2] - &a[2]) - (&b[2] - &a[2]) * (&c[1] - &a[1]);
        let mean = (f(&a[0]) + f(&b[0]) + f(&c[0])) / Rational::from(3);
        sum = sum - across / Rational::from(2) * mean;
    }
    sum
}

fn band(part: &[Point], axis: usize, n: i64) -> Vec<Point> {
    half(&half(part, axis, &Rational::from(n), true), axis, &Rational::from(n + 1), false)
}

/// The part of a polygon above or below a wall, with what lies on it.
fn half(part: &[Point], axis: usize, wall: &Rational, is_above: bool) -> Vec<Point> {
    let is_kept = |p: &Point| if is_above { p[axis] >= *wall } else { p[axis] <= *wall };
    let mut kept = vec![];
    for n in 0..part.len() {
        let (p, q) = (&part[n], &part[(n + 1) % part.len()]);
        if is_kept(p) {
            kept.push(p.clone());
        }
        if is_kept(p) != is_kept(q) && p[axis] != *wall && q[axis] != *wall {
            let t = (wall - &p[axis]) / (&q[axis] - &p[axis]);
            kept.push([0, 1, 2].map(|a| &p[a] + &(&t * &(&q[a] - &p[a]))));
        }
    }
    kept
}
