//! What two triangles have in common, exactly, and how far apart they are.
//!
//! Both are closed and convex, and so is what they have in common: nothing, a point, a segment, or a piece
//! of the plane if they lie in one. Each of two triangles in different planes meets the other's plane in a
//! chord on the line that the planes share, and the chords are compared: of vertices alone, by on which side
//! of a plane through three others a fourth one lies (Guigue and Devillers, "Fast and robust triangle-triangle
//! overlap test using orientation predicates", 2003). The sides are decided in doubles where their error
//! leaves no doubt, else in integers, so [`meeting`] is exact. Triangles in one plane, which such tests often
//! leave out, are compared by the sides of their edges.
//!
//! Apart, the closest points are on a vertex and a triangle, or on two edges; where they meet, on an edge and a
//! triangle.

use super::closest;
use super::orientation::{Whole, exact_side, sure_side};
use super::vector::{self, along, dot, minus};
use super::wide::{Wide, cross, difference};
use super::{Triangle, degenerate};

/// How two triangles meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Meeting {
    /// Nothing.
    Apart,
    /// One point. Of a triangle without area: a point or a segment.
    Point,
    /// A segment, and neither passes through the other: the edge of one lies in the other, or on its edge.
    Segment,
    /// A segment, in which they pass through each other.
    Crossing,
    /// A piece of the plane in which both lie.
    Overlap,
}

impl Meeting {
    /// Its name in JSON.
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

/// How the triangles meet, exactly. The coordinates must be finite.
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
    match Whole::new(&points) {
        Whole::Short(points) => exactly(&points, flat),
        Whole::Long(points) => exactly(&points, flat),
    }
}

/// The closest two points of the triangles, the first on the first, in doubles: equal, or all but equal, where
/// they meet, which [`meeting`] decides. Of several pairs at one distance it is any one.
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
    let vertices = s.iter().map(|v| [*v, closest::on_triangle(*v, t)]);
    let others = t.iter().map(|v| [closest::on_triangle(*v, s), *v]);
    let edges = |t: [[f64; 3]; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    let pairs = edges(s)
        .into_iter()
        .flat_map(|e| edges(t).map(|f| closest::of_segments(e, f)));
    let squared = |[p, q]: &[[f64; 3]; 2]| dot(minus(*p, *q), minus(*p, *q));
    let through = edges(s)
        .into_iter()
        .filter_map(|e| pierced(e, t))
        .map(|x| [x, closest::on_triangle(x, t)]);
    let back = edges(t)
        .into_iter()
        .filter_map(|e| pierced(e, s))
        .map(|x| [closest::on_triangle(x, s), x]);
    let all = vertices
        .chain(others)
        .chain(pairs)
        .chain(through)
        .chain(back);
    all.min_by(|a, b| squared(a).total_cmp(&squared(b)))
        .expect("fifteen pairs at least")
}

/// Where an edge passes through the plane of a triangle, from one side of it to the other.
fn pierced([p, q]: [[f64; 3]; 2], [a, b, c]: [[f64; 3]; 3]) -> Option<[f64; 3]> {
    let normal = vector::cross(minus(b, a), minus(c, a));
    let [of_p, of_q] = [p, q].map(|x| dot(normal, minus(x, a)));
    (of_p * of_q < 0.0).then(|| along(p, minus(q, p), of_p / (of_p - of_q)))
}

/// How the vertices of each triangle lie to the other's plane.
enum Chords {
    Compared(Meeting),
    /// A plane, or the one plane of both, holds a whole triangle; or a triangle has no plane.
    InPlane,
}

/// Compares the chords in which the triangles of points 0 to 2 and 3 to 5 meet the planes of each other; `None`
/// if `side` does not know one of the sides that are needed.
fn by_chords(side: &impl Fn([usize; 4]) -> Option<i8>) -> Option<Chords> {
    let s = [0, 1, 2];
    let t = [3, 4, 5];
    let sides = |plane: [usize; 3], of: [usize; 3]| -> Option<[i8; 3]> {
        let [a, b, c] = of.map(|n| side([plane[0], plane[1], plane[2], n]));
        Some([a?, b?, c?])
    };
    let is_beside = |sides: [i8; 3]| sides[0] != 0 && sides[1] == sides[0] && sides[2] == sides[0];
    let of_s = sides(t, s)?;
    if is_beside(of_s) {
        return Some(Chords::Compared(Meeting::Apart));
    }
    let of_t = sides(s, t)?;
    if is_beside(of_t) {
        return Some(Chords::Compared(Meeting::Apart));
    }
    if of_s == [0; 3] || of_t == [0; 3] {
        return Some(Chords::InPlane);
    }
    let ([p1, mut q1, mut r1], above1) = alone(s, of_s);
    let ([p2, mut q2, mut r2], above2) = alone(t, of_t);
    // Seen from each lonely vertex, the other triangle runs counterclockwise.
    if !above1 {
        std::mem::swap(&mut q2, &mut r2);
    }
    if !above2 {
        std::mem::swap(&mut q1, &mut r1);
    }
    let ends = [side([p1, q1, p2, q2])?, side([p1, r1, r2, p2])?];
    let straddles = |sides: [i8; 3]| sides.contains(&1) && sides.contains(&-1);
    // A chord is a point where only the lonely vertex is in the plane.
    let is_point =
        |sides: [i8; 3]| !straddles(sides) && sides.iter().filter(|side| **side == 0).count() == 1;
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

/// A triangle turned so that its first vertex is alone on its side of a plane, and whether that side is above
/// it; vertices in the plane belong to the other side, or a single one is alone.
fn alone(triangle: [usize; 3], sides: [i8; 3]) -> ([usize; 3], bool) {
    let count = |side: i8| sides.iter().filter(|other| **other == side).count();
    // One above, and the rest not; one below; else one in the plane, opposite to the others.
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

/// In integers. `flat` says which triangle has no area.
fn exactly<T: Wide>(points: &[[T; 3]; 6], flat: [bool; 2]) -> Meeting {
    let [a, b, c, d, e, f] = points;
    let s = [a, b, c];
    let t = [d, e, f];
    let touching = |is: bool| if is { Meeting::Point } else { Meeting::Apart };
    match flat {
        [false, false] => match by_chords(&|four| Some(exact_side(four.map(|n| &points[n])))) {
            Some(Chords::Compared(meeting)) => meeting,
            _ => in_plane(s, t),
        },
        [true, false] => touching(segment_meets_triangle(hull(s), t)),
        [false, true] => touching(segment_meets_triangle(hull(t), s)),
        [true, true] => touching(segments_meet(hull(s), hull(t))),
    }
}

/// The ends of the segment, or twice the point, that a triangle without area is.
fn hull<T: Wide>([a, b, c]: [&[T; 3]; 3]) -> [&[T; 3]; 2] {
    // All on one line, the order of points, by coordinates, is that along it.
    [a.min(b).min(c), a.max(b).max(c)]
}

/// An axis along which the triangle has an area, and the sign of that.
fn across<T: Wide>([a, b, c]: [&[T; 3]; 3]) -> Option<(usize, i8)> {
    let normal = cross(&difference(b, a), &difference(c, a));
    let axis = normal.iter().position(|n| n.sign() != 0)?;
    Some((axis, normal[axis].sign()))
}

/// On which side of the line from `p` to `q` a point lies, seen along an axis.
fn side_in_plane<T: Wide>(axis: usize, [p, q]: [&[T; 3]; 2], x: &[T; 3]) -> i8 {
    cross(&difference(q, p), &difference(x, p))[axis].sign()
}

/// Two triangles with an area in one plane.
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
    // Two convex polygons have no area in common only if an edge of one has the other behind it.
    let Some((edge, other, sides)) = touching else {
        return Meeting::Overlap;
    };
    let on_line: Vec<_> = other
        .into_iter()
        .zip(sides)
        .filter(|(_, side)| *side == 0)
        .map(|(x, _)| x)
        .collect();
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

/// Whether a segment, or a point given twice, meets a triangle with an area.
fn segment_meets_triangle<T: Wide>([p, q]: [&[T; 3]; 2], [a, b, c]: [&[T; 3]; 3]) -> bool {
    let [of_p, of_q] = [p, q].map(|x| exact_side([a, b, c, x]));
    if of_p == of_q && of_p != 0 {
        return false;
    }
    let edges = [[a, b], [b, c], [c, a]];
    if of_p != of_q {
        // It passes through the plane: between the edges, seen along it.
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

/// Whether two segments, each perhaps a point given twice, have a point in common.
fn segments_meet<T: Wide>([p, q]: [&[T; 3]; 2], [u, v]: [&[T; 3]; 2]) -> bool {
    if exact_side([p, q, u, v]) != 0 {
        return false;
    }
    // In one plane: seen along an axis in which three of the points are not on one line.
    let seen = [[p, q, u], [p, q, v], [u, v, p], [u, v, q]]
        .into_iter()
        .find_map(across);
    let Some((axis, _)) = seen else {
        // All on one line.
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
