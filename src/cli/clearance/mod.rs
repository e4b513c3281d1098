//! `voxelize clearance` finds collisions and distances between meshes.

mod bodies;
mod mark;
mod meshes;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use voxelize::compare::clearance::{
    ClearanceBody, ClearanceOptions, shared_volume, shared_volume_bytes,
};
use voxelize::job::{Measure, UnitOfLength};
use voxelize::{Kind, Mesh, Rational, Result, Run, par};

use super::args::{
    MemoryArgs, PairArgs, ReadArgs, SceneArgs, arguments, prefixed, transform, values,
};
use super::command::{Call, Command};
use super::files::{self, PartSource};
use super::junit::{self, JunitCase};
use super::memory::Resources;
use super::progress::Bar;
use super::report::display::counted;
use super::report::value::lossy;
use super::report::{Outcome, Report, empty, value};
use super::scene;
use bodies::{ComparedMesh, OBJECT_BYTES, allowed_pairs, objects_of};
use mark::ContactMark;
use meshes::{MemoryLeft, read_all};
use report::{ClearanceMeshJson, ComparedMeshes, PairInfo, PairVerdict, SharedSpace, mesh_row};

/// Maximum number of listed places of a collision: in JSON and with `-v`, and in the plain text.
const LISTED: usize = 100;
const SHOWN: usize = 3;

/// Memory of the report on one pair of meshes, and of the report on one place, in bytes.
const PAIR_BYTES: u64 = 8 << 10;
const PLACE_BYTES: u64 = 3 << 10;

pub const COMMAND: Command = Command {
    name: "clearance",
    about: "find collisions and distances between meshes",
    examples: "\
voxelize clearance shaft.stl bearing.stl        the distance, or the places of contact
voxelize clearance *.stl --min-distance 0.2     exit code 1 if any two meshes are closer
voxelize clearance gearbox.3mf                  the objects of one file with each other
voxelize clearance *.stl --min-distance 0.2 --allow pin,plate   but these two may meet
voxelize clearance pin.stl plate.stl@translate=0,0,5   with the plate moved up by 5
voxelize clearance gear.stl rack.stl --mark contact.vox   and 'voxelize view contact.vox' shows where
voxelize clearance --scene robot.toml           all pairs of a list of meshes with poses
voxelize clearance a.stl b.stl --json           the closest points and triangles for programs",
    notes: "\
Two meshes are apart, touching (their surfaces meet, and they share no volume), crossing (they share \
volume), or one contains the other. For closed meshes this is decided exactly. If open \
meshes touch, it may be unknown whether they share volume; --min-distance then fails. --min-distance 0 accepts contact and refuses \
collisions. Closest points lie on the triangles; the direction is from B to A. For closed meshes that share \
volume, its amount and the depth of penetration are reported: the length of the least move of A that separates \
them, exact for convex meshes. docs/reference/clearance.md defines the terms.

A mesh may have a pose of its own after its name: A@axes=x,-z,y@rotate=z,90@scale=1/2@translate=0,0,5, as the \
options of 'voxelize'; rpy=R,P,Y is roll, pitch and yaw of URDF. Its coordinates are then rounded to 32-bit floats. \
--scene reads names and poses from a file.

Exit codes: 0 compared; 1 with --min-distance, if two meshes are closer or share volume; 2 usage error; \
3 a mesh cannot be read; 4 a mesh has no triangles; 5 too little memory, or too many pairs to decide; \
6 not written",
    empty: empty::<ComparedMeshes>,
    arguments: arguments::<ClearanceArgs>,
    run,
};

#[derive(Debug, clap::Args)]
#[command(override_usage = "voxelize clearance [OPTIONS] A [B ...]")]
struct ClearanceArgs {
    /// Meshes, of any format that 'voxelize formats' lists, with poses such as @translate=0,0,5 after
    /// their names; all pairs are compared, or all pairs of objects of a single file
    #[arg(
        value_name = "MESH",
        required_unless_present = "scene",
        help_heading = "Files"
    )]
    meshes: Vec<PathBuf>,

    #[command(flatten)]
    scene: SceneArgs,

    /// Fail with exit code 1 if two meshes are closer than D, in units of the files or with a unit such as 0.2mm,
    /// or share volume; decided exactly, for D as written [default: none]
    #[arg(long, alias = "within", value_name = "D", value_parser = values::distance, allow_negative_numbers = true,
          help_heading = "Compare")]
    min_distance: Option<Measure>,

    /// The pair A, B may meet: it never fails. A and B are names of files or of objects, as the report has
    /// them or without folder and extension; may be repeated [default: none]
    #[arg(long, value_name = "A,B", help_heading = "Compare")]
    allow: Vec<String>,

    /// Write a report as JUnit XML with a test for each pair, which fails by --min-distance [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Compare")]
    junit: Option<PathBuf>,

    /// Write the cells that the meshes touch, labelled: contact where surfaces meet, collision if the meshes share
    /// volume, closest between the closest points of others, around elsewhere. .vox, .npz or any format with labels
    /// [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Compare")]
    mark: Option<PathBuf>,

    /// With --mark: number of cells on the longest axis of the box around all meshes [default: 256]
    #[arg(short, long, value_name = "N", value_parser = values::count, allow_negative_numbers = true,
          help_heading = "Compare")]
    res: Option<usize>,

    /// The unit of the coordinates: um, mm, cm, m, in or ft. Nothing is scaled. D and transforms may then have
    /// units; the report states it [default: the unit that the files state]
    #[arg(long, value_name = "UNIT", value_parser = transform::unit(), hide_possible_values = true,
          help_heading = "Input")]
    unit: Option<UnitOfLength>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    memory: MemoryArgs,

    #[command(flatten)]
    pairs: PairArgs,
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: ClearanceArgs = call.args()?;
    let started = Instant::now();
    let junit = match &args.junit {
        Some(path) => Some(junit::output_file(path, &call.names)?),
        None => None,
    };
    let mut cases = vec![];
    let report = Report::of(|report, result| {
        let sources = sources(&args, call)?;
        let mark = ContactMark::new(&args, call)?;
        call.check_files()?;
        let resources = call.resources(args.memory.max_memory)?;
        call.signals.listen()?;
        let bar = call.bar();
        let comparison = Comparison {
            args: &args,
            sources,
            mark,
            resources: &resources,
            call,
            bar: &bar,
        };
        let compared = par::with_threads(resources.threads, || comparison.run(report, result))?;
        bar.clear();
        let (outcome, tests) = compared?;
        cases = tests;
        Ok(outcome)
    });
    if let Outcome::Failed(error) = &report.outcome {
        let first = args.meshes.first().or(args.scene.scene.as_ref());
        let name = first.map_or_else(String::new, |path| lossy(path));
        cases = vec![JunitCase::failed(&name, error)];
    }
    if let Some(junit) = &junit {
        let tests = cases.len().max(1) as u32;
        for case in &mut cases {
            case.time = started.elapsed() / tests;
        }
        let xml = junit::to_xml("voxelize clearance", &cases, started.elapsed());
        junit.save_bytes("junit", xml.as_bytes())?;
    }
    Ok(vec![report])
}

/// Finds the named meshes and those of the scene.
fn sources(args: &ClearanceArgs, call: &Call) -> Result<Vec<PartSource>> {
    let mut sources = vec![];
    for mesh in &args.meshes {
        files::is_there(&files::file_of(mesh))?;
        sources.push(PartSource::find(mesh, &call.names)?);
    }
    if let Some(path) = &args.scene.scene {
        sources.extend(scene::parts(path, &call.names)?);
    }
    Ok(sources)
}

/// Comparison of all pairs of the meshes.
struct Comparison<'a> {
    args: &'a ClearanceArgs,
    sources: Vec<PartSource>,
    mark: Option<ContactMark>,
    resources: &'a Resources,
    call: &'a Call<'a>,
    bar: &'a Bar,
}

impl Comparison<'_> {
    /// Returns the outcome and a test case for each pair.
    fn run(
        &self,
        report: &mut Report,
        result: &mut ComparedMeshes,
    ) -> Result<(Outcome, Vec<JunitCase>)> {
        let Self {
            args,
            resources,
            call,
            bar,
            ..
        } = *self;
        let mut budget = MemoryLeft::new(resources);
        let (mut meshes, unit) = read_all(args, &self.sources, &mut budget, bar)?;
        let min_distance = args
            .min_distance
            .as_ref()
            .map(|distance| distance.in_units_of(unit));
        let min_distance = min_distance
            .transpose()
            .map_err(|error| prefixed("--min-distance: ", &error))?;
        let mut findings = vec![];
        for (source, loaded) in self.sources.iter().zip(&meshes) {
            let about = format!("{}: ", source.unposed_name());
            findings.extend(
                loaded
                    .findings
                    .iter()
                    .map(|finding| (about.clone(), finding.clone())),
            );
        }
        let compared = match (self.sources.as_slice(), meshes.as_mut_slice()) {
            ([source], [loaded]) => {
                let triangles = loaded.mesh.triangles().len() as u64;
                budget.take(triangles * OBJECT_BYTES)?;
                objects_of(source, loaded)?
            }
            _ => {
                let pairs = self.sources.iter().zip(meshes);
                pairs
                    .map(|(source, loaded)| ComparedMesh::of_file(source, loaded))
                    .collect()
            }
        };
        let allowed = allowed_pairs(&args.allow, &compared)?;
        for mesh in &compared {
            budget.take(ClearanceBody::bytes_for(mesh.mesh.triangles().len()))?;
            report.out.row("mesh", mesh_row(&mesh.name, &mesh.mesh));
        }
        let bodies = compared
            .iter()
            .map(|mesh| ClearanceBody::new(&mesh.mesh).map_err(|error| error.in_file(&mesh.name)));
        let bodies = bodies.collect::<Result<Vec<_>>>()?;
        let has_json = call.printer.options.json.is_some();
        let places = if has_json || call.printer.is_verbose() {
            LISTED
        } else {
            SHOWN
        };
        let count = (bodies.len() * (bodies.len() - 1) / 2) as u64;
        budget.take(count * (PAIR_BYTES + places as u64 * PLACE_BYTES))?;
        let pairs = args.pairs.max_pairs.unwrap_or_default();
        let options = ClearanceOptions {
            places,
            pairs,
            max_bytes: budget.left,
            progress: bar,
        };
        let shown = if call.printer.is_verbose() {
            LISTED
        } else {
            SHOWN
        };
        let run = Run::default()
            .threads(resources.threads)
            .level(resources.level)
            .progress(bar);
        let mut infos = vec![];
        let mut marked = Vec::new();
        for (n, first) in bodies.iter().enumerate() {
            for (m, second) in bodies.iter().enumerate().skip(n + 1) {
                let names = [n, m].map(|n| compared[n].name.as_str());
                let meshes = [n, m].map(|n| &compared[n].mesh);
                let clearance = first.clearance(second, &options);
                let clearance = clearance.map_err(|error| error.in_file(names.join(", ")))?;
                let is_allowed = allowed.contains(&[n, m]);
                let is_closer = min_distance
                    .as_ref()
                    .map(|distance| !is_allowed && clearance.is_closer_than(distance));
                let shared = if clearance.relation.shares_volume() {
                    shared_space([first, second], meshes, (&options, &budget, &run))?
                } else {
                    SharedSpace::default()
                };
                let verdict = PairVerdict {
                    closer: is_closer,
                    is_allowed,
                };
                infos.push(PairInfo::new(
                    names, &clearance, &shared, &verdict, unit, shown,
                ));
                let triangles = meshes.map(|mesh| mesh.triangles().len()).iter().sum();
                let about = format!("{}: ", names.join(", "));
                if !clearance.is_all {
                    findings.push((about, pairs.finding(triangles)));
                } else if clearance.too_many_places {
                    findings.push((about, pairs.finding_of_places(triangles)));
                }
                if self.mark.is_some() {
                    marked.push(([n, m], clearance));
                }
            }
        }
        drop(bodies);
        let written = match &self.mark {
            None => vec![],
            Some(mark) => {
                let meshes: Vec<&Mesh> = compared.iter().map(|mesh| &mesh.mesh).collect();
                mark.write(&meshes, &marked, unit, (resources, &budget, bar))?
            }
        };
        result.meshes = Some(compared.iter().map(ClearanceMeshJson::new).collect());
        result.unit = unit.map(UnitOfLength::name);
        result.within = min_distance.as_ref().map(Rational::to_f64);
        let closer = infos
            .iter()
            .filter(|pair| pair.closer == Some(true))
            .count() as u64;
        result.closer = min_distance.as_ref().map(|_| closer);
        result.outputs = Some(value::outputs(&written));
        result.warnings = Some(findings.iter().map(|(_, finding)| finding.into()).collect());
        // The worst pair comes first. Pairs that are equally bad keep the order of the call.
        let mut worst_first: Vec<_> = infos.iter().collect();
        worst_first.sort_by_key(|pair| pair.badness);
        for pair in &worst_first {
            report.out.0 += &pair.rows.0;
        }
        report.out.wrote(&written);
        for (about, finding) in &findings {
            report.err.finding(about, finding);
        }
        let mut outcome = Outcome::Done;
        let worst = worst_first.iter().find(|pair| pair.closer == Some(true));
        if let (Some(distance), Some(worst)) = (min_distance, worst) {
            let fail = if closer == 1 { "fails" } else { "fail" };
            let pairs = counted(count, "pair", "pairs");
            let distance = report::length(distance.to_f64(), unit);
            let why = format!(
                "{closer} of {pairs} {fail} --min-distance {distance}: {}",
                worst.text
            );
            outcome = Outcome::CheckFailed(Some(why));
        }
        let class = self.sources[0].unposed_name();
        let cases = infos.iter().map(|pair| pair.case(&class)).collect();
        result.pairs = Some(infos);
        Ok((outcome, cases))
    }
}

/// Measures the volume that two meshes share, and the depth of penetration. What does not fit into the memory
/// that is left is not measured.
fn shared_space(
    [first, second]: [&ClearanceBody; 2],
    meshes: [&Mesh; 2],
    (options, budget, run): (&ClearanceOptions, &MemoryLeft, &Run),
) -> Result<SharedSpace> {
    let mut space = SharedSpace::default();
    let need = shared_volume_bytes(meshes, run);
    if budget
        .admit(u64::try_from(need).unwrap_or(u64::MAX))
        .is_ok()
    {
        space.volume = shared_volume(meshes, run)?;
    } else {
        space.lacks_memory = true;
    }
    match first.depth(second, options) {
        Ok(depth) => space.depth = depth,
        Err(error) if error.kind() == Kind::TooLarge => space.lacks_memory = true,
        Err(error) => return Err(error),
    }
    Ok(space)
}
