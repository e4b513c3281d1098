//! Primitives compressed by Draco.

use draco_core::{DecoderBuffer, Mesh, MeshDecoder};

use super::buffers::Buffers;
use super::document::GltfObject;
use crate::error::{Code, Result};

/// Decoded points and triangles.
pub(super) struct Decoded {
    pub points: Vec<[f32; 3]>,
    pub triangles: Vec<[u32; 3]>,
}

/// Decodes the primitive of this extension object.
pub(super) fn decode(
    extension: &GltfObject,
    buffers: &Buffers,
    admit: &dyn Fn(u64) -> Result<()>,
) -> Result<Decoded> {
    let broken = |text: String| extension.error(Code::S006, format!("its Draco data: {text}"));
    let view = buffers.view(extension.needed("bufferView")?, admit)?;
    let attributes = extension.inner("attributes");
    let position = attributes.map(|attributes| attributes.needed("POSITION"));
    let position = position.ok_or_else(|| broken("no attributes".into()))??;
    let mut mesh = Mesh::new();
    let decoded = MeshDecoder::new().decode(&mut DecoderBuffer::new(view.bytes), &mut mesh);
    decoded.map_err(|error| broken(error.to_string()))?;
    let id = u32::try_from(position).ok();
    let attribute = id.and_then(|id| mesh.attribute_by_unique_id(id));
    let attribute = attribute.ok_or_else(|| broken(format!("no attribute {position}")))?;
    if attribute.num_components() != 3 {
        return Err(broken(format!("positions of {} numbers", attribute.num_components())));
    }
    admit(24 * mesh.num_points() as u64 + 24 * mesh.num_faces() as u64)?;
    let numbers = attribute.read_f32s(mesh.num_points(), 3);
    let points = numbers.as_chunks().0.to_vec();
    let triangles = mesh.faces().iter().map(|face| face.map(|point| point.0)).collect();
    Ok(Decoded { points, triangles })
}
