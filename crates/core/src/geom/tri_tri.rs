//! Tests exactly whether two triangles intersect, and computes their closest points.
//!
//! Both triangles are closed and convex, and so is their intersection: nothing, a point, a segment, or a
//! piece of a common plane. If two triangles are in different planes, each intersects the plane of the other
//! in a chord. Both chords are on the intersection line of the planes. They are compared with orientation
//! predicates of the vertices only (Guigue and Devillers, "Fast and robust triangle-triangle overlap test
//! using orientation predicates", 2003). Orientations are decided in doubles where the error bound allows it,
//! otherwise in integers, so [`meeting`] is exact. Coplanar triangles, which such tests often omit, are
//! compared by the sides of their edges.
//!
//! The closest points of disjoint triangles are a vertex of one and a point of the other, or points of two
//! edges. For intersecting triangles, the points where an edge of one passes through the other are also
//! needed.

use super::closest;
use super::degenerate::WholePoints;
use super::orientation::{exact_side, sure_side, whole};
use super::vector::{self, along, dot, minus};
use super::wide::{Wide, cross, difference};
use super::{Triangle, degenerate};

/// Kind of intersection of two triangles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meeting {
    /// The triangles have no common point.
    Apart,
    /// The intersection is one point. If a triangle has no area, it may also be a segment.
    Point,
    /// The intersection is a segment along an edge of one triangle. Neither triangle passes through the
    /// other.
    Segment,
    /// The intersection is a segment along which the triangles pass through each other.
    Crossing,
    /// The intersection is a piece of the common plane.
    Overlap,
}

impl Meeting {
    /// Returns the name that JSON reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Apart => "apart",
            Self::Point => "point",
            Self::Segment => "segment",
            Self::Crossing => "crossing",
            Self::Overlap => "overlap",
        }
    }
}

/// Returns the kind of intersection of two triangles, decided exactly. The coordinates must be finite.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::tri_tri::{Meeting, meeting};
///
/// let flat = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// let upright = |z: f32| [[1.0, 1.0, z], [1.0, 2.0, z + 2.0], [2.0, 1.0, z + 2.0]];
/// assert_eq!(meeting(&flat, &upright(-1.0)), Meeting::Crossing);
/// assert_eq!(meeting(&flat, &upright(0.0)), Meeting::Point);
/// assert_eq!(meeting(&flat, &upright(1e-30)), Meeting::Apart);
/// assert_eq!(meeting(&flat, &flat.map(|v| v.map(|c| c / 2.0))), Meeting::Overlap);
/// ```
pub fn meeting(first: &Triangle, second: &Triangle) -> Meeting {
    let points: [_; 6] = std::array::from_fn(|n| if n < 3 { first[n] } else { second[n - 3] });
    let sure = by_chords(&|four: [usize; 4]| sure_side(&four.map(|n| points[n])));
    if let Some(Chords::Compared(meeting)) = sure {
        return meeting;
    }
    let flat = [first, second].map(degenerate::is_degenerate);
    match whole(&points) {
        WholePoints::Short(points) => exactly(&points, flat),
        WholePoints::Long(points) => exactly(&points, flat),
    }
}

/// Returns the closest points of two triangles, computed in doubles. The first result is a point of the first
/// triangle. If the triangles intersect, which [`meeting`] decides, the points are equal up to rounding. If
/// several pairs are equally close, any of them is returned.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::geom::tri_tri::closest_points;
///
/// let low = [[0.0; 3], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
/// assert_eq!(closest_points(&low, &low.map(|[x, y, z]| [x + 4.0, y, z + 3.0])), [[4.0, 0.0, 0.0], [4.0, 0.0, 3.0]]);
/// ```
pub fn closest_points(first: &Triangle, second: &Triangle) -> [[f64; 3]; 2] {
    let [s, t] = [first, second].map(|triangle| triangle.map(|v| v.map(f64::from)));
    let mut pairs = Vec::with_capacity(21);
    for v in s {
        pairs.push([v, closest::on_triangle(v, t)]);
    }
    for v in t {
        pairs.push([closest::on_triangle(v, s), v]);
    }
    for edge in edges(s) {
        for other in edges(t) {
            pairs.push(closest::of_segments(edge, other));
        }
    }
    for edge in edges(s) {
        if let Some(x) = pierced(edge, t) {
            pairs.push([x, closest::on_triangle(x, t)]);
        }
    }
    for edge in edges(t) {
        if let Some(x) = pierced(edge, s) {
            pairs.push([closest::on_triangle(x, s), x]);
        }
    }
    pairs
        .into_iter()
        .min_by(|a, b| squared(a).total_cmp(&squared(b)))
        .expect("fifteen pairs at least")
}

fn squared([p, q]: &[[f64; 3]; 2]) -> f64 {
    let away = minus(*p, *q);
    dot(away, away)
}

fn edges(t: [[f64; 3]; 3]) -> [[[f64; 3]; 2]; 3] {
    [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]]
}

/// Returns the point at which an edge crosses the plane of a triangle. `None` if its ends are not on
/// different sides of the plane.
fn pierced([p, q]: [[f64; 3]; 2], [a, b, c]: [[f64; 3]; 3]) -> Option<[f64; 3]> {
    let normal = vector::cross(minus(b, a), minus(c, a));
    let [of_p, of_q] = [p, q].map(|x| dot(normal, minus(x, a)));
    (of_p * of_q < 0.0).then(|| along(p, minus(q, p), of_p / (of_p - of_q)))
}

/// Result of the comparison of two chords.
enum Chords {
    Compared(Meeting),
    /// There are no chords: a triangle lies in the plane of the other, or a triangle has no area.
    InPlane,
}

/// Compares the chords of two triangles, which have points 0 to 2 and points 3 to 5. The chord of a triangle
/// is its intersection with the plane of the other. `None` if `side` cannot decide a required orientation.
fn by_chords(side: &impl Fn([usize; 4]) -> Option<i8>) -> Option<Chords> {
    let s = [0, 1, 2];
    let t = [3, 4, 5];
    let sides = |plane: [usize; 3], of: [usize; 3]| -> Option<[i8; 3]> {
        let [a, b, c] = of.map(|n| side([plane[0], plane[1], plane[2], n]));
        Some([a?, b?, c?])
    };
    let of_s = sides(t, s)?;
    if is_on_one_side(of_s) {
        return Some(Chords::Compared(Meeting::Apart));
    }
    let of_t = sides(s, t)?;
    if is_on_one_side(of_t) {
        return Some(Chords::Compared(Meeting::Apart));
    }
    if of_s == [0; 3] || of_t == [0; 3] {
        return Some(Chords::InPlane);
    }
    let ([p1, mut q1, mut r1], above1) = alone(s, of_s);
    let ([p2, mut q2, mut r2], above2) = alone(t, of_t);
    // Swaps vertices so that, seen from the lonely vertex of one triangle, the other triangle is
    // counterclockwise.
    if !above1 {
        std::mem::swap(&mut q2, &mut r2);
    }
    if !above2 {
        std::mem::swap(&mut q1, &mut r1);
    }
    let ends = [side([p1, q1, p2, q2])?, side([p1, r1, r2, p2])?];
    Some(Chords::Compared(if ends.contains(&1) {
        Meeting::Apart
    } else if ends.contains(&0) || is_point(of_s) || is_point(of_t) {
        Meeting::Point
    } else if straddles(of_s) && straddles(of_t) {
        Meeting::Crossing
    } else {
        Meeting::Segment
    }))
}

/// Reports whether all vertices are strictly on one side of the plane.
fn is_on_one_side(sides: [i8; 3]) -> bool {
    sides[0] != 0 && sides[1] == sides[0] && sides[2] == sides[0]
}

/// Reports whether vertices are strictly on both sides of the plane.
fn straddles(sides: [i8; 3]) -> bool {
    sides.contains(&1) && sides.contains(&-1)
}

/// Reports whether the chord is a single point: one vertex is in the plane, and the others are on one side of
/// it.
fn is_point(sides: [i8; 3]) -> bool {
    !straddles(sides) && sides.iter().filter(|side| **side == 0).count() == 1
}

/// Rotates a triangle so that its first vertex is the lonely one, which is alone on its side of a plane. Also
/// returns `true` if that side is above the plane. Vertices in the plane count as being on the side of the
/// others, unless a single vertex is in the plane and the others are on one side.
fn alone(triangle: [usize; 3], sides: [i8; 3]) -> ([usize; 3], bool) {
    let count = |side: i8| sides.iter().filter(|other| **other == side).count();
    // A single vertex above the plane has priority, then a single vertex below it, then a single vertex in
    // the plane.
    let (lonely, above) = if count(1) == 1 {
        (1, true)
    } else if count(-1) == 1 {
        (-1, false)
    } else {
        (0, count(-1) == 2)
    };
    let n = sides
        .iter()
        .position(|side| *side == lonely)
        .expect("one is alone");
    (std::array::from_fn(|i| triangle[(n + i) % 3]), above)
}

/// Returns the kind of intersection, computed in integers. `flat` states which triangles have no area.
fn exactly<T: Wide>(points: &[[T; 3]; 6], flat: [bool; 2]) -> Meeting {
    let [a, b, c, d, e, f] = points;
    let s = [a, b, c];
    let t = [d, e, f];
    let touches = match flat {
        [false, false] => {
            return match by_chords(&|four| Some(exact_side(four.map(|n| &points[n])))) {
                Some(Chords::Compared(meeting)) => meeting,
                _ => in_plane(s, t),
            };
        }
        [true, false] => segment_meets_triangle(hull(s), t),
        [false, true] => segment_meets_triangle(hull(t), s),
        [true, true] => segments_meet(hull(s), hull(t)),
    };
    if touches {
        Meeting::Point
    } else {
        Meeting::Apart
    }
}

/// Returns the ends of a triangle without area, which is a segment. Both ends are equal if it is a point.
fn hull<T: Wide>([a, b, c]: [&[T; 3]; 3]) -> [&[T; 3]; 2] {
    // The lexicographic order of points on one line is their order along the line.
    [a.min(b).min(c), a.max(b).max(c)]
}

/// Returns an axis along which the projection of the triangle has an area, and the sign of this area. `None`
/// if the triangle has no area.
fn across<T: Wide>([a, b, c]: [&[T; 3]; 3]) -> Option<(usize, i8)> {
    let normal = cross(&difference(b, a), &difference(c, a));
    let axis = normal.iter().position(|n| n.sign() != 0)?;
    Some((axis, normal[axis].sign()))
}

/// Returns the side of a point relative to the line from `p` to `q`, in the projection along an axis.
fn side_in_plane<T: Wide>(axis: usize, [p, q]: [&[T; 3]; 2], x: &[T; 3]) -> i8 {
    cross(&difference(q, p), &difference(x, p))[axis].sign()
}

/// Returns the kind of intersection of two coplanar triangles that have an area.
fn in_plane<T: Wide>(s: [&[T; 3]; 3], t: [&[T; 3]; 3]) -> Meeting {
    let mut touching = None;
    for ([a, b, c], other) in [(s, t), (t, s)] {
        let Some((axis, turn)) = across([a, b, c]) else {
            continue;
        };
        for edge in [[a, b], [b, c], [c, a]] {
            let sides = other.map(|x| turn * side_in_plane(axis, edge, x));
            match sides.into_iter().max() {
                Some(-1) => return Meeting::Apart,
                Some(0) => touching = Some((edge, other, sides)),
                _ => {}
            }
        }
    }
    // If two convex polygons have no common area, an edge of one of them separates them. No edge does, so
    // they overlap.
    let Some((edge, other, sides)) = touching else {
        return Meeting::Overlap;
    };
    let mut on_line = vec![];
    for (x, side) in other.into_iter().zip(sides) {
        if side == 0 {
            on_line.push(x);
        }
    }
    let [low, high] = [edge[0].min(edge[1]), edge[0].max(edge[1])];
    let (Some(from), Some(to)) = (on_line.iter().min(), on_line.iter().max()) else {
        return Meeting::Apart;
    };
    let from = low.max(from);
    let to = high.min(to);
    match from.cmp(to) {
        std::cmp::Ordering::Less => Meeting::Segment,
        std::cmp::Ordering::Equal => Meeting::Point,
        std::cmp::Ordering::Greater => Meeting::Apart,
    }
}

/// Reports whether a segment intersects a triangle with an area. The segment may be a point, given twice.
fn segment_meets_triangle<T: Wide>([p, q]: [&[T; 3]; 2], [a, b, c]: [&[T; 3]; 3]) -> bool {
    let [of_p, of_q] = [p, q].map(|x| exact_side([a, b, c, x]));
    if of_p == of_q && of_p != 0 {
        return false;
    }
    let edges = [[a, b], [b, c], [c, a]];
    if of_p != of_q {
        // The segment crosses the plane. It intersects the triangle if it passes all edges on the same side.
        let around = edges.map(|[u, v]| exact_side([p, q, u, v]));
        return !(around.contains(&1) && around.contains(&-1));
    }
    let Some((axis, turn)) = across([a, b, c]) else {
        return false;
    };
    let is_within = |x: &[T; 3]| {
        edges
            .iter()
            .all(|edge| turn * side_in_plane(axis, *edge, x) >= 0)
    };
    is_within(p) || is_within(q) || edges.into_iter().any(|edge| segments_meet([p, q], edge))
}

/// Reports whether two segments have a point in common. Each segment may be a point, given twice.
fn segments_meet<T: Wide>([p, q]: [&[T; 3]; 2], [u, v]: [&[T; 3]; 2]) -> bool {
    if exact_side([p, q, u, v]) != 0 {
        return false;
    }
    // The segments are coplanar. They are projected along an axis for which three of the points are not
    // collinear.
    let seen = [[p, q, u], [p, q, v], [u, v, p], [u, v, q]]
        .into_iter()
        .find_map(across);
    let Some((axis, _)) = seen else {
        // All points are on one line.
        let [low, high] = [p.min(q), p.max(q)];
        let [from, to] = [u.min(v), u.max(v)];
        return low <= to && from <= high;
    };
    let parts = |edge: [&[T; 3]; 2], ends: [&[T; 3]; 2]| {
        let [a, b] = ends.map(|x| side_in_plane(axis, edge, x));
        a * b <= 0
    };
    parts([p, q], [u, v]) && parts([u, v], [p, q])
}

#[cfg(test)]
mod tests;
