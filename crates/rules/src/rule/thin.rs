//! The thin rule: a cell is occupied iff a triangle intersects one of the three segments that join the
//! centres of its opposite faces. The segments are displaced by the same infinitesimal amounts as walls and
//! cell centres.
//!
//! The occupied cells of a closed mesh are 6-separating: no path of empty cells that share faces leads from
//! one side of the surface to the other (Laine, A Topological Approach to Voxelization, 2013).
//! docs/internals/separation.md has the proof.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use voxelize_core::grid::Lattice;
use voxelize_kernel::KernelLattice;
use voxelize_meshes::Mesh;

/// Prepares the rule, whose target in each cell is the three segments. Each of the axes x, y and z has its
/// own lattice of rows.
pub(super) fn prepared<'a>(mesh: &'a Mesh, lattice: &'a Lattice) -> CoveredCells<'a> {
    let along = |axis| KernelLattice::of_segments(lattice.axes(), mesh.bounds(), axis);
    CoveredCells {
        mesh,
        lattice,
        target: IntersectionTarget::Cross([0, 1, 2].map(along)),
    }
}
