//! The offset rule: a cell is occupied iff its centre is within a radius of the mesh.
//!
//! The test uses the seven separating axes of a sphere and a triangle (Ericson, "Optimizing a
//! sphere-triangle intersection test", 2010). Distances are measured in world space. A centre at
//! exactly the radius is within it, and this is decided exactly.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use crate::run::memory::MemoryEstimate;
use voxelize_core::grid::{Lattice, Length};
use voxelize_kernel::offset::{OffsetLattice, bytes_for};
use voxelize_meshes::Mesh;

/// Prepares a test of the balls around the centres of cells.
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

/// Returns the bytes of the threads without their bricks. Few of these bytes are ever touched.
pub(super) fn memory(estimate: &MemoryEstimate) -> u128 {
    let bound = bytes_for(estimate.lattice.dims(), estimate.run.thread_count());
    estimate.bytes(bound, 0)
}
