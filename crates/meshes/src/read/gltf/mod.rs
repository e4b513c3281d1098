//! glTF 2.0: a JSON file, whose buffers are in other files or embedded, or a GLB file, which contains the
//! JSON and one buffer.
//!
//! | object | |
//! |---|---|
//! | `scenes`, `scene` | the root nodes of the default scene, or of the first scene; if there are no scenes, every node that is not a child |
//! | `nodes` | `matrix`, or `translation`, `rotation` and `scale`; `children`; a `mesh`, which several nodes may share; `skin`; `weights`; `KHR_node_visibility`; `EXT_mesh_gpu_instancing` |
//! | `skins` | `inverseBindMatrices` are applied first, then the maps of the joints' nodes (`pose.rs`) |
//! | `meshes` | `primitives`: triangles, strips and fans; points and lines are left out and reported; `targets` with the default `weights` |
//! | `accessors` | `POSITION` as floats, or as integers (`KHR_mesh_quantization`); indices; sparse accessors |
//! | `bufferViews`, `buffers` | the second chunk of a GLB, `data:` URIs, and files in the folder of the mesh or below it; for views compressed by meshoptimizer, the uncompressed fallback |
//! | `materials` | names, `baseColorFactor`, `baseColorTexture` with `KHR_texture_transform`; `KHR_materials_pbrSpecularGlossiness` |
//! | `textures`, `samplers`, `images` | PNG, JPEG and WebP (`EXT_texture_webp`), which may be repeated, mirrored or clamped |
//! | `KHR_draco_mesh_compression` | decoded (`draco.rs`) |
//!
//! Each node with a mesh becomes a part. The y axis points up, and the unit is the metre. Matrices are
//! multiplied in doubles. A vertex is rounded to floats once, and all triangles of the primitive use the
//! rounded vertex. If a matrix mirrors, triangles are turned over, so that the outside stays outside. A
//! triangle of a strip or fan that repeats a vertex only connects strips and is left out. Animations are not
//! played, but a warning is given if an animation begins with another pose.
//!
//! The crate `gltf` is not used, because it refuses a whole document for one invalid object and reads
//! positions only as floats. A second reader would be needed for partially damaged files, integer positions,
//! compressed views and instances.
//!
//! Source: Khronos Group, glTF 2.0 Specification.

mod accessor;
mod animation;
mod attribute;
mod buffers;
mod document;
#[cfg(feature = "draco")]
mod draco;
#[cfg(not(feature = "draco"))]
#[path = "no_draco.rs"]
mod draco;
mod material;
mod node;
mod pose;
mod primitive;
mod scene;

use super::indexed::Indexed;
use super::source::{Head, MeshBytes, is_blank};
use super::triage::Triage;
use super::{Content, Guess, InputFormat, ReadOptions};
use crate::{UnitOfLength, UpAxis};
use voxelize_core::error::{Code, Error, Result};

use buffers::Buffers;
use document::Document;

pub(super) const FORMAT: InputFormat = InputFormat {
    name: "gltf",
    extensions: &["gltf", "glb"],
    about: "glTF and GLB: scenes of triangles, strips and fans; y is up, in metres",
    states_unit: true,
    has_decimals: false,
    recognise,
    read,
};

const MAGIC: &[u8] = b"glTF";

fn recognise(head: &Head) -> Guess {
    let text = head
        .bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(head.bytes);
    let is_object = text.iter().find(|byte| !is_blank(**byte)) == Some(&b'{') && head.is_text();
    if head.bytes.starts_with(MAGIC) || is_object {
        Guess::Sure
    } else {
        Guess::No
    }
}

fn read(source: MeshBytes, options: &ReadOptions, triage: &Triage) -> Result<Content> {
    let folder = source.folder();
    let file = source.into_bytes(options.max_memory, options.progress)?;
    let mut indexed = Indexed::new(options.max_memory, triage, 0);
    let (json, chunk) = if file.starts_with(MAGIC) {
        chunks(&file, triage)?
    } else {
        (&file[..], None)
    };
    indexed.hold(file.len() as u64 + document::bytes_of(json))?;
    let document = Document::new(json)?;
    let length = file.len() as u64;
    let buffers = Buffers::new(&document, folder, chunk, length);
    buffers.note_files()?;
    scene::add(&buffers, &mut indexed, triage, options)?;
    let unread_pictures = indexed.take_unread_pictures()?;
    let mesh = indexed.into_mesh()?;
    Ok(Content {
        mesh,
        bytes: length,
        unit: Some(UnitOfLength::Metre),
        up: Some(UpAxis::Y),
        unread_pictures,
    })
}

/// Returns the JSON of a GLB and its binary chunk. `None` if it has no binary chunk.
fn chunks<'a>(file: &'a [u8], triage: &Triage) -> Result<(&'a [u8], Option<&'a [u8]>)> {
    const JSON: u32 = 0x4e4f_534a;
    const BIN: u32 = 0x004e_4942;
    let version = word(file, 4)?;
    if version != 2 {
        let error = Error::input(
            Code::S009,
            format!("this is a GLB of version {version}, but only version 2 is read"),
        );
        return Err(error.with_hint("export glTF 2.0").at_byte(4));
    }
    let length = word(file, 8)? as usize;
    if length < file.len() {
        triage.found(Error::input(Code::S005, "bytes follow the GLB").at_byte(length as u64))?;
    }
    let mut json = None;
    let mut bin = None;
    let mut at = 12;
    while at < length.min(file.len()) {
        let size = word(file, at)?;
        let kind = word(file, at + 4)?;
        let from = at + 8;
        let to = from + size as usize;
        let chunk = file.get(from..to).ok_or_else(|| cut_short(at))?;
        match kind {
            JSON if json.is_none() => json = Some(chunk),
            BIN if bin.is_none() => bin = Some(chunk),
            // Chunks of other types belong to extensions and are skipped.
            _ => {}
        }
        at = to;
    }
    if length > file.len() {
        triage.found(cut_short(file.len()))?;
    }
    let Some(json) = json else {
        return Err(Error::input(Code::S006, "the GLB has no JSON chunk").at_byte(12));
    };
    Ok((json, bin))
}

/// Reads the little-endian 32-bit number at byte `at`.
fn word(file: &[u8], at: usize) -> Result<u32> {
    match file.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()) {
        Some(bytes) => Ok(u32::from_le_bytes(bytes)),
        None => Err(cut_short(at)),
    }
}

fn cut_short(at: usize) -> Error {
    Error::input(Code::S003, "cut short: the GLB ends early").at_byte(at as u64)
}
