//! Errors about inputs that are not meshes in a supported format.

use std::path::Path;

use super::INPUTS;
use super::records::length_for;
use super::source::unreadable;
use crate::error::{Code, Error, Result};

/// A known format that is not read.
struct Other {
    name: &'static str,
    extensions: &'static [&'static str],
    /// The bytes by which its files are known, and where they are; none if there are none.
    magic: (usize, &'static [u8]),
    hint: &'static str,
}

const EXPORT: &str = "export binary STL from the program that made it";
const SCENE: &str = "export glTF (.glb) from the program that made it; Blender converts it, too";
const CAD: &str = "export STL or 3MF from the CAD program, which makes triangles of it";
const DECOMPRESS: &str = "decompress it first";
const MESH: &str = "a mesh is expected";
const VOXELS: &str = "it holds voxels, and a mesh is expected";
const SCAN: &str =
    "it holds voxels, and a mesh is expected; saved as .nrrd or .nii.gz, its grid can be taken";
const NONE: (usize, &[u8]) = (0, b"");

const fn other(
    name: &'static str,
    extensions: &'static [&'static str],
    magic: (usize, &'static [u8]),
    hint: &'static str,
) -> Other {
    Other { name, extensions, magic, hint }
}

static OTHERS: &[Other] = &[
    #[cfg(not(feature = "3mf"))]
    other("3MF", &["3mf"], NONE, EXPORT),
    other("AMF", &["amf"], NONE, "export 3MF, which followed it, or binary STL"),
    other("Blender", &["blend"], (0, b"BLENDER"), "in Blender: File, Export, glTF 2.0 or STL"),
    other("Collada", &["dae"], NONE, SCENE),
    other("Draco", &["drc"], (0, b"DRACO"), "export GLB: Draco in it is read"),
    other("FBX", &["fbx"], (0, b"Kaydara FBX Binary"), SCENE),
    other("IGES", &["iges", "igs"], NONE, CAD),
    other("STEP", &["step", "stp"], (0, b"ISO-10303-21"), CAD),
    other("USD", &["usd", "usda", "usdc", "usdz"], (0, b"PXR-USDC"), SCENE),
    other("VRML", &["wrl", "x3d"], (0, b"#VRML"), SCENE),
    other("VTK", &["vtk", "vtp", "vtu", "vti"], (0, b"# vtk"), EXPORT),
    other("NRRD", &["nrrd", "nhdr"], (0, b"NRRD000"), VOXELS),
    other("NIfTI", &["nii"], (344, b"n+1\0"), VOXELS),
    other("NIfTI", &["hdr"], (344, b"ni1\0"), VOXELS),
    other("NIfTI", &[], (4, b"n+2\0"), VOXELS),
    other("MetaImage", &["mha", "mhd"], (0, b"ObjectType"), SCAN),
    other("DICOM", &["dcm"], (128, b"DICM"), SCAN),
    other("binvox", &["binvox"], (0, b"#binvox"), VOXELS),
    other("OpenVDB", &["vdb"], (0, b" BDV"), VOXELS),
    other("OctoMap", &["bt", "ot"], (0, b"# Octomap"), VOXELS),
    other("MagicaVoxel", &["vox"], (0, b"VOX "), VOXELS),
    other("a NumPy array", &["npy", "npz"], (0, b"\x93NUMPY"), VOXELS),
    other("HDF5", &["h5", "hdf5", "mnc"], (0, b"\x89HDF\r\n"), VOXELS),
    other("LAS", &["las", "laz"], (0, b"LASF"), EXPORT),
    other("bzip2", &["bz2"], (0, b"BZh"), DECOMPRESS),
    other("xz", &["xz"], (0, b"\xfd7zXZ"), DECOMPRESS),
    other("Zstandard", &["zst"], (0, b"\x28\xb5\x2f\xfd"), DECOMPRESS),
    other("7z", &["7z"], (0, b"7z\xbc\xaf\x27\x1c"), DECOMPRESS),
    other("zip", &["zip"], (0, b"PK\x03\x04"), DECOMPRESS),
    other("PNG", &["png"], (0, b"\x89PNG"), MESH),
    other("JPEG", &["jpg", "jpeg"], (0, b"\xff\xd8\xff"), MESH),
    other("TIFF", &["tif", "tiff"], (0, b"II*\0"), MESH),
    other("TIFF", &["tif", "tiff"], (0, b"MM\0*"), MESH),
    other("PDF", &["pdf"], (0, b"%PDF"), MESH),
    other("a program", &[], (0, b"\x7fELF"), MESH),
    other("UTF-16 text", &[], (0, b"\xff\xfe"), "save it as UTF-8 or plain ASCII"),
];

/// The error for a file that is another format, by its extension or its first bytes.
pub(super) fn other_format(path: &Path, head: &[u8]) -> Option<Error> {
    let extension = extension(path);
    let named = OTHERS.iter().find(|other| other.extensions.contains(&extension.as_str()));
    let is_content = |other: &&Other| {
        let (at, bytes) = other.magic;
        !bytes.is_empty() && head.get(at..).is_some_and(|rest| rest.starts_with(bytes))
    };
    let content = || OTHERS.iter().find(is_content);
    let (other, message) = match named {
        Some(other) => (other, format!("{} is not supported", other.name)),
        None => content().map(|other| (other, format!("this is {}, which is not supported", other.name)))?,
    };
    Some(Error::input(Code::S009, message).with_hint(other.hint))
}

/// The error for bytes that no format knows, and that would be a binary STL of so many triangles.
pub(super) fn no_mesh(count: u64, length: Option<u64>) -> Error {
    let expected = length_for(count);
    let length = length.map_or_else(String::new, |length| format!(", and it has {length}"));
    let message = format!(
        "not a mesh of a known format: as binary STL it would have {count} triangles and {expected} bytes{length}"
    );
    Error::input(Code::S002, message).with_hint(EXPORT)
}

/// The error for text that no format knows.
pub(super) fn unknown() -> Error {
    Error::input(Code::S002, "text that is neither ASCII STL, which begins with 'solid', nor OBJ")
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
