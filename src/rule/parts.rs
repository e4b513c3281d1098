//! The cells of a filled grid in two parts: those that the mesh touches, ties both, and those within.

use std::ops::Range;

use super::Rule;
use crate::error::{Error, Result};
use crate::geom::Ties;
use crate::grid::{BitGrid, Lattice, Part, Sort};
use crate::mesh::Mesh;
use crate::par;
use crate::run::Run;

/// Tells the cells of a grid apart: surface is what the mesh touches, as the rule surface has it under ties
/// both, interior the rest. Formats that tell cells apart save them so; no digest knows of it.
///
/// ```
/// use voxelize::rule::surface_and_interior;
/// use voxelize::run::Run;
/// use voxelize::{Lattice, Mesh, Rule, voxelize};
///
/// let mesh = Mesh::open("fixtures/knot.stl")?;
/// let lattice = Lattice::fit(mesh.bounds(), 64)?;
/// let voxels = voxelize(&mesh, &lattice, Rule::filled())?;
/// let [surface, interior] = surface_and_interior(&mesh, &lattice, &voxels.bits, &Run::default())?;
/// assert_eq!(surface.cells.count() + interior.cells.count(), voxels.count());
/// # Ok::<(), voxelize::Error>(())
/// ```
///
/// # Errors
/// If the dims differ, two more grids do not fit in memory, or the run was cancelled.
pub fn surface_and_interior(mesh: &Mesh, lattice: &Lattice, bits: &BitGrid, run: &Run) -> Result<[Part; 2]> {
    if bits.dims() != lattice.dims() {
        return Err(Error::usage("the grid has other dims than the lattice"));
    }
    par::with_threads(run.threads(), || of_layers(mesh, lattice, 0..lattice.dims()[2], bits, run))?
}

/// The parts of some layers of a lattice, whose cells are `bits`, in the threads this is called in.
pub(super) fn of_layers(
    mesh: &Mesh,
    lattice: &Lattice,
    layers: Range<usize>,
    bits: &BitGrid,
    run: &Run,
) -> Result<[Part; 2]> {
    let mut surface = BitGrid::new(bits.dims())?;
    Rule::Surface { ties: Ties::Both }.prepare(mesh, lattice, run)?.fill(layers, run, &mut surface)?;
    surface.keep(bits);
    let mut interior = BitGrid::new(bits.dims())?;
    interior.add(bits);
    interior.remove(&surface, 0);
    Ok([Part { sort: Sort::Surface, cells: surface }, Part { sort: Sort::Interior, cells: interior }])
}
