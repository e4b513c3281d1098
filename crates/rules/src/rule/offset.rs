//! The offset rule: a cell is occupied iff the distance of its centre from the mesh is at most a given
//! radius.
//!
//! The test uses the seven separating axes of a sphere and a triangle (Ericson, "Optimizing a sphere-triangle
//! intersection test", 2010). Distances are measured in world space. The comparison of distance and radius is
//! exact.

use super::covered::CoveredCells;
use crate::run::cover::IntersectionTarget;
use crate::run::memory::MemoryEstimate;
use voxelize_core::grid::{Lattice, Length};
use voxelize_kernel::offset::{OffsetLattice, bytes_for};
use voxelize_meshes::Mesh;

/// Prepares the rule, whose target in each cell is the ball around the cell's centre.
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

/// Returns the memory, in bytes, that the threads reserve, without their bricks. Most of it is never touched,
/// so the expected use is zero.
pub(super) fn memory(estimate: &MemoryEstimate) -> u128 {
    let bound = bytes_for(estimate.lattice.dims(), estimate.run.thread_count());
    estimate.bytes(bound, 0)
}
