//! Thread pools and ordered parallel maps. Only this module starts threads and uses rayon.
//!
//! Results never depend on the number of threads, because callers divide the work into independent items and
//! receive the results in the order of the items.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::error::{Error, Result};

/// Greatest number of threads in a pool. Thousands of threads would slow down the machine and gain nothing.
pub const MAX_THREADS: usize = 1024;

/// Returns the number of threads that the system offers to this process. A request of `0` threads means this
/// number.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Runs `work` in a new pool of `threads` threads, which its parallel loops use. 0 means all threads of the
/// system. If the caller is already in a pool of this size, runs `work` in the calling thread.
///
/// # Errors
/// Fails if more than [`MAX_THREADS`] threads are requested, or if the system cannot start them.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    if threads > MAX_THREADS {
        return Err(Error::usage(format!(
            "{threads} threads; the maximum is {MAX_THREADS}"
        )));
    }
    let threads = if threads == 0 {
        available_threads()
    } else {
        threads
    };
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == threads {
        return Ok(work());
    }
    let pool = new_pool(threads)?;
    let mut work = Some(work);
    let mut answer = None;
    install(&pool, &mut || answer = work.take().map(|work| work()));
    Ok(answer.expect("the work was done"))
}

/// Starts a pool. The function is not generic, for the reason given at [`for_each`].
fn new_pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .spawn_handler(|thread| start(move || thread.run()).map(drop))
        .build()
        .map_err(|e| no_threads(threads, &e))
}

/// Runs `work` in a pool. The function is not generic, for the reason given at [`for_each`].
fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// Address space, in bytes, that must be free before a thread is started: 2 MiB for its stack, and three
/// times as much for allocations during its start. With less, the system may still start the thread, but a
/// small allocation may then fail and end the process.
const ROOM: usize = 8 << 20;

fn has_room() -> io::Result<()> {
    let mut room = Vec::<u8>::new();
    let found = room.try_reserve_exact(ROOM);
    // `black_box` prevents the compiler from removing the allocation.
    std::hint::black_box(&room);
    found.map_err(|_| {
        io::Error::new(
            io::ErrorKind::OutOfMemory,
            "too little address space is left",
        )
    })
}

/// Starts a thread.
///
/// # Errors
/// Fails if the system cannot start the thread.
pub fn start<R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> io::Result<JoinHandle<R>> {
    has_room()?;
    Builder::new().spawn(work)
}

fn no_threads(threads: usize, reason: &dyn std::fmt::Display) -> Error {
    let what = if threads == 1 {
        "a thread".to_string()
    } else {
        format!("{threads} threads")
    };
    Error::too_large(format!("cannot start {what}: {reason}")).with_hint([
        "use fewer with `-j`",
        "`ulimit -u`, `ulimit -v` and containers limit them",
    ])
}

/// Threads outside of pools, for front ends.
pub mod workers {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::{Receiver, sync_channel};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread::Builder;

    use crate::error::Result;
    use crate::par::{has_room, no_threads, start, with_threads};

    /// Starts a detached thread, which is never joined.
    ///
    /// # Errors
    /// Fails if the system cannot start the thread.
    pub fn detached(work: impl FnOnce() + Send + 'static) -> Result<()> {
        start(work).map(drop).map_err(|e| no_threads(1, &e))
    }

    /// Runs `work` and passes items to `threads` separate threads. `work` calls its argument with each item,
    /// and one of the threads calls `take` with the item. Use it for items that wait more than they compute.
    /// Up to `threads` items are queued. If the queue is full, the sender blocks. If no thread could be
    /// started, the sender calls `take` itself. Returns after `take` has returned for all items.
    pub fn handed_on<T: Send, R>(
        threads: usize,
        take: impl Fn(T) + Sync,
        work: impl FnOnce(&(dyn Fn(T) + Sync)) -> R,
    ) -> R {
        std::thread::scope(|scope| {
            let (queue, next) = sync_channel::<T>(threads);
            let next = Arc::new(Mutex::new(next));
            let mut is_started = false;
            for _ in 0..threads {
                if has_room().is_err() {
                    continue;
                }
                let next = Arc::clone(&next);
                let take = &take;
                let worker = Builder::new().spawn_scoped(scope, move || {
                    while let Some(item) = received(&next) {
                        take(item);
                    }
                });
                is_started |= worker.is_ok();
            }
            drop(next);
            work(&|item| {
                if is_started {
                    // Sending fails if all threads panicked.
                    if let Err(unsent) = queue.send(item) {
                        take(unsent.0);
                    }
                } else {
                    take(item);
                }
            })
        })
    }

    /// Waits for the next item. `None` after the last item.
    fn received<T>(queue: &Mutex<Receiver<T>>) -> Option<T> {
        let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.recv().ok()
    }

    /// Calls `work` with every item, for up to `workers` items at the same time. Each call has its own pool
    /// of `threads` threads. Use it for work that scales better across items than within one item. Items are
    /// started in order, and the results are in the same order.
    ///
    /// # Errors
    /// Fails if the system cannot start all threads.
    pub fn side_by_side<T: Sync, R: Send>(
        items: &[T],
        workers: usize,
        threads: usize,
        work: impl Fn(&T) -> R + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let run_worker = || {
            let mut answers = vec![];
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(n) else {
                    return answers;
                };
                answers.push((n, work(item)));
            }
        };
        let mut answers = Vec::with_capacity(items.len());
        let mut failed = None;
        std::thread::scope(|scope| {
            let mut started = vec![];
            for _ in 0..workers {
                let worker = has_room().and_then(|()| {
                    Builder::new().spawn_scoped(scope, || with_threads(threads, run_worker))
                });
                started.push(worker.map_err(|e| no_threads(workers, &e)));
            }
            for worker in started {
                let part = match worker.map(|worker| worker.join()) {
                    Ok(Ok(part)) => part,
                    // A panic of a worker is resumed in the caller.
                    Ok(Err(panic)) => std::panic::resume_unwind(panic),
                    Err(error) => Err(error),
                };
                match part {
                    Ok(part) => answers.extend(part),
                    Err(error) => failed = Some(error),
                }
            }
        });
        // If some threads could not be started, the others may still have finished all items.
        if let Some(error) = failed
            && answers.len() < items.len()
        {
            return Err(error);
        }
        answers.sort_unstable_by_key(|(n, _)| *n);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}

/// Returns the number of threads in the current pool.
pub fn current_threads() -> usize {
    if rayon::current_thread_index().is_none() && is_forked() {
        1
    } else {
        rayon::current_num_threads()
    }
}

/// Reports whether this process was forked from a process that had already called this function, for parallel
/// work outside of pools. The threads for such work exist only in the parent process, so this process would
/// wait for them forever.
fn is_forked() -> bool {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let first = FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err_and(|first| first != process)
}

/// Calls `f` with every item, in parallel. Returns the results in the order of the items.
pub fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < 2 || current_threads() == 1 {
        return items.into_iter().map(f).collect();
    }
    let items: Vec<_> = items
        .into_iter()
        .map(|item| Mutex::new(Some(item)))
        .collect();
    map_range(0..items.len(), |n| f(taken(&items[n])))
}

/// Calls `f` with every number of the range, in parallel. Returns the results in the order of the numbers.
pub fn map_range<R: Send>(range: Range<usize>, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if range.len() < 2 || current_threads() == 1 {
        return range.map(f).collect();
    }
    // A job covers many numbers, because starting a job may take longer than a call of `f`.
    let piece = range.len().div_ceil(PIECES * current_threads());
    let pieces: Vec<Range<usize>> = range
        .clone()
        .step_by(piece)
        .map(|start| start..range.end.min(start + piece))
        .collect();
    let answers: Vec<_> = pieces.iter().map(|_| Mutex::new(None)).collect();
    for_each(pieces.len(), &|n| {
        let answer: Vec<R> = pieces[n].clone().map(&f).collect();
        *answers[n].lock().unwrap_or_else(PoisonError::into_inner) = Some(answer);
    });
    let mut all = Vec::with_capacity(range.len());
    answers.iter().for_each(|answer| all.extend(taken(answer)));
    all
}

/// Number of pieces of a range per thread. With small pieces, threads wait less for each other at the end.
const PIECES: usize = 64;

/// Calls `work` with each number below `count`, in parallel. The function is not generic, because the
/// compiler would otherwise instantiate rayon's code for every closure type.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// Takes the value out of a mutex.
///
/// # Panics
/// Panics if the value was already taken.
fn taken<T>(place: &Mutex<Option<T>>) -> T {
    place
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
        .expect("it is taken once")
}

/// Distributes `items` among threads. Calls `work` once per thread of the pool, with an iterator over items.
/// Each item is given to only one call. A call first gets consecutive items, and then items that are left
/// over from other calls. The results are in no particular order.
pub fn share<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&mut dyn Iterator<Item = &T>) -> R + Sync,
) -> Vec<R> {
    let threads = current_threads().min(items.len()).max(1);
    let parts: Vec<_> = items.chunks(items.len().div_ceil(threads).max(1)).collect();
    let taken: Vec<_> = parts.iter().map(|_| AtomicUsize::new(0)).collect();
    map_range(0..threads, |thread| {
        work(&mut std::iter::from_fn(|| {
            (0..parts.len()).find_map(|n| {
                let part = (thread + n) % parts.len();
                parts[part].get(taken[part].fetch_add(1, Ordering::Relaxed))
            })
        }))
    })
}

/// Receiver of progress reports, which can also cancel the work. The default methods do nothing, so `&()`
/// ignores all reports.
pub trait Progress: Sync {
    /// Starts a phase. The calls of [`advance`](Self::advance) during the phase add up to `total`.
    fn begin(&self, _phase: &str, _total: u64) {}

    /// Advances the phase by `by`. This method is called a few hundred times per phase, from any thread.
    fn advance(&self, _by: u64) {}

    /// Reports whether the work should stop. This method is called about as often as `advance`.
    fn cancelled(&self) -> bool {
        false
    }

    /// Returns an error if the work is cancelled, so that callers can stop with `?`.
    ///
    /// # Errors
    /// Fails if the work is cancelled.
    fn check(&self) -> Result<()> {
        if self.cancelled() {
            Err(Error::interrupted())
        } else {
            Ok(())
        }
    }
}

impl Progress for () {}

/// Token with which one thread can cancel the work of another. All clones of a token are cancelled together.
///
/// ```
/// # use voxelize_core as voxelize;
/// use voxelize::CancelToken;
///
/// let cancel = CancelToken::new();
/// let other = cancel.clone();
/// other.cancel();
/// assert!(cancel.is_cancelled());
/// ```
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the work that uses this token. The work stops soon, with an error of kind `Interrupted`.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Reports whether the token was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
