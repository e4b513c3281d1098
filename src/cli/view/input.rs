//! The input of a picture: the cells of a voxel file, or of a mesh that is voxelized, or the mesh itself.

use std::path::Path;
use std::time::Instant;

use clap::Args as _;
use serde_json::{Map, Value, json};
use voxelize::format;
use voxelize::view::Up;
use voxelize::{BitGrid, Cells, Code, Digest, Lattice, Mesh, Rational, Result, Voxels};

use super::super::args::{GridArgs, ReadArgs, RuleArgs};
use super::super::argv::exclusive;
use super::super::command::Call;
use super::super::contents;
use super::super::files::{self, MeshSource};
use super::super::memory::Resources;
use super::super::options::{Job, JobOptions};
use super::super::report::{Report, value};
use super::super::run::{self, RunReport, timed};
use super::ViewArgs;
use super::options::{PictureContent, PictureOptions};

/// The opened file and its properties.
pub struct ViewInput {
    /// The file, as messages call it.
    pub name: String,
    /// The mesh, where it is to be drawn.
    pub mesh: Option<Mesh>,
    /// The cells, where they are drawn.
    pub cells: Option<Cells>,
    /// The axis that points up, where a voxel file says it.
    pub up: Option<Up>,
    /// The unit of length, if known.
    pub unit: Option<String>,
    /// Findings of the reader.
    pub found: RunReport,
}

impl ViewInput {
    /// Opens the file; options for meshes are refused with a voxel file.
    pub fn open(args: ViewArgs, options: &PictureOptions, resources: Resources, call: &Call) -> Result<Self> {
        let found = RunReport::new(Instant::now());
        let name = args.file.display().to_string();
        let cells = RuleArgs::augment_args(GridArgs::augment_args(clap::Command::new("")));
        let unit = args.grid.transform.unit.map(|unit| unit.name.to_string());
        let mut input = Self { name, mesh: None, cells: None, up: None, unit, found };
        let extra_bytes = options.extra_bytes(&resources)?;
        let resources = Resources { extra_bytes, ..resources };
        let bar = call.bar();
        if matches!(options.content, PictureContent::Mesh) {
            refuse_given(call, cells, "--mesh", "the triangles are drawn as they are")?;
            let job = job(args, resources, call)?;
            input.mesh = Some(run::read(&job, &bar, call.signals, &mut input.found)?);
        } else if let Some(voxels) = input.voxel_file(&args.file, call)? {
            let mesh = ReadArgs::augment_args(cells);
            refuse_given(call, mesh, &input.name, "a voxel file has its own grid")?;
            input.take(voxels, None);
        } else {
            let job = job(args, resources, call)?;
            let (voxels, digest) = run::voxels(&job, &bar, call.signals, &mut input.found)?;
            input.take(voxels, Some(digest));
        }
        Ok(input)
    }

    /// The cells of a voxel file; `None` if content and name are not those of a voxel file.
    fn voxel_file(&mut self, path: &Path, call: &Call) -> Result<Option<Voxels>> {
        if path.as_os_str() == "-" {
            return Ok(None);
        }
        files::is_there(path)?;
        // A pipe cannot be looked into twice.
        if !files::is_pipe(path) && files::voxel_format(path).or(format::by_path(path)).is_none() {
            return Ok(None);
        }
        call.signals.listen()?;
        match timed(&mut self.found.times.read, || format::open(path)) {
            Err(error) if error.code() == Code::V001 && format::by_path(path).is_none() => Ok(None),
            read => read.map(Some),
        }
    }

    fn take(&mut self, voxels: Voxels, digest: Option<Digest>) {
        self.found.digest = Some(digest.unwrap_or_else(|| voxels.digest()));
        self.found.occupied = voxels.occupied().ok().map(BitGrid::count);
        self.up = (voxels.record.transform("up") == Some("y")).then_some(Up::Y);
        self.unit = voxels.record.transform("unit").map(str::to_string);
        self.found.lattice = voxels.lattice;
        self.cells = Some(voxels.cells);
    }

    /// Cells per axis.
    pub fn dims(&self) -> [usize; 3] {
        self.cells.as_ref().map(|cells| cells.as_ref().dims()).unwrap_or_default()
    }

    /// The size of a cell; cubes where nothing says it.
    pub fn spacing(&self) -> [f64; 3] {
        let size = |lattice: &Lattice| lattice.spacing().each_ref().map(Rational::to_f64);
        self.found.lattice.as_ref().map_or([1.0; 3], size)
    }

    /// Sets the keys about it.
    pub fn set(&self, report: &mut Report) {
        let mesh = self.found.mesh.as_ref();
        let (format, bytes) = (mesh.map(|mesh| mesh.format), mesh.map(|mesh| mesh.bytes));
        report.set("input", json!({"path": self.name, "format": format, "bytes": bytes}));
        if let Some(cells) = &self.cells {
            let spacing = self.found.lattice.as_ref().map(|_| self.spacing());
            report.set("grid", json!({"dims": self.dims(), "spacing": spacing}));
            let parts: Map<String, Value> = match cells {
                Cells::Bits(_) => [("surface".to_string(), json!(self.found.occupied))].into_iter().collect(),
                other => {
                    let labels = contents::labels(other.as_ref()).into_iter();
                    labels.map(|label| (label.name, json!(label.cells))).collect()
                }
            };
            report.set("counts", json!({"occupied": self.found.occupied, "parts": parts}));
        }
        report.set("digest", self.found.digest.as_ref().map(value::digest));
    }
}

/// The job that reads or voxelizes the mesh.
fn job(args: ViewArgs, resources: Resources, call: &Call) -> Result<Job> {
    let options = JobOptions::new(args.grid, &args.rule, &args.read, &args.run, call.argv)?
        .reported(&call.printer.options);
    let source = MeshSource::find(&args.file, &call.argv.commands)?;
    Ok(Job { source, options: JobOptions { resources, ..options } })
}

/// Refuses the options of `refused`, which say how a mesh is read or becomes cells.
fn refuse_given(call: &Call, refused: clap::Command, other: &str, hint: &str) -> Result<()> {
    let given = refused.get_arguments().find(|arg| call.given(arg.get_id().as_str()));
    match given.and_then(|arg| arg.get_long()).map(|long| call.argv.name(long)) {
        Some(option) => Err(exclusive(&option, other).with_hint(hint)),
        None => Ok(()),
    }
}
