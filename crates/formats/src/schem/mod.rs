//! `.schem`, the Sponge schematic, version 3, which WorldEdit and similar tools paste into Minecraft: named
//! binary tags in gzip.
//!
//! | tag | content (numbers are big-endian) |
//! |---|---|
//! | `Schematic` compound, within one without a name | all other tags |
//! | `Version` int, `DataVersion` int | 3; 2586, Minecraft 1.16.5, from which later versions convert |
//! | `Metadata` compound: `Name` text | the input |
//! | `Voxelize` text | JSON: the exact lattice and the record of how the grid was made; without the names of labels if the text is over 64 KiB |
//! | `VoxelizeBlocks` compound | for labels, the block of each number |
//! | `Width`, `Height`, `Length` shorts | blocks along x, y and z, unsigned 16 bits |
//! | `Offset` ints | 0, 0, 0: the lowest corner goes to the place of pasting |
//! | `Blocks` compound: `Palette` compound | the number of each block, an int; `minecraft:air` is 0 |
//! | `Data` bytes | the number of each block, x fastest, then z, then y |
//! | `BlockEntities` list | empty |
//!
//! In Minecraft y points up, x east and z south. If z points up in the grid, cell (i, j, k) becomes block (i,
//! k, ny − 1 − j), which turns the grid without mirroring it. If the record states that y points up, the grid
//! is not turned. Block numbers are varints of one byte, because there are at most 49 blocks. Bits are
//! `minecraft:stone`. Labels are blocks of concrete, wool and terracotta in the nearest colours (see the
//! table in the module `blocks`). Up to 48 named labels get different blocks; other labels may share blocks.
//! A file can hold fewer than 2³¹ cells, and the cells must be cubes.
//!
//! <https://github.com/SpongePowered/Schematic-Specification/blob/master/versions/schematic-3.md>

mod blocks;
mod nbt;
mod write;

use super::comments::{METADATA_START, contains, unpacked};
use super::{Choice, Dtype, FileSize, Format, Write, require_cubes};
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::grid::{AXES, CellKind, Lattice};

/// Maximum number of blocks along an axis.
const MOST: usize = u16::MAX as usize;

/// Height of a world in blocks, since Minecraft 1.18.
const WORLD_HEIGHT: usize = 384;

pub(super) const FORMAT: Format = Format {
    name: "schem",
    extensions: &["schem"],
    about: "Sponge schematic for Minecraft (WorldEdit); cubic cells only, fewer than 2³¹; y is up",
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::Bool, Dtype::U8],
    label_names: blocks::blocks,
    // A grid in which y points up must be turned, which needs all of its cells. The bits of a whole grid take
    // at most 256 MiB.
    slab_layers: super::WHOLE,
    limits,
    warnings: |_, [_, _, height]| tall(height).into_iter().collect(),
    size: |dims, _, _, _| Some(FileSize::at_most(dims.iter().map(|n| *n as u128).product())),
    write: Write::Forward(write::write),
    is_ours: |head| contains(&unpacked(head), METADATA_START),
    ..Format::BASE
};

/// Returns the finding that the grid is higher than a Minecraft world (W004). `None` if it is not.
fn tall(height: usize) -> Option<Finding> {
    if height <= WORLD_HEIGHT {
        return None;
    }
    let text = format!(
        "{height} blocks high: a world of Minecraft has {WORLD_HEIGHT}, from -64 to 319; the rest is cut off when it is pasted"
    );
    Some(Finding::new(Code::W004, text).with_hint("use larger cells, or paste parts of it"))
}

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    require_cubes(lattice, "schem")?;
    lattice.map_or(Ok(()), |lattice| count(lattice.dims()).map(drop))
}

/// Returns the number of blocks of a grid. Fails if a file cannot hold them.
fn count(dims: [usize; 3]) -> Result<i32> {
    if let Some(axis) = dims.iter().position(|n| *n > MOST) {
        let count = dims[axis];
        let axis = AXES[axis];
        return Err(too_large(format!(
            "{count} cells along {axis}; a .schem file has at most {MOST}"
        )));
    }
    let all: u128 = dims.iter().map(|n| *n as u128).product();
    i32::try_from(all)
        .map_err(|_| too_large(format!("{all} cells; a .schem file has fewer than 2³¹")))
}

fn too_large(text: String) -> Error {
    Error::too_large(text).with_hint("use larger cells, or save as .npz")
}
