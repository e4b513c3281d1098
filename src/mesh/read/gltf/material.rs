//! Materials: base colours, and the pictures that lie on faces.

use std::borrow::Cow;
use std::collections::HashMap;

use super::super::indexed::{FilePosition, Indexed};
use super::super::picture::MAX_BYTES;
use super::buffers::Buffers;
use super::document::GltfObject;
use crate::error::{Code, Result};
use crate::mesh::TextureWrap;

/// What is known of a material.
#[derive(Clone, Default)]
pub(super) struct Material {
    pub name: String,
    /// The share of light that it reflects, red, green and blue.
    pub light: Option<[f64; 3]>,
    pub texture: Option<TextureUse>,
}

/// A picture on faces.
#[derive(Clone)]
pub(super) struct TextureUse {
    /// Its number among those that were read.
    pub picture: u32,
    /// The number of the attribute that places vertices in it.
    pub places: u64,
    transform: Option<TextureTransform>,
}

impl TextureUse {
    /// The place of a vertex in the picture.
    pub(super) fn place(&self, place: [f64; 2]) -> [f32; 2] {
        self.transform.map_or(place, |transform| transform.apply(place)).map(|n| n as f32)
    }
}

/// `KHR_texture_transform`: places are scaled, rotated and moved.
#[derive(Clone, Copy)]
struct TextureTransform {
    scale: [f64; 2],
    rotation: f64,
    offset: [f64; 2],
}

impl TextureTransform {
    fn of(object: &GltfObject) -> Result<Self> {
        Ok(Self {
            scale: object.numbers("scale")?.unwrap_or([1.0; 2]),
            rotation: object.number("rotation").unwrap_or(0.0),
            offset: object.numbers("offset")?.unwrap_or([0.0; 2]),
        })
    }

    /// A rotation is counter-clockwise as one sees the picture, whose second coordinate points down.
    fn apply(&self, [u, v]: [f64; 2]) -> [f64; 2] {
        let ([x, y], (s, c)) = ([u * self.scale[0], v * self.scale[1]], self.rotation.sin_cos());
        [c * x + s * y + self.offset[0], c * y - s * x + self.offset[1]]
    }
}

/// The materials of a document.
pub(super) struct Materials<'a> {
    buffers: &'a Buffers<'a>,
    reads_textures: bool,
    known: HashMap<u64, Material>,
    /// The numbers of pictures, by the index of their texture.
    pictures: HashMap<u64, Option<u32>>,
}

impl<'a> Materials<'a> {
    pub(super) fn new(buffers: &'a Buffers, reads_textures: bool) -> Self {
        Self { buffers, reads_textures, known: HashMap::new(), pictures: HashMap::new() }
    }

    /// The material of this index.
    pub(super) fn get(&mut self, index: u64, indexed: &mut Indexed) -> Result<Material> {
        if let Some(known) = self.known.get(&index) {
            return Ok(known.clone());
        }
        let object = self.buffers.document.get("materials", index)?;
        let name = if object.name().is_empty() { format!("material {index}") } else { object.name().into() };
        let mut material = Material { name, ..Material::default() };
        if let Some(surface) = object.inner("pbrMetallicRoughness") {
            material.light = surface.numbers::<4>("baseColorFactor")?.map(|[r, g, b, _]| [r, g, b]);
            if let (true, Some(texture)) = (self.reads_textures, surface.inner("baseColorTexture")) {
                material.texture = self.texture(&texture, indexed)?;
            }
        }
        self.known.insert(index, material.clone());
        Ok(material)
    }

    fn texture(&mut self, used: &GltfObject, indexed: &mut Indexed) -> Result<Option<TextureUse>> {
        let transform = used.inner("extensions").and_then(|all| all.inner("KHR_texture_transform"));
        let own = transform.map(|transform| transform.whole("texCoord")).transpose()?.flatten();
        let places = own.map_or_else(|| used.whole("texCoord"), |own| Ok(Some(own)))?.unwrap_or(0);
        let index = used.needed("index")?;
        let picture = match self.pictures.get(&index) {
            Some(picture) => *picture,
            None => {
                let texture = self.buffers.document.get("textures", index)?;
                let wrap = self.wrap(&texture)?;
                let admit = |more| indexed.admit(more);
                let bytes = self.bytes(&texture, &admit);
                indexed.hold(self.buffers.held.take())?;
                let picture = indexed.add_picture(bytes, wrap, FilePosition::Of(&texture.path()))?;
                self.pictures.insert(index, picture);
                picture
            }
        };
        let transform = transform.map(|transform| TextureTransform::of(&transform)).transpose()?;
        Ok(picture.map(|picture| TextureUse { picture, places, transform }))
    }

    fn wrap(&self, texture: &GltfObject) -> Result<[TextureWrap; 2]> {
        let Some(sampler) = texture.whole("sampler")? else { return Ok([TextureWrap::Repeat; 2]) };
        let sampler = self.buffers.document.get("samplers", sampler)?;
        let wrap = |key| {
            Ok(match sampler.whole(key)? {
                None | Some(10497) => TextureWrap::Repeat,
                Some(33071) => TextureWrap::Clamp,
                Some(33648) => TextureWrap::Mirror,
                Some(other) => return Err(sampler.error(Code::S006, format!("{other} is no way to wrap"))),
            })
        };
        Ok([wrap("wrapS")?, wrap("wrapT")?])
    }

    /// The bytes of the picture of a texture: WebP, where there is one, else PNG or JPEG.
    fn bytes(&self, texture: &GltfObject, admit: &dyn Fn(u64) -> Result<()>) -> Result<Cow<'a, [u8]>> {
        let webp = texture.inner("extensions").and_then(|all| all.inner("EXT_texture_webp"));
        let source = match webp {
            Some(webp) => webp.whole("source")?,
            None => texture.whole("source")?,
        };
        let source = source.ok_or_else(|| texture.error(Code::S110, "it has no picture that is known"))?;
        let image = self.buffers.document.get("images", source)?;
        match (image.text("uri"), image.whole("bufferView")?) {
            (Some(uri), _) => Ok(Cow::Owned(self.buffers.at(uri, MAX_BYTES, admit)?)),
            (None, Some(view)) => Ok(Cow::Borrowed(self.buffers.view(view, admit)?.bytes)),
            (None, None) => Err(image.error(Code::S110, "it has no bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_scaled_then_rotated_then_moved() {
        let transform = |scale, rotation, offset| TextureTransform { scale, rotation, offset };
        let quarter = std::f64::consts::FRAC_PI_2;
        for (transform, expected) in [
            (transform([2.0, 3.0], 0.0, [0.5, 0.25]), [1.5, 1.0]),
            // Downwards comes from the left.
            (transform([1.0; 2], quarter, [0.0; 2]), [0.25, -0.5]),
            (transform([2.0, 1.0], quarter, [0.0, 1.0]), [0.25, 0.0]),
        ] {
            let found = transform.apply([0.5, 0.25]);
            assert!((0..2).all(|n| (found[n] - expected[n]).abs() < 1e-12), "{found:?}, not {expected:?}");
        }
    }
}
