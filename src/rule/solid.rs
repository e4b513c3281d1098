//! The solid rule: a cell is occupied iff its centre is inside the mesh, an unbiased volume.
//! What is lost thus may be kept as filled has it.

use std::ops::Range;

use super::{Job, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;

/// Fills a grid of these layers with the cells whose centres are inside.
pub(super) fn fill(job: &Job, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
    let mut stats = job.inside().fill(layers.clone(), run, grid)?;
    if let Some(thin) = &job.thin {
        thin.keep(job.mesh, job.lattice, layers, run, grid)?;
        stats.told.lost = Some(thin.told);
    }
    Ok(stats)
}
