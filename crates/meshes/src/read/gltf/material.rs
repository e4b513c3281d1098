//! Materials: base colours, and pictures on faces.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::buffers::Buffers;
use super::document::GltfObject;
use crate::TextureWrap;
use crate::read::ReadOptions;
use crate::read::indexed::{FilePosition, Indexed};
use crate::read::picture::MAX_BYTES;
use voxelize_core::error::{Code, Error, Result, sanitize};
use voxelize_core::par::Progress;

/// Name and colours of a material.
#[derive(Clone, Default)]
pub(super) struct Material {
    pub name: String,
    /// Base colour as linear light: red, green and blue.
    pub light: Option<[f64; 3]>,
    pub texture: Option<TextureUse>,
    /// Number of the attribute `TEXCOORD_n` of a picture that is not read.
    pub unread: Option<u64>,
}

/// Use of a picture on faces.
#[derive(Clone)]
pub(super) struct TextureUse {
    /// Index of the picture in the mesh.
    pub picture: u32,
    /// Number of the attribute `TEXCOORD_n` with the positions of vertices in the picture.
    pub places: u64,
    transform: Option<TextureTransform>,
}

impl TextureUse {
    /// Returns the position of a vertex in the picture. `place` is its position in the file.
    pub(super) fn place(&self, place: [f64; 2]) -> [f32; 2] {
        let place = match &self.transform {
            Some(transform) => transform.apply(place),
            None => place,
        };
        place.map(|n| n as f32)
    }
}

/// Extension `KHR_texture_transform`: positions in the picture are scaled, then rotated, then moved.
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

    /// Transforms a position. The rotation is counter-clockwise as seen in the picture, whose second
    /// coordinate increases downwards.
    fn apply(&self, [u, v]: [f64; 2]) -> [f64; 2] {
        let x = u * self.scale[0];
        let y = v * self.scale[1];
        let (s, c) = self.rotation.sin_cos();
        [
            c * x + s * y + self.offset[0],
            c * y - s * x + self.offset[1],
        ]
    }
}

/// Returns the number of the attribute `TEXCOORD_n` with the positions of vertices in a picture.
fn places(used: &GltfObject) -> Result<u64> {
    if let Some(transform) = used.extension("KHR_texture_transform")
        && let Some(own) = transform.whole("texCoord")?
    {
        return Ok(own);
    }
    Ok(used.whole("texCoord")?.unwrap_or(0))
}

/// Materials of a document.
pub(super) struct Materials<'a> {
    buffers: &'a Buffers<'a>,
    progress: &'a dyn Progress,
    reads_textures: bool,
    known: HashMap<u64, Rc<Material>>,
    without: Rc<Material>,
    /// Index in the mesh of each picture that was read, by its source and wrapping.
    pictures: HashMap<(PictureSource<'a>, [TextureWrap; 2]), u32>,
    /// Sources of pictures that cannot be read.
    broken: HashSet<PictureSource<'a>>,
}

/// Source of the bytes of a picture: a view of a buffer, or a URI.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum PictureSource<'a> {
    View(u64),
    Uri(&'a str),
}

impl<'a> Materials<'a> {
    pub(super) fn new(buffers: &'a Buffers, options: &ReadOptions<'a>) -> Self {
        Self {
            buffers,
            progress: options.progress,
            reads_textures: options.textures,
            known: HashMap::new(),
            without: Rc::default(),
            pictures: HashMap::new(),
            broken: HashSet::new(),
        }
    }

    /// Returns the material of a primitive.
    pub(super) fn of(
        &mut self,
        primitive: &GltfObject<'a>,
        indexed: &mut Indexed,
    ) -> Result<Rc<Material>> {
        let Some(index) = primitive.whole("material")? else {
            return Ok(Rc::clone(&self.without));
        };
        if let Some(known) = self.known.get(&index) {
            return Ok(Rc::clone(known));
        }
        let object = self.buffers.document.get("materials", index)?;
        let name = if object.name().is_empty() {
            format!("material {index}")
        } else {
            object.name().into()
        };
        let mut material = Material {
            name,
            ..Material::default()
        };
        // If a material has the extension for specular-glossiness, its ordinary base colour is only a
        // fallback.
        let (surface, factor, picture) =
            match object.extension("KHR_materials_pbrSpecularGlossiness") {
                Some(surface) => (Some(surface), "diffuseFactor", "diffuseTexture"),
                None => (
                    object.inner("pbrMetallicRoughness"),
                    "baseColorFactor",
                    "baseColorTexture",
                ),
            };
        if let Some(surface) = surface {
            material.light = surface.numbers::<4>(factor)?.map(|[r, g, b, _]| [r, g, b]);
            match surface.inner(picture) {
                Some(texture) if self.reads_textures => {
                    material.texture = self.texture(&texture, indexed)?;
                }
                Some(texture) => material.unread = Some(places(&texture)?),
                None => {}
            }
        }
        let material = Rc::new(material);
        self.known.insert(index, Rc::clone(&material));
        Ok(material)
    }

    fn texture(
        &mut self,
        used: &GltfObject<'a>,
        indexed: &mut Indexed,
    ) -> Result<Option<TextureUse>> {
        self.progress.check()?;
        let transform = used.extension("KHR_texture_transform");
        let places = places(used)?;
        let texture = self
            .buffers
            .document
            .get("textures", used.needed("index")?)?;
        let wrap = self.wrap(&texture)?;
        let picture = self.picture(&texture, wrap, indexed)?;
        let transform = match &transform {
            Some(transform) => Some(TextureTransform::of(transform)?),
            None => None,
        };
        Ok(picture.map(|picture| TextureUse {
            picture,
            places,
            transform,
        }))
    }

    /// Returns the index in the mesh of the picture that a texture uses. `None` if the picture cannot be
    /// read. This is reported once for each picture.
    fn picture(
        &mut self,
        texture: &GltfObject<'a>,
        wrap: [TextureWrap; 2],
        indexed: &mut Indexed,
    ) -> Result<Option<u32>> {
        let about = texture.path();
        let position = FilePosition::Of(&about);
        let source = match self.source(texture) {
            Ok(source) => source,
            Err(error) => {
                indexed.no_colours(&error, position)?;
                return Ok(None);
            }
        };
        if self.broken.contains(&source) {
            return Ok(None);
        }
        if let Some(picture) = self.pictures.get(&(source, wrap)) {
            return Ok(Some(*picture));
        }
        let admit = |more| indexed.admit(more);
        let bytes = match source {
            PictureSource::Uri(uri) => self.buffers.at(uri, MAX_BYTES, &admit).map(Cow::Owned),
            PictureSource::View(view) => self
                .buffers
                .view(view, &admit)
                .map(|view| Cow::Borrowed(view.bytes)),
        };
        indexed.hold(self.buffers.held.take())?;
        let picture = indexed.add_picture(bytes, wrap, position)?;
        match picture {
            Some(picture) => {
                self.pictures.insert((source, wrap), picture);
            }
            None => {
                self.broken.insert(source);
            }
        }
        Ok(picture)
    }

    fn wrap(&self, texture: &GltfObject) -> Result<[TextureWrap; 2]> {
        let Some(sampler) = texture.whole("sampler")? else {
            return Ok([TextureWrap::Repeat; 2]);
        };
        let sampler = self.buffers.document.get("samplers", sampler)?;
        let wrap = |key| {
            Ok(match sampler.whole(key)? {
                None | Some(10497) => TextureWrap::Repeat,
                Some(33071) => TextureWrap::Clamp,
                Some(33648) => TextureWrap::Mirror,
                Some(other) => {
                    return Err(sampler.error(Code::S006, format!("{other} is not a wrap mode")));
                }
            })
        };
        Ok([wrap("wrapS")?, wrap("wrapT")?])
    }

    /// Returns the source of the picture of a texture. A WebP picture is preferred over the PNG or JPEG.
    fn source(&self, texture: &GltfObject<'a>) -> Result<PictureSource<'a>> {
        let webp = texture.extension("EXT_texture_webp");
        let source = match webp {
            Some(webp) => webp.whole("source")?,
            None => texture.whole("source")?,
        };
        let Some(source) = source else {
            let text = match texture.extension_names().next() {
                Some(name) => format!(
                    "its image exists only as {}, which is not supported",
                    sanitize(name)
                ),
                None => "it has no image".to_string(),
            };
            return Err(Error::input(Code::S110, text).with_hint("export textures as PNG or JPEG"));
        };
        let image = self.buffers.document.get("images", source)?;
        match (image.text("uri"), image.whole("bufferView")?) {
            (Some(uri), _) => Ok(PictureSource::Uri(uri)),
            (None, Some(view)) => Ok(PictureSource::View(view)),
            (None, None) => Err(image.error(Code::S110, "it has no bytes")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_scaled_then_rotated_then_moved() {
        let transform = |scale, rotation, offset| TextureTransform {
            scale,
            rotation,
            offset,
        };
        let quarter = std::f64::consts::FRAC_PI_2;
        for (transform, expected) in [
            (transform([2.0, 3.0], 0.0, [0.5, 0.25]), [1.5, 1.0]),
            // After the rotation, the downward direction points to the left.
            (transform([1.0; 2], quarter, [0.0; 2]), [0.25, -0.5]),
            (transform([2.0, 1.0], quarter, [0.0, 1.0]), [0.25, 0.0]),
        ] {
            let found = transform.apply([0.5, 0.25]);
            assert!(
                (0..2).all(|n| (found[n] - expected[n]).abs() < 1e-12),
                "{found:?}, not {expected:?}"
            );
        }
    }
}
