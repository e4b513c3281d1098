//! Options of input and output.

use std::path::{Path, PathBuf};

use voxelize::format::{Dtype, Format};
use voxelize::mesh::read::{INPUTS, Tolerance};

use super::choices::ChoiceArgs;
use super::values::{self, CellValues, ProcessShare};

/// Options that decide whether damaged and unusual mesh files are refused.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct ReadArgs {
    /// refuse files with any S or L finding, even a note
    #[arg(
        long,
        conflicts_with = "lenient",
        hide_short_help = true,
        long_help = "Refuse files with any irregularity, even a harmless one: all codes S and L of docs/reference/findings.md, \
                       and with check the codes M. Holes (W006) are not refused, except by 'voxelize check --require solid' \
                       [default: refuse damage]"
    )]
    pub strict: bool,

    /// read damaged meshes: drop bad triangles
    #[arg(
        long,
        hide_short_help = true,
        long_help = "Read damaged meshes: drop truncated, malformed or non-finite triangles and report how \
                       many [default: refuse damage]"
    )]
    pub lenient: bool,
}

impl ReadArgs {
    /// Returns the tolerance of the reader for damaged and unusual files.
    pub fn tolerance(&self) -> Tolerance {
        match (self.strict, self.lenient) {
            (true, _) => Tolerance::Strict,
            (_, true) => Tolerance::Lenient,
            _ => Tolerance::Usual,
        }
    }
}

/// List of meshes with poses.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct SceneArgs {
    /// meshes with names and poses, in TOML or JSON
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        long_help = "Read meshes with names and poses from FILE, TOML or JSON: [[mesh]] with file, and name, rotate, \
                       rpy, matrix, scale, translate. Paths are relative to FILE. docs/how-to/robots.md shows one \
                       [default: only the names given here]"
    )]
    pub scene: Option<PathBuf>,
}

/// Options that name the input meshes.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Input")]
pub struct InputArgs {
    #[arg(
        value_name = "MESH",
        help = mesh_formats(),
        allow_hyphen_values = false,
        long_help = "The mesh to read; - is standard input and needs -o. FILE@rotate=z,90@translate=0,0,5 poses it. With -o \
                       FILE, several meshes form one grid; with -o DIR/, each mesh gives one file. A folder stands for its \
                       files with a mesh extension; hidden files are skipped"
    )]
    pub meshes: Vec<PathBuf>,

    #[command(flatten)]
    pub scene: SceneArgs,

    /// read mesh names, one per line; - is stdin
    #[arg(
        long,
        value_name = "LIST",
        conflicts_with = "scene",
        hide_short_help = true,
        long_help = "Read the names of more meshes and folders from LIST, one per line; - is standard input \
                       [default: only the names given here]"
    )]
    pub files_from: Option<PathBuf>,

    /// with --files-from: names end in a NUL byte
    #[arg(
        short = '0',
        long,
        hide_short_help = true,
        long_help = "With --files-from: names end in a NUL byte, as 'find -print0' writes them"
    )]
    pub null: bool,

    /// make only a share of the meshes
    #[arg(long, value_name = "I/N", value_parser = values::share_of, allow_hyphen_values = true, hide_short_help = true,
          conflicts_with_all = ["same_grid", "scene"],
          long_help = "Make every N-th mesh, from number I on. N processes with the same arguments and I from 1 to N \
                       make each mesh once. With --skip-existing a restarted process makes only the missing files [default: all]")]
    pub shard_list: Option<ProcessShare>,

    /// one grid around all meshes
    #[arg(
        long,
        conflicts_with_all = ["like", "scene"],
        help_heading = "Grid",
        long_help = "One grid for all meshes, fitted to their common bounds; each mesh is read twice"
    )]
    pub same_grid: bool,
}

impl InputArgs {
    /// Returns the first mesh, or the scene.
    pub fn first(&self) -> Option<&Path> {
        let scene = self.scene.scene.as_deref();
        self.meshes.first().map(PathBuf::as_path).or(scene)
    }
}

/// Returns the help text of the mesh argument: the file formats, and that folders are accepted.
fn mesh_formats() -> String {
    let mut names: Vec<_> = INPUTS
        .iter()
        .filter_map(|input| input.extensions.first())
        .map(|e| e.to_ascii_uppercase())
        .collect();
    names.dedup();
    format!("{}; or a folder", names.join(", "))
}

/// Options that name the output.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// format by extension; - is stdout; DIR/
    #[arg(
        short,
        long,
        value_name = "PATH",
        long_help = "The file to write, in the format of its extension; an existing file is replaced. - is \
                       standard output and needs -f. DIR/ gets one file per mesh, at its path below the common \
                       folder [default: NAME.vox in the current folder, replaced only if voxelize wrote it]"
    )]
    pub output: Option<PathBuf>,

    #[command(flatten)]
    pub file: FileArgs,

    /// skip meshes whose output file already exists
    #[arg(
        long,
        hide_short_help = true,
        long_help = "Skip meshes whose output file already exists, even if it was made with other options"
    )]
    pub skip_existing: bool,

    /// one array of all meshes
    #[arg(
        long,
        conflicts_with_all = ["skip_existing", "scene"],
        hide_short_help = true,
        long_help = "With -o FILE.npz: the grids of all meshes in one array voxels[n,x,y,z], with names, origin and \
                       spacing; meshes that fail are left out. All grids have equal dims: --dims, --same-grid, \
                       --like, --bounds, or -r with --cube"
    )]
    pub stack: bool,
}

/// Options that describe an output file of voxels.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct FileArgs {
    #[arg(short, long, value_name = "FORMAT", help = "'voxelize formats' lists them, and choices [vox]", value_parser = values::format(),
          long_help = "Voxel format, independent of the extension; 'voxelize formats' describes each [default: by \
                       extension, else vox]")]
    pub format: Option<&'static Format>,

    /// bool|u8|i8|bit, type of the numbers
    #[arg(long, value_name = "TYPE", value_parser = values::dtype(), hide_short_help = true,
          long_help = "Type of the numbers, if the format has several [default: the first that 'voxelize \
                       formats' lists for it]. u8 rounds shares of cells (--rule fraction) to 255ths")]
    pub dtype: Option<Dtype>,

    /// the numbers of empty cells, surface, interior
    #[arg(long, value_name = "E,1,2,…", value_parser = values::cell_values, allow_hyphen_values = true, hide_short_help = true,
          long_help = "Numbers to write for empty cells and for labels 1, 2, …, in npy or raw files of u8 or i8: -1,0,1 for outside, \
                       surface and interior of a filled grid. With two numbers, the second is for all occupied cells [default: 0,1,2,…]")]
    pub values: Option<CellValues>,

    /// pixels of the plate, for slices
    #[arg(long, value_name = "WxH", value_parser = values::plate, hide_short_help = true,
          long_help = "Width and height in pixels of the plate of a printer, for .slices: a cell is a pixel, and the layers are \
                       in the middle of the plate. A part that is larger than the plate is refused [default: the size of the grid]")]
    pub size: Option<[usize; 2]>,

    #[command(flatten)]
    pub choices: ChoiceArgs,

    /// describe the grid in PATH.json
    #[arg(
        long,
        hide_short_help = true,
        long_help = "Write PATH.json next to the output, with the position of its cells and how it was made. \
                       raw always writes one; npy files do not contain the position; most other formats do"
    )]
    pub sidecar: bool,

    /// do not wait for the disk
    #[arg(
        long,
        hide_short_help = true,
        long_help = "Do not wait until the output is on the disk: faster, but a power failure may destroy the \
                       file. For benchmarks and scratch files"
    )]
    pub no_sync: bool,
}
