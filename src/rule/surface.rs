//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use std::ops::Range;

use super::{PreparedRule, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::kernel::KernelLattice;
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};

/// Fills a grid of these layers with the cells that a triangle of the mesh touches, by the ties in force.
pub(super) fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let frame = KernelLattice::new(
        prepared.lattice.axes(),
        prepared.mesh.bounds(),
        prepared.rule.ties().unwrap_or_default(),
    );
    let (cells, triangles) = (IntersectionTarget::Box(&frame), prepared.mesh.triangles());
    let snapped = cover::cover(cells, triangles, layers.start, grid, run.supported_level()?, run)?;
    Ok(Stats { snapped, ..Stats::default() })
}

/// The same cells of a whole lattice, in bricks.
pub(super) fn keep(prepared: &PreparedRule, run: &Run) -> Result<Covered> {
    let frame = KernelLattice::new(
        prepared.lattice.axes(),
        prepared.mesh.bounds(),
        prepared.rule.ties().unwrap_or_default(),
    );
    let (cells, triangles) = (IntersectionTarget::Box(&frame), prepared.mesh.triangles());
    cover::keep(cells, triangles, prepared.lattice.dims(), run.supported_level()?, run)
}
