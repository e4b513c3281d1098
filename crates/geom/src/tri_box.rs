//! Definition of "a triangle touches a cell": the separating-axis test with 13 axes, in exact arithmetic.
//!
//! Akenine-Möller, "Fast 3D Triangle-Box Overlap Testing", 2001: two convex polyhedra are disjoint iff they
//! are separated along a face normal of one of them, or along the cross product of an edge of the first and
//! an edge of the second. For a triangle and a box these are the 3 box normals, the normal of the triangle,
//! and 9 cross products of edges. Degenerate triangles are segments or points. Some of their axes are zero
//! and are skipped. The remaining axes suffice.
//!
//! This code is written for clarity, not for speed. The kernels must give the same results.

use crate::rational::Rational;
use crate::wide::{IBig, Wide, cross, difference, dot};

/// Decides which cells a triangle touches if it lies in a wall between cells or ends at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Ties {
    /// The triangle touches the cell above the wall. Formally, walls are displaced by -ε along x, -ε² along y
    /// and -ε³ along z, except that the last wall of a closed axis is displaced outwards. Cells are the
    /// closed boxes between the displaced walls (Simulation of Simplicity, Edelsbrunner and Mücke 1990).
    #[default]
    Up,
    /// The triangle touches the cells on both sides of the wall, because cells are closed boxes.
    Both,
    /// The triangle touches neither cell, because cells are open boxes.
    None,
}

impl Ties {
    /// All variants, in the order in which the help lists them.
    pub const ALL: [Self; 3] = [Self::Up, Self::Both, Self::None];

    /// Returns the name on the command line and in saved files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Both => "both",
            Self::None => "none",
        }
    }
}

/// Triangle in index space, with exact integer coordinates. The index coordinate of vertex `v` along axis `a`
/// is `vertices[v][a] / unit[a]`, so wall `i` of axis `a` is at `i * unit[a]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExactTriangle<T> {
    /// Scaled coordinates of the three vertices.
    pub vertices: [[T; 3]; 3],
    /// Size of a cell along each axis in the same scale. It is positive.
    pub unit: [T; 3],
}

impl ExactTriangle<IBig> {
    /// Creates a triangle from the index coordinates of its vertices.
    pub fn new(vertices: &[[Rational; 3]; 3]) -> Self {
        let unit: [IBig; 3] = std::array::from_fn(|axis| {
            // A common denominator of the coordinates, not necessarily the least.
            vertices.iter().fold(IBig::ONE, |product, vertex| {
                let scaled = &Rational::from_wide(product.clone()) * &vertex[axis];
                product * IBig::from(scaled.denominator().clone())
            })
        });
        let scaled = |vertex: &[Rational; 3], axis: usize| {
            let whole = &vertex[axis] * &Rational::from_wide(unit[axis].clone());
            debug_assert!(whole.is_whole());
            whole.numerator().clone()
        };
        Self {
            vertices: vertices
                .each_ref()
                .map(|v| std::array::from_fn(|a| scaled(v, a))),
            unit,
        }
    }
}

impl<T: Wide> ExactTriangle<T> {
    /// Returns `true` if the triangle touches the cell. `last` has one value for each axis: `true` if the
    /// axis is closed and the cell's upper wall is its last wall. Only [`Ties::Up`] uses `last`.
    pub fn touches(&self, cell: [i64; 3], ties: Ties, last: [bool; 3]) -> bool {
        // The coordinates are made relative to the least corner of the cell, so that the box is [0, unit].
        let corner: [T; 3] = std::array::from_fn(|a| T::from(cell[a]) * &self.unit[a]);
        let [a, b, c] = self.vertices.each_ref().map(|v| difference(v, &corner));
        let edges = [difference(&b, &a), difference(&c, &b), difference(&a, &c)];
        let box_normals: [[T; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| T::from((i == j).into())));

        let vertices = [a, b, c];
        for box_normal in &box_normals {
            if !self.overlap_along(box_normal, &vertices, ties, last) {
                return false;
            }
        }
        let normal = cross(&edges[0], &edges[1]);
        if !self.overlap_along(&normal, &vertices, ties, last) {
            return false;
        }
        for box_normal in &box_normals {
            for edge in &edges {
                if !self.overlap_along(&cross(box_normal, edge), &vertices, ties, last) {
                    return false;
                }
            }
        }
        true
    }

    /// Returns `true` if the projections of the box `[0, unit]` and of the vertices onto `axis` overlap.
    fn overlap_along(
        &self,
        axis: &[T; 3],
        vertices: &[[T; 3]; 3],
        ties: Ties,
        last: [bool; 3],
    ) -> bool {
        let signs = axis.each_ref().map(Wide::sign);
        let Some(first) = signs.iter().position(|&s| s != 0) else {
            return true; // a zero axis separates nothing
        };
        // The projected box extends from the sum of the negative projections of its edges to the sum of the
        // positive ones.
        let mut low = T::from(0);
        let mut high = T::from(0);
        for a in 0..3 {
            let extent = axis[a].clone() * &self.unit[a];
            if signs[a] > 0 {
                high = high + &extent
            } else {
                low = low + &extent
            }
        }
        let along = vertices.each_ref().map(|v| dot(axis, v));
        let least = along.iter().min().expect("three vertices");
        let most = along.iter().max().expect("three vertices");

        let (touch_low, touch_high) = match ties {
            Ties::Both => (true, true),
            Ties::None => (false, false),
            // The first nonzero component of `axis` determines the displacement of both ends of the projected
            // box. If the component is positive, the walls, which move down, displace the low end outwards
            // and the high end inwards. If it is negative, it is the other way round. A last wall moves
            // outwards.
            Ties::Up => (
                signs[first] > 0 || last[first],
                signs[first] < 0 || last[first],
            ),
        };
        let from_above = if touch_high {
            *least <= high
        } else {
            *least < high
        };
        let from_below = if touch_low { *most >= low } else { *most > low };
        from_above && from_below
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle(vertices: [[(i64, i64); 3]; 3]) -> ExactTriangle<IBig> {
        ExactTriangle::new(&vertices.map(|v| v.map(|(p, q)| Rational::new(p, q))))
    }

    /// Returns the cells of the cube `0..n` that a triangle touches.
    fn cells(t: &ExactTriangle<IBig>, n: i64, ties: Ties, closed: bool) -> Vec<[i64; 3]> {
        let mut found = vec![];
        for k in 0..n {
            for j in 0..n {
                for i in 0..n {
                    let last = [i, j, k].map(|c| closed && c == n - 1);
                    if t.touches([i, j, k], ties, last) {
                        found.push([i, j, k]);
                    }
                }
            }
        }
        found
    }

    #[test]
    fn a_face_on_a_wall_marks_above_both_or_neither() {
        let on_wall = triangle([
            [(1, 4), (1, 4), (1, 1)],
            [(3, 4), (1, 4), (1, 1)],
            [(1, 4), (3, 4), (1, 1)],
        ]);
        assert_eq!(cells(&on_wall, 2, Ties::Up, true), [[0, 0, 1]]);
        assert_eq!(cells(&on_wall, 2, Ties::Both, true), [[0, 0, 0], [0, 0, 1]]);
        assert!(cells(&on_wall, 2, Ties::None, true).is_empty());
    }

    #[test]
    fn a_face_on_the_last_wall_marks_the_last_layer_if_closed() {
        let on_last = triangle([
            [(1, 4), (1, 4), (2, 1)],
            [(3, 4), (1, 4), (2, 1)],
            [(1, 4), (3, 4), (2, 1)],
        ]);
        assert_eq!(cells(&on_last, 2, Ties::Up, true), [[0, 0, 1]]);
        assert!(cells(&on_last, 2, Ties::Up, false).is_empty());
    }

    #[test]
    fn a_point_on_a_corner_marks_one_cell() {
        let point = triangle([[(1, 1); 3]; 3]);
        assert_eq!(cells(&point, 2, Ties::Up, true), [[1, 1, 1]]);
        assert_eq!(cells(&point, 2, Ties::Both, true).len(), 8);
        assert!(cells(&point, 2, Ties::None, true).is_empty());
    }

    #[test]
    fn a_segment_along_the_diagonal_marks_the_cells_it_passes() {
        let segment = triangle([[(1, 8); 3], [(15, 8); 3], [(1, 1); 3]]);
        // The segment passes through the lattice point (1, 1, 1). Because of the displacements, it crosses
        // the wall of x first, then that of y, then that of z.
        assert_eq!(cells(&segment, 2, Ties::None, true), [[0, 0, 0], [1, 1, 1]]);
        assert_eq!(cells(&segment, 2, Ties::Both, true).len(), 8);
        assert_eq!(
            cells(&segment, 2, Ties::Up, true),
            [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]
        );
    }

    #[test]
    fn the_normal_separates_what_the_bounds_do_not() {
        let corner = triangle([
            [(2, 1), (0, 1), (0, 1)],
            [(0, 1), (2, 1), (0, 1)],
            [(0, 1), (0, 1), (2, 1)],
        ]);
        assert!(!corner.touches([1, 1, 1], Ties::Both, [false; 3]));
        assert!(corner.touches([1, 0, 0], Ties::None, [false; 3]));
        // The plane x + y + z = 2 touches cell (1, 1, 0) only at its corner (1, 1, 0).
        assert!(corner.touches([1, 1, 0], Ties::Both, [false; 3]));
        assert!(!corner.touches([1, 1, 0], Ties::None, [false; 3]));
    }

    #[test]
    fn both_integer_types_agree() {
        let big = triangle([
            [(1, 3), (7, 5), (0, 1)],
            [(17, 7), (-3, 2), (5, 1)],
            [(2, 1), (2, 1), (9, 4)],
        ]);
        let narrow = |n: &IBig| i128::try_from(n.clone()).unwrap();
        let small = ExactTriangle {
            vertices: big.vertices.each_ref().map(|v| v.each_ref().map(narrow)),
            unit: big.unit.each_ref().map(narrow),
        };
        let mut hits = 0;
        for ties in Ties::ALL {
            for n in 0..125 {
                let cell = [n % 5, n / 5 % 5, n / 25];
                assert_eq!(
                    big.touches(cell, ties, [false; 3]),
                    small.touches(cell, ties, [false; 3])
                );
                hits += u32::from(big.touches(cell, ties, [false; 3]));
            }
        }
        assert!(hits > 20);
    }
}
