//! Errors about inputs that are not meshes in a supported format.

use std::path::Path;

use super::INPUTS;
use super::source::unreadable;
use crate::error::{Code, Error, Result};

/// A known format that is not read.
struct Other {
    name: &'static str,
    extensions: &'static [&'static str],
    /// How its files begin; none if that says nothing.
    begins: &'static [u8],
    hint: &'static str,
}

const EXPORT: &str = "export binary STL from the program that made it";
const DECOMPRESS: &str = "decompress it first";

const fn other(
    name: &'static str,
    extensions: &'static [&'static str],
    begins: &'static [u8],
    hint: &'static str,
) -> Other {
    Other { name, extensions, begins, hint }
}

static OTHERS: &[Other] = &[
    other("3MF", &["3mf"], b"", EXPORT),
    other("AMF", &["amf"], b"", EXPORT),
    other("Blender", &["blend"], b"BLENDER", EXPORT),
    other("Collada", &["dae"], b"", EXPORT),
    other("FBX", &["fbx"], b"Kaydara FBX Binary", EXPORT),
    other("GLB", &["glb"], b"glTF", EXPORT),
    other("glTF", &["gltf"], b"", EXPORT),
    other("IGES", &["iges", "igs"], b"", EXPORT),
    other("OBJ", &["obj"], b"", EXPORT),
    other("OFF", &["off"], b"OFF", EXPORT),
    other("PLY", &["ply"], b"ply\n", EXPORT),
    other("PLY", &["ply"], b"ply\r", EXPORT),
    other("STEP", &["step", "stp"], b"ISO-10303-21", EXPORT),
    other("USD", &["usd", "usda", "usdc", "usdz"], b"PXR-USDC", EXPORT),
    other("VRML", &["wrl", "x3d"], b"#VRML", EXPORT),
    other("VTK", &["vtk", "vtp", "vtu"], b"# vtk", EXPORT),
    other("xz", &["xz"], b"\xfd7zXZ", DECOMPRESS),
    other("Zstandard", &["zst"], b"\x28\xb5\x2f\xfd", DECOMPRESS),
    other("zip", &["zip"], b"PK\x03\x04", DECOMPRESS),
    other("PNG", &["png"], b"\x89PNG", "a mesh is expected"),
    other("PDF", &["pdf"], b"%PDF", "a mesh is expected"),
    other("UTF-16 text", &[], b"\xff\xfe", "save it as UTF-8 or plain ASCII"),
];

/// The error for a file that is another format, by its extension or its first bytes.
pub(super) fn other_format(path: &Path, head: &[u8]) -> Option<Error> {
    let extension = extension(path);
    let named = OTHERS.iter().find(|other| other.extensions.contains(&extension.as_str()));
    let content = || OTHERS.iter().find(|o| !o.begins.is_empty() && head.starts_with(o.begins));
    let (other, message) = match named {
        Some(other) => (other, format!("{} is not supported", other.name)),
        None => content().map(|other| (other, format!("this is {}, which is not supported", other.name)))?,
    };
    Some(Error::input(Code::S009, message).with_hint(other.hint))
}

/// The error for content that no format knows.
pub(super) fn unknown() -> Error {
    Error::input(Code::S002, "neither binary nor ASCII STL: text that does not begin with 'solid'")
        .with_hint(EXPORT)
}

/// The error for a folder, which depends on what lies in it.
pub(super) fn folder(path: &Path) -> Error {
    let count = || -> Result<usize> {
        let mut meshes = 0;
        for entry in path.read_dir().map_err(|e| unreadable(&e))? {
            let entry = entry.map_err(|e| unreadable(&e))?.path();
            let known = INPUTS.iter().any(|i| i.extensions.contains(&extension(&entry).as_str()));
            meshes += usize::from(known && !entry.is_dir());
        }
        Ok(meshes)
    };
    match count() {
        Err(error) => error,
        Ok(0) => {
            let mut extensions: Vec<_> =
                INPUTS.iter().flat_map(|i| i.extensions).map(|e| format!(".{e}")).collect();
            extensions.dedup();
            Error::input(Code::S010, format!("no mesh ({}) in this folder", extensions.join(", ")))
        }
        Ok(1) => Error::usage("a folder, with 1 mesh in it; name the file"),
        Ok(n) => Error::usage(format!("a folder, with {n} meshes in it; one file is expected")),
    }
}

/// The extension in lower case, or nothing; of a `.gz`, the extension of its content.
fn extension(path: &Path) -> String {
    let of = |path: &Path| path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match of(path).as_str() {
        "gz" => of(&path.with_extension("")),
        extension => extension.to_string(),
    }
}
