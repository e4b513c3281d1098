//! Numbers of triangles in their file. They differ from indices in the mesh if the reader dropped triangles.

use voxelize_core::error::{Error, Result};

/// Triangles of a file that its mesh leaves out.
#[derive(Debug, Clone, Default)]
pub struct Dropped {
    /// For each run of consecutive dropped triangles: the number of kept triangles before it, and the number
    /// of dropped triangles up to its end.
    runs: Vec<[u64; 2]>,
}

impl Dropped {
    /// Returns the number of dropped triangles.
    pub(super) fn count(&self) -> u64 {
        self.runs.last().map_or(0, |[_, dropped]| *dropped)
    }

    /// Returns the memory use in bytes.
    pub(super) fn bytes(&self) -> u64 {
        (self.runs.capacity() * size_of::<[u64; 2]>()) as u64
    }

    /// Records one more dropped triangle, after `kept` kept triangles.
    pub(super) fn push(&mut self, kept: u64) {
        let dropped = self.count() + 1;
        match self.runs.last_mut() {
            Some(run) if run[0] == kept => run[1] = dropped,
            _ => self.runs.push([kept, dropped]),
        }
    }

    /// Returns the dropped triangles for a mesh that keeps only these triangles, in ascending order.
    pub(super) fn select(&self, kept: &[u32]) -> Self {
        let mut selected = Self::default();
        for (n, triangle) in (0..).zip(kept) {
            let dropped = self.number(u64::from(*triangle)) - n;
            if dropped > selected.count() {
                selected.runs.push([n, dropped]);
            }
        }
        selected
    }

    /// Returns the number in the file of the kept triangle with index `n`.
    pub fn number(&self, n: u64) -> u64 {
        let runs = self.runs.partition_point(|[kept, _]| *kept <= n);
        n + runs.checked_sub(1).map_or(0, |last| self.runs[last][1])
    }
}

/// Fails if there are more triangles than 31-bit numbers can count.
pub fn check_count(count: u64) -> Result<()> {
    if i32::try_from(count).is_err() {
        return Err(Error::too_large(format!(
            "{count} triangles; the maximum is 2^31 - 1"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_skip_dropped_triangles() {
        for pattern in 0_u32..1 << 10 {
            let mut dropped = Dropped::default();
            let mut kept = vec![];
            for n in 0..10 {
                if pattern >> n & 1 == 1 {
                    dropped.push(kept.len() as u64)
                } else {
                    kept.push(n)
                }
            }
            assert_eq!(dropped.count(), u64::from(pattern.count_ones()));
            for (n, number) in kept.iter().enumerate() {
                assert_eq!(dropped.number(n as u64), *number, "{pattern:b}");
            }
            let odd: Vec<u32> = (0..kept.len() as u32).filter(|n| n % 2 == 1).collect();
            let selected = dropped.select(&odd);
            for (n, triangle) in (0..).zip(&odd) {
                assert_eq!(selected.number(n), kept[*triangle as usize], "{pattern:b}");
            }
        }
    }
}
