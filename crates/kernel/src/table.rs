//! Table of intervals of cells, one for each strip, and functions for the lanes of vectors.

use fearless_simd::{Simd, f64x8, prelude::*, u64x8};

/// Number of doubles in a vector.
pub const LANES: usize = 8;

/// Value beyond any cell. It is the end of an empty interval.
pub const NOWHERE: f64 = 1e300;

/// Intervals of cells, one for each strip. Their ends are stored as doubles.
#[derive(Default)]
pub struct Table {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Strip of entry number [`LANES`]. The entries before it and after the last strip are written by vectors
    /// that extend out of the range, and never read.
    first: i64,
}

impl Table {
    /// Sets the range of strips to `first..=last`, and makes their intervals empty.
    pub fn reset(&mut self, first: i64, last: i64) {
        let len = (last - first) as usize + 1 + 3 * LANES;
        self.first = first;
        self.low.clear();
        self.low.resize(len, NOWHERE);
        self.high.clear();
        self.high.resize(len, -NOWHERE);
    }

    fn entry(&self, strip: i64) -> usize {
        (strip - self.first + LANES as i64) as usize
    }

    /// Extends the interval of a strip so that it contains the cells `low..=high`.
    pub fn include(&mut self, strip: i64, low: i64, high: i64) {
        let n = self.entry(strip);
        self.low[n] = self.low[n].min(low as f64);
        self.high[n] = self.high[n].max(high as f64);
    }

    /// Returns the first and last cell of a strip's interval. The interval is empty if the first is greater
    /// than the last.
    pub fn interval(&self, strip: i64) -> (i64, i64) {
        let n = self.entry(strip);
        (self.low[n] as i64, self.high[n] as i64)
    }

    /// Returns the first and last cell of a strip's interval as doubles.
    #[inline(always)]
    pub fn ends(&self, strip: i64) -> [f64; 2] {
        let n = self.entry(strip);
        [self.low[n], self.high[n]]
    }

    /// Returns the intervals of eight strips from `strip` on, limited to `low..=high`.
    #[inline(always)]
    pub fn within<S: Simd>(
        &self,
        simd: S,
        strip: i64,
        [low, high]: [f64x8<S>; 2],
    ) -> [f64x8<S>; 2] {
        let n = self.entry(strip);
        let lows = f64x8::from_slice(simd, &self.low[n..n + LANES]);
        let highs = f64x8::from_slice(simd, &self.high[n..n + LANES]);
        [lows.max(low), highs.min(high)]
    }

    /// Extends the intervals of the strips below eight walls. The interval of each strip then contains the
    /// intervals on its lower and its upper wall. The first wall is the lower wall of `strip`. `before` holds
    /// the intervals on the eight walls before these.
    #[inline(always)]
    pub fn include_walls<S: Simd>(
        &mut self,
        simd: S,
        strip: i64,
        before: [f64x8<S>; 2],
        walls: [f64x8<S>; 2],
    ) {
        let below = self.entry(strip) - 1;
        let lows = &mut self.low[below..below + LANES];
        let low = walls[0].min(before[0].slide::<7>(walls[0]));
        f64x8::from_slice(simd, lows).min(low).store_slice(lows);
        let highs = &mut self.high[below..below + LANES];
        let high = walls[1].max(before[1].slide::<7>(walls[1]));
        f64x8::from_slice(simd, highs).max(high).store_slice(highs);
    }
}

/// Number of each lane: 0, 1, 2, …
pub const RAMP: [f64; LANES] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];

/// Returns the lanes of a vector as an array.
#[inline(always)]
pub fn lanes_of<S: Simd>(vector: f64x8<S>) -> [f64; LANES] {
    let mut lanes = [0.0; LANES];
    vector.store_slice(&mut lanes);
    lanes
}

/// Doubles from this magnitude on have no fractions.
const WHOLE: f64 = (1u64 << 52) as f64;

/// Converts non-negative doubles without fractions to integers. For other doubles the result is arbitrary.
#[inline(always)]
pub fn integers<S: Simd>(vector: f64x8<S>) -> u64x8<S> {
    let bits: u64x8<S> = (vector + WHOLE).bitcast();
    bits & ((1 << 52) - 1)
}

/// Returns the lanes of a vector as integers. They must be non-negative doubles without fractions.
#[inline(always)]
pub fn whole<S: Simd>(vector: f64x8<S>) -> [i64; LANES] {
    let mut lanes = [0; LANES];
    integers(vector).store_slice(&mut lanes);
    lanes.map(|lane| lane as i64)
}
