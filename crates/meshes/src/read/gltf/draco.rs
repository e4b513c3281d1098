//! Primitives that are compressed by Draco.

use draco_core::{DataType, DecoderBuffer, Mesh, MeshDecoder};

use super::accessor::ComponentType;
use super::attribute::AttributeNumbers;
use super::buffers::Buffers;
use super::document::GltfObject;
use voxelize_core::error::{Code, Error, Result};

/// Decoded primitive.
pub(super) struct Decoded<'a> {
    extension: GltfObject<'a>,
    mesh: Mesh,
}

impl<'a> Decoded<'a> {
    /// Decodes the primitive that this extension object describes.
    pub(super) fn new(
        extension: GltfObject<'a>,
        buffers: &Buffers,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Self> {
        let view = buffers.view(extension.needed("bufferView")?, admit)?;
        let mut mesh = Mesh::new();
        let decoded = MeshDecoder::new().decode(&mut DecoderBuffer::new(view.bytes), &mut mesh);
        decoded.map_err(|error| broken(&extension, &error.to_string()))?;
        admit(24 * mesh.num_points() as u64 + 24 * mesh.num_faces() as u64)?;
        Ok(Self { extension, mesh })
    }

    /// Returns the number of corners of all triangles.
    pub(super) fn corners(&self) -> u64 {
        3 * self.mesh.num_faces() as u64
    }

    /// Returns the vertex index of corner `n`, counted over all triangles. The corner must exist.
    pub(super) fn corner(&self, n: u64) -> u64 {
        self.mesh.faces()[(n / 3) as usize][(n % 3) as usize]
            .0
            .into()
    }

    /// Returns the first `N` numbers of an attribute for each vertex. `None` if the attribute is not
    /// compressed. The accessor of the primitive states whether its integers are normalized.
    pub(super) fn attribute<'n, const N: usize>(
        &self,
        name: &str,
        accessor: Option<&GltfObject>,
        admit: &dyn Fn(u64) -> Result<()>,
    ) -> Result<Option<AttributeNumbers<'n, N>>> {
        let Some(attributes) = self.extension.inner("attributes") else {
            return Ok(None);
        };
        let Some(id) = attributes.whole(name)? else {
            return Ok(None);
        };
        let attribute = u32::try_from(id)
            .ok()
            .and_then(|id| self.mesh.attribute_by_unique_id(id));
        let attribute =
            attribute.ok_or_else(|| broken(&self.extension, &format!("no attribute {id}")))?;
        let least = if name == "POSITION" { N } else { 1 };
        if usize::from(attribute.num_components()) < least {
            let text = format!("positions of {} numbers", attribute.num_components());
            return Err(broken(&self.extension, &text));
        }
        admit((4 * N * self.mesh.num_points()) as u64)?;
        let component = match attribute.data_type() {
            DataType::Int8 => Some(ComponentType::I8),
            DataType::Uint8 => Some(ComponentType::U8),
            DataType::Int16 => Some(ComponentType::I16),
            DataType::Uint16 => Some(ComponentType::U16),
            _ => None,
        };
        // If the accessor has floats, the compressed numbers may still be integers. Then Draco's own flag
        // states whether they are normalized.
        let is_normalized = match accessor {
            Some(accessor) if accessor.whole("componentType")? != Some(5126) => {
                accessor.flag("normalized")
            }
            _ => attribute.normalized(),
        };
        let numbers = attribute.read_f32s(self.mesh.num_points(), N);
        let values = numbers.as_chunks().0.to_vec();
        Ok(Some(AttributeNumbers::Decoded {
            values,
            shares: component.filter(|_| is_normalized),
        }))
    }
}

fn broken(extension: &GltfObject, what: &str) -> Error {
    extension.error(Code::S006, format!("its Draco data: {what}"))
}
