//! Input of a picture: the cells of a voxel file, the cells of a voxelized mesh, or the mesh itself.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args as _;
use serde::Serialize;
use voxelize::job::{UpAxis, findings};
use voxelize::mesh::MeshColours;
use voxelize::view::{self, Shown, Up};
use voxelize::{BitGrid, Cells, Digest, Error, Lattice, Mesh, Rational, Result, Voxels};

use super::ViewArgs;
use super::options::{PictureContent, PictureOptions};
use crate::cli::args::{GridArgs, ReadArgs, RuleArgs};
use crate::cli::argv::exclusive;
use crate::cli::command::Call;
use crate::cli::contents;
use crate::cli::files;
use crate::cli::memory::Resources;
use crate::cli::names::InputFile;
use crate::cli::options::{Job, JobOptions};
use crate::cli::report::Object;
use crate::cli::run::{self, RunReport, timed};
use crate::cli::scene;

/// Input file that has been read, with its properties.
pub struct ViewInput {
    /// Name of the file in messages.
    pub name: String,
    /// The mesh, if its triangles are drawn.
    pub mesh: Option<Mesh>,
    /// The cells, if cells are drawn.
    pub cells: Option<Cells>,
    /// Cells of `--veil`.
    pub veil: Option<BitGrid>,
    /// Unit and transforms of the mesh, as in the summary of a run. Empty for a voxel file.
    pub placement: String,
    /// Axis that points up. `None` unless the file states that it is y.
    pub up: Option<Up>,
    /// Unit of length. `None` if it is unknown.
    pub unit: Option<String>,
    /// Rule that made the cells. `None` if it is unknown.
    pub rule: Option<String>,
    /// Findings about the mesh, and its lattice.
    pub found: RunReport,
}

/// Input of a picture that has not been read yet.
pub enum ViewSource {
    /// Voxel file, and the memory limit for its cells in bytes.
    Voxels(InputFile, Option<u64>),
    Mesh(Box<Job>),
}

impl ViewSource {
    /// Returns the memory limit for the cells in bytes. `None` for no limit.
    fn limit(&self) -> Option<u64> {
        match self {
            Self::Voxels(_, limit) => *limit,
            Self::Mesh(job) => job.options.resources.for_job(),
        }
    }

    /// Finds out from the content or the name of the file whether it is a mesh or a voxel file. For a voxel
    /// file, options about meshes are an error.
    pub fn new(args: &ViewArgs, resources: Resources, call: &Call) -> Result<Self> {
        let cells = RuleArgs::augment_args(GridArgs::augment_args(clap::Command::new("")));
        if args.picture.mesh {
            let hint = "the triangles are drawn as they are";
            refuse_given(call, cells, &["unit"], "--mesh", hint)?;
        } else if let Some(file) = voxel_file(args)? {
            let mesh = ReadArgs::augment_args(cells);
            refuse_given(
                call,
                mesh,
                &[],
                &file.display().to_string(),
                "a voxel file has its own grid",
            )?;
            let file = call.names.reads(&file, "the input")?;
            return Ok(Self::Voxels(file, resources.for_job()));
        }
        let options = JobOptions::new(call.argv.request()?, &args.read, resources, &call.names)?
            .reported(&call.printer.options);
        let file = args.file.as_slice();
        let source = scene::joined(file, args.scene.scene.as_deref(), &call.names)?;
        let options = options.for_meshes(source.paths())?;
        Ok(Self::Mesh(Box::new(Job { source, options })))
    }
}

/// Returns the voxel file that the arguments name. `None` for meshes.
fn voxel_file(args: &ViewArgs) -> Result<Option<PathBuf>> {
    let Some(given) = args.file.as_deref().filter(|file| file.as_os_str() != "-") else {
        return Ok(None);
    };
    let path = files::file_of(given);
    if path.as_os_str() == "-" {
        return Ok(None);
    }
    files::is_there(&path)?;
    // The content of a pipe is not examined, because a pipe can be read only once.
    let is_voxels = files::is_voxel_name(&path)
        || !files::is_pipe(&path) && files::voxel_format(&path).is_some();
    if is_voxels {
        files::refuse_pose(given)?;
    }
    Ok(is_voxels.then_some(path))
}

impl ViewInput {
    /// Reads the input. A mesh is voxelized unless its triangles are drawn.
    pub fn open(
        source: ViewSource,
        args: &ViewArgs,
        options: &PictureOptions,
        call: &Call,
    ) -> Result<Self> {
        let found = RunReport::new(Instant::now());
        let name = args.input().display().to_string();
        let unit = call
            .argv
            .request()?
            .unit
            .map(|unit| unit.name().to_string());
        let limit = source.limit();
        let mut input = Self {
            name,
            mesh: None,
            cells: None,
            veil: None,
            placement: String::new(),
            up: None,
            unit,
            rule: None,
            found,
        };
        let bar = call.bar();
        let veil = args
            .picture
            .veil
            .as_ref()
            .map(|path| call.names.reads(path, "the cells of --veil"));
        let veil = veil.transpose()?;
        call.check_files()?;
        match source {
            ViewSource::Mesh(mut job) if matches!(options.content, PictureContent::Mesh) => {
                job.options.draws_colours = true;
                let mesh = run::read(&mut job, &bar, call.signals, &mut input.found)?;
                let held = size_of_val(mesh.triangles()) as u64
                    + mesh.colours().map_or(0, MeshColours::bytes);
                let threads = job.options.resources.threads;
                let drawing = view::facets_bytes_for(&mesh, options.view.size, threads);
                job.options
                    .admit(held + drawing, "the mesh and its picture")?;
                let transform = &job.options.grid.transform;
                input.up = (transform.up == UpAxis::Y).then_some(Up::Y);
                input.unit = transform.unit.map(|unit| unit.name().to_string());
                input.placement = run::transform_text(transform, mesh.bounds());
                input
                    .found
                    .warnings
                    .extend(findings::not_subtracted(&mesh, "the picture"));
                input.mesh = Some(mesh);
            }
            ViewSource::Mesh(mut job) => {
                let (voxels, digest) = run::voxels(&mut job, &bar, call.signals, &mut input.found)?;
                input.take(voxels, Some(digest));
                if let Some(mesh) = &input.found.mesh {
                    let transform = &job.options.grid.transform;
                    input.placement = run::transform_text(transform, &mesh.bounds);
                }
            }
            ViewSource::Voxels(file, limit) => {
                call.signals.listen()?;
                let voxels = timed(&mut input.found.times.read, || {
                    files::open_within(&file, limit)
                })?;
                input.take(voxels, None);
            }
        }
        if let Some(file) = veil {
            input.veil = Some(input.around(&file, limit)?);
        }
        Ok(input)
    }

    /// Reads the cells of the file of `--veil`. They must be on the same grid.
    fn around(&self, file: &InputFile, limit: Option<u64>) -> Result<BitGrid> {
        // The cells are in memory twice, because the picture has a copy.
        let taken = 2 * BitGrid::bytes_for(self.dims());
        let left =
            limit.map(|limit| limit.saturating_sub(u64::try_from(taken).unwrap_or(u64::MAX)));
        let voxels = files::open_within(file, left)?;
        let is_elsewhere = match (&voxels.lattice, &self.found.lattice) {
            (Some(one), Some(other)) => one != other,
            _ => voxels.cells.as_ref().dims() != self.dims(),
        };
        if is_elsewhere {
            let error = Error::usage(format!("its grid differs from the grid of {}", self.name))
                .in_file(file.path());
            return Err(error.with_hint(
                "--veil takes a voxel file with the same grid, such as the output of the same run",
            ));
        }
        Ok(voxels.occupied()?.clone())
    }

    fn take(&mut self, voxels: Voxels, digest: Option<Digest>) {
        self.found.digest = Some(digest.unwrap_or_else(|| voxels.digest()));
        self.found.occupied = voxels.occupied().ok().map(BitGrid::count);
        self.up = (voxels.record.transform("up") == Some("y")).then_some(Up::Y);
        self.unit = voxels.record.transform("unit").map(str::to_string);
        self.rule = voxels.record.rule_name;
        self.found.lattice = voxels.lattice;
        self.cells = Some(voxels.cells);
    }

    /// Returns the number of cells per axis.
    pub fn dims(&self) -> [usize; 3] {
        self.cells
            .as_ref()
            .map(|cells| cells.as_ref().dims())
            .unwrap_or_default()
    }

    /// Returns the size of a cell. It is 1 if the position of the cells is unknown.
    pub fn spacing(&self) -> [f64; 3] {
        let size = |lattice: &Lattice| lattice.spacing().each_ref().map(Rational::to_f64);
        self.found.lattice.as_ref().map_or([1.0; 3], size)
    }

    /// Returns the cells with the colours that suit their rule.
    pub fn shown<'a>(&'a self, cells: &'a Cells) -> Shown<'a> {
        let rule = self.rule.as_deref();
        // Other fields are shares or areas.
        let unit = self.unit.as_deref().filter(|_| rule == Some("distance"));
        Shown::by_rule(cells, rule).with_unit(unit)
    }

    pub fn grid_size(&self) -> Option<GridSize> {
        self.cells.as_ref()?;
        let spacing = self.found.lattice.as_ref().map(|_| self.spacing());
        Some(GridSize {
            dims: self.dims(),
            spacing,
        })
    }

    pub fn counts(&self) -> Option<LabelCells> {
        let occupied = self.found.occupied;
        let mut labels = Object::new();
        match self.cells.as_ref()? {
            Cells::Bits(_) => drop(labels.insert("surface".to_string(), occupied.into())),
            cells => {
                let entries = contents::labels(cells.as_ref()).into_iter();
                labels.extend(entries.map(|entry| (entry.name, entry.cells.into())));
            }
        }
        Some(LabelCells { occupied, labels })
    }
}

#[derive(Serialize)]
pub struct GridSize {
    dims: [usize; 3],
    spacing: Option<[f64; 3]>,
}

/// Number of occupied cells, and number of cells for each label.
#[derive(Serialize)]
pub struct LabelCells {
    occupied: Option<u64>,
    labels: Object,
}

/// Fails if an option of `refused` was given, except those in `allowed`. These options decide how a mesh is
/// read or voxelized.
fn refuse_given(
    call: &Call,
    refused: clap::Command,
    allowed: &[&str],
    other: &str,
    hint: &str,
) -> Result<()> {
    let given = refused.get_arguments().find(|arg| {
        let id = arg.get_id().as_str();
        call.given(id) && !allowed.contains(&id)
    });
    match given
        .and_then(|arg| arg.get_long())
        .map(|long| format!("--{long}"))
    {
        Some(option) => Err(exclusive(&option, other).with_hint(hint)),
        None => Ok(()),
    }
}
