//! Random numbers for tests. Equal seeds give equal numbers everywhere.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each crate uses a part, within itself"
)]

/// Generator of pseudo-random numbers (xorshift64*), by its state, which must not be zero.
pub struct Random(pub u64);

impl Random {
    /// Creates a generator from any seed. Adjacent seeds are spread far apart (SplitMix64).
    pub fn new(seed: u64) -> Self {
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self((z ^ z >> 31) | 1)
    }

    /// Returns 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Returns a number in `0..n`, uniformly distributed.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 33) % n
    }

    /// Returns a number in `0..n`, uniformly distributed.
    pub fn index(&mut self, n: usize) -> usize {
        self.below(n as u64) as usize
    }

    /// Returns a number in `low..=high`, uniformly distributed.
    pub fn whole(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as u64) as i64
    }

    /// Returns a number in `0..1`, uniformly distributed in steps of 2^-24.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns a number in `low..high`, uniformly distributed.
    pub fn within(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns one of a few choices.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// Returns `true` with probability 1/n.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    /// Returns the triangles in another order, each starting at another vertex.
    pub fn shuffled<T: Copy>(&mut self, triangles: &[[T; 3]]) -> Vec<[T; 3]> {
        let mut all = triangles.to_vec();
        for n in (1..all.len()).rev() {
            all.swap(n, self.index(n + 1));
            all[n].rotate_left(self.index(3));
        }
        all
    }
}
