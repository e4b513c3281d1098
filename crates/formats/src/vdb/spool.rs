//! Stores leaves until the file is written. Slabs arrive layer by layer, but in the file all masks precede
//! all values, and x varies slowest.
//!
//! The leaves of a column are appended to two temporary files, one for masks and one for values. Short
//! temporary files stay in memory. In addition, each column of 2¹⁷ cells takes about fifty bytes of memory.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use tempfile::SpooledTempFile;

use super::TreeType;
use super::column::{ColumnLeaves, SpooledLeaf, take_leaf};
use super::leaf::{CellBounds, LEAVES, SIDE, TreeCells, joined};
use super::runs::{LeafRun, RunContent, place_in};
use super::tree::MIDDLE;
use crate::save::{SPOOL, not_spooled};
use crate::steps::{cancelled, next};
use voxelize_core::error::Error;
use voxelize_core::grid::{CellSource, Slab};
use voxelize_core::par::{self, Progress};

/// Number of columns whose leaves each thread makes before they are stored.
const COLUMNS_PER_THREAD: usize = 4;

/// Maximum number of bytes of a column that is being made.
const COLUMN_BYTES: usize = 600_000;

/// Returns an upper bound for the memory in bytes of all columns of a grid, of the columns that are being
/// made, and of the temporary files.
pub(super) fn bytes_at_once(dims: [usize; 3], threads: usize) -> u64 {
    let [x, y, z] = [
        dims[0].div_ceil(MIDDLE),
        dims[1].div_ceil(MIDDLE),
        dims[2].div_ceil(SIDE),
    ];
    let all = x as u64 * y as u64 * z as u64 * size_of::<LeafRun>() as u64;
    // The capacity of a growing vector may be twice its length.
    2 * (all + 2 * SPOOL as u64) + (COLUMNS_PER_THREAD * threads * COLUMN_BYTES) as u64
}

/// Bytes that are appended to a temporary file and read later.
struct Appended {
    file: SpooledTempFile,
    length: u64,
}

impl Appended {
    fn new() -> Self {
        Self {
            file: SpooledTempFile::new(SPOOL),
            length: 0,
        }
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<Range<u64>> {
        self.file.write_all(bytes).map_err(not_spooled)?;
        let start = self.length;
        self.length += bytes.len() as u64;
        Ok(start..self.length)
    }

    /// Appends these bytes of the temporary file to `out`.
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
    /// Runs in the order of the file. Runs that are all background are left out.
    pub runs: Vec<LeafRun>,
    /// Number of active cells.
    pub active: u64,
    /// Bounding box of the active cells. `None` if there are none.
    pub bounds: Option<CellBounds>,
}

impl Spool {
    /// Collects all cells of a grid.
    pub(super) fn collect(
        source: &mut dyn CellSource,
        tree: TreeType,
        is_zipped: bool,
        progress: &dyn Progress,
    ) -> io::Result<Self> {
        let [heads, blocks] = [Appended::new(), Appended::new()];
        let mut all = Self {
            heads,
            blocks,
            runs: Vec::new(),
            active: 0,
            bounds: None,
        };
        progress.begin("write", source.dims()[2].div_ceil(SIDE) as u64);
        while let Some(slab) = next(source)? {
            if slab.first % SIDE != 0 {
                return Err(io::Error::other(Error::usage(
                    "slabs of a .vdb begin at a multiple of 8 layers",
                )));
            }
            all.take(slab, tree, is_zipped, progress)?;
        }
        all.runs.sort_unstable_by_key(LeafRun::key);
        Ok(all)
    }

    fn take(
        &mut self,
        slab: Slab,
        tree: TreeType,
        is_zipped: bool,
        progress: &dyn Progress,
    ) -> io::Result<()> {
        let cells = TreeCells {
            cells: slab.cells,
            tree,
        };
        let [nx, ny, layers] = slab.cells.dims();
        let [columns, rows] = [nx, ny].map(|n| n.div_ceil(MIDDLE));
        let all = layers.div_ceil(SIDE) * columns * rows;
        let count = COLUMNS_PER_THREAD * par::current_threads();
        for first in (0..all).step_by(count) {
            cancelled(progress)?;
            let batch = first..all.min(first + count);
            let place = |n: usize| {
                (
                    [n % columns, n / columns % rows],
                    n / (columns * rows) * SIDE,
                )
            };
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
        let moved =
            |bounds: CellBounds| bounds.map(|cell| std::array::from_fn(|n| first[n] + cell[n]));
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

    /// Returns the leaves of a node with their indices. If `values` is given, replaces its content by the
    /// values of the node's cells.
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
                    let places =
                        (0..(LEAVES * LEAVES) as u32).map(|n| place_in([0, n, z], LEAVES as u32));
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
                        let (place, leaf) = take_leaf(&mut rest, &mut start)?;
                        leaves.push((place_in([0, place.into(), z], LEAVES as u32), leaf));
                    }
                }
            }
        }
        leaves.sort_unstable_by_key(|(place, _)| *place);
        Ok(leaves)
    }
}
