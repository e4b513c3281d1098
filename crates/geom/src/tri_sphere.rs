//! Tests whether a triangle and a ball intersect: by separating axes in doubles, and exactly.
//!
//! **The definition** is [`is_within`]: the squared distance from the centre to the closest point of the
//! triangle is at most the squared radius. The closest point is a vertex, or the foot of the perpendicular
//! from the centre to an edge or to the face. Up to seven squared distances are compared with the squared
//! radius: those to the vertices, and those to edges and face whose foot exists. In integers this is exact.
//! Edges without length and faces without area are skipped.
//!
//! **The separating axes** are [`touches`] (Ericson, "Optimizing a sphere-triangle intersection test", 2010).
//! Two disjoint convex sets are separated by a plane perpendicular to the shortest segment between them. One
//! end of this segment is on one of the triangle's seven features: vertices, edges and face. Therefore seven
//! axes suffice. Let the centre be the origin and `A`, `B`, `C` the vertices:
//!
//! - the face, along the normal `V = (B - A) × (C - A)`: this axis separates triangle and ball iff
//!   `(A · V)² > r² V²`;
//! - vertex `A`, along `A`: it separates them iff `A² > r²` and neither other vertex is on the near side of
//!   the plane through `A` perpendicular to `A`: `A · B >= A²` and `A · C >= A²`;
//! - edge `AB`, along the foot `Q` of the perpendicular from the origin to its line: it separates them iff
//!   `Q² > r²` and `C` is not on the near side of the plane through `Q` perpendicular to `Q`: `Q · (C - Q) >=
//!   0`. With `d = A · (B - A)`, `e = (B - A)²` and all vectors multiplied by `e` to avoid a division, these
//!   are `Q₁ = e A - d (B - A)` and `QC = e C - Q₁`.
//!
//! The comparisons that test sides of planes use `>=`. All vertices of a triangle without area may be *in*
//! the separating plane. With `>`, such a triangle would seem to touch a distant ball. The comparisons with
//! the radius use `>`, so a ball that merely touches the triangle intersects it. For an edge without length,
//! `e = 0`, and the edge never separates. The axes of its vertices do.
//!
//! The original article has the wrong sign, `QC = e C + Q₁`. Readers' comments under the article correct it.
//! A test below demonstrates the error.

use std::cmp::Ordering;

use crate::vector::{along, cross, dot, minus};
use crate::wide::{self, Wide};

/// Returns `true` if the triangle and the closed ball around `centre` have a point in common. All seven axes
/// are computed without an early exit and combined at the end.
///
/// The computation is rounded. The result is certain only if no product of six coordinates relative to the
/// centre needs rounding, as for integers up to a hundred. [`is_within`] is exact.
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use voxelize::geom::tri_sphere::touches;
///
/// let triangle = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// assert!(touches(triangle, [1.0, 1.0, 2.0], 2.0));
/// assert!(!touches(triangle, [1.0, 1.0, 2.0], 1.99));
/// assert!(touches(triangle, [7.0, -4.0, 0.0], 5.0), "a vertex");
/// assert!(touches([[0.0; 3]; 3], [3.0, 4.0, 0.0], 5.0), "a point");
/// ```
pub fn touches(triangle: [[f64; 3]; 3], centre: [f64; 3], radius: f64) -> bool {
    let [a, b, c] = triangle.map(|v| minus(v, centre));
    let rr = radius * radius;
    let normal = cross(minus(b, a), minus(c, a));
    let away = dot(a, normal);
    let face = away * away > rr * dot(normal, normal);
    let vertices = vertex(a, [b, c], rr) | vertex(b, [a, c], rr) | vertex(c, [a, b], rr);
    let edges = edge([a, b], c, rr) | edge([b, c], a, rr) | edge([c, a], b, rr);
    !(face | vertices | edges)
}

/// Returns `true` if the plane through vertex `a`, perpendicular to the line from the centre to `a`,
/// separates triangle and ball.
fn vertex(a: [f64; 3], [b, c]: [[f64; 3]; 2], rr: f64) -> bool {
    let aa = dot(a, a);
    (aa > rr) & (dot(a, b) >= aa) & (dot(a, c) >= aa)
}

/// Returns `true` if the plane through an edge, perpendicular to the shortest segment from the centre to its
/// line, separates triangle and ball.
fn edge([a, b]: [[f64; 3]; 2], c: [f64; 3], rr: f64) -> bool {
    let ab = minus(b, a);
    let d = dot(a, ab);
    let e = dot(ab, ab);
    let foot = along(a.map(|x| x * e), ab, -d);
    let rest = minus(c.map(|x| x * e), foot);
    (dot(foot, foot) > rr * e * e) & (dot(foot, rest) >= 0.0)
}

/// Returns `true` if a triangle and a closed ball have a point in common. The vertices are given relative to
/// the centre of the ball. The comparison of the squared distance with the squared radius is exact. All
/// numbers must be in the same unit, and the radius must not be negative.
///
/// With `i128`, absolute coordinates must be below 2^29 and the radius below 2^62, see [`FITS`].
/// Arbitrary-precision integers have no limit.
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use voxelize::geom::tri_sphere::is_within;
///
/// let flat = [[3, 0, 4], [9, 0, 4], [6, 0, 4]];
/// assert!(is_within::<i128>(&flat, &5) && !is_within::<i128>(&flat, &4));
/// ```
pub fn is_within<T: Wide>(triangle: &[[T; 3]; 3], radius: &T) -> bool {
    let rr = radius.clone() * radius;
    let [a, b, c] = triangle;
    triangle.iter().any(|v| wide::dot(v, v) <= rr)
        || [[a, b], [b, c], [c, a]]
            .into_iter()
            .any(|edge| edge_is_within(edge, &rr))
        || face_is_within(triangle, &rr)
}

/// Numbers of bits for which [`is_within`] works in `i128`. Absolute coordinates must be below two to the
/// power of the first number, and the radius below two to the power of the second.
pub const FITS: [u32; 2] = [29, 62];

/// Returns `true` if the foot of the perpendicular from the origin is in the interior of an edge and within
/// the ball.
fn edge_is_within<T: Wide>([p, q]: [&[T; 3]; 2], rr: &T) -> bool {
    let e = wide::difference(q, p);
    let length = wide::dot(&e, &e);
    let rise = wide::dot(p, &e);
    let zero = T::from(0);
    if rise >= zero || rise + &length <= zero {
        return false;
    }
    // The distance from a line is the area of the parallelogram of `p` and `e`, divided by the length of `e`.
    let area = wide::cross(p, &e);
    T::compare_products([&wide::dot(&area, &area), &T::from(1)], [rr, &length]) != Ordering::Greater
}

/// Returns `true` if the foot of the perpendicular from the origin is on the face and within the ball.
fn face_is_within<T: Wide>([a, b, c]: &[[T; 3]; 3], rr: &T) -> bool {
    let normal = wide::cross(&wide::difference(b, a), &wide::difference(c, a));
    let zero = T::from(0);
    let area = wide::dot(&normal, &normal);
    if area == zero {
        return false;
    }
    for [p, q] in [[a, b], [b, c], [c, a]] {
        let side = wide::cross(p, &wide::difference(q, p));
        if wide::dot(&side, &normal) < zero {
            return false;
        }
    }
    let away = wide::dot(a, &normal);
    T::compare_products([&away, &away], [rr, &area]) != Ordering::Greater
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::wide::IBig;

    /// Returns the result of the test as it was first published, with `edge_sign` 1 in `QC = e C + Q₁` and
    /// with `>`.
    fn as_first_published(edge_sign: f64, triangle: [[f64; 3]; 3], radius: f64) -> bool {
        variant(triangle, radius, edge_sign, |a, b| a > b)
    }

    /// Returns the result of a variant of the test. `edge_sign` replaces the sign in `QC = e C - Q₁`, and
    /// `far` replaces the comparison for the sides of planes.
    fn variant(
        [a, b, c]: [[f64; 3]; 3],
        radius: f64,
        edge_sign: f64,
        far: impl Fn(f64, f64) -> bool,
    ) -> bool {
        let rr = radius * radius;
        let v = cross(minus(b, a), minus(c, a));
        let mut separated = dot(a, v) * dot(a, v) > rr * dot(v, v);
        for [p, q, r] in [[a, b, c], [b, c, a], [c, a, b]] {
            let pp = dot(p, p);
            separated |= pp > rr && far(dot(p, q), pp) && far(dot(p, r), pp);
            let pq = minus(q, p);
            let d = dot(p, q) - pp;
            let e = dot(pq, pq);
            let foot = along(p.map(|x| x * e), pq, -d);
            let rest = along(r.map(|x| x * e), foot, edge_sign);
            separated |= dot(foot, foot) > rr * e * e && far(dot(foot, rest), 0.0);
        }
        !separated
    }

    fn small(from: i64, count: i64, number: i64) -> [i64; 3] {
        [number, number / count, number / count / count].map(|n| from + n % count)
    }

    /// Calls `check` with all triangles on a small lattice, one for each set of vertices, and with several
    /// radii.
    fn each_small(mut check: impl FnMut([[i64; 3]; 3], i64)) {
        for a in 0..64 {
            for b in a..64 {
                for c in b..64 {
                    for radius in 0..6 {
                        check([small(-1, 4, a), small(-1, 4, b), small(-1, 4, c)], radius);
                    }
                }
            }
        }
    }

    fn doubles(triangle: [[i64; 3]; 3]) -> [[f64; 3]; 3] {
        triangle.map(|v| v.map(|c| c as f64))
    }

    fn area_is_zero(triangle: [[i64; 3]; 3]) -> bool {
        let [a, b, c] = doubles(triangle);
        cross(minus(b, a), minus(c, a)) == [0.0; 3]
    }

    #[test]
    fn seven_axes_give_the_definition_on_every_small_triangle() {
        let mut cases = 0;
        let mut within = 0;
        let mut flat = 0;
        each_small(|triangle, radius| {
            // Doubling the coordinates and adding odd offsets is equivalent to moving the centre between
            // lattice points.
            let triangle = triangle.map(|v| [2 * v[0] - 1, 2 * v[1], 2 * v[2] + 1]);
            let exact = is_within(&triangle.map(|v| v.map(i128::from)), &radius.into());
            assert_eq!(
                touches(doubles(triangle), [0.0; 3], radius as f64),
                exact,
                "{triangle:?} {radius}"
            );
            cases += 1;
            within += usize::from(exact);
            flat += usize::from(area_is_zero(triangle));
        });
        assert!(
            cases == 64 * 65 * 66 && within > 30_000 && flat > 10_000,
            "{cases} {within} {flat}"
        );
    }

    /// Shows that the test as first published differs from the definition, because of the wrong sign for
    /// edges and because of `>` where all vertices are in the separating plane.
    #[test]
    fn the_signs_and_comparisons_as_first_published_fail() {
        let [mut signs, mut strict, mut right] = [0; 3];
        each_small(|triangle, radius| {
            let exact = is_within(&triangle.map(|v| v.map(i128::from)), &radius.into());
            let numbers = doubles(triangle);
            let r = radius as f64;
            signs += usize::from(
                as_first_published(1.0, numbers, r) != exact && !area_is_zero(triangle),
            );
            strict += usize::from(as_first_published(-1.0, numbers, r) != exact);
            right += usize::from(variant(numbers, r, -1.0, |a, b| a >= b) == exact);
        });
        assert!(
            signs > 1000,
            "the sign first published is wrong {signs} times"
        );
        assert!(strict > 1000, "a strict comparison is wrong {strict} times");
        assert_eq!(right, 64 * 65 * 66, "with both put right none is wrong");
        // One example for each error: a triangle around the centre, and a distant point.
        let around = [[3.0, -9.0, 0.0], [3.0, 9.0, 0.0], [-2.0, 0.0, 0.0]];
        assert!(touches(around, [0.0; 3], 2.0) && !as_first_published(1.0, around, 2.0));
        let point = [[9.0, 0.0, 0.0]; 3];
        assert!(as_first_published(-1.0, point, 2.0) && !touches(point, [0.0; 3], 2.0));
    }

    #[test]
    fn any_size_and_128_bits_agree_up_to_the_limit() {
        let mut random = Random::new(5);
        let mut next = |bits: u32| {
            i128::from((random.next() >> 1 & ((1 << bits) - 1)) as i64) - (1 << (bits - 1))
        };
        let mut within = 0;
        let mut outside = 0;
        for n in 0..20_000 {
            // Coordinates of both signs, up to the largest allowed magnitude.
            let bits = [4, 16, 29, FITS[0] + 1][n % 4];
            let triangle: [[i128; 3]; 3] =
                std::array::from_fn(|_| std::array::from_fn(|_| next(bits)));
            let radius = next(bits).abs();
            let wide = triangle.map(|v| v.map(IBig::from));
            let exact = is_within(&wide, &IBig::from(radius));
            assert_eq!(
                is_within(&triangle, &radius),
                exact,
                "{triangle:?} {radius}"
            );
            *if exact { &mut within } else { &mut outside } += 1;
        }
        let most = (1i128 << FITS[0]) - 1;
        let corners = [
            [most, -most, most],
            [-most, most, most],
            [most, most, -most],
        ];
        let radius = (1i128 << FITS[1]) - 1;
        assert!(is_within(&corners, &radius) && !is_within(&corners, &1));
        assert!(within > 1000 && outside > 1000, "{within} {outside}");
    }
}
