//! The offset rule: a cell is occupied iff its centre is within a radius of the mesh, by the seven separating axes
//! of a sphere and a triangle (Ericson, "Optimizing a sphere-triangle intersection test", 2010). Distances are those
//! of world space; a centre exactly as far away as the radius counts, decided exactly.

use super::covered::CoveredCells;
use crate::run::Run;
use crate::run::cover::IntersectionTarget;
use voxelize_core::grid::{Lattice, Length};
use voxelize_kernel::offset::{OffsetLattice, bytes_for};
use voxelize_meshes::Mesh;

/// The balls around the centres of cells.
pub(super) fn prepared<'a>(
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    radius: Length,
) -> CoveredCells<'a> {
    let radius = radius.in_world(lattice.spacing());
    let target =
        IntersectionTarget::Ball(OffsetLattice::new(lattice.axes(), mesh.bounds(), radius));
    CoveredCells {
        mesh,
        lattice,
        target,
    }
}

/// The bytes of the threads, their bricks left out.
pub(super) fn extra_bytes(lattice: &Lattice, run: &Run) -> u128 {
    bytes_for(lattice.dims(), run.thread_count())
}
