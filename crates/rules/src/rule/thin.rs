//! The thin rule: a cell is occupied iff a triangle meets one of the three segments that join the
//! centres of its opposite faces. The segments are displaced as walls and centres are.
//!
//! The occupied cells of a closed mesh are 6-separating: no path of empty cells that share faces
//! leads through them (Laine, A Topological Approach to Voxelization, 2013). docs/internals/separation.md has
//! the proof.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use voxelize_core::grid::Lattice;
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;

/// Prepares a test of the segments of cells, with one lattice of rows for each of x, y and z.
pub(super) fn prepared<'a>(mesh: &'a Mesh, lattice: &'a Lattice) -> CoveredCells<'a> {
    let along = |axis| KernelLattice::of_segments(lattice.axes(), mesh.bounds(), axis);
    CoveredCells {
        mesh,
        lattice,
        target: IntersectionTarget::Cross([0, 1, 2].map(along)),
    }
}
