//! Variants of rules: more or fewer cells than the rule itself says.

use super::{Rule, lost_bytes};
use crate::error::{Error, Result};
use crate::grid::{BitGrid, Lattice};
use crate::mesh::Mesh;
use crate::run::Run;

/// More or fewer cells than a rule itself says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Variant {
    /// The rule itself.
    #[default]
    Plain,
    /// Of [`Rule::Solid`]: what it loses, as [`lost`](super::lost) finds it, the cells of [`Rule::Filled`] as
    /// well: of [`ThinParts`](super::ThinParts) all, of [`ThinPlaces`](super::ThinPlaces) and of places too short
    /// to be named those within a step of a lost cell, a step going to any of the 26 cells around.
    KeepThin,
    /// Of [`Rule::Filled`]: only cells with an empty cell, or the outside of the grid, within so many steps,
    /// a step going to any of the 26 cells around.
    Hollow(u32),
}

impl Variant {
    /// What saved files say of it, the words of its option; none for the rule itself.
    pub fn name(self) -> Option<String> {
        match self {
            Self::Plain => None,
            Self::KeepThin => Some("keep-thin".to_string()),
            Self::Hollow(steps) => Some(format!("hollow {steps}")),
        }
    }

    /// Refuses a rule that has no such variant.
    pub(super) fn check(self, rule: Rule) -> Result<()> {
        let (of, hint) = match self {
            Self::KeepThin => (Rule::Solid, "surface and filled lose no part"),
            Self::Hollow(_) => (Rule::Filled, "surface is hollow, and solid may lose a thin shell"),
            Self::Plain => return Ok(()),
        };
        if rule == of {
            return Ok(());
        }
        let (name, of) = (self.name().unwrap_or_default(), of.info().name);
        Err(Error::usage(format!("{name} is a variant of the rule {of} alone")).with_hint(hint))
    }

    /// The bytes that it takes beside mesh and grid, at most.
    pub(super) fn beside(self, mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
        match self {
            Self::Plain => 0,
            // To find what is lost, and then a mesh of the parts.
            Self::KeepThin => lost_bytes(mesh, lattice, run),
            // What is eroded, what it becomes, and layers beside a slab.
            Self::Hollow(_) => 3 * BitGrid::bytes_for(lattice.dims()),
        }
    }
}
