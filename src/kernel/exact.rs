//! A triangle in exact integers, made only when a kernel is not sure.

use std::cmp::Ordering;

use crate::geom::crossing::Floor;
use crate::geom::tri_box::ExactTriangle;
use crate::geom::wide::{IBig, Wide};
use crate::geom::{Rational, Triangle};

use super::frame::Frame;

/// Integers below 2^40 keep every product of three of them, and sums of those, within 127 bits.
const NARROW: u128 = 1 << 40;

/// A triangle relative to a base cell, exactly, made on first use.
pub struct LazyExact<'a> {
    frame: &'a Frame,
    triangle: &'a Triangle,
    base: [i64; 3],
    made: Option<Exact>,
}

enum Exact {
    Narrow(ExactTriangle<i128>, [i128; 3]),
    Wide(ExactTriangle<IBig>, [IBig; 3]),
}

impl<'a> LazyExact<'a> {
    /// The triangle with walls counted from cell `base`.
    pub fn new(frame: &'a Frame, triangle: &'a Triangle, base: [i64; 3]) -> Self {
        Self { frame, triangle, base, made: None }
    }

    fn get(&mut self) -> &Exact {
        let Self { frame, triangle, base, .. } = self;
        self.made.get_or_insert_with(|| match narrow(frame, triangle, *base) {
            Some(exact) => {
                let normal = exact.normal();
                Exact::Narrow(exact, normal)
            }
            None => {
                let exact = wide(frame, triangle, *base);
                let normal = exact.normal();
                Exact::Wide(exact, normal)
            }
        })
    }

    /// Where the edge between two vertices crosses a wall of axis `t`, along axis `s`.
    pub fn edge_crossing(&mut self, edge: [usize; 2], axes: [usize; 2], wall: i64) -> Floor {
        match self.get() {
            Exact::Narrow(exact, _) => exact.edge_crossing(edge, axes, wall),
            Exact::Wide(exact, _) => exact.edge_crossing(edge, axes, wall),
        }
    }

    /// Where the plane of the triangle meets the lattice line at walls `y` and `z`, along x. The
    /// x component of the normal must not be zero.
    pub fn plane_crossing(&mut self, y: i64, z: i64) -> Floor {
        match self.get() {
            Exact::Narrow(exact, normal) => exact.plane_crossing(normal, y, z),
            Exact::Wide(exact, normal) => exact.plane_crossing(normal, y, z),
        }
    }

    /// On which side of the triangle the point below walls `point` by (ε, ε², ε³) is: greater where the
    /// normal points away from it.
    pub fn side(&mut self, point: [i64; 3]) -> Ordering {
        if let Exact::Narrow(exact, normal) = self.get() {
            let near = |axis: usize| {
                let along = i128::from(point[axis]).checked_mul(exact.unit[axis]);
                along.is_some_and(|along| along.unsigned_abs() < NARROW)
            };
            if (0..3).all(near) {
                return exact.side(normal, point);
            }
            let exact = wide(self.frame, self.triangle, self.base);
            let normal = exact.normal();
            self.made = Some(Exact::Wide(exact, normal));
        }
        match self.get() {
            Exact::Narrow(exact, normal) => exact.side(normal, point),
            Exact::Wide(exact, normal) => exact.side(normal, point),
        }
    }

    /// The signs of the components of the normal.
    pub fn normal_signs(&mut self) -> [i8; 3] {
        match self.get() {
            Exact::Narrow(_, normal) => normal.each_ref().map(Wide::sign),
            Exact::Wide(_, normal) => normal.each_ref().map(Wide::sign),
        }
    }
}

/// In 128 bits, if the coordinates are short enough for every product to fit.
fn narrow(frame: &Frame, triangle: &Triangle, base: [i64; 3]) -> Option<ExactTriangle<i128>> {
    let mut vertices = [[0; 3]; 3];
    let mut unit = [0; 3];
    for axis in 0..3 {
        let scaled = frame.axes[axis].map.scaled(triangle.map(|v| v[axis]))?;
        let corner = scaled.unit.checked_mul(base[axis].into())?;
        for (vertex, value) in vertices.iter_mut().zip(scaled.values) {
            vertex[axis] = value.checked_sub(corner)?;
        }
        unit[axis] = scaled.unit;
        // The walls asked for reach no farther than a cell beyond the triangle.
        let largest = vertices.iter().map(|v| v[axis].unsigned_abs()).max()?;
        if largest + 2 * unit[axis].unsigned_abs() >= NARROW {
            return None;
        }
    }
    Some(ExactTriangle { vertices, unit })
}

/// In integers of any size.
fn wide(frame: &Frame, triangle: &Triangle, base: [i64; 3]) -> ExactTriangle<IBig> {
    let index = |axis: usize, v: f32| frame.axes[axis].map.index(v) - Rational::from(base[axis]);
    ExactTriangle::new(&triangle.map(|v| std::array::from_fn(|a| index(a, v[a]))))
}
