//! Work that is done outside the Python interpreter. It runs in a separate thread without the GIL. Meanwhile
//! the calling thread checks for signals and reports the progress.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use voxelize::{CancelToken, Error, Progress, Result, par};

use crate::errors::raised;

/// Time between two checks for signals.
const TICK: Duration = Duration::from_millis(100);

/// Switch by which another thread can cancel jobs.
#[pyclass(frozen, module = "voxelize._native")]
#[derive(Default)]
pub struct Cancel(CancelToken);

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Cancels all jobs that were given this switch.
    fn cancel(&self) {
        self.0.cancel();
    }
}

/// Settings of a call.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct How {
    pub threads: usize,
    pub max_memory: Option<u64>,
    pub simd: Option<String>,
    /// Function that is called with the phase, the number of steps done, and the total number of steps.
    pub progress: Option<Py<PyAny>>,
    pub cancel: Option<Py<Cancel>>,
}

/// Records the progress of a job, and tells it when to stop.
pub struct Watcher {
    own: CancelToken,
    given: Option<CancelToken>,
    phase: Mutex<(String, u64)>,
    done: AtomicU64,
}

impl Progress for Watcher {
    fn begin(&self, phase: &str, total: u64) {
        if let Ok(mut now) = self.phase.lock() {
            *now = (phase.to_string(), total);
            self.done.store(0, Ordering::Relaxed);
        }
    }

    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
    }

    fn cancelled(&self) -> bool {
        self.own.is_cancelled() || self.given.as_ref().is_some_and(CancelToken::is_cancelled)
    }
}

impl Watcher {
    /// Calls the progress function of Python.
    fn report(&self, py: Python<'_>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(progress) = progress else {
            return Ok(());
        };
        let (phase, total) = self.phase.lock().map(|now| now.clone()).unwrap_or_default();
        if phase.is_empty() {
            return Ok(());
        }
        progress
            .call1(
                py,
                (phase, self.done.load(Ordering::Relaxed).min(total), total),
            )
            .map(drop)
    }
}

/// Runs `work` in a pool with the requested number of threads. It is cancelled if a signal raises an
/// exception, such as `KeyboardInterrupt`, or if the progress function does.
pub fn run<T: Send>(
    py: Python<'_>,
    how: &How,
    work: impl FnOnce(&Watcher) -> Result<T> + Send,
) -> PyResult<T> {
    let watcher = Watcher {
        own: CancelToken::new(),
        given: how.cancel.as_ref().map(|cancel| cancel.get().0.clone()),
        phase: Mutex::default(),
        done: AtomicU64::new(0),
    };
    let (threads, progress) = (how.threads, how.progress.as_ref());
    let mut interrupt = None;
    let done = thread::scope(|scope| {
        let (sender, mut receiver) = channel();
        let watcher = &watcher;
        let in_pool = move || par::with_threads(threads, || work(watcher)).and_then(|done| done);
        let body = move || {
            let done = catch_unwind(AssertUnwindSafe(in_pool));
            // Sending cannot fail, because the receiver lives until the end of the scope.
            let _ = sender.send(done);
        };
        thread::Builder::new()
            .spawn_scoped(scope, body)
            .map_err(|error| {
                raised(
                    py,
                    &Error::too_large(format!("cannot start a thread: {error}")),
                )
            })?;
        loop {
            let answer;
            (answer, receiver) = py.detach(move || (receiver.recv_timeout(TICK), receiver));
            match answer {
                Ok(done) => return Ok(done),
                Err(RecvTimeoutError::Disconnected) => return Err(panicked(py)),
                Err(RecvTimeoutError::Timeout) if interrupt.is_none() => {
                    if let Err(error) = py
                        .check_signals()
                        .and_then(|()| watcher.report(py, progress))
                    {
                        watcher.own.cancel();
                        interrupt = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })?;
    if let Some(interrupt) = interrupt {
        return Err(interrupt);
    }
    done.map_err(|_| panicked(py))?
        .map_err(|error| raised(py, &error))
}

/// Returns the exception for work that panicked, which is a bug.
fn panicked(py: Python<'_>) -> PyErr {
    raised(py, &Error::internal("the work panicked"))
}

/// Runs `work` with all threads and without reporting progress.
pub fn run_silently<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Watcher) -> Result<T> + Send,
) -> PyResult<T> {
    let how = How {
        threads: 0,
        max_memory: None,
        simd: None,
        progress: None,
        cancel: None,
    };
    run(py, &how, work)
}

/// Runs `work` in this thread without the GIL. Used for work that takes less time than starting a thread.
pub fn run_here<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(work).map_err(|error| raised(py, &error))
}
