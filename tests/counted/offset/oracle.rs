//! Finds the centres of cells within a radius of a triangle, in integers of any size: the closest point by
//! the Voronoi regions of vertices, edges and face, one after the other (Ericson, Real-Time Collision
//! Detection, section 5.1.5). The library instead uses separating axes and feet on all features.
//!
//! A distance in doubles decides alone if it differs from the radius by much more than its error.

use num_bigint::BigInt;
use voxelize::geom::closest::on_triangle;
use voxelize::{BitGrid, Lattice, Mesh, Rational};

use crate::support::meshes::each_cell;
use crate::support::oracle::{Axis, axes, fraction};

/// Doubles do not decide closer to the radius than this share of all lengths.
const NEAR: f64 = 1e-6;

/// Lattice with a radius.
pub struct Balls<'a> {
    lattice: &'a Lattice,
    axes: [Axis; 3],
    spacing: [[BigInt; 2]; 3],
    /// Radius in world units.
    radius: [BigInt; 2],
    nearly: f64,
}

/// Number of queries, and of exact queries among them.
#[derive(Debug, Default, Clone, Copy)]
pub struct Queries {
    pub pairs: u64,
    pub exactly: u64,
    pub touching: u64,
}

impl<'a> Balls<'a> {
    pub fn new(lattice: &'a Lattice, radius: &Rational) -> Self {
        let spacing = lattice.spacing().each_ref().map(fraction);
        Self {
            lattice,
            axes: axes(lattice),
            spacing,
            radius: fraction(radius),
            nearly: radius.to_f64(),
        }
    }

    /// Returns the cells that `mesh` occupies.
    pub fn cells(&self, mesh: &Mesh, queries: &mut Queries) -> BitGrid {
        let mut cells = BitGrid::try_from(self.lattice).expect("a small grid");
        for triangle in mesh.triangles() {
            let exact = Scaled::new(self, triangle);
            for cell in each_cell(self.lattice.dims()) {
                queries.pairs += 1;
                let near = match exact.nearly(cell, self.nearly) {
                    Some(near) => near,
                    None => {
                        queries.exactly += 1;
                        let side = exact.side(cell);
                        queries.touching += u64::from(side.is_eq());
                        side.is_le()
                    }
                };
                if near {
                    cells.set(cell);
                }
            }
        }
        cells
    }
}

/// Triangle and radius in integers of one unit of length.
struct Scaled {
    vertices: [[BigInt; 3]; 3],
    /// Half the sides of a cell.
    halves: [BigInt; 3],
    radius: BigInt,
    /// The same, approximately, in world units from the lattice's corner.
    doubles: [[f64; 3]; 3],
    sides: [f64; 3],
}

impl Scaled {
    fn new(balls: &Balls, triangle: &[[f32; 3]; 3]) -> Self {
        // Along an axis, lengths are integer multiples of r / (unit s).
        let units: [BigInt; 3] =
            std::array::from_fn(|a| balls.axes[a].unit() * &balls.spacing[a][1]);
        let all: BigInt = units.iter().product::<BigInt>() * &balls.radius[1];
        let factor: [BigInt; 3] = std::array::from_fn(|a| &all / &units[a] * &balls.spacing[a][0]);
        let mut vertices =
            triangle.map(|v| std::array::from_fn(|a| balls.axes[a].index(v[a]) * &factor[a]));
        let mut halves: [BigInt; 3] =
            std::array::from_fn(|a| (balls.axes[a].unit() >> 1) * &factor[a]);
        let mut radius = &all / &balls.radius[1] * &balls.radius[0];
        // Short numbers are faster.
        let numbers = vertices.iter().flatten().chain(&halves).chain([&radius]);
        let zeros = numbers
            .filter_map(BigInt::trailing_zeros)
            .min()
            .expect("sides are not zero");
        vertices
            .iter_mut()
            .flatten()
            .chain(&mut halves)
            .chain([&mut radius])
            .for_each(|n| *n >>= zeros);
        let sides = balls.lattice.spacing().each_ref().map(Rational::to_f64);
        let doubles = triangle.map(|v| {
            std::array::from_fn(|a| {
                let origin = balls.lattice.origin()[a].to_f64();
                f64::from(v[a]) - origin
            })
        });
        Self {
            vertices,
            halves,
            radius,
            doubles,
            sides,
        }
    }

    /// Reports whether a centre is near if doubles can decide. Snapping moves a vertex by less than a
    /// thousandth of a side.
    fn nearly(&self, cell: [usize; 3], radius: f64) -> Option<bool> {
        let centre = std::array::from_fn(|a| (cell[a] as f64 + 0.5) * self.sides[a]);
        let closest = on_triangle(centre, self.doubles);
        let distance = (0..3)
            .map(|a| (closest[a] - centre[a]).powi(2))
            .sum::<f64>()
            .sqrt();
        let sides = self
            .sides
            .iter()
            .fold(0.0, |most: f64, side| most.max(*side));
        let far = self
            .doubles
            .iter()
            .flatten()
            .chain(&centre)
            .fold(radius, |most: f64, c| most.max(c.abs()));
        let slack = NEAR * far + 0.002 * sides;
        if !distance.is_finite() || (distance - radius).abs() <= slack {
            return None;
        }
        Some(distance < radius)
    }

    /// Compares the distance of a centre with the radius.
    fn side(&self, cell: [usize; 3]) -> std::cmp::Ordering {
        let centre: [BigInt; 3] = std::array::from_fn(|a| &self.halves[a] * (2 * cell[a] + 1));
        let [a, b, c] = self.vertices.each_ref().map(|v| minus(v, &centre));
        let [numerator, denominator] = squared_distance(&a, &b, &c);
        numerator.cmp(&(&self.radius * &self.radius * denominator))
    }
}

pub type Vector = [BigInt; 3];

fn minus(a: &Vector, b: &Vector) -> Vector {
    std::array::from_fn(|i| &a[i] - &b[i])
}

fn dot(a: &Vector, b: &Vector) -> BigInt {
    (0..3).map(|i| &a[i] * &b[i]).sum()
}

/// Returns the squared distance of the origin from a triangle, as a fraction.
pub fn squared_distance(a: &Vector, b: &Vector, c: &Vector) -> [BigInt; 2] {
    let zero = BigInt::ZERO;
    let ab = minus(b, a);
    let ac = minus(c, a);
    let bc = minus(c, b);
    let of_vertex = |v: &Vector| [dot(v, v), BigInt::from(1)];
    let of_edge = |v: &Vector, e: &Vector| {
        let along = dot(v, e);
        let length = dot(e, e);
        [dot(v, v) * &length - &along * &along, length]
    };
    let [d1, d2] = [-dot(&ab, a), -dot(&ac, a)];
    if d1 <= zero && d2 <= zero {
        return of_vertex(a);
    }
    let [d3, d4] = [-dot(&ab, b), -dot(&ac, b)];
    if d3 >= zero && d4 <= d3 {
        return of_vertex(b);
    }
    let has_length = |e: &Vector| dot(e, e) > BigInt::ZERO;
    if &d1 * &d4 <= &d3 * &d2 && d1 >= zero && d3 <= zero && has_length(&ab) {
        return of_edge(a, &ab);
    }
    let [d5, d6] = [-dot(&ab, c), -dot(&ac, c)];
    if d6 >= zero && d5 <= d6 {
        return of_vertex(c);
    }
    if &d5 * &d2 <= &d1 * &d6 && d2 >= zero && d6 <= zero && has_length(&ac) {
        return of_edge(a, &ac);
    }
    if &d3 * &d6 <= &d5 * &d4 && d4 >= d3 && d5 >= d6 && has_length(&bc) {
        return of_edge(b, &bc);
    }
    let normal: Vector = std::array::from_fn(|i| {
        let j = (i + 1) % 3;
        let k = (i + 2) % 3;
        &ab[j] * &ac[k] - &ab[k] * &ac[j]
    });
    let away = dot(a, &normal);
    [&away * &away, dot(&normal, &normal)]
}
