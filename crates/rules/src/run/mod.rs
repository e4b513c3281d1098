//! Settings of a run: threads, instruction set, progress and memory. They never change a bit of the
//! result.

mod budget;
pub(crate) mod cover;
pub mod holes;
pub(crate) mod leak;
pub(crate) mod memory;
pub(crate) mod nearest;
pub(crate) mod rows;
pub(crate) mod touched;

pub use self::budget::{MemoryBudget, MemoryLimit};
pub use self::leak::Leak;
pub use self::memory::{Demand, Plan};

use voxelize_core::error::{Error, Result};
use voxelize_core::par::{self, CancelToken, Progress};
use voxelize_core::text::bytes;
use voxelize_kernel::Level;

/// Settings of a run: threads, instruction set, memory, progress and cancellation. The default is
/// all threads, the best instruction set, no limit and no progress. Options chain.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Run<'a> {
    /// Number of threads. 0 for all threads of the system.
    pub threads: usize,
    /// Instruction set of the kernels. `None` for the best one of this machine.
    pub level: Option<Level>,
    /// Listener of progress, which may cancel the run.
    pub progress: &'a dyn Progress,
    /// Token that cancels the run from another thread.
    pub cancel: Option<&'a CancelToken>,
    /// Limit of memory.
    pub budget: MemoryBudget,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self {
            threads: 0,
            level: None,
            progress: &(),
            cancel: None,
            budget: MemoryBudget::default(),
        }
    }
}

impl Progress for Run<'_> {
    fn begin(&self, phase: &str, total: u64) {
        self.progress.begin(phase, total);
    }

    fn advance(&self, by: u64) {
        self.progress.advance(by);
    }

    fn cancelled(&self) -> bool {
        self.cancel.is_some_and(CancelToken::is_cancelled) || self.progress.cancelled()
    }
}

impl<'a> Run<'a> {
    /// Sets the number of threads. 0 for all threads of the system.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the instruction set. `None` for the best one of this machine.
    #[must_use]
    pub fn level(self, level: impl Into<Option<Level>>) -> Self {
        Self {
            level: level.into(),
            ..self
        }
    }

    /// Sets the greatest number of bytes for mesh, cells, and other memory of the rule.
    #[must_use]
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        let limit = bytes
            .into()
            .map_or(MemoryLimit::Unknown, MemoryLimit::Requested);
        self.budget(MemoryBudget { limit, program: 0 })
    }

    /// Sets the limit of memory.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self { budget, ..self }
    }

    /// Sets the listener of progress, which may also cancel the run.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Sets a token that cancels the run. A cancelled run soon ends with an error of kind
    /// `Interrupted`.
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        Self {
            cancel: Some(token),
            ..self
        }
    }

    /// Returns the instruction set to use.
    ///
    /// # Errors
    /// Fails if the machine lacks the requested instruction set.
    pub fn supported_level(&self) -> Result<Level> {
        let level = self.level.unwrap_or_else(Level::best);
        if !level.is_available() {
            let found: Vec<_> = Level::available()
                .iter()
                .map(|level| level.name())
                .collect();
            return Err(
                Error::usage(format!("this machine has no {}", level.name()))
                    .with_hint(format!("it has {}", found.join(", "))),
            );
        }
        Ok(level)
    }

    /// Returns the number of threads to use.
    pub fn thread_count(&self) -> usize {
        if self.threads == 0 {
            par::available_threads()
        } else {
            self.threads
        }
    }

    /// Returns the greatest number of bytes that mesh and cells may take together.
    pub fn max_memory(&self) -> Option<u64> {
        self.budget.for_job()
    }

    /// Refuses `what` before anything is allocated for it, if it needs more memory than is allowed.
    pub(crate) fn refuse_above(&self, need: u128, what: impl Fn() -> String) -> Result<()> {
        let limit = u128::from(self.max_memory().unwrap_or(u64::MAX));
        if need <= limit {
            return Ok(());
        }
        let message = format!(
            "{} need {}, {} are allowed",
            what(),
            bytes(need),
            bytes(limit)
        );
        Err(Error::too_large(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_beyond_the_limit_are_refused() {
        let run = Run::default().memory(1 << 20);
        let what = || "cells".to_string();
        assert!(run.refuse_above(1 << 20, what).is_ok());
        let error = run.refuse_above((1 << 20) + 1, what).unwrap_err();
        assert_eq!(error.kind(), voxelize_core::error::Kind::TooLarge);
        assert_eq!(error.message(), "cells need 1 MiB, 1 MiB are allowed");
    }
}
