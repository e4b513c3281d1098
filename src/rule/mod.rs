//! What "filled" means: one file per rule, and their table.

mod slabs;
pub mod surface;

use std::ops::Range;

pub use self::slabs::{Made, Slabs};

use crate::error::{Error, Result};
use crate::geom::Ties;
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::run::Run;
use crate::run::cover::Covered;

/// A meaning of "filled".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rule {
    /// Every cell the mesh touches; the inside stays empty.
    #[default]
    Surface,
}

/// One row of the table of rules.
#[derive(Debug)]
pub struct RuleInfo {
    /// The rule.
    pub rule: Rule,
    /// Its name on the command line and in saved files.
    pub name: &'static str,
    /// One line for help and README.
    pub about: &'static str,
    /// The ties it takes unless told, `None` if it takes none.
    pub ties: Option<Ties>,
    fill: Fill,
    keep: Option<Keep>,
}

/// Fills a grid of these layers of the lattice.
type Fill = fn(&Mesh, &Lattice, What, &Run, Range<usize>, &mut BitGrid) -> Result<Stats>;

/// Gives all cells in bricks, where most of a grid is empty.
type Keep = fn(&Mesh, &Lattice, What, &Run) -> Result<Covered>;

/// Every rule. Help, README and tests loop over this.
pub static RULES: &[RuleInfo] = &[RuleInfo {
    rule: Rule::Surface,
    name: "surface",
    about: "every cell the mesh touches; inside empty",
    ties: Some(Ties::Up),
    fill: surface::fill,
    keep: Some(surface::keep),
}];

/// What decides every bit, beside the lattice: the rule and its ties.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct What {
    /// The rule.
    pub rule: Rule,
    /// What counts when mesh and wall coincide; `None` for the rule's own default.
    pub ties: Option<Ties>,
}

impl From<Rule> for What {
    fn from(rule: Rule) -> Self {
        Self { rule, ties: None }
    }
}

/// What was noticed on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// How many coordinates of triangles snapping moved onto a wall or centre plane.
    pub snapped: u64,
}

impl Rule {
    /// The row of the table for this rule.
    pub fn info(self) -> &'static RuleInfo {
        RULES.iter().find(|info| info.rule == self).expect("every rule has its row")
    }

    /// The rule of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        RULES.iter().find(|info| info.name == name).map(|info| info.rule)
    }

    /// This rule with other ties.
    pub fn with_ties(self, ties: Ties) -> What {
        What { rule: self, ties: Some(ties) }
    }
}

impl What {
    /// The ties in force: those asked for, else the rule's own.
    pub fn ties(&self) -> Option<Ties> {
        let own = self.rule.info().ties;
        own.and(self.ties.or(own))
    }

    /// Whether its cells can be kept in bricks, [`Plan::Bricks`](crate::run::Plan::Bricks).
    pub fn has_bricks(&self) -> bool {
        self.rule.info().keep.is_some()
    }

    /// Occupies the cells of `lattice` that the rule says, in a grid of the same dims; cells
    /// that are occupied already stay so. Runs in the threads it is called in.
    ///
    /// # Errors
    /// If the dims differ, the level does not exist here, or the run was cancelled.
    pub fn fill(self, mesh: &Mesh, lattice: &Lattice, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        self.fill_layers(mesh, lattice, 0..lattice.dims()[2], run, grid)
    }

    /// The same for some layers of the lattice alone: layer 0 of the grid is layer `layers.start`.
    /// What was noticed adds up over layers that follow each other.
    ///
    /// # Errors
    /// If the dims differ, the lattice has no such layers, the level does not exist here, or the
    /// run was cancelled.
    pub fn fill_layers(
        self,
        mesh: &Mesh,
        lattice: &Lattice,
        layers: Range<usize>,
        run: &Run,
        grid: &mut BitGrid,
    ) -> Result<Stats> {
        let [nx, ny, nz] = lattice.dims();
        if layers.end > nz || grid.dims() != [nx, ny, layers.len()] {
            return Err(Error::usage("the grid has other dims than the lattice"));
        }
        (self.rule.info().fill)(mesh, lattice, self, run, layers, grid)
    }
}
