//! `.vox`, the scenes of MagicaVoxel: chunks of an id, two lengths, content and children.
//!
//! | chunk | content (numbers are 32 bits, little-endian) |
//! |---|---|
//! | | `VOX `, version 150 |
//! | `MAIN` | nothing; all others are its children |
//! | `SIZE` | x, y, z of a model, each at most 256; here always even, by an empty layer |
//! | `XYZI` | the number of voxels, then for each the bytes x, y, z, colour (1 to 255) |
//! | `nTRN` | id, attributes, child, −1, layer, number of frames, for each its attributes: `_t` "x y z" is where cell floor(size / 2) of the model goes, `_r` a turn |
//! | `nGRP` | id, attributes, number of children, children |
//! | `nSHP` | id, attributes, number of models, for each its number and attributes |
//! | `LAYR` | id, attributes, −1 |
//! | `RGBA` | 256 colours r, g, b, a: the first is colour 1 |
//!
//! Attributes are a number of pairs of texts, each text a length and its bytes. A grid is cut into
//! tiles of at most 256³, the empty ones left out: nTRN(0) → nGRP(1) → {nTRN → nSHP}. x and y are
//! centred on 0, the floor is at z = 0, z is up. Cell (i, j, k) is at (i − ⌊nx/2⌋, j − ⌊ny/2⌋, k).
//! The lattice and how the grid came about are JSON in the attribute `_voxelize` of node 0.
//! Colour 1 is the surface; 2 is for what lies inside.
//!
//! <https://github.com/ephtracy/voxel-model>

mod read;
mod scene;
mod write;

use super::{Carries, Dtype, Format, Write};
use crate::error::{Error, Result};
use crate::grid::Lattice;

/// The most cells per axis of one model.
const TILE: usize = 256;

/// The attribute of the root node that holds what is known of the grid.
const ATTRIBUTE: &str = "_voxelize";

/// What MagicaVoxel shows of a scene.
const WORLD: [usize; 3] = [2000, 2000, 1000];

pub(super) const FORMAT: Format = Format {
    name: "vox",
    extensions: &["vox"],
    about: "MagicaVoxel scene of any size, in tiles of at most 256 cells; z is up",
    carries: Carries::InFile,
    dtypes: &[Dtype::U8],
    slab_layers: TILE,
    magic: &[b"VOX "],
    limits,
    warnings,
    write: Write::Seeking(write::write),
    annotate: |_, _| {},
    read: read::read,
    describe: read::describe,
};

fn limits(lattice: Option<&Lattice>) -> Result<()> {
    if lattice.is_none_or(Lattice::is_cubic) {
        return Ok(());
    }
    Err(Error::usage("a .vox file cannot hold cells that are not cubes")
        .with_hint("give one cell size for all axes, or save as .npz"))
}

fn warnings([x, y, z]: [usize; 3]) -> Vec<String> {
    let [wx, wy, wz] = WORLD;
    if x <= wx && y <= wy && z <= wz {
        return Vec::new();
    }
    vec![format!("MagicaVoxel shows {wx} × {wy} × {wz} cells at most; the grid has {x} × {y} × {z}")]
}

/// From cells to positions in the scene: what is taken off.
fn shift([nx, ny, _]: [usize; 3]) -> [usize; 3] {
    [nx / 2, ny / 2, 0]
}
