//! Memory for triangles, allocated within a limit and only for triangles that exist.

use voxelize_core::error::{Error, Result};
use voxelize_core::geom::Triangle;
use voxelize_core::text::{bytes, grouped};
use voxelize_kernel::memory::Zeroed;

const TRIANGLE: u64 = size_of::<Triangle>() as u64;

/// Limit on the memory of triangles.
pub(super) struct Room {
    max_memory: Option<u64>,
}

impl Room {
    /// Creates a limit in bytes.
    pub(super) fn new(max_memory: Option<u64>) -> Self {
        Self { max_memory }
    }

    /// Allocates `count` triangles of zeros, for a file that is known to have them.
    pub(super) fn exactly(&self, count: u64) -> Result<Zeroed<Triangle>> {
        self.admit(count, 0)?;
        let length = usize::try_from(count).map_err(|_| does_not_fit(count))?;
        Zeroed::new(length).ok_or_else(|| does_not_fit(count))
    }

    /// Reserves room in `triangles` for `more` triangles. The capacity is doubled, but neither
    /// beyond the limit with `beside` other bytes, nor beyond `expected` triangles in total.
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

    /// Returns the number of bytes that still fit, in addition to `count` triangles and `beside`
    /// other bytes.
    pub(super) fn left(&self, count: u64, beside: u64) -> u64 {
        let taken = count.saturating_mul(TRIANGLE).saturating_add(beside);
        self.max_memory
            .map_or(u64::MAX, |limit| limit.saturating_sub(taken))
    }

    /// Refuses `count` triangles and `beside` other bytes if they exceed the limit.
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
