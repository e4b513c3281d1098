//! The edges of triangles whose vertices have numbers, sorted.

use crate::par;

/// One side of one triangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

/// Triangles that a thread takes at a time.
const CHUNK: usize = 1 << 15;

/// All sides that have a length, those of the same edge next to each other. At most 2³² of them.
pub(super) fn sorted(triangles: &[[u32; 3]]) -> Vec<Side> {
    let chunks: Vec<_> = triangles.chunks(CHUNK).enumerate().collect();
    let mut sides = par::map(chunks, |(n, chunk)| {
        let numbered = chunk.iter().enumerate().map(|(m, triangle)| (n * CHUNK + m, triangle));
        numbered.flat_map(|(m, triangle)| sides(3 * m as u32, triangle)).collect::<Vec<_>>()
    })
    .concat();
    par::sort(&mut sides);
    sides
}

fn sides(first: u32, triangle: &[u32; 3]) -> impl Iterator<Item = Side> {
    let [a, b, c] = *triangle;
    let sides = [(0, [a, b]), (1, [b, c]), (2, [c, a])];
    sides
        .into_iter()
        .filter(|(_, [p, q])| p != q)
        .map(move |(n, [p, q])| Side { ends: [p.min(q), p.max(q)], place: first + n })
}

/// The sides edge by edge.
pub(super) fn by_edge(sides: &[Side]) -> impl Iterator<Item = &[Side]> {
    sides.chunk_by(|one, next| one.ends == next.ends)
}
