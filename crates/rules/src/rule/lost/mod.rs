//! Lost features: details of a mesh that are missing in the cells of the rule solid.
//!
//! - A component of filled cells is *lost* if none of its cells is solid.
//! - A component of filled cells is *broken* if its solid cells form more pieces than there are outer shells
//!   of the mesh in it. A shell counts in every component of filled cells that it reaches.
//! - A filled cell is *lost* if neither it nor any of its 26 neighbours is solid. A connected set of lost
//!   cells is a *place*, which is reported if it is at least four cells long.
//!
//! Cells that share a face, an edge or a corner are connected. The solid and the filled cells are made with
//! the same method for the inside. If the grid cuts the mesh, some cells around the grid are examined as
//! well. A component that continues beyond these cells is neither lost nor broken.

mod around;
mod cells;
mod hosts;
mod judge;
mod keep;
mod report;
mod shells;

use std::ops::Range;

use self::around::Around;
use self::judge::{Judge, LostOutput};
pub use self::report::{LostComponents, LostFeatures, LostPlaces};
use super::inside::{self, Inside, PreparedInside};
use crate::run::Run;
use crate::run::memory::{MemoryEstimate, MemoryFigure};
use voxelize_core::error::Result;
use voxelize_core::grid::{BitGrid, Lattice};
use voxelize_core::par;
use voxelize_meshes::Mesh;
use voxelize_meshes::closed::Closedness;

/// Number of grids that are in memory at the same time: the filled, the solid and the lost cells, and the
/// cells around some of these.
const GRIDS: u128 = 5;

/// Memory for the triangles near lost cells and for the components of the mesh, as a multiple of the memory
/// of the mesh.
const MESHES: u128 = 5;

/// Returns the memory, in bytes, that the search needs in addition to the mesh. It includes the memory of the
/// method for the inside if the result is an upper bound.
pub(crate) fn memory(method: Inside, estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate { mesh, lattice, .. } = *estimate;
    if estimate.figure != MemoryFigure::UpperBound {
        // The caller counts the memory of the method, and the search uses the method's cells.
        return match mesh.closedness() {
            Closedness::Open if method != Inside::Vote => estimate.meshes(0, 1.5),
            _ => 0,
        };
    }
    let repair = if mesh.closedness() == Closedness::Oriented && !mesh.is_two_sided() {
        0
    } else {
        inside::repair_memory(estimate)
    };
    let around = Around::new(lattice, mesh.bounds(), method);
    let dims = around.map_or(lattice.dims(), |around| around.lattice.dims());
    let grids = GRIDS * BitGrid::bytes_for(dims);
    estimate.meshes(MESHES, 0.0) + repair + grids + method.memory(estimate)
}

/// Lost features of a mesh, and the cells that are added to keep them.
pub(super) struct KeptFeatures {
    /// Report of the lost features.
    pub report: LostFeatures,
    /// Number of cells that are added to keep the features. None of these cells is solid.
    pub count: u64,
    /// Cells that are added to keep the features. `None` if no feature is lost.
    added: Option<BitGrid>,
}

impl KeptFeatures {
    /// Finds the lost features of a mesh in the calling thread pool. `inside` is the method, prepared for the
    /// lattice.
    pub(super) fn new(
        mesh: &Mesh,
        lattice: &Lattice,
        inside: &PreparedInside,
        run: &Run,
    ) -> Result<Self> {
        let around = Around::new(lattice, mesh.bounds(), inside.used)?;
        let judge = Judge::new(mesh, &around, inside.used, run)?;
        let solid = if around.is_cut() {
            solid(mesh, &around.lattice, inside.used, run)?
        } else {
            filled_by(inside, &around.lattice, run)?
        };
        let judged = judge.of(&solid, LostOutput::Cells)?;
        let added = match &judged.found {
            Some(found) => Some(around.cropped(keep::added(found, &solid)?)?),
            None => None,
        };
        let count = added.as_ref().map_or(0, BitGrid::count);
        Ok(Self {
            report: judged.report,
            count,
            added,
        })
    }

    /// Adds to the grid those cells of these layers that keep the features.
    pub(super) fn keep(&self, layers: Range<usize>, grid: &mut BitGrid) {
        if let Some(added) = &self.added {
            grid.add_layers(added, layers.start);
        }
    }
}

/// Finds the features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses with the method `inside`. If
/// the cells of this rule are already known, `given` saves the time to compute them again.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::{Inside, Lattice, Mesh, Run, rule::lost};
///
/// let mesh = Mesh::open("fixtures/knot.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 64)?;
/// let features = lost::find(&mesh, &lattice, Inside::Auto, None, &Run::default())?;
/// assert!(features.components.is_none() && features.places.is_none());
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if `given` and `lattice` have different dims, if there are too many triangles, if memory does not
/// suffice, if the machine lacks the instruction set, or if the run was cancelled.
pub fn find(
    mesh: &Mesh,
    lattice: &Lattice,
    inside: Inside,
    given: Option<&BitGrid>,
    run: &Run,
) -> Result<LostFeatures> {
    if given.is_some_and(|solid| solid.dims() != lattice.dims()) {
        return Err(super::other_dims());
    }
    par::with_threads(run.thread_count(), || {
        let around = Around::new(lattice, mesh.bounds(), inside)?;
        let judge = Judge::new(mesh, &around, inside, run)?;
        let judged = match given {
            Some(solid) if !around.is_cut() => judge.of(solid, LostOutput::Report)?,
            _ => {
                let solid = solid(mesh, &around.lattice, inside, run)?;
                judge.of(&solid, LostOutput::Report)?
            }
        };
        Ok(judged.report)
    })?
}

/// Returns the cells of a lattice whose centres are inside.
fn solid(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<BitGrid> {
    filled_by(&inside.prepare(mesh, lattice, run)?, lattice, run)
}

fn filled_by(inside: &PreparedInside, lattice: &Lattice, run: &Run) -> Result<BitGrid> {
    let mut solid = BitGrid::try_from(lattice)?;
    inside.fill(0..lattice.dims()[2], run, &mut solid)?;
    Ok(solid)
}
