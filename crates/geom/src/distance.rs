//! Distance from a point to a triangle. The values of distance fields are defined by this file: a fixed
//! sequence of operations on doubles.
//!
//! The nearest point of a triangle is a vertex, a point of an edge, or a point of the face (Ericson,
//! Real-Time Collision Detection, section 5.1.5). All candidates are computed: the squared distances to the
//! three edges, and the squared distance to the plane if the foot of the perpendicular is within the
//! triangle. For a vertex or an edge that two triangles share, both triangles give bitwise equal distances,
//! because the ends of an edge are used in a fixed order. Distances that are equal for this reason therefore
//! stay equal after rounding.
//!
//! Slivers need special care in one place, because their normal is the cross product of two nearly parallel
//! edges. The rounding errors of the products are computed and added to its components (Dekker 1971), so that
//! the normal is accurate to a few roundings even if it is only 2^-50 times the products.
//! docs/internals/distance.md bounds the total error.

use std::cmp::Ordering;

use crate::vector::{cross, dot, minus};
use crate::{Point, Triangle};

/// Returns the squared distance from `point` to the nearest point of a triangle of any shape. The result is
/// defined by a fixed sequence of additions, multiplications and divisions of doubles, none of them fused.
/// The vertices are used in lexicographic order, so the order in which they are given does not affect the
/// result.
///
/// The distance is the square root of the result. Its error is less than 2^-46 times the largest absolute
/// coordinate of the point and the triangle.
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use voxelize::geom::distance::squared_distance;
///
/// let triangle = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// assert_eq!(squared_distance([1.0, 1.0, 3.0], &triangle), 9.0, "the face");
/// assert_eq!(squared_distance([1.0, -1.0, 1.0], &triangle), 2.0, "an edge");
/// assert_eq!(squared_distance([-1.0, -2.0, 2.0], &triangle), 9.0, "a vertex");
/// assert_eq!(squared_distance([3.0, 4.0, 0.0], &[[0.0; 3]; 3]), 25.0, "a triangle that is a point");
/// ```
pub fn squared_distance(point: [f64; 3], triangle: &Triangle) -> f64 {
    let [a, b, c] = in_order(triangle).map(|vertex| vertex.map(f64::from));
    let from = [a, b, c].map(|vertex| minus(point, vertex));
    let ends = from.map(|from| dot(from, from));
    let ab = minus(b, a);
    let ac = minus(c, a);
    let bc = minus(c, b);
    let sides = [
        TriangleSide::new(ab, from[0], [ends[0], ends[1]]),
        TriangleSide::new(ac, from[0], [ends[0], ends[2]]),
        TriangleSide::new(bc, from[1], [ends[1], ends[2]]),
    ];
    let edges = least(least(sides[0].squared, sides[1].squared), sides[2].squared);

    let normal = cross_with_errors(ab, ac);
    let size = dot(normal, normal);
    let height = dot(normal, from[0]);
    let plane = height * height / size;
    let turned_a = cross(normal, from[0]);
    let turned_b = cross(normal, from[1]);
    let within = dot(ab, turned_a) <= 0.0 && dot(ac, turned_a) >= 0.0 && dot(bc, turned_b) <= 0.0;
    // The angles at both ends of the longest side are acute, so the foot of a point within the triangle is
    // between these ends. For slivers, where the side tests are rounded, this check rejects points far beyond
    // a corner.
    let longest = if sides[0].length >= sides[1].length {
        &sides[0]
    } else {
        &sides[1]
    };
    let longest = if longest.length >= sides[2].length {
        longest
    } else {
        &sides[2]
    };
    let between = longest.along >= 0.0 && longest.along <= longest.length;
    // A triangle that is almost a line has no usable plane. Its edges suffice.
    let is_wide = size > NARROW * (sides[0].length * sides[1].length);
    if is_wide && within && between && plane < edges {
        plane
    } else {
        edges
    }
}

/// Least squared sine of the angle at the first vertex for which the plane of a triangle is used. The sine
/// itself is `2^-52`. Below it, the rounding errors of the cross product's correction terms may be as large
/// as the cross product.
pub const NARROW: f64 = f64::EPSILON * f64::EPSILON;

/// Side of a triangle, measured from a point.
struct TriangleSide {
    /// Dot product of the side and the vector from its first end to the point. It is from 0 to `length` if
    /// the foot of the perpendicular is within the side.
    along: f64,
    /// Squared length of the side.
    length: f64,
    /// Squared distance from the point to the side.
    squared: f64,
}

impl TriangleSide {
    /// Measures the side `edge`. `from` is the vector from its first end to the point. `ends` has the squared
    /// distances from the point to both ends.
    fn new(edge: [f64; 3], from: [f64; 3], ends: [f64; 2]) -> Self {
        let along = dot(from, edge);
        let length = dot(edge, edge);
        let part = along / length;
        let across = [0, 1, 2].map(|n| from[n] - part * edge[n]);
        let inner = if along < length {
            dot(across, across)
        } else {
            ends[1]
        };
        Self {
            along,
            length,
            squared: if along > 0.0 { inner } else { ends[0] },
        }
    }
}

/// Sorts the vertices lexicographically.
fn in_order(triangle: &Triangle) -> Triangle {
    let [mut a, mut b, mut c] = *triangle;
    sort_two(&mut a, &mut b);
    sort_two(&mut b, &mut c);
    sort_two(&mut a, &mut b);
    [a, b, c]
}

fn sort_two(low: &mut Point, high: &mut Point) {
    if high.partial_cmp(&low) == Some(Ordering::Less) {
        std::mem::swap(low, high);
    }
}

fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// Returns the cross product. The rounding errors of the two products are added to each component.
fn cross_with_errors(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    let component = |i: usize, j: usize| {
        let p = product(a[i], b[j]);
        let q = product(a[j], b[i]);
        (p[0] - q[0]) + (p[1] - q[1])
    };
    [component(1, 2), component(2, 0), component(0, 1)]
}

/// Returns the rounded product of two numbers and its rounding error (Dekker 1971).
fn product(a: f64, b: f64) -> [f64; 2] {
    let [ah, al] = halves(a);
    let [bh, bl] = halves(b);
    let p = a * b;
    [p, ((ah * bh - p) + ah * bl + al * bh) + al * bl]
}

/// Veltkamp's splitting constant, 2^27 + 1.
pub const SPLITTER: f64 = 134_217_729.0;

/// Splits a number into the sum of two numbers, which have the upper and the lower half of its significant
/// bits (Veltkamp).
fn halves(a: f64) -> [f64; 2] {
    let c = SPLITTER * a;
    let high = c - (c - a);
    [high, a - high]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_their_errors_are_exact() {
        let numbers = [
            1.0 / 3.0,
            -7.123e5,
            1e-30,
            f64::from(f32::MAX),
            1.0 + f64::EPSILON,
        ];
        for a in numbers {
            for b in numbers {
                let [p, e] = product(a, b);
                let exact = |v: f64| crate::Rational::from_f64(v).unwrap();
                assert_eq!(&exact(a) * &exact(b), &exact(p) + &exact(e), "{a} {b}");
            }
        }
    }

    #[test]
    fn the_order_of_vertices_changes_no_bit() {
        let [a, b, c] = [[0.1, 0.7, -0.3], [1.1, -0.2, 0.4], [0.3, 0.9, 1.7]];
        for p in [
            [0.4, 0.5, 0.6],
            [-3.0, 0.1, 0.2],
            [0.9, 0.9, 0.9],
            [1.1, -5.2, 0.4],
        ] {
            let first = squared_distance(p, &[a, b, c]).to_bits();
            for other in [[b, c, a], [c, a, b], [a, c, b], [c, b, a], [b, a, c]] {
                assert_eq!(squared_distance(p, &other).to_bits(), first);
            }
        }
    }

    #[test]
    fn a_point_on_a_sliver_is_at_no_distance() {
        // The height of the sliver is 2^-20. A point beyond its sharp corner has its foot outside the
        // triangle.
        let sliver = [
            [0.0, 0.0, 0.0],
            [1.0, 0.0, 0.0],
            [0.5, 1.0 / (1 << 20) as f32, 0.0],
        ];
        assert_eq!(squared_distance([0.25, 1e-8, 0.0], &sliver), 0.0);
        let beyond = squared_distance([-1e-9, 0.0, 0.0], &sliver).sqrt();
        assert!((beyond - 1e-9).abs() < 1e-24, "{beyond}");
    }
}
