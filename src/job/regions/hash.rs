//! The hash by which a mesh is known.

use std::io::Write as _;

use crate::grid::{BytesHasher, Hash};
use crate::mesh::{Mesh, PartKind};

/// The hash of a mesh as its cells depend on it: its triangles in their order, and the parts that labels stand for.
pub(super) fn mesh_hash(mesh: &Mesh, parts: Option<PartKind>) -> Hash {
    let mut hasher = BytesHasher::default();
    let mut buffer = Vec::with_capacity(64 << 10);
    for triangles in mesh.triangles().chunks((64 << 10) / 36) {
        buffer.clear();
        for number in triangles.iter().flatten().flatten() {
            buffer.extend_from_slice(&number.to_le_bytes());
        }
        put(&mut hasher, &buffer);
    }
    if let Some(parts) = parts.and_then(|kind| mesh.parts(kind)) {
        for name in parts.names() {
            put(&mut hasher, &(name.len() as u64).to_le_bytes());
            put(&mut hasher, name.as_bytes());
        }
        let numbers = (0..mesh.triangles().len() as u32).map(|n| parts.of(n));
        buffer.clear();
        buffer.extend(numbers.flat_map(u32::to_le_bytes));
        put(&mut hasher, &buffer);
    }
    hasher.finish()
}

fn put(hasher: &mut BytesHasher, bytes: &[u8]) {
    hasher.write_all(bytes).expect("nothing is written that could fail");
}
