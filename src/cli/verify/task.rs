//! Making the grids of many cases: side by side, as the command makes each of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use voxelize::compare::Gate;
use voxelize::format::Existing;
use voxelize::grid::Hash;
use voxelize::job::{InFile, MemoryLimit, Names, NewFile, OutFile, Target, findings};
use voxelize::run::Plan as Strategy;
use voxelize::{Code, Digest, Error, Finding, Kind, Lattice, Progress, Result, Voxels, format, tool, view};

use super::super::args::{PowerArgs, ReadArgs};
use super::super::command::Call;
use super::super::files::MeshSource;
use super::super::guard::guarded;
use super::super::memory::Resources;
use super::super::options::{Job, JobOptions};
use super::super::progress::Bar;
use super::super::report::Verbosity;
use super::super::run::{self, RunReport};
use super::super::schedule::{self, Slot};
use super::super::signals::Signals;
use super::super::suggest;
use super::case::{self, CaseArgs};

/// One case to be made.
pub struct Task {
    /// Its name.
    pub title: String,
    /// The name of files about it, without an extension; another for each.
    pub stem: String,
    /// The mesh as its list writes it.
    pub mesh: String,
    /// The mesh to read.
    pub file: PathBuf,
    /// The folder that the options are relative to.
    pub folder: PathBuf,
    /// The options that decide its cells.
    pub options: String,
    /// The grid file, if it is not that of the options: their text may not hold its name.
    pub like: Option<PathBuf>,
    /// The expected result.
    pub wanted: Wanted,
    /// The file that its cells are to be kept in, if it is recorded so.
    pub keep: Option<OutFile>,
    /// The files that show a difference, where these are requested.
    pub pictures: Option<Pictures>,
    /// How much may differ.
    pub gate: Gate,
    /// The file that names the case, and the line; 0 if it is not there yet.
    pub place: (String, u64),
    /// The line of its options.
    pub options_line: u64,
}

/// The expected result of a case.
pub enum Wanted {
    /// This digest and count.
    Digest(Hash, u64),
    /// The cells of this file.
    File(InFile),
    /// Nothing is known yet.
    Nothing,
}

/// The files that show how a case differs.
pub struct Pictures {
    pub vox: OutFile,
    pub png: OutFile,
}

impl Pictures {
    /// The files `NAME.vox` and `NAME.png` in `folder`.
    pub fn new(folder: &Path, name: &str, names: &Names) -> Result<Self> {
        let new = |extension: &str, is_ours: fn(&Path) -> bool| {
            let path = folder.join(format!("{name}.{extension}"));
            const HINT: &str = "--pictures DIR names another folder";
            let new = NewFile::named(&path, "a picture").hint(HINT).in_made_folder();
            let file = names.writes(new.existing(Existing::ReplaceIf(is_ours), HINT))?;
            file.check().map(|()| file)
        };
        Ok(Self { vox: new("vox", tool::made_by_this_tool)?, png: new("png", view::made_by_this_tool)? })
    }
}

impl Task {
    /// The job for it; looks at files but changes none.
    fn job(&self, names: &Names) -> Result<Job> {
        let (mut args, argv) = CaseArgs::parse(&self.options)?;
        let like = args.grid.like.map(|file| case::resolve(&self.folder, &file.to_string_lossy()));
        args.grid.like = self.like.clone().or(like);
        let resources = Resources::new(&PowerArgs::default(), None)?;
        let options = JobOptions::new(args.grid, &args.rule, &ReadArgs::default(), resources, &argv, names)?;
        let options =
            JobOptions { has_findings: true, ..options.for_meshes([self.file.as_path()].into_iter())? };
        let source = MeshSource::find(&self.file, names).map_err(|e| match e.code() {
            // Not from a command line, where standard input may have been meant.
            Code::NotFound => suggest::no_such_file(&self.file),
            _ => e,
        })?;
        Ok(Job { source, options })
    }

    /// Refuses options that can make no grid, and files that the run writes, before anything runs. That the mesh is
    /// missing is found when its turn comes.
    pub fn check(&self, names: &Names) -> Result<()> {
        match self.job(names) {
            Err(error) if error.kind() == Kind::Usage => Err(error),
            _ => Ok(()),
        }
    }

    /// The bytes of the mesh; `None` if unknown.
    fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len())
    }

    /// How many grids it holds at a time: a golden file is one more.
    fn grids(&self) -> usize {
        if matches!(self.wanted, Wanted::File(_)) { 2 } else { 1 }
    }

    /// The grid, made as the conversion makes it.
    fn make(&self, resources: &Resources, slot: Slot, signals: &Signals, names: &Names) -> Result<CaseCells> {
        let resources = Resources { memory: resources.memory.divided(self.grids()), ..resources.clone() };
        let Job { source, options } = self.job(names)?;
        let mut job = Job { source, options: JobOptions { resources, ..options } };
        let room = job.options.resources.for_job();
        let bar = Bar::new(Verbosity::Quiet, signals.clone());
        let mut report = RunReport::new(Instant::now());
        match run::voxels(&mut job, &bar, signals, &mut report) {
            Ok((voxels, digest)) => {
                let cells = voxels.count();
                let findings = report.warnings;
                Ok(CaseCells { cells, digest, voxels: Some(voxels), room, findings })
            }
            Err(refusal) if refusal.kind() == Kind::TooLarge && slot == Slot::Exclusive => {
                match self.wanted {
                    Wanted::File(_) => {
                        let half = format!("{}, of which half is for the golden file", refusal.message());
                        Err(Error::too_large(half).with_hint(refusal.hint().cloned().unwrap_or_default()))
                    }
                    _ if self.keep.is_some() => Err(refusal),
                    Wanted::Digest(..) | Wanted::Nothing => in_slabs(&mut job, &bar, signals, refusal),
                }
            }
            Err(error) => Err(error),
        }
    }
}

/// The count and the digest of a grid beyond --max-memory; else the refusal.
fn in_slabs(job: &mut Job, bar: &Bar, signals: &Signals, refusal: Error) -> Result<CaseCells> {
    let is_limited = matches!(job.options.resources.memory, MemoryLimit::Requested(_));
    let Some(format) = format::by_name("raw").filter(|_| is_limited) else { return Err(refusal) };
    let mut report = RunReport::new(Instant::now());
    let mesh = run::read(job, bar, signals, &mut report)?;
    let job = &*job;
    let run = run::library_run(&job.options, bar);
    let lattice = run::fit(job, &mesh, &mut report)?;
    // A format whose slabs have any height.
    let target = Target { format, path: None, dtype: None, choices: &[] };
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
    Ok(CaseCells { cells: result.occupied, digest: result.digest, voxels: None, room: None, findings })
}

/// The result of a case.
pub struct CaseCells {
    /// The occupied cells.
    pub cells: u64,
    pub digest: Digest,
    /// The grid, unless it was too large to be held.
    pub voxels: Option<Voxels>,
    /// The most bytes that the cells of a golden file may take.
    pub room: Option<u64>,
    /// Warnings and notes about the mesh and its cells.
    pub findings: Vec<Finding>,
}

impl CaseCells {
    /// Where the cells are, of a grid that is held.
    pub fn lattice(&self) -> Option<Lattice> {
        self.voxels.as_ref()?.lattice.clone()
    }
}

/// Makes the grid of every task and hands it to `judge`, with how long it took; the answers are in
/// the order of the tasks. Small ones are made side by side.
pub fn each<R: Send>(
    tasks: &[Task],
    resources: &Resources,
    call: &Call,
    bar: &Bar,
    judge: impl Fn(&Task, Result<CaseCells>, Duration) -> R + Sync,
) -> Result<Vec<R>> {
    bar.begin("cases", tasks.len() as u64);
    let answers = schedule::each(tasks, resources, Task::size, |task, resources, slot| {
        if let Err(error) = bar.check() {
            return Some(Err(error));
        }
        let started = Instant::now();
        match guarded(|| task.make(resources, slot, call.signals, &call.names)) {
            Err(error) if error.kind() == Kind::Interrupted => Some(Err(error)),
            Err(error) if error.kind() == Kind::TooLarge && slot == Slot::Shared => None,
            made => {
                let judged = judge(task, made, started.elapsed());
                bar.advance(1);
                Some(Ok(judged))
            }
        }
    });
    bar.clear();
    bar.check()?;
    answers?.into_iter().collect()
}
