//! Order of triangles by their coordinates. It depends neither on the order of the file nor on the
//! order of the vertices.

use crate::weld::ordered;
use voxelize_core::geom::{Point, Triangle};

/// Key of a triangle: its vertices in ascending order, as bits that sort like the coordinates.
/// Triangles with the same vertices in any order have equal keys. −0 is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TriangleKey([[u32; 3]; 3]);

impl TriangleKey {
    /// Returns the key of a triangle.
    pub fn of(triangle: &Triangle) -> Self {
        let mut vertices = triangle.map(point_key);
        vertices.sort_unstable();
        Self(vertices)
    }
}

/// Returns the coordinates of a point, x first, as bits that sort like the coordinates.
pub(super) fn point_key(point: Point) -> [u32; 3] {
    point.map(ordered)
}

/// Returns the keys of two triangles, the lesser first. The result does not depend on their order.
pub fn pair_key([s, t]: [&Triangle; 2]) -> [TriangleKey; 2] {
    let mut keys = [TriangleKey::of(s), TriangleKey::of(t)];
    keys.sort_unstable();
    keys
}
