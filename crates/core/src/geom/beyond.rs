//! What two triangles have in common beyond the vertices they share.
//!
//! Most pairs that come close in a mesh are neighbours, and have a vertex or an edge in common and nothing else.
//! Doubles prove that of nearly all of them: a plane on whose two sides the triangles lie, touching it in the shared
//! vertex alone or not at all; or, with a common edge, that they are not folded onto each other. Any plane will
//! do, so the rounding of its direction does not matter, and only that of the products with it is bounded. The
//! rest is decided exactly by [`meeting`].

use super::orientation::sure_side;
use super::tri_tri::{Meeting, meeting};
use super::vector::{cross, dot, minus};
use super::{Point, Triangle};

/// The unit of rounding, 2^-53.
const U: f64 = 1.0 / (1_u64 << 53) as f64;

/// How two triangles with an area meet beyond the vertices they share, and the edge between two shared ones: `None`
/// if nothing, or if all three vertices are the same. Vertices are shared where their names are equal: their
/// coordinates, or numbers for these. The coordinates must be finite.
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
    // What they have in common is convex: more than a shared vertex has a length.
    match (count, meeting(s, t)) {
        (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) => None,
        (_, meeting) => Some(meeting),
    }
}

/// The vertices that two triangles share.
#[derive(Debug, Clone, Copy)]
pub struct SharedVertices {
    /// Bit 3 i + j where vertex i of the first is vertex j of the second.
    bits: u32,
}

impl SharedVertices {
    /// Those with equal names.
    #[inline(always)]
    pub fn of<V: PartialEq>(names: [&[V; 3]; 2]) -> Self {
        // A bit for every two vertices, so that no branch depends on which are equal.
        let mut bits = 0;
        for (i, v) in names[0].iter().enumerate() {
            for (j, w) in names[1].iter().enumerate() {
                bits |= u32::from(v == w) << (3 * i + j);
            }
        }
        Self { bits }
    }

    /// How many there are, of triangles with an area.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.bits.count_ones() as usize
    }

    /// The vertices of both triangles, up to two shared ones first, in one order, and then the others.
    #[inline(always)]
    pub fn first(self) -> &'static [[u8; 3]; 2] {
        &FIRST[self.bits as usize]
    }
}

/// What [`SharedVertices::first`] says of each set of bits.
static FIRST: [[[u8; 3]; 2]; 1 << 9] = {
    let mut all = [[[0; 3]; 2]; 1 << 9];
    let mut bits = 0;
    while bits < all.len() {
        let one = bits.trailing_zeros() as u8 % 9;
        let rest = bits & bits.wrapping_sub(1);
        // Without a second one, the next vertices.
        let next = [(one / 3 + 1) % 3, (one % 3 + 1) % 3];
        let other = rest.trailing_zeros() as u8;
        let [k, l] = if rest == 0 {
            next
        } else {
            [other / 3, other % 3]
        };
        // Of triangles without area, whose vertices may be one, any: they are in no pair.
        let third = [6 - one / 3 - k, 6 - one % 3 - l];
        all[bits] = [[one / 3, k, third[0] % 3], [one % 3, l, third[1] % 3]];
        bits += 1;
    }
    all
};

/// Whether doubles are sure that the triangles have nothing in common; they may have nothing without that. The
/// coordinates must be finite.
pub(crate) fn surely_apart(s: &Triangle, t: &Triangle) -> bool {
    let from =
        |p: &Point| -> [f64; 3] { std::array::from_fn(|a| f64::from(p[a]) - f64::from(s[0][a])) };
    let s = s.each_ref().map(from);
    let t = t.each_ref().map(from);
    let sum =
        |t: [[f64; 3]; 3]| -> [f64; 3] { std::array::from_fn(|a| t[0][a] + t[1][a] + t[2][a]) };
    if separates(minus(sum(t), sum(s)), s, t) {
        return true;
    }
    let edges = |t: [[f64; 3]; 3]| [minus(t[1], t[0]), minus(t[2], t[1]), minus(t[0], t[2])];
    let of_s = edges(s);
    let of_t = edges(t);
    let normals = [cross(of_s[0], of_s[1]), cross(of_t[0], of_t[1])];
    if normals.iter().any(|normal| separates(*normal, s, t)) {
        return true;
    }
    // Seen along a normal: the lines through the edges.
    let across = |normal: [f64; 3], edges: [[f64; 3]; 3]| edges.map(|edge| cross(normal, edge));
    let all = across(normals[0], of_s)
        .into_iter()
        .chain(across(normals[1], of_t));
    all.into_iter().any(|direction| separates(direction, s, t))
}

/// Whether a plane across `direction` surely parts the points of `s` from those of `t`.
///
/// A coordinate less another one is off by a factor within 1 ± u, its product by (1 ± u)^2, the sum of three by
/// (1 ± u)^4: less than 4.01 u times the sum of the sizes. 8 u leaves room for the rounding of the test itself.
/// Nothing overflows or underflows: a direction is a product of three differences of floats at most.
#[inline]
fn separates(direction: [f64; 3], s: [[f64; 3]; 3], t: [[f64; 3]; 3]) -> bool {
    let [s, t] = [s, t].map(|points| points.map(|p| along(direction, p)));
    let low = |points: [[f64; 2]; 3]| points.iter().fold(f64::INFINITY, |low, p| low.min(p[0]));
    let high = |points: [[f64; 2]; 3]| {
        points
            .iter()
            .fold(f64::NEG_INFINITY, |high, p| high.max(p[1]))
    };
    high(s) < low(t) || high(t) < low(s)
}

/// The least and the most that the product of a direction and a difference of points is.
#[inline]
fn along(direction: [f64; 3], point: [f64; 3]) -> [f64; 2] {
    let size: f64 = (0..3).map(|a| (direction[a] * point[a]).abs()).sum();
    let product = dot(direction, point);
    let error = 8.0 * U * size;
    [product - error, product + error]
}

/// Whether triangles with the common vertex `apex` and these others surely have nothing else in common.
///
/// If they have, a ray from the apex is in both; a plane through the apex with the others of one triangle on one
/// side and those of the other on the other side proves that there is none.
fn fans_part(apex: Point, s: [Point; 2], t: [Point; 2]) -> bool {
    let from =
        |p: Point| -> [f64; 3] { std::array::from_fn(|a| f64::from(p[a]) - f64::from(apex[a])) };
    let [a, b] = s.map(from);
    let [c, d] = t.map(from);
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
    // The plane of one of them, if the others of the other are on one side of it.
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

/// Whether triangles with this common edge, and these third vertices, surely have nothing else in common.
///
/// If they have, they lie in one plane and on one side of the edge, so that the products of the edge with both
/// have one direction. With the sums `A` and `B` of the sizes of products in their components, those are off by
/// less than 4.01 u `A` and 4.01 u `B`, and their dot product by less than 11.1 u times the sum of `A B`.
fn is_no_fold([v, w]: [Point; 2], s: Point, t: Point) -> bool {
    let from =
        |p: Point| -> [f64; 3] { std::array::from_fn(|a| f64::from(p[a]) - f64::from(v[a])) };
    let [edge, a, b] = [w, s, t].map(from);
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

    /// Without doubles.
    fn exactly(s: &Triangle, t: &Triangle) -> Option<Meeting> {
        match (s.iter().filter(|v| t.contains(v)).count(), meeting(s, t)) {
            (_, Meeting::Apart) | (1, Meeting::Point) | (2, Meeting::Segment) | (3, _) => None,
            (_, meeting) => Some(meeting),
        }
    }

    /// How many of these pairs lanes prove to have nothing in common beyond so many shared vertices: the same ones at
    /// all levels, and none that meet.
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
        // By how many vertices are shared: pairs that meet beyond them, and pairs that do not.
        let mut seen = [[0_u32; 2]; 3];
        // By how many vertices are shared: pairs that wait for lanes, and how many these have proven.
        let mut waiting: [Vec<[Triangle; 2]>; 3] = [const { vec![] }; 3];
        let mut proven = [0; 3];
        for n in 0..240_000_u32 {
            let scale = [1.0, 1e-30, 3e7][n as usize % 3];
            let step = [4.0, 2.0, 1000.0][n as usize / 3 % 3];
            // Every second pair in one plane.
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
