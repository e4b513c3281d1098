//! Stars: many triangles around one vertex, as the fans that close a cylinder. All their bounds meet, so that pairs are
//! found by directions instead.
//!
//! Two triangles with a common vertex have another point in common only if a ray from that vertex is in both: seen from
//! there, triangles are arcs of great circles, and those two meet. In the same way triangles with a common edge, seen
//! along it, are points of a circle, and have points beyond the edge in common only if those are the same. So pairs of
//! a star are those whose arcs have boxes that meet, and pairs of many triangles around an edge of the star are those
//! whose points have.

use super::key::point_key;
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::geom::{Point, Triangle};

/// A vertex or an edge with more triangles than this has a star.
const MANY: usize = 64;

/// The margin of boxes: more than twice the rounding of a float up to two, 2^-23 / 2, with all doubles before.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;

/// Triangles around a vertex.
#[derive(Debug)]
pub(super) struct Star {
    pub centre: Point,
    pub members: Vec<u32>,
}

/// The stars of triangles that are not left out, each triangle in one at most: that of the vertex with the most. The
/// order of triangles changes nothing but that of members.
pub(super) fn stars(
    triangles: &[Triangle],
    vertices: &[[u32; 3]],
    is_left_out: &impl Fn(&Triangle) -> bool,
) -> Vec<Star> {
    let highest = vertices.as_flattened().iter().max().copied().unwrap_or(0);
    let mut counts = vec![0_u8; highest as usize + 1];
    vertices
        .as_flattened()
        .iter()
        .for_each(|v| counts[*v as usize] = counts[*v as usize].saturating_add(1));
    if counts.iter().all(|count| usize::from(*count) <= MANY) {
        return vec![];
    }
    let is_crowded = |v: &u32| usize::from(counts[*v as usize]) > MANY;
    let own = (0..).zip(vertices.iter().zip(triangles));
    let own =
        own.filter(|(_, (own, triangle))| own.iter().any(is_crowded) && !is_left_out(triangle));
    let corners = own.flat_map(|(n, (own, triangle))| [0, 1, 2].map(|i| (own[i], triangle[i], n)));
    largest_first(corners.filter(|(v, ..)| is_crowded(v)).collect())
        .into_iter()
        .map(|(centre, members)| Star { centre, members })
        .collect()
}

/// Numbers by the vertex that they are named with, each number with the vertex that has the most; vertices with few are
/// left out.
fn largest_first<K: Ord + Copy>(mut named: Vec<(K, Point, u32)>) -> Vec<(Point, Vec<u32>)> {
    named.sort_unstable_by_key(|(key, _, n)| (*key, *n));
    let mut groups: Vec<_> = named
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|group| group.len() > MANY)
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.len()));
    let highest = named
        .iter()
        .map(|(_, _, n)| *n as usize + 1)
        .max()
        .unwrap_or(0);
    let mut taken = vec![false; highest];
    let mut found = vec![];
    for group in groups {
        let free = group.iter().filter(|(_, _, n)| !taken[*n as usize]);
        let members: Vec<u32> = free.map(|(_, _, n)| *n).collect();
        if members.len() > MANY {
            members.iter().for_each(|n| taken[*n as usize] = true);
            found.push((group[0].1, members));
        }
    }
    found
}

impl Star {
    /// The other two vertices of a member.
    fn others(&self, triangle: &Triangle) -> [Point; 2] {
        let at = triangle.iter().position(|v| *v == self.centre).unwrap_or(0);
        [triangle[(at + 1) % 3], triangle[(at + 2) % 3]]
    }

    /// A box around the arc of each member, as three points.
    pub(super) fn arcs(&self, triangles: &[Triangle]) -> Vec<Triangle> {
        let arc = |n: &u32| {
            let [p, q] = self
                .others(&triangles[*n as usize])
                .map(|v| unit(&away(&v, &self.centre)));
            let chord = minus(p, q);
            // No point of an arc is farther from its chord than that is in the middle.
            let rise = 1.0 - (1.0 - dot(chord, chord) / 4.0).max(0.0).sqrt();
            box_around(&p, &q, rise)
        };
        self.members.iter().map(arc).collect()
    }

    /// Edges of the star with many triangles: the places of these among the members, each with one edge at most.
    pub(super) fn edges(&self, triangles: &[Triangle]) -> Vec<(Point, Vec<u32>)> {
        let ends = (0..).zip(&self.members);
        let ends = ends.flat_map(|(place, n)| {
            self.others(&triangles[*n as usize])
                .map(|v| (point_key(v), v, place))
        });
        largest_first(ends.collect())
    }

    /// A box around the direction in which each of these members is, seen along the edge to `end`, as three points.
    pub(super) fn directions(
        &self,
        triangles: &[Triangle],
        end: &Point,
        places: &[u32],
    ) -> Vec<Triangle> {
        let edge = unit(&away(end, &self.centre));
        let direction = |place: &u32| {
            let [p, q] = self.others(&triangles[self.members[*place as usize] as usize]);
            let to = away(if p == *end { &q } else { &p }, &self.centre);
            let along = dot(to, edge);
            let across = std::array::from_fn(|i| to[i] - along * edge[i]);
            let length = dot(to, to).sqrt();
            let width = dot(across, across).sqrt();
            // The parts are off by less than 16 u of the length.
            let off = length / width / (1_u64 << 48) as f64;
            let at = unit(&across);
            // All of the circle where it is too near to the edge to tell, and where that is not a number.
            if off < 0.5 {
                box_around(&at, &at, 2.0 * off)
            } else {
                box_around(&[-1.0; 3], &[1.0; 3], 0.0)
            }
        };
        places.iter().map(direction).collect()
    }
}

fn away(point: &Point, from: &Point) -> [f64; 3] {
    std::array::from_fn(|i| f64::from(point[i]) - f64::from(from[i]))
}

fn unit(v: &[f64; 3]) -> [f64; 3] {
    let length = dot(*v, *v).sqrt();
    v.map(|x| x / length)
}

/// The box around two points and all that is as near to them on each axis, and a little more, as three points.
fn box_around(p: &[f64; 3], q: &[f64; 3], more: f64) -> Triangle {
    let low: Point = std::array::from_fn(|i| (p[i].min(q[i]) - more - ROUNDING) as f32);
    let high: Point = std::array::from_fn(|i| (p[i].max(q[i]) + more + ROUNDING) as f32);
    [low, high, low]
}
