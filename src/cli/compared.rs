//! Voxel files that are compared, and the errors for meshes in their place.

use std::path::Path;

use voxelize::compare::{BoxSize, confused_factor};
use voxelize::mesh::read::{ReadOptions, read_file};
use voxelize::{Code, Result, Voxels};

use super::files;
use super::names::InputFile;
use super::report::display;

/// Part of its longest side by which a mesh may differ from the same mesh in another unit, such as by
/// rounding to three decimals.
const MESH_SIZE_TOLERANCE: f64 = 0.001;

/// Reads the voxels of a file that is compared with `other`. If the file is a mesh, the error has a hint with
/// the command that voxelizes it.
pub fn open_voxels(file: &InputFile, other: &Path, max_memory: Option<u64>) -> Result<Voxels> {
    let path = file.path();
    files::is_there(path)?;
    files::open_within(file, max_memory).map_err(|error| match files::if_mesh(error, path) {
        mesh if mesh.hint().is_none() && mesh.code() == Code::V001 => {
            mesh.with_hint(if files::is_mesh_name(other) {
                same_grid_hint(path, other, max_memory)
            } else {
                let (path, other) = (path.display(), other.display());
                format!("voxelize {path} --like {other} -o NAME.npz makes voxels of it")
            })
        }
        error => error,
    })
}

/// Returns the command that makes voxels of two meshes. It scales the second mesh if units may have been
/// confused.
fn same_grid_hint(first: &Path, second: &Path, max_memory: Option<u64>) -> String {
    let factor = confused_meshes([first, second], max_memory);
    let (first, second) = (first.display(), second.display());
    let Some(factor) = factor else {
        return format!(
            "voxelize {first} {second} --same-grid -r 256 -o DIR/ makes voxels of both"
        );
    };
    let question = display::size_question(factor, ["the first", "the second"]);
    let scale = display::scale_of(factor);
    format!(
        "{question} voxelize {first} {second}@scale={scale} --same-grid -r 256 -o DIR/ makes voxels of both"
    )
}

/// Returns the factor between the sizes of two meshes, if units may have been confused. `None` if a mesh
/// cannot be read, or the files state different units.
fn confused_meshes(paths: [&Path; 2], max_memory: Option<u64>) -> Option<f64> {
    let mut sizes = vec![];
    let mut units = vec![];
    for path in paths {
        let mut options = ReadOptions::default();
        options.max_memory = max_memory;
        let loaded = read_file(path, &options).ok()?;
        let bounds = loaded.mesh.bounds();
        let sides: [f64; 3] =
            std::array::from_fn(|axis| f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]));
        let longest = sides.into_iter().fold(0.0, f64::max);
        sizes.push(BoxSize {
            sides,
            tolerance: MESH_SIZE_TOLERANCE * longest,
        });
        units.extend(loaded.unit);
    }
    if units.len() == 2 && units[0] != units[1] {
        return None;
    }
    confused_factor(&sizes[0], &sizes[1])
}
