//! `.binvox`: runs of empty and occupied cells, as data sets for training have them.
//!
//! | line or bytes | content |
//! |---|---|
//! | `#binvox 1` | |
//! | `dim D D D` | cells along x, z and y; a cube, filled up with empty cells at its upper ends, as most readers insist |
//! | `translate X Y Z` | the lower corner of cell (0, 0, 0) |
//! | `scale S` | the side of the cube: `D` times that of a cell |
//! | `data` | |
//! | 2 each | a run: 0 or 1, and how many cells, at most 255; y fastest, then z |
//!
//! `--no-cube` writes `dim NX NZ NY` without filling up; `scale` is then that of the longest axis. Only cells that are
//! cubes can be written. `translate` and `scale` are the nearest doubles; a sidecar keeps all that the file has no
//! room for: exact fractions, the cells along each axis, and how the grid was made. trimesh takes `S / (D - 1)` for
//! the distance of cells.
//!
//! <https://www.patrickmin.com/binvox/binvox.html>

mod read;
mod write;

use super::{Carries, Choice, Dtype, FileSize, Format, Reader, WHOLE, Write, require_cubes};
use voxelize_core::error::Result;
use voxelize_core::geom::Rational;
use voxelize_core::grid::{CellKind, Lattice};

const MAGIC: &[u8] = b"#binvox";

/// The most cells of a run.
const MAX_RUN: usize = 255;

pub(super) const FORMAT: Format = Format {
    name: "binvox",
    extensions: &["binvox"],
    about: "runs of cells for training and research; cubic cells, filled up to a cube; world coordinates are the mesh's",
    carries: Carries::Rounded,
    kinds: &[CellKind::Bits],
    dtypes: &[Dtype::Bool],
    choices: &[Choice::NoCube],
    // Its order begins with y: the first run may end in the last layer.
    slab_layers: WHOLE,
    magic: &[MAGIC],
    limits,
    size: |dims, _, occupied, choices| {
        let runs = dims_of(dims, choices)
            .iter()
            .map(|&n| n as u128)
            .product::<u128>()
            .div_ceil(MAX_RUN as u128);
        // A run of occupied cells and one of empty ones for each, at most.
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

/// The cells along each axis in the file.
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

/// What the header says of a lattice, in a file of these dims: corner and scale.
fn place(lattice: &Lattice, dims: [usize; 3]) -> ([f64; 3], f64) {
    let longest = Rational::from(cube(dims)[0] as i64);
    let scale = &lattice.spacing()[0] * &longest;
    (
        lattice.origin().each_ref().map(Rational::to_f64),
        scale.to_f64(),
    )
}
