//! Leaves between slabs and file: slabs come layer by layer, a file has all masks before all values, and x is slowest there.
//!
//! Leaves of eight layers are kept in runs: those of a column of 16 × 16 are written one after the other to two temporary
//! files, which stay in memory while they are short. For a run, 2¹⁷ cells, some fifty bytes are kept in any case.
//!
//! | bytes of a leaf in `heads` | content |
//! |---|---|
//! | 1 | its place in the column: 16 x + y |
//! | 1 | 0: cells, 1: an active tile, 2: a tile of minus the background |
//! | 64, 4 | of cells: the mask, the length of what is in `blocks` |
//! | 4 | of an active tile: its value |

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use tempfile::SpooledTempFile;

use super::super::save::{cancelled, next, not_spooled};
use super::TreeType;
use super::leaf::{CellBounds, LEAVES, LeafContent, LeafMask, SIDE, TreeCells, bounds_of, joined};
use super::pack::Packer;
use super::tree::{MIDDLE, NodeSlot, TreeTile, UPPER, put_mask, put_value, put_values};
use crate::error::Error;
use crate::grid::{CellSource, Slab};
use crate::par::{self, Progress};

/// Bytes of each temporary file that stay in memory.
const IN_MEMORY: usize = 8 << 20;

/// Columns whose leaves are made at once: each takes 600 KB at most.
const COLUMNS: usize = 32;

/// The nodes of leaves along a side of a child of the root.
const NODES: u32 = (UPPER / MIDDLE) as u32;

/// A column of leaves in eight layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeafRun {
    /// The column, and the number of eight layers.
    place: [u32; 3],
    content: RunContent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum RunContent {
    Tile(TreeTile),
    Leaves { heads: Range<u64>, blocks: Range<u64> },
}

impl LeafRun {
    /// The node of leaves that it belongs to, along each axis.
    fn node(&self) -> [u32; 3] {
        let [x, y, layer] = self.place;
        [x, y, layer / LEAVES as u32]
    }

    /// The child of the root that it belongs to, along each axis.
    fn upper(&self) -> [u32; 3] {
        self.node().map(|n| n / NODES)
    }

    /// The place of its node among those of a child of the root.
    fn place_of_node(&self) -> usize {
        place_in(self.node().map(|n| n % NODES), NODES)
    }
}

/// The place of a child in a node of so many along each axis.
fn place_in([x, y, z]: [u32; 3], side: u32) -> usize {
    ((x * side + y) * side + z) as usize
}

/// The children of the root, each with its runs.
pub(super) fn uppers(runs: &[LeafRun]) -> impl Iterator<Item = &[LeafRun]> {
    runs.chunk_by(|a, b| a.upper() == b.upper())
}

/// The lowest cell of a child of the root.
pub(super) fn upper_origin(runs: &[LeafRun]) -> [i32; 3] {
    runs.first().map_or([0; 3], |run| run.upper().map(|n| n as i32 * UPPER as i32))
}

/// The lowest cell of the leaf at this place in a node of leaves.
pub(super) fn leaf_origin(runs: &[LeafRun], place: usize) -> [i32; 3] {
    let node = runs.first().map_or([0; 3], LeafRun::node);
    let within = [place / (LEAVES * LEAVES), place / LEAVES % LEAVES, place % LEAVES];
    std::array::from_fn(|n| node[n] as i32 * MIDDLE as i32 + (SIDE * within[n]) as i32)
}

/// The nodes of leaves of a child of the root, each with its runs, place and what it is there.
pub(super) fn nodes(runs: &[LeafRun]) -> impl Iterator<Item = (usize, NodeSlot, &[LeafRun])> {
    runs.chunk_by(|a, b| a.node() == b.node()).map(|runs| {
        let tile = uniform(runs.iter().map(|run| tile_of(&run.content)), LEAVES);
        (runs[0].place_of_node(), tile.map_or(NodeSlot::Child, NodeSlot::Tile), runs)
    })
}

/// The tile in the stead of a child of the root, if all its nodes are that tile.
pub(super) fn upper_tile(runs: &[LeafRun]) -> Option<TreeTile> {
    let tile = |slot| if let NodeSlot::Tile(tile) = slot { Some(tile) } else { None };
    uniform(nodes(runs).map(|(_, slot, _)| tile(slot)), (NODES * NODES * NODES) as usize)
}

fn tile_of(content: &RunContent) -> Option<TreeTile> {
    if let RunContent::Tile(tile) = content { Some(*tile) } else { None }
}

/// What all are, if there are so many.
fn uniform(mut tiles: impl Iterator<Item = Option<TreeTile>>, count: usize) -> Option<TreeTile> {
    let first = tiles.next()??;
    let others = tiles.map_while(|tile| (tile == Some(first)).then_some(())).count();
    (others + 1 == count).then_some(first)
}

/// A leaf of a node, or the tile in its stead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SpooledLeaf {
    Tile(TreeTile),
    /// The mask of the active cells, and where its values are among those of the node.
    Cells(LeafMask, Range<usize>),
}

/// Bytes that are appended, and read later.
struct Appended {
    file: SpooledTempFile,
    length: u64,
}

impl Appended {
    fn new() -> Self {
        Self { file: SpooledTempFile::new(IN_MEMORY), length: 0 }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.file.write_all(bytes).map_err(not_spooled)?;
        let start = self.length;
        self.length += bytes.len() as u64;
        Ok(start..self.length)
    }

    /// Appends the bytes of `range` to `out`.
    fn load(&mut self, range: &Range<u64>, out: &mut Vec<u8>) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(range.start))?;
        let start = out.len();
        out.resize(start + (range.end - range.start) as usize, 0);
        self.file.read_exact(&mut out[start..])
    }
}

/// All leaves of a grid.
pub(super) struct Spool {
    heads: Appended,
    blocks: Appended,
    /// The runs in the order of the file, save those that are all background.
    pub runs: Vec<LeafRun>,
    /// The number of active cells.
    pub active: u64,
    /// The box of the active cells.
    pub bounds: Option<CellBounds>,
}

impl Spool {
    /// Takes all cells of a grid.
    pub(super) fn collect(
        source: &mut dyn CellSource,
        tree: TreeType,
        is_zipped: bool,
        progress: &dyn Progress,
    ) -> io::Result<Self> {
        let [heads, blocks] = [Appended::new(), Appended::new()];
        let mut all = Self { heads, blocks, runs: Vec::new(), active: 0, bounds: None };
        progress.begin("write", source.dims()[2].div_ceil(SIDE) as u64);
        while let Some(slab) = next(source)? {
            if slab.first % SIDE != 0 {
                return Err(io::Error::other(Error::usage(
                    "slabs of a .vdb begin at a multiple of 8 layers",
                )));
            }
            all.take(slab, tree, is_zipped, progress)?;
        }
        all.runs.sort_unstable_by_key(|run| (run.upper(), run.place_of_node(), run.place[2]));
        Ok(all)
    }

    fn take(
        &mut self,
        slab: Slab,
        tree: TreeType,
        is_zipped: bool,
        progress: &dyn Progress,
    ) -> io::Result<()> {
        let cells = TreeCells { cells: slab.cells, tree };
        let [nx, ny, layers] = slab.cells.dims();
        let [columns, rows] = [nx, ny].map(|n| n.div_ceil(MIDDLE));
        let all = layers.div_ceil(SIDE) * columns * rows;
        for first in (0..all).step_by(COLUMNS) {
            cancelled(progress)?;
            let batch = first..all.min(first + COLUMNS);
            let place = |n: usize| ([n % columns, n / columns % rows], n / (columns * rows) * SIDE);
            let made = par::map_range(batch.clone(), |n| {
                let (column, k) = place(n);
                ColumnLeaves::of(cells, column, k, is_zipped)
            });
            for (n, column) in batch.zip(made) {
                let ([x, y], k) = place(n);
                let layer = (slab.first + k) / SIDE;
                self.append(column?, [x as u32, y as u32, layer as u32])?;
                progress.advance(u64::from((n + 1) % (columns * rows) == 0));
            }
        }
        Ok(())
    }

    fn append(&mut self, column: ColumnLeaves, place: [u32; 3]) -> io::Result<()> {
        self.active += column.active;
        let [x, y, z] = place.map(|n| n as usize);
        let first = [MIDDLE * x, MIDDLE * y, SIDE * z];
        let moved = |bounds: CellBounds| bounds.map(|cell| std::array::from_fn(|n| first[n] + cell[n]));
        self.bounds = joined(self.bounds, column.bounds.map(moved));
        let content = match column.tile() {
            Some(tile) => RunContent::Tile(tile),
            None if column.heads.is_empty() => return Ok(()),
            None => RunContent::Leaves {
                heads: self.heads.append(&column.heads)?,
                blocks: self.blocks.append(&column.blocks)?,
            },
        };
        self.runs.push(LeafRun { place, content });
        Ok(())
    }

    /// The leaves of a node by their places, and, if they are wanted, the values of its cells.
    pub(super) fn leaves(
        &mut self,
        runs: &[LeafRun],
        mut values: Option<&mut Vec<u8>>,
    ) -> io::Result<Vec<(usize, SpooledLeaf)>> {
        let mut leaves = Vec::new();
        let mut start = 0;
        if let Some(values) = &mut values {
            values.clear();
        }
        for run in runs {
            let z = run.place[2] % LEAVES as u32;
            match &run.content {
                RunContent::Tile(tile) => {
                    let places = (0..(LEAVES * LEAVES) as u32).map(|n| place_in([0, n, z], LEAVES as u32));
                    leaves.extend(places.map(|place| (place, SpooledLeaf::Tile(*tile))));
                }
                RunContent::Leaves { heads, blocks } => {
                    if let Some(values) = &mut values {
                        self.blocks.load(blocks, values)?;
                    }
                    let mut bytes = Vec::new();
                    self.heads.load(heads, &mut bytes)?;
                    let mut rest = &bytes[..];
                    while !rest.is_empty() {
                        let (place, leaf) = take_head(&mut rest, &mut start)?;
                        leaves.push((place_in([0, place.into(), z], LEAVES as u32), leaf));
                    }
                }
            }
        }
        leaves.sort_unstable_by_key(|(place, _)| *place);
        Ok(leaves)
    }
}

/// The leaves of a column in eight layers, as bytes.
#[derive(Default)]
struct ColumnLeaves {
    heads: Vec<u8>,
    blocks: Vec<u8>,
    /// The tile of the first leaf, and how many leaves are the same tile.
    tiles: Option<(TreeTile, usize)>,
    active: u64,
    bounds: Option<CellBounds>,
}

impl ColumnLeaves {
    fn of(cells: TreeCells, column: [usize; 2], k: usize, is_zipped: bool) -> io::Result<Self> {
        let mut all = Self::default();
        // Its memory is only worth it for values.
        let mut packer = None;
        cells.each_leaf(column, k, |[x, y], content| {
            all.heads.push((LEAVES * x + y) as u8);
            let first = [MIDDLE * column[0] + SIDE * x, MIDDLE * column[1] + SIDE * y, k];
            let mask = match content {
                LeafContent::Tile(tile) => all.put_tile(tile),
                LeafContent::Cells { active, minus } => {
                    all.heads.push(CELLS);
                    put_mask(&active, &mut all.heads);
                    let start = all.blocks.len();
                    if cells.tree != TreeType::Bool {
                        let values: Vec<u8> =
                            cells.each_value(first, &active).flat_map(u32::to_le_bytes).collect();
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

    /// Counts the active cells of a leaf at `first`, relative to the column.
    fn count(&mut self, mask: &LeafMask, first: [usize; 3]) {
        self.active += mask.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
        let moved = |bounds: CellBounds| bounds.map(|cell| std::array::from_fn(|n| first[n] + cell[n]));
        self.bounds = joined(self.bounds, bounds_of(mask).map(moved));
    }

    /// The tile that all its leaves are.
    fn tile(&self) -> Option<TreeTile> {
        self.tiles.filter(|(_, count)| *count == LEAVES * LEAVES).map(|(tile, _)| tile)
    }
}

/// A leaf has cells.
const CELLS: u8 = 0;

/// A leaf is an active tile.
const ACTIVE: u8 = 1;

/// A leaf is a tile of minus the background.
const MINUS: u8 = 2;

/// The place in its column and the content of the leaf that `bytes` begin with; its values follow those at `start`.
fn take_head(bytes: &mut &[u8], start: &mut usize) -> io::Result<(u8, SpooledLeaf)> {
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

/// A mask as words.
pub(super) fn words(bytes: &[u8; 64]) -> LeafMask {
    let mut mask = [0; SIDE];
    for (word, bytes) in mask.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    mask
}
