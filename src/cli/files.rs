//! Voxel files that verbs read, and what is said of those that are not there or are something else.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::Path;

use voxelize::format::{self, Carries};
use voxelize::mesh::read::INPUTS;
use voxelize::{Error, Lattice, Result, Voxels};

use super::similar;

/// The voxels in a file that is to be held against `other`.
///
/// # Errors
/// If it cannot be read; a mesh is told how to become voxels.
pub fn open_voxels(path: &Path, other: &Path) -> Result<Voxels> {
    is_there(path)?;
    format::open(path).map_err(|error| match if_mesh(error, path) {
        mesh if mesh.hint().is_none() && mesh.code() == "V001" => {
            let like =
                if is_mesh_name(other) { String::new() } else { format!(" --like {}", other.display()) };
            mesh.with_hint(format!("voxelize {}{like} -o NAME.npz makes voxels of it", path.display()))
        }
        error => error,
    })
}

/// Where the cells of a voxel file are. A file that says it itself is not read for more than that; a
/// sidecar is believed only if it is about the cells beside it.
///
/// # Errors
/// If the file cannot be read, or nothing says where its cells are.
pub fn lattice(path: &Path) -> Result<Lattice> {
    is_there(path)?;
    let said = format::describe(path).map_err(|error| if_mesh(error, path))?;
    let lattice = match said.format.carries {
        Carries::InFile => said.metadata.lattice,
        _ => format::open(path)?.lattice,
    };
    lattice.ok_or_else(|| {
        let error = Error::usage("does not say where its cells are").in_file(path);
        error.with_hint(match said.format.carries {
            Carries::InFile => "only files of voxelize, or that say it in its way, can be followed",
            _ => "--sidecar writes that beside such files; .vox and .npz say it themselves",
        })
    })
}

/// The error for a mesh where voxels are wanted.
fn if_mesh(error: Error, path: &Path) -> Error {
    if error.code() != "V001" || !is_mesh_name(path) {
        return error;
    }
    Error::input("V001", "is a mesh, not voxels").in_file(path)
}

/// The error for a file that is no mesh, if that is because it holds voxels.
pub fn holds_voxels(path: &Path) -> Option<Error> {
    let format = format::sniff(path)?;
    let error = Error::input("V004", format!("holds voxels ({}), not a mesh", format.name)).in_file(path);
    Some(error.with_hint(format!("'voxelize info {}' says more of it", path.display())))
}

/// Makes sure that there is a file.
///
/// # Errors
/// If not, with what may have been meant.
pub fn is_there(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() => {
            Err(Error::input("folder", "is a folder; a file is wanted").in_file(path))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Err(similar::no_such_file(path)),
        _ => Ok(()),
    }
}

/// The name of a mesh without its extension, or both of a `.stl.gz`.
pub fn stem(mesh: &Path) -> OsString {
    let is_packed = mesh.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let unpacked = if is_packed { mesh.with_extension("") } else { mesh.to_path_buf() };
    unpacked.file_stem().unwrap_or_default().to_os_string()
}

/// Whether `path` is a pipe or a device, which may stay silent for ever.
pub fn is_pipe(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Whether a file is called as meshes are.
pub fn is_mesh_name(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    let unpacked = name.strip_suffix(".gz").unwrap_or(&name);
    let extension = unpacked.rsplit_once('.').map_or("", |(_, extension)| extension);
    INPUTS.iter().any(|input| input.extensions.contains(&extension))
}
