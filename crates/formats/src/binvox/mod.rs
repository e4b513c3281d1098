//! `.binvox`: runs of empty and occupied cells, common in training data.
//!
//! | line or bytes | content |
//! |---|---|
//! | `#binvox 1` | |
//! | `dim D D D` | cells along x, z and y; a cube, filled up with empty cells at its upper ends, as most readers insist |
//! | `translate X Y Z` | the lower corner of cell (0, 0, 0) |
//! | `scale S` | the side of the cube: `D` times the cell size |
//! | `data` | |
//! | 2 each | a run: 0 or 1, and its length, at most 255; y fastest, then z |
//!
//! `--no-cube` writes `dim NX NZ NY` without filling up. `scale` is then the length of the longest axis. Only
//! cubic cells can be written. `translate` and `scale` are the nearest doubles. A sidecar stores what the
//! file cannot: the exact fractions, the number of cells along each axis, and the record of how the grid was
//! made. The library trimesh computes the cell size as `S / (D - 1)`, which differs from this format's
//! definition.
//!
//! <https://www.patrickmin.com/binvox/binvox.html>

mod read;
mod write;

use super::{Carries, Choice, Dtype, FileSize, Format, Reader, WHOLE, Write, require_cubes};
use voxelize_core::error::Result;
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellKind, Lattice};

const MAGIC: &[u8] = b"#binvox";

/// Maximum number of cells in a run.
const MAX_RUN: usize = 255;

pub(super) const FORMAT: Format = Format {
    name: "binvox",
    extensions: &["binvox"],
    about: "runs of cells for training and research; cubic cells, filled up to a cube; world coordinates are the mesh's",
    carries: Carries::Rounded,
    kinds: &[CellKind::Bits],
    dtypes: &[Dtype::Bool],
    choices: &[Choice::NoCube],
    // Cells are stored with y varying fastest and x slowest, so the first run may reach the last layer.
    slab_layers: WHOLE,
    magic: &[MAGIC],
    limits,
    size: |dims, _, occupied, choices| {
        let runs = dims_of(dims, choices)
            .iter()
            .map(|&n| n as u128)
            .product::<u128>()
            .div_ceil(MAX_RUN as u128);
        // Each occupied cell begins at most one run of occupied cells and one run of empty cells.
        occupied.map(|occupied| FileSize::at_most(2 * runs + 4 * u128::from(occupied)))
    },
    write: Write::Forward(write::write),
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    require_cubes(lattice, "binvox")
}

/// Returns the number of cells along each axis that the file has.
fn dims_of(dims: [usize; 3], choices: &[Choice]) -> [usize; 3] {
    if choices.contains(&Choice::NoCube) {
        dims
    } else {
        cube(dims)
    }
}

fn cube(dims: [usize; 3]) -> [usize; 3] {
    [dims.into_iter().max().unwrap_or(0); 3]
}

/// Returns the corner and the scale that the header states for a lattice. `dims` are the dims of the file.
fn place(lattice: &Lattice, dims: [usize; 3]) -> ([f64; 3], f64) {
    let longest = Rational::from(cube(dims)[0] as i64);
    let scale = &lattice.spacing()[0] * &longest;
    (
        lattice.origin().each_ref().map(Rational::to_f64),
        scale.to_f64(),
    )
}
