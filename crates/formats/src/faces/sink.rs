//! Interfaces between the code that makes faces and the code that writes them.

use std::io;

use super::exposed::{ExposedFace, LayerPair};
use super::numbers::WallNumbers;
use voxelize_core::error::Error;

/// Writer of a mesh. It receives the vertices in the order of their numbers, which begin with 0. A face comes
/// after its vertices.
pub(super) trait FaceSink {
    /// Adds the vertex at the point where these walls of x, y and z meet.
    fn vertex(&mut self, walls: [u32; 3]) -> io::Result<()>;

    /// Adds a face. `vertices` are the numbers of its corners, in order.
    fn face(&mut self, face: &ExposedFace, vertices: [u32; 4]) -> io::Result<()>;
}

/// Maker of faces. It processes one wall of z after the other.
pub(super) trait FaceMaker {
    /// Processes wall `k`, which is between these layers.
    fn wall(&mut self, k: u32, layers: &LayerPair, sink: &mut dyn FaceSink) -> io::Result<()>;
}

/// Numbers the vertices of wall `k`, beginning with `count`, and passes them to `sink`. Returns the total
/// number of vertices.
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
    for [i, j] in vertices.places() {
        sink.vertex([i, j, k])?;
    }
    Ok(count)
}

/// Returns the error for a mesh that has more vertices, faces or bytes than its format can count.
pub(super) fn too_many(what: &str, count: u64) -> io::Error {
    let error = Error::too_large(format!(
        "the faces of these cells have at least {count} {what}, more than the format can count"
    ));
    io::Error::other(
        error.with_hint("use larger cells, merge the faces, or save the cells themselves, as .npz"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sink that ignores everything.
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
    fn more_vertices_than_32_bits_are_refused() {
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
