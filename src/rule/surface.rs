//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use super::PreparedRule;
use crate::kernel::KernelLattice;
use crate::run::cover::IntersectionTarget;

/// The boxes of cells, with the ties in force.
pub(super) fn target(prepared: &PreparedRule) -> IntersectionTarget {
    let ties = prepared.rule.ties().unwrap_or_default();
    IntersectionTarget::Box(KernelLattice::new(prepared.lattice.axes(), prepared.mesh.bounds(), ties))
}
