//! What can be typed: every option with its values, its group and its help.

mod rule;

use std::path::PathBuf;

use clap::{ArgAction, CommandFactory, Parser};
use voxelize::Snap;
use voxelize::format::{Dtype, Format};
use voxelize::mesh::read::Tolerance;

pub use self::rule::{DoubtArgs, LeakArgs, RuleArgs, words_of};
use super::help;
use super::values::{self, Corners, Exact3, Simd};

/// The cells on the longest axis unless told.
pub const DEFAULT_RES: usize = 256;

/// The arguments of a run, each valid by itself; `Plan` makes sense of them together.
#[derive(Debug, Parser)]
#[command(
    name = "voxelize",
    version,
    help_template = "{before-help}{all-args}{after-help}",
    before_help = help::short(),
    before_long_help = help::before(),
    after_long_help = help::AFTER,
    disable_help_flag = true,
    disable_version_flag = true,
    max_term_width = 100
)]
pub struct Args {
    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub rule: RuleArgs,

    #[command(flatten)]
    pub leak: LeakArgs,

    #[command(flatten)]
    pub doubt: DoubtArgs,

    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub read: ReadArgs,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub tell: TellArgs,

    #[command(flatten)]
    pub run: RunArgs,

    /// Read the mesh, say what would happen (grid, memory, bytes), and write nothing
    #[arg(short = 'n', long, help_heading = "Run")]
    pub dry_run: bool,

    #[command(flatten)]
    pub help: HelpArgs,
}

/// Where the cells are.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Grid")]
pub struct GridArgs {
    /// Cells on the longest axis; the others get as many as they need [default: 256]
    #[arg(short, long, value_name = "N", value_parser = values::count, allow_negative_numbers = true,
          conflicts_with_all = ["dims", "voxel_size", "origin"])]
    pub res: Option<usize>,

    /// Size of a cell in the units of the file, one for all axes or one for each. Decimals are
    /// exact, to 15 significant digits
    #[arg(long, value_name = "S|SX,SY,SZ", value_parser = values::cell_size, allow_hyphen_values = true,
          visible_aliases = ["pitch", "spacing"], conflicts_with = "dims")]
    pub voxel_size: Option<Exact3>,

    /// Exactly this many cells per axis, cubes as small as hold the mesh, which is centred
    #[arg(long, value_name = "X,Y,Z", value_parser = values::dims, allow_hyphen_values = true)]
    pub dims: Option<[usize; 3]>,

    /// With --dims: fill the mesh's bounds exactly, by cells whose sides may differ
    #[arg(long)]
    pub stretch: bool,

    /// With --voxel-size: shift the walls between cells so that one passes through this point on
    /// every axis [default: the mesh's smallest coordinates]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::point, allow_hyphen_values = true,
          conflicts_with_all = ["dims", "bounds"])]
    pub origin: Option<Exact3>,

    /// Fit the cells to this box, grown at the high end to whole cells, and leave out what is
    /// beyond it [default: the mesh's bounds]
    #[arg(long, value_name = "X0,Y0,Z0,X1,Y1,Z1", value_parser = values::corners,
          allow_hyphen_values = true)]
    pub bounds: Option<Corners>,

    /// As many cells on every axis as on the longest, the mesh centred
    #[arg(long, conflicts_with = "dims")]
    pub cube: bool,

    /// Cells to add on every side, after all else; empty unless --bounds cuts the mesh [default: 0]
    #[arg(long, value_name = "N", value_parser = values::padding, allow_negative_numbers = true)]
    pub pad: Option<usize>,

    /// Take the grid of a voxel file over, all of it: cells, their size and place, and how it snaps,
    /// unless --snap says it. Of a .vox or .npz, or any file with its sidecar
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["res", "voxel_size", "dims", "stretch", "origin", "bounds", "cube", "pad"])]
    pub like: Option<PathBuf>,

    /// float: a coordinate that is the 32-bit float nearest to a wall, or to the middle of a cell,
    /// is taken to lie there (no float is 0.7). none: the bits as they are [default: float]
    #[arg(long, value_name = "HOW", value_parser = values::snap(), hide_possible_values = true)]
    pub snap: Option<Snap>,
}

/// What becomes of an odd mesh.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct ReadArgs {
    /// Refuse a mesh file with any finding of the codes S and L in docs/findings.md, even one that changes
    /// nothing here and is a note, which -v shows [default: refuse damage]
    #[arg(long, conflicts_with = "lenient")]
    pub strict: bool,

    /// Take what is whole of a damaged mesh: triangles that are cut, broken or not finite are dropped,
    /// counted and warned of [default: refuse damage]
    #[arg(long)]
    pub lenient: bool,
}

impl ReadArgs {
    /// How much a reader is to take.
    pub fn tolerance(&self) -> Tolerance {
        match (self.strict, self.lenient) {
            (true, _) => Tolerance::Strict,
            (_, true) => Tolerance::Lenient,
            _ => Tolerance::Usual,
        }
    }
}

/// What is voxelized.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    /// The mesh to read; - is standard input, which needs -o. The format is told by its content,
    /// 'voxelize formats' lists them. Several meshes, and folders, need -o DIR/ and make a file each:
    /// in a folder all files are taken whose name ends as meshes do, in folders below it too, hidden
    /// ones left out. Small meshes are made side by side, large ones by all threads
    #[arg(value_name = "MESH", allow_hyphen_values = false)]
    pub meshes: Vec<PathBuf>,

    /// Read the names of more meshes and folders from FILE, one a line; - is standard input
    /// [default: only those named here]
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,

    /// With --files-from: names end in a NUL byte, as 'find -print0' writes them
    #[arg(short = '0', long)]
    pub null: bool,

    /// One grid for all meshes, fitted to the bounds of all together: each is read twice
    #[arg(long, conflicts_with = "like", help_heading = "Grid")]
    pub same_grid: bool,
}

/// Where the grid goes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// The file to write, in the format of its extension; it is replaced if it exists. - is
    /// standard output, which needs -f. A folder, or a name that ends in /, takes one file for each
    /// mesh, at the path that the mesh has below the folder they have in common [default: NAME.vox in
    /// the working directory for NAME.stl, replaced only if this tool made it]
    #[arg(short, long, value_name = "PATH")]
    pub output: Option<PathBuf>,

    /// Voxel format, whatever the extension; 'voxelize formats' says more of each
    /// [default: by extension, else vox]
    #[arg(short, long, value_name = "FORMAT", value_parser = values::format())]
    pub format: Option<&'static Format>,

    /// Type of the numbers, where the format has a choice [default: the first that 'voxelize
    /// formats' lists for it]
    #[arg(long, value_name = "TYPE", value_parser = values::dtype())]
    pub dtype: Option<Dtype>,

    /// Write PATH.json beside the output: where its cells are and how it was made. Most formats say
    /// that themselves, raw always writes one, npy needs it
    #[arg(long)]
    pub sidecar: bool,

    /// Leave out meshes whose output is there already, whatever it holds
    #[arg(long)]
    pub skip_existing: bool,

    /// Do not wait until the output is on the disk: faster, and a loss of power may take it. For
    /// benchmarks and scratch files
    #[arg(long)]
    pub no_sync: bool,
}

/// What is said; every verb takes these, before or after it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct TellArgs {
    /// The summary as one line of JSON: to standard output in place of the text, or to FILE
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub json: Option<PathBuf>,

    /// No summary, no warnings, no progress bar; errors are still said
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Say what was chosen, and why
    #[arg(short, long)]
    pub verbose: bool,
}

/// How fast the work is done; every verb takes these, before or after it.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Run")]
pub struct PowerArgs {
    /// Threads to use, in all; more than 64 only where the system offers them [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = values::threads, allow_negative_numbers = true)]
    pub threads: Option<usize>,

    /// Instruction set of the kernels [default: auto, the best of this machine]
    #[arg(long, value_name = "LEVEL", value_parser = values::simd())]
    pub simd: Option<Simd>,
}

/// How a grid is made: nothing here can change a result.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Run")]
pub struct RunArgs {
    #[command(flatten)]
    pub power: PowerArgs,

    /// The most memory to use: 4G, 512M, 1.5GiB (powers of 1024) or plain bytes, with about 14 MiB for
    /// the program itself. A grid beyond it is made in slabs of layers, one after the other, each in a
    /// pass over the mesh; what does not fit even so is refused before it is allocated [default: what
    /// is available, and no slabs: what needs more is refused]
    #[arg(long, value_name = "SIZE", value_parser = values::memory, allow_hyphen_values = true)]
    pub max_memory: Option<u64>,
}

/// What ends the run before it begins.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Help")]
pub struct HelpArgs {
    /// -h shows one page, --help everything
    #[arg(short, long, action = ArgAction::Help)]
    help: Option<bool>,

    /// The version, the SIMD levels of this build and of this machine
    #[arg(short = 'V', long, action = ArgAction::Version)]
    version: Option<bool>,
}

/// What a verb tells of itself: one page, whichever way it is asked for.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Help")]
pub struct PageArgs {
    /// This page
    #[arg(short, long, action = ArgAction::HelpLong)]
    help: Option<bool>,
}

/// The command without a verb, its options left out of the short screen, which names them itself.
pub fn command() -> clap::Command {
    Args::command().mut_args(|arg| arg.hide_short_help(true))
}
