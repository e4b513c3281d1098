//! Making the grids of many cases: side by side, as the command makes each of them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use voxelize::compare::Gate;
use voxelize::grid::Hash;
use voxelize::{Digest, Error, Kind, Progress, Result, Voxels, par};

use super::super::args::{PowerArgs, RunArgs};
use super::super::bar::Bar;
use super::super::facts::Facts;
use super::super::job::{How, Job};
use super::super::make;
use super::super::plan::Voice;
use super::super::signals::Signals;
use super::options::CaseArgs;

/// One case to be made.
pub struct Task {
    /// What it is called.
    pub title: String,
    /// The mesh as its list writes it.
    pub mesh: String,
    /// The mesh to read.
    pub file: PathBuf,
    /// The options that decide its cells.
    pub options: String,
    /// What should come out.
    pub wanted: Wanted,
    /// How much may differ.
    pub gate: Gate,
    /// The file that names the case, and the line.
    pub place: (String, u64),
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
        let (args, typed) = CaseArgs::parse(&self.options)?;
        let power = PowerArgs { threads: None, simd: None };
        let run = RunArgs { power, max_memory: None };
        Job::new(Some(self.file.clone()), args.grid, &args.rule, &run, &typed)
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

    fn make(&self, how: How, signals: &Signals) -> Result<(Voxels, Digest)> {
        let job = Job { how, ..self.job()? };
        let bar = Bar::new(Voice::Quiet, signals.clone());
        make::voxels(&job, &bar, signals, &mut Facts::new(Instant::now()))
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
    judge: impl Fn(&Task, Result<(Voxels, Digest)>, Duration) -> R + Sync,
) -> Result<Vec<R>> {
    let numbered: Vec<_> = tasks.iter().enumerate().collect();
    let side = how.threads.min(tasks.len()).max(1);
    bar.begin("cases", tasks.len() as u64);
    let try_one = |task: &Task, parts: usize| {
        bar.check()?;
        let started = Instant::now();
        let how = How { memory: how.memory.share(parts * task.grids()), ..how.clone() };
        match task.make(how, signals) {
            Err(error) if error.kind() == Kind::Interrupted => Err(error),
            Err(error) if error.kind() == Kind::TooLarge && parts > 1 => Ok(None),
            made => {
                let judged = judge(task, made, started.elapsed());
                bar.advance(1);
                Ok(Some(judged))
            }
        }
    };
    let shared =
        par::share(&numbered, |mine| mine.map(|(n, task)| (*n, try_one(task, side))).collect::<Vec<_>>());
    let mut answers: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
    for (n, answer) in shared.into_iter().flatten() {
        answers[n] = answer?;
    }
    for (task, answer) in tasks.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
        *answer = try_one(task, 1)?;
    }
    bar.clear();
    bar.check()?;
    answers.into_iter().collect::<Option<Vec<_>>>().ok_or_else(Error::interrupted)
}
