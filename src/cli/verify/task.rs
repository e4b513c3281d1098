//! Makes the grids of several cases in parallel, in the same way as a conversion does.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use voxelize::compare::{BoxSize, Case, Gate, Golden};
use voxelize::grid::Hash;
use voxelize::job::{MemoryLimit, Target, findings};
use voxelize::run::Plan as Strategy;
use voxelize::{
    Bounds, Code, Digest, Error, Finding, Kind, Lattice, Progress, Result, Voxels, format,
};

use super::case;
use crate::cli::args::{PowerArgs, ReadArgs};
use crate::cli::command::Call;
use crate::cli::files::{self, MeshSource};
use crate::cli::guard::guarded;
use crate::cli::memory::Resources;
use crate::cli::names::{InputFile, Names, OutputFile};
use crate::cli::options::{Job, JobOptions};
use crate::cli::progress::Bar;
use crate::cli::report::Verbosity;
use crate::cli::run::{self, RunReport};
use crate::cli::schedule::{self, Slot};
use crate::cli::signals::Signals;
use crate::cli::suggest;

/// A case, and the files and limits that it needs.
pub struct Task {
    pub case: Case,
    /// The list that the case comes from, or the voxel file that the mesh is compared with.
    pub list: PathBuf,
    /// Mesh to read.
    pub mesh: PathBuf,
    /// File of `--like` for a case that is not from a list. The options contain the path as text, in which
    /// bytes that are not UTF-8 are lost.
    pub like: Option<PathBuf>,
    /// Expected result.
    pub wanted: Wanted,
    /// Differences that the case may have.
    pub gate: Gate,
    /// For a case that is recorded with its cells: path of the cell file in the list, and the file itself.
    pub keep: Option<(String, OutputFile)>,
    /// Files for the differences: voxels and a picture. `None` unless they were requested.
    pub pictures: Option<[OutputFile; 2]>,
    /// A layer of the cells that differ is drawn with squares.
    pub has_squares: bool,
}

/// Expected result of a case.
pub enum Wanted {
    /// A digest and a number of cells.
    Digest(Hash, u64),
    /// The cells in a file.
    File(InputFile),
    /// No result is known.
    Nothing,
}

impl Task {
    /// Creates the task for a case in a list. If the golden is a file, the caller sets [`Task::wanted`].
    pub fn new(list: &Path, case: Case) -> Self {
        Self {
            mesh: case::resolve(case::folder_of(list), &case.mesh),
            list: list.to_path_buf(),
            like: None,
            wanted: match case.golden {
                Golden::Digest { grid, cells } => Wanted::Digest(grid, cells),
                _ => Wanted::Nothing,
            },
            gate: case.gate,
            keep: None,
            pictures: None,
            has_squares: false,
            case,
        }
    }

    /// Creates the job of the case. Looks at files but changes none.
    fn job(&self, names: &Names) -> Result<Job> {
        let mut request = case::request(&self.case.options)?;
        if let Some(file) = &request.like {
            let file = case::resolve(case::folder_of(&self.list), &file.to_string_lossy());
            request.like = Some(self.like.clone().unwrap_or(file));
        }
        let resources = Resources::new(&PowerArgs::default(), None)?;
        let options = JobOptions::new(request, &ReadArgs::default(), resources, names)?;
        let mut options = options.for_meshes([self.file()].iter().map(PathBuf::as_path))?;
        options.has_findings = true;
        let source = MeshSource::find(&self.mesh, names).map_err(|error| match error.code() {
            // Suggests similar file names only. In a list, `-` does not mean standard input, and words are
            // not commands.
            Code::NotFound => suggest::no_such_file(&self.file()),
            _ => error,
        })?;
        Ok(Job { source, options })
    }

    /// Fails if the options cannot make a grid, or if the run would overwrite a file that the case reads. A
    /// missing mesh is no error here.
    pub fn check(&self, names: &Names) -> Result<()> {
        match self.job(names) {
            Err(error) if error.kind() == Kind::Usage => Err(error),
            _ => Ok(()),
        }
    }

    /// Returns the size of the mesh file in bytes, or 0 if it is unknown.
    fn size(&self) -> u64 {
        self.file().metadata().map_or(0, |found| found.len())
    }

    /// Returns the file of the mesh, without its pose.
    pub fn file(&self) -> PathBuf {
        files::file_of(&self.mesh)
    }

    /// Returns how many grids are in memory at the same time. The golden file counts as one.
    fn grids(&self) -> usize {
        if matches!(self.wanted, Wanted::File(_)) {
            2
        } else {
            1
        }
    }

    /// Makes the grid in the same way as the conversion does. Sets the size of the mesh as soon as it is known.
    fn make(
        &self,
        resources: &Resources,
        slot: Slot,
        call: &Call,
        size: &mut Option<BoxSize>,
    ) -> Result<CaseCells> {
        let signals = call.signals;
        let mut job = self.job(&call.names)?;
        let memory = resources.memory.divided(self.grids());
        job.options.resources = Resources {
            memory,
            ..resources.clone()
        };
        let room = job.options.resources.for_job();
        let bar = Bar::new(Verbosity::Quiet, signals.clone());
        let mut report = RunReport::new(Instant::now());
        let made = run::voxels(&mut job, &bar, signals, &mut report);
        if let Some(mesh) = &report.mesh {
            let scale = job.options.grid.transform.coordinates().scale;
            *size = Some(mesh_size(&mesh.bounds, scale));
        }
        let refusal = match made {
            Ok((voxels, digest)) => {
                let cells = voxels.count();
                return Ok(CaseCells {
                    cells,
                    digest,
                    voxels: Some(voxels),
                    room,
                    findings: report.warnings,
                });
            }
            Err(error) if error.kind() == Kind::TooLarge && slot == Slot::Exclusive => error,
            Err(error) => return Err(error),
        };
        if let Wanted::File(_) = self.wanted {
            let half = format!("{}, half of it for the golden file", refusal.message());
            return Err(
                Error::too_large(half).with_hint(refusal.hint().cloned().unwrap_or_default())
            );
        }
        if self.keep.is_some() {
            return Err(refusal);
        }
        in_slabs(&mut job, &bar, signals, refusal)
    }
}

/// Returns the size of a mesh in the coordinates of the grid.
fn mesh_size(bounds: &Bounds, scale: f64) -> BoxSize {
    BoxSize {
        sides: std::array::from_fn(|axis| {
            scale * (f64::from(bounds.max[axis]) - f64::from(bounds.min[axis]))
        }),
        tolerance: 0.0,
    }
}

/// Makes a grid that exceeds `--max-memory` in slabs, and returns its count and digest without its cells. If
/// this is not possible either, returns the error `refusal`.
fn in_slabs(job: &mut Job, bar: &Bar, signals: &Signals, refusal: Error) -> Result<CaseCells> {
    let is_limited = matches!(job.options.resources.memory, MemoryLimit::Requested(_));
    let Some(format) = format::by_name("raw").filter(|_| is_limited) else {
        return Err(refusal);
    };
    let mut report = RunReport::new(Instant::now());
    let mesh = run::read(job, bar, signals, &mut report)?;
    let job = &*job;
    let run = run::library_run(&job.options, bar);
    let lattice = run::fit(job, &mesh, &mut report)?;
    // The slabs of this format may have any height.
    let target = Target {
        format,
        path: None,
        dtype: None,
        choices: &[],
    };
    let prepared = match run::voxelizer(&job.options, &run).prepare(&mesh, &lattice, Some(target)) {
        Ok(prepared) if matches!(prepared.memory.strategy, Strategy::Slabs(_)) => prepared,
        _ => return Err(refusal),
    };
    let ((), result) = prepared.run(
        |cells| {
            while cells.next()?.is_some() {}
            Ok(())
        },
        None,
    )?;
    let mut findings = report.warnings;
    findings::add(&mut findings, result.findings);
    Ok(CaseCells {
        cells: result.occupied,
        digest: result.digest,
        voxels: None,
        room: None,
        findings,
    })
}

/// Case whose grid was made, or could not be made.
pub struct MadeCase {
    pub cells: Result<CaseCells>,
    /// Size of the mesh in the coordinates of the grid. `None` if the mesh was not read.
    pub size: Option<BoxSize>,
    pub time: Duration,
}

/// Cells of a case.
pub struct CaseCells {
    /// Number of occupied cells.
    pub cells: u64,
    pub digest: Digest,
    /// The grid. `None` if it was made in slabs because it exceeds the memory limit.
    pub voxels: Option<Voxels>,
    /// Memory limit for the cells of the golden file, in bytes.
    pub room: Option<u64>,
    /// Findings about the mesh and its cells.
    pub findings: Vec<Finding>,
}

impl CaseCells {
    /// Returns the lattice of the grid. `None` if the grid is not in memory.
    pub fn lattice(&self) -> Option<Lattice> {
        self.voxels.as_ref()?.lattice.clone()
    }
}

/// Makes the grid of every task and calls `judge` with it. Returns the answers in the order of the tasks. Small
/// grids are made in parallel.
pub fn each<R: Send>(
    tasks: &[Task],
    resources: &Resources,
    call: &Call,
    bar: &Bar,
    judge: impl Fn(&Task, MadeCase) -> R + Sync,
) -> Result<Vec<R>> {
    bar.begin("cases", tasks.len() as u64);
    let answers = schedule::each(tasks, resources, Task::size, |task, resources, slot| {
        if let Err(error) = bar.check() {
            return Some(Err(error));
        }
        let started = Instant::now();
        let mut size = None;
        match guarded(|| task.make(resources, slot, call, &mut size)) {
            Err(error) if error.kind() == Kind::Interrupted => Some(Err(error)),
            Err(error) if error.kind() == Kind::TooLarge && slot == Slot::Shared => None,
            cells => {
                let made = MadeCase {
                    cells,
                    size,
                    time: started.elapsed(),
                };
                let judged = judge(task, made);
                bar.advance(1);
                Some(Ok(judged))
            }
        }
    });
    bar.clear();
    bar.check()?;
    answers?.into_iter().collect()
}
