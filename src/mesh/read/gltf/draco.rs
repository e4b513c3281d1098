//! Primitives compressed by Draco.

use draco_core::{DataType, DecoderBuffer, Mesh, MeshDecoder};

use super::buffers::Buffers;
use super::document::GltfObject;
use crate::error::{Code, Error, Result};

/// A decoded primitive.
pub(super) struct Decoded<'a> {
    extension: &'a GltfObject<'a>,
    mesh: Mesh,
}

impl<'a> Decoded<'a> {
    /// Decodes the primitive of this extension object.
    pub(super) fn new(
        extension: &'a GltfObject,
        buffers: &Buffers,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        let view = buffers.view(extension.needed("bufferView")?, admit)?;
        let mut mesh = Mesh::new();
        let decoded = MeshDecoder::new().decode(&mut DecoderBuffer::new(view.bytes), &mut mesh);
        decoded.map_err(|error| broken(extension, &error.to_string()))?;
        admit(24 * mesh.num_points() as u64 + 24 * mesh.num_faces() as u64)?;
        Ok(Self { extension, mesh })
    }

    /// The vertices of each triangle.
    pub(super) fn triangles(&self) -> impl Iterator<Item = [u32; 3]> {
        self.mesh.faces().iter().map(|face| face.map(|point| point.0))
    }

    /// How many vertices there are.
    pub(super) fn count(&self) -> u64 {
        self.mesh.num_points() as u64
    }

    /// The first `N` numbers that each vertex has for this attribute, if there is one, as shares of 1 where they are
    /// whole; and how many numbers it has.
    pub(super) fn attribute<const N: usize>(&self, name: &str) -> Result<Option<(usize, Vec<[f32; N]>)>> {
        let Some(attributes) = self.extension.inner("attributes") else { return Ok(None) };
        let Some(id) = attributes.whole(name)? else { return Ok(None) };
        let attribute = u32::try_from(id).ok().and_then(|id| self.mesh.attribute_by_unique_id(id));
        let attribute = attribute.ok_or_else(|| broken(self.extension, &format!("no attribute {id}")))?;
        let largest = match attribute.data_type() {
            DataType::Uint8 => 255.0,
            DataType::Uint16 => 65_535.0,
            _ => 1.0,
        };
        let numbers = attribute.read_f32s(self.mesh.num_points(), N);
        let shares = numbers.as_chunks().0.iter().map(|numbers: &[f32; N]| numbers.map(|n| n / largest));
        Ok(Some((attribute.num_components().into(), shares.collect())))
    }
}

fn broken(extension: &GltfObject, what: &str) -> Error {
    extension.error(Code::S006, format!("its Draco data: {what}"))
}
