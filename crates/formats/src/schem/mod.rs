//! `.schem`, the Sponge schematic, version 3, which WorldEdit and its like paste into Minecraft: named binary tags in gzip.
//!
//! | tag | content (numbers are big-endian) |
//! |---|---|
//! | `Schematic` compound, in one without a name | all others |
//! | `Version` int, `DataVersion` int | 3; 2586, Minecraft 1.16.5, from which later ones convert |
//! | `Metadata` compound: `Name` text | the input |
//! | `Voxelize` text | JSON: the lattice exactly, and how the grid was made; without the names of labels if these are over 64 KiB |
//! | `VoxelizeBlocks` compound | of labels, for the number of each its block |
//! | `Width`, `Height`, `Length` shorts | blocks along x, y and z, 16 bits without sign |
//! | `Offset` ints | 0, 0, 0: the lowest corner goes to where it is pasted |
//! | `Blocks` compound: `Palette` compound | for each block its number, an int; `minecraft:air` is 0 |
//! | `Data` bytes | the number of each block, x fastest, then z, then y |
//! | `BlockEntities` list | none |
//!
//! y is up in Minecraft, x is east and z is south: cell (i, j, k) of a grid whose z is up is block (i, k, ny − 1 − j), which
//! turns and does not mirror; a grid whose record has y up is not turned. Numbers of blocks are varints, of a
//! byte each, as there are at most 49. Bits are `minecraft:stone`. Labels are blocks of concrete, wool and terracotta
//! in the nearest colours (the table of the module `blocks`); up to 48 labels with names of their own have a
//! block each, others may share one. A file holds fewer than 2³¹ cells, which must be cubes.
//!
//! <https://github.com/SpongePowered/Schematic-Specification/blob/master/versions/schematic-3.md>

mod blocks;
mod nbt;
mod write;

use super::comments::{METADATA_START, contains, unpacked};
use super::{Choice, Dtype, FileSize, Format, Write, require_cubes};
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::grid::{AXES, CellKind, Lattice};

/// The most blocks along an axis.
const MOST: usize = u16::MAX as usize;

/// The blocks from the lowest to the highest of a world since version 1.18.
const WORLD_HEIGHT: usize = 384;

pub(super) const FORMAT: Format = Format {
    name: "schem",
    extensions: &["schem"],
    about: "Sponge schematic for Minecraft (WorldEdit); cubic cells only, fewer than 2³¹; y is up",
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::Bool, Dtype::U8],
    // A grid with y up is turned. All bits of a file take 256 MiB.
    slab_layers: super::WHOLE,
    limits,
    warnings: |_, [_, _, height]| tall(height).into_iter().collect(),
    size: |dims, _, _, _| Some(FileSize::at_most(dims.iter().map(|n| *n as u128).product())),
    write: Write::Forward(write::write),
    is_ours: |head| contains(&unpacked(head), METADATA_START),
    ..Format::BASE
};

/// The finding that a world of Minecraft is not so high (W004).
fn tall(height: usize) -> Option<Finding> {
    let text = format!(
        "{height} blocks high: a world of Minecraft has {WORLD_HEIGHT}, from -64 to 319; the rest is cut off when it is pasted"
    );
    (height > WORLD_HEIGHT)
        .then(|| Finding::new(Code::W004, text).with_hint("use larger cells, or paste parts of it"))
}

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    require_cubes(lattice, "schem")?;
    lattice.map_or(Ok(()), |lattice| count(lattice.dims()).map(drop))
}

/// The blocks of a grid, if a file holds them.
fn count(dims: [usize; 3]) -> Result<i32> {
    let too_large =
        |text: String| Err(Error::too_large(text).with_hint("use larger cells, or save as .npz"));
    if let Some(axis) = dims.iter().position(|n| *n > MOST) {
        let (count, axis) = (dims[axis], AXES[axis]);
        return too_large(format!(
            "{count} cells along {axis}; a .schem file holds at most {MOST}"
        ));
    }
    let all: u128 = dims.iter().map(|n| *n as u128).product();
    i32::try_from(all)
        .or_else(|_| too_large(format!("{all} cells; a .schem file holds fewer than 2³¹")))
}
