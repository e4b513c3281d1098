//! Makers of faces, and what takes them: vertices first, in the order of their numbers.

use std::io;

use super::exposed::{ExposedFace, LayerPair};
use super::numbers::WallNumbers;
use voxelize_core::error::Error;

/// A mesh that is written: it gets vertices in the order of their numbers from 0 on, and each face after its vertices.
pub(super) trait FaceSink {
    /// The vertex where these walls meet.
    fn vertex(&mut self, walls: [u32; 3]) -> io::Result<()>;

    /// A face and its vertices, in the order of its corners.
    fn face(&mut self, face: &ExposedFace, vertices: [u32; 4]) -> io::Result<()>;
}

/// Faces as they are made, wall of z by wall.
pub(super) trait FaceMaker {
    /// Adds wall `k`, where these layers meet.
    fn wall(&mut self, k: u32, layers: &LayerPair, sink: &mut dyn FaceSink) -> io::Result<()>;
}

/// Numbers the vertices of wall `k` from `count` on, and gives them to `sink`; the answer is how many there are so far.
pub(super) fn put_vertices(
    vertices: &mut WallNumbers,
    count: u64,
    k: u32,
    sink: &mut dyn FaceSink,
) -> io::Result<u64> {
    let count = vertices.number(count);
    if count > u64::from(u32::MAX) {
        return Err(too_many("vertices", count));
    }
    vertices
        .places()
        .try_for_each(|[i, j]| sink.vertex([i, j, k]))?;
    Ok(count)
}

/// The error for a mesh that is too large for its format.
pub(super) fn too_many(what: &str, count: u64) -> io::Error {
    let error = Error::too_large(format!(
        "the faces of these cells have at least {count} {what}, more than the format counts"
    ));
    io::Error::other(
        error.with_hint("use larger cells, merge the faces, or save the cells themselves, as .npz"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes everything and keeps nothing.
    struct NoSink;

    impl FaceSink for NoSink {
        fn vertex(&mut self, _: [u32; 3]) -> io::Result<()> {
            Ok(())
        }
        fn face(&mut self, _: &ExposedFace, _: [u32; 4]) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn vertices_are_counted_by_32_bits() {
        let mut vertices = WallNumbers::new([70, 3, 2]);
        [[0, 0, 0], [70, 3, 0], [64, 1, 0]]
            .into_iter()
            .for_each(|corner| vertices.set(corner));
        let most = u64::from(u32::MAX);
        let mut put = |count| put_vertices(&mut vertices, count, 0, &mut NoSink);
        assert_eq!(put(most - 3).unwrap(), most);
        assert!(
            put(most - 2)
                .unwrap_err()
                .to_string()
                .contains("4294967296 vertices")
        );
        put(5).unwrap();
        assert_eq!(
            [[0, 0, 0], [64, 1, 0], [70, 3, 0]].map(|corner| vertices.of(corner)),
            [5, 6, 7]
        );
    }
}
