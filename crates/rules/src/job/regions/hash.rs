//! The hash that identifies the mesh of a plan.

use std::io::Write as _;

use voxelize_core::grid::{BytesHasher, Hash};
use voxelize_meshes::{Mesh, MeshParts, PartKind};

/// Returns the hash of all data of a mesh that affect its cells: the triangles in their order, the parts that
/// labels represent, and the negative volumes.
pub(super) fn mesh_hash(mesh: &Mesh, parts: Option<PartKind>) -> Hash {
    let mut hasher = BytesHasher::default();
    put_triangles(&mut hasher, mesh);
    if let Some(parts) = parts.and_then(|kind| mesh.parts(kind)) {
        for name in parts.names() {
            put(&mut hasher, &(name.len() as u64).to_le_bytes());
            put(&mut hasher, name.as_bytes());
        }
        put_parts(&mut hasher, parts, mesh);
    }
    if let Some(cuts) = mesh.cuts() {
        put_triangles(&mut hasher, cuts.mesh());
        put_parts(&mut hasher, cuts.cut_from(), cuts.mesh());
        put_parts(&mut hasher, cuts.volumes(), cuts.mesh());
        put_parts(&mut hasher, cuts.bodies(), mesh);
    }
    hasher.finish()
}

/// Adds the coordinates of all triangles of a mesh to the hash.
fn put_triangles(hasher: &mut BytesHasher, mesh: &Mesh) {
    let mut buffer = Vec::with_capacity(64 << 10);
    for triangles in mesh.triangles().chunks((64 << 10) / 36) {
        buffer.clear();
        for number in triangles.iter().flatten().flatten() {
            buffer.extend_from_slice(&number.to_le_bytes());
        }
        put(hasher, &buffer);
    }
}

/// Adds the part number of each triangle of a mesh to the hash.
fn put_parts(hasher: &mut BytesHasher, parts: &MeshParts, mesh: &Mesh) {
    let numbers = (0..mesh.triangles().len() as u32).map(|n| parts.of(n));
    let bytes: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
    put(hasher, &bytes);
}

fn put(hasher: &mut BytesHasher, bytes: &[u8]) {
    hasher
        .write_all(bytes)
        .expect("nothing is written that could fail");
}
