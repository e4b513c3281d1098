//! Numbers of the vertices on one wall of z.
//!
//! The wall has one bit for each point where walls of x and y cross it. The bit is set if the point is a
//! vertex. Vertices are numbered with x varying fastest, then y, and one wall of z after the other. The
//! number of a vertex is found by counting the set bits before its own. So 64 points take 12 bytes, no matter
//! how many are vertices, and no table of positions is needed.

use voxelize_core::grid::bits::bits_of;

/// Vertices on one wall of z, and their numbers.
pub(super) struct WallNumbers {
    row_words: usize,
    words: Vec<u64>,
    /// Number of vertices on this wall before each word.
    before: Vec<u32>,
    first: u64,
}

impl WallNumbers {
    /// Creates a wall without vertices, for a grid with `nx` × `ny` cells per layer.
    pub(super) fn new([nx, ny, _]: [usize; 3]) -> Self {
        // A row has one more wall than cells.
        let row_words = nx / 64 + 1;
        let words = row_words * (ny + 1);
        Self {
            row_words,
            words: vec![0; words],
            before: vec![0; words],
            first: 0,
        }
    }

    /// Removes all vertices.
    pub(super) fn clear(&mut self) {
        self.words.fill(0);
    }

    /// Marks a point as a vertex.
    pub(super) fn set(&mut self, [i, j, _]: [u32; 3]) {
        self.words[j as usize * self.row_words + i as usize / 64] |= 1 << (i % 64);
    }

    /// Returns the bits of each wall of y, with the index of the wall.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = (usize, &mut [u64])> {
        self.words.chunks_exact_mut(self.row_words).enumerate()
    }

    /// Numbers the vertices, beginning with `first`. Returns the number after the last one.
    pub(super) fn number(&mut self, first: u64) -> u64 {
        self.first = first;
        let mut count = 0_u64;
        for (word, before) in self.words.iter().zip(&mut self.before) {
            // The cast may truncate, but a wall with so many vertices is refused before its numbers are used.
            *before = count as u32;
            count += u64::from(word.count_ones());
        }
        first + count
    }

    /// Returns the number of the vertex at a point.
    pub(super) fn of(&self, [i, j, _]: [u32; 3]) -> u32 {
        let n = j as usize * self.row_words + i as usize / 64;
        let below = self.words[n] & ((1 << (i % 64)) - 1);
        self.first as u32 + self.before[n] + below.count_ones()
    }

    /// Returns the wall indices along x and y of all vertices, in the order of their numbers.
    pub(super) fn places(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        let words = self
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| **word != 0);
        words.flat_map(|(n, word)| {
            let [i, j] = [n % self.row_words * 64, n / self.row_words];
            bits_of(*word).map(move |bit| [(i + bit) as u32, j as u32])
        })
    }
}
