//! The one place that starts threads and names rayon: a pool of a given size, and ordered parallel maps.
//!
//! Results never depend on the number of threads: callers hand out disjoint work and get the
//! answers back in the order of the work.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::error::{Error, Result, hint};

/// The most threads a pool may have: starting thousands stalls a machine and speeds up nothing.
pub const MAX_THREADS: usize = 1024;

/// The number of threads that `0` stands for: what the system offers this process.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

/// Runs `work` with `threads` threads (0: all) for every parallel loop inside it; in place, if it
/// already runs in a pool of as many.
///
/// # Errors
/// If that is above [`MAX_THREADS`], or the system cannot start them.
pub fn with_threads<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> Result<R> {
    if threads > MAX_THREADS {
        return Err(Error::usage(format!(
            "{threads} threads; the most is {MAX_THREADS}"
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

/// Starts a pool. Not generic, as [`for_each`] is not.
fn new_pool(threads: usize) -> Result<ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .spawn_handler(|thread| start(move || thread.run()).map(drop))
        .build()
        .map_err(|e| no_threads(threads, &e))
}

/// Does `work` in a pool. Not generic, as [`for_each`] is not.
fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// The address space that must be left to start a thread, in bytes: its stack of 2 MiB, and three times that for what
/// threads allocate while they start. Without it the system may still start the thread, but the first small
/// allocation that fails ends the process.
const ROOM: usize = 8 << 20;

fn has_room() -> io::Result<()> {
    let mut room = Vec::<u8>::new();
    let found = room.try_reserve_exact(ROOM);
    // Without this the allocation may be optimized away.
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
/// If the system cannot start it.
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
    Error::too_large(format!("cannot start {what}: {reason}")).with_hint(
        hint!["{} takes fewer" Threads; "`ulimit -u`, `ulimit -v` and containers limit them"],
    )
}

/// Threads beside the pool, for front ends.
pub mod workers {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::sync_channel;
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread::{Builder, ScopedJoinHandle};

    use crate::error::Result;
    use crate::par::{has_room, no_threads, start, with_threads};

    /// Starts a thread of its own, which nothing waits for.
    ///
    /// # Errors
    /// If the system cannot start it.
    pub fn detached(work: impl FnOnce() + Send + 'static) -> Result<()> {
        start(work).map(drop).map_err(|e| no_threads(1, &e))
    }

    /// Does `work`, which hands items on by its argument: as many threads of their own take them, each one item at a time, for
    /// work that waits more than it computes. If as many wait already, handing on waits, too; without a thread the item is
    /// taken at once. Ends when all are taken.
    pub fn handed_on<T: Send, R>(
        threads: usize,
        take: impl Fn(T) + Sync,
        work: impl FnOnce(&(dyn Fn(T) + Sync)) -> R,
    ) -> R {
        std::thread::scope(|scope| {
            let (queue, next) = sync_channel::<T>(threads);
            let next = Arc::new(Mutex::new(next));
            let start = |_| {
                let next = Arc::clone(&next);
                let take = &take;
                let one = move || {
                    next.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .recv()
                        .ok()
                };
                has_room()
                    .and_then(|()| {
                        Builder::new()
                            .spawn_scoped(scope, move || std::iter::from_fn(one).for_each(take))
                    })
                    .is_ok()
            };
            let is_started = (0..threads)
                .map(start)
                .filter(|is_started| *is_started)
                .count()
                > 0;
            drop(next);
            let hand_on = |item| match is_started {
                true => {
                    // Those that are left take what a panic ended.
                    if let Err(unsent) = queue.send(item) {
                        take(unsent.0);
                    }
                }
                false => take(item),
            };
            work(&hand_on)
        })
    }

    /// Calls `work` with every item, `workers` of them at a time, each in `threads` threads of its own: for
    /// work that is faster side by side than each with all threads. Items are begun in their order; the
    /// answers have that order, too.
    ///
    /// # Errors
    /// If the system cannot start so many threads.
    pub fn side_by_side<T: Sync, R: Send>(
        items: &[T],
        workers: usize,
        threads: usize,
        work: impl Fn(&T) -> R + Sync,
    ) -> Result<Vec<R>> {
        let next = AtomicUsize::new(0);
        let worker = || {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|n| *n < items.len());
            let mine = || {
                std::iter::from_fn(take)
                    .map(|n| (n, work(&items[n])))
                    .collect::<Vec<_>>()
            };
            with_threads(threads, mine)
        };
        let done: Vec<Result<Vec<(usize, R)>>> = std::thread::scope(|scope| {
            let start = |_| has_room().and_then(|()| Builder::new().spawn_scoped(scope, worker));
            let started: Vec<_> = (0..workers).map(start).collect();
            // A panic goes on in the caller of the work.
            let ended = |worker: ScopedJoinHandle<'_, _>| {
                worker
                    .join()
                    .unwrap_or_else(|e| std::panic::resume_unwind(e))
            };
            started
                .into_iter()
                .map(|worker| worker.map_err(|e| no_threads(workers, &e)).and_then(ended))
                .collect()
        });
        let mut answers = Vec::with_capacity(items.len());
        let mut failed = None;
        for part in done {
            match part {
                Ok(part) => answers.extend(part),
                Err(error) => failed = Some(error),
            }
        }
        // Those that could be started may have done it all.
        if let Some(error) = failed.filter(|_| answers.len() < items.len()) {
            return Err(error);
        }
        answers.sort_unstable_by_key(|(n, _)| *n);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}

/// The number of threads of the pool this code runs in.
pub fn current_threads() -> usize {
    if rayon::current_thread_index().is_none() && is_forked() {
        1
    } else {
        rayon::current_num_threads()
    }
}

/// Whether the process was forked from one that has had work outside of pools: the threads for such work are the parent's,
/// and who waits for them waits for ever.
fn is_forked() -> bool {
    static FIRST: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    let first = FIRST.compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
    first.is_err_and(|first| first != process)
}

/// `items.map(f)`, in parallel, answers in order.
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

/// `range.map(f)`, in parallel, answers in order.
pub fn map_range<R: Send>(range: Range<usize>, f: impl Fn(usize) -> R + Sync) -> Vec<R> {
    if range.len() < 2 || current_threads() == 1 {
        return range.map(f).collect();
    }
    // One job for many numbers, as a call may take less time than a job takes to begin.
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

/// Pieces of a range for each thread, so that none waits long for another.
const PIECES: usize = 64;

/// Calls `work` with each number below `count`, in parallel. Not generic: for each closure that rayon is given, the
/// compiler makes its job machinery anew.
fn for_each(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().with_max_len(1).for_each(work);
}

/// What was put there, once.
fn taken<T>(place: &Mutex<Option<T>>) -> T {
    place
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()
        .expect("it is taken once")
}

/// Shares out `items`: `work` is called as often as the pool has threads, with an iterator over items
/// that no other call gets. A call takes items that follow each other, and what is left of others'
/// when it has no more of its own. The answers are in no order.
pub fn share<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&mut dyn Iterator<Item = &T>) -> R + Sync,
) -> Vec<R> {
    let threads = current_threads().min(items.len()).max(1);
    let parts: Vec<_> = items.chunks(items.len().div_ceil(threads).max(1)).collect();
    let taken: Vec<_> = parts.iter().map(|_| AtomicUsize::new(0)).collect();
    let next_of = |part: usize| parts[part].get(taken[part].fetch_add(1, Ordering::Relaxed));
    map_range(0..threads, |thread| {
        let next = || (0..parts.len()).find_map(|n| next_of((thread + n) % parts.len()));
        work(&mut std::iter::from_fn(next))
    })
}

/// How long work reports and is stopped. Every method does nothing by default, so `&()` is silence.
pub trait Progress: Sync {
    /// A phase starts that will advance by `total` in all.
    fn begin(&self, _phase: &str, _total: u64) {}

    /// So much more of the phase is done. Called a few hundred times a phase, from any thread.
    fn advance(&self, _by: u64) {}

    /// Whether to stop soon; called as often as `advance` is called.
    fn cancelled(&self) -> bool {
        false
    }

    /// An error if the work was cancelled, to end it with `?`.
    ///
    /// # Errors
    /// If the work is cancelled.
    fn check(&self) -> Result<()> {
        if self.cancelled() {
            Err(Error::interrupted())
        } else {
            Ok(())
        }
    }
}

impl Progress for () {}

/// Stops work from another thread: clones share one switch.
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
    /// A token that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the work that has this token, soon: it ends with an error of kind `Interrupted`.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
