//! Hollow: the outer cells of the rule filled. A cell stays iff an empty cell, or the outside of
//! the grid, is within so many steps, a step going to any of the 26 cells around.

use std::ops::Range;

use super::{PreparedRule, Rule, Stats, filled};
use crate::error::Result;
use crate::grid::{BitGrid, erode};
use crate::par::Progress;
use crate::run::Run;

/// Fills a grid of these layers with all cells of the rule, or the outer ones.
pub(super) fn fill_or_shell(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    match prepared.rule {
        Rule::Filled { shell: Some(steps), .. } => fill(prepared, layers, steps as usize, run, grid),
        _ => filled::fill(prepared, layers, run, grid),
    }
}

/// Fills a grid of these layers with the outer `steps` cells of filled. The layers next to them are filled too, as
/// far as they matter.
fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    steps: usize,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let stats = filled::fill(prepared, layers.clone(), run, grid)?;
    let [nx, ny, nz] = prepared.lattice.dims();
    if [nx, ny, nz].iter().any(|n| steps > (n - 1) / 2) {
        return Ok(stats);
    }
    let around = layers.start.saturating_sub(steps)..nz.min(layers.end + steps);
    let mut core = BitGrid::new([nx, ny, around.len()])?;
    core.put(grid, layers.start - around.start);
    for border_layers in [around.start..layers.start, layers.end..around.end] {
        if !border_layers.is_empty() {
            let mut border = BitGrid::new([nx, ny, border_layers.len()])?;
            filled::fill(prepared, border_layers.clone(), run, &mut border)?;
            core.put(&border, border_layers.start - around.start);
        }
    }
    run.check()?;
    erode::erode(&mut core, steps)?;
    grid.remove(&core, layers.start - around.start);
    Ok(stats)
}
