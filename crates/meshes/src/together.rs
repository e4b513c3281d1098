//! Parts that are one body only together, such as the materials of one body: each part is open, and its open
//! edges are those of other parts.

use std::hash::{BuildHasher, RandomState};

use super::closed::{Closedness, bits};
use super::{Mesh, MeshParts, PartKind};
use voxelize_core::geom::Triangle;

impl Mesh {
    /// Returns the parts of this kind that are one body only together, in ascending order. These parts are
    /// open individually. If the mesh is closed, they are all open parts. If it is open, they are the open
    /// parts that have an open edge in common, in opposite directions. Empty if the mesh has only some
    /// triangles of another mesh, because these do not show whether the parts are closed.
    pub fn parts_filled_together(&self, kind: PartKind) -> &[u32] {
        self.filled_together[kind as usize].get_or_init(|| match self.parts(kind) {
            Some(parts) if !self.is_some_of_another() => self.filled_together(parts).into(),
            _ => [].into(),
        })
    }

    fn filled_together(&self, parts: &MeshParts) -> Vec<u32> {
        let mut order: Vec<(u32, u32)> = (0..self.triangles.len() as u32)
            .map(|n| (parts.of(n), n))
            .collect();
        order.sort_unstable();
        let is_closed = self.closedness() != Closedness::Open;
        let state = RandomState::new();
        let mut open = vec![];
        let mut edges = vec![];
        for part in order.chunk_by(|one, next| one.0 == next.0) {
            let number = part[0].0;
            let triangles: Vec<_> = part
                .iter()
                .map(|(_, n)| self.triangles[*n as usize])
                .collect();
            let own = Self::of_finite(triangles.into());
            if own.closedness() != Closedness::Open {
                continue;
            }
            open.push(number);
            if !is_closed {
                let own = open_edges(own.triangles(), &state);
                edges.extend(own.into_iter().map(|edge| (edge, number)));
            }
        }
        if is_closed {
            return open;
        }
        edges.sort_unstable();
        let mut joined = vec![];
        for edge in edges.chunk_by(|one, next| one.0 >> 1 == next.0 >> 1) {
            if edge.iter().any(|(key, _)| key & 1 != edge[0].0 & 1) {
                joined.extend(edge.iter().map(|(_, part)| *part));
            }
        }
        joined.sort_unstable();
        joined.dedup();
        joined
    }
}

/// Returns keys of the edges that remain if opposite edges cancel, sorted. The last bit of a key states the
/// direction. The other bits are a hash that no file can predict.
fn open_edges(triangles: &[Triangle], state: &RandomState) -> Vec<u64> {
    let mut keys = Vec::with_capacity(3 * triangles.len());
    for triangle in triangles {
        let corners = triangle.map(bits);
        for n in 0..3 {
            let [from, to] = [corners[n], corners[(n + 1) % 3]];
            if from != to {
                let hash = state.hash_one([from.min(to), from.max(to)]);
                keys.push((hash & !1) | u64::from(from < to));
            }
        }
    }
    keys.sort_unstable();
    let mut open = vec![];
    for edge in keys.chunk_by(|one, next| one >> 1 == next >> 1) {
        let back = edge.partition_point(|key| key & 1 == 0);
        let forth = edge.len() - back;
        if forth != back {
            open.push((edge[0] & !1) | u64::from(forth > back));
        }
    }
    open
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Corners of a tetrahedron and its faces.
    const CORNERS: [[f32; 3]; 4] = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-0.0, 0.0, 1.0]];
    const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];

    #[test]
    fn open_parts_with_opposite_open_edges_are_one_body() {
        let face = |n: usize| FACES[n].map(|corner| CORNERS[corner]);
        let flipped = |n: usize| {
            let [a, b, c] = face(n);
            [a, c, b]
        };
        let far = |n: usize| face(n).map(|corner| corner.map(|c| c + 5.0));
        let closed = [face(0), face(1), face(2), face(3)];
        for (triangles, parts, expected) in [
            // A closed mesh.
            (closed.to_vec(), vec![0, 0, 1, 1], &[0, 1][..]),
            (closed.to_vec(), vec![0; 4], &[]),
            // A hole.
            (closed[..3].to_vec(), vec![0, 1, 2], &[0, 1, 2]),
            (closed[..3].to_vec(), vec![0; 3], &[]),
            // A part elsewhere shares no edge.
            (vec![face(0), face(1), far(2)], vec![0, 1, 2], &[0, 1]),
            // The same face twice, and turned over: only the second pair cancels.
            (vec![face(0), face(0), far(1)], vec![0, 1, 2], &[]),
            (vec![face(0), flipped(0), far(1)], vec![0, 1, 2], &[0, 1]),
            // A closed part next to an open one.
            (
                [&closed[..], &[far(0), far(1)]].concat(),
                vec![0, 0, 0, 0, 3, 7],
                &[3, 7],
            ),
        ] {
            let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            let mesh = Mesh::from_triangles(triangles).unwrap();
            let parts = MeshParts::new(names, parts).unwrap();
            let mesh = mesh.with_parts(PartKind::Object, parts).unwrap();
            assert_eq!(mesh.parts_filled_together(PartKind::Object), expected);
        }
    }
}
