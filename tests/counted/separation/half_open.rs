//! Surface of plain half-open cells: cell i contains i ≤ x < i + 1, and likewise y and z. Not a rule of the
//! product; it shows the purpose of the displaced closed cells.

use voxelize::{BitGrid, Lattice, Rational};

use super::shapes::Shape;
use crate::support::meshes::each_cell;

type Corner = [Rational; 3];

/// Returns every cell that contains a point of the mesh.
pub fn surface(shape: &Shape, lattice: &Lattice) -> BitGrid {
    let mut bits = BitGrid::try_from(lattice).expect("few cells");
    let maps = [0, 1, 2].map(|a| lattice.axis(a));
    for triangle in shape.mesh.triangles() {
        let corners = triangle.map(|v| -> Corner { std::array::from_fn(|a| maps[a].index(v[a])) });
        for cell in each_cell(lattice.dims()) {
            if holds_some_of(cell.map(|c| c as i64), &corners) {
                bits.set(cell);
            }
        }
    }
    bits
}

/// Reports whether a half-open cell contains a point of a triangle. The centroid of the part in the closed
/// cell lies below an upper wall iff any corner does.
fn holds_some_of(cell: [i64; 3], triangle: &[Corner; 3]) -> bool {
    let mut polygon = triangle.to_vec();
    for a in 0..3 {
        let low = Rational::from(cell[a]);
        let high = Rational::from(cell[a] + 1);
        polygon = clipped(&polygon, |p| &p[a] - &low);
        polygon = clipped(&polygon, |p| &high - &p[a]);
    }
    let is_below = |a: usize| {
        polygon
            .iter()
            .any(|corner| corner[a] < Rational::from(cell[a] + 1))
    };
    (0..3).all(is_below)
}

/// Returns the part of a convex polygon where `height` is not negative (Sutherland and Hodgman 1974).
pub fn clipped(polygon: &[Corner], height: impl Fn(&Corner) -> Rational) -> Vec<Corner> {
    let mut left = vec![];
    for (n, from) in polygon.iter().enumerate() {
        let to = &polygon[(n + 1) % polygon.len()];
        let h = height(from);
        let next = height(to);
        if h >= Rational::ZERO {
            left.push(from.clone());
        }
        if (h.is_positive() && next < Rational::ZERO) || (h < Rational::ZERO && next.is_positive())
        {
            let part = &h / &(&h - &next);
            left.push([0, 1, 2].map(|a| &from[a] + &(&part * &(&to[a] - &from[a]))));
        }
    }
    left
}
