//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use super::{Stats, What};
use crate::error::Result;
use crate::grid::{BitGrid, Lattice};
use crate::kernel::{Frame, Slab, cover};
use crate::mesh::Mesh;
use crate::run::Run;

/// Fills a new grid with the cells that a triangle of `mesh` touches.
pub(super) fn fill(
    mesh: &Mesh,
    lattice: &Lattice,
    what: What,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let frame = Frame::new(lattice, mesh.bounds(), what.ties().unwrap_or_default());
    let level = run.level()?;
    let (rows, row_words) = (grid.dims()[1], grid.row_words());
    let layers = 0..grid.dims()[2] as i64;
    let mut slab = Slab::new(layers, grid.words_mut(), rows, row_words);
    let snapped = cover(level, &frame, mesh.triangles(), &mut slab);
    Ok(Stats { snapped })
}
