//! Making the grids of many cases: side by side, as the command makes each of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use voxelize::compare::Gate;
use voxelize::grid::{Hash, Layers};
use voxelize::run::{Demand, Plan};
use voxelize::{Digest, Error, Kind, Lattice, Progress, Result, Voxels};

use super::super::args::{PowerArgs, ReadArgs, RunArgs};
use super::super::bar::Bar;
use super::super::facts::Facts;
use super::super::job::{How, Job, Limit};
use super::super::jobs::{self, Turn};
use super::super::make;
use super::super::plan::Voice;
use super::super::signals::Signals;
use super::super::similar;
use super::options::CaseArgs;
use super::paths;

/// One case to be made.
pub struct Task {
    /// What it is called.
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
    /// What should come out.
    pub wanted: Wanted,
    /// The file that its cells are to be kept in, if it is recorded so.
    pub keep: Option<PathBuf>,
    /// How much may differ.
    pub gate: Gate,
    /// The file that names the case, and the line; 0 if it is not there yet.
    pub place: (String, u64),
    /// The line of its options.
    pub options_line: u64,
}

/// What should come out of a case.
pub enum Wanted {
    /// This digest and count.
    Digest(Hash, u64),
    /// The cells of this file.
    File(PathBuf),
    /// Nothing is known yet.
    Nothing,
}

impl Task {
    /// The job for it; looks at files but changes none.
    ///
    /// # Errors
    /// If the options make no sense together, or the mesh is missing.
    pub fn job(&self) -> Result<Job> {
        let (mut args, typed) = CaseArgs::parse(&self.options)?;
        args.grid.like = args.grid.like.map(|file| paths::resolve(&self.folder, &file.to_string_lossy()));
        let power = PowerArgs { threads: None, simd: None };
        let run = RunArgs { power, max_memory: None };
        let job =
            Job::new(Some(self.file.clone()), args.grid, &args.rule, &ReadArgs::default(), &run, &typed);
        // It is no word of a command line, where a verb or standard input may have been meant.
        let is_missing = |e: &Error| e.code() == "not-found" && e.file() == self.file.to_str();
        job.map_err(|e| if is_missing(&e) { similar::no_such_file(&self.file) } else { e })
    }

    /// Refuses options that can make no grid, before anything runs. That the mesh is missing is
    /// found when its turn comes.
    ///
    /// # Errors
    /// If the options are at fault.
    pub fn check(&self) -> Result<()> {
        match self.job() {
            Err(error) if error.kind() == Kind::Usage => Err(error),
            _ => Ok(()),
        }
    }

    /// The bytes of the mesh; none if that cannot be said.
    fn size(&self) -> u64 {
        self.file.metadata().map_or(0, |found| found.len())
    }

    /// How many grids it holds at a time: a golden file is one more.
    fn grids(&self) -> usize {
        if matches!(self.wanted, Wanted::File(_)) { 2 } else { 1 }
    }

    /// The grid, made as the command makes it, in a turn that is had thus.
    fn make(&self, how: &How, turn: Turn, signals: &Signals) -> Result<Made> {
        let how = How { memory: how.memory.share(self.grids()), ..how.clone() };
        let job = Job { how, ..self.job()? };
        let (bar, mut facts) = (Bar::new(Voice::Quiet, signals.clone()), Facts::new(Instant::now()));
        match make::voxels(&job, &bar, signals, &mut facts) {
            Ok((voxels, digest)) => Ok(Made { cells: voxels.count(), digest, voxels: Some(voxels) }),
            Err(refusal) if refusal.kind() == Kind::TooLarge && turn == Turn::Alone => match self.wanted {
                Wanted::File(_) => {
                    let half = format!("{}, of which half is for the golden file", refusal.message());
                    Err(Error::too_large(half).with_hint(refusal.hint().unwrap_or_default()))
                }
                _ if self.keep.is_some() => Err(refusal),
                Wanted::Digest(..) | Wanted::Nothing => self.in_slabs(&job, &bar, signals, refusal),
            },
            Err(error) => Err(error),
        }
    }

    /// The count and the digest of a grid beyond --max-memory; else the refusal.
    fn in_slabs(&self, job: &Job, bar: &Bar, signals: &Signals, refusal: Error) -> Result<Made> {
        let run = make::run(job, bar);
        let (Some(limit), Limit::Asked(..)) = (run.max_memory, &job.how.memory) else {
            return Err(refusal);
        };
        let mut facts = Facts::new(Instant::now());
        let mesh = make::read(job, bar, signals, &mut facts)?;
        let lattice = make::fit(job, &mesh, &mut facts)?;
        let beside = job.rule.extra_bytes(&mesh, &lattice, &run);
        let demand = Demand::new(&mesh, &lattice, &run).with(beside);
        let Some(Plan::Slabs(height)) = demand.fit(limit.into(), 1) else {
            return Err(refusal);
        };
        let mut slabs = voxelize::voxelize_slabs(&mesh, &lattice, job.rule, height, &run)?;
        while slabs.next()?.is_some() {}
        Ok(Made { cells: slabs.made().occupied, digest: slabs.digest(), voxels: None })
    }
}

/// What came out of a case.
pub struct Made {
    /// The occupied cells.
    pub cells: u64,
    pub digest: Digest,
    /// The grid, unless it was too large to be held.
    pub voxels: Option<Voxels>,
}

impl Made {
    /// Where the cells are, of a grid that is held.
    pub fn lattice(&self) -> Option<Lattice> {
        self.voxels.as_ref()?.lattice.clone()
    }
}

/// Makes the grid of every task and hands it to `judge`, with how long it took; the answers are in
/// the order of the tasks. Small ones are made side by side.
///
/// # Errors
/// If it was interrupted.
pub fn each<R: Send>(
    tasks: &[Task],
    how: &How,
    signals: &Signals,
    bar: &Bar,
    judge: impl Fn(&Task, Result<Made>, Duration) -> R + Sync,
) -> Result<Vec<R>> {
    bar.begin("cases", tasks.len() as u64);
    let answers = jobs::each(tasks, how, Task::size, |task, how, turn| {
        if let Err(error) = bar.check() {
            return Some(Err(error));
        }
        let started = Instant::now();
        match task.make(how, turn, signals) {
            Err(error) if error.kind() == Kind::Interrupted => Some(Err(error)),
            Err(error) if error.kind() == Kind::TooLarge && turn == Turn::Shared => None,
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
