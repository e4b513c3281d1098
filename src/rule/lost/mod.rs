//! Lost features: the rule solid loses connected components of the mesh that contain no cell centre or are
//! thinner than a cell, and places of other components, such as thin ribs (`places`). They are reported, or kept.
//!
//! A component is judged alone, and a shell together with its cavities if its walls are thin. The lattice is
//! extended as far as the mesh goes, so that cutting the grid changes nothing. Components that are not closed have
//! no inside of their own and are not judged; components inside the material of others, as cavities are, lose
//! nothing. An inconsistently oriented mesh is repaired first.

mod bodies;
mod centres;
mod components;
mod pieces;
mod places;
mod report;
mod window;
mod within;

use std::ops::Range;

use self::places::Around;
pub use self::report::{LostComponents, LostFeatures, LostPlaces};
use super::{Inside, Rule, covered, surface};
use crate::error::{Error, Result};
use crate::geom::{Rational, Ties, Triangle};
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::mesh::repair::Repaired;
use crate::par;
use crate::run::Run;

/// The memory that labelling components takes, in meshes; the most where every triangle is a component.
const MESHES: u128 = 4;

/// The bytes that [`find`] takes beside the mesh, at most.
pub fn extra_bytes(mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
    let repair = if mesh.seal() == Seal::Oriented { 0 } else { Inside::Robust.info().meshes };
    let components = (MESHES + repair) * size_of::<Triangle>() as u128 * mesh.triangles().len() as u128;
    components + places::bytes(mesh, lattice, run)
}

/// The lost features of a mesh, prepared to be kept.
pub(super) struct KeptFeatures {
    /// The lost features.
    pub report: LostFeatures,
    /// The lost and scattered components, if there are any.
    components: Option<Mesh>,
    /// The method that finds their inside.
    inside: Inside,
    /// The surroundings of the lattice, if there are places to keep.
    places: Option<Around>,
    /// The mesh, if it had to be repaired.
    repaired: Option<Mesh>,
}

impl KeptFeatures {
    /// Adds the filled cells of the features.
    pub(super) fn keep(
        &self,
        mesh: &Mesh,
        lattice: &Lattice,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<()> {
        if let Some(around) = &self.places {
            let mesh = self.repaired.as_ref().unwrap_or(mesh);
            places::keep(mesh, self.components.as_ref(), around, layers.clone(), run, grid)?;
        }
        let Some(components) = &self.components else { return Ok(()) };
        filled(self.inside).prepare(components, lattice, run)?.fill(layers, run, grid).map(drop)
    }
}

/// The rule whose cells share volume with a mesh.
fn filled(inside: Inside) -> Rule {
    Rule::Filled { inside, ties: Ties::None, shell: None }
}

/// Finds the features of a mesh that [`Rule::Solid`] loses. `solid` are the cells of the lattice whose centres are
/// inside by [`Inside::Nonzero`], if they are there already: that saves filling them again, and takes at most as
/// much memory as they do beside [`extra_bytes`].
///
/// ```
/// use voxelize::{Lattice, Mesh, Run, rule::lost};
///
/// let mesh = Mesh::open("fixtures/knot.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 64)?;
/// let features = lost::find(&mesh, &lattice, None, &Run::default())?;
/// assert!(features.components.is_none());
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// If the dims differ, there are too many triangles, memory is not there, the level does not exist here, or
/// the run was cancelled.
pub fn find(mesh: &Mesh, lattice: &Lattice, solid: Option<&BitGrid>, run: &Run) -> Result<LostFeatures> {
    if solid.is_some_and(|solid| solid.dims() != lattice.dims()) {
        return Err(Error::usage("the grid has other dims than the lattice"));
    }
    par::with_threads(run.thread_count(), || Ok(prepare(mesh, lattice, solid, run)?.report))?
}

/// Finds the lost features of a mesh in the threads it is called in; `solid` as in [`find`].
///
/// # Errors
/// If there are too many triangles, memory is not there, or the run was cancelled.
pub(super) fn prepare(
    mesh: &Mesh,
    lattice: &Lattice,
    solid: Option<&BitGrid>,
    run: &Run,
) -> Result<KeptFeatures> {
    let repaired = match mesh.seal() {
        Seal::Oriented => None,
        _ => Some(Mesh::from_triangles(Repaired::with(mesh, run)?.triangles)?),
    };
    let mesh = repaired.as_ref().unwrap_or(mesh);
    let is_oriented = mesh.seal() == Seal::Oriented;
    let inside = if is_oriented { Inside::Nonzero } else { Inside::Robust };
    let (lost, components) = components::find(mesh, lattice, run)?;
    let mut features = KeptFeatures {
        report: LostFeatures { components: lost, places: None, closed: is_oriented },
        components,
        inside,
        places: None,
        repaired: None,
    };
    if is_oriented {
        let around = Around::new(lattice, mesh.bounds())?;
        let solid = solid.filter(|_| repaired.is_none());
        let found = places::find(mesh, features.components.as_ref(), lattice, solid, &around, run)?;
        features.report.places = found.report;
        features.places = found.any.then_some(around);
    }
    Ok(KeptFeatures { repaired, ..features })
}

/// The same cells, and as many more before and behind them along each axis.
fn grown(lattice: &Lattice, before: [usize; 3], behind: [usize; 3]) -> Result<Lattice> {
    let dims = [0, 1, 2].map(|a| before[a] + lattice.dims()[a] + behind[a]);
    let spacing = lattice.spacing();
    let origin =
        [0, 1, 2].map(|a| &lattice.origin()[a] + &(&spacing[a] * &Rational::from(-(before[a] as i64))));
    let wider = Lattice::new(dims, origin, spacing.clone(), lattice.closed())?;
    Ok(wider.with_snap(lattice.snap()))
}
