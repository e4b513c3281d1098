//! Resources of a call: threads, instruction set and memory limit. The limit includes the memory of the
//! program itself.

use voxelize::job::system::{address_space, affordable_threads, available_memory};
use voxelize::job::{MemoryBudget, MemoryLimit};
use voxelize::{Error, Level, Result, Run, par};

use super::args::{PowerArgs, prefixed};
use super::report::display::bytes;

/// Upper bound, in bytes, for the memory of code and buffers that every job needs: up to 13 MiB, plus 4 MiB
/// of output that is being written.
const PROGRAM: u64 = 67 << 18;

/// Expected memory use of code and buffers in bytes, as opposed to the upper bound.
const EXPECTED_PROGRAM: u64 = 19 << 19;

/// Minimum address space, in bytes, for buffers and stacks. With less, a failed allocation would abort the
/// process.
const LEAST_SPACE: u64 = 8 << 20;

/// Memory of a thread in bytes, for its stack and in the allocator. 64 threads took 3 MiB.
const THREAD: u64 = 64 << 10;

/// Memory that the allocator may retain for each thread, in bytes. The memory limit must allow this much for
/// every thread, which bounds the number of threads.
const KEPT: u64 = 1 << 20;

/// Maximum number of threads. If the system offers more threads than this, the maximum is the number it
/// offers. More threads would only wait for each other, and starting a thousand threads takes most of a
/// second.
const MAX_THREADS: usize = 64;

/// Resources for the work. They affect its speed but never its result.
#[derive(Clone)]
pub struct Resources {
    pub threads: usize,
    pub level: Level,
    pub memory: MemoryLimit,
    /// Memory needed in addition to the program, the mesh and the grid, in bytes.
    pub extra_bytes: u64,
}

impl Resources {
    /// Creates the resources from the requested threads and instruction set and the memory limit. Without a
    /// limit, the memory of this machine that is available counts.
    pub fn new(args: &PowerArgs, max_memory: Option<u64>) -> Result<Self> {
        let level = args.simd.flatten();
        let run = Run::default()
            .threads(args.threads.unwrap_or(0))
            .level(level);
        let level = run.supported_level().map_err(|error| {
            let name = level.map(Level::name).unwrap_or_default();
            prefixed(&format!("--simd {name}: "), &error)
        })?;
        if let Some(left) = address_space().filter(|left| *left < LEAST_SPACE) {
            let error = Error::too_large(format!(
                "the limit of the address space leaves {}; the program itself takes up to {}",
                bytes(left),
                bytes(LEAST_SPACE)
            ));
            return Err(error.with_hint("raise the limit with 'ulimit -v'"));
        }
        let most = par::available_threads().max(MAX_THREADS);
        let threads = run
            .thread_count()
            .min(most)
            .min(affordable_threads().unwrap_or(most));
        let roomy = |limit: u64| {
            usize::try_from(limit.saturating_sub(PROGRAM) / KEPT)
                .unwrap_or(most)
                .max(1)
        };
        let threads = max_memory.map_or(threads, |limit| threads.min(roomy(limit)));
        let memory = match (max_memory, available_memory(threads)) {
            (Some(bytes), _) => MemoryLimit::Requested(bytes),
            (None, Some(bytes)) => MemoryLimit::Available(bytes),
            (None, None) => MemoryLimit::Unknown,
        };
        let resources = Self {
            threads,
            level,
            memory,
            extra_bytes: 0,
        };
        match max_memory {
            Some(limit) if limit < resources.program() => Err(resources.too_little(limit)),
            _ => Ok(resources),
        }
    }

    /// Returns the error for a memory limit that is lower than the memory of the program itself.
    fn too_little(&self, limit: u64) -> Error {
        let least = bytes(self.program().div_ceil(1 << 20) << 20);
        let error = Error::too_large(format!(
            "--max-memory {}: the program itself takes up to {least}",
            bytes(limit)
        ));
        // The user probably meant this number of mebibytes.
        if (17..1 << 16).contains(&limit) {
            return error.with_hint(format!("did you mean --max-memory {limit}M?"));
        }
        error.with_hint(format!("raise --max-memory above {least}"))
    }

    /// Returns the resources for one of `jobs` concurrent jobs. The memory of the program itself is
    /// subtracted once, not once per job.
    pub fn share(&self, jobs: usize) -> Self {
        let memory = self.for_job().map_or(MemoryLimit::Unknown, |bytes| {
            MemoryLimit::Share(bytes / jobs as u64)
        });
        Self {
            threads: self.threads / jobs,
            memory,
            ..self.clone()
        }
    }

    /// Returns the memory limit, and the part of it that the program itself takes.
    pub fn budget(&self) -> MemoryBudget {
        MemoryBudget {
            limit: self.memory,
            program: self.program(),
        }
    }

    /// Returns the part of the memory limit that is left for the job, in bytes. `None` without a limit.
    pub fn for_job(&self) -> Option<u64> {
        self.budget().for_job()
    }

    /// Returns the expected memory of the program itself in bytes, without mesh and grid.
    pub fn expected_program(&self) -> u128 {
        u128::from(EXPECTED_PROGRAM + THREAD * self.threads as u64 + self.extra_bytes)
    }

    /// Returns the upper bound for the memory of the program itself in bytes, without mesh and grid.
    fn program(&self) -> u64 {
        PROGRAM + THREAD * self.threads as u64 + self.extra_bytes
    }
}
