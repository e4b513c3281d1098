//! The filled rule: a cell is occupied iff its centre is inside the mesh or the mesh meets its open
//! interior. On a closed mesh those are the cells that share volume with it. Of these, all or the outer ones.

use std::ops::Range;

use super::{PreparedRule, Stats, covered, surface};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;

/// Fills a grid of these layers with the cells that are inside or touched, by the ties in force.
pub(super) fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let Stats { snapped, .. } =
        covered::fill(&surface::target(prepared), prepared, layers.clone(), run, grid)?;
    let inside = prepared.inside().fill(layers.clone(), run, grid)?.inside;
    prepared.inside().close(layers, grid);
    Ok(Stats { snapped, inside, ..Stats::default() })
}
