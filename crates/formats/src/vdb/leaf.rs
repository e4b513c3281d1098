//! Makes leaves from slabs. Eight layers of cells are divided into columns of 16 × 16 leaves.

use std::io;

use super::TreeType;
use super::tree::{MIDDLE, TreeTile};
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{BitGrid, CellsRef, Field};
use voxelize_kernel::bits_of;

/// Number of cells along each axis of a leaf.
pub(super) const SIDE: usize = 8;

/// Number of leaves along each axis of a node.
pub(super) const LEAVES: usize = MIDDLE / SIDE;

/// Mask with one bit for each cell of a leaf. Cell `(x, y, z)` is bit `8 y + z` of word `x`.
pub(super) type LeafMask = [u64; SIDE];

/// Lowest and highest cell of a box.
pub(super) type CellBounds = [[usize; 3]; 2];

/// Returns the smallest box that contains both boxes. `None` if neither exists.
pub(super) fn joined(one: Option<CellBounds>, other: Option<CellBounds>) -> Option<CellBounds> {
    match (one, other) {
        (Some([a, b]), Some([c, d])) => Some([
            std::array::from_fn(|n| a[n].min(c[n])),
            std::array::from_fn(|n| b[n].max(d[n])),
        ]),
        (one, other) => one.or(other),
    }
}

/// Returns the bounding box of the cells in a mask. `None` if the mask is empty.
pub(super) fn bounds_of(mask: &LeafMask) -> Option<CellBounds> {
    let first = mask.iter().position(|word| *word != 0)?;
    let last = mask.iter().rposition(|word| *word != 0)?;
    let plane = mask.iter().fold(0, |plane, word| plane | word);
    let column = plane
        .to_le_bytes()
        .iter()
        .fold(0, |column, byte| column | byte);
    let low = [
        first,
        plane.trailing_zeros() as usize / SIDE,
        column.trailing_zeros() as usize,
    ];
    let high = [
        last,
        7 - plane.leading_zeros() as usize / SIDE,
        7 - column.leading_zeros() as usize,
    ];
    Some([low, high])
}

/// Content of a leaf in which some cell is active or differs from the background.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeafContent {
    Tile(TreeTile),
    Cells { active: LeafMask, minus: LeafMask },
}

/// Words of 64 cells along x, for 8 × 8 rows: `words[y][z]`.
type WordBlock = [[u64; SIDE]; SIDE];

/// Labels of 64 cells along x, for 8 × 8 rows: `labels[y][z][x]`.
type LabelBlock = [[[u8; 64]; SIDE]; SIDE];

/// Source of the values of a leaf's active cells.
#[derive(Clone, Copy)]
pub(super) enum LeafValues<'a> {
    /// The same value for all cells.
    One(u32),
    /// Labels of a block. The leaf begins at this x within the block.
    Labels(&'a LabelBlock, usize),
    /// Values of a field. The leaf begins at this cell.
    Field(&'a Field, [usize; 3]),
}

impl LeafValues<'_> {
    /// Returns the value of a cell of the leaf as bits.
    fn get(&self, [x, y, z]: [usize; 3]) -> u32 {
        match self {
            Self::One(value) => *value,
            Self::Labels(labels, first) => labels[y][z][first + x].into(),
            Self::Field(field, [i, j, k]) => canonical(field.row(j + y, k + z)[i + x]),
        }
    }

    /// Returns the values of the cells in a mask, in the order of its bits.
    pub(super) fn each(&self, mask: &LeafMask) -> impl Iterator<Item = u32> {
        let cells = mask
            .iter()
            .enumerate()
            .flat_map(|(x, word)| bits_of(*word).map(move |bit| [x, bit / SIDE, bit % SIDE]));
        cells.map(|cell| self.get(cell))
    }

    /// Returns the value that all cells of a leaf have. `None` if a cell is inactive or if the values differ.
    fn uniform(&self, active: &LeafMask) -> Option<u32> {
        let first = self.get([0; 3]);
        if *active != ALL {
            return None;
        }
        if matches!(self, Self::One(_)) || self.each(active).all(|value| value == first) {
            return Some(first);
        }
        None
    }
}

/// Mask in which all cells of a leaf are set.
const ALL: LeafMask = [!0; SIDE];

/// Cells of a slab, and the type of the tree that stores them.
#[derive(Clone, Copy)]
pub(super) struct TreeCells<'a> {
    pub cells: CellsRef<'a>,
    pub tree: TreeType,
}

impl<'a> TreeCells<'a> {
    /// Returns two words for the 64 cells of row `(j, k)` that begin with cell `64 n`. The first word marks
    /// the active cells, the second the inactive cells with minus the background.
    fn words(&self, j: usize, k: usize, n: usize) -> [u64; 2] {
        let word = |bits: &BitGrid| [bits.row(j, k)[n], 0];
        match self.cells {
            CellsRef::Bits(bits) => word(bits),
            CellsRef::Labels(labels) => word(labels.occupied()),
            CellsRef::Field(field) => field_words(field, j, k, n),
        }
    }

    /// Returns the labels of the block that begins with cell `(64 n, j, k)`. `None` if the tree does not
    /// store labels.
    fn labels(&self, n: usize, j: usize, k: usize) -> Option<LabelBlock> {
        let CellsRef::Labels(labels) = self.cells else {
            return None;
        };
        if self.tree != TreeType::Int32 {
            return None;
        }
        let [nx, ny, nz] = labels.dims();
        let mut block = [[[0; 64]; SIDE]; SIDE];
        for (y, rows) in block.iter_mut().enumerate().take(ny - j) {
            for (z, row) in rows.iter_mut().enumerate().take(nz - k) {
                labels.word_values(n, j + y, k + z, &mut row[..(nx - 64 * n).min(64)]);
            }
        }
        Some(block)
    }

    /// Passes the leaves of a column to `take`, each with its position `[x, y]` in the column. The leaves
    /// begin at layer `k`. Leaves that are all background are left out.
    pub(super) fn each_leaf(
        &self,
        column: [usize; 2],
        k: usize,
        mut take: impl FnMut([usize; 2], LeafContent, LeafValues) -> io::Result<()>,
    ) -> io::Result<()> {
        let [nx, ny, _] = self.cells.dims();
        let rows = ny.saturating_sub(MIDDLE * column[1]).min(MIDDLE);
        let words = nx.div_ceil(64).saturating_sub(2 * column[0]).min(2);
        for (y, w) in (0..rows.div_ceil(SIDE)).flat_map(|y| (0..words).map(move |w| (y, w))) {
            let first = [2 * column[0] + w, MIDDLE * column[1] + SIDE * y, k];
            let (active, minus, any) = self.block(first);
            if any == 0 {
                continue;
            }
            let [n, j, _] = first;
            let labels = self.labels(n, j, k);
            for byte in (0..SIDE).filter(|byte| any >> (8 * byte) & 0xff != 0) {
                let values = match (self.cells, &labels) {
                    (_, Some(labels)) => LeafValues::Labels(labels, SIDE * byte),
                    (CellsRef::Field(field), _) => {
                        LeafValues::Field(field, [64 * n + SIDE * byte, j, k])
                    }
                    _ if self.tree == TreeType::Float => LeafValues::One(1_f32.to_bits()),
                    _ => LeafValues::One(1),
                };
                let content = content(mask_of(&active, byte), mask_of(&minus, byte), values);
                take([SIDE * w + byte, y], content, values)?;
            }
        }
        Ok(())
    }

    /// Returns the words of the block that begins with cell `(64 n, j, k)`: the active cells, the cells with
    /// minus the background, and the union of all these words.
    fn block(&self, [n, j, k]: [usize; 3]) -> (WordBlock, WordBlock, u64) {
        let [_, ny, nz] = self.cells.dims();
        let mut active = [[0; SIDE]; SIDE];
        let mut minus = active;
        let mut any = 0;
        for (y, z) in (0..SIDE.min(ny - j)).flat_map(|y| (0..SIDE.min(nz - k)).map(move |z| (y, z)))
        {
            let [one, other] = self.words(j + y, k + z, n);
            (active[y][z], minus[y][z]) = (one, other);
            any |= one | other;
        }
        (active, minus, any)
    }
}

/// Returns a tile if all cells of a leaf have the same value. Otherwise returns the masks of the leaf.
fn content(active: LeafMask, minus: LeafMask, values: LeafValues) -> LeafContent {
    if minus == ALL {
        return LeafContent::Tile(TreeTile::Minus);
    }
    match values.uniform(&active) {
        Some(value) => LeafContent::Tile(TreeTile::Active(value)),
        None => LeafContent::Cells { active, minus },
    }
}

fn field_words(field: &Field, j: usize, k: usize, n: usize) -> [u64; 2] {
    let differ = field.word(j, k, n);
    if differ == 0 {
        return [0; 2];
    }
    let row = &field.row(j, k)[64 * n..];
    let cells = row.iter().take(64).enumerate();
    let minus = cells.fold(0, |word, (i, value)| {
        word | u64::from(field.is_negated(*value)) << i
    });
    [differ & !minus, minus]
}

/// Returns the mask of a leaf. Its cells are byte number `byte` of each of these words.
fn mask_of(words: &WordBlock, byte: usize) -> LeafMask {
    let mut mask = [0; SIDE];
    for (y, rows) in words.iter().enumerate() {
        let square = rows.iter().enumerate().fold(0, |all, (z, row)| {
            all | (row >> (8 * byte) & 0xff) << (8 * z)
        });
        if square == 0 {
            continue;
        }
        for (word, column) in mask.iter_mut().zip(transposed(square).to_le_bytes()) {
            *word |= u64::from(column) << (8 * y);
        }
    }
    mask
}

/// Transposes a square of 8 × 8 bits (Warren, Hacker's Delight, section 7-3).
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
        assert_eq!(
            transposed(0x8000_0000_0000_0f01),
            1 | 1 << 1 | 1 << 9 | 1 << 17 | 1 << 25 | 1 << 63
        );
    }

    #[test]
    fn masks_have_x_slowest_and_bounds_are_tight() {
        let mut bits = BitGrid::new([20, 12, 9]).unwrap();
        for cell in [[9, 8, 0], [10, 11, 8], [15, 9, 3]] {
            bits.set(cell);
        }
        let cells = TreeCells {
            cells: (&bits).into(),
            tree: TreeType::Bool,
        };
        let mut found = vec![];
        for k in [0, 8] {
            let mut take = |place, content, _: LeafValues| {
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
        let content = |active| LeafContent::Cells {
            active,
            minus: [0; 8],
        };
        assert_eq!(
            found,
            [([1, 1], 0, content(low)), ([1, 1], 8, content(high))]
        );
        assert_eq!(bounds_of(&low), Some([[1, 0, 0], [7, 1, 3]]));
        assert_eq!(bounds_of(&[0; 8]), None);
        assert_eq!(
            joined(bounds_of(&low), bounds_of(&high)),
            Some([[1, 0, 0], [7, 3, 3]])
        );
    }
}
