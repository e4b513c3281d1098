//! `.vox`, the scene format of MagicaVoxel. It consists of chunks: an id, two lengths, content and children.
//!
//! | chunk | content (numbers are 32 bits, little-endian) |
//! |---|---|
//! | | `VOX `, version 150 |
//! | `MAIN` | empty; all others are its children |
//! | `SIZE` | x, y, z of a model, each at most 256; here always even, if necessary by an empty layer |
//! | `XYZI` | the number of voxels, then for each the bytes x, y, z, colour (1 to 255) |
//! | `nTRN` | id, attributes, child, −1, layer, number of frames, for each its attributes: `_t` "x y z" is the place of cell floor(size / 2) of the model, `_r` a turn |
//! | `nGRP` | id, attributes, number of children, children |
//! | `nSHP` | id, attributes, number of models, for each its number and attributes |
//! | `LAYR` | id, attributes with its `_name`, −1 |
//! | `RGBA` | 256 colours r, g, b, a: the first is colour 1 |
//!
//! Attributes are a number of pairs of texts. Each text is a length and its bytes. A grid is divided into
//! tiles of at most 256³ cells. Empty tiles are left out. The nodes are nTRN(0) → nGRP(1) → {nTRN → nSHP}. x
//! and y are centred on 0, the floor is at z = 0, and z is up. If the record states that y points up, the
//! grid is turned: x, −z, y. Cell (i, j, k) is at (i − ⌊nx/2⌋, j − ⌊ny/2⌋, k). The attribute `_voxelize` of
//! node 0 is JSON with the lattice, the record of how the grid was made and its digests, `cells` and `grid`.
//!
//! `--vox-hull` leaves out invisible voxels: cells whose six neighbours are all occupied. The record then has
//! the rule `hull of RULE`, and `hull_of` is the digest of all cells. If the grid has more than 256 layers,
//! tiles end one layer earlier along z of the grid, at 255, 511, and so on, because the layer above a tile
//! determines which of its voxels are visible.
//!
//! MagicaVoxel can show at most 2000 × 2000 × 1000 cells, with z up. `--vox-split` writes a larger grid to
//! several files. Each file is a piece of at most 1792 × 1792 × 768 cells, consists of whole tiles, and is a
//! complete scene. `NAME.vox` is the first piece, `NAME-1-0-0.vox` the next one along x of the grid, and so
//! on. The lattice of a piece is the lattice of its region. `piece` is the index of the piece, `piece_first`
//! its first cell in the whole grid, and `whole_dims` the dims of the whole grid.
//!
//! If labels stand for parts, each part is an object with its own models, cut to the cells of the part. Its
//! nTRN has the attribute `_name`. If a part has cells in several tiles, this nTRN has a group: nTRN → nGRP →
//! {nTRN → nSHP}. Up to 32 parts are also layers.
//!
//! The colour number of a voxel is the label of the cell. Bits have colour 1. If labels stand for the colours
//! of parts, as in `lid #ff0000`, the colours are numbered from 1 in the order of the legend, each once, and
//! the name of the object distinguishes the parts. The attribute states the
//! legend: the names of standard labels under `parts`, as in "added removed", and other labels under
//! `labels`. The palette has the colours of the legend. Standard labels have these colours:
//!
//! | colour | label | red, green, blue |
//! |---|---|---|
//! | 1 | surface, and all bits | e8 b0 6c, sand |
//! | 2 | interior | 5b 7c 99, slate |
//! | 3 | common | bd bd bd, grey |
//! | 4 | added | 00 72 b2, blue |
//! | 5 | removed | d5 5e 00, vermilion |
//!
//! Blue and vermilion are from the palette of Okabe and Ito, which nearly all people can tell apart.
//!
//! <https://github.com/ephtracy/voxel-model>

mod chunks;
mod cuts;
mod layers;
mod nodes;
mod objects;
mod read;
mod scene;
mod tile;
mod write;

use self::layers::Shell;
use super::{CELLS, CHOICES, Choice, Dtype, FileSize, Format, GRID, Reader, Write, require_cubes};
use voxelize_core::error::{Code, Finding, Result};
use voxelize_core::grid::metadata::Metadata;
use voxelize_core::grid::{CellKind, Lattice, Record};

/// Maximum number of cells along each axis of a model.
const TILE: usize = 256;

/// Version number that the file states.
const VERSION: u32 = 150;

/// Number of words in a row of a tile.
const TILE_WORDS: usize = TILE / 64;

/// Attribute of the root node that holds the metadata of the grid.
const ATTRIBUTE: &str = "_voxelize";

/// Attribute of a transform node or a layer that holds its name.
const NAME: &str = "_name";

/// Maximum size of a scene that MagicaVoxel can show, in voxels.
const WORLD: [usize; 3] = [2000, 2000, 1000];

pub(super) const FORMAT: Format = Format {
    name: "vox",
    extensions: &["vox"],
    about: "MagicaVoxel scene, at most 4 GiB; cubic cells only; z is up",
    kinds: &[CellKind::Bits, CellKind::Labels],
    dtypes: &[Dtype::U8],
    max_bytes: Some(u32::MAX as u64),
    choices: &[Choice::VoxHull, Choice::VoxSplit],
    slab_layers: TILE,
    magic: &[b"VOX "],
    limits,
    warnings,
    // A voxel takes one byte for each coordinate and one byte for its colour.
    size: |_, _, occupied, choices| {
        let bytes = 4 * u128::from(occupied?);
        Some(match Shell::of(choices) {
            Shell::Whole => FileSize::about(bytes),
            Shell::Hull => FileSize::at_most(bytes),
        })
    },
    write: Write::Several(cuts::companions, write::write),
    annotate,
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    require_cubes(lattice, "vox")
}

fn warnings(_: &Lattice, [x, y, z]: [usize; 3]) -> Vec<Finding> {
    let [wx, wy, wz] = WORLD;
    if x <= wx && y <= wy && z <= wz {
        return Vec::new();
    }
    let text =
        format!("MagicaVoxel shows {wx} × {wy} × {wz} cells at most; the grid has {x} × {y} × {z}");
    let hint = [
        "`--vox-split` writes several files",
        "make the grid smaller, or save it in another format",
    ];
    vec![Finding::new(Code::W004, text).with_hint(hint)]
}

/// Prefix of the rule name in the record of a hull.
const HULL_OF: &str = "hull of ";

/// Metadata key for the digest of all cells from which a hull was made.
const HULL_DIGEST: &str = "hull_of";

/// Marks the metadata of a hull, which does not have all cells that the rule occupies. The rule name gets a
/// prefix, and the digest of all cells is stored under a separate key, because it is not the digest of the
/// cells in the file.
fn annotate(_: Dtype, metadata: &mut Metadata) {
    let Some(choices) = metadata.extra.get(CHOICES) else {
        return;
    };
    let hull = Choice::VoxHull.words();
    if choices.split(", ").all(|words| words != hull) {
        return;
    }
    metadata.extra.remove(GRID);
    if let Some(cells) = metadata.extra.remove(CELLS) {
        metadata.extra.insert(HULL_DIGEST.into(), cells);
    }
    let rule = metadata.record.rule_name.take();
    let rule = rule.unwrap_or_else(|| "cells".into());
    metadata.record.rule_name = if rule.starts_with(HULL_OF) {
        Some(rule)
    } else {
        Some(format!("{HULL_OF}{rule}"))
    };
}

/// Orientation of a grid in a scene, in which z points up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// The grid is not turned.
    None,
    /// The grid's y points up. The axes of the scene are x, -z and y of the grid.
    YUp,
}

impl Turn {
    /// Returns the orientation of a grid with this record.
    fn of(record: &Record) -> Self {
        if record.transform("up") == Some("y") {
            Self::YUp
        } else {
            Self::None
        }
    }

    /// Converts the dims of a grid or tile to the axes of the scene.
    fn dims(self, [x, y, z]: [usize; 3]) -> [usize; 3] {
        match self {
            Self::None => [x, y, z],
            Self::YUp => [x, z, y],
        }
    }

    /// Converts a cell of a grid or tile with these dims to its position in the scene.
    fn place(self, [i, j, k]: [usize; 3], dims: [usize; 3]) -> [usize; 3] {
        match self {
            Self::None => [i, j, k],
            Self::YUp => [i, dims[2] - 1 - k, j],
        }
    }

    /// Converts a position in the scene to a cell of a grid with these dims.
    fn back(self, [x, y, z]: [usize; 3], dims: [usize; 3]) -> [usize; 3] {
        match self {
            Self::None => [x, y, z],
            Self::YUp => [x, z, dims[2] - 1 - y],
        }
    }
}

/// Returns the offset that is subtracted from cells to get positions in the scene.
fn shift([nx, ny, _]: [usize; 3]) -> [usize; 3] {
    [nx / 2, ny / 2, 0]
}
