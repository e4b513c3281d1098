//! How a job runs: threads, instruction set, progress, memory. Nothing here can change a bit.

pub mod cover;
pub mod holes;
pub mod leak;
pub mod memory;
pub(crate) mod path;
pub mod rows;
mod search;

pub use self::memory::{Demand, Plan};

use crate::error::{Error, Result};
use crate::grid::BitGrid;
use crate::kernel::Level;
use crate::par::{self, Progress};

/// How to run a job. The default is all threads, the best level, silence and no limit.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Threads to use; 0 for all the system offers.
    pub threads: usize,
    /// The instruction set of the kernels; `None` for the best of this machine.
    pub level: Option<Level>,
    /// Who hears of progress and may cancel.
    pub progress: &'a dyn Progress,
    /// The most memory, in bytes, that mesh and cells may take together.
    pub max_memory: Option<u64>,
}

impl Default for Run<'_> {
    fn default() -> Self {
        Self { threads: 0, level: None, progress: &(), max_memory: None }
    }
}

impl Run<'_> {
    /// The level to use.
    ///
    /// # Errors
    /// If the level asked for does not run on this machine.
    pub fn level(&self) -> Result<Level> {
        let level = self.level.unwrap_or_else(Level::best);
        if !level.is_available() {
            let found: Vec<_> = Level::available().iter().map(|level| level.name()).collect();
            return Err(Error::usage(format!("this machine has no {}", level.name()))
                .with_hint(format!("it has {}", found.join(", "))));
        }
        Ok(level)
    }

    /// The number of threads to use.
    pub fn threads(&self) -> usize {
        if self.threads == 0 { par::available_threads() } else { self.threads }
    }

    /// The bytes of `triangles` in memory and a grid of `dims` cells; [`Demand`] has all a job takes.
    pub fn estimate(triangles: usize, dims: [usize; 3]) -> u128 {
        let per_triangle = size_of::<crate::geom::Triangle>() as u128;
        triangles as u128 * per_triangle + BitGrid::bytes_for(dims)
    }

    /// Refuses a job that would not fit, before anything is allocated for it; `extra` are the bytes of
    /// its rule, as [`Rule::extra_bytes`](crate::Rule::extra_bytes) says.
    ///
    /// # Errors
    /// If estimate and `extra` are above `max_memory`. Bricks of threads are not in it; [`Demand`] counts
    /// them.
    pub fn admit(&self, triangles: usize, dims: [usize; 3], extra: u128) -> Result<()> {
        let [x, y, z] = dims;
        let what = || format!("a grid of {x} × {y} × {z} cells and {triangles} triangles");
        self.refuse_above(Self::estimate(triangles, dims) + extra, what)
    }

    /// Refuses `what` if it needs more than is allowed.
    pub(crate) fn refuse_above(&self, need: u128, what: impl Fn() -> String) -> Result<()> {
        let limit = u128::from(self.max_memory.unwrap_or(u64::MAX));
        if need <= limit {
            return Ok(());
        }
        let message = format!("{} need {}, {} are allowed", what(), bytes(need), bytes(limit));
        Err(Error::too_large(message))
    }
}

/// A number of bytes for people: `64 GiB`, `1.5 MiB`, `200 B`.
pub fn bytes(n: u128) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    if n < 1024 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let text = format!("{value:.1}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_well() {
        for (n, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (64 << 30, "64 GiB"),
            (1 << 20, "1 MiB"),
        ] {
            assert_eq!(bytes(n), text);
        }
    }

    #[test]
    fn jobs_beyond_the_limit_are_refused() {
        let run = Run { max_memory: Some(1 << 20), ..Run::default() };
        assert!(run.admit(1000, [64, 64, 64], 0).is_ok());
        let error = run.admit(12, [512, 512, 512], 0).unwrap_err();
        assert_eq!(error.kind(), crate::error::Kind::TooLarge);
        assert!(run.admit(1 << 20, [1, 1, 1], 0).is_err());
        assert!(run.admit(1000, [64, 64, 64], 1 << 20).is_err());
    }
}
