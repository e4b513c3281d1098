//! Intersections of two triangles other than the vertices and the edge that they share.
//!
//! Most pairs of triangles that are close together in a mesh are neighbours: they have a vertex or an edge in
//! common and nothing else. Doubles prove this for nearly all of them. For a shared vertex or none, the proof
//! is a plane that separates the triangles and contains at most the shared vertex. For a shared edge, the
//! proof is that the triangles are not folded onto each other. Any separating plane will do, so the rounding
//! of its direction does not matter. Only the errors of the products with this direction have to be bounded.
//! The remaining pairs are decided exactly by [`meeting`].

use super::orientation::sure_side;
use super::tri_tri::{Meeting, meeting};
use super::vector::{cross, dot, minus};
use super::{Point, Triangle};

/// Unit roundoff, 2^-53.
const U: f64 = 1.0 / (1_u64 << 53) as f64;

/// Returns the kind of intersection of two triangles if they have a common point that is not on a shared
/// vertex or on the edge between two shared vertices. `None` if there is no such point, or if all three
/// vertices are shared. Both triangles must have an area. `names` identifies the vertices, by coordinates or
/// by numbers: vertices with equal names are shared. The coordinates must be finite.
pub fn beyond_shared<V: PartialEq>([s, t]: [&Triangle; 2], names: [&[V; 3]; 2]) -> Option<Meeting> {
    let shared = SharedVertices::of(names);
    let count = shared.count();
    let [[i, k, _], [j, l, _]] = shared.first().map(|order| order.map(usize::from));
    let is_proven = match count {
        0 => surely_apart(s, t),
        1 => fans_part(
            s[i],
            [s[(i + 1) % 3], s[(i + 2) % 3]],
            [t[(j + 1) % 3], t[(j + 2) % 3]],
        ),
        2 => is_no_fold([s[i], s[k]], s[3 - i - k], t[3 - j - l]),
        _ => true,
    };
    if is_proven {
        return None;
    }
    // The intersection is convex. If it contains a shared vertex and another point, it contains a segment.
    match (count, meeting(s, t)) {
        (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) => None,
        (_, meeting) => Some(meeting),
    }
}

/// Vertices that two triangles share.
#[derive(Debug, Clone, Copy)]
pub struct SharedVertices {
    /// Bit 3 i + j is set if vertex i of the first triangle is vertex j of the second.
    bits: u32,
}

impl SharedVertices {
    /// Finds the vertices that two triangles share: vertices with equal coordinates or equal numbers.
    #[inline(always)]
    pub fn of<V: PartialEq>(names: [&[V; 3]; 2]) -> Self {
        // Sets one bit per pair of vertices, without branches that depend on the names.
        let mut bits = 0;
        for (i, v) in names[0].iter().enumerate() {
            for (j, w) in names[1].iter().enumerate() {
                bits |= u32::from(v == w) << (3 * i + j);
            }
        }
        Self { bits }
    }

    /// Returns the number of shared vertices. The triangles must have an area.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// Returns the indices of the vertices of both triangles in matching order: first up to two shared
    /// vertices, then the others.
    #[inline(always)]
    pub fn first(self) -> &'static [[u8; 3]; 2] {
        &FIRST[self.bits as usize]
    }
}

/// Result of [`SharedVertices::first`] for each value of `bits`.
static FIRST: [[[u8; 3]; 2]; 1 << 9] = {
    let mut all = [[[0; 3]; 2]; 1 << 9];
    let mut bits = 0;
    while bits < all.len() {
        let one = bits.trailing_zeros() as u8 % 9;
        let rest = bits & bits.wrapping_sub(1);
        // If there is no second shared vertex, the next vertex of each triangle is used.
        let next = [(one / 3 + 1) % 3, (one % 3 + 1) % 3];
        let other = rest.trailing_zeros() as u8;
        let [k, l] = if rest == 0 {
            next
        } else {
            [other / 3, other % 3]
        };
        // The order is arbitrary for triangles without area, which may repeat a vertex. Such triangles are
        // never compared.
        let third = [6 - one / 3 - k, 6 - one % 3 - l];
        all[bits] = [[one / 3, k, third[0] % 3], [one % 3, l, third[1] % 3]];
        bits += 1;
    }
    all
};

/// Reports whether doubles prove that the triangles are disjoint. If the result is `false`, they may still be
/// disjoint. The coordinates must be finite.
pub(crate) fn surely_apart(s: &Triangle, t: &Triangle) -> bool {
    let origin = s[0];
    let s = s.map(|p| offset(origin, p));
    let t = t.map(|p| offset(origin, p));
    if separates(minus(sum(t), sum(s)), s, t) {
        return true;
    }
    let of_s = edges(s);
    let of_t = edges(t);
    let normals = [cross(of_s[0], of_s[1]), cross(of_t[0], of_t[1])];
    if normals.iter().any(|normal| separates(*normal, s, t)) {
        return true;
    }
    // Tests the planes through the edges of each triangle, perpendicular to the triangle.
    of_s.iter()
        .any(|edge| separates(cross(normals[0], *edge), s, t))
        || of_t
            .iter()
            .any(|edge| separates(cross(normals[1], *edge), s, t))
}

/// Returns `p - origin`, rounded.
#[inline]
fn offset(origin: Point, p: Point) -> [f64; 3] {
    std::array::from_fn(|a| f64::from(p[a]) - f64::from(origin[a]))
}

#[inline]
fn sum(t: [[f64; 3]; 3]) -> [f64; 3] {
    std::array::from_fn(|a| t[0][a] + t[1][a] + t[2][a])
}

#[inline]
fn edges(t: [[f64; 3]; 3]) -> [[f64; 3]; 3] {
    [minus(t[1], t[0]), minus(t[2], t[1]), minus(t[0], t[2])]
}

/// Reports whether a plane perpendicular to `direction` certainly separates the points of `s` from the points
/// of `t`.
///
/// Error bound: a rounded difference of two coordinates equals the exact one times a factor within 1 ± u. Its
/// product has a factor within (1 ± u)^2, and each term of the sum of three products has a factor within (1 ±
/// u)^4. The total error is less than 4.01 u times the sum of the magnitudes. The bound 8 u also covers the
/// rounding of the test itself. Nothing overflows or underflows, because a direction is at most a product of
/// three differences of floats.
#[inline]
fn separates(direction: [f64; 3], s: [[f64; 3]; 3], t: [[f64; 3]; 3]) -> bool {
    let [s, t] = [s, t].map(|points| points.map(|p| along(direction, p)));
    high(s) < low(t) || high(t) < low(s)
}

#[inline]
fn low([a, b, c]: [[f64; 2]; 3]) -> f64 {
    a[0].min(b[0]).min(c[0])
}

#[inline]
fn high([a, b, c]: [[f64; 2]; 3]) -> f64 {
    a[1].max(b[1]).max(c[1])
}

/// Returns a lower and an upper bound of the dot product of a direction and a difference of points.
#[inline]
fn along(direction: [f64; 3], point: [f64; 3]) -> [f64; 2] {
    let size: f64 = (0..3).map(|a| (direction[a] * point[a]).abs()).sum();
    let product = dot(direction, point);
    let error = 8.0 * U * size;
    [product - error, product + error]
}

/// Reports whether two triangles that share the vertex `apex` certainly have no other point in common. `s`
/// and `t` are their other vertices.
///
/// If they had another common point, they would have a segment from the apex in common. A plane through the
/// apex that separates `s` from `t` proves that there is no such segment.
fn fans_part(apex: Point, s: [Point; 2], t: [Point; 2]) -> bool {
    let [a, b] = s.map(|p| offset(apex, p));
    let [c, d] = t.map(|p| offset(apex, p));
    let parts = |direction: [f64; 3]| {
        let [a, b, c, d] = [a, b, c, d].map(|p| along(direction, p));
        let least = |p: [f64; 2], q: [f64; 2]| p[0].min(q[0]);
        let most = |p: [f64; 2], q: [f64; 2]| p[1].max(q[1]);
        (least(a, b) > 0.0 && most(c, d) < 0.0) || (least(c, d) > 0.0 && most(a, b) < 0.0)
    };
    let between =
        |[a, b, c, d]: [[f64; 3]; 4]| std::array::from_fn(|i| (a[i] + b[i]) - (c[i] + d[i]));
    if parts(between([a, b, c, d])) {
        return true;
    }
    // The plane of one triangle is such a plane if both other vertices of the second triangle are strictly on
    // one side of it.
    let is_apart = |[p, q]: [Point; 2], [r, x]: [Point; 2]| {
        let side = sure_side(&[apex, p, q, r]);
        matches!(side, Some(1 | -1)) && sure_side(&[apex, p, q, x]) == side
    };
    if is_apart(s, t) || is_apart(t, s) {
        return true;
    }
    let unit = |v: [f64; 3]| {
        let length = dot(v, v).sqrt();
        v.map(|x| x / length)
    };
    parts(between([a, b, c, d].map(unit)))
}

/// Reports whether two triangles that share the edge from `v` to `w` certainly have no point in common
/// outside this edge. `s` and `t` are their third vertices.
///
/// If they had such a point, both triangles would lie in one plane and on the same side of the edge, so that
/// the cross products of the edge with `s - v` and with `t - v` would have the same direction. Let `A` and
/// `B` be the sums of the magnitudes of the products in their components. The errors of the components are
/// below 4.01 u `A` and 4.01 u `B`, and the error of their dot product is below 11.1 u times the sum of `A
/// B`.
fn is_no_fold([v, w]: [Point; 2], s: Point, t: Point) -> bool {
    let [edge, a, b] = [w, s, t].map(|p| offset(v, p));
    let sizes = |p: [f64; 3]| {
        [(1, 2), (2, 0), (0, 1)].map(|(i, j)| (edge[i] * p[j]).abs() + (edge[j] * p[i]).abs())
    };
    let error = 16.0 * U * dot(sizes(a), sizes(b));
    dot(cross(edge, a), cross(edge, b)) < -error || matches!(sure_side(&[v, w, s, t]), Some(1 | -1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::degenerate::is_degenerate;
    use crate::random::Random;
    use voxelize_kernel::Level;
    use voxelize_kernel::apart::{Common, PAIRS, surely_part};

    /// Computes the expected result without doubles.
    fn exactly(s: &Triangle, t: &Triangle) -> Option<Meeting> {
        match (s.iter().filter(|v| t.contains(v)).count(), meeting(s, t)) {
            (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) | (3, _) => None,
            (_, meeting) => Some(meeting),
        }
    }

    /// Returns the number of pairs for which the SIMD kernel proves that they have nothing in common but
    /// `count` shared vertices. Checks that all instruction sets prove the same pairs, and that the proofs
    /// are correct.
    fn proven_by_lanes(count: usize, pairs: &[[Triangle; 2]]) -> u32 {
        let common = [Common::Nothing, Common::Vertex, Common::Edge][count];
        let [s, t] = [0, 1].map(|n| pairs.iter().map(|pair| pair[n]).collect::<Vec<_>>());
        let found: Vec<u64> = Level::available()
            .into_iter()
            .map(|level| surely_part(level, common, [&s, &t]))
            .collect();
        assert!(found.iter().all(|proven| *proven == found[0]), "{found:?}");
        let proven = found.first().copied().unwrap_or(0);
        for (n, [s, t]) in pairs
            .iter()
            .enumerate()
            .filter(|(n, _)| proven >> n & 1 == 1)
        {
            assert_eq!(exactly(s, t), None, "{n}: {s:?} {t:?}");
        }
        proven.count_ones()
    }

    #[test]
    fn doubles_never_contradict_the_exact_meeting() {
        let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
        let mut next = || random.unit();
        // For each number of shared vertices: the number of pairs without and with another intersection.
        let mut seen = [[0_u32; 2]; 3];
        // For each number of shared vertices: pairs collected for the SIMD kernel, and the number of pairs
        // that it proved.
        let mut waiting: [Vec<[Triangle; 2]>; 3] = [const { vec![] }; 3];
        let mut proven = [0; 3];
        for n in 0..240_000_u32 {
            let scale = [1.0, 1e-30, 3e7][n as usize % 3];
            let step = [4.0, 2.0, 1000.0][n as usize / 3 % 3];
            // In every second pair, both triangles lie in one plane.
            let is_flat = n % 2 == 0;
            let mut point = || -> Point {
                let [x, y, z] = [next(), next(), next()].map(|c| (c * step).round() / step * scale);
                [x, y, if is_flat { x } else { z }]
            };
            let s: Triangle = [(); 3].map(|()| point());
            let mut t: Triangle = [(); 3].map(|()| point());
            let shared = n as usize / 18 % 3;
            for i in 0..shared {
                t[(i + n as usize) % 3] = s[(i + n as usize / 7) % 3];
            }
            if is_degenerate(&s) || is_degenerate(&t) {
                continue;
            }
            let found = beyond_shared([&s, &t], [&s, &t]);
            assert_eq!(found, exactly(&s, &t), "{s:?} {t:?}");
            assert!(
                !surely_apart(&s, &t) || meeting(&s, &t) == Meeting::Apart,
                "{s:?} {t:?}"
            );
            let shared = SharedVertices::of([&s, &t]);
            let count = shared.count();
            if count < 3 {
                seen[count][usize::from(found.is_some())] += 1;
                let [of_s, of_t] = shared.first();
                let corners = |t: &Triangle, order: &[u8; 3]| order.map(|n| t[usize::from(n)]);
                waiting[count].push([corners(&s, of_s), corners(&t, of_t)]);
                if waiting[count].len() == PAIRS {
                    proven[count] += proven_by_lanes(count, &std::mem::take(&mut waiting[count]));
                }
            }
        }
        let has_lanes = Level::available().len() > 1;
        assert!(
            !has_lanes || proven.iter().all(|count| *count > 1000),
            "{proven:?}"
        );
        assert!(
            seen.as_flattened().iter().all(|count| *count > 2000),
            "{seen:?}"
        );
    }
}
