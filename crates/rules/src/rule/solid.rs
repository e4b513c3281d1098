//! The solid rule: a cell is occupied iff its centre is inside the mesh. The total volume of the occupied
//! cells is an unbiased estimate of the volume of the mesh.
//!
//! Thin features that the rule loses can be kept by adding cells of the rule filled. The rule may keep only a
//! wall: the cells whose centre is inside and within a distance of the mesh.

use std::ops::Range;

use super::covered::CoveredCells;
use super::inside::{Inside, PreparedInside};
use super::lost::KeptFeatures;
use super::{FillCells, Stats};
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellsMut};

/// Occupies the cells whose centres are inside, and the cells that keep thin features. With `wall`, only cells
/// of this offset of the mesh and cells that keep features stay occupied.
pub(super) struct SolidCells<'a> {
    pub inside: PreparedInside<'a>,
    pub kept: Option<KeptFeatures>,
    pub wall: Option<CoveredCells<'a>>,
}

impl FillCells for SolidCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let grid = cells.bits()?;
        if self.wall.is_some() {
            let mut cavity = BitGrid::new(grid.dims())?;
            return self.hollow(layers, run, grid, &mut cavity);
        }
        let mut stats = self.inside.fill(layers.clone(), run, grid)?;
        self.keep_features(layers, grid, &mut stats);
        Ok(stats)
    }

    fn hollow(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
        cavity: &mut BitGrid,
    ) -> Result<Stats> {
        let mut stats = self.inside.fill(layers.clone(), run, grid)?;
        if let Some(wall) = &self.wall {
            wall.occupy(layers.clone(), run, cavity)?;
            cavity.invert_within(grid);
            grid.remove(cavity, 0);
        }
        self.keep_features(layers, grid, &mut stats);
        cavity.remove(grid, 0);
        Ok(stats)
    }

    fn inside(&self) -> Option<Inside> {
        Some(self.inside.used)
    }
}

impl SolidCells<'_> {
    /// Adds the cells that keep thin features.
    fn keep_features(&self, layers: Range<usize>, grid: &mut BitGrid, stats: &mut Stats) {
        if let Some(kept) = &self.kept {
            kept.keep(layers, grid);
            (stats.lost, stats.kept) = (Some(kept.report), Some(kept.count));
        }
    }
}
