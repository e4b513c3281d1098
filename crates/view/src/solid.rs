//! Cells for ray casting: the bits of the cells, and the blocks of 8 × 8 × 8 cells that are not empty.

use std::borrow::Cow;

use voxelize_core::error::Result;
use voxelize_core::grid::BitGrid;
use voxelize_core::par;

/// Index of a cell, which may be just outside the grid. The number of cells along an axis fits into an `i32`.
pub(super) type Cell = [i32; 3];

/// Number of cells along each side of a block.
pub(super) const BLOCK: usize = 8;

/// Occupied cells in index space, prepared for ray casting.
pub(super) struct Solid<'a> {
    /// Bits of the cells.
    pub bits: Cow<'a, BitGrid>,
    /// One bit per block. It is set if a cell in the block is occupied.
    pub blocks: BitGrid,
    /// Lowest and highest corner of the box that contains all occupied blocks, in cells. The box does not
    /// extend beyond the grid.
    pub extent: [Cell; 2],
}

impl<'a> Solid<'a> {
    /// Prepares the occupied cells for ray casting. `None` if no cell is occupied.
    ///
    /// # Errors
    /// Fails if the blocks do not fit into memory.
    pub(super) fn new(bits: Cow<'a, BitGrid>) -> Result<Option<Self>> {
        let blocks = blocks_of(&bits)?;
        let Some([low, high]) = blocks.occupied_box() else {
            return Ok(None);
        };
        let dims = bits.dims();
        let end = [0, 1, 2].map(|a| ((high[a] + 1) * BLOCK).min(dims[a]) as i32);
        let extent = [low.map(|n| (n * BLOCK) as i32), end];
        Ok(Some(Self {
            bits,
            blocks,
            extent,
        }))
    }

    /// Returns `true` if a cell is occupied. Cells outside the grid are empty.
    pub(super) fn holds(&self, cell: Cell) -> bool {
        let dims = self.bits.dims();
        let within = (0..3).all(|a| cell[a] >= 0 && cell[a] < dims[a] as i32);
        within && self.bits.get(cell.map(|c| c as usize))
    }

    /// Returns the extent of the occupied cells along each of the given directions. `spacing` is the size of
    /// a cell.
    pub(super) fn reach(&self, spacing: [f64; 3], directions: [[f64; 3]; 6]) -> [f64; 6] {
        let nowhere = [f64::NEG_INFINITY; 6];
        let scaled = directions.map(|d| std::array::from_fn::<_, 3, _>(|a| d[a] * spacing[a]));
        let [_, ny, nz] = self.bits.dims();
        let layers = par::map_range(0..nz, |k| {
            let mut found = nowhere;
            for j in 0..ny {
                // In each row, the extreme cell is the first or the last occupied one.
                for i in ends(self.bits.row(j, k)).into_iter().flatten() {
                    let [x, y, z] = [i as f64, j as f64, k as f64];
                    found = most(found, scaled.map(|d| d[0] * x + d[1] * y + d[2] * z));
                }
            }
            found
        });
        let lowest = layers.into_iter().fold(nowhere, most);
        // The extent so far is that of the lowest corners. The offset from there to the extreme corner of a
        // cell is added.
        std::array::from_fn(|n| lowest[n] + scaled[n].iter().map(|c| c.max(0.0)).sum::<f64>())
    }
}

fn most(a: [f64; 6], b: [f64; 6]) -> [f64; 6] {
    std::array::from_fn(|n| a[n].max(b[n]))
}

/// Returns the indices of the first and the last occupied cell in a row. `None` if the row is empty.
fn ends(row: &[u64]) -> Option<[usize; 2]> {
    let first = row.iter().position(|word| *word != 0)?;
    let last = row.iter().rposition(|word| *word != 0)?;
    let high = 63 - row[last].leading_zeros() as usize;
    Some([
        64 * first + row[first].trailing_zeros() as usize,
        64 * last + high,
    ])
}

/// Returns a grid with one bit for each block of `bits`. It is set if a cell in the block is occupied.
fn blocks_of(bits: &BitGrid) -> Result<BitGrid> {
    let [_, ny, nz] = bits.dims();
    let dims = bits.dims().map(|n| n.div_ceil(BLOCK));
    let layers = par::map_range(0..dims[2], |k| {
        let mut words = vec![0_u64; bits.row_words() * dims[1]];
        for layer in k * BLOCK..((k + 1) * BLOCK).min(nz) {
            for j in 0..ny {
                let row = &mut words[j / BLOCK * bits.row_words()..];
                for (from, to) in bits.row(j, layer).iter().zip(row) {
                    *to |= from;
                }
            }
        }
        words
    });
    let mut blocks = BitGrid::new(dims)?;
    for (k, words) in layers.iter().enumerate() {
        for (n, word) in words.iter().enumerate() {
            let j = n / bits.row_words();
            let first = n % bits.row_words() * BLOCK;
            for (i, byte) in word.to_le_bytes().into_iter().enumerate() {
                if byte != 0 {
                    blocks.set([first + i, j, k]);
                }
            }
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_extent_match_the_cells() {
        let mut cells = BitGrid::new([70, 9, 20]).unwrap();
        for cell in [[0, 0, 0], [69, 8, 8], [63, 1, 19]] {
            cells.set(cell);
        }
        let solid = Solid::new(Cow::Owned(cells)).unwrap().unwrap();
        let blocks: Vec<_> = solid.blocks.iter().collect();
        assert_eq!(blocks, [[0, 0, 0], [8, 1, 1], [7, 0, 2]]);
        assert_eq!(solid.extent, [[0; 3], [70, 9, 20]]);
        let along = [
            [1.0, 0.0, 0.0],
            [-1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0; 3],
            [0.0, 0.0, 1.0],
            [-1.0; 3],
        ];
        assert_eq!(
            solid.reach([2.0, 1.0, 1.0], along),
            [140.0, 0.0, 9.0, 0.0, 20.0, 0.0]
        );
        assert!(solid.holds([69, 8, 8]) && !solid.holds([70, 8, 8]) && !solid.holds([-1, 0, 0]));
        assert!(
            Solid::new(Cow::Owned(BitGrid::new([3; 3]).unwrap()))
                .unwrap()
                .is_none()
        );
    }
}
