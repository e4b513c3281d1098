//! Runs many jobs with a fixed number of threads and a fixed amount of memory. Small jobs run in parallel.
//! Large jobs run one after the other, each with all threads and all of the memory.

use voxelize::{Result, par, tool};

use super::memory::Resources;

/// A job whose mesh file has at least this many bytes gets all threads. In smaller jobs, threads would wait
/// for each other more than they help.
const LARGE: u64 = 16 << 20;

/// Resources that a job gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// A share of the memory, because other jobs run at the same time.
    Shared,
    /// All threads and all of the memory.
    Exclusive,
}

/// Runs all jobs and returns their results in the order of the jobs. `size` returns the size of a job's mesh
/// file in bytes. If `work` returns `None`, the job needs more than its share of the memory, and runs again
/// alone.
pub fn each<T: Sync, R: Send>(
    jobs: &[T],
    resources: &Resources,
    size: impl Fn(&T) -> u64,
    work: impl Fn(&T, &Resources, Slot) -> Option<R> + Sync,
) -> Result<Vec<R>> {
    let mut answers: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let (large, small): (Vec<_>, Vec<_>) = (0..jobs.len()).partition(|&n| size(&jobs[n]) >= LARGE);
    alone(jobs, large, resources, &mut answers, &work)?;
    let side = resources.threads.min(small.len());
    if side > 1 {
        let shared = resources.share(side);
        let work = |&n: &usize| work(&jobs[n], &shared, Slot::Shared);
        let done = tool::side_by_side(&small, side, shared.threads, work)?;
        for (n, answer) in small.iter().zip(done) {
            answers[*n] = answer;
        }
    }
    let left = small
        .into_iter()
        .filter(|&n| answers[n].is_none())
        .collect();
    alone(jobs, left, resources, &mut answers, &work)?;
    Ok(answers.into_iter().flatten().collect())
}

/// Runs the jobs with the indices `which` one after the other, in a pool of all threads.
fn alone<T: Sync, R: Send>(
    jobs: &[T],
    which: Vec<usize>,
    resources: &Resources,
    answers: &mut [Option<R>],
    work: &(impl Fn(&T, &Resources, Slot) -> Option<R> + Sync),
) -> Result<()> {
    if which.is_empty() {
        return Ok(());
    }
    par::with_threads(resources.threads, || {
        for n in which {
            answers[n] = work(&jobs[n], resources, Slot::Exclusive);
        }
    })
}
