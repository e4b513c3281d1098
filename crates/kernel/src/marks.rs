//! List of cells that wait to be written into bricks. Kernels for small triangles add up to sixteen *marks*
//! at a time to a list that stays in the cache. One loop then writes all of them.
//!
//! A mark consists of the number of a brick and a word. It stands for some cells of one row of the brick. The
//! word has bits for up to sixteen consecutive cells, the position of the first of them in its row, and the
//! number of the row. Writing the cells directly for each lane would need a brick lookup per lane, and each
//! loop over the lanes of one vector would end in a mispredicted branch. The loop over the list ends only
//! once.

use fearless_simd::{Simd, mask32x16, prelude::*, u32x16};

use super::levels::{LANES, is_avx512};
use super::sink::SIDE;

/// Number of marks that may be added after one call of [`make_room`](crate::bricks::Bricks::make_room).
pub const ROOM: usize = 512;

/// Maximum number of marks in a list, which then has 16 KiB.
const MOST: usize = 2048;

/// Maximum number of cells of one mark.
pub const CELLS: usize = 16;

/// Bit offset of the position of the first cell in a word, and bit offset of the row.
const PLACE: u32 = 16;
const ROW: u32 = 22;

/// List of marks.
pub struct Marks {
    bricks: Box<[u32; MOST]>,
    words: Box<[u32; MOST]>,
    count: usize,
}

/// Returns words without cells. Their first cell is at position `x` of row `y` of layer `z` of its brick.
/// Higher bits of the coordinates are ignored.
#[inline(always)]
pub fn words<S: Simd>([x, y, z]: [u32x16<S>; 3]) -> u32x16<S> {
    let side = SIDE as u32 - 1;
    ((x & 63) << PLACE) | ((y & side) << ROW) | ((z & side) << (ROW + SIDE.ilog2()))
}

/// Returns words for the cells that do not fit into the rows of `words`. They belong to the next brick along
/// x.
#[inline(always)]
pub fn beyond<S: Simd>(simd: S, words: u32x16<S>) -> u32x16<S> {
    let cells = words & 0xffff;
    let place = (words >> PLACE) & 63;
    let last = u32x16::splat(simd, 63);
    // Shifts in two steps, because on some levels a shift by 32, the number of bits of a lane, does not shift
    // at all.
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

    /// Adds a mark for each selected lane. The caller has made room in the list.
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
        // If vectors have eight lanes, joining the halves costs more than storing each of them.
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

    /// Returns the brick numbers and the words of all marks.
    #[inline(always)]
    pub fn lists(&self) -> [&[u32]; 2] {
        [&self.bricks[..self.count], &self.words[..self.count]]
    }

    /// Returns `true` if fewer than [`ROOM`] marks fit into the list.
    #[inline(always)]
    pub fn are_enough(&self) -> bool {
        self.count > MOST - ROOM - LANES
    }

    /// Removes all marks.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

/// Returns the row of the brick that a mark belongs to, and the occupied cells of this row.
#[inline(always)]
pub fn cells(word: u32) -> (usize, u64) {
    (
        (word >> ROW) as usize,
        u64::from(word & 0xffff) << ((word >> PLACE) & 63),
    )
}
