//! Writing `.vdb`.

use std::io::{self, SeekFrom};

use flate2::Crc;

use super::TreeType;
use super::column::SpooledLeaf;
use super::head::{UUID, file_head, grid_head, uuid};
use super::leaf::LEAVES;
use super::pack::Packer;
use super::runs::{LeafRun, leaf_origin, nodes, upper_origin, upper_tile, uppers};
use super::spool::Spool;
use super::tree::{MIDDLE, NodeSlot, TreeTile, UPPER, put_mask, put_node, put_value};
use crate::save::Sink;
use crate::steps::cancelled;
use crate::{Dtype, SaveOptions};
use voxelize_core::error::Error;
use voxelize_core::grid::field::canonical;
use voxelize_core::grid::{CellSource, CellType};

pub(super) fn write(
    source: &mut dyn CellSource,
    out: &mut dyn Sink,
    dtype: Dtype,
    options: &SaveOptions,
) -> io::Result<()> {
    let tree = TreeType::of(dtype, options.choices);
    let is_zipped = tree.is_zipped(source.cell_type().kind(), options.choices);
    if source.dims().iter().any(|&n| n > 1 << 30) {
        return Err(io::Error::other(Error::usage(
            "a .vdb has at most 2^30 cells along an axis",
        )));
    }
    let spool = Spool::collect(source, tree, is_zipped, options.progress)?;
    let before = file_head(source, tree);
    let grid = grid_head(source, &spool, tree, dtype, is_zipped);
    let background = match source.cell_type() {
        CellType::Field { background } => canonical(background),
        _ => 0,
    };
    let packer = Packer::new(is_zipped);
    let mut writer = TreeWriter {
        out: SummedSink {
            out,
            sum: Crc::new(),
        },
        spool,
        tree,
        packer,
    };
    let runs = std::mem::take(&mut writer.spool.runs);
    writer.out.put(&before)?;
    writer.out.put(&grid)?;
    let head = writer.out.take_sum();
    writer.topology(&runs, background, options)?;
    let topology = writer.out.take_sum();
    let blocks = writer.out.out.stream_position()?;
    writer.buffers(&runs, options)?;
    let buffers = writer.out.take_sum();
    let out = writer.out.out;
    let end = out.stream_position()?;
    out.seek(SeekFrom::Start(UUID))?;
    out.write_all(uuid([head, topology, buffers, end as u32]).as_bytes())?;
    let offsets = before.len() as u64 - 3 * 8;
    out.seek(SeekFrom::Start(offsets))?;
    for place in [before.len() as u64, blocks, end] {
        out.write_all(&place.to_le_bytes())?;
    }
    out.seek(SeekFrom::Start(end))?;
    out.flush()
}

/// Output that computes a checksum of the bytes written.
struct SummedSink<'a> {
    out: &'a mut dyn Sink,
    sum: Crc,
}

impl SummedSink<'_> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sum.update(bytes);
        self.out.write_all(bytes)
    }

    /// Returns the checksum of the bytes written since the last call, and starts a new one.
    fn take_sum(&mut self) -> u32 {
        let sum = self.sum.sum();
        self.sum.reset();
        sum
    }
}

/// Writer of nodes and leaves.
struct TreeWriter<'a> {
    out: SummedSink<'a>,
    spool: Spool,
    tree: TreeType,
    packer: Packer,
}

impl TreeWriter<'_> {
    /// Writes the tree without the values of its cells.
    fn topology(
        &mut self,
        runs: &[LeafRun],
        background: u32,
        options: &SaveOptions,
    ) -> io::Result<()> {
        let mut root = 1_u32.to_le_bytes().to_vec();
        put_value(self.tree, background, &mut root);
        let tiles: Vec<_> = uppers(runs)
            .filter_map(|runs| Some((upper_origin(runs), upper_tile(runs)?)))
            .collect();
        let children = uppers(runs).count() - tiles.len();
        root.extend(
            [tiles.len(), children]
                .iter()
                .flat_map(|n| (*n as u32).to_le_bytes()),
        );
        for (origin, tile) in tiles {
            let (value, is_active) = match tile {
                TreeTile::Active(value) => (value, 1),
                TreeTile::Minus => ((-f32::from_bits(background)).to_bits(), 0),
            };
            put_origin(origin, &mut root);
            put_value(self.tree, value, &mut root);
            root.push(is_active);
        }
        self.out.put(&root)?;
        for upper in uppers(runs).filter(|runs| upper_tile(runs).is_none()) {
            let mut node = Vec::new();
            put_origin(upper_origin(upper), &mut node);
            let places = (UPPER / MIDDLE).pow(3);
            let slots = nodes(upper).map(|(place, slot, _)| (place, slot));
            put_node(self.tree, places, slots, &mut self.packer, &mut node)?;
            self.out.put(&node)?;
            for (_, _, runs) in nodes(upper).filter(|(_, slot, _)| *slot == NodeSlot::Child) {
                cancelled(options.progress)?;
                self.masks(runs)?;
            }
        }
        Ok(())
    }

    /// Writes a node of leaves and the masks of its leaves.
    fn masks(&mut self, runs: &[LeafRun]) -> io::Result<()> {
        let leaves = self.spool.leaves(runs, None)?;
        let slots = leaves.iter().map(|(place, leaf)| match leaf {
            SpooledLeaf::Tile(tile) => (*place, NodeSlot::Tile(*tile)),
            SpooledLeaf::Cells(..) => (*place, NodeSlot::Child),
        });
        let mut node = Vec::new();
        put_node(self.tree, LEAVES.pow(3), slots, &mut self.packer, &mut node)?;
        for (_, leaf) in &leaves {
            if let SpooledLeaf::Cells(mask, _) = leaf {
                put_mask(mask, &mut node);
            }
        }
        self.out.put(&node)
    }

    /// Writes the values of all cells.
    fn buffers(&mut self, runs: &[LeafRun], options: &SaveOptions) -> io::Result<()> {
        let mut values = Vec::new();
        let mut bytes = Vec::new();
        for (_, slot, runs) in uppers(runs).flat_map(nodes) {
            if slot != NodeSlot::Child {
                continue;
            }
            cancelled(options.progress)?;
            bytes.clear();
            for (place, leaf) in self.spool.leaves(runs, Some(&mut values))? {
                let SpooledLeaf::Cells(mask, range) = leaf else {
                    continue;
                };
                put_mask(&mask, &mut bytes);
                if self.tree == TreeType::Bool {
                    put_origin(leaf_origin(runs, place), &mut bytes);
                    put_mask(&mask, &mut bytes);
                }
                bytes.extend_from_slice(&values[range]);
            }
            self.out.put(&bytes)?;
        }
        Ok(())
    }
}

fn put_origin(origin: [i32; 3], out: &mut Vec<u8>) {
    out.extend(origin.iter().flat_map(|n| n.to_le_bytes()));
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;
    use crate::{InMemory, Voxels};
    use voxelize_core::grid::BitGrid;

    /// The runs are made directly, because a grid of 4096³ cells would be too large for a test.
    #[test]
    fn a_tile_of_the_root_has_a_place_a_value_and_a_state() {
        let none = Voxels::new(BitGrid::new([1; 3]).unwrap());
        let background = 3_f32.to_bits();
        for (tile, value, is_active) in [
            (TreeTile::Active(9), 9, 1),
            (TreeTile::Minus, (-3_f32).to_bits(), 0),
        ] {
            let spool =
                Spool::collect(&mut InMemory::new(&none), TreeType::Float, true, &()).unwrap();
            let mut file = Cursor::new(Vec::new());
            let out = SummedSink {
                out: &mut file,
                sum: Crc::new(),
            };
            let mut writer = TreeWriter {
                out,
                spool,
                tree: TreeType::Float,
                packer: Packer::new(true),
            };
            writer
                .topology(
                    &LeafRun::upper_of(tile),
                    background,
                    &SaveOptions::default(),
                )
                .unwrap();
            // Number of buffers, background, number of tiles, number of children, origin of the tile, value.
            let numbers = [1, background, 1, 0, 0, 4096, 0, value];
            let expected = numbers
                .iter()
                .flat_map(|n| n.to_le_bytes())
                .chain([is_active]);
            assert!(file.into_inner().into_iter().eq(expected), "{tile:?}");
        }
    }
}
