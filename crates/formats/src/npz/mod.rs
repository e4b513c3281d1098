//! `.npz`, a zip archive of arrays: `numpy.load("a.npz")["voxels"][x, y, z]`. Further arrays hold the
//! lattice.
//!
//! | member | type | content |
//! |---|---|---|
//! | `voxels.npy` | bool, u8 or float32, (nx, ny, nz) | the cells, as in a `.npy` |
//! | | u8, (⌈nx/8⌉, ny, nz) | with `--dtype bit`, the bits of the cells, as in a `.npy` |
//! | `bit_order.npy` | text, () | with these bits, `little`, the word of `numpy.unpackbits` |
//! | `indices.npy` | int32, (n, 3) | instead of `voxels.npy` with `--sparse indices`: x, y and z of each cell that is occupied, or differs from the background of a field |
//! | `runs.npy` | int32, (n, 4) | instead of `voxels.npy` with `--sparse runs`: x, y and z of the first cell of a run along x, and its length |
//! | `values.npy` | u8 or float32, (n,) | with these two, the label or the value of each cell or each run; absent for bits |
//! | `shape.npy` | int64, (3,) | with these two and with packed bits, the number of cells along each axis |
//! | `area.npy` | float32, (nx, ny, nz) | with `--with area`, the area of the mesh in each cell |
//! | `normal.npy`, `faces.npy`, `centroid.npy` | float32, (3, nx, ny, nz); (nz, ny, nx, 3) with `--order zyx` | with `--with normal,faces,centroid`, their x, y and z |
//! | `fractions.npy`, `areas.npy` | float32, or u8 with `--dtype u8`, (nx, ny, nz, n); (n, nz, ny, nx) with `--order zyx` | with `--labels` and the rule fraction or area, the field of each part, in the order of `label_names.npy` |
//! | `origin.npy`, `spacing.npy` | float64, (3,) | outer corner of cell (0, 0, 0) and size of a cell, rounded |
//! | `origin_exact.npy`, `spacing_exact.npy` | text, (3,) | the exact numbers as fractions `p/q` |
//! | `closed.npy` | bool, (3,) | true if the last wall belongs to the lattice |
//! | `order.npy` | text, () | `xyz`: the order of the axes; `zyx` with `--order zyx`, which writes `voxels[z, y, x]` of C order |
//! | `rule.npy`, `ties.npy`, `snap.npy`, `tool.npy`, `input.npy` | text, () | the record of how the grid was made; absent if not known |
//! | `mesh_volume.npy` | text, () | with shares of cells, the volume of the mesh as a decimal |
//! | `cells_digest.npy`, `grid_digest.npy` | text, () | the digests, unless they cover labels or floats that are not in the file |
//! | `label_values.npy`, `label_names.npy`, `label_colours.npy` | u8, text, text, (n,) | the legend of labels; a colour is `#rrggbb` or empty |
//! | `label_digest.npy` | text, () | scope of the digests of labels, `occupancy` or `values` |
//! | `background.npy` | float32, () | the background of a field |
//! | `value_scale.npy` | float64, () | 1/255 if u8 are shares of cells: `archive["voxels"] * archive["value_scale"]` |
//!
//! In the file, a filled grid has no legend for surface and interior. If this tool made a grid by the rule
//! filled, the u8 values 1 and 2 stand for surface and interior.
//!
//! Members are deflated, and cells that are bits are deflated run by run. All members have the date
//! 1980-01-01, so that equal grids make equal files. zip64 is used where it is needed. If there is no
//! `voxels.npy` but only one array, that array is read.

mod archive;
mod arrays;
mod read;
mod read_sparse;
mod sparse;
mod stack;
mod write;

pub use self::stack::GridStack;

use super::{CELLS, Choice, Dtype, FileSize, Format, FrameSupport, GRID, Reader, Write, npy};
use sparse::Sparse;
use voxelize_core::error::{Error, Result};
use voxelize_core::grid::Lattice;
use voxelize_core::grid::metadata::Metadata;

pub(super) const FORMAT: Format = Format {
    name: "npz",
    extensions: &["npz"],
    about: "compressed NumPy archive: voxels[x, y, z] with origin, spacing and a record of how it was made",
    frames: FrameSupport::Record,
    dtypes: &[Dtype::Bool, Dtype::U8, Dtype::Bit],
    choices: &[Choice::Zyx, Choice::SparseIndices, Choice::SparseRuns],
    magic: &[b"PK\x03\x04"],
    limits,
    size: |dims, dtype, occupied, choices| match Sparse::of(choices) {
        // Each cell takes a row and a value. The number of runs is at most the number of cells.
        Some(_) => occupied.map(|occupied| FileSize::at_most(20 * u128::from(occupied))),
        None => npy::bytes_for(dims, dtype).map(FileSize::at_most),
    },
    // The buffers of this format are included in the memory that every job reserves for buffers.
    write: Write::Seeking(write::write),
    annotate: npy::annotate,
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

fn limits(_: Option<&Lattice>, choices: &[Choice]) -> Result<()> {
    if choices.contains(&Choice::Zyx) && Sparse::of(choices).is_some() {
        return Err(Error::usage(
            "sparse arrays have no order of axes: their columns are x, y and z",
        ));
    }
    Ok(())
}

/// Members that hold the digests, and their keys in the metadata.
const DIGESTS: [(&str, &str); 2] = [("cells_digest", CELLS), ("grid_digest", GRID)];

/// Returns `true` if the u8 cells are surface and interior.
fn is_filled(metadata: &Metadata) -> bool {
    let by_this_tool = metadata
        .record
        .tool
        .as_ref()
        .is_some_and(|tool| tool.starts_with("voxelize "));
    by_this_tool && metadata.record.rule_name.as_deref() == Some("filled")
}
