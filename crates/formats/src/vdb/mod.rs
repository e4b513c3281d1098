//! `.vdb`, the sparse tree of OpenVDB, for Blender, Houdini and renderers.
//!
//! | part | content (little-endian) |
//! |---|---|
//! | magic | 64 bits: 56444220 |
//! | versions | 32 bits each: 224 of the format; 10 and 0 of the library |
//! | offsets | a byte 1: the descriptor has offsets |
//! | uuid | 36 characters: here checksums of the rest, so that equal files have equal uuids |
//! | metadata of the file | 32 bits: 0 |
//! | grids | 32 bits: 1 |
//! | descriptor | three texts, each 32 bits of length and its bytes: name, type of tree, empty; 64 bits each: offsets of the grid, its buffers and the next grid |
//! | compression | 32 bits: 3 for labels and fog, else 2; 1 = values are zipped, 2 = inactive values are left out |
//! | metadata | 32 bits: number of entries; for each entry the texts name and type, 32 bits of length, value |
//! | map | text `UniformScaleTranslateMap`, or `ScaleTranslateMap` if cells are not cubes; 3 doubles each: translation, cell size, cell size, its inverse, the square of the inverse, half the inverse |
//! | root | 32 bits: 1; the background; 32 bits each: number of tiles, number of children; for each tile 3 × 32 bits of origin, value, a byte 1 if active; for each child its origin and the node |
//! | node of 32³ children, node of 16³ | a mask of the children and a mask of the active tiles; values of the tiles; then the children |
//! | leaf of 8³ cells | a mask of the active cells |
//! | buffers | for each leaf in the same order its mask again; for bool, 3 × 32 bits of origin and a mask of the true cells; else values |
//!
//! Values begin with a byte 0, 1 or 3: the inactive values are the background; they are minus the background;
//! or a mask follows with a bit for each value that is the background. Then follow the active values. Zipped
//! values are 64 bits of length and a zlib stream, or minus their length and the plain values if that is
//! shorter. In masks and values x is slowest and z fastest.
//!
//! | cells | tree | active | name, class |
//! |---|---|---|---|
//! | bits | `Tree_bool_5_4_3` | occupied cells: true | `voxels`, unknown |
//! | bits, with `--vdb fog` | `Tree_float_5_4_3` | occupied cells: 1, elsewhere 0 | `density`, fog volume |
//! | labels | `Tree_int32_5_4_3` | occupied cells: their label, elsewhere 0 | `voxels`, unknown |
//! | field | `Tree_float_5_4_3` | cells that differ from the background and its negative | `distance` or `values`; level set for a signed distance in a band with cubic cells |
//!
//! A leaf, or a node of leaves, whose cells all have one value is a tile of the node above. In a signed
//! distance, cells inside and beyond the band have minus the background and are inactive, as OpenVDB
//! requires.
//!
//! Index (i, j, k) is cell (i, j, k), and its position is the centre of the cell: the translation leads to
//! the centre of cell (0, 0, 0). The map has the nearest doubles. The metadata `voxelize` is JSON with the
//! exact lattice and the record of how the grid was made. World coordinates are the mesh's; no axis is up.
//! Blender (Add, Volume, Import OpenVDB) has z up, Houdini (the node File) has y up: `--axes x,z,-y` turns a
//! mesh whose z is up.
//!
//! Files of other programs can also be read: the first grid of one of these trees, of versions 222 to 225;
//! zipped, packed by Blosc and LZ4, or not packed; with floats or half floats. Their lattice is the box
//! around the active cells.
//!
//! <https://github.com/AcademySoftwareFoundation/openvdb>

mod blosc;
mod column;
mod fill;
mod head;
mod leaf;
mod pack;
mod read;
mod runs;
mod spool;
mod tree;
mod walk;
mod write;

use super::{Choice, Dtype, FileSize, Format, Reader, Write, npy};
use voxelize_core::grid::CellKind;

/// First eight bytes.
const MAGIC: [u8; 8] = *b" BDV\0\0\0\0";

/// Name of the metadata with our JSON.
const JSON: &str = "voxelize";

/// Compression flag: values are zlib streams.
const ZIP: u32 = 1;

/// Compression flag: inactive values are left out.
const ACTIVE: u32 = 2;

/// Compression flag: values are chunks of Blosc.
const BLOSC: u32 = 4;

pub(super) const FORMAT: Format = Format {
    name: "vdb",
    extensions: &["vdb"],
    about: "sparse tree of OpenVDB for Blender and Houdini; world coordinates are the mesh's",
    dtypes: &[Dtype::Bool, Dtype::U8],
    choices: &[Choice::Uncompressed, Choice::VdbFog],
    slab_layers: leaf::SIDE,
    magic: &[&MAGIC],
    size,
    memory: |dims, _, threads, _| spool::bytes_at_once(dims, threads),
    write: Write::Seeking(write::write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

/// Type of the values in a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TreeType {
    Bool,
    Int32,
    Float,
}

impl TreeType {
    const ALL: [Self; 3] = [Self::Bool, Self::Int32, Self::Float];

    /// Returns the tree for cells that are stored as `dtype`.
    fn of(dtype: Dtype, choices: &[Choice]) -> Self {
        match dtype {
            Dtype::F32 => Self::Float,
            Dtype::Bool if choices.contains(&Choice::VdbFog) => Self::Float,
            Dtype::U8 => Self::Int32,
            Dtype::Bool | Dtype::Bit | Dtype::I8 => Self::Bool,
        }
    }

    /// Returns true if the values of cells of this kind are worth zipping, because many are equal. Values of
    /// fields would shrink by three percent, and bits have no values; OpenVDB also leaves distances unzipped.
    fn is_zipped(self, kind: CellKind, choices: &[Choice]) -> bool {
        self != Self::Bool && kind != CellKind::Field && !choices.contains(&Choice::Uncompressed)
    }

    /// Returns the name in files.
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "Tree_bool_5_4_3",
            Self::Int32 => "Tree_int32_5_4_3",
            Self::Float => "Tree_float_5_4_3",
        }
    }

    /// Returns the bytes of a value.
    fn width(self) -> usize {
        if self == Self::Bool { 1 } else { 4 }
    }
}

/// Returns an upper bound: all possible leaves, none packed.
fn size(
    dims: [usize; 3],
    dtype: Dtype,
    occupied: Option<u64>,
    choices: &[Choice],
) -> Option<FileSize> {
    let mut leaves = nodes(dims, leaf::SIDE);
    if dtype != Dtype::F32 {
        leaves = leaves.min(occupied?.into());
    }
    let leaf = match TreeType::of(dtype, choices) {
        TreeType::Bool => 3 * 64 + 12,
        _ => 2 * 64 + 9 + 4 * 512,
    };
    let middle = nodes(dims, tree::MIDDLE) * 3 * (4096 / 8);
    let upper = nodes(dims, tree::UPPER) * 3 * (32768 / 8);
    Some(FileSize::at_most(leaves * leaf + middle + upper))
}

/// Counts the nodes of `side` cells along each axis that cover a grid.
fn nodes(dims: [usize; 3], side: usize) -> u128 {
    dims.iter().map(|n| n.div_ceil(side) as u128).product()
}
