//! `NAME.zarr/`, a chunked array of Zarr 3 with the metadata of OME-Zarr 0.5:
//! `zarr.open("knot.zarr")["0"][z, y, x]`. Python (zarr, dask, tensorstore, Xarray), Neuroglancer, napari and
//! Fiji read it, from a disk or a web server.
//!
//! | file | content |
//! |---|---|
//! | `zarr.json` | the group: `ome` with the axes, the levels and the labels; `voxelize`, our JSON with the exact lattice |
//! | `0/zarr.json` | the array of the grid, a[z, y, x] |
//! | `0/c/Z/0/0` | a shard: 64 layers with all their chunks of 64 × 64 × 64 cells; absent if all cells have the fill value |
//! | `1/…`, `2/…` | smaller levels, each half as long, until the longest axis has at most 128 cells; absent with `--no-pyramid` |
//!
//! | bytes of a shard | content |
//! |---|---|
//! | … | the chunks that are not all fill value, x fastest, then y: each a gzip stream of its 64³ cells, x fastest; with `--uncompressed` only the cells |
//! | 16 for each chunk | offset and length of the chunk, 64 bits, little-endian; both 2⁶⁴ − 1 if it is not stored |
//! | 4 | CRC-32C of the offsets and lengths |
//!
//! | cells | `data_type` | `fill_value` |
//! |---|---|---|
//! | bits | `uint8`, 0 and 1, which Neuroglancer draws; `bool` with `--dtype bool` | 0 or false |
//! | labels | `uint8` | 0 |
//! | field | `float32`, little-endian; all NaN with the same bytes | the background |
//!
//! OME states the centre of the first cell of a level. `translation` is the origin plus half the spacing of
//! that level, and `scale` is the spacing. Both are the nearest doubles. The axes are those of the mesh. They
//! have the unit of the mesh if it is known, and the format states no up axis. The module `pyramid` computes
//! each smaller level from the previous one.
//!
//! Arrays of other programs can also be read. They must have three axes, the type `uint8`, `bool` or
//! `float32`, and regular chunks. Shards are optional. The cells must be compressed by gzip or not at all. Of
//! a group, the first level is read. A chunk without a file has the fill value.
//!
//! <https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html>,
//! <https://zarr-specs.readthedocs.io/en/latest/v3/codecs/sharding-indexed/index.html>,
//! <https://ngff.openmicroscopy.org/0.5/>

mod chunks;
mod crc32c;
mod json;
mod node;
mod pyramid;
mod read;
pub mod store;
mod write;

use super::several::FolderLayout;
use super::{Choice, Dtype, FileSize, Format, Reader, Write, dense, npy};

/// Number of cells along each axis of a chunk, and number of layers in a shard. The cells along x of a chunk
/// are one word of a grid of bits. Viewers load whole chunks. A smaller level also collects this number of
/// layers before it writes a shard.
const CHUNK: usize = 64;

/// Offset and length in a shard's index of a chunk that is not stored.
const NOT_STORED: u64 = u64::MAX;

/// Name of the file with the node of the group, and of the file with the node of each array.
const NODE: &str = "zarr.json";

/// Key of this tool's JSON in the attributes of the group.
const OWN: &str = "voxelize";

/// Key of OME's JSON in the attributes of the group.
const OME: &str = "ome";

static LAYOUT: FolderLayout = FolderLayout {
    index: NODE,
    owns: |name| name == NODE || name.bytes().all(|digit| digit.is_ascii_digit()),
    pending,
};

pub(super) const FORMAT: Format = Format {
    name: "zarr",
    extensions: &["zarr"],
    about: "folder of chunks for Python, web servers and viewers, with smaller levels: Zarr 3, OME-Zarr 0.5",
    dtypes: &[Dtype::U8, Dtype::Bool],
    choices: &[Choice::Uncompressed, Choice::NoPyramid],
    slab_layers: CHUNK,
    size: |dims, dtype, _, choices| {
        // The smaller levels have an eighth, a sixty-fourth and so on of the cells of the grid.
        let all = dense::bytes_for(dims, dtype)?;
        Some(FileSize::at_most(if choices.contains(&Choice::NoPyramid) {
            all
        } else {
            all + all / 7
        }))
    },
    memory: |_, dtype, threads, _| write::bytes_at_once(dtype, threads),
    write: Write::Folder(&LAYOUT, write::write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

/// Returns the dims of all levels.
fn levels(dims: [usize; 3], choices: &[Choice]) -> Vec<[usize; 3]> {
    if choices.contains(&Choice::NoPyramid) {
        vec![dims]
    } else {
        pyramid::levels(dims)
    }
}

/// Returns the dims of the layers that each smaller level keeps in memory until they fill a shard.
fn pending(dims: [usize; 3], choices: &[Choice]) -> Vec<[usize; 3]> {
    let smaller = levels(dims, choices).into_iter().skip(1);
    smaller
        .map(|[nx, ny, nz]| [nx, ny, nz.min(CHUNK)])
        .collect()
}
