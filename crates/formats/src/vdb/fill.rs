//! Fills a grid with the tiles and leaves of a tree.

use super::TreeType;
use super::leaf::{CellBounds, LeafMask, SIDE, bounds_of, joined};
use super::walk::{TileBox, TreeVisitor, TreeWalk};
use crate::dense::RowValues;
use crate::room::CellRoom;
use voxelize_core::error::{Code, Error, Result};
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{BitGrid, Cells, Field};

/// Number of leaves whose values are read together.
const LEAVES: usize = 8192;

/// Bounding box of the active cells. Indices are relative to the least 32-bit number, so that they are not
/// negative.
#[derive(Default)]
pub(super) struct ActiveBounds(pub Option<CellBounds>);

/// Returns a number relative to the least 32-bit number.
fn raised(n: i32) -> usize {
    n.abs_diff(i32::MIN) as usize
}

impl ActiveBounds {
    /// Returns the lowest and the highest cell of the bounding box. `None` if no cell is active.
    pub(super) fn cells(&self) -> Option<[[i64; 3]; 2]> {
        self.0
            .map(|bounds| bounds.map(|cell| cell.map(|n| n as i64 + i64::from(i32::MIN))))
    }

    fn add(&mut self, origin: [i32; 3], within: CellBounds) {
        let moved = within.map(|cell| std::array::from_fn(|n| raised(origin[n]) + cell[n]));
        self.0 = joined(self.0, Some(moved));
    }
}

impl TreeVisitor for ActiveBounds {
    fn tile(&mut self, tile: TileBox) -> Result<()> {
        if tile.is_active {
            self.add(tile.origin, [[0; 3], [tile.side - 1; 3]]);
        }
        Ok(())
    }

    fn leaf(&mut self, _: &mut TreeWalk, origin: [i32; 3], mask: &LeafMask) -> Result<()> {
        if let Some(bounds) = bounds_of(mask) {
            self.add(origin, bounds);
        }
        Ok(())
    }
}

/// Storage for the cells of a grid.
enum TreeStore {
    /// A cell is occupied if its value is not 0.
    Bits(BitGrid),
    Labels(RowValues),
    Field(Field),
}

/// Grid that is being filled from a tree.
pub(super) struct TreeFill {
    /// Index in the tree of the grid's cell (0, 0, 0).
    base: [i64; 3],
    dims: [usize; 3],
    store: TreeStore,
    /// Origins and masks of the leaves whose values are not read yet.
    pending: Vec<([i32; 3], LeafMask)>,
    /// Offset of the values of these leaves in the file.
    buffers: u64,
}

impl TreeFill {
    /// Creates a grid in which all cells have the background. If `metadata` has dims, it describes the cells.
    pub(super) fn new(
        base: [i64; 3],
        dims: [usize; 3],
        (tree, background): (TreeType, u32),
        metadata: &Metadata,
        room: CellRoom,
        buffers: u64,
    ) -> Result<Self> {
        let is_fog = metadata.dims.is_some() && metadata.background.is_none();
        let store = match tree {
            TreeType::Int32 => {
                TreeStore::Labels(RowValues::new(dims, metadata.legend.as_ref(), room)?)
            }
            TreeType::Float if !is_fog => {
                let background = f32::from_bits(canonical(f32::from_bits(background)));
                let mut field = room.field(dims)?.with_background(background);
                // A background of zero is not written, so that memory pages are allocated only for other
                // values.
                if background.to_bits() != 0 {
                    field.values_mut().fill(background);
                }
                TreeStore::Field(field)
            }
            _ => TreeStore::Bits(room.bits(dims)?),
        };
        Ok(Self {
            base,
            dims,
            store,
            pending: Vec::new(),
            buffers,
        })
    }

    /// Reads the values of the remaining leaves. Returns the cells, and the offset at which the values end.
    pub(super) fn finish(mut self, walk: &mut TreeWalk) -> Result<(Cells, u64)> {
        self.read_pending(walk)?;
        let cells = match self.store {
            TreeStore::Bits(bits) => bits.into(),
            TreeStore::Labels(values) => values.cells,
            TreeStore::Field(field) => field.into(),
        };
        Ok((cells, self.buffers))
    }

    /// Reads the values of the pending leaves, and then seeks back to the current position.
    fn read_pending(&mut self, walk: &mut TreeWalk) -> Result<()> {
        let back = walk.source.position();
        walk.source.seek(self.buffers)?;
        for (origin, mask) in std::mem::take(&mut self.pending) {
            walk.leaf(origin, &mask)?;
            self.put(origin, SIDE, &|place| walk.values[place])?;
        }
        self.buffers = walk.source.position();
        walk.source.seek(back)
    }

    /// Returns the range of cells along an axis that are both in the grid and in a cube. The cube begins at
    /// `origin`.
    fn range(&self, axis: usize, origin: i32, side: usize) -> std::ops::Range<usize> {
        let first = i64::from(origin) - self.base[axis];
        let within = |n: i64| n.clamp(0, self.dims[axis] as i64) as usize;
        within(first)..within(first + side as i64)
    }

    /// Stores the values of a cube of cells. `value` returns the value at an index within the cube.
    fn put(&mut self, origin: [i32; 3], side: usize, value: &dyn Fn(usize) -> u32) -> Result<()> {
        let [columns, rows, layers] = [0, 1, 2].map(|axis| self.range(axis, origin[axis], side));
        let low: [i64; 3] = std::array::from_fn(|axis| i64::from(origin[axis]) - self.base[axis]);
        let place = |axis: usize, n: usize| (n as i64 - low[axis]) as usize;
        for (k, j) in layers.flat_map(|k| rows.clone().map(move |j| (k, j))) {
            let start = SIDE * place(1, j) + place(2, k);
            for i in columns.clone() {
                let bits = value(SIDE * SIDE * place(0, i) + start);
                self.store.set([i, j, k], bits)?;
            }
        }
        Ok(())
    }
}

impl TreeStore {
    fn set(&mut self, cell: [usize; 3], bits: u32) -> Result<()> {
        match self {
            // The shift ignores the sign bit, so that -0 is empty as well as 0. In trees of other types no
            // value has only the highest bit set.
            Self::Bits(grid) if bits << 1 != 0 => grid.set(cell),
            Self::Bits(_) => {}
            Self::Labels(values) => match label(bits)? {
                0 => {}
                value => values.set(cell, value)?,
            },
            Self::Field(field) => field.set(cell, f32::from_bits(bits)),
        }
        Ok(())
    }
}

/// Converts an integer to a label. Fails if it is too large.
fn label(bits: u32) -> Result<u8> {
    u8::try_from(bits).map_err(|_| {
        let text = format!(
            "a cell has the value {}; labels are 1 to 255",
            bits.cast_signed()
        );
        Error::input(Code::V004, text)
    })
}

impl TreeVisitor for TreeFill {
    fn tile(&mut self, tile: TileBox) -> Result<()> {
        let [columns, rows, layers] =
            [0, 1, 2].map(|axis| self.range(axis, tile.origin[axis], tile.side));
        for (k, j) in layers.flat_map(|k| rows.clone().map(move |j| (k, j))) {
            match &mut self.store {
                TreeStore::Bits(_) if tile.bits << 1 == 0 => return Ok(()),
                TreeStore::Bits(bits) => fill_row(bits, columns.clone(), j, k),
                TreeStore::Field(field) => {
                    field.row_mut(j, k)[columns.clone()].fill(f32::from_bits(tile.bits))
                }
                store @ TreeStore::Labels(_) => {
                    for i in columns.clone() {
                        store.set([i, j, k], tile.bits)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn leaf(&mut self, walk: &mut TreeWalk, origin: [i32; 3], mask: &LeafMask) -> Result<()> {
        self.pending.push((origin, *mask));
        if self.pending.len() == LEAVES {
            self.read_pending(walk)
        } else {
            Ok(())
        }
    }
}

/// Sets a range of cells in row `(j, k)`.
fn fill_row(bits: &mut BitGrid, cells: std::ops::Range<usize>, j: usize, k: usize) {
    let first = (k * bits.dims()[1] + j) * bits.row_words();
    let words = bits.words_mut();
    let mut start = cells.start;
    while start < cells.end {
        let end = cells.end.min(64 * (start / 64 + 1));
        words[first + start / 64] |= !0 >> (64 - (end - start)) << (start % 64);
        start = end;
    }
}
