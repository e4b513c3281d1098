//! An order of triangles by their coordinates, which neither the order of a file nor that of their vertices changes.

use crate::weld::ordered;
use voxelize_core::geom::{Point, Triangle};

/// The vertices of a triangle, the least first, by the bits of their coordinates in the order of the numbers: equal for
/// triangles with the same vertices, whatever way round. −0 is 0.
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

/// The bits of a point in the order of the coordinates, x first.
pub(super) fn point_key(point: Point) -> [u32; 3] {
    point.map(ordered)
}

/// The keys of two triangles, the lesser first, so that it does not matter which is named first.
pub fn pair_key([s, t]: [&Triangle; 2]) -> [TriangleKey; 2] {
    let mut keys = [TriangleKey::of(s), TriangleKey::of(t)];
    keys.sort_unstable();
    keys
}
