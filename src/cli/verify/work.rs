//! Making the grids of many cases: side by side, as the command makes each of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use voxelize::compare::Gate;
use voxelize::grid::{Hash, Layers};
use voxelize::run::{Demand, Plan};
use voxelize::{Digest, Error, Kind, Lattice, Progress, Result, Voxels, par};

use super::super::args::{PowerArgs, RunArgs};
use super::super::bar::Bar;
use super::super::facts::Facts;
use super::super::job::{How, Job, Limit};
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
        let job = Job::new(Some(self.file.clone()), args.grid, &args.rule, &run, &typed);
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

    /// How many grids it holds at a time: a golden file is one more.
    fn grids(&self) -> usize {
        if matches!(self.wanted, Wanted::File(_)) { 2 } else { 1 }
    }

    /// The grid, made as the command makes it; `room` says in what part of the memory.
    fn make(&self, how: &How, room: Share, signals: &Signals) -> Result<Made> {
        let parts = room.parts() * self.grids();
        let how = How { memory: how.memory.share(parts), ..how.clone() };
        let job = Job { how, ..self.job()? };
        let (bar, mut facts) = (Bar::new(Voice::Quiet, signals.clone()), Facts::new(Instant::now()));
        match make::voxels(&job, &bar, signals, &mut facts) {
            Ok((voxels, digest)) => Ok(Made { cells: voxels.count(), digest, voxels: Some(voxels) }),
            Err(refusal) if refusal.kind() == Kind::TooLarge && room == Share::All => match self.wanted {
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
        let Some(Plan::Slabs(height)) = Demand::new(&mesh, &lattice, &run).fit(limit.into(), 1) else {
            return Err(refusal);
        };
        let mut slabs = voxelize::voxelize_slabs(&mesh, &lattice, job.what, height, &run)?;
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

/// The part of the memory that a case may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// One of so many equal parts.
    OneOf(usize),
    /// All of it.
    All,
}

impl Share {
    fn parts(self) -> usize {
        match self {
            Self::OneOf(parts) => parts,
            Self::All => 1,
        }
    }
}

/// Makes the grid of every task and hands it to `judge`, with how long it took; the answers are in
/// the order of the tasks. To be called in the pool of threads that is to do it.
///
/// Tasks run side by side, each within an equal share of the memory. One that does not fit there
/// runs when the others are done, with all of it.
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
    let numbered: Vec<_> = tasks.iter().enumerate().collect();
    let side = how.threads.min(tasks.len()).max(1);
    bar.begin("cases", tasks.len() as u64);
    let first = if side > 1 { Share::OneOf(side) } else { Share::All };
    let try_one = |task: &Task, room: Share| {
        bar.check()?;
        let started = Instant::now();
        match task.make(how, room, signals) {
            Err(error) if error.kind() == Kind::Interrupted => Err(error),
            Err(error) if error.kind() == Kind::TooLarge && room != Share::All => Ok(None),
            made => {
                let judged = judge(task, made, started.elapsed());
                bar.advance(1);
                Ok(Some(judged))
            }
        }
    };
    let shared =
        par::share(&numbered, |mine| mine.map(|(n, task)| (*n, try_one(task, first))).collect::<Vec<_>>());
    let mut answers: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    for (n, answer) in shared.into_iter().flatten() {
        answers[n] = answer?;
    }
    for (task, answer) in tasks.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
        *answer = try_one(task, Share::All)?;
    }
    bar.clear();
    bar.check()?;
    answers.into_iter().collect::<Option<Vec<_>>>().ok_or_else(Error::interrupted)
}
