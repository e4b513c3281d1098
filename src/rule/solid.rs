//! The solid rule: a cell is occupied iff its centre is inside the mesh, an unbiased volume.
//! Parts that are lost thus may be kept as filled has them.

use std::ops::Range;

use super::{Job, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;

/// Fills a grid of these layers with the cells whose centres are inside.
pub(super) fn fill(job: &Job, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
    let mut stats = job.inside().fill(layers.clone(), run, grid)?;
    if let Some(thin) = &job.thin {
        thin.keep(job.lattice, layers, run, grid)?;
        stats.told.thin = thin.told;
    }
    Ok(stats)
}
