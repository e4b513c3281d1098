//! The thin rule: a cell is occupied iff a triangle meets one of the three segments that join the centres of its
//! opposite faces, displaced as walls and centres are. No path of empty cells that share faces leads through a closed
//! mesh (6-separating; Laine, A Topological Approach to Voxelization, 2013): docs/internals/separation.md proves it.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use voxelize_core::grid::Lattice;
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;

/// The segments of cells, by the lattices of rows along x, y and z.
pub(super) fn prepared<'a>(mesh: &'a Mesh, lattice: &'a Lattice) -> CoveredCells<'a> {
    let along = |axis| KernelLattice::of_segments(lattice.axes(), mesh.bounds(), axis);
    CoveredCells {
        mesh,
        lattice,
        target: IntersectionTarget::Cross([0, 1, 2].map(along)),
    }
}
