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
//! Values begin with a byte 0, 1 or 3. 0: the inactive values are the background. 1: they are minus the
//! background. 3: a mask follows, in which a set bit means that the inactive value is the background. After
//! this byte the active values follow. Zipped values are a length of 64 bits and a zlib stream, or minus the
//! length and the plain values if they are shorter. In masks and values x varies slowest and z fastest.
//!
//! | cells | tree | active | name, class |
//! |---|---|---|---|
//! | bits | `Tree_bool_5_4_3` | occupied cells: true | `voxels`, unknown |
//! | bits, with `--vdb fog` | `Tree_float_5_4_3` | occupied cells: 1, elsewhere 0 | `density`, fog volume |
//! | labels | `Tree_int32_5_4_3` | occupied cells: their label, elsewhere 0 | `voxels`, unknown |
//! | field | `Tree_float_5_4_3` | cells that differ from the background and its negative | `distance` or `values`; level set for a signed distance in a band with cubic cells |
//!
//! If all cells of a leaf, or of a node of leaves, have the same value, a tile in the next higher node
//! replaces it. In a signed distance, cells that are inside and beyond the band have minus the background and
//! are inactive, as OpenVDB requires.
//!
//! Index (i, j, k) in the tree is cell (i, j, k) of the grid. The position of an index is the centre of the
//! cell, so the translation is the centre of cell (0, 0, 0). The map has the nearest doubles. The metadata
//! entry `voxelize` is JSON with the exact lattice and the record of how the grid was made. Coordinates are
//! those of the mesh, and the format states no up axis. Blender (Add, Volume, Import OpenVDB) takes z as up.
//! Houdini (the node File) takes y as up; `--axes x,z,-y` turns a mesh in which z is up.
//!
//! Files of other programs can also be read. Of a file, the first grid whose tree has one of these types is
//! read. Supported are versions 222 to 225, values that are zipped, compressed by Blosc with LZ4, or not
//! compressed, and floats or half floats. The lattice is the bounding box of the active cells.
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

/// First eight bytes of a file.
const MAGIC: [u8; 8] = *b" BDV\0\0\0\0";

/// Name of the metadata entry with the JSON of this tool.
const JSON: &str = "voxelize";

/// Compression flag: values are zlib streams.
const ZIP: u32 = 1;

/// Compression flag: inactive values are left out.
const ACTIVE: u32 = 2;

/// Compression flag: values are Blosc chunks.
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

    /// Returns the type of the tree for cells that are stored as `dtype`.
    fn of(dtype: Dtype, choices: &[Choice]) -> Self {
        match dtype {
            Dtype::F32 => Self::Float,
            Dtype::Bool if choices.contains(&Choice::VdbFog) => Self::Float,
            Dtype::U8 => Self::Int32,
            Dtype::Bool | Dtype::Bit | Dtype::I8 => Self::Bool,
        }
    }

    /// Returns `true` if the values should be zipped, because many of them are equal. The values of fields
    /// would shrink by only three percent, and bits have no values. OpenVDB also leaves distances
    /// uncompressed.
    fn is_zipped(self, kind: CellKind, choices: &[Choice]) -> bool {
        self != Self::Bool && kind != CellKind::Field && !choices.contains(&Choice::Uncompressed)
    }

    /// Returns the name of the type in files.
    fn name(self) -> &'static str {
        match self {
            Self::Bool => "Tree_bool_5_4_3",
            Self::Int32 => "Tree_int32_5_4_3",
            Self::Float => "Tree_float_5_4_3",
        }
    }

    /// Returns the size of a value in bytes.
    fn width(self) -> usize {
        if self == Self::Bool { 1 } else { 4 }
    }
}

/// Returns an upper bound for the size of a file. It assumes that all possible leaves exist and none is
/// compressed.
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

/// Returns the number of nodes that are needed to cover a grid. A node has `side` cells along each axis.
fn nodes(dims: [usize; 3], side: usize) -> u128 {
    dims.iter().map(|n| n.div_ceil(side) as u128).product()
}
