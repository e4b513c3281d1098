//! Queue of triangles. They wait until there are enough to fill the lanes of a vector.

use fearless_simd::{Simd, f32x16, mask32x8, mask32x16, prelude::*, u32x16};

use super::levels::{LANES, is_avx512};

/// Triangle for which a kernel was unsure.
pub struct Unsure {
    /// Number of the triangle.
    pub id: u32,
    /// Lowest cell of the triangle's bounds, and the highest cell relative to it. `None` if the kernel for up
    /// to sixteen cells cannot handle the triangle.
    pub small: Option<[f32; 6]>,
}

/// Queue of columns. A column has `ROWS` numbers about one triangle and the number of the triangle.
#[repr(C, align(64))]
pub struct Queue<const ROWS: usize> {
    rows: [[f32; 2 * LANES]; ROWS],
    ids: [u32; 2 * LANES],
    count: usize,
}

impl<const ROWS: usize> Queue<ROWS> {
    /// Creates an empty queue.
    pub fn new() -> Self {
        Self {
            rows: [[0.0; 2 * LANES]; ROWS],
            ids: [0; 2 * LANES],
            count: 0,
        }
    }

    /// Returns the rows of the queue. The first [`ready`](Self::ready) columns are processed next.
    pub fn rows(&self) -> &[[f32; 2 * LANES]; ROWS] {
        &self.rows
    }

    /// Returns the numbers of the triangles that are processed next.
    pub fn ids(&self) -> &[u32] {
        &self.ids[..LANES]
    }

    /// Returns the number of columns to process next: all waiting columns, but at most as many as a vector
    /// has lanes.
    pub fn ready(&self) -> usize {
        self.count.min(LANES)
    }

    /// Returns `true` if there are enough columns to fill a vector.
    pub fn is_full(&self) -> bool {
        self.count >= LANES
    }

    /// Returns `true` if there are no columns.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the columns of the lanes in `mask`. Lane `l` belongs to triangle `ids[l]`. Before the call, fewer
    /// columns must be waiting than a vector has lanes.
    #[inline(always)]
    pub fn push<S: Simd>(&mut self, simd: S, values: [f32x16<S>; ROWS], mask: u64, ids: u32x16<S>) {
        if is_avx512(simd) {
            let lanes = mask32x16::from_bitmask(simd, mask);
            for row in 0..ROWS {
                values[row]
                    .compress(lanes)
                    .store_slice(&mut self.rows[row][self.count..][..LANES]);
            }
            ids.compress(lanes)
                .store_slice(&mut self.ids[self.count..][..LANES]);
            self.count += mask.count_ones() as usize;
            return;
        }
        // On other levels, joining the halves costs more than storing each of them.
        const HALF: usize = LANES / 2;
        let middle = self.count + (mask & 0xff).count_ones() as usize;
        let [low, high] = [mask, mask >> HALF].map(|mask| mask32x8::from_bitmask(simd, mask));
        for row in 0..ROWS {
            let (first, last) = values[row].split();
            first
                .compress(low)
                .store_slice(&mut self.rows[row][self.count..][..HALF]);
            last.compress(high)
                .store_slice(&mut self.rows[row][middle..][..HALF]);
        }
        let (first, last) = ids.split();
        first
            .compress(low)
            .store_slice(&mut self.ids[self.count..][..HALF]);
        last.compress(high)
            .store_slice(&mut self.ids[middle..][..HALF]);
        self.count += mask.count_ones() as usize;
    }

    /// Adds one column.
    pub fn push_one(&mut self, values: [f32; ROWS], id: u32) {
        for (row, value) in self.rows.iter_mut().zip(values) {
            row[self.count] = value;
        }
        self.ids[self.count] = id;
        self.count += 1;
    }

    /// Removes the columns that were processed.
    #[inline(always)]
    pub fn drop_ready<S: Simd>(&mut self, simd: S) {
        self.count -= self.ready();
        for row in &mut self.rows {
            f32x16::from_slice(simd, &row[LANES..]).store_slice(&mut row[..LANES]);
        }
        u32x16::from_slice(simd, &self.ids[LANES..]).store_slice(&mut self.ids[..LANES]);
    }
}
