//! The solid rule: a cell is occupied iff its centre is inside the mesh. The total volume of the occupied
//! cells is an unbiased estimate of the volume of the mesh.
//!
//! Thin features that the rule loses can be kept by adding cells of the rule filled.

use std::ops::Range;

use super::inside::{Inside, PreparedInside};
use super::lost::KeptFeatures;
use super::{FillCells, Stats};
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::grid::CellsMut;

/// Occupies the cells whose centres are inside, and the cells that keep thin features.
pub(super) struct SolidCells<'a> {
    pub inside: PreparedInside<'a>,
    pub kept: Option<KeptFeatures>,
}

impl FillCells for SolidCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let grid = cells.bits()?;
        let mut stats = self.inside.fill(layers.clone(), run, grid)?;
        if let Some(kept) = &self.kept {
            kept.keep(layers, grid);
            (stats.lost, stats.kept) = (Some(kept.report), Some(kept.count));
        }
        Ok(stats)
    }

    fn inside(&self) -> Option<Inside> {
        Some(self.inside.used)
    }
}
