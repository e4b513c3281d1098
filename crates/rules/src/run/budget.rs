//! Limits of the memory of a job.

use voxelize_core::text::bytes;

/// Greatest number of bytes to use, and the origin of the limit.
#[derive(Debug, Clone, Copy, Default)]
pub enum MemoryLimit {
    /// Requested by the caller. The grid is made in slabs that fit.
    Requested(u64),
    /// Memory that is available in the system now.
    Available(u64),
    /// Share of one of several simultaneous jobs. A job that needs more is repeated alone.
    Share(u64),
    /// Unknown to the system.
    #[default]
    Unknown,
}

impl MemoryLimit {
    /// Returns the limit in bytes. `None` if unknown.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Requested(bytes) | Self::Available(bytes) | Self::Share(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// Returns the limit of one of `n` equal parts.
    #[must_use]
    pub fn divided(self, n: usize) -> Self {
        match self {
            Self::Requested(bytes) => Self::Requested(bytes / n as u64),
            Self::Available(bytes) => Self::Available(bytes / n as u64),
            Self::Share(bytes) => Self::Share(bytes / n as u64),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Describes the limit: `4 GiB are allowed`, or `4 GiB are available`.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Requested(most) => format!("{} are allowed", bytes(most)),
            Self::Available(most) | Self::Share(most) => format!("{} are available", bytes(most)),
            Self::Unknown => return None,
        })
    }
}

/// Limit of memory, and the part that the program itself takes.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryBudget {
    /// Limit.
    pub limit: MemoryLimit,
    /// Memory of the program without mesh and grid. A requested limit includes it.
    pub program: u64,
}

impl MemoryBudget {
    /// Returns the memory that remains for mesh and grid.
    pub fn for_job(&self) -> Option<u64> {
        match self.limit {
            MemoryLimit::Requested(bytes) => Some(bytes.saturating_sub(self.program)),
            limit => limit.bytes(),
        }
    }

    /// Returns the memory of a job and of the program together.
    pub fn with_program(&self, job: u128) -> u128 {
        job + u128::from(self.program)
    }
}
