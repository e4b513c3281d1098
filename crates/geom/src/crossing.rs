//! Crossings of a triangle with the walls of a lattice, in exact arithmetic. Their positions are rounded down to
//! the index of a cell.
//!
//! [`edge_crossing`](ExactTriangle::edge_crossing) and [`plane_crossing`](ExactTriangle::plane_crossing) compute
//! the floor of a fraction. Let `s` and `t` be the coordinates along two axes. An edge from `A` to `B` crosses
//! `t = w` at
//!
//! ```text
//! s = (A.s (B.t - w) + B.s (w - A.t)) / (B.t - A.t).
//! ```
//!
//! With the normal `n`, the plane through `A` intersects the lattice line `(y, z) = (w, v)` at
//!
//! ```text
//! x = A.x - (n.y (w - A.y) + n.z (v - A.z)) / n.x.
//! ```

use std::cmp::Ordering;

use crate::tri_box::ExactTriangle;
use crate::wide::{Wide, cross, difference};

/// Index of the greatest wall at or below a point along an axis, and `true` if the point is on this wall. A
/// wall and the cell above it have the same index.
pub type Floor = (i64, bool);

impl<T: Wide> ExactTriangle<T> {
    /// Returns the position along axis `s` at which the edge between vertices `from` and `to` crosses wall
    /// `wall` of axis `t`. The edge must not be parallel to the wall.
    pub fn edge_crossing(&self, [from, to]: [usize; 2], [s, t]: [usize; 2], wall: i64) -> Floor {
        let a = &self.vertices[from];
        let b = &self.vertices[to];
        let wall = T::from(wall) * &self.unit[t];
        let towards = a[s].clone() * &(b[t].clone() - &wall);
        let away = b[s].clone() * &(wall - &a[t]);
        let span = (b[t].clone() - &a[t]) * &self.unit[s];
        (towards + &away).floor_div(&span)
    }

    /// Returns the normal. Each component has its own positive factor, because the axes have different units.
    pub fn normal(&self) -> [T; 3] {
        let [a, b, c] = &self.vertices;
        cross(&difference(b, a), &difference(c, a))
    }

    /// Returns the side of the triangle's plane on which a lattice point is: `Greater` if the normal points
    /// away from the lattice point. `normal` is the normal of the triangle. The lattice point is the
    /// intersection of the walls `point` of the three axes, displaced by (−ε, −ε², −ε³). The result is
    /// `Equal` only for triangles without area.
    pub fn side(&self, normal: &[T; 3], point: [i64; 3]) -> Ordering {
        let a = &self.vertices[0];
        let mut along = T::from(0);
        for axis in 0..3 {
            let offset = a[axis].clone() - &(T::from(point[axis]) * &self.unit[axis]);
            along = along + &(normal[axis].clone() * &offset);
        }
        // Signs of the terms of order 1, ε, ε² and ε³. The first nonzero sign decides.
        let [x, y, z] = normal.each_ref().map(Wide::sign);
        for sign in [along.sign(), x, y, z] {
            if sign != 0 {
                return sign.cmp(&0);
            }
        }
        Ordering::Equal
    }

    /// Returns the position along x at which the plane of the triangle intersects the lattice line of walls
    /// `y` and `z`. `normal` is the normal of the triangle. Its x component must not be zero.
    pub fn plane_crossing(&self, normal: &[T; 3], y: i64, z: i64) -> Floor {
        let a = &self.vertices[0];
        let y = T::from(y) * &self.unit[1] - &a[1];
        let z = T::from(z) * &self.unit[2] - &a[2];
        let rise = normal[1].clone() * &y + &(normal[2].clone() * &z);
        let x = a[0].clone() * &normal[0] - &rise;
        x.floor_div(&(normal[0].clone() * &self.unit[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rational;
    use crate::wide::IBig;

    fn triangle() -> ExactTriangle<IBig> {
        let r = Rational::new;
        ExactTriangle::new(&[
            [r(1, 3), r(0, 1), r(1, 2)],
            [r(7, 3), r(4, 1), r(1, 2)],
            [r(-1, 1), r(1, 1), r(9, 2)],
        ])
    }

    #[test]
    fn edges_cross_where_the_line_does() {
        // The edge from (1/3, 0) to (7/3, 4) has x = 1/3 + y / 2.
        for (wall, floor) in [
            (1, (0, false)),
            (2, (1, false)),
            (3, (1, false)),
            (4, (2, false)),
            (-1, (-1, false)),
        ] {
            assert_eq!(
                triangle().edge_crossing([0, 1], [0, 1], wall),
                floor,
                "y = {wall}"
            );
            assert_eq!(
                triangle().edge_crossing([1, 0], [0, 1], wall),
                floor,
                "backwards, y = {wall}"
            );
        }
        // The edge from (-1, 1) to (1/3, 0) in x and y has exactly x = -1 at y = 1.
        assert_eq!(triangle().edge_crossing([2, 0], [0, 1], 1), (-1, true));
    }

    #[test]
    fn planes_cross_where_the_equation_says() {
        let r = Rational::from;
        let t = ExactTriangle::<IBig>::new(&[
            [r(0), r(0), r(0)],
            [r(2), r(4), r(0)],
            [r(-1), r(1), r(4)],
        ]);
        let n = t.normal();
        let x = |y: i64, z: i64| Rational::new(y, 2) - Rational::new(3 * z, 8);
        let mut on = 0;
        for y in -12..12 {
            for z in -12..12 {
                let expected = (x(y, z).floor().unwrap(), x(y, z).is_whole());
                assert_eq!(t.plane_crossing(&n, y, z), expected, "y {y} z {z}");
                on += usize::from(expected.1);
            }
        }
        assert!(on > 0, "some crossings lie on walls");
    }
}
