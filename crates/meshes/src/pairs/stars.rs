//! Stars: vertices with many triangles, such as the fans that close a cylinder. The bounds of all triangles
//! of a star intersect, so pairs are found by directions instead.
//!
//! Two triangles with a common vertex have another point in common only if both contain a ray from that
//! vertex. Projected from the vertex onto a sphere, triangles become arcs of great circles, and the arcs of
//! such a pair intersect. Projected along a common edge, triangles become points of a circle. Two triangles
//! have common points beyond their edge only if these points of the circle are equal.
//!
//! The search therefore tests the pairs of a star whose arcs have intersecting bounding boxes. For an edge
//! with many triangles, it tests the pairs whose points on the circle have intersecting boxes.

use super::key::point_key;
use voxelize_core::geom::vector::{dot, minus};
use voxelize_core::geom::{Point, Triangle};

/// A vertex or edge is treated as a star if it has more triangles than this.
const MANY: usize = 64;

/// Margin of boxes. It is more than twice the rounding error of a float of up to two, 2^-23 / 2, including
/// the errors of all preceding computations in doubles.
const ROUNDING: f64 = 1.0 / (1 << 22) as f64;

/// Triangles around a vertex.
#[derive(Debug)]
pub(super) struct Star {
    pub centre: Point,
    pub members: Vec<u32>,
}

/// Returns the stars of the triangles that are not left out. A triangle is in at most one star: that of its
/// vertex with the most triangles. The order of the triangles only affects the order of the members.
pub(super) fn stars(
    triangles: &[Triangle],
    vertices: &[[u32; 3]],
    is_left_out: &impl Fn(&Triangle) -> bool,
) -> Vec<Star> {
    let highest = vertices.as_flattened().iter().max().copied().unwrap_or(0);
    let mut counts = vec![0_u8; highest as usize + 1];
    for v in vertices.as_flattened() {
        counts[*v as usize] = counts[*v as usize].saturating_add(1);
    }
    let is_crowded: Vec<bool> = counts
        .iter()
        .map(|count| usize::from(*count) > MANY)
        .collect();
    if !is_crowded.contains(&true) {
        return vec![];
    }
    let mut corners = vec![];
    for (n, (own, triangle)) in (0..).zip(vertices.iter().zip(triangles)) {
        if !own.iter().any(|v| is_crowded[*v as usize]) || is_left_out(triangle) {
            continue;
        }
        for (v, point) in own.iter().zip(triangle) {
            if is_crowded[*v as usize] {
                corners.push((*v, *point, n));
            }
        }
    }
    largest_first(corners)
        .into_iter()
        .map(|(centre, members)| Star { centre, members })
        .collect()
}

/// Groups triangle numbers by vertex, the largest group first. Each number is only in its largest group.
/// Groups of few numbers are left out.
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
        let mut members = vec![];
        for (_, _, n) in group {
            if !taken[*n as usize] {
                members.push(*n);
            }
        }
        if members.len() > MANY {
            for n in &members {
                taken[*n as usize] = true;
            }
            found.push((group[0].1, members));
        }
    }
    found
}

impl Star {
    /// Returns the other two vertices of a member.
    fn others(&self, triangle: &Triangle) -> [Point; 2] {
        let at = triangle.iter().position(|v| *v == self.centre).unwrap_or(0);
        [triangle[(at + 1) % 3], triangle[(at + 2) % 3]]
    }

    /// Returns a bounding box around the arc of each member. Each box is given as a degenerate triangle with
    /// these bounds.
    pub(super) fn arcs(&self, triangles: &[Triangle]) -> Vec<Triangle> {
        let mut arcs = Vec::with_capacity(self.members.len());
        for n in &self.members {
            let [p, q] = self
                .others(&triangles[*n as usize])
                .map(|v| unit(&away(&v, &self.centre)));
            let chord = minus(p, q);
            // The distance of an arc from its chord is greatest in the middle.
            let rise = 1.0 - (1.0 - dot(chord, chord) / 4.0).max(0.0).sqrt();
            arcs.push(box_around(&p, &q, rise));
        }
        arcs
    }

    /// Returns the edges of the star with many triangles: the other end of the edge, and indices in
    /// `members`. A member belongs to at most one edge.
    pub(super) fn edges(&self, triangles: &[Triangle]) -> Vec<(Point, Vec<u32>)> {
        let mut ends = vec![];
        for (place, n) in (0..).zip(&self.members) {
            for v in self.others(&triangles[*n as usize]) {
                ends.push((point_key(v), v, place));
            }
        }
        largest_first(ends)
    }

    /// Returns a bounding box around the direction of each of these members, seen along the edge to `end`.
    /// Each box is given as a degenerate triangle with these bounds.
    pub(super) fn directions(
        &self,
        triangles: &[Triangle],
        end: &Point,
        places: &[u32],
    ) -> Vec<Triangle> {
        let edge = unit(&away(end, &self.centre));
        let mut directions = Vec::with_capacity(places.len());
        for place in places {
            let [p, q] = self.others(&triangles[self.members[*place as usize] as usize]);
            let to = away(if p == *end { &q } else { &p }, &self.centre);
            let along = dot(to, edge);
            let across = std::array::from_fn(|i| to[i] - along * edge[i]);
            let length = dot(to, to).sqrt();
            let width = dot(across, across).sqrt();
            // The error of `across` is less than 16 u of the length.
            let off = length / width / (1_u64 << 48) as f64;
            let at = unit(&across);
            // If a point is too near to the edge, its direction is uncertain. Its box then covers the whole
            // circle, also if `off` is NaN.
            directions.push(if off < 0.5 {
                box_around(&at, &at, 2.0 * off)
            } else {
                box_around(&[-1.0; 3], &[1.0; 3], 0.0)
            });
        }
        directions
    }
}

fn away(point: &Point, from: &Point) -> [f64; 3] {
    std::array::from_fn(|i| f64::from(point[i]) - f64::from(from[i]))
}

fn unit(v: &[f64; 3]) -> [f64; 3] {
    let length = dot(*v, *v).sqrt();
    v.map(|x| x / length)
}

/// Returns a degenerate triangle whose bounds are the box around two points, extended by `more` and a
/// rounding margin.
fn box_around(p: &[f64; 3], q: &[f64; 3], more: f64) -> Triangle {
    let low: Point = std::array::from_fn(|i| (p[i].min(q[i]) - more - ROUNDING) as f32);
    let high: Point = std::array::from_fn(|i| (p[i].max(q[i]) + more + ROUNDING) as f32);
    [low, high, low]
}
