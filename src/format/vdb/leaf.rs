//! Leaves out of slabs: the cells of eight layers, in columns of 16 × 16 leaves.

use std::io;

use super::TreeType;
use super::tree::{MIDDLE, TreeTile};
use crate::grid::field::canonical;
use crate::grid::{BitGrid, CellsRef, Field};

/// The cells along a side of a leaf.
pub(super) const SIDE: usize = 8;

/// The leaves along a side of a node.
pub(super) const LEAVES: usize = MIDDLE / SIDE;

/// A bit for each cell of a leaf; bit `8 y + z` of word `x`.
pub(super) type LeafMask = [u64; SIDE];

/// The lowest and the highest cell of a box.
pub(super) type CellBounds = [[usize; 3]; 2];

/// The smallest box that holds both.
pub(super) fn joined(one: Option<CellBounds>, other: Option<CellBounds>) -> Option<CellBounds> {
    match (one, other) {
        (Some([a, b]), Some([c, d])) => {
            Some([std::array::from_fn(|n| a[n].min(c[n])), std::array::from_fn(|n| b[n].max(d[n]))])
        }
        (one, other) => one.or(other),
    }
}

/// The box of the cells in a mask.
pub(super) fn bounds_of(mask: &LeafMask) -> Option<CellBounds> {
    let first = mask.iter().position(|word| *word != 0)?;
    let last = mask.iter().rposition(|word| *word != 0)?;
    let plane = mask.iter().fold(0, |plane, word| plane | word);
    let column = plane.to_le_bytes().iter().fold(0, |column, byte| column | byte);
    let low = [first, plane.trailing_zeros() as usize / SIDE, column.trailing_zeros() as usize];
    let high = [last, 7 - plane.leading_zeros() as usize / SIDE, 7 - column.leading_zeros() as usize];
    Some([low, high])
}

/// The cells of a leaf that are not inactive background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafContent {
    Tile(TreeTile),
    Cells { active: LeafMask, minus: LeafMask },
}

/// Cells as a tree has them.
#[derive(Clone, Copy)]
pub(super) struct TreeCells<'a> {
    pub cells: CellsRef<'a>,
    pub tree: TreeType,
}

impl TreeCells<'_> {
    /// Which of 64 cells of row `(j, k)`, from cell `64 n` on, are active, and which inactive ones have minus the background.
    fn words(&self, j: usize, k: usize, n: usize) -> [u64; 2] {
        let word = |bits: &BitGrid| [bits.row(j, k)[n], 0];
        match self.cells {
            CellsRef::Bits(bits) => word(bits),
            CellsRef::Labels(labels) => word(labels.occupied()),
            CellsRef::Field(field) => field_words(field, j, k, n),
        }
    }

    /// The bits of the value of an active cell.
    pub(super) fn value(&self, cell: [usize; 3]) -> u32 {
        match (self.cells, self.tree) {
            (CellsRef::Field(field), _) => canonical(field.get(cell)),
            (CellsRef::Labels(labels), TreeType::Int32) => labels.get(cell).into(),
            (_, TreeType::Float) => 1_f32.to_bits(),
            _ => 1,
        }
    }

    /// Whether active cells may have different values.
    fn has_values(&self) -> bool {
        match self.cells {
            CellsRef::Field(_) => true,
            CellsRef::Labels(_) => self.tree == TreeType::Int32,
            CellsRef::Bits(_) => false,
        }
    }

    /// Hands on the leaves of a column that are not all background, from layer `k` on, by their place `[x, y]` in it.
    pub(super) fn each_leaf(
        &self,
        column: [usize; 2],
        k: usize,
        mut take: impl FnMut([usize; 2], LeafContent) -> io::Result<()>,
    ) -> io::Result<()> {
        let [nx, ny, nz] = self.cells.dims();
        let rows = ny.saturating_sub(MIDDLE * column[1]).min(MIDDLE);
        let words = nx.div_ceil(64).saturating_sub(2 * column[0]).min(2);
        for y in 0..rows.div_ceil(SIDE) {
            let j = MIDDLE * column[1] + SIDE * y;
            for w in 0..words {
                let n = 2 * column[0] + w;
                let mut active = [[0; SIDE]; SIDE];
                let mut minus = active;
                let mut any = 0;
                for (dy, dz) in (0..SIDE.min(ny - j)).flat_map(|y| (0..SIDE.min(nz - k)).map(move |z| (y, z)))
                {
                    let [one, other] = self.words(j + dy, k + dz, n);
                    (active[dy][dz], minus[dy][dz]) = (one, other);
                    any |= one | other;
                }
                for byte in (0..SIDE).filter(|byte| any >> (8 * byte) & 0xff != 0) {
                    let place = [SIDE * w + byte, y];
                    let first = [64 * n + SIDE * byte, j, k];
                    take(place, self.content(first, mask_of(&active, byte), mask_of(&minus, byte)))?;
                }
            }
        }
        Ok(())
    }

    /// A tile, if all cells of a leaf are the same.
    fn content(&self, first: [usize; 3], active: LeafMask, minus: LeafMask) -> LeafContent {
        const ALL: LeafMask = [!0; SIDE];
        if minus == ALL {
            return LeafContent::Tile(TreeTile::Minus);
        }
        let value = || self.value(first);
        match active == ALL {
            true if !self.has_values() || self.each_value(first, &active).all(|other| other == value()) => {
                LeafContent::Tile(TreeTile::Active(value()))
            }
            _ => LeafContent::Cells { active, minus },
        }
    }

    /// The values of the cells of a mask, in its order; `first` is the first cell of the leaf.
    pub(super) fn each_value(&self, first: [usize; 3], mask: &LeafMask) -> impl Iterator<Item = u32> {
        let place = move |x: usize, bit: usize| [first[0] + x, first[1] + bit / SIDE, first[2] + bit % SIDE];
        let cells = mask
            .iter()
            .enumerate()
            .flat_map(move |(x, word)| crate::kernel::bits_of(*word).map(move |bit| place(x, bit)));
        cells.map(|cell| self.value(cell))
    }
}

fn field_words(field: &Field, j: usize, k: usize, n: usize) -> [u64; 2] {
    let differ = field.word(j, k, n);
    if differ == 0 {
        return [0; 2];
    }
    let row = &field.row(j, k)[64 * n..];
    let cells = row.iter().take(64).enumerate();
    let minus = cells.fold(0, |word, (i, value)| word | u64::from(field.is_negated(*value)) << i);
    [differ & !minus, minus]
}

/// The mask of the leaf whose cells are byte `byte` of each of these words: of `words[y][z]`, cells along x.
fn mask_of(words: &[[u64; SIDE]; SIDE], byte: usize) -> LeafMask {
    let mut mask = [0; SIDE];
    for (y, rows) in words.iter().enumerate() {
        let square =
            rows.iter().enumerate().fold(0, |all, (z, row)| all | (row >> (8 * byte) & 0xff) << (8 * z));
        if square == 0 {
            continue;
        }
        for (word, column) in mask.iter_mut().zip(transposed(square).to_le_bytes()) {
            *word |= u64::from(column) << (8 * y);
        }
    }
    mask
}

/// A square of 8 × 8 bits with rows and columns exchanged (Warren, Hacker's Delight, section 7-3).
fn transposed(square: u64) -> u64 {
    let swap = |square: u64, by: u32, mask: u64| {
        let change = (square ^ square >> by) & mask;
        square ^ change ^ change << by
    };
    let square = swap(square, 7, 0x00aa_00aa_00aa_00aa);
    let square = swap(square, 14, 0x0000_cccc_0000_cccc);
    swap(square, 28, 0x0000_0000_f0f0_f0f0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_are_transposed() {
        for n in 0..64 {
            assert_eq!(transposed(1 << n), 1 << (n % 8 * 8 + n / 8));
        }
        assert_eq!(transposed(0x8000_0000_0000_0f01), 1 | 1 << 1 | 1 << 9 | 1 << 17 | 1 << 25 | 1 << 63);
    }

    #[test]
    fn masks_have_x_slowest_and_bounds_are_tight() {
        let mut bits = BitGrid::new([20, 12, 9]).unwrap();
        for cell in [[9, 8, 0], [10, 11, 8], [15, 9, 3]] {
            bits.set(cell);
        }
        let cells = TreeCells { cells: (&bits).into(), tree: TreeType::Bool };
        let mut found = vec![];
        for k in [0, 8] {
            let mut take = |place, content| {
                found.push((place, k, content));
                Ok(())
            };
            cells.each_leaf([0, 0], k, &mut take).unwrap();
        }
        let mut low = [0; 8];
        low[1] = 1;
        low[7] = 1 << (8 + 3);
        let mut high = [0; 8];
        high[2] = 1 << (3 * 8);
        let content = |active| LeafContent::Cells { active, minus: [0; 8] };
        assert_eq!(found, [([1, 1], 0, content(low)), ([1, 1], 8, content(high))]);
        assert_eq!(bounds_of(&low), Some([[1, 0, 0], [7, 1, 3]]));
        assert_eq!(bounds_of(&[0; 8]), None);
        assert_eq!(joined(bounds_of(&low), bounds_of(&high)), Some([[1, 0, 0], [7, 3, 3]]));
    }
}
