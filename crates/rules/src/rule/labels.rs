//! Labels of a filled grid. Cells that the mesh touches under ties both have the label surface, and all other
//! occupied cells have the label interior.

use std::ops::Range;

use super::Rule;
use crate::run::Run;
use voxelize_core::error::Result;
use voxelize_core::geom::Ties;
use voxelize_core::grid::{BitGrid, Labels, Lattice, Legend};
use voxelize_core::par;
use voxelize_meshes::Mesh;

/// Labels the occupied cells of a grid. Cells that the rule surface occupies under ties both get the label
/// surface. All others get the label interior. The digest of a grid does not cover these labels.
///
/// ```
/// # use voxelize_rules as voxelize;
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap();
/// use voxelize::grid::Label;
/// use voxelize::rule::surface_and_interior;
/// use voxelize::run::Run;
/// use voxelize::{Lattice, Mesh, Rule, voxelize};
///
/// let mesh = Mesh::open("fixtures/knot.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 64)?;
/// let cells = voxelize(&mesh, &lattice, Rule::filled())?.into_occupied()?;
/// let count = cells.count();
/// let labels = surface_and_interior(&mesh, &lattice, cells, &Run::default())?;
/// assert_eq!(labels.count(Label::SURFACE.value) + labels.count(Label::INTERIOR.value), count);
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// Fails if `cells` and `lattice` have different dims, if a second grid does not fit in memory, or if the run
/// was cancelled.
pub fn surface_and_interior(
    mesh: &Mesh,
    lattice: &Lattice,
    cells: BitGrid,
    run: &Run,
) -> Result<Labels> {
    if cells.dims() != lattice.dims() {
        return Err(super::other_dims());
    }
    par::with_threads(run.thread_count(), || {
        of_layers(mesh, lattice, 0..lattice.dims()[2], cells, None, run)
    })?
}

/// Labels some layers of a lattice. Uses the calling thread pool. `cells` has the occupied cells of these
/// layers. `plane` is a grid whose memory may be reused.
pub(crate) fn of_layers(
    mesh: &Mesh,
    lattice: &Lattice,
    layers: Range<usize>,
    cells: BitGrid,
    plane: Option<BitGrid>,
    run: &Run,
) -> Result<Labels> {
    let mut plane = match plane {
        Some(mut plane) => {
            plane.reshape(cells.dims())?;
            plane.clear();
            plane
        }
        None => BitGrid::new(cells.dims())?,
    };
    let touched = Rule::Surface { ties: Ties::Both };
    touched
        .prepare(mesh, lattice, run)?
        .fill(layers.clone(), run, &mut plane)?;
    if let Some(cuts) = mesh.cuts() {
        // Cells that the surfaces of negative volumes touch get the label surface as well.
        touched
            .prepare(cuts.mesh(), lattice, run)?
            .fill(layers, run, &mut plane)?;
    }
    // The plane has the cells of the second label, interior, which the mesh does not touch.
    plane.invert_within(&cells);
    Ok(Labels::from_planes(
        cells,
        vec![plane],
        Legend::surface_and_interior(),
    ))
}
