//! The options of rules: which cells are occupied, and what is asked about them.

use std::path::PathBuf;

use voxelize::{Inside, Rational, Result, Rule, ThinFeatures, Ties};

use super::super::{errors, values};

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
    /// The rule with its options.
    ///
    /// # Errors
    /// If the rule has no such option.
    pub fn chosen(&self) -> Result<Rule> {
        let named =
            [(self.surface, Rule::surface()), (self.filled, Rule::filled()), (self.solid, Rule::solid())];
        let named = named.into_iter().find_map(|(is_named, rule)| is_named.then_some(rule));
        let rule = self.rule.or(named).unwrap_or_default();
        self.with_options(rule).map_err(|error| errors::behind("--", &error))
    }

    /// `rule` with the options that are given: the method first, which has its say in the others.
    fn with_options(&self, mut rule: Rule) -> Result<Rule> {
        if let Some(inside) = self.inside {
            rule = rule.with_inside(inside)?;
        }
        if let Some(cells) = self.close_holes {
            rule = rule.with_closed_holes(cells)?;
        }
        if self.keep_thin {
            rule = rule.with_thin(ThinFeatures::Keep)?;
        }
        if let Some(cells) = self.hollow {
            rule = rule.with_shell(cells)?;
        }
        self.ties.map_or(Ok(rule), |ties| rule.with_ties(ties))
    }
}

/// The words of the command line that ask for these options of a rule, named as files name them. Of a variant the
/// value names the option.
pub fn words_of(fields: impl IntoIterator<Item = (&'static str, String)>) -> Vec<String> {
    let words = fields.into_iter().flat_map(|(name, value)| match name {
        "variant" => format!("--{value}").split(' ').map(str::to_string).collect(),
        _ => vec![format!("--{}", name.replace('_', "-")), value],
    });
    words.collect()
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
