//! Settings of a run: threads, instruction set, progress and memory. They never change the result.

mod budget;
pub(crate) mod cover;
pub mod holes;
pub(crate) mod leak;
pub(crate) mod memory;
pub(crate) mod nearest;
pub(crate) mod rows;
pub(crate) mod touched;
pub(crate) mod walls;

pub use self::budget::{MemoryBudget, MemoryLimit};
pub use self::leak::Leak;
pub use self::memory::{Demand, Plan};
pub use self::walls::WallThickness;

use voxelize_core::error::{Error, Result};
use voxelize_core::par::{self, CancelToken, Progress};
use voxelize_core::text::bytes;
use voxelize_kernel::Level;

/// Settings of a run: threads, instruction set, memory, progress and cancellation. By default a run uses all
/// threads and the best instruction set, has no memory limit, and reports no progress. The methods that set
/// an option can be chained.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Run<'a> {
    /// Number of threads. 0 means all threads of the system.
    pub threads: usize,
    /// Instruction set of the kernels. `None` means the best instruction set of this machine.
    pub level: Option<Level>,
    /// Listener that gets progress reports and may cancel the run.
    pub progress: &'a dyn Progress,
    /// Token with which another thread can cancel the run.
    pub cancel: Option<&'a CancelToken>,
    /// Memory limit.
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
    /// Sets the number of threads. 0 means all threads of the system.
    #[must_use]
    pub fn threads(self, threads: usize) -> Self {
        Self { threads, ..self }
    }

    /// Sets the instruction set. `None` means the best instruction set of this machine.
    #[must_use]
    pub fn level(self, level: impl Into<Option<Level>>) -> Self {
        Self {
            level: level.into(),
            ..self
        }
    }

    /// Sets the memory limit, in bytes, for the mesh, the cells, and other data of the rule. `None` removes
    /// the limit.
    #[must_use]
    pub fn memory(self, bytes: impl Into<Option<u64>>) -> Self {
        let limit = bytes
            .into()
            .map_or(MemoryLimit::Unknown, MemoryLimit::Requested);
        self.budget(MemoryBudget { limit, program: 0 })
    }

    /// Sets the memory limit together with the memory of the program.
    #[must_use]
    pub fn budget(self, budget: MemoryBudget) -> Self {
        Self { budget, ..self }
    }

    /// Sets the listener that gets progress reports and may cancel the run.
    #[must_use]
    pub fn progress(self, progress: &'a dyn Progress) -> Self {
        Self { progress, ..self }
    }

    /// Sets a token that cancels the run. Soon after the cancellation, the run ends with an error of kind
    /// `Interrupted`.
    #[must_use]
    pub fn cancel(self, token: &'a CancelToken) -> Self {
        Self {
            cancel: Some(token),
            ..self
        }
    }

    /// Returns the instruction set that the run uses.
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

    /// Returns the number of threads that the run uses.
    pub fn thread_count(&self) -> usize {
        if self.threads == 0 {
            par::available_threads()
        } else {
            self.threads
        }
    }

    /// Returns the greatest number of bytes that mesh and cells together may use. `None` if there is no
    /// limit.
    pub fn max_memory(&self) -> Option<u64> {
        self.budget.for_job()
    }

    /// Fails if `need` bytes exceed the memory limit. It is called before the memory is allocated. `what`
    /// describes the data in the error message.
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
