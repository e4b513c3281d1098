//! `voxelize check` finds the defects of meshes and reports where they are and how they affect a fill.

mod mark;
mod report;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args as _;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use voxelize::compare::check::{CheckOptions, Fitness, MeshCheck, bytes_for, check_objects};
use voxelize::job::{Measure, OpenObjects, findings};
use voxelize::mesh::PairLimit;
use voxelize::{Error, Lattice, Mesh, Result, Run, par};

use super::args::{GridArgs, PairArgs, ReadArgs, RunArgs, SceneArgs, arguments, prefixed, values};
use super::batch::inputs;
use super::command::{Call, Command};
use super::files::{self, MeshSource, PartSource};
use super::junit::{self, JunitCase};
use super::names::OutputFile;
use super::options::{Job, JobOptions};
use super::report::display::{bytes, counted, number};
use super::report::value::{lossy, outputs};
use super::report::{Outcome, Report, ReportRows, empty};
use super::run::{self, RunReport};
use super::scene;
use report::{CheckReport, CheckedMesh, Gates, Walls};

pub const COMMAND: Command = Command {
    name: "check",
    about: "find the defects of meshes, and where they are",
    examples: "\
voxelize check part.stl                   defects, components, and uses the mesh is fit for
voxelize check part.stl -r 256            also the cells of the defects, and walls thinner than a cell
voxelize check part.stl --mark bad.vox    the cells in colours, for 'voxelize view bad.vox'
voxelize check part.stl --mark bad.stl    the triangles that have defects
voxelize check part.stl --require solid   exit code 1 unless it is safe for --solid
voxelize check part.stl --unit mm --min-wall 0.8mm   exit code 1 if a wall is thinner
voxelize check plate.3mf --only lid       one of the objects of a file
voxelize check *.stl --strict -q          the exit code alone: 4 if a mesh has findings",
    notes: "\
Vertices are the same if their coordinates are equal bit by bit; -0 equals 0. Each finding has a code, a count, places and its effect on a fill, and states whether it was decided exactly. docs/reference/check.md defines all findings.
Each object of a file is judged alone. With an option of the grid, places have their cells, and walls thinner than a cell are found.

Exit codes: 0 checked; 1 a mesh lacks a property of --require, or has walls thinner than --min-wall; 2 usage error; 3 a file cannot be read; \
4 a mesh has M findings under --strict; 7 some meshes failed, for different reasons",
    empty: empty::<CheckedMesh>,
    arguments: arguments::<CheckArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct CheckArgs {
    /// Meshes, of any format that 'voxelize formats' lists, or folders of them; - is standard input
    #[arg(
        value_name = "MESH",
        required_unless_present = "scene",
        help_heading = "Input"
    )]
    meshes: Vec<PathBuf>,

    #[command(flatten)]
    scene: SceneArgs,

    /// Write the defects of one mesh to FILE: a .stl has their triangles, a voxel format their cells with
    /// labels
    /// [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    mark: Option<PathBuf>,

    /// Exit with code 1 unless the mesh has all these properties, separated by commas: closed (or watertight),
    /// oriented, manifold, solid (safe for --solid) [default: none]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = fitness(),
          hide_possible_values = true, help_heading = "Check")]
    require: Vec<Fitness>,

    /// Exit with code 1 if a wall is thinner than D, in units of the file or with a unit such as 0.8mm; all places
    /// are M012. Walls are measured at points about D apart, inwards to the next face [default: none]
    #[arg(long, value_name = "D", value_parser = wall(), allow_negative_numbers = true, help_heading = "Check")]
    min_wall: Option<Measure>,

    /// Check only the object of this name; may be repeated [default: all objects of a file, each alone]
    #[arg(long, value_name = "NAME", help_heading = "Check")]
    only: Vec<String>,

    /// Write a report as JUnit XML with a test for each object; a test fails by --require, --min-wall or --strict
    /// [default: none]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,

    /// Number of places to report for each finding; counts are not limited [default: 5, in JSON 20]
    #[arg(long, value_name = "N", value_parser = values::whole, allow_negative_numbers = true,
          help_heading = "Output")]
    places: Option<usize>,

    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    run: RunArgs,

    #[command(flatten)]
    pairs: PairArgs,
}

/// Returns a parser of the properties of `--require`.
fn fitness() -> impl TypedValueParser<Value = Fitness> {
    const SYNONYM: (&str, Fitness) = ("watertight", Fitness::Closed);
    let named = Fitness::ALL
        .map(|fitness| (fitness.name(), fitness))
        .into_iter()
        .chain([SYNONYM]);
    let names: Vec<_> = named.clone().map(|(name, _)| name).collect();
    PossibleValuesParser::new(names).try_map(move |name| {
        named
            .clone()
            .find(|(known, _)| *known == name)
            .map(|(_, fitness)| fitness)
            .ok_or("no such name")
    })
}

/// Returns the parser of a thickness.
fn wall() -> impl TypedValueParser<Value = Measure> {
    values::distance.try_map(|measure: Measure| {
        if measure.number.is_positive() {
            Ok(measure)
        } else {
            Err("a wall has a positive thickness")
        }
    })
}

/// Mesh to be checked.
enum CheckSource {
    Named(PathBuf),
    /// Mesh of a scene.
    Part(Box<PartSource>),
    /// Error of a folder.
    Problem(Error),
}

/// Number of places listed per finding, in text and in JSON.
const PLACES: [usize; 2] = [5, 20];

fn run(call: &Call) -> Result<Vec<Report>> {
    let args: CheckArgs = call.args()?;
    let request = call.argv.request()?;
    // With any option of the grid, the report also names the cells of the defects.
    let has_grid = GridArgs::augment_args(clap::Command::new(""))
        .get_arguments()
        .filter(|arg| arg.get_help_heading() == Some("Grid"))
        .any(|arg| call.given(arg.get_id().as_str()));
    let resources = call.resources(args.run.max_memory)?;
    let options = JobOptions::new(request, &args.read, resources, &call.names)?;
    let mut found = vec![];
    for (path, problem) in inputs::in_folders(&args.meshes, &call.bar())? {
        let file = files::file_of(&path);
        if problem.is_none() {
            call.names.reads(&file, "a mesh to be checked")?;
        }
        found.push((path, file, problem));
    }
    let mut parts = vec![];
    if let Some(path) = &args.scene.scene {
        parts = scene::parts(path, &call.names)?;
    }
    let paths = found.iter().map(|(_, file, _)| file.as_path());
    let options = JobOptions {
        has_findings: true,
        has_numbers: true,
        ..options.for_meshes(paths.chain(parts.iter().filter_map(PartSource::path)))?
    };
    let mut meshes: Vec<(String, CheckSource)> = vec![];
    for (path, _, problem) in found {
        let source = problem.map_or(CheckSource::Named(path.clone()), CheckSource::Problem);
        meshes.push((lossy(&path), source));
    }
    meshes.extend(
        parts
            .into_iter()
            .map(|part| (part.name(), CheckSource::Part(Box::new(part)))),
    );
    let mark = args
        .mark
        .as_deref()
        .map(|path| mark::output_file(path, &call.names))
        .transpose()?;
    if mark.is_some() && meshes.len() > 1 {
        return Err(Error::usage("--mark takes one mesh").with_hint("check them one by one"));
    }
    let junit = match &args.junit {
        Some(path) => Some(junit::output_file(path, &call.names)?),
        None => None,
    };
    call.check_files()?;
    let started = Instant::now();
    let mut cases = vec![];
    for (n, (name, source)) in meshes.into_iter().enumerate() {
        let began = Instant::now();
        let first_case = cases.len();
        let class = name.clone();
        let report = Report::of(|report, result: &mut CheckedMesh| {
            result.path = Some(name);
            let source = match source {
                CheckSource::Problem(problem) => return Err(problem),
                CheckSource::Named(path) => MeshSource::find(&path, &call.names),
                CheckSource::Part(part) => Ok(MeshSource {
                    parts: vec![*part],
                    scene: None,
                }),
            };
            if n > 0 {
                report.out.0 += "\n";
            }
            let job = Job {
                source: source?,
                options: options.clone(),
            };
            let mut checking = Checking {
                job,
                has_grid,
                mark: mark.as_ref(),
                places: args.places.map_or(PLACES, |most| [most; 2]),
                pairs: args.pairs.max_pairs.unwrap_or_default(),
                is_strict: args.read.strict,
                required: &args.require,
                min_wall: args.min_wall.as_ref(),
                only: &args.only,
            };
            let rows = &mut report.out;
            let (outcome, tests) = par::with_threads(options.resources.threads, || {
                checking.run(call, rows, result)
            })??;
            cases.extend(tests);
            Ok(outcome)
        });
        if let Outcome::Failed(error) = &report.outcome
            && cases.len() == first_case
        {
            cases.push(JunitCase::failed(&class, error));
        }
        let tests = (cases.len() - first_case) as u32;
        for case in &mut cases[first_case..] {
            case.time = began.elapsed() / tests;
        }
        call.printer.print(&report);
    }
    if let Some(junit) = &junit {
        let xml = junit::to_xml("voxelize check", &cases, started.elapsed());
        junit.save_bytes("junit", xml.as_bytes())?;
    }
    Ok(Vec::new())
}

/// Options of a check, which are the same for every mesh.
struct Checking<'a> {
    job: Job,
    has_grid: bool,
    mark: Option<&'a OutputFile>,
    places: [usize; 2],
    pairs: PairLimit,
    is_strict: bool,
    required: &'a [Fitness],
    min_wall: Option<&'a Measure>,
    only: &'a [String],
}

impl Checking<'_> {
    /// Returns the outcome and a test case for each object.
    fn run(
        &mut self,
        call: &Call,
        rows: &mut ReportRows,
        result: &mut CheckedMesh,
    ) -> Result<(Outcome, Vec<JunitCase>)> {
        let bar = call.bar();
        let mut found = RunReport::new(call.started);
        let mesh = run::read(&mut self.job, &bar, call.signals, &mut found)?;
        if mesh.triangles().is_empty() {
            let error = run::without_triangles(&found.warnings);
            return Err(error.in_file(self.job.source.name()));
        }
        found
            .warnings
            .extend(findings::not_subtracted(&mesh, "the check"));
        self.refuse_too_large(&mesh)?;
        let needs_cells = self.has_grid || self.marks_cells();
        let lattice = needs_cells
            .then(|| run::fit(&self.job, &mesh, &mut found))
            .transpose()?;
        if let (Some(mark), Some(lattice)) = (self.mark, &lattice) {
            mark.check_lattice(lattice)?;
            self.refuse_too_many_cells(&mesh, lattice)?;
        }
        let shown = lattice.as_ref().filter(|_| self.has_grid);
        let most = self.places.into_iter().max().unwrap_or(0);
        let pairs = self.pairs;
        let transform = &self.job.options.grid.transform;
        let coordinates = &transform.coordinates();
        let min_wall = match self.min_wall {
            Some(wall) => {
                let length = wall
                    .in_units_of(transform.unit)
                    .map_err(|error| prefixed("--min-wall: ", &error))?;
                Some(length.to_f64())
            }
            None => None,
        };
        let is_3mf = found.mesh.as_ref().is_some_and(|mesh| mesh.format == "3mf");
        let open = if is_3mf {
            OpenObjects::Alone
        } else {
            OpenObjects::Joined
        };
        let checked = check_objects(
            &mesh,
            open,
            &CheckOptions {
                lattice: shown,
                min_wall: min_wall.map(|wall| wall / coordinates.scale),
                places: most,
                pairs,
                progress: &bar,
            },
        )?;
        if checked.all.is_partial {
            found.warnings.push(pairs.finding(mesh.triangles().len()));
        }
        let placed = shown
            .map(|lattice| self.job.options.grid.placed(lattice))
            .transpose()?;
        result.set(
            &found,
            &checked,
            (placed.as_ref(), min_wall),
            self.places[1],
            coordinates,
        );
        let name = self.job.source.name();
        let gates = Gates {
            required: self.required,
            is_strict: self.is_strict,
            min_wall,
        };
        let walls = match (min_wall, shown) {
            (Some(wall), _) => Walls::Thinner(number(wall) + &coordinates.suffix()),
            (None, Some(_)) => Walls::ThinnerThanCell,
            (None, None) => Walls::NotSearched,
        };
        let about = CheckReport {
            name: &name,
            only: self.only,
            found: &found,
            checked: &checked,
            most: self.places[0],
            walls: &walls,
            coordinates,
            gates: &gates,
        };
        about.add_rows(rows);
        if let Some(mark) = self.mark {
            let options = &self.job.options;
            let run = run::library_run(options, &bar);
            let written = mark::write(
                mark,
                &mesh,
                &checked.all,
                lattice.as_ref(),
                (&options.grid, &run),
            )?;
            result.outputs = Some(outputs(&written));
            rows.wrote(&written);
        }
        bar.clear();
        let failure = gates.strict(&checked.all).map(|error| error.in_file(&name));
        let lacks = gates.lacks(&checked.all, coordinates);
        about.add_details(rows, failure.as_ref(), &lacks);
        let cases = about.cases();
        let outcome = match failure {
            Some(error) => Outcome::Failed(error),
            None if lacks.is_empty() => Outcome::Done,
            None => Outcome::CheckFailed(None),
        };
        Ok((outcome, cases))
    }

    /// Returns an error if finding the cells of the defects would exceed the memory limit.
    fn refuse_too_many_cells(&self, mesh: &Mesh, lattice: &Lattice) -> Result<()> {
        let resources = &self.job.options.resources;
        let run = Run::default().threads(resources.threads);
        let need = MeshCheck::cell_bytes(mesh, lattice, &run);
        match resources
            .for_job()
            .filter(|limit| self.marks_cells() && need > u128::from(*limit))
        {
            None => Ok(()),
            Some(_) => {
                let says = resources.memory.text().unwrap_or_default();
                let text = format!(
                    "--mark: the cells of the defects need {}, {says}",
                    bytes(need)
                );
                Err(Error::too_large(text)
                    .with_hint("use larger cells, a .stl file, or raise --max-memory"))
            }
        }
    }

    fn marks_cells(&self) -> bool {
        self.mark.is_some_and(|mark| mark.format().is_some())
    }

    /// Returns an error if checking the mesh would exceed the memory limit.
    fn refuse_too_large(&self, mesh: &Mesh) -> Result<()> {
        let triangles = mesh.triangles().len() as u64;
        let need = bytes_for(mesh);
        let limit = self.job.options.resources.for_job();
        match limit.filter(|limit| need > *limit) {
            None => Ok(()),
            Some(limit) => {
                let triangles = counted(triangles, "triangle", "triangles");
                let need = bytes(need);
                let says = self.job.options.resources.memory.text().unwrap_or_default();
                let text = format!(
                    "a check of {triangles} needs {need}, but {} are left: {says}",
                    bytes(limit)
                );
                let hint = "raise --max-memory, or check the parts of the mesh one by one";
                Err(Error::too_large(text)
                    .with_hint(hint)
                    .in_file(self.job.source.name()))
            }
        }
    }
}
