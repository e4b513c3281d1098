//! A bit for each triangle, set by all threads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::DistinctTriangles;

/// Triangles that are marked.
#[derive(Debug)]
pub struct TriangleMarks(Vec<AtomicU64>);

impl TriangleMarks {
    /// None of so many triangles.
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
        // Mostly set already, and then no other thread is disturbed.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Triangle `n` is marked.
    pub fn has(&self, n: u32) -> bool {
        self.0[n as usize / 64].load(Ordering::Relaxed) >> (n % 64) & 1 == 1
    }

    /// Marks all copies of triangles the least of which are marked.
    pub(crate) fn copy(&self, distinct: &DistinctTriangles) {
        for copies in distinct.all_copies().filter(|copies| self.has(copies[0])) {
            copies.iter().for_each(|n| self.set(*n));
        }
    }

    /// The numbers of the triangles, ascending.
    pub fn numbers(&self) -> Vec<u32> {
        (0..64 * self.0.len() as u32)
            .filter(|n| self.has(*n))
            .collect()
    }
}
