//! `voxelize verify` compares meshes with a list of goldens or with one voxel file, and records such lists.

mod case;
mod judge;
mod record;
mod report;
mod task;

use std::path::{Path, PathBuf};
use std::time::Instant;

use voxelize::compare::{Case, Gate, Golden, Goldens};
use voxelize::job::{InFile, Names, NewFile};
use voxelize::{Code, Error, Record, Result, Rule, format};

use super::args::{self, GridArgs, RuleArgs, RunArgs, values, words_of};
use super::batch::inputs;
use super::command::{Call, Command};
use super::files::{self, MadeFolders, or_hint};
use super::report::{Report, empty};
use case::CaseOptions;
use judge::Shows;
use task::{Pictures, Task, Wanted};

pub const COMMAND: Command = Command {
    name: "verify",
    about: "golden tests: compare meshes with recorded results",
    examples: "\
voxelize verify goldens.toml                             every case of the list; exit 0 or 1
voxelize verify goldens.toml --junit report.xml          and a report that CI services show
voxelize verify goldens.toml --pictures differences/     and pictures of the differences
voxelize verify part.npz part.stl --allow 3              one mesh against one voxel file
voxelize verify --update goldens.toml part.stl -r 64     add a case, or record it again
voxelize verify --update goldens.toml part.stl -r 64 --golden cells/
voxelize verify --update goldens.toml                    record every case of the list again",
    notes: NOTES,
    empty: empty::<report::CaseJson>,
    arguments,
    run,
};

const NOTES: &str = "\
A list of goldens is TOML; paths in it are relative to it:
  [[case]]
  mesh = \"part.stl\"
  options = \"-r 64\"            # as typed here; only options that decide cells
  grid = \"v1:…\"               # the digest of cells and lattice, and
  cells = 1234                 # the number of cells
  [[case]]
  mesh = \"part.stl\"
  options = \"-r 128\"
  golden = \"cells/part.npz\"    # or a voxel file, which also shows where cells differ
  name = \"part, fine\"          # optional
  allow = 3                    # optional: at most 3 cells may differ
  iou_min = 0.999              # optional: the lowest intersection over union

Exit codes: 0 every case passes; 1 cells or grids differ; 2 usage error, or a golden file that \
cannot be compared; 3 the list, a mesh or a golden file is missing or cannot be read; \
4 unsuitable mesh; 5 a grid does not fit into memory; 6 a file cannot be written; 7 cases \
fail for different reasons; 70 an internal error, which is a bug";

#[derive(Debug, clap::Args)]
struct VerifyArgs {
    /// The list of goldens. With MESH and without --update: a voxel file to compare with, which records its
    /// grid, rule, ties and snap
    #[arg(value_name = "GOLDENS")]
    goldens: PathBuf,

    /// The mesh to compare with a voxel file; with --update the meshes, or folders of them, whose cases are recorded
    #[arg(value_name = "MESH")]
    meshes: Vec<PathBuf>,

    #[command(flatten)]
    verify: GateArgs,

    #[command(flatten)]
    grid: GridArgs,

    #[command(flatten)]
    rule: RuleArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Tolerances and outputs.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Verify")]
struct GateArgs {
    /// At most N cells may differ, in cases with a golden file and without 'allow'. Digests must be equal [default: 0]
    #[arg(long, value_name = "N", value_parser = values::allowance, allow_negative_numbers = true)]
    allow: Option<u64>,

    /// The lowest intersection over union to accept, 0 to 1, in the same cases. With --allow, both limits
    /// apply [default: 1]
    #[arg(long, value_name = "X", value_parser = values::share, allow_negative_numbers = true)]
    iou_min: Option<f64>,

    /// Write a report as JUnit XML, which GitLab and Jenkins show; GitHub needs an action for it [default: none]
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// For each case that fails and has a golden file, write the cells that differ to this folder: as
    /// voxels in two colours, NAME.vox, and as a picture, NAME.png. Files of earlier runs stay
    /// [default: none]
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,

    /// Record results and print the changes. Without MESH: record every case of the list. With MESH: record
    /// these meshes under the given options, and add them if they are new. Refused in CI
    #[arg(long, conflicts_with_all = ["allow", "iou_min", "junit", "pictures"])]
    update: bool,

    /// Accept meshes and golden files outside the folder of the list, links followed. By default such a list is
    /// refused, since another person may have written it
    #[arg(long)]
    allow_outside: bool,

    /// With --update and MESH: store the cells of the case in this folder instead of a digest, so that
    /// verify can show differences [default: digests]
    #[arg(long, value_name = "DIR", requires = "update")]
    golden: Option<PathBuf>,
}

/// Where files of a list may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// In the folder of the list, or below.
    Folder,
    Anywhere,
}

impl GateArgs {
    fn reach(&self) -> Reach {
        if self.allow_outside { Reach::Anywhere } else { Reach::Folder }
    }
}

/// The help of the conversion describes the options that decide cells.
fn arguments(command: clap::Command) -> clap::Command {
    let is_own = |arg: &clap::Arg| !matches!(arg.get_help_heading(), Some("Grid" | "Rule" | "Input"));
    args::arguments::<VerifyArgs>(command)
        .mut_args(move |arg| if is_own(&arg) { arg } else { arg.hide(true) })
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let mut args: VerifyArgs = call.args()?;
    let options: CaseOptions = call.args()?;
    if args.verify.update {
        let meshes = inputs::in_folders(&args.meshes, &call.bar())?.into_iter();
        args.meshes = meshes.map(|(path, problem)| problem.map_or(Ok(path), Err)).collect::<Result<_>>()?;
        return record::run(call, &args, &options);
    }
    if let Some(options) = options.given() {
        let error = Error::usage(format!("{options}: options come from the list of goldens"));
        let is_voxels = format::sniff(&args.goldens).is_some();
        let list = if is_voxels { "LIST".into() } else { args.goldens.to_string_lossy() };
        return Err(error.with_hint(format!("'voxelize verify --update {list} MESH {options}' adds a case")));
    }
    let resources = call.resources(args.run.max_memory)?;
    let gate = Gate { allow: args.verify.allow, iou_min: args.verify.iou_min };
    let goldens = call.names.reads(&args.goldens, "the file of goldens")?;
    let mut tasks = match args.meshes.as_slice() {
        [] => listed(&goldens, gate, args.verify.reach(), &call.names)?,
        [mesh] => vec![single(&goldens, mesh, gate, &call.names)?],
        [_, second, ..] => {
            let error = Error::usage(format!("{}: one mesh at a time", second.display()));
            return Err(error.with_hint("'voxelize verify --update LIST MESH...' takes many"));
        }
    };
    if let Some(folder) = &args.verify.pictures {
        for task in tasks.iter_mut().filter(|task| matches!(task.wanted, Wanted::File(_))) {
            task.pictures = Some(Pictures::new(folder, &task.stem, &call.names)?);
        }
    }
    let junit = |path: &PathBuf| {
        call.names.writes(NewFile::named(path, "the report").hint("--junit FILE names another file"))
    };
    let junit = args.verify.junit.as_ref().map(junit).transpose()?;
    call.check_files()?;
    let started = Instant::now();
    let folders = MadeFolders::default();
    if let Some(folder) = &args.verify.pictures {
        folders.make(folder).map_err(|e| or_hint(e, "--pictures DIR names another"))?;
    }
    let shows = if args.verify.pictures.is_some() { Shows::Pictures } else { Shows::Nothing };
    let judge = |task: &Task, made, time| judge::judge(task, made, time, shows);
    let reports = task::each(&tasks, &resources, call, &call.bar(), judge)?;
    report::print(call, &args.goldens, &tasks, &reports);
    if let Some(junit) = &junit {
        report::write_junit(call.signals, junit, &args.goldens, &tasks, &reports, started.elapsed())?;
    }
    Ok(Vec::new())
}

/// The cases of a list.
fn listed(file: &InFile, gate: Gate, reach: Reach, names: &Names) -> Result<Vec<Task>> {
    let list = file.path();
    if format::sniff(list).is_some() {
        let message = format!("{}: a voxel file is compared with one mesh", list.display());
        let example = format!("voxelize verify {} part.stl", list.display());
        return Err(Error::usage(message).with_hint(example));
    }
    let goldens = Goldens::open(list)?;
    check_gate(list, goldens.cases(), gate)?;
    let tasks = goldens.cases().iter().map(|case| task(list, case, gate, names));
    let mut tasks = tasks.collect::<Result<Vec<_>>>()?;
    for n in 0..tasks.len() {
        let stem = case::slug(&tasks[n].title);
        tasks[n].stem = case::unused(&stem, |name| tasks[..n].iter().any(|task| task.stem == name));
    }
    tasks.iter().try_for_each(|task| check_case(list, task, names))?;
    for task in &tasks {
        check_reach(list, task, "mesh", &task.file, reach)?;
        if let Wanted::File(file) = &task.wanted {
            check_reach(list, task, "golden", file.path(), reach)?;
        }
    }
    Ok(tasks)
}

/// Refuses a file of a list that is not where files of a list may be.
fn check_reach(list: &Path, task: &Task, key: &str, file: &Path, reach: Reach) -> Result<()> {
    if reach == Reach::Anywhere || files::is_within(file, &task.folder) {
        return Ok(());
    }
    let message = format!("{key} is outside the folder of the list: {}", file.display());
    let error = Error::input(Code::G010, message).in_file(list);
    // A case that is new has no line.
    Err(if task.place.1 > 0 { error.at_line(task.place.1) } else { error })
}

/// A case of a list as it is to be made.
fn task(list: &Path, case: &Case, gate: Gate, names: &Names) -> Result<Task> {
    let folder = case::folder_of(list);
    let wanted = match &case.golden {
        Golden::Digest { grid, cells } => Wanted::Digest(*grid, *cells),
        Golden::File(file) => Wanted::File(names.reads(&case::resolve(folder, file), "a golden file")?),
        // Lists that are read to compare have no such case.
        Golden::Unrecorded | Golden::Unreadable => Wanted::Nothing,
    };
    Ok(Task {
        title: case.title(),
        stem: String::new(),
        mesh: case.mesh.clone(),
        file: case::resolve(folder, &case.mesh),
        folder: folder.to_path_buf(),
        options: case.options.clone(),
        like: None,
        wanted,
        keep: None,
        pictures: None,
        gate: if takes_gate(case) { gate } else { case.gate },
        place: (list.display().to_string(), case.line),
        options_line: case.options_line,
    })
}

/// Whether a case takes the gate of the command line: a digest has no gate, and a case's own gate has priority.
fn takes_gate(case: &Case) -> bool {
    matches!(case.golden, Golden::File(_)) && case.gate.is_closed()
}

/// Refuses a gate that no case takes.
fn check_gate(list: &Path, cases: &[Case], gate: Gate) -> Result<()> {
    if gate.is_closed() || cases.iter().any(takes_gate) {
        return Ok(());
    }
    let option = if gate.allow.is_some() { "--allow" } else { "--iou-min" };
    let why = if cases.iter().any(|case| matches!(case.golden, Golden::File(_))) {
        "every case with a golden file has limits of its own"
    } else {
        "it needs golden files, but no case has one"
    };
    let error = Error::usage(format!("{option} changes nothing: {why}")).in_file(list);
    Err(error.with_hint("--update LIST MESH OPTIONS --golden DIR records the cells of a case"))
}

/// Refuses a case of a list that can make no grid.
fn check_case(list: &Path, task: &Task, names: &Names) -> Result<()> {
    let (_, line) = task.place;
    if task.mesh == "-" {
        let error = Error::input(Code::G005, "mesh is standard input, which can be read only once");
        return Err(error.in_file(list).at_line(line).with_hint("name a file"));
    }
    let options = task.check(names);
    if line == 0 {
        // The options come from the command line.
        return options;
    }
    options.map_err(|e| {
        let error = Error::input(Code::G009, format!("options: {}", e.message()));
        let error = error.in_file(list).at_line(task.options_line);
        error.with_hint(
            e.hint()
                .cloned()
                .unwrap_or_else(|| "a case takes the options of 'voxelize --help' that decide cells".into()),
        )
    })
}

/// One mesh against one voxel file: on its grid, by its rule.
fn single(file: &InFile, mesh: &Path, gate: Gate, names: &Names) -> Result<Task> {
    let golden = file.path();
    files::is_there(golden)?;
    if format::sniff(golden).is_none() {
        let list = golden.display();
        let mesh = mesh.display();
        let (what, compare) = match Goldens::open(golden) {
            Ok(_) => ("is a list of goldens, which names its meshes", format!("'voxelize verify {list}', ")),
            Err(_) => ("is not a voxel file", String::new()),
        };
        let update = format!("'voxelize verify --update {list} {mesh}' adds the mesh to the list");
        let hint = if compare.is_empty() {
            "compare the mesh with a voxel file such as part.npz".to_string()
        } else {
            format!("{compare}without a mesh, compares them; {update}")
        };
        return Err(Error::usage(what).in_file(golden).with_hint(hint));
    }
    let mut words = vec!["--like".to_string(), golden.to_string_lossy().into_owned()];
    words.extend(rule_of(golden)?);
    let task = Task {
        title: mesh.display().to_string(),
        stem: case::slug(&mesh.file_stem().unwrap_or_default().to_string_lossy()),
        mesh: mesh.display().to_string(),
        file: mesh.to_path_buf(),
        folder: PathBuf::from("."),
        options: case::joined(words),
        like: Some(golden.to_path_buf()),
        wanted: Wanted::File(file.clone()),
        keep: None,
        pictures: None,
        gate,
        place: (golden.display().to_string(), 0),
        options_line: 0,
    };
    task.check(names)?;
    Ok(task)
}

/// The words that ask for the rule of a golden file, as far as it has one.
fn rule_of(golden: &Path) -> Result<Vec<String>> {
    let Record { rule_name, fields, transform, .. } = format::describe(golden)?.metadata.record;
    let transform = words_of(transform.into_iter().filter(|(name, _)| *name != "up"));
    let name = match rule_name {
        None if fields.is_empty() => return Ok(transform),
        name => name.unwrap_or_else(|| Rule::default().name().to_string()),
    };
    if Rule::from_name(&name).is_none() {
        let error = Error::usage(format!("holds cells of '{name}', which is not a rule of this version"));
        return Err(error.in_file(golden).with_hint("'voxelize diff A B' compares voxel files"));
    }
    let rule = Rule::from_fields(&name, fields).map_err(|error| error.in_file(golden))?;
    Ok([vec!["--rule".to_string(), name], words_of(rule.fields()), transform].concat())
}
