//! `voxelize diff`: two voxel files, cell by cell.

mod grid;
mod output;
mod text;

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use serde_json::{Value, json}; // the schema is the command line's own
use voxelize::compare::{Difference, Gate};
use voxelize::format::Written;
use voxelize::run::bytes;
use voxelize::{Result, Voxels};

use super::args::{PageArgs, PowerArgs, TellArgs};
use super::call::{Call, End};
use super::numbers::counted;
use super::plan::Voice;
use super::verb::Verb;
use super::{boxes, files, tell, values};
use grid::Grid;
use output::Target;

pub const VERB: Verb = Verb {
    name: "diff",
    usage: "[OPTIONS] A B",
    about: "compare two voxel files, cell by cell",
    examples: "\
voxelize diff old.vox new.npz            equal (exit code 0), or what differs (1)
voxelize diff old.vox new.vox -o d.vox   what differs, to look at in colours
voxelize diff old.vox new.vox -o d.png   the same as a picture, what is common dim
voxelize diff old.npy new.npy --allow 3  up to 3 cells may differ
voxelize diff -q old.raw new.raw         the exit code alone",
    notes: "\
Any two formats can be compared. Where the cells are is compared first, exactly: grids that
differ there end with exit code 2, as their cells are not the same boxes. A file that does not
say where its cells are is compared by its cells, and the answer says so.

Exit codes: 0 equal, or within --allow and --iou-min; 1 different; 2 the grids do not match;
3 a file cannot be read",
    keys: &["first", "second", "grid", "counts", "iou", "box", "outputs"],
    arguments: Args::command,
    run,
};

#[derive(Debug, clap::Parser)]
struct Args {
    /// The voxel file to compare with, of any format that 'voxelize formats' lists
    #[arg(value_name = "A", help_heading = "Files")]
    first: PathBuf,

    /// The voxel file that is compared: what it has more than A is added, what it lacks is removed
    #[arg(value_name = "B", help_heading = "Files")]
    second: PathBuf,

    /// Compare the cells of grids that lie elsewhere or have cells of another size; they must still
    /// be as many on each axis
    #[arg(long, help_heading = "Compare")]
    ignore_grid: bool,

    /// So many cells may differ [default: 0, unless --iou-min says what is enough]
    #[arg(long, value_name = "N", value_parser = values::allowance, allow_negative_numbers = true,
          help_heading = "Compare")]
    allow: Option<u64>,

    /// The least intersection over union, from 0 to 1, that is enough [default: none]
    #[arg(long, value_name = "X", value_parser = values::share, allow_negative_numbers = true,
          help_heading = "Compare")]
    iou_min: Option<f64>,

    /// Write the cells added and removed to this .vox, each in a colour of its own, or a picture of them
    /// among the common ones to this .png [default: none]
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    output: Option<PathBuf>,

    #[command(flatten)]
    tell: TellArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[command(flatten)]
    page: PageArgs,
}

fn run(call: &mut Call) -> Result<()> {
    let args: Args = call.args()?;
    call.know("first", json!({"path": args.first.to_string_lossy()}));
    call.know("second", json!({"path": args.second.to_string_lossy()}));
    let target = args.output.as_deref().map(|path| Target::of(path, &args)).transpose()?;
    let mut named =
        vec![(args.first.as_path(), "the first file"), (args.second.as_path(), "the second file")];
    named.extend(target.as_ref().map(|target| (target.path, "the output")));
    call.keep(&named)?;
    let first = files::open_voxels(&args.first, &args.second)?;
    let second = files::open_voxels(&args.second, &args.first)?;
    call.know("first", about(&args.first, &first));
    call.know("second", about(&args.second, &second));
    let grid = Grid::of(&args, &first, &second);
    call.know("grid", grid.json(first.dims()));
    grid.check(&args)?;
    let difference = Difference::between(&first.bits, &second.bits)?;
    let written = match target {
        Some(target) => target.write(&first, &second, grid.lattice, call)?,
        None => Vec::new(),
    };
    know(call, &first, &grid, &difference, &written);
    let gate = Gate { allow: args.allow, iou_min: args.iou_min };
    let passes = gate.lets_pass(difference.differing(), difference.iou());
    let mut said = text::lines(&args, [&first, &second], &grid, &difference, passes);
    for written in &written {
        let cells = counted(difference.differing(), "cell", "cells");
        let said_of = format!("{}, {}: {cells}", written.path.display(), bytes(written.bytes.into()));
        tell::line(&mut said, "wrote", &said_of);
    }
    if call.telling.voice == Voice::Verbose {
        text::list(&mut said, &first, &second, &difference);
    }
    call.answer(&said, if passes { &End::Yes } else { &End::No })
}

fn about(path: &Path, voxels: &Voxels) -> Value {
    json!({"path": path.to_string_lossy(), "dims": voxels.dims(), "occupied": voxels.count()})
}

fn know(call: &mut Call, first: &Voxels, grid: &Grid, difference: &Difference, written: &[Written]) {
    let cells: u128 = first.dims().iter().map(|&n| n as u128).product();
    let Difference { common, added, removed, .. } = *difference;
    call.know(
        "counts",
        json!({
            "cells": u64::try_from(cells).unwrap_or(u64::MAX),
            "common": common,
            "added": added,
            "removed": removed,
            "differing": difference.differing(),
        }),
    );
    call.know("iou", difference.iou());
    let world = |[low, high]: [[usize; 3]; 2]| {
        grid.lattice.map(|lattice| {
            let [min, max] = boxes::corners(lattice, low, high);
            json!({"min": min, "max": max})
        })
    };
    let bounds = difference
        .bounds
        .map(|bounds| json!({"cells": {"min": bounds[0], "max": bounds[1]}, "world": world(bounds)}));
    call.know("box", bounds);
    let outputs = written
        .iter()
        .map(|one| json!({"path": one.path.to_string_lossy(), "format": one.format, "bytes": one.bytes}));
    call.know("outputs", outputs.collect::<Value>());
}
