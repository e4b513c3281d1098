//! Lists of triangles and of their parts. Each value of the items has a separate row, so that one load fills
//! a register with this value of several items.

use fearless_simd::{Simd, prelude::*};

/// Maximum number of items in a list. A longer list would not stay in the first-level cache.
pub(super) const MOST: usize = 128;

/// Number of lanes of the widest register.
pub(super) const WIDEST: usize = 8;

/// List of items with `ROWS` values each. The last item is removed first.
pub(super) struct LaneList<const ROWS: usize> {
    rows: Box<[[f64; MOST + WIDEST]; ROWS]>,
    count: usize,
}

impl<const ROWS: usize> LaneList<ROWS> {
    /// Memory of the list in bytes.
    pub(super) const BYTES: usize = ROWS * size_of::<[f64; MOST + WIDEST]>();

    /// Creates an empty list.
    pub(super) fn new() -> Self {
        Self {
            rows: Box::new([[0.0; MOST + WIDEST]; ROWS]),
            count: 0,
        }
    }

    /// Returns the number of items.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns `true` if `more` items can be added.
    pub(super) fn has_room(&self, more: usize) -> bool {
        self.count + more <= MOST
    }

    /// Adds an item for each lane in `lanes`.
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

    /// Removes the last items and returns them, one in each lane. If there are fewer items than lanes, the
    /// other lanes are zero.
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
