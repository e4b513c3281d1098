//! A range of layers that one thread fills.

use std::ops::Range;

/// The words of a range of layers of a grid; nobody else has them.
pub struct Slab<'a> {
    /// The layers along z.
    pub layers: Range<i64>,
    words: &'a mut [u64],
    rows: usize,
    row_words: usize,
}

impl<'a> Slab<'a> {
    /// The slab of `layers`, whose rows along y number `rows`, of `row_words` words each.
    pub fn new(layers: Range<i64>, words: &'a mut [u64], rows: usize, row_words: usize) -> Self {
        debug_assert_eq!(words.len(), (layers.end - layers.start) as usize * rows * row_words);
        Self { layers, words, rows, row_words }
    }

    /// Where row `(j, k)` of the grid starts in the slab's words.
    fn row(&self, j: i64, k: i64) -> usize {
        ((k - self.layers.start) as usize * self.rows + j as usize) * self.row_words
    }

    /// Occupies cells `first + n` of row `(j, k)` for every bit `n` of a few `cells`, all within the
    /// slab and the grid; `first` itself may lie before the grid.
    #[inline]
    pub fn bits(&mut self, first: i64, cells: u64, j: i64, k: i64) {
        let (first, cells) = if first < 0 { (0, cells >> -first) } else { (first, cells) };
        let word = self.row(j, k) + first as usize / 64;
        let shift = first & 63;
        self.words[word] |= cells << shift;
        let over = cells >> 1 >> (63 - shift);
        if over != 0 {
            self.words[word + 1] |= over;
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
                Slab::new(5..7, &mut words, 3, 4).span(first, last, 1, 6);
                let set = |row: usize, i: i64| words[row * 4 + i as usize / 64] >> (i % 64) & 1 == 1;
                assert!((0..256).all(|i| set(4, i) == (first..=last).contains(&i)), "{first}..={last}");
                assert!((0..6).filter(|&row| row != 4).all(|row| (0..256).all(|i| !set(row, i))));
                cases += 1;
            }
        }
        assert!(cases > 100);
    }
}
