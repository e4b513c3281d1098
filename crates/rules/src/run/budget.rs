//! Limits on the memory of a job.

use voxelize_core::text::bytes;

/// Limit on the memory of a job, in bytes, by the origin of the limit.
#[derive(Debug, Clone, Copy, Default)]
pub enum MemoryLimit {
    /// Limit that the caller requested. If the whole grid does not fit, it is made in slabs.
    Requested(u64),
    /// Memory that the system has available now.
    Available(u64),
    /// Share of the memory for one of several simultaneous jobs. A job that needs more than its share is
    /// later repeated alone.
    Share(u64),
    /// The system does not report its available memory.
    #[default]
    Unknown,
}

impl MemoryLimit {
    /// Returns the limit in bytes. `None` if the limit is unknown.
    pub fn bytes(self) -> Option<u64> {
        match self {
            Self::Requested(bytes) | Self::Available(bytes) | Self::Share(bytes) => Some(bytes),
            Self::Unknown => None,
        }
    }

    /// Returns the limit divided by `n`.
    #[must_use]
    pub fn divided(self, n: usize) -> Self {
        match self {
            Self::Requested(bytes) => Self::Requested(bytes / n as u64),
            Self::Available(bytes) => Self::Available(bytes / n as u64),
            Self::Share(bytes) => Self::Share(bytes / n as u64),
            Self::Unknown => Self::Unknown,
        }
    }

    /// Describes the limit, as in `4 GiB are allowed` or `4 GiB are available`. `None` if the limit is
    /// unknown.
    pub fn text(self) -> Option<String> {
        Some(match self {
            Self::Requested(most) => format!("{} are allowed", bytes(most)),
            Self::Available(most) | Self::Share(most) => format!("{} are available", bytes(most)),
            Self::Unknown => return None,
        })
    }
}

/// Memory limit, and the part of it that the program itself uses.
#[derive(Debug, Clone, Copy, Default)]
pub struct MemoryBudget {
    /// Memory limit.
    pub limit: MemoryLimit,
    /// Memory of the program in bytes, without mesh and grid. A requested limit includes this memory.
    pub program: u64,
}

impl MemoryBudget {
    /// Returns the number of bytes that remain for mesh and grid. `None` if the limit is unknown.
    pub fn for_job(&self) -> Option<u64> {
        match self.limit {
            MemoryLimit::Requested(bytes) => Some(bytes.saturating_sub(self.program)),
            limit => limit.bytes(),
        }
    }

    /// Returns the sum of the memory of a job and of the program, in bytes.
    pub fn with_program(&self, job: u128) -> u128 {
        job + u128::from(self.program)
    }
}
