//! Computes, in doubles, the point of a segment, box or triangle that is closest to a given point. Also tests
//! whether a sphere and a box intersect.
//!
//! Source: Ericson, Real-Time Collision Detection (2005), section 5.1. A closed convex set has exactly one
//! point `q` that is closest to a point `p`. Let a plane pass through `q`, perpendicular to `p - q`. No point
//! of the set is on the same side of this plane as `p`: `(p - q) · (v - q) <= 0` for every corner `v`.
//!
//! Segments may have no length and triangles no area. Steps that would divide by a length or an area of zero
//! are then skipped, and the remaining features contain the closest point. All results are rounded. The error
//! of the distance is a few units in the last place of the largest difference of coordinates.

use super::segment_box::ClosedBox;
use super::vector::{along, cross, dot, minus};

/// Returns the point of the segment from `a` to `b` that is closest to `p`.
///
/// The foot of the perpendicular from `p` to the line is `a + t (b - a)` with `t = (p - a) · (b - a) / (b -
/// a)²`. If the foot is beyond an end, that end is closest (section 5.1.2). A segment without length is a
/// single point.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::closest::on_segment;
///
/// assert_eq!(on_segment([1.0, 2.0, 0.0], [[0.0; 3], [4.0, 0.0, 0.0]]), [1.0, 0.0, 0.0]);
/// assert_eq!(on_segment([9.0, 2.0, 0.0], [[0.0; 3], [4.0, 0.0, 0.0]]), [4.0, 0.0, 0.0]);
/// assert_eq!(on_segment([9.0, 2.0, 0.0], [[1.0; 3]; 2]), [1.0; 3]);
/// ```
pub fn on_segment(p: [f64; 3], [a, b]: [[f64; 3]; 2]) -> [f64; 3] {
    let e = minus(b, a);
    let from_a = minus(p, a);
    let rise = dot(from_a, e);
    let length = dot(e, e);
    if rise <= 0.0 {
        a
    } else if rise >= length {
        b
    } else if 2.0 * rise <= length {
        along(a, e, rise / length)
    } else {
        // The point is computed from the nearer end, because the rounding error of the factor is then
        // smaller.
        along(b, e, dot(minus(p, b), e) / length)
    }
}

/// Returns the closest points of two segments. The first result is a point of the first segment.
///
/// If the closest points of the two lines are within both segments, they are the result. Otherwise the result
/// is an end of one segment and the point of the other segment that is closest to this end (section 5.1.9).
/// All four ends are always tried. This also handles parallel segments, and avoids a loss of precision if a
/// divisor is almost zero.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::closest::of_segments;
///
/// let [x, y] = [[[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [[0.0, -1.0, 2.0], [0.0, 3.0, 2.0]]];
/// assert_eq!(of_segments(x, y), [[0.0; 3], [0.0, 0.0, 2.0]]);
/// ```
pub fn of_segments([a, b]: [[f64; 3]; 2], [c, d]: [[f64; 3]; 2]) -> [[f64; 3]; 2] {
    let ends = [
        [a, on_segment(a, [c, d])],
        [b, on_segment(b, [c, d])],
        [on_segment(c, [a, b]), c],
        [on_segment(d, [a, b]), d],
    ];
    let all = ends.into_iter().chain(between([a, b], [c, d]));
    all.min_by(|[p, q], [r, s]| squared(*p, *q).total_cmp(&squared(*r, *s)))
        .expect("four pairs or five")
}

/// Returns the squared distance between two points.
fn squared(p: [f64; 3], q: [f64; 3]) -> f64 {
    let away = minus(p, q);
    dot(away, away)
}

/// Returns the closest points of the lines of two segments. `None` if one of the points is outside its
/// segment, or if the lines are parallel.
fn between([a, b]: [[f64; 3]; 2], [c, d]: [[f64; 3]; 2]) -> Option<[[f64; 3]; 2]> {
    let e = minus(b, a);
    let f = minus(d, c);
    let r = minus(c, a);
    // e and f are perpendicular to the normal, and r = s e - t f + (a multiple of the normal).
    let normal = cross(e, f);
    let area = dot(normal, normal);
    let s = dot(cross(r, f), normal) / area;
    let t = dot(cross(r, e), normal) / area;
    let unit = 0.0..=1.0;
    if !unit.contains(&s) || !unit.contains(&t) {
        return None;
    }
    // s and t are rounded. To reduce the error, each point is replaced by the point closest to the other one.
    let q = on_segment(along(a, e, s), [c, d]);
    let p = on_segment(q, [a, b]);
    Some([p, on_segment(p, [c, d])])
}

/// Returns the point of the box that is closest to `p`. Each coordinate is clamped separately (section
/// 5.1.3).
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::closest::on_box;
/// use voxelize::geom::segment_box::ClosedBox;
///
/// let unit = ClosedBox { low: [0.0; 3], high: [1.0; 3] };
/// assert_eq!(on_box([2.0, 0.25, -1.0], &unit), [1.0, 0.25, 0.0]);
/// ```
pub fn on_box(p: [f64; 3], within: &ClosedBox) -> [f64; 3] {
    std::array::from_fn(|a| p[a].max(within.low[a]).min(within.high[a]))
}

/// Reports whether a closed ball and a box have a point in common. Compares the squared distance from the
/// centre to the closest point of the box with the squared radius (section 5.2.5).
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::closest::sphere_box;
/// use voxelize::geom::segment_box::ClosedBox;
///
/// let unit = ClosedBox { low: [0.0; 3], high: [1.0; 3] };
/// assert!(sphere_box([4.0, 5.0, 0.5], 5.0, &unit), "it touches the edge");
/// assert!(!sphere_box([4.0, 5.0, 0.5], 4.99, &unit));
/// ```
pub fn sphere_box(centre: [f64; 3], radius: f64, within: &ClosedBox) -> bool {
    let away = minus(on_box(centre, within), centre);
    dot(away, away) <= radius * radius
}

/// Returns the point of the triangle that is closest to `p`.
///
/// It is the foot of the perpendicular from `p` to the plane if the foot is within the triangle. Otherwise it
/// is the closest point of an edge. Section 5.1.5 finds the same point from the Voronoi regions of vertices
/// and edges, which are undefined if the area is zero. Every candidate is a point of the triangle, so the
/// computed distance is never too small. A triangle without area consists of its edges.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::closest::on_triangle;
///
/// let triangle = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// assert_eq!(on_triangle([1.0, 1.0, 7.0], triangle), [1.0, 1.0, 0.0]);
/// assert_eq!(on_triangle([3.0, 3.0, 7.0], triangle), [2.0, 2.0, 0.0]);
/// assert_eq!(on_triangle([-1.0, -2.0, 7.0], triangle), [0.0; 3]);
/// assert_eq!(on_triangle([5.0, 6.0, 7.0], [[1.0; 3]; 3]), [1.0; 3]);
/// ```
pub fn on_triangle(p: [f64; 3], triangle: [[f64; 3]; 3]) -> [f64; 3] {
    let [a, b, c] = triangle;
    let on_edges = [[a, b], [b, c], [c, a]].map(|edge| on_segment(p, edge));
    let mut closest = a;
    for q in on_edges.into_iter().chain(foot(p, triangle)) {
        if squared(q, p) < squared(closest, p) {
            closest = q;
        }
    }
    closest
}

/// Returns the foot of the perpendicular from `p` to the plane of the triangle. `None` if the foot is outside
/// the triangle, or if the triangle has no area.
///
/// It is computed in coordinates along the longest edge and along the height on this edge. The height of a
/// sliver has few significant digits. Therefore the component along the edge is subtracted before the
/// component along the height is computed.
fn foot(p: [f64; 3], [a, b, c]: [[f64; 3]; 3]) -> Option<[f64; 3]> {
    // Rotates the vertices so that the longest edge comes first.
    let mut longest = [a, b, c];
    for turn in [[b, c, a], [c, a, b]] {
        if squared(turn[1], turn[0]) > squared(longest[1], longest[0]) {
            longest = turn;
        }
    }
    let [a, b, c] = longest;
    let base = minus(b, a);
    let side = minus(c, a);
    let from_a = minus(p, a);
    let base_squared = dot(base, base);
    let share = dot(side, base) / base_squared;
    let height = along(side, base, -share);
    let t = dot(from_a, base) / base_squared;
    let s = dot(along(from_a, base, -t), height) / dot(height, height);
    // If the area is zero, the weights are NaN, and the comparisons are false.
    let weights = [t - share * s, s];
    let within = weights[0] >= 0.0 && s >= 0.0 && weights[0] + s <= 1.0;
    within.then(|| along(along(a, base, weights[0]), side, s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Rational;
    use crate::random::Random;

    impl Random {
        fn point_of(&mut self, kind: u64) -> [f64; 3] {
            std::array::from_fn(|_| match kind {
                0 => self.within(-4.0, 4.0),
                1 => self.whole(-2, 2) as f64,
                _ => self.below(3) as f64 + self.within(0.0, 1e-9),
            })
        }
    }

    /// Returns pairs of a point and a triangle. Many of the triangles have no area or almost none.
    fn cases() -> impl Iterator<Item = ([f64; 3], [[f64; 3]; 3])> {
        let mut random = Random::new(0x0ff5e7);
        (0..60_000_u64).map(move |n| {
            let p = random.point_of(n / 3 % 3);
            let a = random.point_of(n % 3);
            let b = random.point_of(n % 3);
            let t = random.within(0.0, 1.0);
            let c = match n % 7 {
                0 => a,
                1 => along(a, minus(b, a), t),
                2 => std::array::from_fn(|i| a[i] + t * (b[i] - a[i]) + random.within(0.0, 1e-10)),
                _ => random.point_of(n % 3),
            };
            (p, [a, b, c])
        })
    }

    fn size(points: &[[f64; 3]]) -> f64 {
        points
            .iter()
            .flatten()
            .fold(0.0, |most, c| c.abs().max(most))
    }

    /// Checks that no corner is on the point's side of the plane through the closest point, except for
    /// rounding. This property characterizes the closest point of a convex set.
    #[test]
    fn no_corner_is_beyond_the_plane_through_the_closest_point() {
        let mut seen = [0, 0];
        for (p, triangle) in cases() {
            let q = on_triangle(p, triangle);
            let away = minus(p, q);
            let distance = dot(away, away).sqrt();
            let slack = size(&[p, triangle[0], triangle[1], triangle[2]]);
            for v in triangle {
                let beyond = dot(away, minus(v, q));
                let reach = dot(minus(v, q), minus(v, q)).sqrt();
                // Distance by which a point on the segment to such a corner is closer.
                let step = if beyond > 0.0 {
                    (beyond / reach).min(reach)
                } else {
                    0.0
                };
                let gain =
                    step * step / (distance + (distance * distance - step * step).max(0.0).sqrt());
                let gain = if step == 0.0 { 0.0 } else { gain };
                assert!(
                    gain <= slack.max(1.0) * 2f64.powi(-48),
                    "{p:?} {triangle:?} {q:?} {gain:e}"
                );
            }
            seen[usize::from(distance > 0.0)] += 1;
        }
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
    }

    /// Checks that the distance of the closest point differs from the exact distance only by rounding.
    #[test]
    fn distances_match_fractions() {
        let mut compared = 0;
        for (p, triangle) in cases().step_by(11) {
            let q = on_triangle(p, triangle);
            let away = minus(p, q);
            let found = dot(away, away).sqrt();
            let wanted = exact_squared(p, triangle).to_f64().sqrt();
            let slack = size(&[p, triangle[0], triangle[1], triangle[2]]).max(1.0) * 2f64.powi(-48);
            assert!(
                (found - wanted).abs() <= slack,
                "{p:?} {triangle:?}: {found} for {wanted}"
            );
            compared += 1;
        }
        assert!(compared > 5000);
    }

    type Exact = [Rational; 3];

    fn exact(v: [f64; 3]) -> Exact {
        v.map(|c| Rational::from_f64(c).unwrap())
    }

    fn sub(a: &Exact, b: &Exact) -> Exact {
        std::array::from_fn(|i| &a[i] - &b[i])
    }

    fn product(a: &Exact, b: &Exact) -> Rational {
        &(&a[0] * &b[0]) + &(&(&a[1] * &b[1]) + &(&a[2] * &b[2]))
    }

    /// Returns the exact squared distance: the least one over the vertices, the feet on the edges, and the
    /// foot on the plane.
    fn exact_squared(p: [f64; 3], triangle: [[f64; 3]; 3]) -> Rational {
        let p = exact(p);
        let [a, b, c] = triangle.map(|v| sub(&exact(v), &p));
        let mut least = [&a, &b, &c]
            .map(|v| product(v, v))
            .into_iter()
            .min()
            .unwrap();
        for (from, to) in [(&a, &b), (&b, &c), (&c, &a)] {
            let e = sub(to, from);
            let rise = product(from, &e);
            let length = product(&e, &e);
            if rise < Rational::ZERO && &rise + &length > Rational::ZERO {
                let squared = product(from, from) - &(&rise * &rise) / &length;
                least = least.min(squared);
            }
        }
        // The foot is a + s (b - a) + t (c - a), by Cramer's rule.
        let e = sub(&b, &a);
        let f = sub(&c, &a);
        let ee = product(&e, &e);
        let ef = product(&e, &f);
        let ff = product(&f, &f);
        let ae = -&product(&a, &e);
        let af = -&product(&a, &f);
        let area = &(&ee * &ff) - &(&ef * &ef);
        if area.is_positive() {
            let s = &(&ae * &ff) - &(&af * &ef);
            let t = &(&af * &ee) - &(&ae * &ef);
            if s >= Rational::ZERO && t >= Rational::ZERO && &s + &t <= area {
                let at: Exact =
                    std::array::from_fn(|i| &a[i] + &(&(&(&s * &e[i]) + &(&t * &f[i])) / &area));
                least = least.min(product(&at, &at));
            }
        }
        least
    }

    #[test]
    fn no_sampled_point_of_a_box_is_closer() {
        let mut random = Random::new(77);
        let mut hits = 0;
        let mut misses = 0;
        for n in 0..20_000 {
            let a = random.point_of(n % 3);
            let b = random.point_of(n % 3);
            let p = random.point_of(n / 3 % 3);
            let within = ClosedBox {
                low: std::array::from_fn(|i| a[i].min(b[i])),
                high: std::array::from_fn(|i| a[i].max(b[i])),
            };
            let q = on_box(p, &within);
            assert!((0..3).all(|i| within.low[i] <= q[i] && q[i] <= within.high[i]));
            let away = minus(p, q);
            let distance = dot(away, away).sqrt();
            let t: [f64; 3] = std::array::from_fn(|_| random.within(0.0, 1.0));
            let other: [f64; 3] =
                std::array::from_fn(|i| within.low[i] + t[i] * (within.high[i] - within.low[i]));
            let other = minus(p, other);
            assert!(dot(other, other).sqrt() >= distance * (1.0 - 1e-15));
            let hit = sphere_box(p, distance * 1.000_001, &within);
            assert!(hit && (distance == 0.0 || !sphere_box(p, distance * 0.999_999, &within)));
            *if distance == 0.0 {
                &mut hits
            } else {
                &mut misses
            } += 1;
        }
        assert!(hits > 100 && misses > 100, "{hits} {misses}");
    }
}
