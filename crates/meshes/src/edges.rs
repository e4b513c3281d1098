//! Sorted edges of triangles that are given by vertex numbers.

use super::counted;

/// Number of times that triangles use an edge in each direction: `forth` from the lesser end to the greater,
/// `back` the other way. All commands decide with this type whether a mesh is closed and oriented.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EdgeUse {
    pub forth: u64,
    pub back: u64,
}

impl EdgeUse {
    /// Returns whether the edge occurs an odd number of times.
    pub(super) fn is_open(self) -> bool {
        (self.forth + self.back) % 2 == 1
    }

    /// Returns whether the edge occurs equally often in both directions.
    pub(super) fn is_balanced(self) -> bool {
        self.forth == self.back
    }

    /// Returns whether the edge occurs at least twice in one direction after opposite directions have
    /// cancelled.
    pub(super) fn is_reversed(self) -> bool {
        self.forth.abs_diff(self.back) >= 2
    }

    /// Returns whether more than two triangles use the edge.
    pub(super) fn is_crowded(self) -> bool {
        self.forth + self.back > 2
    }

    /// Returns whether exactly two triangles use the edge, in opposite directions.
    pub(super) fn is_manifold(self) -> bool {
        (self.forth, self.back) == (1, 1)
    }
}

/// Side of a triangle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Side {
    /// Vertex numbers of its ends, the lesser first.
    pub ends: [u32; 2],
    /// Three times the number of the triangle, plus the number of the corner where the side begins.
    pub place: u32,
}

impl Side {
    /// Returns whether the triangle goes along the side from the lesser end to the greater.
    pub(super) fn is_forth(&self, triangles: &[[u32; 3]]) -> bool {
        triangles.as_flattened()[self.place as usize] == self.ends[0]
    }
}

/// Returns all sides with two different ends, sorted by edge. Vertex numbers are below `points`. At most 2³²
/// sides are allowed.
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

/// Groups sorted sides by edge.
pub(super) fn by_edge(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|one, next| one.ends == next.ends)
}
