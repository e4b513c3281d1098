//! The filled rule: a cell is occupied iff its centre is inside the mesh or the mesh meets its open
//! interior. On a closed mesh those are the cells that share volume with it.

use std::ops::Range;

use super::{Job, Stats, surface};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;

/// Fills a grid of these layers with the cells that are inside or touched, by the ties in force.
pub(super) fn fill(job: &Job, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
    let Stats { snapped, .. } = surface::fill(job, layers.clone(), run, grid)?;
    let told = job.inside().fill(layers, run, grid)?.told;
    Ok(Stats { snapped, told })
}
