//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use std::ops::Range;

use super::{Job, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::kernel::KernelLattice;
use crate::run::Run;
use crate::run::cover::{self, Covered};

/// Fills a grid of these layers with the cells that a triangle of the mesh touches, by the ties in force.
pub(super) fn fill(job: &Job, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
    let frame =
        KernelLattice::new(job.lattice.axes(), job.mesh.bounds(), job.what.ties().unwrap_or_default());
    let triangles = job.mesh.triangles();
    let snapped = cover::cover(&frame, triangles, layers.start, grid, run.level()?, run.progress)?;
    Ok(Stats { snapped, ..Stats::default() })
}

/// The same cells of a whole lattice, in bricks.
pub(super) fn keep(job: &Job, run: &Run) -> Result<Covered> {
    let frame =
        KernelLattice::new(job.lattice.axes(), job.mesh.bounds(), job.what.ties().unwrap_or_default());
    cover::keep(&frame, job.mesh.triangles(), job.lattice.dims(), run.level()?, run.progress)
}
