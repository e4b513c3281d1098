//! Many jobs within one number of threads and one limit of memory: small ones side by side, large ones
//! one after the other with all of both.

use voxelize::{Result, par, tool};

use super::memory::Resources;

/// Meshes of at least so many bytes get all threads: below, these wait for each other more than they help.
const LARGE: u64 = 16 << 20;

/// How a job runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Beside others, with a part of the memory.
    Shared,
    /// With all there is.
    Exclusive,
}

/// Runs every job and returns the results in order. `size` is the bytes of a job's mesh. `work`
/// answers `None` if its share of the memory is too small: then it is run again alone, which must be answered.
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
    let left = small.into_iter().filter(|&n| answers[n].is_none()).collect();
    alone(jobs, left, resources, &mut answers, &work)?;
    Ok(answers.into_iter().flatten().collect())
}

/// One after the other, in one pool of all threads.
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
