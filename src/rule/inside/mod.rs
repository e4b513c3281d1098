//! What counts as inside a mesh: one file per method, and their table.
//!
//! A cell is asked at its centre, displaced as the inner walls are (less ε, ε², ε³), so that it is never
//! on a triangle.

mod crossings;

use std::ops::Range;

use super::Stats;
use crate::error::{Error, Result};
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::mesh::closed::Seal;
use crate::run::Run;

/// A way to tell inside from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Inside {
    /// What the mesh allows: nonzero if every directed edge is cancelled by its reverse, evenodd if every
    /// edge is there an even number of times.
    #[default]
    Auto,
    /// Lines from outside go into the mesh more often than out of it, or less often: overlapping shells
    /// unite, cavities stay.
    Nonzero,
    /// Lines from outside cross the mesh an odd number of times: where two shells overlap is outside.
    EvenOdd,
}

/// One row of the table of methods.
#[derive(Debug)]
pub struct Method {
    /// The method.
    pub inside: Inside,
    /// Its name on the command line and in saved files.
    pub name: &'static str,
    /// One line for help and README.
    pub about: &'static str,
    prepare: Prepare,
}

/// Makes a method ready for a mesh and a lattice.
type Prepare = for<'a> fn(&'a Mesh, &'a Lattice, &Run) -> Result<Ready<'a>>;

/// Every method. Help, README and tests loop over this.
pub static METHODS: &[Method] = &[
    Method {
        inside: Inside::Auto,
        name: "auto",
        about: "nonzero or evenodd, as the mesh allows",
        prepare: automatic,
    },
    Method {
        inside: Inside::Nonzero,
        name: "nonzero",
        about: "lines from outside go in and out a different number of times; overlapping shells unite",
        prepare: |mesh, lattice, _| Ok(crossings::ready(mesh, lattice, Inside::Nonzero)),
    },
    Method {
        inside: Inside::EvenOdd,
        name: "evenodd",
        about: "lines from outside cross the mesh an odd number of times",
        prepare: |mesh, lattice, _| Ok(crossings::ready(mesh, lattice, Inside::EvenOdd)),
    },
];

/// A method that is ready to say what is inside a mesh.
pub struct Ready<'a> {
    /// The method, never [`Inside::Auto`].
    pub used: Inside,
    fill: Box<dyn Fill + 'a>,
}

/// Fills what is inside.
trait Fill: Send + Sync {
    /// Occupies the cells of these layers of the lattice whose centres are inside; layer 0 of the grid is
    /// layer `layers.start`.
    fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats>;
}

impl Inside {
    /// The row of the table for this method.
    pub fn info(self) -> &'static Method {
        METHODS.iter().find(|method| method.inside == self).expect("every method has its row")
    }

    /// The method of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        METHODS.iter().find(|method| method.name == name).map(|method| method.inside)
    }

    /// Makes the method ready for a mesh and a lattice.
    pub(super) fn prepare<'a>(self, mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Ready<'a>> {
        (self.info().prepare)(mesh, lattice, run)
    }
}

impl Ready<'_> {
    /// Occupies the cells of these layers of the lattice whose centres are inside.
    pub(super) fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        self.fill.fill(layers, run, grid)
    }
}

fn automatic<'a>(mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Ready<'a>> {
    match mesh.seal() {
        Seal::Oriented => Inside::Nonzero.prepare(mesh, lattice, run),
        Seal::Closed => Inside::EvenOdd.prepare(mesh, lattice, run),
        Seal::Open => Err(Error::unfit("the mesh is not closed: what is inside is not known")
            .with_hint("--inside evenodd or nonzero takes it as it is; 'voxelize info' counts open edges")),
    }
}
