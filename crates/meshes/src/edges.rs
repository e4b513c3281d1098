//! The edges of triangles whose vertices have numbers, sorted.

use super::counted;

/// How often triangles go along an edge, from its lesser end to the greater and back. Whether a mesh is closed and
/// oriented is decided here for every command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeUse {
    pub forth: u64,
    pub back: u64,
}

impl EdgeUse {
    /// Whether it is there an odd number of times.
    pub(super) fn is_open(self) -> bool {
        (self.forth + self.back) % 2 == 1
    }

    /// Whether its directions cancel.
    pub(super) fn is_balanced(self) -> bool {
        self.forth == self.back
    }

    /// Whether it is taken twice in one direction, besides those that cancel.
    pub(super) fn is_reversed(self) -> bool {
        self.forth.abs_diff(self.back) >= 2
    }

    /// Whether more than two triangles meet there.
    pub(super) fn is_crowded(self) -> bool {
        self.forth + self.back > 2
    }

    /// Whether it is of exactly two triangles, in both directions.
    pub(super) fn is_manifold(self) -> bool {
        (self.forth, self.back) == (1, 1)
    }
}

/// One side of one triangle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// The numbers of its ends, the lesser first.
    pub ends: [u32; 2],
    /// Three times the number of the triangle, and which side it is: from that corner to the next.
    pub place: u32,
}

impl Side {
    /// Whether the triangle goes along it from the lesser end to the greater.
    pub(super) fn is_forth(&self, triangles: &[[u32; 3]]) -> bool {
        triangles.as_flattened()[self.place as usize] == self.ends[0]
    }
}

/// All sides that have a length, those of the same edge next to each other; the numbers of vertices are below
/// `points`. At most 2³² of them.
pub(super) fn sorted(triangles: &[[u32; 3]], points: usize) -> Vec<Side> {
    let all = triangles
        .iter()
        .enumerate()
        .flat_map(|(n, triangle)| sides(3 * n as u32, triangle));
    counted::sorted(all, points, |side| side.ends[0])
}

fn sides(first: u32, triangle: &[u32; 3]) -> impl Iterator<Item = Side> + Clone {
    let [a, b, c] = *triangle;
    let sides = [(0, [a, b]), (1, [b, c]), (2, [c, a])];
    sides
        .into_iter()
        .filter(|(_, [p, q])| p != q)
        .map(move |(n, [p, q])| Side {
            ends: [p.min(q), p.max(q)],
            place: first + n,
        })
}

/// The sides edge by edge.
pub(super) fn by_edge(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|one, next| one.ends == next.ends)
}
