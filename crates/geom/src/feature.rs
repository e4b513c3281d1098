//! Exact comparisons of two triangles as seen from a point: which triangle is nearer, and which turns its
//! inner side more directly to the point. They use the nearest feature of each triangle: a vertex, an edge or
//! the face.
//!
//! Let a plane pass through a point of a triangle, perpendicular to the line from there to the query point.
//! The point is the nearest point of the triangle if no corner is on the query point's side of the plane
//! (Ericson, Real-Time Collision Detection, section 5.1). For a vertex the test needs two dot products, and
//! for an edge one expression of degree four. If the nearest point of a triangle is on a feature that another
//! triangle shares, the first triangle is not nearer than the second. Doubles prove this if the computed
//! values exceed their error bounds. All other cases are decided in integers relative to the query point, in
//! which squared distances are fractions.

use std::cmp::Ordering;

use crate::Triangle;
use crate::vector::{cross, dot, minus};
use crate::wide::{self, Wide, difference};

/// Feature of a triangle.
#[derive(Clone, Copy)]
enum Feature {
    /// Vertex with this index.
    Vertex(usize),
    /// Edge opposite the vertex with this index.
    Edge(usize),
    /// Face without its edges.
    Face,
}

/// Error bound of a dot product of two vectors, relative to the product of two sums of absolute components.
/// The first sum includes the components of the first vector and the coordinates of the point. The second sum
/// has the components of the second vector. See docs/internals/distance.md.
const DOT: f64 = 32.0 * UNIT;

/// Error bound of the expression for an edge, relative to the product of four sums as for [`DOT`].
const EDGE: f64 = 64.0 * UNIT;

/// Unit roundoff of doubles, `2^-53`.
const UNIT: f64 = f64::EPSILON / 2.0;

/// Least size of a vector for which the error bounds hold, `2^-401`. Edges are at least `2^-149` long, so
/// that errors by underflow are far below the bounds.
const LEAST: f64 = f64::from_bits((1023 - 401) << 52);

/// Returns `true` if doubles prove that a triangle is not nearer to a point than another triangle. The proof
/// is that its nearest point is on a vertex or an edge that the other triangle shares. The coordinates of
/// `point` are the doubles nearest to the exact coordinates.
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use voxelize::geom::feature::is_surely_no_nearer;
///
/// let [a, b, c, d] = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]];
/// assert!(is_surely_no_nearer([2.0, -1.0, -1.0], &[a, b, c], &[a, b, d]), "the edge of both");
/// assert!(!is_surely_no_nearer([2.0, 1.0, 1.0], &[a, b, c], &[a, b, d]), "the face of the first");
/// ```
pub fn is_surely_no_nearer(point: [f64; 3], triangle: &Triangle, other: &Triangle) -> bool {
    let [a, b, c] = *triangle;
    // The vertices are rotated so that the shared ones come first.
    match triangle.map(|vertex| other.contains(&vertex)) {
        [false, false, false] => false,
        [true, false, false] => is_at_vertex(point, [a, b, c]),
        [false, true, false] => is_at_vertex(point, [b, c, a]),
        [false, false, true] => is_at_vertex(point, [c, a, b]),
        [true, true, false] => is_on_edge(point, [a, b, c]),
        [false, true, true] => is_on_edge(point, [b, c, a]),
        [true, false, true] => is_on_edge(point, [c, a, b]),
        [true, true, true] => true,
    }
}

/// Returns `true` if doubles prove that the first vertex of a triangle is its nearest point.
fn is_at_vertex(point: [f64; 3], triangle: Triangle) -> bool {
    let [p, q, r] = triangle.map(|vertex| vertex.map(f64::from));
    let from = minus(point, p);
    let reach = sum(from) + sum(point);
    is_surely_negative(from, minus(q, p), reach) && is_surely_negative(from, minus(r, p), reach)
}

/// Returns `true` if doubles prove that the nearest point of a triangle is on the edge between its first two
/// vertices, including the vertices.
fn is_on_edge(point: [f64; 3], triangle: Triangle) -> bool {
    let [p, q, r] = triangle.map(|vertex| vertex.map(f64::from));
    let edge = minus(q, p);
    let from_p = minus(point, p);
    let from_q = minus(point, q);
    let reach = sum(from_p) + sum(point);
    let along = dot(from_p, edge);
    let aside = minus(r, p);
    if along <= 0.0 {
        return is_surely_negative(from_p, aside, reach);
    }
    if dot(from_q, edge) >= 0.0 {
        return is_surely_negative(from_q, minus(r, q), sum(from_q) + sum(point));
    }
    let across = dot(from_p, aside) * dot(edge, edge) - along * dot(edge, aside);
    let size = sum(edge);
    reach > LEAST && across < -EDGE * (reach * sum(aside)) * (size * size)
}

/// Returns `true` if doubles prove that the dot product of `from` and `to` is negative. `reach` is the first
/// sum in [`DOT`].
fn is_surely_negative(from: [f64; 3], to: [f64; 3], reach: f64) -> bool {
    reach > LEAST && dot(from, to) < -DOT * reach * sum(to)
}

/// Returns the sum of the absolute values of a vector's components.
fn sum(v: [f64; 3]) -> f64 {
    v[0].abs() + v[1].abs() + v[2].abs()
}

/// Numbers of bits of the coordinates for which [`nearer`] works in `i128`: absolute values must be below two
/// to this power. The first number is for all triangles. The second is for triangles whose nearest feature is
/// a vertex, an edge, or a face perpendicular to an axis.
pub const FITS: [u32; 2] = [19, 29];

/// Compares the distances of two triangles from a point. Their vertices are given relative to the point. The
/// result is `Less` if the first triangle is nearer. With `i128`, absolute coordinates must be below 2^29.
/// The result is `None` if they are too large for the face of a triangle, which needs them below 2^19, see
/// [`FITS`].
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use std::cmp::Ordering;
/// use voxelize::geom::feature::nearer;
///
/// let square = [[-2, -2, 5], [2, -2, 5], [2, 2, 5], [-2, 2, 5]].map(|corner| corner.map(i128::from));
/// let [a, b, c, d] = square;
/// assert_eq!(nearer(&[[a, b, c], [a, c, d]]), Some(Ordering::Equal), "the foot is on the diagonal");
/// let above = [a, b, d].map(|[x, y, z]| [x, y, z + 1]);
/// assert_eq!(nearer(&[above, [a, c, d]]), Some(Ordering::Greater));
/// ```
pub fn nearer<T: Wide>(triangles: &[[[T; 3]; 3]; 2]) -> Option<Ordering> {
    let [first, second] = triangles;
    let first_feature = nearest_feature(first);
    let second_feature = nearest_feature(second);
    if is_same((first, first_feature), (second, second_feature)) {
        return Some(Ordering::Equal);
    }
    let [p, q] = squared(first, first_feature)?;
    let [r, s] = squared(second, second_feature)?;
    Some(T::compare_products([&p, &s], [&r, &q]))
}

/// Compares how directly two triangles turn their inner side to a point. Their vertices are given relative to
/// the point. The result is `Less` if the first triangle does so more directly. The comparison uses the
/// height of the triangle's plane above the point, measured along the normal. The height is positive if the
/// point is on the inner side. Among triangles at equal distance, it is largest for the triangle that faces
/// the point most directly. A triangle without area has no sides and comes last. With `i128`, absolute
/// coordinates must be below 2^29. The result is `None` if they are too large for an oblique plane, which
/// needs them below 2^19, see [`FITS`].
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use std::cmp::Ordering;
/// use voxelize::geom::feature::inner_side;
///
/// let [a, b, c] = [[0, 0, 5], [4, 0, 5], [0, 4, 5]].map(|corner| corner.map(i128::from));
/// assert_eq!(inner_side(&[[a, b, c], [a, c, b]]), Some(Ordering::Less), "its normal points away from the origin");
/// assert_eq!(inner_side(&[[a, b, b], [a, c, b]]), Some(Ordering::Greater), "the first has no area");
/// ```
pub fn inner_side<T: Wide>(triangles: &[[[T; 3]; 3]; 2]) -> Option<Ordering> {
    let [first, second] = triangles;
    let (first_sign, [p, q]) = signed_height(first)?;
    let (second_sign, [r, s]) = signed_height(second)?;
    let zero = T::from(0);
    if q == zero || s == zero {
        // A triangle with area comes before a triangle without area.
        return Some((q == zero).cmp(&(s == zero)));
    }
    if first_sign != second_sign {
        return Some(second_sign.cmp(&first_sign));
    }
    let larger_first = T::compare_products([&r, &q], [&p, &s]);
    if first_sign < 0 {
        Some(larger_first.reverse())
    } else {
        Some(larger_first)
    }
}

/// Returns the height of a triangle's plane above the origin, measured along the normal, as a sign and a
/// squared magnitude. The square is a fraction, whose denominator is zero if the triangle has no area. `None`
/// if the numbers may overflow the integer type.
fn signed_height<T: Wide>(triangle: &[[T; 3]; 3]) -> Option<(i8, [T; 2])> {
    let [a, b, c] = triangle;
    let normal = wide::cross(&difference(b, a), &difference(c, a));
    let zero = T::from(0);
    let mut across = (0..3).filter(|n| normal[*n] != zero);
    match (across.next(), across.next()) {
        (None, _) => Some((0, [T::from(0), T::from(0)])),
        (Some(axis), None) => {
            let height = &a[axis];
            Some((
                normal[axis].sign() * height.sign(),
                [height.clone() * height, T::from(1)],
            ))
        }
        _ => {
            if !triangle.iter().flatten().all(|c| c.is_below(FITS[0])) {
                return None;
            }
            let height = wide::dot(&normal, a);
            Some((
                height.sign(),
                [height.clone() * &height, wide::dot(&normal, &normal)],
            ))
        }
    }
}

/// Compares two triangles as [`inner_side`] does, but in doubles. The result is `Less` if the first triangle
/// certainly turns its inner side more directly to the point. `None` if doubles cannot decide. The
/// coordinates of `point` are the doubles nearest to the exact coordinates.
///
/// ```
/// # mod voxelize { pub use voxelize_geom as geom; }
/// use std::cmp::Ordering;
/// use voxelize::geom::feature::sure_inner_side;
///
/// let [a, b, c] = [[0.0, 0.0, 5.0], [4.0, 0.0, 5.0], [0.0, 4.0, 5.0]];
/// assert_eq!(sure_inner_side([1.0; 3], [&[a, b, c], &[a, c, b]]), Some(Ordering::Less));
/// assert_eq!(sure_inner_side([1.0; 3], [&[a, b, c], &[b, c, a]]), None, "both are in one plane");
/// ```
pub fn sure_inner_side(point: [f64; 3], triangles: [&Triangle; 2]) -> Option<Ordering> {
    let [[low, high], [other_low, other_high]] = [
        height_range(point, triangles[0])?,
        height_range(point, triangles[1])?,
    ];
    if low > other_high {
        return Some(Ordering::Less);
    }
    if other_low > high {
        return Some(Ordering::Greater);
    }
    None
}

/// Returns a lower and an upper bound of the height of a triangle's plane above a point, measured along the
/// normal. `None` if the triangle is almost a line.
///
/// Error bound: let the size of a vector be the sum of its absolute components. The error of the normal is at
/// most `4u` times the product of the sizes of both edges. The error of its dot product with the vector to a
/// corner is at most `16u` times this product times the sum of the sizes of that vector and of the point. If
/// the normal is at least `2^-20` times as long as the product of the edges' sizes, the relative error of its
/// length is at most `2^-30`.
fn height_range(point: [f64; 3], triangle: &Triangle) -> Option<[f64; 2]> {
    const LONG_ENOUGH: f64 = 1.0 / (1 << 20) as f64;
    const LENGTH_ERROR: f64 = 1.0 / (1 << 30) as f64;
    let [a, b, c] = triangle.map(|vertex| vertex.map(f64::from));
    let [ab, ac] = [minus(b, a), minus(c, a)];
    let normal = cross(ab, ac);
    let length = dot(normal, normal).sqrt();
    let size = sum(ab) * sum(ac);
    let from = minus(a, point);
    let reach = sum(from) + sum(point);
    if length <= LONG_ENOUGH * size || reach <= LEAST {
        return None;
    }
    let height = dot(normal, from) / length;
    let error = DOT * size * reach / length + LENGTH_ERROR * height.abs();
    Some([height - error, height + error])
}

/// Returns, exactly, the feature that contains the point nearest to the origin. If the nearest point is a
/// vertex, returns the vertex, although its edges and the face also contain it. An edge takes priority over
/// the face in the same way.
fn nearest_feature<T: Wide>(triangle: &[[T; 3]; 3]) -> Feature {
    for n in 0..3 {
        if is_nearest_vertex(triangle, n) {
            return Feature::Vertex(n);
        }
    }
    for n in 0..3 {
        if is_on_nearest_edge(triangle, n) {
            return Feature::Edge(n);
        }
    }
    Feature::Face
}

/// Returns `true` if vertex `n` is the triangle's point nearest to the origin.
fn is_nearest_vertex<T: Wide>(triangle: &[[T; 3]; 3], n: usize) -> bool {
    let vertex = &triangle[n];
    let zero = T::from(0);
    triangle
        .iter()
        .all(|other| wide::dot(vertex, &difference(other, vertex)) >= zero)
}

/// Returns `true` if the triangle's point nearest to the origin is in the interior of the edge opposite
/// vertex `n`.
fn is_on_nearest_edge<T: Wide>(triangle: &[[T; 3]; 3], n: usize) -> bool {
    let [p, q, r] = [1, 2, 0].map(|m| &triangle[(n + m) % 3]);
    let zero = T::from(0);
    let edge = difference(q, p);
    let third = difference(r, p);
    // The foot of the perpendicular from the origin is between `p` and `q` if `before` is negative and
    // `beyond` is positive.
    let before = wide::dot(p, &edge);
    let beyond = wide::dot(q, &edge);
    let aside = wide::dot(p, &third) * &wide::dot(&edge, &edge);
    before < zero && beyond > zero && aside >= before * &wide::dot(&edge, &third)
}

/// Returns `true` if the nearest features of two triangles are the same vertex, edge or face.
fn is_same<T: Wide>(
    (first, a): (&[[T; 3]; 3], Feature),
    (second, b): (&[[T; 3]; 3], Feature),
) -> bool {
    match (a, b) {
        (Feature::Vertex(m), Feature::Vertex(n)) => first[m] == second[n],
        (Feature::Edge(m), Feature::Edge(n)) => {
            let ends = [1, 2].map(|k| &second[(n + k) % 3]);
            [1, 2].iter().all(|k| ends.contains(&&first[(m + k) % 3]))
        }
        (Feature::Face, Feature::Face) => first.iter().all(|vertex| second.contains(vertex)),
        _ => false,
    }
}

/// Returns the squared distance from the origin to a feature as a fraction. `None` if the numbers may
/// overflow the integer type.
fn squared<T: Wide>(triangle: &[[T; 3]; 3], feature: Feature) -> Option<[T; 2]> {
    match feature {
        Feature::Vertex(n) => Some([wide::dot(&triangle[n], &triangle[n]), T::from(1)]),
        Feature::Edge(n) => {
            let [p, q] = [1, 2].map(|m| &triangle[(n + m) % 3]);
            let edge = difference(q, p);
            let length = wide::dot(&edge, &edge);
            let along = wide::dot(p, &edge);
            Some([
                wide::dot(p, p) * &length - &(along.clone() * &along),
                length,
            ])
        }
        Feature::Face => {
            let [a, b, c] = triangle;
            let normal = wide::cross(&difference(b, a), &difference(c, a));
            let zero = T::from(0);
            let mut across = (0..3).filter(|n| normal[*n] != zero);
            if let (Some(axis), None) = (across.next(), across.next()) {
                return Some([a[axis].clone() * &a[axis], T::from(1)]);
            }
            if !triangle.iter().flatten().all(|c| c.is_below(FITS[0])) {
                return None;
            }
            let height = wide::dot(&normal, a);
            Some([height.clone() * &height, wide::dot(&normal, &normal)])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::wide::IBig;

    /// Returns a generator of random integers from `-most` to `most`. If `most` is small, many of them are
    /// equal.
    fn numbers(seed: u64) -> impl FnMut(i64) -> i64 {
        let mut random = Random::new(seed);
        move |most| random.whole(-most, most)
    }

    /// Returns two triangles with vertices from a set of five points, and a query point, in integers below
    /// 2^24.
    fn case(next: &mut impl FnMut(i64) -> i64, most: i64) -> ([[[i64; 3]; 3]; 2], [i64; 3]) {
        let points: [[i64; 3]; 5] = [(); 5].map(|()| [(); 3].map(|()| next(most)));
        let mut corner = || points[(next(1 << 20) + (1 << 20)) as usize % 5];
        let triangles = [(); 2].map(|()| [(); 3].map(|()| corner()));
        (triangles, [(); 3].map(|()| next(most + 2)))
    }

    #[test]
    fn what_is_sure_is_never_contradicted_by_integers() {
        let mut next = numbers(1);
        let mut sure = 0;
        let mut equal = 0;
        let mut nearer_ones = 0;
        let mut narrow = 0;
        for n in 0..200_000 {
            let most = [2, 6, 100, (1 << 24) - 3][n % 4];
            let (triangles, point) = case(&mut next, most);
            let relative =
                triangles.map(|t| t.map(|v| [0, 1, 2].map(|a| i128::from(v[a] - point[a]))));
            let exact = nearer(
                &relative
                    .each_ref()
                    .map(|t| t.each_ref().map(|v| v.map(IBig::from))),
            )
            .unwrap();
            if let Some(answer) = nearer(&relative) {
                assert_eq!(answer, exact, "{triangles:?} {point:?}");
                narrow += 1;
            }
            let [first, second] = triangles.map(|t| t.map(|v| v.map(|c| c as f32)));
            if is_surely_no_nearer(point.map(|c| c as f64), &first, &second) {
                assert!(exact.is_ge(), "{triangles:?} {point:?}");
                sure += 1;
            }
            equal += usize::from(exact.is_eq());
            nearer_ones += usize::from(exact.is_lt());
        }
        assert!(sure > 20_000 && equal > 20_000 && nearer_ones > 20_000 && narrow > 100_000);
    }

    #[test]
    fn a_sure_inner_side_is_never_contradicted_by_integers() {
        let mut next = numbers(3);
        let [mut sure, mut equal, mut narrow] = [0; 3];
        for n in 0..100_000 {
            let most = [2, 6, 100, (1 << 24) - 3][n % 4];
            let (triangles, point) = case(&mut next, most);
            let relative =
                triangles.map(|t| t.map(|v| [0, 1, 2].map(|a| i128::from(v[a] - point[a]))));
            let wide = relative
                .each_ref()
                .map(|t| t.each_ref().map(|v| v.map(IBig::from)));
            let exact = inner_side(&wide).unwrap();
            let [first, second] = wide;
            assert_eq!(
                inner_side(&[second, first]).unwrap(),
                exact.reverse(),
                "{triangles:?} {point:?}"
            );
            if let Some(answer) = inner_side(&relative) {
                assert_eq!(answer, exact, "{triangles:?} {point:?}");
                narrow += 1;
            }
            let [first, second] = triangles.map(|t| t.map(|v| v.map(|c| c as f32)));
            if let Some(answer) = sure_inner_side(point.map(|c| c as f64), [&first, &second]) {
                assert_eq!(answer, exact, "{triangles:?} {point:?}");
                sure += 1;
            }
            equal += usize::from(exact.is_eq());
        }
        assert!(
            sure > 20_000 && equal > 5_000 && narrow > 50_000,
            "{sure} {equal} {narrow}"
        );
    }

    #[test]
    fn the_largest_coordinates_that_fit_do_not_overflow() {
        let mut next = numbers(2);
        for n in 0..20_000 {
            let most = (1 << FITS[n % 2]) - 1;
            let corner = |next: &mut dyn FnMut(i64) -> i64| {
                [(); 3].map(|()| if next(1) > 0 { most } else { -most })
            };
            let triangles = [(); 2].map(|()| [(); 3].map(|()| corner(&mut next).map(i128::from)));
            let wide = triangles
                .each_ref()
                .map(|t| t.each_ref().map(|v| v.map(IBig::from)));
            assert!(n % 2 == 1 || nearer(&triangles).is_some());
            assert!(
                nearer(&triangles).is_none_or(|answer| Some(answer) == nearer(&wide)),
                "{triangles:?}"
            );
            let side = inner_side(&triangles);
            assert!(n % 2 == 1 || side.is_some());
            assert!(
                side.is_none_or(|answer| Some(answer) == inner_side(&wide)),
                "{triangles:?}"
            );
        }
    }
}
