//! Rules whose cells triangles occupy one by one: those in which a triangle meets a part of the cell, and the cells are
//! the same in whatever order triangles are taken.

use std::ops::Range;

use super::{PreparedRule, Stats};
use crate::error::Result;
use crate::grid::BitGrid;
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};

/// Fills a grid of these layers with the cells whose part a triangle of the mesh meets.
pub(super) fn fill(
    cells: &IntersectionTarget,
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let triangles = prepared.mesh.triangles();
    let snapped = cover::cover(cells, triangles, layers.start, grid, run.supported_level()?, run)?;
    Ok(Stats { snapped, ..Stats::default() })
}

/// Keeps the cells of a whole lattice, in bricks.
pub(super) fn keep(cells: &IntersectionTarget, prepared: &PreparedRule, run: &Run) -> Result<Covered> {
    cover::keep(cells, prepared.mesh.triangles(), prepared.lattice.dims(), run.supported_level()?, run)
}
