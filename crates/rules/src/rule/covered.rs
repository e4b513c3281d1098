//! Rules whose cells triangles occupy one by one: those in which a triangle meets a part of the cell, and the cells are
//! the same in whatever order triangles are taken.

use std::ops::Range;

use super::{FillCells, Stats};
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, CellsMut, Lattice};
use voxelize_meshes::Mesh;

/// The cells whose part a triangle of the mesh meets.
pub(super) struct CoveredCells<'a> {
    pub mesh: &'a Mesh,
    pub lattice: &'a Lattice,
    pub target: IntersectionTarget,
}

impl CoveredCells<'_> {
    /// Occupies those of these layers.
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
        let keep = |level| {
            cover::keep(
                &self.target,
                self.mesh.triangles(),
                self.lattice.dims(),
                level,
                run,
            )
        };
        Some(run.supported_level().and_then(keep))
    }
}
