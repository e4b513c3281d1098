//! How a job runs: threads, instruction set, progress, memory. Nothing here can change a bit.

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

/// How work runs: threads, instruction set, memory, and who hears of it and may stop it. The default is all
/// threads, the best level, no limit and silence; options chain.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Run<'a> {
    /// Threads to use; 0 for all the system offers.
    pub threads: usize,
    /// The instruction set of the kernels; `None` for the best of this machine.
    pub level: Option<Level>,
    /// The listener of progress, which may cancel.
    pub progress: &'a dyn Progress,
    /// The token that stops it from another thread.
    pub cancel: Option<&'a CancelToken>,
    /// The limit of memory.
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
    /// With so many threads; 0 for all the system offers.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// With this instruction set, or the best of this machine.
    #[must_use]
    pub fn level(self, level: impl Into<Option<Level>>) -> Self {
        Self {
            level: level.into(),
            ..self
        }
    }

    /// With at most so many bytes of memory for mesh, cells and what else the rule takes.
    #[must_use]
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        let limit = bytes
            .into()
            .map_or(MemoryLimit::Unknown, MemoryLimit::Requested);
        self.budget(MemoryBudget { limit, program: 0 })
    }

    /// With this limit of memory.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self { budget, ..self }
    }

    /// Heard by `progress`, which may also cancel.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Until `token` is cancelled: then it ends, soon, with an error of kind `Interrupted`.
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        Self {
            cancel: Some(token),
            ..self
        }
    }

    /// The level to use.
    ///
    /// # Errors
    /// If the level does not run on this machine.
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

    /// The number of threads to use.
    pub fn thread_count(&self) -> usize {
        if self.threads == 0 {
            par::available_threads()
        } else {
            self.threads
        }
    }

    /// The most memory, in bytes, that mesh and cells may take together.
    pub fn max_memory(&self) -> Option<u64> {
        self.budget.for_job()
    }

    /// Refuses `what` if it needs more than is allowed, before anything is allocated for it.
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
