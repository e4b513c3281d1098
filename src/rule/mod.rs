//! What "filled" means: one file per rule, and their table.

pub mod surface;

use crate::error::Result;
use crate::geom::Ties;
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::run::Run;

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
    apply: fn(&Mesh, &Lattice, What, &Run) -> Result<(BitGrid, Stats)>,
}

/// Every rule. Help, README and tests loop over this.
pub static RULES: &[RuleInfo] = &[RuleInfo {
    rule: Rule::Surface,
    name: "surface",
    about: "every cell the mesh touches; inside empty",
    ties: Some(Ties::Up),
    apply: surface::apply,
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

    /// Fills a new grid for `lattice` by this rule.
    ///
    /// # Errors
    /// If the grid does not fit or the run was cancelled.
    pub fn apply(self, mesh: &Mesh, lattice: &Lattice, run: &Run) -> Result<(BitGrid, Stats)> {
        (self.rule.info().apply)(mesh, lattice, self, run)
    }
}
