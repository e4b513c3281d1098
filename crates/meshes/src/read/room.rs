//! Memory for triangles. It is allocated within a limit, and only for triangles that exist.

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::text::{bytes, grouped};
use voxelize_kernel::memory::Zeroed;

const TRIANGLE: u64 = size_of::<Triangle>() as u64;

/// Limit on the memory for triangles.
pub(super) struct Room {
    max_memory: Option<u64>,
}

impl Room {
    /// Creates a limit of `max_memory` bytes. `None` for no limit.
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        Self { max_memory }
    }

    /// Allocates `count` triangles, all zero, for a file that is known to have that many.
    pub(super) fn exactly(&self, count: u64) -> Result<Zeroed<Triangle>> {
        self.admit(count, 0)?;
        let length = usize::try_from(count).map_err(|_| does_not_fit(count))?;
        Zeroed::new(length).ok_or_else(|| does_not_fit(count))
    }

    /// Reserves memory in `triangles` for `more` triangles. The capacity is doubled, but it does not exceed
    /// `expected` triangles, nor the limit together with `beside` bytes for other data.
    pub(super) fn grow(
        &self,
        triangles: &mut Vec<Triangle>,
        more: usize,
        expected: u64,
        beside: u64,
    ) -> Result<()> {
        let need = triangles.len() + more;
        if need <= triangles.capacity() {
            return Ok(());
        }
        self.admit(need as u64, beside)?;
        let room = |bytes: u64| bytes.saturating_sub(beside) / TRIANGLE;
        let most = self.max_memory.map_or(u64::MAX, room).min(expected);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let target = (2 * triangles.capacity()).min(most).max(need);
        let extra = target - triangles.len();
        triangles
            .try_reserve_exact(extra)
            .map_err(|_| does_not_fit(target as u64))
    }

    /// Returns the number of bytes within the limit that remain after `count` triangles and `beside` bytes
    /// for other data.
    pub(super) fn left(&self, count: u64, beside: u64) -> u64 {
        let taken = count.saturating_mul(TRIANGLE).saturating_add(beside);
        self.max_memory
            .map_or(u64::MAX, |limit| limit.saturating_sub(taken))
    }

    /// Fails if `count` triangles and `beside` bytes for other data exceed the limit.
    pub(super) fn admit(&self, count: u64, beside: u64) -> Result<()> {
        let limit = self.max_memory.unwrap_or(u64::MAX);
        let need = u128::from(count) * u128::from(TRIANGLE) + u128::from(beside);
        if need <= u128::from(limit) {
            return Ok(());
        }
        let need = bytes(need);
        let limit = bytes(limit);
        Err(Error::too_large(format!(
            "{} triangles need {need}, but the memory limit leaves {limit} for the mesh",
            grouped(count)
        ))
        .with_hint("raise `--max-memory`"))
    }
}

fn does_not_fit(count: u64) -> Error {
    let need = bytes(u128::from(count) * u128::from(TRIANGLE));
    Error::too_large(format!(
        "{} triangles need {need}, more than the system provides",
        grouped(count)
    ))
}
