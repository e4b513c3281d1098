//! Exact closest points of two triangles, and exact corners of their intersection, in rational numbers.
//!
//! The closest points of two disjoint triangles are a vertex of one and a point of the other, or a point on
//! an edge of each (Ericson, Real-Time Collision Detection, section 5.1.10). There are six pairs of the first
//! kind and nine of the second. Each pair is the solution of linear equations, so the closest points are
//! rational, and only their distance needs a square root. Parallel edges are also closest at an end of one of
//! them, so they need no special case. If the foot of a perpendicular is outside an edge or a triangle, an
//! end or an edge contains the closest point. Triangles without area consist of their edges.
//!
//! The intersection of two triangles is convex. Its corners are vertices of one triangle that are in the
//! other, points where an edge of one triangle passes through the other, and points where two coplanar edges
//! cross.
//!
//! The module [`tri_tri`](super::tri_tri) is faster. It decides exactly whether triangles intersect, and
//! computes their closest points with rounding errors.

use super::fractions::{ExactPoint, along, cross, dot, exact, is_zero, minus};
use super::{Rational, Triangle};

/// Returns the exact closest points of two triangles. The first result is a point of the first triangle. If
/// the triangles intersect, both points are equal. If several pairs are equally close, the pair with the
/// least coordinates is returned. Coordinates must be finite.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::fractions::rounded;
/// use voxelize::geom::separation::closest;
///
/// let low = [[0.0; 3], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]];
/// let high = [[1.0, 1.0, 0.5], [1.0, 1.0, 9.0], [2.0, 1.0, 9.0]];
/// assert_eq!(closest(&low, &high).each_ref().map(rounded), [[1.0, 1.0, 0.0], [1.0, 1.0, 0.5]]);
/// ```
pub fn closest(first: &Triangle, second: &Triangle) -> [ExactPoint; 2] {
    if let Some(point) = common(first, second).into_iter().next() {
        return [point.clone(), point];
    }
    let [s, t] = [first, second].map(|triangle| triangle.map(exact));
    let mut pairs = vec![];
    for v in &s {
        pairs.push([v.clone(), on_triangle(v, &t)]);
    }
    for v in &t {
        pairs.push([on_triangle(v, &s), v.clone()]);
    }
    for edge in edges(&s) {
        for other in edges(&t) {
            pairs.extend(between(edge, other));
        }
    }
    let by_distance = pairs
        .into_iter()
        .map(|pair| (squared(&pair[0], &pair[1]), pair));
    let (_, closest) = by_distance.min().expect("six pairs at least");
    closest
}

/// Returns the corners of the intersection, sorted by their coordinates. The list is empty if the triangles
/// do not intersect.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::fractions::rounded;
/// use voxelize::geom::separation::common;
///
/// let flat = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let upright = [[1.0, 1.0, -1.0], [1.0, 1.0, 1.0], [1.0, 9.0, 0.0]];
/// let ends: Vec<_> = common(&flat, &upright).iter().map(rounded).collect();
/// assert_eq!(ends, [[1.0, 1.0, 0.0], [1.0, 3.0, 0.0]]);
/// ```
pub fn common(first: &Triangle, second: &Triangle) -> Vec<ExactPoint> {
    let [s, t] = [first, second].map(|triangle| triangle.map(exact));
    let mut points = vec![];
    for (one, other) in [(&s, &t), (&t, &s)] {
        let plane = normal(other);
        points.extend(one.iter().filter(|v| contains(other, &plane, v)).cloned());
        for edge in edges(one) {
            if let Some(point) = pierced(edge, other, &plane)
                && contains(other, &plane, &point)
            {
                points.push(point);
            }
        }
    }
    for edge in edges(&s) {
        for other in edges(&t) {
            points.extend(crossed(edge, other));
        }
    }
    points.sort();
    points.dedup();
    if points.len() > 2 && are_on_a_line(&points) {
        points.drain(1..points.len() - 1);
    }
    points
}

fn are_on_a_line(points: &[ExactPoint]) -> bool {
    let span = minus(&points[points.len() - 1], &points[0]);
    points
        .iter()
        .all(|x| is_zero(&cross(&span, &minus(x, &points[0]))))
}

/// Returns the squared distance between two points.
pub fn squared(a: &ExactPoint, b: &ExactPoint) -> Rational {
    let away = minus(a, b);
    dot(&away, &away)
}

fn edges([a, b, c]: &[ExactPoint; 3]) -> [[&ExactPoint; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

fn normal([a, b, c]: &[ExactPoint; 3]) -> ExactPoint {
    cross(&minus(b, a), &minus(c, a))
}

fn is_share(t: &Rational) -> bool {
    *t >= Rational::ZERO && *t <= Rational::ONE
}

/// Reports whether a point is on a segment. The segment may be a single point.
pub fn is_on_segment(x: &ExactPoint, [a, b]: [&ExactPoint; 2]) -> bool {
    let e = minus(b, a);
    let r = minus(x, a);
    let rise = dot(&r, &e);
    is_zero(&cross(&e, &r))
        && rise >= Rational::ZERO
        && rise <= dot(&e, &e)
        && (!is_zero(&e) || is_zero(&r))
}

/// Reports whether a point is in a triangle. `normal` is the normal of the triangle.
fn contains(triangle: &[ExactPoint; 3], normal: &ExactPoint, x: &ExactPoint) -> bool {
    if is_zero(normal) {
        return edges(triangle)
            .into_iter()
            .any(|edge| is_on_segment(x, edge));
    }
    let is_left = |[a, b]: [&ExactPoint; 2]| {
        dot(&cross(&minus(b, a), &minus(x, a)), normal) >= Rational::ZERO
    };
    dot(normal, &minus(x, &triangle[0])).is_zero() && edges(triangle).into_iter().all(is_left)
}

/// Reports whether a triangle contains a point. Coordinates must be finite.
pub fn holds(triangle: &Triangle, x: &ExactPoint) -> bool {
    let triangle = triangle.map(exact);
    triangle.contains(x) || contains(&triangle, &normal(&triangle), x)
}

/// Returns the point at which a segment crosses the plane of a triangle. `None` if its ends are not strictly
/// on different sides of the plane.
fn pierced(
    [p, q]: [&ExactPoint; 2],
    [a, ..]: &[ExactPoint; 3],
    normal: &ExactPoint,
) -> Option<ExactPoint> {
    let [of_p, of_q] = [p, q].map(|x| dot(normal, &minus(x, a)));
    let parts = of_p.is_positive() && (-&of_q).is_positive()
        || of_q.is_positive() && (-&of_p).is_positive();
    parts.then(|| along(p, &minus(q, p), &(&of_p / &(&of_p - &of_q))))
}

/// Returns the point at which two segments cross. `None` if they do not cross or are parallel.
fn crossed(first: [&ExactPoint; 2], second: [&ExactPoint; 2]) -> Option<ExactPoint> {
    let [p, q] = between(first, second)?;
    (p == q).then_some(p)
}

/// Returns the closest points of the lines of two segments. `None` if one of the points is outside its
/// segment, or if the lines are parallel.
fn between([a, b]: [&ExactPoint; 2], [c, d]: [&ExactPoint; 2]) -> Option<[ExactPoint; 2]> {
    let e = minus(b, a);
    let f = minus(d, c);
    let r = minus(c, a);
    let across = cross(&e, &f);
    let area = dot(&across, &across);
    if area.is_zero() {
        return None;
    }
    // r = s e - t f + (a multiple of the normal).
    let [s, t] = [&f, &e].map(|side| &dot(&cross(&r, side), &across) / &area);
    (is_share(&s) && is_share(&t)).then(|| [along(a, &e, &s), along(c, &f, &t)])
}

/// Returns the point of a segment that is closest to `p`.
fn on_segment(p: &ExactPoint, [a, b]: [&ExactPoint; 2]) -> ExactPoint {
    let e = minus(b, a);
    let rise = dot(&minus(p, a), &e);
    let length = dot(&e, &e);
    if rise <= Rational::ZERO {
        a.clone()
    } else if rise >= length {
        b.clone()
    } else {
        along(a, &e, &(&rise / &length))
    }
}

/// Returns the point of a triangle that is closest to `p`.
fn on_triangle(p: &ExactPoint, triangle: &[ExactPoint; 3]) -> ExactPoint {
    let normal = normal(triangle);
    if !is_zero(&normal) {
        let height = &dot(&normal, &minus(&triangle[0], p)) / &dot(&normal, &normal);
        let foot = along(p, &normal, &height);
        if contains(triangle, &normal, &foot) {
            return foot;
        }
    }
    let feet = edges(triangle).map(|edge| on_segment(p, edge));
    feet.into_iter()
        .min_by_key(|foot| squared(p, foot))
        .expect("three edges")
}
