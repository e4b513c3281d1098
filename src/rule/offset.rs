//! The offset rule: a cell is occupied iff its centre is within a radius of the mesh, by the seven separating axes
//! of a sphere and a triangle (Ericson, "Optimizing a sphere-triangle intersection test", 2010). Distances are those
//! of world space; a centre exactly as far away as the radius counts, decided exactly.

use std::ops::Range;

use super::{PreparedRule, Rule, Stats};
use crate::error::Result;
use crate::grid::{BitGrid, Lattice, Length};
use crate::kernel::offset::{OffsetLattice, bytes_for};
use crate::run::Run;
use crate::run::cover::{self, Covered, IntersectionTarget};

/// Fills a grid of these layers with the cells whose centres are near to the mesh.
pub(super) fn fill(
    prepared: &PreparedRule,
    layers: Range<usize>,
    run: &Run,
    grid: &mut BitGrid,
) -> Result<Stats> {
    let offset = offset_lattice(prepared);
    let (cells, triangles) = (IntersectionTarget::Ball(&offset), prepared.mesh.triangles());
    let snapped = cover::cover(cells, triangles, layers.start, grid, run.supported_level()?, run)?;
    Ok(Stats { snapped, ..Stats::default() })
}

/// The same cells of a whole lattice, in bricks.
pub(super) fn keep(prepared: &PreparedRule, run: &Run) -> Result<Covered> {
    let offset = offset_lattice(prepared);
    let (cells, triangles) = (IntersectionTarget::Ball(&offset), prepared.mesh.triangles());
    cover::keep(cells, triangles, prepared.lattice.dims(), run.supported_level()?, run)
}

/// The bytes of the threads beside their bricks.
pub(super) fn extra_bytes(lattice: &Lattice, run: &Run) -> u128 {
    bytes_for(lattice.dims(), run.thread_count())
}

fn offset_lattice(prepared: &PreparedRule) -> OffsetLattice {
    let (lattice, bounds) = (prepared.lattice, prepared.mesh.bounds());
    let radius = match prepared.rule {
        Rule::Offset { radius } => radius,
        _ => Length::ZERO,
    };
    OffsetLattice::new(lattice.axes(), bounds, radius.in_world(lattice.spacing()))
}
