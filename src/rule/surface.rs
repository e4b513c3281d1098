//! The surface rule: a cell is occupied iff a triangle touches it (conservative voxelization).

use super::covered::CoveredCells;
use crate::geom::Ties;
use crate::grid::Lattice;
use crate::kernel::KernelLattice;
use crate::mesh::Mesh;
use crate::run::cover::IntersectionTarget;

/// The boxes of cells, with these ties.
pub(super) fn prepared<'a>(mesh: &'a Mesh, lattice: &'a Lattice, ties: Ties) -> CoveredCells<'a> {
    let target = IntersectionTarget::Box(KernelLattice::new(lattice.axes(), mesh.bounds(), ties));
    CoveredCells { mesh, lattice, target }
}
