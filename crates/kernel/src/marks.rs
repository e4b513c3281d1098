//! Cells waiting to be written into bricks. Kernels for small triangles add *marks*, up to sixteen at a time,
//! to a list that stays in the cache, and one loop writes them.
//!
//! A mark is a piece of a row of a brick: the number of the brick, and a word. The word holds up to sixteen
//! cells, the position of the first of them in its row, and the row. Writing cells lane by lane would cost a
//! brick lookup for each, and every loop over the lanes of a vector ends in a mispredicted branch. The loop
//! over marks runs over the whole list.

use fearless_simd::{Simd, mask32x16, prelude::*, u32x16};

use super::levels::{LANES, is_avx512};
use super::sink::SIDE;

/// Number of marks for which one call of [`make_room`](Marks::make_room) makes room.
pub const ROOM: usize = 512;

/// Maximum number of marks in a list: 16 KiB.
const MOST: usize = 2048;

/// Maximum number of cells of a mark.
pub const CELLS: usize = 16;

/// Bit offsets of the position of the first cell, and of the row, in a word.
const PLACE: u32 = 16;
const ROW: u32 = 22;

/// A list of marks.
pub struct Marks {
    bricks: Box<[u32; MOST]>,
    words: Box<[u32; MOST]>,
    count: usize,
}

/// Returns the words of marks whose first cell is `x` of its row, in row `y` of layer `z`. They have no cells
/// yet.
#[inline(always)]
pub fn words<S: Simd>([x, y, z]: [u32x16<S>; 3]) -> u32x16<S> {
    let side = SIDE as u32 - 1;
    ((x & 63) << PLACE) | ((y & side) << ROW) | ((z & side) << (ROW + SIDE.ilog2()))
}

/// Returns the words, in the next brick along x, of the cells that reach beyond the last cell of their brick.
#[inline(always)]
pub fn beyond<S: Simd>(simd: S, words: u32x16<S>) -> u32x16<S> {
    let cells = words & 0xffff;
    let place = (words >> PLACE) & 63;
    let last = u32x16::splat(simd, 63);
    // Shift in two steps: a shift by all 32 bits of a lane does not shift at all on some levels.
    ((cells >> ((last - place).min(u32x16::splat(simd, LANES as u32)))) >> 1)
        | ((words >> ROW) << ROW)
}

impl Marks {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self {
            bricks: Box::new([0; MOST]),
            words: Box::new([0; MOST]),
            count: 0,
        }
    }

    /// Adds the marks of some lanes. There must be room.
    #[inline(always)]
    pub fn add<S: Simd>(
        &mut self,
        simd: S,
        bricks: u32x16<S>,
        words: u32x16<S>,
        lanes: mask32x16<S>,
    ) {
        if is_avx512(simd) {
            let at = self.count;
            bricks
                .compress(lanes)
                .store_slice(&mut self.bricks[at..at + LANES]);
            words
                .compress(lanes)
                .store_slice(&mut self.words[at..at + LANES]);
            self.count = at + lanes.to_bitmask().count_ones() as usize;
            return;
        }
        // On levels with vectors of eight lanes joining halves costs more than storing one after the other.
        let (low, high) = bricks.split();
        let (low_words, high_words) = words.split();
        let (low_lanes, high_lanes) = simd.split_mask32x16(lanes);
        for (bricks, words, lanes) in [(low, low_words, low_lanes), (high, high_words, high_lanes)]
        {
            let at = self.count;
            bricks
                .compress(lanes)
                .store_slice(&mut self.bricks[at..at + LANES / 2]);
            words
                .compress(lanes)
                .store_slice(&mut self.words[at..at + LANES / 2]);
            self.count = at + lanes.to_bitmask().count_ones() as usize;
        }
    }

    /// Returns the brick numbers and the words of the marks.
    #[inline(always)]
    pub fn lists(&self) -> [&[u32]; 2] {
        [&self.bricks[..self.count], &self.words[..self.count]]
    }

    /// Returns `true` if there is no room for [`ROOM`] more marks.
    #[inline(always)]
    pub fn are_enough(&self) -> bool {
        self.count > MOST - ROOM - LANES
    }

    /// Forgets all marks.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// Returns the row in its brick that a mark belongs to, and its cells there.
#[inline(always)]
pub fn cells(word: u32) -> (usize, u64) {
    (
        (word >> ROW) as usize,
        u64::from(word & 0xffff) << ((word >> PLACE) & 63),
    )
}
