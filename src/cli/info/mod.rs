//! `voxelize info`: what a mesh is, or a voxel file.

mod mesh;
mod voxels;

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use voxelize::mesh::read::Tolerance;
use voxelize::{Error, Result, format};

use super::args::{PageArgs, PowerArgs, ReadArgs, TellArgs};
use super::call::{Call, End};
use super::files;
use super::verb::Verb;

pub const VERB: Verb = Verb {
    name: "info",
    usage: "[OPTIONS] FILE...",
    about: "say what a mesh or a voxel file is",
    examples: "\
voxelize info part.stl           triangles, bounds, holes, cell sizes to begin with
voxelize info part.vox           where its cells are, how it was made, its digests
voxelize info *.npz --json       one line of JSON for each file",
    notes: "\
A mesh is closed if each of its edges is there an even number of times, and oriented if each is
cancelled by one of the other direction; vertices are the same if their coordinates are.
One file that fails does not stop the others; the exit code is then theirs, or 7 if they fail for
different reasons.",
    keys: &[
        "path",
        "kind",
        "format",
        "bytes",
        "mesh",
        "suggestions",
        "warnings",
        "dtype",
        "parts",
        "grid",
        "made_by",
        "input",
        "rule",
        "variant",
        "ties",
        "inside",
        "close_holes",
        "snap",
        "counts",
        "volume",
        "digest",
    ],
    arguments: Args::command,
    run,
};

#[derive(Debug, clap::Parser)]
struct Args {
    /// Meshes and voxel files, of any format that 'voxelize formats' lists
    #[arg(value_name = "FILE", required = true, help_heading = "Files")]
    files: Vec<PathBuf>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    tell: TellArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[command(flatten)]
    page: PageArgs,
}

fn run(call: &mut Call) -> Result<()> {
    let args: Args = call.args()?;
    let named: Vec<_> = args.files.iter().map(|path| (path.as_path(), "a file to be read")).collect();
    call.keep(&named)?;
    for (n, path) in args.files.iter().enumerate() {
        call.know("path", path.to_string_lossy());
        match look(path, args.read.tolerance(), call) {
            Ok(text) => call.answer(&format!("{}{text}", if n > 0 { "\n" } else { "" }), &End::Yes)?,
            Err(error) => call.fail(error),
        }
    }
    Ok(())
}

/// What the file is, for people; what is known is noted for JSON.
fn look(path: &Path, tolerance: Tolerance, call: &mut Call) -> Result<String> {
    files::is_there(path)?;
    if format::sniff(path).or(format::by_path(path)).is_some() {
        call.know("kind", "voxels");
        voxels::look(path, call)
    } else {
        call.know("kind", "mesh");
        mesh::look(path, tolerance, call).map_err(|error| match error.code() {
            "S002" => Error::input("S002", "neither a mesh nor voxels of a kind that is known").in_file(path),
            _ => error,
        })
    }
}
