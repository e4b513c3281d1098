//! Set of triangles, with one bit per triangle. Any thread may set a bit.

use std::sync::atomic::{AtomicU64, Ordering};

use super::DistinctTriangles;

/// Set of marked triangles.
#[derive(Debug)]
pub struct TriangleMarks(Vec<AtomicU64>);

impl TriangleMarks {
    /// Creates an empty set for this many triangles.
    pub fn new(triangles: usize) -> Self {
        Self(
            (0..triangles.div_ceil(64))
                .map(|_| AtomicU64::new(0))
                .collect(),
        )
    }

    /// Marks triangle `n`.
    pub fn set(&self, n: u32) {
        let word = &self.0[n as usize / 64];
        let bit = 1 << (n % 64);
        // The bit is usually set already. The check avoids a write that would slow down other threads.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Returns whether triangle `n` is marked.
    pub fn has(&self, n: u32) -> bool {
        self.0[n as usize / 64].load(Ordering::Relaxed) >> (n % 64) & 1 == 1
    }

    /// If the first copy of a triangle is marked, marks all its copies.
    pub(crate) fn copy(&self, distinct: &DistinctTriangles) {
        for copies in distinct.all_copies() {
            if self.has(copies[0]) {
                for n in copies {
                    self.set(*n);
                }
            }
        }
    }

    /// Returns the numbers of the marked triangles, ascending.
    pub fn numbers(&self) -> Vec<u32> {
        (0..64 * self.0.len() as u32)
            .filter(|n| self.has(*n))
            .collect()
    }
}
