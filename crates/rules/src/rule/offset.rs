//! The offset rule: a cell is occupied iff its centre is within a radius of the mesh, by the seven separating axes
//! of a sphere and a triangle (Ericson, "Optimizing a sphere-triangle intersection test", 2010). Distances are those
//! of world space; a centre exactly as far away as the radius counts, decided exactly.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use crate::run::memory::MemoryEstimate;
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

/// Returns the bytes of the threads, their bricks left out. Few of them are touched.
pub(super) fn memory(estimate: &MemoryEstimate) -> u128 {
    let bound = bytes_for(estimate.lattice.dims(), estimate.run.thread_count());
    estimate.bytes(bound, 0)
}
