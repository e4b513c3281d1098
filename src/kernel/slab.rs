//! A range of layers that one thread fills.

use std::ops::Range;

/// The words of a range of layers of a grid; nobody else has them.
pub struct Slab<'a> {
    /// The layers along z.
    pub layers: Range<i64>,
    words: &'a mut [u64],
    /// Cells along x.
    cells: i64,
    /// Rows along y.
    rows: usize,
    row_words: usize,
}

impl<'a> Slab<'a> {
    /// The slab of `layers` of a grid of `cells` cells along x and `rows` rows along y.
    pub fn new(layers: Range<i64>, words: &'a mut [u64], cells: usize, rows: usize) -> Self {
        let row_words = cells.div_ceil(64);
        debug_assert_eq!(words.len(), (layers.end - layers.start) as usize * rows * row_words);
        Self { layers, words, cells: cells as i64, rows, row_words }
    }

    /// Where row `(j, k)` of the grid starts in the slab's words.
    fn row(&self, j: i64, k: i64) -> usize {
        ((k - self.layers.start) as usize * self.rows + j as usize) * self.row_words
    }

    /// Occupies one cell of the slab and the grid.
    #[inline(always)]
    pub fn cell(&mut self, [i, j, k]: [i64; 3]) {
        let word = self.row(j, k) + i as usize / 64;
        self.words[word] |= 1 << (i & 63);
    }

    /// Occupies the cells of a block of at most `N` cells an axis: cell `base + [i, j, k]` for bit
    /// `i + N (j + N k)` of `cells`, rows up to `high` along y and z. What lies outside the slab or
    /// the grid is left out.
    #[inline(always)]
    pub fn block<const N: usize>(&mut self, base: [i64; 3], high: [i64; 2], cells: u64) {
        let [x, y, z] = base;
        // Two rows are done faster than counted.
        let high = if N == 2 { [1, 1] } else { high };
        let within = x >= 0
            && x + (N as i64) <= self.cells
            && y >= 0
            && y + high[0] < self.rows as i64
            && z >= self.layers.start
            && z + high[1] < self.layers.end;
        if !within {
            return self.clipped_block::<N>(base, cells);
        }
        let row = self.row(y, z) + x as usize / 64;
        let shift = x & 63;
        for k in 0..=high[1] as usize {
            for j in 0..=high[0] as usize {
                let bits = cells >> (N * (j + N * k)) & ((1 << N) - 1);
                let word = row + (k * self.rows + j) * self.row_words;
                self.words[word] |= bits << shift;
                if shift + N as i64 > 64 {
                    self.words[word + 1] |= bits >> (64 - shift);
                }
            }
        }
    }

    /// The same for a block that may reach beyond the slab or the grid.
    #[cold]
    fn clipped_block<const N: usize>(&mut self, [x, y, z]: [i64; 3], cells: u64) {
        // What is left of 0..N of the cells from `at` within `low..end`.
        let clip = |at: i64, low: i64, end: i64| (low - at).max(0)..(end - at).min(N as i64);
        for k in clip(z, self.layers.start, self.layers.end) {
            for j in clip(y, 0, self.rows as i64) {
                for i in clip(x, 0, self.cells) {
                    if cells >> (i + N as i64 * (j + N as i64 * k)) & 1 == 1 {
                        self.cell([x + i, y + j, z + k]);
                    }
                }
            }
        }
    }

    /// Occupies cells `first..=last` of row `(j, k)`, all within the slab and the grid.
    #[inline]
    pub fn span(&mut self, first: i64, last: i64, j: i64, k: i64) {
        let row = self.row(j, k);
        let (a, b) = (first as usize / 64, last as usize / 64);
        let head = !0 << (first & 63);
        let tail = !0 >> (63 - (last & 63));
        if a == b {
            self.words[row + a] |= head & tail;
            return;
        }
        self.words[row + a] |= head;
        self.words[row + a + 1..row + b].fill(!0);
        self.words[row + b] |= tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_fill_exactly_their_cells() {
        let mut cases = 0;
        for first in [0, 1, 62, 63, 64, 65, 127, 128, 190] {
            for last in (first..200).step_by(7).chain([first, 199]) {
                let mut words = vec![0; 2 * 3 * 4];
                Slab::new(5..7, &mut words, 256, 3).span(first, last, 1, 6);
                let set = |row: usize, i: i64| words[row * 4 + i as usize / 64] >> (i % 64) & 1 == 1;
                assert!((0..256).all(|i| set(4, i) == (first..=last).contains(&i)), "{first}..={last}");
                assert!((0..6).filter(|&row| row != 4).all(|row| (0..256).all(|i| !set(row, i))));
                cases += 1;
            }
        }
        assert!(cases > 100);
    }
}
