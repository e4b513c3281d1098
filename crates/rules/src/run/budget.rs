//! How much memory a job may take.

use voxelize_core::text::bytes;

/// The most memory to use, in bytes, and where the limit comes from.
#[derive(Debug, Clone, Copy, Default)]
pub enum MemoryLimit {
    /// The caller requests it: then the grid is made in slabs that fit.
    Requested(u64),
    /// The memory that the system has now.
    Available(u64),
    /// The share of one of several jobs at a time: a job that needs more is run again alone.
    Share(u64),
    /// The system does not say.
    #[default]
    Unknown,
}

impl MemoryLimit {
    /// The limit, if there is one.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Requested(bytes) | Self::Available(bytes) | Self::Share(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// The limit of one of `n` equal parts.
    #[must_use]
    pub fn divided(self, n: usize) -> Self {
        match self {
            Self::Requested(bytes) => Self::Requested(bytes / n as u64),
            Self::Available(bytes) => Self::Available(bytes / n as u64),
            Self::Share(bytes) => Self::Share(bytes / n as u64),
            Self::Unknown => Self::Unknown,
        }
    }

    /// `4 GiB are allowed`, or `available`.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Requested(most) => format!("{} are allowed", bytes(most)),
            Self::Available(most) | Self::Share(most) => format!("{} are available", bytes(most)),
            Self::Unknown => return None,
        })
    }
}

/// A limit of memory, and what the program itself takes of it.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryBudget {
    /// The limit.
    pub limit: MemoryLimit,
    /// The memory of the program, without mesh and grid: a requested limit holds for both.
    pub program: u64,
}

impl MemoryBudget {
    /// The memory that is left for mesh and grid.
    pub fn for_job(&self) -> Option<u64> {
        match self.limit {
            MemoryLimit::Requested(bytes) => Some(bytes.saturating_sub(self.program)),
            limit => limit.bytes(),
        }
    }

    /// The memory of a job and of the program.
    pub fn with_program(&self, job: u128) -> u128 {
        job + u128::from(self.program)
    }
}
