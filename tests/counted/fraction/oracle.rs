//! Share of a cell in rational numbers. Every triangle is cut by the walls of the column of cells along x,
//! and contributes the volume between itself and the high wall of the cell.

use voxelize::geom::Triangle;
use voxelize::{Lattice, Mesh, Rational};

pub type Point = [Rational; 3];

/// Mesh in index space.
pub struct Exact {
    triangles: Vec<[Point; 3]>,
}

impl Exact {
    pub fn new(mesh: &Mesh, lattice: &Lattice) -> Self {
        let axes = [0, 1, 2].map(|a| lattice.axis(a));
        let placed = |t: &Triangle| t.map(|v| [0, 1, 2].map(|a| axes[a].index(v[a])));
        Self {
            triangles: mesh.triangles().iter().map(placed).collect(),
        }
    }

    /// Returns the average winding number of the points of each cell of a row.
    pub fn row(&self, [j, k]: [usize; 2], cells: usize) -> Vec<Rational> {
        let cut = |t: &[Point; 3]| {
            let part = [(1, j), (2, k)]
                .into_iter()
                .fold(t.to_vec(), |part, (a, n)| band(&part, a, n as i64));
            (part.len() > 2).then_some(part)
        };
        let parts: Vec<_> = self.triangles.iter().filter_map(cut).collect();
        (0..cells as i64)
            .map(|i| {
                parts
                    .iter()
                    .fold(Rational::ZERO, |sum, part| sum + bounded(part, i))
            })
            .collect()
    }
}

/// Returns the signed volume in cell `i` between a part and the high wall: ∫ −n_x · min(1, i + 1 − x) dA
/// below that wall.
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

/// Returns ∫ −n_x f(x) dA of a polygon, for a linear f.
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
    half(
        &half(part, axis, &Rational::from(n), true),
        axis,
        &Rational::from(n + 1),
        false,
    )
}

/// Returns the part of a polygon above or below a wall, including parts on the wall.
fn half(part: &[Point], axis: usize, wall: &Rational, is_above: bool) -> Vec<Point> {
    let is_kept = |p: &Point| {
        if is_above {
            p[axis] >= *wall
        } else {
            p[axis] <= *wall
        }
    };
    let mut kept = vec![];
    for n in 0..part.len() {
        let p = &part[n];
        let q = &part[(n + 1) % part.len()];
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

/// Exact numbers of a cell besides its share. Areas are in faces of the cell.
pub struct ExactCell {
    /// Area vectors of the pieces of the mesh in the cell.
    pub pieces: Vec<Point>,
    /// Open shares of its low faces.
    pub faces: Point,
    /// Integrals of u over its inside, from 0 to 1 along each axis.
    pub moments: Point,
}

impl Exact {
    /// Returns the numbers of a cell, computed otherwise than by sums over its pieces: faces from the parts
    /// below them in their column, and moments from the parts next to pieces along x.
    pub fn cell(&self, cell: [usize; 3]) -> ExactCell {
        let column = |axis: usize| -> Vec<Vec<Point>> {
            let others = [(axis + 1) % 3, (axis + 2) % 3];
            let cut = |t: &[Point; 3]| {
                let part = others
                    .into_iter()
                    .fold(t.to_vec(), |part, a| band(&part, a, cell[a] as i64));
                (part.len() > 2).then_some(part)
            };
            self.triangles.iter().filter_map(cut).collect()
        };
        let columns = [0, 1, 2].map(column);
        let in_cell = columns[0]
            .iter()
            .map(|part| band(part, 0, cell[0] as i64))
            .filter(|part| part.len() > 2);
        // Pieces on a wall belong to the cell on their inner side.
        let is_within = |part: &&Vec<Point>| {
            (0..3).all(|axis| {
                let [low, high] = [0, 1].map(|n| Rational::from(cell[axis] as i64 + n));
                let n = &area_vector(part)[axis];
                let is_on = |wall: &Rational| part.iter().all(|p| p[axis] == *wall);
                !(is_on(&low) && n.is_positive() || is_on(&high) && *n < Rational::ZERO)
            })
        };
        let in_cell: Vec<_> = in_cell.collect();
        let pieces = in_cell
            .iter()
            .filter(is_within)
            .map(|part| area_vector(part))
            .collect();
        let faces = [0, 1, 2].map(|axis| {
            let wall = Rational::from(cell[axis] as i64);
            let zero = Rational::ZERO;
            columns[axis].iter().fold(zero, |open, part| {
                let is_on = part.iter().all(|p| p[axis] == wall);
                let n = area_vector(&half(part, axis, &wall, false))[axis].clone();
                // A piece on the wall with the inside below closes the face.
                if is_on && !n.is_positive() {
                    open
                } else {
                    open - n
                }
            })
        });
        let moments = [0, 1, 2].map(|axis| self.moment(&columns[0], cell, axis));
        ExactCell {
            pieces,
            faces,
            moments,
        }
    }

    /// Returns ∫ u dV of the inside, from the parts of triangles in the row of the cell along x.
    fn moment(&self, row: &[Vec<Point>], cell: [usize; 3], axis: usize) -> Rational {
        let [low, high] = [0, 1].map(|n| Rational::from(cell[0] as i64 + n));
        let origin = Rational::from(cell[axis] as i64);
        let two = Rational::from(2);
        row.iter().fold(Rational::ZERO, |sum, part| {
            // A point of the surface contributes a line along x, starting at the point or at the low wall.
            let below = half(part, 0, &low, false);
            let within = if part.iter().all(|p| p[0] <= low) {
                vec![]
            } else {
                half(&half(part, 0, &low, true), 0, &high, false)
            };
            let from = |p: &Point, start: &Rational| match axis {
                0 => [&(&high - start) / &two, &(&high - &low) + &(start - &low)],
                _ => [&p[axis] - &origin, &high - start],
            };
            sum + product(&below, |p| from(p, &low)) + product(&within, |p| from(p, &p[0]))
        })
    }
}

/// Returns half the sum of the cross products along the sides.
fn area_vector(part: &[Point]) -> Point {
    let mut sum = [const { Rational::ZERO }; 3];
    for n in 2..part.len() {
        let [p, q] =
            [&part[n - 1], &part[n]].map(|corner| [0, 1, 2].map(|a| &corner[a] - &part[0][a]));
        for (axis, sum) in sum.iter_mut().enumerate() {
            let b = (axis + 1) % 3;
            let c = (axis + 2) % 3;
            *sum = &*sum + &(&(&(&p[b] * &q[c]) - &(&p[c] * &q[b])) / &Rational::from(2));
        }
    }
    sum
}

/// Returns ∫ −n_x f g dA of a polygon, for linear f and g.
fn product(part: &[Point], both: impl Fn(&Point) -> [Rational; 2]) -> Rational {
    let mut sum = Rational::ZERO;
    for n in 2..part.len() {
        let corners = [&part[0], &part[n - 1], &part[n]];
        let n_x = area_vector(&corners.map(Clone::clone))[0].clone();
        let at = corners.map(&both);
        let [f, g] = [0, 1].map(|one| {
            at.iter()
                .fold(Rational::ZERO, |all, both| all + both[one].clone())
        });
        let squares = at.iter().fold(Rational::ZERO, |all, [f, g]| all + f * g);
        sum = sum - n_x * ((f * g + squares) / Rational::from(12));
    }
    sum
}
