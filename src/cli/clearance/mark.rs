//! Writes the file of `--mark`: all cells that the meshes touch, labelled by whether two meshes meet there or
//! are closest there.

use voxelize::compare::clearance::{Clearance, cells};
use voxelize::format::{SaveOptions, Sidecar, Written};
use voxelize::grid::{CellKind, Fit};
use voxelize::job::{Transform, UnitOfLength};
use voxelize::{Bounds, Error, Mesh, Record, Result, Run};

use super::ClearanceArgs;
use super::meshes::MemoryLeft;
use crate::cli::command::Call;
use crate::cli::files;
use crate::cli::memory::Resources;
use crate::cli::names::OutputFile;
use crate::cli::progress::Bar;

/// Default number of cells along the longest axis of all meshes.
const RES: usize = 256;

/// Output file of the cells, and the number of cells along the longest axis.
pub struct ContactMark {
    file: OutputFile,
    res: usize,
}

impl ContactMark {
    pub fn new(args: &ClearanceArgs, call: &Call) -> Result<Option<Self>> {
        let Some(path) = &args.mark else {
            if args.res.is_some() {
                return Err(
                    Error::usage("--res: nothing is voxelized").with_hint("--mark FILE takes it")
                );
            }
            return Ok(None);
        };
        let about = ("--mark", "the cells of the contact");
        let file =
            OutputFile::of_option(path, CellKind::Labels, about, Sidecar::Auto, &call.names)?;
        if files::has_extension(path, "stl") {
            let error = Error::usage("--mark: .stl cannot store labels").in_file(path);
            return Err(error.with_hint("--mark takes .vox, .npz or another format with labels"));
        }
        file.check_kind()?;
        Ok(Some(Self {
            file,
            res: args.res.unwrap_or(RES),
        }))
    }

    pub fn write(
        &self,
        meshes: &[&Mesh],
        pairs: &[([usize; 2], Clearance)],
        unit: Option<UnitOfLength>,
        (resources, budget, bar): (&Resources, &MemoryLeft, &Bar),
    ) -> Result<Vec<Written>> {
        let all = meshes
            .iter()
            .fold(Bounds::EMPTY, |all, mesh| all.union(mesh.bounds()));
        let lattice = Fit::longest(self.res).to(&all)?;
        self.file.check_lattice(&lattice)?;
        let run = Run::default()
            .threads(resources.threads)
            .level(resources.level)
            .progress(bar);
        let need = cells::cell_bytes(meshes, &lattice, &run);
        budget.admit(u64::try_from(need).unwrap_or(u64::MAX))?;
        let labels = cells::cells(meshes, pairs, &lattice, &run)?;
        let transform = Transform {
            unit,
            ..Transform::default()
        };
        let about = Record {
            transform: transform.entries(),
            ..Record::default()
        };
        self.file
            .save_cells(labels, &lattice, about, &SaveOptions::default())
    }
}
