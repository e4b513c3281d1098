//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use voxelize_core::geom::Ties;
use voxelize_core::grid::Lattice;
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;

/// Prepares the rule, whose target in each cell is the cell's box under `ties`.
pub(super) fn prepared<'a>(mesh: &'a Mesh, lattice: &'a Lattice, ties: Ties) -> CoveredCells<'a> {
    let target = IntersectionTarget::Box(KernelLattice::new(lattice.axes(), mesh.bounds(), ties));
    CoveredCells {
        mesh,
        lattice,
        target,
    }
}
