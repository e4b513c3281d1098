//! The thin rule: a cell is occupied iff a triangle meets one of the three segments that join the centres of its
//! opposite faces, displaced as walls and centres are. No path of empty cells that share faces leads through a closed
//! mesh (6-separating; Laine, A Topological Approach to Voxelization, 2013): docs/separation.md proves it.

use std::ops::Range;

use super::{PreparedRule, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::kernel::KernelLattice;
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};

/// Fills a grid of these layers with the cells whose segments the mesh meets.
pub(super) fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let frames = frames(prepared);
    let (cells, triangles) = (IntersectionTarget::Cross(&frames), prepared.mesh.triangles());
    let snapped = cover::cover(cells, triangles, layers.start, grid, run.supported_level()?, run)?;
    Ok(Stats { snapped, ..Stats::default() })
}

/// The same cells of a whole lattice, in bricks.
pub(super) fn keep(prepared: &PreparedRule, run: &Run) -> Result<Covered> {
    let frames = frames(prepared);
    let (cells, triangles) = (IntersectionTarget::Cross(&frames), prepared.mesh.triangles());
    cover::keep(cells, triangles, prepared.lattice.dims(), run.supported_level()?, run)
}

/// The lattices of rows along x, y and z.
fn frames(prepared: &PreparedRule) -> [KernelLattice; 3] {
    let bounds = prepared.mesh.bounds();
    [0, 1, 2].map(|axis| KernelLattice::of_segments(prepared.lattice.axes(), bounds, axis))
}
