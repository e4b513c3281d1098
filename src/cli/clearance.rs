//! `voxelize clearance`: whether meshes collide, and how far apart they are.

use std::path::{Path, PathBuf};

use clap::CommandFactory;
use serde_json::Value;
use voxelize::compare::clearance::{Clearance, ClearanceBody, ClearanceOptions};
use voxelize::job::InFile;
use voxelize::mesh::read::{self, Loaded, ReadOptions};
use voxelize::{Error, Finding, Kind, Rational, Result, par};

use super::args::{MemoryArgs, PageArgs, PairArgs, PowerArgs, ReadArgs, ReportArgs, values};
use super::clearance_report::{Badness, badness, mesh_json, mesh_row, pair_json, pair_rows, relation};
use super::command::{Call, Command};
use super::files;
use super::memory::Resources;
use super::progress::Bar;
use super::report::display::{bytes, counted};
use super::report::{Outcome, Report, finding_line, value};

/// How many places of a collision are listed: in JSON and with -v, and in the text.
const LISTED: usize = 100;
const SHOWN: usize = 3;

/// The memory of a triangle, and of the report on a pair of meshes and on a place, in bytes.
const TRIANGLE: u64 = size_of::<[[f32; 3]; 3]>() as u64;
const PAIR_BYTES: u64 = 8 << 10;
const PLACE_BYTES: u64 = 3 << 10;

pub const COMMAND: Command = Command {
    name: "clearance",
    usage: "[OPTIONS] A B [C ...]",
    about: "find collisions and distances between meshes",
    examples: "\
voxelize clearance shaft.stl bearing.stl        the distance, or the places of contact
voxelize clearance *.stl --min-distance 0.2     exit code 1 if any two are closer than that
voxelize clearance a.stl b.stl --json           the closest points and triangles for programs",
    notes: "\
Two meshes are apart, touching (their surfaces meet, and they share no volume), crossing (they share \
volume), or one contains the other. Of closed meshes that is decided exactly. Of open meshes that \
touch, shared volume may not be known; --min-distance fails then. --min-distance 0 accepts contact and refuses \
collisions. Closest points lie on the triangles; the direction is from B to A. docs/clearance.md \
defines the terms.

Exit codes: 0 compared; 1 with --min-distance, if two meshes are closer or share volume; 2 usage error; \
3 a mesh cannot be read; 4 a mesh has no triangles; 5 too little memory, or too many pairs to decide",
    keys: "meshes pairs within closer warnings",
    arguments: ClearanceArgs::command,
    run,
};

#[derive(Debug, clap::Parser)]
struct ClearanceArgs {
    /// Meshes, of any format that 'voxelize formats' lists; all pairs are compared
    #[arg(value_name = "MESH", required = true, help_heading = "Files")]
    meshes: Vec<PathBuf>,

    /// Fail with exit code 1 if two meshes are closer than D, in units of the files, or share volume; decided
    /// exactly, for D as written [default: none]
    #[arg(long, alias = "within", value_name = "D", value_parser = values::distance, allow_negative_numbers = true,
          help_heading = "Compare")]
    min_distance: Option<Rational>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    power: PowerArgs,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    pairs: PairArgs,

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
        let resources = call.resources(&args.power, args.memory.max_memory)?;
        call.signals.listen()?;
        let bar = call.bar();
        let comparison = Comparison { args: &args, files: &files, resources: &resources, call, bar: &bar };
        let outcome = par::with_threads(resources.threads, || comparison.run(report))?;
        bar.clear();
        outcome.inspect_err(|_| report.out.clear())
    })])
}

/// The comparison of all pairs of the meshes.
struct Comparison<'a> {
    args: &'a ClearanceArgs,
    files: &'a [InFile],
    resources: &'a Resources,
    call: &'a Call<'a>,
    bar: &'a Bar,
}

impl Comparison<'_> {
    fn run(&self, report: &mut Report) -> Result<Outcome> {
        let Self { args, files, resources, call, bar } = *self;
        let mut budget = MemoryLeft::new(resources);
        let meshes = read_all(args, files, &mut budget, bar)?;
        for (path, loaded) in args.meshes.iter().zip(&meshes) {
            report.row("mesh", &mesh_row(path, loaded));
        }
        let bodies = args.meshes.iter().zip(&meshes).map(|(path, loaded)| body(path, loaded));
        let bodies = bodies.collect::<Result<Vec<_>>>()?;
        let has_json = call.printer.options.json.is_some();
        let places = if has_json || call.printer.is_verbose() { LISTED } else { SHOWN };
        let count = (bodies.len() * (bodies.len() - 1) / 2) as u64;
        budget.take(count * (PAIR_BYTES + places as u64 * PLACE_BYTES))?;
        let pairs = args.pairs.max_pairs.unwrap_or_default();
        let options = ClearanceOptions { places, pairs, max_bytes: budget.left, progress: bar };
        let shown = if call.printer.is_verbose() { LISTED } else { SHOWN };
        let mut found = ComparedPairs::default();
        for (n, first) in bodies.iter().enumerate() {
            for (m, second) in bodies.iter().enumerate().skip(n + 1) {
                let names = [n, m].map(|n| args.meshes[n].display().to_string());
                let names = names.each_ref().map(String::as_str);
                let clearance = first.clearance(second, &options);
                let clearance = clearance.map_err(|error| error.in_file(names.join(", ")))?;
                found.add(names, &clearance, (args.min_distance.as_ref(), shown));
                let triangles = [n, m].map(|n| meshes[n].mesh.triangles().len()).iter().sum();
                let limit = match &clearance {
                    Clearance { is_all: false, .. } => Some(pairs.finding(triangles)),
                    Clearance { too_many_places: true, .. } => Some(pairs.finding_of_places(triangles)),
                    _ => None,
                };
                found.findings.extend(limit.map(|finding| (format!("{}: ", names.join(", ")), finding)));
            }
        }
        Ok(found.report(args, &meshes, count, report))
    }
}

/// Reads all meshes, within the memory for them and their trees.
fn read_all(
    args: &ClearanceArgs,
    files: &[InFile],
    budget: &mut MemoryLeft,
    bar: &Bar,
) -> Result<Vec<Loaded>> {
    let read = files.iter().map(|file| {
        let tolerance = args.read.tolerance();
        let max_memory = budget.left;
        let loaded =
            open(file, &ReadOptions::default().tolerance(tolerance).memory(max_memory).progress(bar))?;
        budget.take(loaded.mesh.triangles().len() as u64 * TRIANGLE)?;
        Ok(loaded)
    });
    let meshes = read.collect::<Result<Vec<_>>>()?;
    for loaded in &meshes {
        budget.take(ClearanceBody::bytes_for(loaded.mesh.triangles().len()))?;
    }
    Ok(meshes)
}

/// The pairs of meshes that were compared.
#[derive(Default)]
struct ComparedPairs {
    /// Their objects in JSON.
    objects: Vec<Value>,
    /// Their rows, with how bad they are, and how they lie.
    rows: Vec<ComparedPair>,
    /// Limits that were reached, with the names of both meshes.
    findings: Vec<(String, Finding)>,
    /// How many fail `--min-distance`.
    closer: u64,
}

struct ComparedPair {
    badness: Badness,
    is_closer: bool,
    relation: String,
    rows: String,
}

impl ComparedPairs {
    fn add(
        &mut self,
        names: [&str; 2],
        found: &Clearance,
        (min_distance, listed): (Option<&Rational>, usize),
    ) {
        let is_closer = min_distance.map(|distance| found.is_closer_than(distance));
        self.closer += u64::from(is_closer == Some(true));
        self.rows.push(ComparedPair {
            badness: badness(found),
            is_closer: is_closer == Some(true),
            relation: relation(names, found),
            rows: pair_rows(names, found, is_closer, listed),
        });
        self.objects.push(pair_json(names, found, is_closer));
    }

    fn report(mut self, args: &ClearanceArgs, meshes: &[Loaded], count: u64, report: &mut Report) -> Outcome {
        let both = || args.meshes.iter().zip(meshes);
        let of_files = both().flat_map(|(path, loaded)| {
            loaded.findings.iter().map(move |finding| (format!("{}: ", path.display()), finding.clone()))
        });
        let findings: Vec<_> = of_files.chain(self.findings).collect();
        report.set("meshes", both().map(|(path, loaded)| mesh_json(path, loaded)).collect::<Value>());
        report.set("pairs", self.objects);
        // The worst first, and those as bad in the order of their names.
        self.rows.sort_by_key(|pair| pair.badness);
        self.rows.iter().for_each(|pair| report.out += &pair.rows);
        let worst = self.rows.iter().find(|pair| pair.is_closer);
        report.set("within", args.min_distance.as_ref().map(Rational::to_f64));
        report.set("closer", args.min_distance.as_ref().map(|_| self.closer));
        report
            .set("warnings", findings.iter().map(|(_, finding)| value::finding(finding)).collect::<Value>());
        findings.iter().for_each(|(about, finding)| report.err += &finding_line(about, finding));
        let failed =
            args.min_distance.as_ref().zip(worst).map(|(distance, ComparedPair { relation, .. })| {
                let fails = if self.closer == 1 { "fails" } else { "fail" };
                let pairs = counted(count, "pair", "pairs");
                let distance = distance.to_f64();
                format!("{} of {pairs} {fails} --min-distance {distance}: {relation}", self.closer)
            });
        failed.map_or(Outcome::Done, |why| Outcome::CheckFailed(Some(why)))
    }
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

/// The memory that is left for meshes, their trees and the comparison.
struct MemoryLeft<'a> {
    resources: &'a Resources,
    /// In bytes; none if there is no limit.
    left: Option<u64>,
}

impl<'a> MemoryLeft<'a> {
    fn new(resources: &'a Resources) -> Self {
        Self { resources, left: resources.for_job() }
    }

    /// Takes memory, or refuses it.
    fn take(&mut self, need: u64) -> Result<()> {
        let Some(left) = &mut self.left else { return Ok(()) };
        *left = left.checked_sub(need).ok_or_else(|| {
            let says = self.resources.memory.text().unwrap_or_default();
            let need = bytes(need);
            let left = bytes(*left);
            Error::too_large(format!("the comparison needs {need} more, {left} are left for it: {says}"))
                .with_hint("raise --max-memory, or compare fewer meshes at a time")
        })?;
        Ok(())
    }
}
