//! The solid rule: a cell is occupied iff its centre is inside the mesh, an unbiased volume.
//! What is lost thus may be kept as filled has it.

use std::ops::Range;

use super::{PreparedRule, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;

/// Fills a grid of these layers with the cells whose centres are inside.
pub(super) fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let mut stats = prepared.inside().fill(layers.clone(), run, grid)?;
    if let Some(thin) = &prepared.thin {
        thin.keep(prepared.mesh, prepared.lattice, layers, run, grid)?;
        stats.told.lost = Some(thin.told);
    }
    Ok(stats)
}
