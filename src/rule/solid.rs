//! The solid rule: a cell is occupied iff its centre is inside the mesh, an unbiased volume.
//! The features that are lost this way may be kept: their filled cells are added.

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
    if let Some(kept) = &prepared.kept {
        kept.keep(layers, grid);
        (stats.lost, stats.kept) = (Some(kept.report), Some(kept.count));
    }
    Ok(stats)
}
