//! Writes the file of `--mark`: the triangles that have defects as binary STL, or the cells of these
//! triangles as labels.

use std::path::Path;

use voxelize::compare::check::MeshCheck;
use voxelize::format::{SaveOptions, Sidecar, Written};
use voxelize::grid::CellKind;
use voxelize::{Error, Lattice, Mesh, Record, Result, Run};

use crate::cli::files;
use crate::cli::names::{Names, OutputFile};
use crate::cli::options::GridOptions;

/// Registers the file of `--mark`. An `.stl` holds triangles, every other extension must be a voxel format
/// with labels.
pub(super) fn output_file(path: &Path, names: &Names) -> Result<OutputFile> {
    if files::has_extension(path, "stl") {
        return OutputFile::new(path, "the file of --mark").register(names);
    }
    let about = ("--mark", "the cells of the defects");
    let file = OutputFile::of_option(path, CellKind::Labels, about, Sidecar::Auto, names).map_err(
        |error| error.with_hint("--mark takes .stl for triangles, .vox or .npz for cells"),
    )?;
    file.check_kind()?;
    Ok(file)
}

pub(super) fn write(
    file: &OutputFile,
    mesh: &Mesh,
    checked: &MeshCheck,
    lattice: Option<&Lattice>,
    (grid, run): (&GridOptions, &Run),
) -> Result<Vec<Written>> {
    if file.format().is_none() {
        return Ok(vec![write_triangles(file, mesh, &checked.marked())?]);
    }
    let lattice = lattice.ok_or_else(|| Error::usage("there is no grid for the cells"))?;
    let labels = checked.cells(mesh, lattice, run)?;
    let about = Record {
        transform: grid.transform.entries(),
        ..Record::default()
    };
    file.save_cells(
        labels,
        &grid.placed(lattice)?,
        about,
        &SaveOptions::default(),
    )
}

/// Writes these triangles as binary STL. The normals are zero, which tells readers to compute them.
fn write_triangles(file: &OutputFile, mesh: &Mesh, numbers: &[u32]) -> Result<Written> {
    let mut marked = vec![];
    for number in numbers {
        marked.push(stl_io::Triangle {
            normal: stl_io::Normal::new([0.0; 3]),
            vertices: mesh.triangles()[*number as usize].map(stl_io::Vertex::new),
        });
    }
    let mut bytes = vec![];
    stl_io::write_stl(&mut bytes, marked.iter())
        .map_err(|error| Error::output(error.to_string()))?;
    file.save_bytes("stl", &bytes)
}
