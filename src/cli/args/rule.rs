//! The options of rules: which cells are occupied, and what is asked about them.

use std::path::PathBuf;

use voxelize::rule::Variant;
use voxelize::{Error, Inside, Rational, Result, Rule, Ties, What};

use super::super::{leak, values};

/// Which cells are occupied.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct RuleArgs {
    /// Which cells are occupied. surface: every cell the mesh touches, the inside stays empty. filled:
    /// every cell the part has any share of. solid: cells whose centre is inside [default: surface]
    #[arg(long, value_name = "RULE", value_parser = values::rule(), hide_possible_values = true)]
    pub rule: Option<Rule>,

    /// The same as --rule surface
    #[arg(long, conflicts_with = "rule")]
    pub surface: bool,

    /// The same as --rule filled
    #[arg(long, conflicts_with_all = ["rule", "surface"])]
    pub filled: bool,

    /// The same as --rule solid
    #[arg(long, conflicts_with_all = ["rule", "surface", "filled"])]
    pub solid: bool,

    /// With solid and filled, what counts as inside. nonzero: lines from outside go in and out a
    /// different number of times, so that overlapping shells unite. evenodd: they cross the mesh an
    /// odd number of times. flood: what cannot be reached from outside. vote: what evenodd says along
    /// two axes of three. robust: the mesh, repaired and turned outwards, winds around it more than
    /// half. auto: nonzero if the mesh is closed and faces one way, evenodd if it is closed, else
    /// robust [default: auto]
    #[arg(long, value_name = "METHOD", value_parser = values::inside(), hide_possible_values = true)]
    pub inside: Option<Inside>,

    /// With --inside flood: close holes of at most N cells, by the longest side of their bounds. The cells
    /// that their caps touch keep the flood out; filled has them, solid leaves them out as it does the
    /// surface [default: none are closed]
    #[arg(long, value_name = "N", value_parser = values::steps, allow_negative_numbers = true)]
    pub close_holes: Option<u32>,

    /// With solid: of parts of the mesh that hold no cell's centre, or are thinner than a cell and have cells
    /// for some of them only, the cells of filled as well. A part hangs together by common vertices and is
    /// closed; its thickness is twice its volume by its area: that of a plate. Then, of closed meshes, places
    /// such as thin ribs: the cells of filled within a step, to any of 26 cells, of a lost one. A cell is lost
    /// if filled has it, solid does not, and none of the 26 around is solid; or, more than three steps from every
    /// cell that is solid with the 26 around it, if what is solid within two steps is in several pieces
    #[arg(long)]
    pub keep_thin: bool,

    /// With filled: only the outer N cells, those with an empty cell or the outside of the grid within N
    /// steps, a step going to any of the 26 cells around [default: all cells]
    #[arg(long, value_name = "N", value_parser = values::steps, allow_negative_numbers = true)]
    pub hollow: Option<u32>,

    /// A face exactly on a cell wall marks: the cell above (up) / both / neither (none). With surface
    /// and filled [default: up; filled: none]
    #[arg(long, value_name = "WHICH", value_parser = values::ties(), hide_possible_values = true)]
    pub ties: Option<Ties>,
}

impl RuleArgs {
    /// The rule, and what belongs to it.
    ///
    /// # Errors
    /// If the rule does not take what was asked for.
    pub fn what(&self) -> Result<What> {
        let named = [(self.surface, Rule::Surface), (self.filled, Rule::Filled), (self.solid, Rule::Solid)];
        let named = named.into_iter().find_map(|(is_named, rule)| is_named.then_some(rule));
        let rule = self.rule.or(named).unwrap_or_default();
        let info = rule.info();
        if self.ties.is_some() && info.ties.is_none() {
            let error = Error::usage(format!("--ties: the rule {} asks for centres of cells", info.name));
            return Err(error.with_hint("a centre is never on the mesh: surface and filled have ties"));
        }
        if self.inside.is_some() && info.inside.is_none() {
            let error = Error::usage(format!("--inside: the rule {} leaves the inside empty", info.name));
            return Err(error.with_hint("--filled and --solid fill it"));
        }
        if self.keep_thin && rule != Rule::Solid {
            let error = Error::usage(format!("--keep-thin: the rule {} loses no part", info.name));
            return Err(error.with_hint("it goes with --solid, which asks for centres of cells"));
        }
        if self.hollow.is_some() && rule != Rule::Filled {
            let error = Error::usage(format!("--hollow: is not for the rule {}", info.name));
            return Err(error.with_hint("it goes with --filled, no part of which is thinner than a cell"));
        }
        let variant = match self.hollow {
            Some(steps) => Variant::Hollow(steps),
            None if self.keep_thin => Variant::KeepThin,
            None => Variant::Plain,
        };
        let what =
            What { rule, ties: self.ties, inside: self.inside, close_holes: self.close_holes, variant };
        if self.close_holes.is_some() && what.inside() != Some(Inside::Flood) {
            return Err(leak::without_flood("--close-holes", &what));
        }
        Ok(what)
    }
}

/// What is asked about a flood.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct LeakArgs {
    /// With --inside flood: write the way in to FILE, in the format of its extension: for every hole that
    /// leaks a shortest path of cells from a face of the grid through the hole to the inside; no cells if
    /// none leaks. Takes the whole grid in memory, six times [default: none]
    #[arg(long, value_name = "FILE", conflicts_with = "skip_existing")]
    pub leak: Option<PathBuf>,
}

/// What is asked about cells that may be inside or not.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Rule")]
pub struct DoubtArgs {
    /// With solid and filled: write the cells in doubt to FILE, in the format of its extension: those that
    /// some of nonzero, evenodd, flood and robust call inside, and others outside. About cells that the
    /// surface touches flood is not asked. Takes the whole grid in memory, four times [default: none]
    #[arg(long, value_name = "FILE", conflicts_with = "skip_existing")]
    pub doubt: Option<PathBuf>,

    /// With solid and filled: more cells in doubt than this share of those that any of these methods calls
    /// inside, 0.01 or 1%, end with exit code 1; all is written all the same, so a file that is there says
    /// nothing, and --skip-existing is refused [default: none]
    #[arg(
        long,
        value_name = "X",
        value_parser = values::portion,
        allow_negative_numbers = true,
        conflicts_with = "skip_existing"
    )]
    pub max_doubt: Option<Rational>,
}
