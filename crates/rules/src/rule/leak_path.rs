//! The leak path: the way of a flood into a mesh, as cells.

use crate::run::{Demand, Plan, Run, path, rows};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par;
use voxelize_meshes::Mesh;

use super::inside::{Inside, flood};

/// Grids in memory at a time, besides the result.
pub(crate) const GRIDS: u128 = path::GRIDS;

/// The cells of a way in for every hole through which [`Inside::Flood`] leaks; none if
/// it does not. The flood is that of `inside` if it is one, and the holes that it closes are none; otherwise no hole
/// is closed.
///
/// A way in is a path of cells, each sharing a face with the next, none that the mesh touches under ties up:
/// from a cell on a face of the grid to a nearest cell that the hole's cap touches, and from there on to a
/// nearest cell that was leaked into: one that the flood does not reach where the caps of all holes that leak
/// are walls as well. (Where there is no such cell, the path ends at the cap.) Both parts are as short as can
/// be. Of several cells of a cap that are as near, the first is taken, x fastest; from it each part goes to
/// the first neighbour that is a step nearer, of those below and above along x, y and z.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::rule::leak_path;
/// use voxelize::run::Run;
/// use voxelize::{Fit, Inside, Mesh};
///
/// let cube = Mesh::open("fixtures/cube.stl")?;
/// let without_two = Mesh::from_triangles(cube.triangles()[2..].to_vec())?;
/// let lattice = Fit::longest(32).pad(1).to(cube.bounds())?;
/// let path = leak_path::leak_path(&without_two, &lattice, Inside::flood(), &Run::default())?;
/// assert_eq!(path.count(), 3);
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// If what it needs, as [`extra_bytes`] counts it, does not fit in memory or is above `run.max_memory`, the level
/// does not exist here, or the run was cancelled.
pub fn leak_path(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<BitGrid> {
    run.supported_level()?;
    let need = Demand::new(mesh, lattice, run)
        .with(extra_bytes(mesh, lattice, run))
        .bytes(Plan::Dense);
    run.refuse_above(need, || {
        let [x, y, z] = lattice.dims();
        let triangles = mesh.triangles().len();
        format!("six grids of {x} × {y} × {z} cells and {triangles} triangles")
    })?;
    par::with_threads(run.thread_count(), || {
        let flood::Flood {
            outside,
            walls,
            leak,
            ..
        } = flood::flooded(mesh, lattice, inside.closed_holes(), run)?;
        let holes = leak.map(|leak| leak.holes).unwrap_or_default();
        path::through(&holes, lattice, walls, outside, run.supported_level()?, run)
    })?
}

/// The bytes that it takes in addition to the mesh and the grid of the answer, at most, but for lists of cells that
/// the search is at.
pub fn extra_bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    rows::bytes(mesh, lattice, run.max_memory) + GRIDS * BitGrid::bytes_for(lattice.dims())
}
