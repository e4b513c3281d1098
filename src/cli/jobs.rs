//! Many jobs within one number of threads and one limit of memory: small ones side by side, large ones
//! one after the other with all of both.

use voxelize::{Result, par};

use super::job::How;
use super::room;

/// Meshes of at least so many bytes get all threads: below, these wait for each other more than they help.
const LARGE: u64 = 16 << 20;

/// How a job has its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// Beside others, with a part of the memory.
    Shared,
    /// With all there is.
    Alone,
}

/// Does every job and gives what came of them, in their order. `size` is the bytes of a job's mesh. `work`
/// is told how, and answers `None` if its part of the memory is too small: then it has another turn,
/// alone, which must be answered.
///
/// # Errors
/// If the system cannot start the threads.
pub fn each<T: Sync, R: Send>(
    jobs: &[T],
    how: &How,
    size: impl Fn(&T) -> u64,
    work: impl Fn(&T, &How, Turn) -> Option<R> + Sync,
) -> Result<Vec<R>> {
    let mut answers: Vec<Option<R>> = jobs.iter().map(|_| None).collect();
    let (large, small): (Vec<_>, Vec<_>) = (0..jobs.len()).partition(|&n| size(&jobs[n]) >= LARGE);
    alone(jobs, large, how, &mut answers, &work)?;
    let side = how.threads.min(small.len());
    if side > 1 {
        let threads = how.threads / side;
        let shared = How { threads, memory: room::part(how, side), ..how.clone() };
        let done = par::side_by_side(&small, side, threads, |&n| work(&jobs[n], &shared, Turn::Shared))?;
        for (n, answer) in small.iter().zip(done) {
            answers[*n] = answer;
        }
    }
    let left = small.into_iter().filter(|&n| answers[n].is_none()).collect();
    alone(jobs, left, how, &mut answers, &work)?;
    Ok(answers.into_iter().flatten().collect())
}

/// One after the other, in one pool of all threads.
fn alone<T: Sync, R: Send>(
    jobs: &[T],
    which: Vec<usize>,
    how: &How,
    answers: &mut [Option<R>],
    work: &(impl Fn(&T, &How, Turn) -> Option<R> + Sync),
) -> Result<()> {
    if which.is_empty() {
        return Ok(());
    }
    par::with_threads(how.threads, || {
        for n in which {
            answers[n] = work(&jobs[n], how, Turn::Alone);
        }
    })
}
