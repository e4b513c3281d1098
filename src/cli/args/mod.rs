//! Options of the command line. Each option states its value, its group and its line for `-h` (the doc
//! comment). `long_help` is the text for `--help` where the line is not enough.

mod choices;
mod files;
mod grid;
mod rule;
pub mod transform;
pub mod values;

use std::any::TypeId;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args, Id};
use voxelize::Rational;
use voxelize::job::{OptionValues, RequestOption};
use voxelize::mesh::PairLimit;

pub use self::choices::givers;
pub use self::files::{FileArgs, InputArgs, OutputArgs, ReadArgs, SceneArgs};
pub use self::grid::GridArgs;
pub use self::rule::{DoubtArgs, LeakArgs, NearestArgs, QuantityArgs, RuleArgs, prefixed};
use super::files::Destination;
use super::report::{ReportOptions, Verbosity, hint_text};
use transform::UpArgs;
use values::{ColourWhen, Simd};

/// Arguments of the conversion, each valid by itself. `Options` validates them together.
#[derive(Debug, Args)]
#[command(version)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub rule: RuleArgs,

    #[command(flatten)]
    pub leak: LeakArgs,

    #[command(flatten)]
    pub nearest: NearestArgs,

    #[command(flatten)]
    pub quantities: QuantityArgs,

    #[command(flatten)]
    pub doubt: DoubtArgs,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub up: UpArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub report: ReportArgs,

    #[command(flatten)]
    pub power: PowerArgs,

    #[command(flatten)]
    pub run: RunArgs,

    /// make a .zarr in regions; continue after a crash
    #[arg(long, help_heading = "Output", hide_short_help = true, conflicts_with_all = ["skip_existing", "sidecar", "values", "dry_run"],
          long_help = "Make the .zarr of -o region by region. After a crash, the same command makes only the missing regions. \
                       'voxelize plan' distributes regions among machines. Readers see no group until the last region \
                       is complete [default: the output appears when it is complete]")]
    pub resume: bool,

    /// density in g/cm³: print the mass
    #[arg(long, value_name = "G", value_parser = values::density, help_heading = "Output", hide_short_help = true,
          allow_negative_numbers = true,
          long_help = "Density of the material in g/cm³: 1.24 for PLA, 1.1 for resin. The summary and --json then have the mass \
                       of the occupied cells or shares in g. Needs the unit of the mesh and a rule with a volume: --solid, \
                       --filled or --rule fraction [default: no mass]")]
    pub density: Option<Rational>,

    /// print grid, memory and bytes; write nothing
    #[arg(short = 'n', long, help_heading = "Run")]
    pub dry_run: bool,

    #[command(flatten)]
    pub help: HelpArgs,
}

/// Options of reports; every command accepts them, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub struct ReportArgs {
    /// summary as JSON, not text; or to FILE
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-",
          long_help = "Print the summary as one line of JSON instead of text, or write it to FILE")]
    pub json: Option<PathBuf>,

    /// only errors
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "verbose",
        long_help = "No summary, no warnings, no progress bar; errors are still printed"
    )]
    pub quiet: bool,

    /// also print each choice, and why
    #[arg(
        short,
        long,
        global = true,
        long_help = "Also print each choice and the reason for it"
    )]
    pub verbose: bool,

    /// colour of messages; --labels colour is for the mesh [auto]
    #[arg(
        long,
        global = true,
        alias = "colour",
        value_name = "WHEN",
        value_enum,
        hide_short_help = true,
        long_help = "Colour the first word of errors and warnings: always, never, or auto: on a terminal, unless \
                       NO_COLOR is set [default: auto]"
    )]
    pub color: Option<ColourWhen>,
}

/// Options of speed; every command accepts them, before or after its name.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Run")]
pub struct PowerArgs {
    /// threads [all]
    #[arg(short = 'j', long, global = true, value_name = "N", value_parser = values::threads, allow_negative_numbers = true,
          long_help = "Threads to use; more than 64 only where the system offers them, and at most one for each MiB \
                       that --max-memory leaves the program [default: all]")]
    pub threads: Option<usize>,

    /// instruction set; changes speed only [auto]
    #[arg(long, global = true, value_name = "LEVEL", value_parser = values::simd(), hide_short_help = true,
          long_help = "Instruction set of the kernels; changes speed only [default: auto, the best of this \
                       machine]")]
    pub simd: Option<Simd>,
}

/// Memory limit of the commands that make cells.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    /// above it grids are made in slabs [no limit]
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_hyphen_values = true,
          long_help = "Maximum memory to use: 4G, 512M, 1.5GiB (powers of 1024) or bytes. Larger grids are \
                       made in slabs of layers, with a pass over the mesh for each, or refused if slabs do \
                       not fit [default: no slabs; a grid larger than the available memory is refused]")]
    pub max_memory: Option<u64>,
}

/// Memory limit of the commands that read whole files.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct MemoryArgs {
    /// Maximum memory to use: 4G, 512M, 1.5GiB (powers of 1024) or bytes; larger inputs are refused [default:
    /// available memory]
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_hyphen_values = true)]
    pub max_memory: Option<u64>,
}

/// Limit on the triangle pairs that a command examines.
#[derive(Debug, Args)]
#[command(next_help_heading = "Run")]
pub struct PairArgs {
    /// Examine at most N pairs of triangles with overlapping bounding boxes, or 'all'. If there are more, counts are
    /// reported as lower bounds [default: 2^24, or 64 for each triangle if that is more]
    #[arg(long, value_name = "N", value_parser = values::pairs, allow_negative_numbers = true)]
    pub max_pairs: Option<PairLimit>,
}

/// Options that print a page and end the run.
#[derive(Debug, Args)]
#[command(next_help_heading = "Help")]
pub struct HelpArgs {
    #[arg(short, long, action = ArgAction::Help, help = "-h shows one page, --help everything")]
    help: Option<bool>,

    #[arg(short = 'V', long, action = ArgAction::Version,
          help = "The version, the SIMD levels of this build and of this machine")]
    version: Option<bool>,
}

/// Options that every named command has. Here -h and --help print the same page.
#[derive(Debug, Args)]
struct CommonArgs {
    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[arg(help_heading = "Help", short, long, action = ArgAction::HelpLong, help = "This page")]
    help: Option<bool>,
}

impl ReportArgs {
    pub fn options(&self) -> ReportOptions {
        let verbosity = match (self.quiet, self.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let is_coloured = self.color.unwrap_or_default().is_on();
        ReportOptions {
            verbosity,
            json: self.json.as_deref().map(Destination::of),
            is_coloured,
        }
    }
}

/// Adds the arguments `A` of a command and the options that every command has.
pub fn arguments<A: Args>(command: clap::Command) -> clap::Command {
    CommonArgs::augment_args(A::augment_args(command))
}

/// Adds the accepted values and the conflicts of the job options to the arguments. Both come from the
/// library's table of options.
pub fn with_values(command: clap::Command) -> clap::Command {
    let ids: Vec<Id> = command
        .get_arguments()
        .map(|arg| arg.get_id().clone())
        .collect();
    command.mut_args(|mut arg| {
        let name = option_name(arg.get_id());
        let Some(option) = RequestOption::from_name(&name) else {
            return arg;
        };
        for id in &ids {
            if option.excludes.contains(&option_name(id).as_str()) {
                arg = arg.conflicts_with(id);
            }
        }
        // An option of a command may have the same name as a job option but another type.
        if arg.get_value_parser().type_id() != TypeId::of::<String>() {
            return arg;
        }
        let values = match option.values {
            OptionValues::Name(_) if name == "unit" => transform::units(),
            OptionValues::Name(names) => names().into_iter().map(Into::into).collect(),
            _ => return arg.value_parser(move |text: &str| checked(option, text)),
        };
        arg.value_parser(PossibleValuesParser::new(values))
            .hide_possible_values(true)
    })
}

/// Returns the name of an option from its id in clap.
fn option_name(id: &Id) -> String {
    id.as_str().replace('_', "-")
}

/// Returns the text unchanged if it is a valid value of the option.
fn checked(option: &RequestOption, text: &str) -> Result<String, String> {
    match option.check(text) {
        Ok(()) => Ok(text.to_string()),
        Err(error) => Err(match error.hint() {
            Some(hint) => format!("{}; {}", error.message(), hint_text(hint)),
            None => error.message().to_string(),
        }),
    }
}
