//! Rules that occupy a cell if a triangle intersects a target in the cell: its box, a ball around its centre,
//! or three segments. The order of the triangles does not affect the result.

use std::ops::Range;

use super::{FillCells, Stats};
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellsMut, Lattice};
use voxelize_meshes::Mesh;

/// Occupies the cells in which a triangle of the mesh intersects the target.
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
