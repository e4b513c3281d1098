//! The rule area: the value of a cell is the area of the part of the mesh inside it.
//! docs/internals/fraction.md describes the computation.

use std::ops::Range;

use super::fraction::{
    BrickLayers, add_triangles, bins, bins_memory, in_bricks, quantities_memory, sides,
};
use super::{FillCells, Stats};
use crate::run::Run;
use crate::run::memory::MemoryEstimate;
use voxelize_core::error::{Error, Result};
use voxelize_core::geom::{Ties, Triangle};
use voxelize_core::grid::{CellsMut, Lattice, Quantity};
use voxelize_core::par::{self, Progress};
use voxelize_kernel::KernelLattice;
use voxelize_kernel::fraction::{LayerBins, LayerSums};
use voxelize_meshes::Mesh;

/// Computes the area of the mesh within each cell.
pub(super) struct AreaCells<'a> {
    triangles: &'a [Triangle],
    lattice: &'a Lattice,
    /// Whole lattice, of which `lattice` may be a region.
    frame: KernelLattice,
    /// Index in `frame` of the first cell of the region.
    first: [usize; 3],
    bins: LayerBins,
}

/// Returns the memory, in bytes, that the rule needs in addition to the mesh and the field.
pub(super) fn memory(estimate: &MemoryEstimate) -> u128 {
    quantities_memory(estimate) + bins_memory(estimate)
}

impl<'a> AreaCells<'a> {
    /// Prepares the rule. Uses the calling thread pool.
    ///
    /// # Errors
    /// Fails if there are too many triangles, or if the run was cancelled.
    pub(super) fn new(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Self> {
        let (axes, first) = lattice.axes_of_whole();
        let frame = KernelLattice::new(axes, mesh.bounds(), Ties::None);
        let bins = bins(&frame, mesh.triangles(), first[2] + lattice.dims()[2], run)?;
        Ok(Self {
            triangles: mesh.triangles(),
            lattice,
            frame,
            first,
            bins,
        })
    }

    /// Fills the cells of some layers, whose indices refer to the whole lattice.
    fn fill_layers(
        &self,
        BrickLayers { layers, values, .. }: BrickLayers,
        run: &Run,
    ) -> Result<()> {
        let [nx, ny, _] = self.lattice.dims();
        let [x, y, _] = self.first;
        let sums = LayerSums::new(&self.frame, [x, y], run.supported_level()?).without_shares();
        let mut sums = sums.with_quantities(&self.frame, sides(self.lattice));
        sums.begin(layers.clone());
        add_triangles(
            &mut sums,
            &self.frame,
            &self.bins,
            layers.start,
            self.triangles,
            run,
        )?;
        let places = layers.flat_map(|k| (y..y + ny).map(move |j| [j, k]));
        for (place, values) in places.zip(values.chunks_mut(nx)) {
            sums.quantity_row(place, &[], &mut [(Quantity::Area, values)]);
        }
        run.advance(1);
        Ok(())
    }
}

impl FillCells for AreaCells<'_> {
    fn fill(&self, layers: Range<usize>, run: &Run, cells: CellsMut) -> Result<Stats> {
        let CellsMut::Field(field, None) = cells else {
            return Err(Error::usage("the rule area makes only a field of areas"));
        };
        let first_layer = self.first[2];
        let work = in_bricks(
            layers.start + first_layer..layers.end + first_layer,
            field,
            &mut [],
        );
        run.begin("voxelize", work.len() as u64);
        let done = par::map(work, |cells: BrickLayers| self.fill_layers(cells, run));
        done.into_iter().collect::<Result<()>>()?;
        Ok(Stats::default())
    }
}
