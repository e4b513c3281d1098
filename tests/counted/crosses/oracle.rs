//! Oracle of thin: finds the crosses that a triangle meets, by brute force in integers of any size.
//!
//! A segment of a cross joins two displaced walls on a displaced line through centres. All coordinates of its
//! ends have the form `p + q ε`, with ε² or ε³ instead of ε for y and z, and a signed volume is linear in
//! each. A segment along an axis meets a triangle iff the line passes its three edges on the same side and
//! the ends lie on different sides of its plane. So each volume is a list of coefficients of 1, ε, ε² and ε³,
//! and its sign for small ε is the sign of the first non-zero coefficient. For a degenerate triangle, or one
//! seen edge-on, the sides sum to zero, so they are never equal.

use num_bigint::BigInt;
use voxelize::geom::Triangle;
use voxelize::{BitGrid, Lattice};

use crate::support::oracle::{self, Axis};

/// Coefficients of 1, ε, ε² and ε³.
type Form = [BigInt; 4];

/// The two other axes of each axis.
const ACROSS: [[usize; 2]; 3] = [[1, 2], [2, 0], [0, 1]];

/// Lattice with its crosses.
pub struct Crosses<'a> {
    lattice: &'a Lattice,
    axes: [Axis; 3],
}

/// Triangle in index space. Each axis has its own unit, in halves of which walls and centres are integers.
struct Placed {
    corners: [[BigInt; 3]; 3],
    half: [BigInt; 3],
    /// First and last half-plane of each axis that its bounds reach.
    reach: [[i64; 2]; 3],
}

impl<'a> Crosses<'a> {
    pub fn new(lattice: &'a Lattice) -> Self {
        Self {
            lattice,
            axes: oracle::axes(lattice),
        }
    }

    /// Adds the cells whose crosses a triangle meets. Returns the number of tested segments.
    pub fn add(&self, triangle: &Triangle, cells: &mut BitGrid) -> u64 {
        let placed = self.placed(triangle);
        let dims = self.lattice.dims();
        // Cells that the bounds may reach along an axis.
        let near = |a: usize| {
            let [low, high] = placed.reach[a].map(|half| half.div_euclid(2));
            (low - 1).max(0)..(high + 2).min(dims[a] as i64)
        };
        let mut queried = 0;
        for (a, [b, c]) in ACROSS.into_iter().enumerate() {
            for (j, k) in near(b).flat_map(|j| near(c).map(move |k| (j, k))) {
                let is_passed = placed.passes([b, c], [2 * j + 1, 2 * k + 1]);
                for i in near(a) {
                    queried += 1;
                    let end = |wall: i64| {
                        let mut point = [0; 3];
                        (point[a], point[b], point[c]) = (2 * wall, 2 * j + 1, 2 * k + 1);
                        let is_last = wall == dims[a] as i64 && self.lattice.closed()[a];
                        placed.side(point, is_last.then_some(a))
                    };
                    if is_passed && end(i) * end(i + 1) <= 0 {
                        let mut cell = [0; 3];
                        (cell[a], cell[b], cell[c]) = (i as usize, j as usize, k as usize);
                        cells.set(cell);
                    }
                }
            }
        }
        queried
    }

    fn placed(&self, triangle: &Triangle) -> Placed {
        let mut corners: [[BigInt; 3]; 3] = Default::default();
        let mut half: [BigInt; 3] = Default::default();
        let mut reach = [[0; 2]; 3];
        for (a, axis) in self.axes.iter().enumerate() {
            let values = triangle.map(|v| axis.index(v[a]));
            let unit = axis.unit();
            // Short numbers are faster: common powers of two are dropped, except for one.
            let all = values
                .iter()
                .chain([&unit])
                .filter_map(BigInt::trailing_zeros);
            let zeros = all.min().expect("the unit") - 1;
            half[a] = unit >> (zeros + 1);
            for (corner, value) in corners.iter_mut().zip(&values) {
                corner[a] = value >> zeros;
            }
            let floors = corners
                .each_ref()
                .map(|corner| oracle::floor(&corner[a], &half[a]));
            reach[a] = [
                floors.into_iter().min().expect("three"),
                floors.into_iter().max().expect("three"),
            ];
        }
        Placed {
            corners,
            half,
            reach,
        }
    }
}

impl Placed {
    /// Reports whether the displaced line through these half-planes of two axes passes all edges on the same
    /// side.
    fn passes(&self, [b, c]: [usize; 2], [at_b, at_c]: [i64; 2]) -> bool {
        let p = &self.half[b] * at_b;
        let q = &self.half[c] * at_c;
        let sides = [[0, 1], [1, 2], [2, 0]].map(|[v, w]| {
            let from = &self.corners[v];
            let to = &self.corners[w];
            let mut form = Form::default();
            form[0] = (&from[b] - &p) * (&to[c] - &q) - (&from[c] - &q) * (&to[b] - &p);
            // The line moves by two halves. Only signs matter.
            form[1 + b] = &self.half[b] * (&to[c] - &from[c]);
            form[1 + c] = &self.half[c] * (&from[b] - &to[b]);
            sign(&form)
        });
        sides[0] != 0 && sides.iter().all(|side| *side == sides[0])
    }

    /// Returns the side of the plane of a displaced point, given by half-planes. Along `last` it is displaced
    /// outwards.
    fn side(&self, point: [i64; 3], last: Option<usize>) -> i32 {
        let [p, q, r] = &self.corners;
        let edge = |to: &[BigInt; 3]| -> [BigInt; 3] { std::array::from_fn(|a| &to[a] - &p[a]) };
        let u = edge(q);
        let v = edge(r);
        let mut form = Form::default();
        for (a, [b, c]) in ACROSS.into_iter().enumerate() {
            let normal = &u[b] * &v[c] - &u[c] * &v[b];
            form[0] += &normal * (&self.half[a] * point[a] - &p[a]);
            let moved = &normal * &self.half[a];
            form[1 + a] = if last == Some(a) { moved } else { -moved };
        }
        sign(&form)
    }
}

/// Returns the sign for small ε.
fn sign(form: &Form) -> i32 {
    let zero = BigInt::ZERO;
    form.iter()
        .find(|term| **term != zero)
        .map_or(0, |term| if *term > zero { 1 } else { -1 })
}
