//! Leaves of the tree, encoded as bytes for temporary files. A column has 16 × 16 leaves of eight layers.
//!
//! | bytes of a leaf | content |
//! |---|---|
//! | 1 | the place in the column: 16 x + y |
//! | 1 | 0: cells, 1: an active tile, 2: a tile of minus the background |
//! | 64, 4 | for cells: the mask, and the length of the values, which are stored separately |
//! | 4 | for an active tile: its value |

use std::io::{self, Read};
use std::ops::Range;

use super::TreeType;
use super::leaf::{CellBounds, LEAVES, LeafContent, LeafMask, SIDE, TreeCells, bounds_of, joined};
use super::pack::Packer;
use super::tree::{TreeTile, put_mask, put_value, put_values};

/// Kind of a leaf that has cells.
const CELLS: u8 = 0;

/// Kind of a leaf that is an active tile.
const ACTIVE: u8 = 1;

/// Kind of a leaf that is a tile with minus the background.
const MINUS: u8 = 2;

/// Leaf of a node, or the tile that replaces it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpooledLeaf {
    Tile(TreeTile),
    /// Mask of the active cells, and the range of bytes in which the node stores their values.
    Cells(LeafMask, Range<usize>),
}

/// Encoded leaves of a column, which is eight layers high.
#[derive(Default)]
pub(super) struct ColumnLeaves {
    /// Positions, kinds and masks of the leaves, encoded.
    pub heads: Vec<u8>,
    /// Values of the leaves, encoded.
    pub blocks: Vec<u8>,
    /// Tile of the first leaf, and the number of leaves that are the same tile. `None` if the first leaf is
    /// no tile.
    tiles: Option<(TreeTile, usize)>,
    /// Number of active cells.
    pub active: u64,
    /// Bounding box of the active cells, relative to the column.
    pub bounds: Option<CellBounds>,
}

impl ColumnLeaves {
    pub(super) fn of(
        cells: TreeCells,
        column: [usize; 2],
        k: usize,
        is_zipped: bool,
    ) -> io::Result<Self> {
        let mut all = Self::default();
        // A compressor takes much memory, so it is created only if there are values.
        let mut packer = None;
        cells.each_leaf(column, k, |[x, y], content, values| {
            all.heads.push((LEAVES * x + y) as u8);
            let mask = match content {
                LeafContent::Tile(tile) => all.put_tile(tile),
                LeafContent::Cells { active, minus } => {
                    all.heads.push(CELLS);
                    put_mask(&active, &mut all.heads);
                    let start = all.blocks.len();
                    if cells.tree != TreeType::Bool {
                        let values: Vec<u8> =
                            values.each(&active).flat_map(u32::to_le_bytes).collect();
                        let packer = packer.get_or_insert_with(|| Packer::new(is_zipped));
                        put_values(&active, &minus, &values, packer, &mut all.blocks)?;
                    }
                    let length = (all.blocks.len() - start) as u32;
                    all.heads.extend_from_slice(&length.to_le_bytes());
                    active
                }
            };
            all.count(&mask, [SIDE * x, SIDE * y, 0]);
            Ok(())
        })?;
        Ok(all)
    }

    fn put_tile(&mut self, tile: TreeTile) -> LeafMask {
        let (first, count) = self.tiles.unwrap_or((tile, 0));
        self.tiles = Some((first, count + usize::from(first == tile)));
        match tile {
            TreeTile::Active(value) => {
                self.heads.push(ACTIVE);
                put_value(TreeType::Int32, value, &mut self.heads);
                [!0; SIDE]
            }
            TreeTile::Minus => {
                self.heads.push(MINUS);
                [0; SIDE]
            }
        }
    }

    /// Counts the active cells of a leaf. `first` is the leaf's first cell, relative to the column.
    fn count(&mut self, mask: &LeafMask, first: [usize; 3]) {
        self.active += mask
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum::<u64>();
        let moved =
            |bounds: CellBounds| bounds.map(|cell| std::array::from_fn(|n| first[n] + cell[n]));
        self.bounds = joined(self.bounds, bounds_of(mask).map(moved));
    }

    /// Returns the tile if all leaves of the column are the same tile. Otherwise returns `None`.
    pub(super) fn tile(&self) -> Option<TreeTile> {
        self.tiles
            .filter(|(_, count)| *count == LEAVES * LEAVES)
            .map(|(tile, _)| tile)
    }
}

/// Decodes the first leaf of `bytes`. Returns its position in the column and its content. `start` is the
/// offset of its values, and is advanced to their end.
pub(super) fn take_leaf(bytes: &mut &[u8], start: &mut usize) -> io::Result<(u8, SpooledLeaf)> {
    let [place, kind] = take(bytes)?;
    let leaf = match kind {
        CELLS => {
            let mask = take::<64>(bytes)?;
            let length = u32::from_le_bytes(take(bytes)?) as usize;
            let from = *start;
            *start += length;
            SpooledLeaf::Cells(words(&mask), from..*start)
        }
        ACTIVE => SpooledLeaf::Tile(TreeTile::Active(u32::from_le_bytes(take(bytes)?))),
        _ => SpooledLeaf::Tile(TreeTile::Minus),
    };
    Ok((place, leaf))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> io::Result<[u8; N]> {
    let mut some = [0; N];
    bytes.read_exact(&mut some)?;
    Ok(some)
}

/// Converts the bytes of a mask to words.
pub(super) fn words(bytes: &[u8; 64]) -> LeafMask {
    let mut mask = [0; SIDE];
    for (word, bytes) in mask.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    mask
}
