//! The lowest five levels of the octree: blocks of 32 × 32 × 32 cells. The states of a row of nodes take two
//! words.

use super::{INNER, NodeState};
use voxelize_core::grid::BitGrid;

/// Number of tree levels within a block.
pub(super) const LEVELS: usize = 5;

/// Number of cells along each axis of a block.
const SIDE: usize = 1 << LEVELS;

/// Index of the first row of each level. Level 0 is the cells, the last level is the block itself.
const STARTS: [usize; LEVELS + 1] = [0, 1024, 1280, 1344, 1360, 1364];

/// States of a row of nodes along x. Bit `i` of `low` and bit `i` of `high` form the state of node `i`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct StateRow {
    low: u32,
    high: u32,
}

/// States of all nodes of a block.
pub(super) struct BlockTree {
    rows: Vec<StateRow>,
}

impl BlockTree {
    /// Returns the block whose first cell is cell `first` of `bits`. The block may extend beyond the grid on
    /// any side. With `marks_free`, empty cells of the grid are free, otherwise unknown. Returns `None` if no
    /// cell of the block is known.
    pub(super) fn new(bits: &BitGrid, first: [isize; 3], marks_free: bool) -> Option<Self> {
        let [nx, ny, nz] = bits.dims();
        let inside = |start: isize, n: usize| {
            let begin = (-start).clamp(0, SIDE as isize) as usize;
            begin..(n as isize - start).clamp(begin as isize, SIDE as isize) as usize
        };
        let columns = inside(first[0], nx);
        let free = if marks_free {
            ones(columns.end) & !ones(columns.start)
        } else {
            0
        };
        let places =
            || inside(first[2], nz).flat_map(|z| inside(first[1], ny).map(move |y| [y, z]));
        let occupied = |[y, z]: [usize; 2]| {
            let [j, k] = [first[1] + y as isize, first[2] + z as isize].map(|n| n as usize);
            cells(bits.row(j, k), first[0])
        };
        // This test is quick, and most blocks are empty.
        if free == 0 && places().all(|place| occupied(place) == 0) {
            return None;
        }
        let mut tree = Self {
            rows: vec![StateRow::default(); STARTS[LEVELS] + 1],
        };
        for place in places() {
            let high = occupied(place);
            tree.rows[place[0] + SIDE * place[1]] = StateRow {
                low: free & !high,
                high,
            };
        }
        (1..=LEVELS).for_each(|level| tree.reduce(level));
        Some(tree)
    }

    /// Computes the states of all nodes of a level from the states of their children. If all eight children
    /// have the same state, the node has this state. Otherwise it is an inner node.
    fn reduce(&mut self, level: usize) {
        let side = SIDE >> level;
        for place in 0..side * side {
            let [y, z] = [place % side, place / side];
            let four = self.children(level, y, z);
            let all = four
                .iter()
                .fold(StateRow { low: !0, high: !0 }, |all, row| all.and(*row));
            let any = four
                .iter()
                .fold(StateRow::default(), |any, row| any.or(*row));
            let (all, any) = (all.and(all.moved()), any.or(any.moved()));
            let differ = (all.low ^ any.low) | (all.high ^ any.high);
            self.rows[STARTS[level] + place] = StateRow {
                low: evens(any.low | differ),
                high: evens(any.high | differ),
            };
        }
    }

    /// Returns the four rows of nodes that are children of row `(y, z)` of a level. y varies fastest.
    fn children(&self, level: usize, y: usize, z: usize) -> [StateRow; 4] {
        let side = SIDE >> (level - 1);
        let start = STARTS[level - 1] + 2 * y + side * 2 * z;
        [0, 1, side, side + 1].map(|n| self.rows[start + n])
    }

    /// Returns the state of the whole block.
    pub(super) fn state(&self) -> NodeState {
        let StateRow { low, high } = self.rows[STARTS[LEVELS]];
        (low | high << 1) as NodeState
    }

    /// Appends the bytes of the block and of all inner nodes below it. The block must be an inner node
    /// itself.
    pub(super) fn push(&self, out: &mut Vec<u8>) {
        self.push_node(LEVELS, [0; 3], out);
    }

    fn push_node(&self, level: usize, [x, y, z]: [usize; 3], out: &mut Vec<u8>) {
        let rows = self.children(level, y, z);
        let pairs = rows.map(|row| row.pair(2 * x));
        let node = pairs
            .iter()
            .rev()
            .fold(0_u16, |node, pair| node << 4 | pair);
        out.extend(node.to_le_bytes());
        if level == 1 {
            return;
        }
        for n in (0..8).filter(|n| (node >> (2 * n)) as NodeState & INNER == INNER) {
            self.push_node(
                level - 1,
                [2 * x + (n & 1), 2 * y + (n >> 1 & 1), 2 * z + (n >> 2)],
                out,
            );
        }
    }
}

impl StateRow {
    fn and(self, other: Self) -> Self {
        Self {
            low: self.low & other.low,
            high: self.high & other.high,
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            low: self.low | other.low,
            high: self.high | other.high,
        }
    }

    /// Shifts the states so that the state of node `i + 1` is at position `i`.
    fn moved(self) -> Self {
        Self {
            low: self.low >> 1,
            high: self.high >> 1,
        }
    }

    /// Returns the states of nodes `x` and `x + 1` as four bits, two for each node.
    fn pair(self, x: usize) -> u16 {
        let [low, high] = [self.low, self.high].map(|word| (word >> x) as u16);
        low & 1 | (high & 1) << 1 | (low & 2) << 1 | (high & 2) << 2
    }
}

/// Returns a word whose lowest `count` bits are set.
fn ones(count: usize) -> u32 {
    u32::MAX.checked_shr((SIDE - count) as u32).unwrap_or(0)
}

/// Returns the bits at even positions, moved next to each other.
fn evens(word: u32) -> u32 {
    let word = word & 0x5555_5555;
    let word = (word | word >> 1) & 0x3333_3333;
    let word = (word | word >> 2) & 0x0f0f_0f0f;
    let word = (word | word >> 4) & 0x00ff_00ff;
    (word | word >> 8) & 0xffff
}

/// Returns 32 cells of a row from cell `start` on. Cells before the row or after it count as empty.
fn cells(row: &[u64], start: isize) -> u32 {
    let word = |n: isize| {
        usize::try_from(n)
            .ok()
            .and_then(|n| row.get(n))
            .copied()
            .unwrap_or(0)
    };
    let shift = start.rem_euclid(64);
    let n = start.div_euclid(64);
    let above = if shift > 32 {
        word(n + 1) << (64 - shift)
    } else {
        0
    };
    (word(n) >> shift | above) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_read_from_any_start() {
        let row = [0x8000_0000_0000_0001, 0x3];
        let bit = |i: isize| i == 0 || (63..66).contains(&i);
        for start in -70..140 {
            let expected = (0..32)
                .filter(|n| bit(start + n))
                .fold(0, |word, n| word | 1_u32 << n);
            assert_eq!(cells(&row, start), expected, "{start}");
        }
        assert_eq!(
            (ones(0), ones(1), ones(32), evens(0b11_01_10)),
            (0, 1, !0, 0b110)
        );
    }
}
