//! Lost features: parts of a mesh that the rule solid loses.
//!
//! - A component of filled cells is *lost* if none of its cells is solid.
//! - A component is *broken* if its solid cells form more pieces than the mesh has outer shells
//!   there. A shell counts in every component of filled cells that it reaches.
//! - A filled cell is *lost* if neither it nor any of its 26 neighbours is solid. Lost cells that
//!   touch form a *place*, which is reported if it is at least four cells long.
//!
//! Components and pieces of cells are connected by faces, edges or corners. Solid and filled use
//! the method that finds the inside. If the grid cuts the mesh, cells around the grid are
//! examined as well. A component that continues beyond these cells is neither lost nor broken.

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

/// Number of grids in memory at a time: filled, solid and lost cells, and cells around some of
/// them.
const GRIDS: u128 = 5;

/// Memory of triangles near lost cells and of the components of the mesh, in sizes of the mesh.
const MESHES: u128 = 5;

/// Returns the bytes that the search takes in addition to the mesh, with the method that finds the
/// inside.
pub(crate) fn memory(method: Inside, estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate { mesh, lattice, .. } = *estimate;
    if estimate.figure != MemoryFigure::UpperBound {
        // The method is counted elsewhere, and the search uses its cells.
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

/// Lost features of a mesh with the cells that keep them.
pub(super) struct KeptFeatures {
    /// Report of the lost features.
    pub report: LostFeatures,
    /// Number of cells of the lattice that keep the features. None of them is solid.
    pub count: u64,
    /// Cells of the lattice that keep the features. `None` if no feature is lost.
    added: Option<BitGrid>,
}

impl KeptFeatures {
    /// Finds the lost features of a mesh with a method prepared for the lattice, in the calling
    /// threads.
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

    /// Adds the cells of these layers that keep the features.
    pub(super) fn keep(&self, layers: Range<usize>, grid: &mut BitGrid) {
        if let Some(added) = &self.added {
            grid.add_layers(added, layers.start);
        }
    }
}

/// Finds the features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses with the method
/// `inside`. `given` has the cells of that rule if they are known, which saves filling them again.
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
/// Fails if the dims differ, there are too many triangles, memory does not suffice, the machine
/// lacks the instruction set, or the run was cancelled.
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
