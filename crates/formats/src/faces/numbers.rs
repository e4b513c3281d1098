//! The numbers of the vertices of one wall of z.
//!
//! A bit marks each corner between walls that is a vertex. Vertices are numbered x fastest, then y, wall
//! after wall of z. The number of a vertex is found by counting the bits before it. So a wall takes 12 bytes
//! for 64 corners, whatever the number of vertices, and needs no table of their places.

use voxelize_core::grid::bits::bits_of;

/// Vertices of one wall of z, and their numbers.
pub(super) struct WallNumbers {
    row_words: usize,
    words: Vec<u64>,
    /// Number of vertices before each word.
    before: Vec<u32>,
    first: u64,
}

impl WallNumbers {
    /// Creates a wall without vertices, of a grid with these numbers of cells along x and y.
    pub(super) fn new([nx, ny, _]: [usize; 3]) -> Self {
        // There is one wall more than cells.
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

    /// Makes a corner a vertex.
    pub(super) fn set(&mut self, [i, j, _]: [u32; 3]) {
        self.words[j as usize * self.row_words + i as usize / 64] |= 1 << (i % 64);
    }

    /// Returns the bits of each wall of y.
    pub(super) fn rows_mut(&mut self) -> impl Iterator<Item = (usize, &mut [u64])> {
        self.words.chunks_exact_mut(self.row_words).enumerate()
    }

    /// Numbers the vertices from `first` on. Returns the number after the last.
    pub(super) fn number(&mut self, first: u64) -> u64 {
        self.first = first;
        let mut count = 0_u64;
        for (word, before) in self.words.iter().zip(&mut self.before) {
            // A wall with more vertices is refused before its numbers are used.
            *before = count as u32;
            count += u64::from(word.count_ones());
        }
        first + count
    }

    /// Returns the number of a vertex.
    pub(super) fn of(&self, [i, j, _]: [u32; 3]) -> u32 {
        let n = j as usize * self.row_words + i as usize / 64;
        let below = self.words[n] & ((1 << (i % 64)) - 1);
        self.first as u32 + self.before[n] + below.count_ones()
    }

    /// Returns the walls of x and y of the vertices, in the order of their numbers.
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
