//! Voxel files that verbs read, and what is said of those that are not there or are something else.

use std::io::ErrorKind;
use std::path::Path;

use voxelize::mesh::read::INPUTS;
use voxelize::{Error, Result, Voxels, format};

use super::similar;

/// The voxels in a file that is to be held against `other`.
///
/// # Errors
/// If it cannot be read; a mesh is told how to become voxels.
pub fn open_voxels(path: &Path, other: &Path) -> Result<Voxels> {
    is_there(path)?;
    format::open(path).map_err(|error| match error.code() {
        "V001" if is_mesh_name(path) => {
            Error::input("V001", "is a mesh, not voxels").in_file(path).with_hint(format!(
                "voxelize {} --like {} -o NAME.npz makes voxels of it",
                path.display(),
                other.display()
            ))
        }
        _ => error,
    })
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

/// Whether a file is called as meshes are.
fn is_mesh_name(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    INPUTS.iter().any(|input| input.extensions.contains(&extension.as_str()))
}
