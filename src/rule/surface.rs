//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use std::ops::Range;

use super::{Stats, What};
use crate::error::Result;
use crate::grid::{BitGrid, Lattice};
use crate::kernel::Frame;
use crate::mesh::Mesh;
use crate::run::Run;
use crate::run::cover::{self, Covered};

/// Fills a new grid of these layers with the cells that a triangle of `mesh` touches.
pub(super) fn fill(
    mesh: &Mesh,
    lattice: &Lattice,
    what: What,
    run: &Run,
    layers: Range<usize>,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let frame = Frame::new(lattice, mesh.bounds(), what.ties().unwrap_or_default());
    let snapped = cover::cover(&frame, mesh.triangles(), layers.start, grid, run.level()?, run.progress)?;
    Ok(Stats { snapped })
}

/// The same cells of a whole lattice, in bricks.
pub(super) fn keep(mesh: &Mesh, lattice: &Lattice, what: What, run: &Run) -> Result<Covered> {
    let frame = Frame::new(lattice, mesh.bounds(), what.ties().unwrap_or_default());
    cover::keep(&frame, mesh.triangles(), lattice.dims(), run.level()?, run.progress)
}
