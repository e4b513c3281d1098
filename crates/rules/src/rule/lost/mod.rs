//! Lost features: the parts of a mesh that the rule solid loses, in three sentences.
//!
//! - A component of the cells of filled is *lost* if none of its cells is solid.
//! - It is *broken* if its solid cells are in more pieces than the mesh has components there (outer shells, each counted in
//!   every component of filled cells that it reaches).
//! - A filled cell is *lost* if neither it nor any of the 26 cells around it is solid. Lost cells that touch make a
//!   *place*, which is named if it is four cells long.
//!
//! Components and pieces of cells are connected by faces, edges or corners. Solid and filled are those of the method
//! that finds the inside. Where the grid cuts the mesh, cells around the grid are looked at, too, and a component that
//! goes on beyond them is neither lost nor broken.

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

/// Grids in memory at a time, those of filled, solid and lost cells and of cells around some of these.
const GRIDS: u128 = 5;

/// The memory of triangles near lost cells, and of the components of the mesh, in meshes.
const MESHES: u128 = 5;

/// Returns the bytes that the search takes in addition to the mesh, with the method that finds the inside.
pub(crate) fn memory(method: Inside, estimate: &MemoryEstimate) -> u128 {
    let MemoryEstimate { mesh, lattice, .. } = *estimate;
    if estimate.figure != MemoryFigure::UpperBound {
        // The method is counted apart, and its cells are used.
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

/// The features of a mesh that solid loses, to be kept.
pub(super) struct KeptFeatures {
    /// The lost features.
    pub report: LostFeatures,
    /// How many cells of the lattice keep them; none of these is solid.
    pub count: u64,
    /// The cells of the lattice that keep them, if there are any.
    added: Option<BitGrid>,
}

impl KeptFeatures {
    /// Finds the lost features of a mesh by a method made ready for the lattice, in the threads this is called in.
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

/// Finds the features of a mesh that [`Rule::Solid`](crate::Rule::Solid) loses by this method. `solid` are the cells of that rule, if they
/// are there already: that saves filling them again.
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
/// If the dims differ, there are too many triangles, memory is not there, the level does not exist here, or
/// the run was cancelled.
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
        Ok(match given.filter(|_| !around.is_cut()) {
            Some(solid) => judge.of(solid, LostOutput::Report)?,
            None => judge.of(
                &solid(mesh, &around.lattice, inside, run)?,
                LostOutput::Report,
            )?,
        }
        .report)
    })?
}

/// The cells of a lattice whose centres are inside.
fn solid(mesh: &Mesh, lattice: &Lattice, inside: Inside, run: &Run) -> Result<BitGrid> {
    filled_by(&inside.prepare(mesh, lattice, run)?, lattice, run)
}

fn filled_by(inside: &PreparedInside, lattice: &Lattice, run: &Run) -> Result<BitGrid> {
    let mut solid = BitGrid::try_from(lattice)?;
    inside.fill(0..lattice.dims()[2], run, &mut solid)?;
    Ok(solid)
}
