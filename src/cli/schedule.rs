//! Many jobs within one number of threads and one limit of memory. Small jobs run side by side, large ones one after the
//! other with all threads and all of the memory.

use voxelize::{Result, par, tool};

use super::memory::Resources;

/// Bytes of a mesh from which a job gets all threads. For smaller ones threads wait for each other more than they help.
const LARGE: u64 = 16 << 20;

/// Resources of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Part of the memory: others run at the same time.
    Shared,
    /// All threads and all of the memory.
    Exclusive,
}

/// Runs every job and returns the results in order. `size` is the number of bytes of a job's mesh. `work` returns `None`
/// if its share of the memory is too small. The job then runs again alone.
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

/// Runs jobs one after the other, in one pool of all threads.
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
