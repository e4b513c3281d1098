//! `.bt`, the binary octree of OctoMap, for ROS, MoveIt, octovis and octomap-python: occupied, free and
//! unknown space.
//!
//! | line or bytes | content |
//! |---|---|
//! | `# Octomap OcTree binary file` | |
//! | `# voxelize {…}` | the exact lattice and the record of how the grid was made, as JSON; readers skip lines with `#` |
//! | `id OcTree` | |
//! | `size N` | nodes of the tree, root and leaves included, at most 2³² − 1; 0 if nothing is known |
//! | `res R` | the size of a cell, as the nearest double |
//! | `data` | |
//! | 2 each | an inner node, depth first: two bits for each child, the first child in the lowest bits |
//!
//! | two bits | the child is |
//! |---|---|
//! | 0 | unknown: the node is absent |
//! | 1 | a free leaf |
//! | 2 | an occupied leaf |
//! | 3 | an inner node, whose bytes follow the bytes of the children before it |
//!
//! Child `n` is on the upper side of x if bit 0 of `n` is set, on the upper side of y if bit 1 is set, and on
//! the upper side of z if bit 2 is set. The root is 2¹⁶ cells wide. Along each axis, the cell with number
//! `key` begins at (key − 32768) · R. Eight equal leaves become one leaf. Empty cells are unknown.
//! `--mark-free` makes the empty cells of the grid free, like the option with this name in OctoMap's
//! binvox2bt.
//!
//! The walls of an octree are at multiples of R. A grid whose walls are elsewhere is moved to the nearest
//! multiples, by at most half a cell, and a warning states this. Coordinates are those of the mesh. A grid
//! whose y axis points up is not turned. ROS takes coordinates as metres and z as up.
//!
//! Free and unknown cells are both read as empty. The grid of a file without a line of this tool is the box of its
//! known cells, with coordinates in metres.
//!
//! <https://octomap.github.io/octomap/doc/>

mod blocks;
mod octree;
mod read;
mod write;

use super::{Choice, Dtype, FileSize, Format, Reader, Write, require_cubes};
use voxelize_core::error::{Code, Error, Finding, Result};
use voxelize_core::geom::Rational;
use voxelize_core::grid::{AXES, CellKind, Lattice};
use voxelize_core::text::number;

/// State of a node, as stored in the file: 0 for unknown, 1 for free, 2 for occupied, or [`INNER`].
type NodeState = u8;

/// State of a node that has children.
const INNER: NodeState = 3;

/// Number of tree levels above the cells.
const DEPTH: usize = 16;

/// Number of cells of the tree along each axis.
const KEYS: usize = 1 << DEPTH;

/// Key of the cell that begins at coordinate 0.
const ZERO: i64 = KEYS as i64 / 2;

pub(super) const FORMAT: Format = Format {
    name: "bt",
    extensions: &["bt"],
    about: "octree of OctoMap for ROS and MoveIt; cubic cells whose walls are at multiples of the cell size",
    assumes: &[("unit", "m"), ("up", "z")],
    kinds: &[CellKind::Bits],
    dtypes: &[Dtype::Bool],
    choices: &[Choice::MarkFree],
    is_map: true,
    // Nodes are stored depth first, so consecutive nodes may be in distant layers.
    slab_layers: super::WHOLE,
    limits,
    warnings: |lattice, _| shift(lattice).into_iter().collect(),
    size: |dims, _, occupied, _| Some(FileSize::at_most(most_bytes(dims, occupied?))),
    write: Write::Forward(write::write),
    magic: &[read::MAGIC],
    reader: Some(Reader {
        cells: read::read,
        describe: read::describe,
    }),
    ..Format::BASE
};

/// Returns an upper bound for the size of a tree in bytes. An isolated occupied cell takes two bytes on each
/// level, but the tree has no more nodes than fit into the box of the grid.
fn most_bytes(dims: [usize; 3], occupied: u64) -> u128 {
    let mut all = 0;
    for level in 1..=DEPTH {
        let nodes: u128 = dims.iter().map(|n| (n >> level) as u128 + 2).product();
        all += nodes;
    }
    2 * all.min(DEPTH as u128 * u128::from(occupied.saturating_mul(2)))
}

fn limits(lattice: Option<&Lattice>, _: &[Choice]) -> Result<()> {
    require_cubes(lattice, "bt")?;
    lattice.map_or(Ok(()), |lattice| first_key(lattice).map(drop))
}

/// Returns the position of the first wall along an axis, in cells from coordinate 0.
fn first_wall(lattice: &Lattice, axis: usize) -> Rational {
    lattice.origin()[axis].clone() / lattice.spacing()[axis].clone()
}

/// Returns the multiple of the cell size that is nearest to the first wall. In a tie, returns the upper one.
fn nearest_multiple(lattice: &Lattice, axis: usize) -> Option<i64> {
    (&first_wall(lattice, axis) + &Rational::new(1, 2)).floor()
}

/// Returns the keys of cell (0, 0, 0), one for each axis.
fn first_key(lattice: &Lattice) -> Result<[usize; 3]> {
    let dims = lattice.dims();
    if let Some(axis) = dims.iter().position(|n| *n > KEYS) {
        let (count, axis) = (dims[axis], AXES[axis]);
        let text = format!("{count} cells along {axis}; an octree of OctoMap has at most {KEYS}");
        return Err(Error::too_large(text).with_hint("use larger cells, or save as .npz"));
    }
    let mut keys = [0; 3];
    for axis in 0..3 {
        let key = nearest_multiple(lattice, axis)
            .and_then(|wall| usize::try_from(wall.checked_add(ZERO)?).ok())
            .filter(|key| *key < KEYS && key + dims[axis] <= KEYS);
        keys[axis] = key.ok_or_else(|| {
            let text = format!(
                "the grid is too far from 0 along {}: an octree of OctoMap ends {ZERO} cells on either side of it",
                AXES[axis]
            );
            Error::too_large(text).with_hint(["use larger cells", "or move the mesh with `--translate X,Y,Z`"])
        })?;
    }
    Ok(keys)
}

/// Returns the distance by which the cells are moved along an axis.
fn shift_along(lattice: &Lattice, axis: usize) -> Option<Rational> {
    let wall = first_wall(lattice, axis);
    let nearest = Rational::from(nearest_multiple(lattice, axis)?);
    Some(&(&nearest - &wall) * &lattice.spacing()[axis])
}

/// Returns the warning that the cells are moved, with the distances. `None` if they are not moved.
fn shift(lattice: &Lattice) -> Option<Finding> {
    let x = shift_along(lattice, 0)?;
    let y = shift_along(lattice, 1)?;
    let z = shift_along(lattice, 2)?;
    if x.is_zero() && y.is_zero() && z.is_zero() {
        return None;
    }
    let [x, y, z] = [x, y, z].map(|by| number(by.to_f64()));
    let text = format!(
        "the walls of an octree of OctoMap are at multiples of the cell size; in the file the cells are moved by ({x}, {y}, {z})"
    );
    let hint = "`--voxel-size SIZE` with `--origin 0,0,0` puts the walls there";
    Some(Finding::new(Code::W004, text).with_hint(hint))
}
