//! Triangles in exact integers. They are converted only when a kernel is not sure.

use std::cmp::Ordering;
use std::sync::OnceLock;

use crate::geom::crossing::Floor;
use crate::geom::tri_box::ExactTriangle;
use crate::geom::wide::{IBig, Wide};
use crate::geom::{Rational, Triangle};

use super::lattice::KernelLattice;

/// Bound of the integers in 128-bit arithmetic. If all numbers are below it, every product of three numbers,
/// and sums of such products, fit into 127 bits.
const NARROW: u128 = 1 << 40;

/// Triangle relative to a base cell. The exact integers are created at the first use.
pub struct LazyExact<'a> {
    frame: &'a KernelLattice,
    triangle: &'a Triangle,
    base: [i64; 3],
    made: Option<Exact>,
}

enum Exact {
    Narrow(ExactTriangle<i128>, [i128; 3]),
    Wide(ExactTriangle<IBig>, [IBig; 3]),
}

impl<'a> LazyExact<'a> {
    /// Creates the triangle. Walls are counted from cell `base`.
    pub fn new(frame: &'a KernelLattice, triangle: &'a Triangle, base: [i64; 3]) -> Self {
        Self {
            frame,
            triangle,
            base,
            made: None,
        }
    }

    fn get(&mut self) -> &Exact {
        let Self {
            frame,
            triangle,
            base,
            ..
        } = self;
        self.made
            .get_or_insert_with(|| Exact::of(frame, triangle, *base))
    }

    /// Returns the position of a vertex along an axis.
    pub fn vertex(&mut self, vertex: usize, axis: usize) -> Floor {
        match self.get() {
            Exact::Narrow(exact, _) => exact.vertices[vertex][axis].floor_div(&exact.unit[axis]),
            Exact::Wide(exact, _) => exact.vertices[vertex][axis].floor_div(&exact.unit[axis]),
        }
    }

    /// Returns the position along axis `s` at which the edge between two vertices crosses a wall of axis `t`.
    pub fn edge_crossing(&mut self, edge: [usize; 2], axes: [usize; 2], wall: i64) -> Floor {
        match self.get() {
            Exact::Narrow(exact, _) => exact.edge_crossing(edge, axes, wall),
            Exact::Wide(exact, _) => exact.edge_crossing(edge, axes, wall),
        }
    }

    /// Returns the position along x at which the plane of the triangle meets the line in which walls `y` and
    /// `z` intersect. The x component of the normal must not be zero.
    pub fn plane_crossing(&mut self, y: i64, z: i64) -> Floor {
        match self.get() {
            Exact::Narrow(exact, normal) => exact.plane_crossing(normal, y, z),
            Exact::Wide(exact, normal) => exact.plane_crossing(normal, y, z),
        }
    }

    /// Returns the signs of the components of the normal.
    pub fn normal_signs(&mut self) -> [i8; 3] {
        match self.get() {
            Exact::Narrow(_, normal) => normal.each_ref().map(Wide::sign),
            Exact::Wide(_, normal) => normal.each_ref().map(Wide::sign),
        }
    }
}

impl Exact {
    fn of(frame: &KernelLattice, triangle: &Triangle, base: [i64; 3]) -> Self {
        let Some(exact) = narrow(frame, triangle, base) else {
            return Self::wide(frame, triangle, base);
        };
        let normal = exact.normal();
        Self::Narrow(exact, normal)
    }

    fn wide(frame: &KernelLattice, triangle: &Triangle, base: [i64; 3]) -> Self {
        let exact = wide(frame, triangle, base);
        let normal = exact.normal();
        Self::Wide(exact, normal)
    }

    /// Returns the side of the triangle's plane on which a point lies. The point is the intersection of three
    /// walls, displaced downwards by (ε, ε², ε³). `Greater` if the normal points away from it. `None` if the
    /// point is too far away for 128 bits.
    fn side(&self, point: [i64; 3]) -> Option<Ordering> {
        match self {
            Self::Narrow(exact, normal) => {
                for axis in 0..3 {
                    let along = i128::from(point[axis]).checked_mul(exact.unit[axis])?;
                    if along.unsigned_abs() >= NARROW {
                        return None;
                    }
                }
                Some(exact.side(normal, point))
            }
            Self::Wide(exact, normal) => Some(exact.side(normal, point)),
        }
    }
}

/// Sides of triangles on which the displaced centres of cells lie. The exact integers of each triangle are
/// created once, because creating them takes longer than one decision.
pub struct Sides<'a> {
    frame: &'a KernelLattice,
    triangles: &'a [Triangle],
    made: Vec<OnceLock<Box<Exact>>>,
}

impl<'a> Sides<'a> {
    /// Creates the set of these triangles, for decisions about the centres of a lattice. No triangle is
    /// converted yet.
    pub fn new(frame: &'a KernelLattice, triangles: &'a [Triangle]) -> Self {
        Self {
            frame,
            triangles,
            made: triangles.iter().map(|_| OnceLock::new()).collect(),
        }
    }

    /// Returns the side of triangle `n` on which the centre of a cell lies. The decision is exact. `Greater`
    /// if the normal points away from the centre. `Equal` only for triangles without area.
    pub fn of(&self, n: usize, cell: [usize; 3]) -> Ordering {
        let triangle = &self.triangles[n];
        let point = cell.map(|n| n as i64);
        let exact = self.made[n].get_or_init(|| Box::new(Exact::of(self.frame, triangle, [0; 3])));
        if let Some(side) = exact.side(point) {
            return side;
        }
        Exact::wide(self.frame, triangle, [0; 3])
            .side(point)
            .expect("integers of any size reach any point")
    }
}

/// Returns the triangle in 128-bit integers. `None` if its coordinates are so long that a product may not
/// fit.
fn narrow(
    frame: &KernelLattice,
    triangle: &Triangle,
    base: [i64; 3],
) -> Option<ExactTriangle<i128>> {
    let mut vertices = [[0; 3]; 3];
    let mut unit = [0; 3];
    for axis in 0..3 {
        let scaled = frame.axes[axis].map.scaled(triangle.map(|v| v[axis]))?;
        let corner = scaled.unit.checked_mul(base[axis].into())?;
        for (vertex, value) in vertices.iter_mut().zip(scaled.values) {
            vertex[axis] = value.checked_sub(corner)?;
        }
        unit[axis] = scaled.unit;
        // Walls that are compared are at most a cell beyond the triangle.
        let largest = vertices.iter().map(|v| v[axis].unsigned_abs()).max()?;
        if largest + 2 * unit[axis].unsigned_abs() >= NARROW {
            return None;
        }
    }
    Some(ExactTriangle { vertices, unit })
}

/// Returns the triangle in integers of any size.
fn wide(frame: &KernelLattice, triangle: &Triangle, base: [i64; 3]) -> ExactTriangle<IBig> {
    ExactTriangle::new(&triangle.map(|vertex| {
        [0, 1, 2].map(|axis| {
            let index = frame.axes[axis].map.index(vertex[axis]);
            index - Rational::from(base[axis])
        })
    }))
}
