//! Which cells are occupied: one file per rule, and their table.

pub mod doubt;
mod filled;
mod hollow;
pub mod inside;
pub mod leak_path;
mod parts;
mod slabs;
mod solid;
pub mod surface;
mod thin;
mod variant;

use std::ops::Range;

pub use self::inside::{Inside, METHODS, Method, Repairs, Told};
pub use self::parts::surface_and_interior;
pub use self::slabs::{Made, Slabs};
pub use self::thin::{Lost, ThinParts, ThinPlaces, lost, lost_bytes};
pub use self::variant::Variant;

use self::thin::Thin;
use crate::error::{Error, Result};
use crate::geom::Ties;
use crate::grid::meta::TOOL;
use crate::grid::{BitGrid, Lattice, Meta};
use crate::mesh::Mesh;
use crate::run::Run;
use crate::run::cover::Covered;

/// Which cells are occupied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Rule {
    /// Every cell the mesh touches; the inside stays empty.
    #[default]
    Surface,
    /// Every cell whose centre is inside the mesh.
    Solid,
    /// Every cell that shares volume with a closed mesh: its centre is inside, or the mesh meets its
    /// interior.
    Filled,
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
    /// How it tells inside from outside unless told, `None` if it does not.
    pub inside: Option<Inside>,
    fill: Fill,
    keep: Option<Keep>,
}

/// Fills a grid of these layers of the lattice.
type Fill = fn(&Job, Range<usize>, &Run, &mut BitGrid) -> Result<Stats>;

/// Gives all cells in bricks, where most of a grid is empty.
type Keep = fn(&Job, &Run) -> Result<Covered>;

/// Every rule. Help, README and tests loop over this.
pub static RULES: &[RuleInfo] = &[
    RuleInfo {
        rule: Rule::Surface,
        name: "surface",
        about: "every cell the mesh touches; inside empty",
        ties: Some(Ties::Up),
        inside: None,
        fill: surface::fill,
        keep: Some(surface::keep),
    },
    RuleInfo {
        rule: Rule::Filled,
        name: "filled",
        about: "every cell the part has any share of",
        ties: Some(Ties::None),
        inside: Some(Inside::Auto),
        fill: filled::fill_variant,
        keep: None,
    },
    RuleInfo {
        rule: Rule::Solid,
        name: "solid",
        about: "every cell whose centre is inside",
        ties: None,
        inside: Some(Inside::Auto),
        fill: solid::fill,
        keep: None,
    },
];

/// What decides every bit, beside the lattice: the rule, and what belongs to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct What {
    /// The rule.
    pub rule: Rule,
    /// What counts when mesh and wall coincide; `None` for the rule's own default.
    pub ties: Option<Ties>,
    /// What counts as inside; `None` for the rule's own default.
    pub inside: Option<Inside>,
    /// Of [`Inside::Flood`] alone: the caps of holes are walls for the flood as the mesh is, of every hole
    /// whose bounds' longest side is at most so many cells of the lattice, its extent along each axis counted
    /// in cells. The cells that they touch under ties up keep it out; with [`Rule::Filled`] they are occupied,
    /// with [`Rule::Solid`] left out, as those of the surface are. The holes are those of [`Mesh::holes`],
    /// a cap is what [`Loop::cap`](crate::mesh::boundary::Loop::cap) makes.
    pub close_holes: Option<u32>,
    /// More or fewer cells than the rule itself says.
    pub variant: Variant,
}

impl From<Rule> for What {
    fn from(rule: Rule) -> Self {
        Self { rule, ties: None, inside: None, close_holes: None, variant: Variant::Plain }
    }
}

/// A rule made ready for a mesh and a lattice, to fill layers of it.
pub struct Job<'a> {
    mesh: &'a Mesh,
    lattice: &'a Lattice,
    what: What,
    inside: Option<inside::Ready<'a>>,
    /// What would be lost; of [`Variant::KeepThin`] alone.
    thin: Option<Thin>,
}

/// What was noticed on the way.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stats {
    /// How many coordinates of triangles snapping moved onto a wall or centre plane.
    pub snapped: u64,
    /// What was noticed about the inside.
    pub told: Told,
}

impl Stats {
    /// Adds what was noticed on layers that follow.
    fn add(&mut self, other: Self) {
        self.snapped += other.snapped;
        let disputed = self.told.disputed.unwrap_or(0) + other.told.disputed.unwrap_or(0);
        self.told = Told { disputed: other.told.disputed.map(|_| disputed), ..other.told };
    }
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
        What { ties: Some(ties), ..self.into() }
    }

    /// This rule with more or fewer cells.
    pub fn with_variant(self, variant: Variant) -> What {
        What { variant, ..self.into() }
    }

    /// This rule with a way to tell inside from outside.
    pub fn with_inside(self, inside: Inside) -> What {
        What { inside: Some(inside), ..self.into() }
    }
}

impl What {
    /// The ties in force: those asked for, else the rule's own. A flood stops at the surface under ties up,
    /// so that this is what it fills.
    pub fn ties(&self) -> Option<Ties> {
        let own = self.rule.info().ties;
        let asked = if self.inside() == Some(Inside::Flood) { Some(Ties::Up) } else { self.ties };
        own.and(asked.or(own))
    }

    /// How inside is told from outside, as asked for: that, else the rule's own.
    pub fn inside(&self) -> Option<Inside> {
        let own = self.rule.info().inside;
        own.and(self.inside.or(own))
    }

    /// The bytes that are taken beside mesh and grid, at most, by crossings and by grids of its own.
    pub fn beside(&self, mesh: &Mesh, lattice: &Lattice, run: &Run) -> u128 {
        let inside = self.inside().map_or(0, |inside| inside.beside(mesh, lattice, run));
        inside + self.variant.beside(mesh, lattice, run)
    }

    /// Whether its cells are told apart where a format can, as [`surface_and_interior`] does.
    pub fn has_parts(&self) -> bool {
        self.rule == Rule::Filled
    }

    /// Whether its cells can be kept in bricks, [`Plan::Bricks`](crate::run::Plan::Bricks).
    pub fn has_bricks(&self) -> bool {
        self.rule.info().keep.is_some()
    }

    /// Makes ready to fill layers of `lattice`, in the threads this is called in.
    ///
    /// # Errors
    /// If the mesh is unfit for the rule, what is needed beside the grid does not fit in memory, or the
    /// run was cancelled.
    pub fn prepare<'a>(self, mesh: &'a Mesh, lattice: &'a Lattice, run: &Run) -> Result<Job<'a>> {
        if self.inside() == Some(Inside::Flood) && self.ties.is_some_and(|ties| ties != Ties::Up) {
            let error = Error::usage("a flood stops at the surface under ties up, there are no others");
            return Err(
                error.with_hint("leave the ties out, or take another way to tell inside from outside")
            );
        }
        if self.close_holes.is_some() && self.inside() != Some(Inside::Flood) {
            let error = Error::usage("holes are closed for a flood, and inside is not told by one");
            return Err(error.with_hint("fill, and tell inside by flood"));
        }
        self.variant.check(self.rule)?;
        let keeps_thin = (self.rule, self.variant) == (Rule::Solid, Variant::KeepThin);
        let thin = keeps_thin.then(|| thin::find(mesh, lattice, None, run)).transpose()?;
        let inside = match self.close_holes {
            Some(cells) => Some(inside::flood::closing(mesh, lattice, cells, run)?),
            None => self.inside().map(|inside| inside.prepare(mesh, lattice, run)).transpose()?,
        };
        Ok(Job { mesh, lattice, what: self, inside, thin })
    }
}

impl Job<'_> {
    /// The way inside is told from outside, never [`Inside::Auto`]; `None` if the rule does not.
    pub fn used(&self) -> Option<Inside> {
        self.inside.as_ref().map(|ready| ready.used)
    }

    /// Occupies the cells that the rule says of some layers of the lattice: layer 0 of the grid is layer
    /// `layers.start`. Cells that are occupied already stay so. Runs in the threads it is called in. What
    /// was noticed adds up over layers that follow each other.
    ///
    /// # Errors
    /// If the dims differ, the lattice has no such layers, the level does not exist here, or the
    /// run was cancelled.
    pub fn fill(&self, layers: Range<usize>, run: &Run, grid: &mut BitGrid) -> Result<Stats> {
        let [nx, ny, nz] = self.lattice.dims();
        if layers.end > nz || grid.dims() != [nx, ny, layers.len()] {
            return Err(Error::usage("the grid has other dims than the lattice"));
        }
        (self.what.rule.info().fill)(self, layers, run, grid)
    }

    fn inside(&self) -> &inside::Ready<'_> {
        self.inside.as_ref().expect("a rule that asks for insides prepares them")
    }
}

/// What is saved with a grid of this tool.
pub(crate) fn meta(what: What, used: Option<Inside>, lattice: &Lattice) -> Meta {
    Meta {
        tool: Some(TOOL.to_string()),
        rule: Some(what.rule.info().name.to_string()),
        ties: what.ties().map(|ties| ties.name().to_string()),
        variant: what.variant.name(),
        inside: used.map(|inside| inside.info().name.to_string()),
        close_holes: what.close_holes.map(|cells| cells.to_string()),
        snap: Some(lattice.snap().name().to_string()),
        input: None,
    }
}
