//! `voxelize clearance`: whether meshes collide, and how far apart they are.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use serde_json::Value;
use voxelize::compare::clearance::ClearanceBody;
use voxelize::job::InFile;
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::{Error, Kind, Result, par};

use super::args::{PageArgs, PowerArgs, ReadArgs, ReportArgs, values};
use super::clearance_report::{mesh_json, mesh_row, pair_json, pair_rows, relation};
use super::command::{Call, Command};
use super::files;
use super::memory::Resources;
use super::report::display::{bytes, counted};
use super::report::{Outcome, Report, finding_line, value};

/// How many places of a collision are listed: in JSON and with -v, and in the text.
const LISTED: usize = 100;
const SHOWN: usize = 3;

pub const COMMAND: Command = Command {
    name: "clearance",
    usage: "[OPTIONS] A B [C ...]",
    about: "find collisions and distances between meshes",
    examples: "\
voxelize clearance shaft.stl bearing.stl        the distance, or the places of contact
voxelize clearance *.stl --within 0.2           exit code 1 if any two are closer than that
voxelize clearance a.stl b.stl --json           the closest points and triangles for programs",
    notes: "\
Two meshes are apart, touching (their surfaces meet, and they share no volume), crossing (they share \
volume), or one contains the other. Of closed meshes that is decided exactly. Of open meshes that \
touch, shared volume may not be known; --within fails then. --within 0 accepts contact and refuses \
collisions. Closest points lie on the triangles; the direction is from B to A. docs/clearance.md \
defines the terms.

Exit codes: 0 compared; 1 with --within, if two meshes are closer or share volume; 2 usage error; \
3 a mesh cannot be read; 4 a mesh has no triangles",
    keys: "meshes pairs within closer warnings",
    arguments: ClearanceArgs::command,
    run,
};

#[derive(Debug, clap::Parser)]
struct ClearanceArgs {
    /// Meshes, of any format that 'voxelize formats' lists; all pairs are compared
    #[arg(value_name = "MESH", required = true, help_heading = "Files")]
    meshes: Vec<PathBuf>,

    /// Fail with exit code 1 if two meshes are closer than D, in units of the files, or share volume
    /// [default: none]
    #[arg(long, value_name = "D", value_parser = values::distance, allow_negative_numbers = true,
          help_heading = "Compare")]
    within: Option<f64>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[command(flatten)]
    page: PageArgs,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: ClearanceArgs = call.args()?;
    if args.meshes.len() < 2 {
        let error = Error::usage("clearance compares at least two meshes");
        return Err(error.with_hint("voxelize clearance A B"));
    }
    Ok(vec![Report::of(|report| {
        let read = |path: &PathBuf| call.names.reads(path, "a mesh to be read");
        let files = args.meshes.iter().map(read).collect::<Result<Vec<_>>>()?;
        call.check_files()?;
        let resources = call.resources(&args.power, None)?;
        call.signals.listen()?;
        par::with_threads(resources.threads, || compare(&args, &files, &resources, call, report))?
            .inspect_err(|_| report.out.clear())
    })])
}

fn compare(
    args: &ClearanceArgs,
    files: &[InFile],
    resources: &Resources,
    call: &Call,
    report: &mut Report,
) -> Result<Outcome> {
    let bar = call.bar();
    let options = ReadOptions {
        tolerance: args.read.tolerance(),
        max_memory: resources.memory.bytes(),
        progress: &bar,
    };
    let read = files.iter().map(|file| open(file, &options)).collect::<Result<Vec<_>>>();
    let meshes = read.inspect_err(|_| bar.clear())?;
    refuse_more(&meshes, resources)?;
    for (path, loaded) in args.meshes.iter().zip(&meshes) {
        report.row("mesh", &mesh_row(path, loaded));
    }
    let bodies = args.meshes.iter().zip(&meshes).map(|(path, loaded)| body(path, loaded));
    let bodies = bodies.collect::<Result<Vec<_>>>().inspect_err(|_| bar.clear())?;
    let (mut pairs, mut closer, mut first_closer) = (vec![], 0, None);
    for (n, first) in bodies.iter().enumerate() {
        for (m, second) in bodies.iter().enumerate().skip(n + 1) {
            let found = first.clearance(second, LISTED, &bar).inspect_err(|_| bar.clear())?;
            let [a, b] = [n, m].map(|n| args.meshes[n].display().to_string());
            let is_closer = args.within.map(|distance| found.is_closer_than(distance));
            if is_closer == Some(true) {
                closer += 1;
                first_closer.get_or_insert_with(|| relation([&a, &b], &found));
            }
            pair_rows(report, [&a, &b], &found, if call.printer.is_verbose() { LISTED } else { SHOWN });
            pairs.push(pair_json([&a, &b], &found, is_closer));
        }
    }
    bar.clear();
    let count = pairs.len() as u64;
    report.set(
        "meshes",
        args.meshes.iter().zip(&meshes).map(|(path, loaded)| mesh_json(path, loaded)).collect::<Value>(),
    );
    report.set("pairs", pairs);
    report.set("within", args.within);
    report.set("closer", args.within.map(|_| closer));
    report.set(
        "warnings",
        meshes.iter().flat_map(|loaded| &loaded.findings).map(value::finding).collect::<Value>(),
    );
    for (path, loaded) in args.meshes.iter().zip(&meshes) {
        let about = format!("{}: ", path.display());
        loaded.findings.iter().for_each(|finding| report.err += &finding_line(&about, finding));
    }
    let failed = args.within.zip(first_closer).map(|(distance, first)| {
        let fails = if closer == 1 { "fails" } else { "fail" };
        let pairs = counted(count, "pair", "pairs");
        format!("{closer} of {pairs} {fails} --within {distance}: {first}")
    });
    Ok(failed.map_or(Outcome::Done, |why| Outcome::CheckFailed(Some(why))))
}

fn open(file: &InFile, options: &ReadOptions) -> Result<Loaded> {
    let path = file.path();
    files::is_there(path)?;
    read::read_file(path, options).map_err(|error| match error.kind() {
        Kind::Input => files::holds_voxels(path).unwrap_or(error),
        _ => error,
    })
}

fn body<'a>(path: &Path, loaded: &'a Loaded) -> Result<ClearanceBody<'a>> {
    ClearanceBody::new(&loaded.mesh).map_err(|error| error.in_file(path))
}

/// Refuses meshes whose cells may not fit in memory.
fn refuse_more(meshes: &[Loaded], resources: &Resources) -> Result<()> {
    let need = meshes.iter().map(|loaded| ClearanceBody::bytes_for(loaded.mesh.triangles().len())).sum();
    match resources.memory.bytes().filter(|most| u128::from(*most) < need) {
        Some(most) => {
            Err(Error::too_large(format!("the meshes need {}, {} are available", bytes(need), bytes(most)))
                .with_hint("compare fewer meshes at a time"))
        }
        None => Ok(()),
    }
}
