//! The thin rule: a cell is occupied iff a triangle meets one of the three segments that join the centres of its
//! opposite faces, displaced as walls and centres are. No path of empty cells that share faces leads through a closed
//! mesh (6-separating; Laine, A Topological Approach to Voxelization, 2013): docs/separation.md proves it.

use super::PreparedRule;
use crate::kernel::KernelLattice;
use crate::run::cover::IntersectionTarget;

/// The segments of cells, by the lattices of rows along x, y and z.
pub(super) fn target(prepared: &PreparedRule) -> IntersectionTarget {
    let bounds = prepared.mesh.bounds();
    let along = |axis| KernelLattice::of_segments(prepared.lattice.axes(), bounds, axis);
    IntersectionTarget::Cross([0, 1, 2].map(along))
}
