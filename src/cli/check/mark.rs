//! The file of `--mark`: the triangles that have defects, or their cells.

use std::path::Path;

use voxelize::compare::check::MeshCheck;
use voxelize::format::{SaveOptions, Sidecar, Written};
use voxelize::grid::CellKind;
use voxelize::job::{Names, NewFile, OutFile};
use voxelize::{Error, Lattice, Mesh, Record, Result, Run};

use super::super::files;
use super::super::options::GridOptions;
use super::super::output::AuxOutput;

const OPTION: &str = "--mark";

/// Where the defects go.
pub(super) enum MarkOutput {
    /// Their triangles, as binary STL.
    Triangles(OutFile),
    /// Their cells, as labels.
    Cells(AuxOutput),
}

impl MarkOutput {
    pub(super) fn new(path: &Path, names: &Names) -> Result<Self> {
        if files::has_extension(path, "stl") {
            return names.writes(NewFile::named(path, "the file of --mark")).map(Self::Triangles);
        }
        let about = (OPTION, "the cells of the defects");
        let output = AuxOutput::new(path, CellKind::Labels, about, Sidecar::Auto, names)
            .map_err(|e| e.with_hint("--mark takes .stl for triangles, .vox or .npz for cells"))?;
        output.check_kind()?;
        Ok(Self::Cells(output))
    }

    pub(super) fn is_cells(&self) -> bool {
        matches!(self, Self::Cells(_))
    }

    /// Makes sure that the file can hold the cells of `lattice`.
    pub(super) fn check_lattice(&self, lattice: &Lattice) -> Result<()> {
        match self {
            Self::Triangles(_) => Ok(()),
            Self::Cells(output) => output.check_lattice(lattice),
        }
    }

    pub(super) fn write(
        &self,
        mesh: &Mesh,
        checked: &MeshCheck,
        lattice: Option<&Lattice>,
        (grid, run): (&GridOptions, &Run),
    ) -> Result<Vec<Written>> {
        match (self, lattice) {
            (Self::Triangles(file), _) => Ok(vec![triangles(file, mesh, &checked.marked())?]),
            (Self::Cells(output), Some(lattice)) => {
                let labels = checked.cells(mesh, lattice, run)?;
                let about = Record { transform: grid.transform.entries(), ..Record::default() };
                output.write(labels, &grid.placed(lattice)?, about, &SaveOptions::default())
            }
            (Self::Cells(_), None) => Err(Error::usage("no grid for the cells")),
        }
    }
}

/// Writes these triangles as binary STL, their normals missing: readers compute them.
fn triangles(file: &OutFile, mesh: &Mesh, numbers: &[u32]) -> Result<Written> {
    let triangle = |n: &u32| stl_io::Triangle {
        normal: stl_io::Normal::new([0.0; 3]),
        vertices: mesh.triangles()[*n as usize].map(stl_io::Vertex::new),
    };
    let marked: Vec<_> = numbers.iter().map(triangle).collect();
    file.save_bytes("stl", |mut out| stl_io::write_stl(&mut out, marked.iter()))
}
