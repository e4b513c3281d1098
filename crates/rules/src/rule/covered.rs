//! Rules that occupy the cells where a triangle meets a part of the cell. The order of the
//! triangles has no effect on the cells.

use std::ops::Range;

use super::{FillCells, Stats};
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellsMut, Lattice};
use voxelize_meshes::Mesh;

/// Cells where a triangle of the mesh meets the target.
pub(super) struct CoveredCells<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub target: IntersectionTarget,
}

impl CoveredCells<'_> {
    /// Occupies the cells of these layers.
    pub(super) fn occupy(
        &self,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<Stats> {
        let triangles = self.mesh.triangles();
        let snapped = cover::cover(
            &self.target,
            triangles,
            layers.start,
            grid,
            run.supported_level()?,
            run,
        )?;
        Ok(Stats {
            snapped,
            ..Stats::default()
        })
    }
}

impl FillCells for CoveredCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        self.occupy(layers, run, cells.bits()?)
    }

    fn keep(&self, run: &Run) -> Option<Result<Covered>> {
        let level = match run.supported_level() {
            Ok(level) => level,
            Err(error) => return Some(Err(error)),
        };
        let triangles = self.mesh.triangles();
        let dims = self.lattice.dims();
        Some(cover::keep(&self.target, triangles, dims, level, run))
    }
}
