//! Lists of triangles and of their parts, a row for each of their numbers, so that as many as a register has lanes are
//! taken at once.

use fearless_simd::{Simd, prelude::*};

/// Items of a list at most. Longer lists do not stay in the cache next to the processor.
pub(super) const MOST: usize = 128;

/// As many lanes as any register has.
pub(super) const WIDEST: usize = 8;

/// Items of so many numbers. The last one in is the first one out.
pub(super) struct LaneList<const ROWS: usize> {
    rows: Box<[[f64; MOST + WIDEST]; ROWS]>,
    count: usize,
}

impl<const ROWS: usize> LaneList<ROWS> {
    /// The bytes that it takes.
    pub(super) const BYTES: usize = ROWS * size_of::<[f64; MOST + WIDEST]>();

    /// An empty one.
    pub(super) fn new() -> Self {
        Self {
            rows: Box::new([[0.0; MOST + WIDEST]; ROWS]),
            count: 0,
        }
    }

    /// The items in it.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Whether there is room for so many more.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.count + more <= MOST
    }

    /// Adds the items of some lanes.
    #[inline(always)]
    pub(super) fn push<S: Simd>(&mut self, item: [S::f64s; ROWS], lanes: S::mask64s) {
        let bits = lanes.to_bitmask();
        if bits == 0 {
            return;
        }
        if lanes.all_true() {
            for row in 0..ROWS {
                item[row].store_slice(&mut self.rows[row][self.count..][..S::f64s::LEN]);
            }
        } else {
            for row in 0..ROWS {
                item[row]
                    .compress(lanes)
                    .store_slice(&mut self.rows[row][self.count..][..S::f64s::LEN]);
            }
        }
        self.count += bits.count_ones() as usize;
    }

    /// Takes the last items, as many as there are lanes; if there are fewer, items of zeros beside them.
    #[inline(always)]
    pub(super) fn pop<S: Simd>(&mut self, simd: S) -> [S::f64s; ROWS] {
        let lanes = S::f64s::LEN;
        if self.count < lanes {
            self.fill_up(lanes);
        }
        self.count -= lanes;
        let mut item = [S::f64s::splat(simd, 0.0); ROWS];
        for row in 0..ROWS {
            item[row] = S::f64s::from_slice(simd, &self.rows[row][self.count..][..lanes]);
        }
        item
    }

    #[cold]
    #[inline(never)]
    fn fill_up(&mut self, lanes: usize) {
        for row in &mut *self.rows {
            row[self.count..lanes].fill(0.0);
        }
        self.count = lanes;
    }
}
