//! `voxelize verify` compares meshes with a list of goldens, or one mesh with one voxel file. It also records
//! lists of goldens.

mod case;
mod frame;
mod judge;
mod markdown;
mod record;
mod report;
mod squares;
mod task;

use std::path::{Path, PathBuf};
use std::time::Instant;

use voxelize::compare::{Case, CaseOption, CaseOptions, Gate, Golden, Goldens};
use voxelize::format::Existing;
use voxelize::grid::frame::SCAN_FRAME;
use voxelize::grid::record::DRAIN;
use voxelize::{Code, Error, Record, Result, format, tool, view};

use super::args::{self, GridArgs, RuleArgs, RunArgs, values};
use super::batch::inputs;
use super::command::{Call, Command};
use super::files::{self, MadeFolders, or_hint};
use super::junit;
use super::memory::Resources;
use super::names::{InputFile, Names, OutputFile};
use super::report::display::sanitized;
use super::report::{Report, empty};
use super::suggest;
use task::{Task, Wanted};

pub const COMMAND: Command = Command {
    name: "verify",
    about: "golden tests: compare meshes with recorded results",
    examples: "\
voxelize verify goldens.toml                             every case of the list; exit 0 or 1
voxelize verify goldens.toml --junit report.xml          and a report that CI services show
voxelize verify goldens.toml --pictures differences/     and pictures of the differences
voxelize verify goldens.toml --only part.stl             only the cases of one mesh
voxelize verify part.npz part.stl --allow 3              one mesh against one voxel file
voxelize verify --update goldens.toml part.stl -r 64     add a case, or record it again
voxelize verify --update goldens.toml part.stl -r 64 --golden cells/
voxelize verify --update goldens.toml                    record every case of the list again
voxelize verify --update goldens.toml --only part.stl    record only the cases of one mesh again",
    notes: NOTES,
    empty: empty::<report::CaseJson>,
    arguments,
    run,
};

const NOTES: &str = "\
A list of goldens is TOML; paths in it are relative to it:
  [[case]]
  mesh = \"part.stl\"
  res = 64                     # long options that decide cells: numbers, strings, and
  solid = true                 # true for an option without a value
  grid = \"v1:…\"               # the digest of cells and lattice, and
  cells = 1234                 # the number of cells
  [[case]]
  mesh = \"part.stl\"
  dims = [64, 64, 32]
  only = [\"lid\", \"box\"]      # an option that is repeated
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
    /// At most N cells may differ, in cases that have a golden file and neither 'allow' nor 'iou_min'. Digests must
    /// be equal [default: 0]
    #[arg(long, value_name = "N", value_parser = values::allowance, allow_negative_numbers = true)]
    allow: Option<u64>,

    /// The lowest intersection over union to accept, 0 to 1, in the same cases as --allow. If both options are
    /// given, both limits apply [default: 1]
    #[arg(long, value_name = "X", value_parser = values::share, allow_negative_numbers = true)]
    iou_min: Option<f64>,

    /// Write a report as JUnit XML, which GitLab and Jenkins show; GitHub needs an action for it [default: none]
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,

    /// Write a report as Markdown, for job summaries of GitHub and for comments. It draws a layer of the cells that
    /// differ with coloured squares, because these show no image files [default: none]
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,

    /// For each case that fails and has a golden file, write the cells that differ to this folder: as
    /// voxels in two colours, NAME.vox, and as a picture, NAME.png. Grids whose cells are not aligned are drawn
    /// side by side. Files of earlier runs stay [default: none]
    #[arg(long, value_name = "DIR")]
    pictures: Option<PathBuf>,

    /// Record results and print the changes. Without MESH: record every case of the list, or those of --only. With
    /// MESH: record these meshes under the given options, and add them if they are new. Refused in CI
    #[arg(long, conflicts_with_all = ["allow", "iou_min", "junit", "markdown", "pictures"])]
    update: bool,

    /// Accept meshes and golden files outside the folder of the list, also through links. By default such a list is
    /// refused, because another person may have written it
    #[arg(long)]
    allow_outside: bool,

    /// With --update and MESH: store the cells of the case in this folder instead of a digest, so that
    /// verify can show differences [default: digests]
    #[arg(long, value_name = "DIR", requires = "update")]
    golden: Option<PathBuf>,
}

/// Where the files of a list may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// In the folder of the list or in a folder below it.
    Folder,
    Anywhere,
}

impl GateArgs {
    fn reach(&self) -> Reach {
        if self.allow_outside {
            Reach::Anywhere
        } else {
            Reach::Folder
        }
    }
}

const ONLY: &str = "Run or record only the cases whose name is NAME ('MESH OPTIONS' for a case without a name), or \
whose mesh is NAME: its path in the list, its file name, or the file name without extension. May be repeated. With --update and MESH: use only the parts of this \
name [default: all]";

/// Adds the arguments. Options that decide the cells are hidden, because the help of the conversion describes
/// them.
fn arguments(command: clap::Command) -> clap::Command {
    let command = args::arguments::<VerifyArgs>(command).mut_args(|arg| {
        let is_of_conversion = matches!(arg.get_help_heading(), Some("Grid" | "Rule" | "Input"));
        if is_of_conversion {
            arg.hide(true)
        } else {
            arg
        }
    });
    command.mut_arg("only", |arg| {
        arg.hide(false)
            .hide_short_help(false)
            .help_heading("Verify")
            .help("run only the cases of this name or mesh; may be repeated")
            .long_help(ONLY)
    })
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let mut args: VerifyArgs = call.args()?;
    let mut request = call.argv.request()?;
    // Without a mesh, the names are those of cases, not of parts.
    let only = if args.meshes.is_empty() {
        std::mem::take(&mut request.parts.only)
    } else {
        vec![]
    };
    if args.verify.update {
        let mut meshes = vec![];
        for (path, problem) in inputs::in_folders(&args.meshes, &call.bar())? {
            meshes.push(problem.map_or(Ok(path), Err)?);
        }
        args.meshes = meshes;
        return record::run(call, &args, &request, &only);
    }
    let mut options = case::given(&request);
    if !only.is_empty() {
        options.0.retain(|option| option.name != "only");
    }
    let options = options.to_string();
    if !options.is_empty() {
        let error = Error::usage(format!("{options}: options come from the list of goldens"));
        let is_voxels = format::sniff(&args.goldens).is_some();
        let list = if is_voxels {
            "LIST".into()
        } else {
            args.goldens.to_string_lossy()
        };
        return Err(error.with_hint(format!(
            "'voxelize verify --update {list} MESH {options}' adds a case"
        )));
    }
    let resources = call.resources(args.run.max_memory)?;
    let gate = Gate {
        allow: args.verify.allow,
        iou_min: args.verify.iou_min,
    };
    let goldens = call.names.reads(&args.goldens, "the file of goldens")?;
    let mut tasks = match args.meshes.as_slice() {
        [] => listed(&goldens, gate, &only, args.verify.reach(), &call.names)?,
        [mesh] => vec![single(&goldens, mesh, gate, &call.names)?],
        [_, second, ..] => {
            let error = Error::usage(format!(
                "{}: a voxel file is compared with one mesh, not several",
                second.display()
            ));
            return Err(error.with_hint(
                "'voxelize verify --update LIST MESH...' records several meshes in a list",
            ));
        }
    };
    if let Some(folder) = &args.verify.pictures {
        name_pictures(&mut tasks, folder, &args.meshes, &call.names)?;
    }
    let junit = match &args.verify.junit {
        Some(path) => Some(junit::output_file(path, &call.names)?),
        None => None,
    };
    let markdown = match &args.verify.markdown {
        Some(path) => {
            let file = OutputFile::new(path, "the report in Markdown");
            let hint = "--markdown FILE names another file";
            Some(file.hint(hint).register(&call.names)?)
        }
        None => None,
    };
    for task in &mut tasks {
        task.has_squares = markdown.is_some();
    }
    call.check_files()?;
    let started = Instant::now();
    let folders = MadeFolders::default();
    if let Some(folder) = &args.verify.pictures {
        folders
            .make(folder)
            .map_err(|e| or_hint(e, "--pictures DIR names another folder"))?;
    }
    // Cases that fail may read their golden files at the same time.
    let room = Resources {
        memory: resources.memory.divided(2 * resources.threads),
        ..resources.clone()
    }
    .for_job();
    let reports = task::each(&tasks, &resources, call, &call.bar(), |task, made| {
        judge::judge(task, &made, room)
    })?;
    report::print(call, &args, &tasks, &reports);
    if let Some(junit) = &junit {
        let list = args.goldens.display().to_string();
        let cases: Vec<_> = tasks
            .iter()
            .zip(&reports)
            .map(|(task, report)| report::junit_case(&list, task, report))
            .collect();
        let xml = junit::to_xml(&list, &cases, started.elapsed());
        junit.save_bytes("junit", xml.as_bytes())?;
    }
    if let Some(markdown) = &markdown {
        let total = report::total(&args.goldens, &reports);
        let first = total.lines().next().unwrap_or_default();
        let text = markdown::to_markdown(first, &tasks, &reports);
        markdown.save_bytes("markdown", text.as_bytes())?;
    }
    Ok(Vec::new())
}

/// Chooses the names of the pictures for each case with a golden file. The names come from the case, or from
/// the mesh if a single mesh is compared.
fn name_pictures(
    tasks: &mut [Task],
    folder: &Path,
    meshes: &[PathBuf],
    names: &Names,
) -> Result<()> {
    let mut used: Vec<String> = vec![];
    for task in tasks {
        let stem = match meshes {
            [mesh] => case::slug(&mesh.file_stem().unwrap_or_default().to_string_lossy()),
            _ => case::slug(&task.case.title()),
        };
        let stem = case::unused(&stem, |name| used.iter().any(|used| used == name));
        if let Wanted::File(_) = task.wanted {
            let vox = picture(
                folder,
                &format!("{stem}.vox"),
                tool::made_by_this_tool,
                names,
            )?;
            let png = picture(
                folder,
                &format!("{stem}.png"),
                view::made_by_this_tool,
                names,
            )?;
            task.pictures = Some([vox, png]);
        }
        used.push(stem);
    }
    Ok(())
}

fn picture(
    folder: &Path,
    name: &str,
    is_ours: fn(&Path) -> bool,
    names: &Names,
) -> Result<OutputFile> {
    const HINT: &str = "--pictures DIR names another folder";
    let path = folder.join(name);
    let new = OutputFile::new(&path, "a picture")
        .hint(HINT)
        .in_made_folder();
    let file = new
        .existing(Existing::ReplaceIf(is_ours), HINT)
        .register(names)?;
    file.check()?;
    Ok(file)
}

/// Returns the tasks for the cases of a list, or only for the cases that `only` names.
fn listed(
    file: &InputFile,
    gate: Gate,
    only: &[String],
    reach: Reach,
    names: &Names,
) -> Result<Vec<Task>> {
    let list = file.path();
    if format::sniff(list).is_some() {
        let message = format!(
            "{}: this is a voxel file, and no mesh is given to compare it with",
            list.display()
        );
        let example = format!("for example: voxelize verify {} part.stl", list.display());
        return Err(Error::usage(message).with_hint(example));
    }
    let mut tasks = vec![];
    let mut takes_gate = gate.is_closed();
    let goldens = Goldens::open(list)?;
    check_names(list, goldens.cases(), only)?;
    for case in goldens.cases() {
        let mut task = Task::new(list, case.clone());
        if let Golden::File(golden) = &case.golden {
            let golden = case::resolve(case::folder_of(list), golden);
            task.wanted = Wanted::File(names.reads(&golden, "a golden file")?);
            // Limits in the case override the limits of the command line.
            if case.gate.is_closed() {
                task.gate = gate;
                takes_gate = true;
            }
        }
        if is_wanted(case, only) {
            tasks.push(task);
        }
    }
    if !takes_gate {
        let option = if gate.allow.is_some() {
            "--allow"
        } else {
            "--iou-min"
        };
        let message = format!(
            "{option} has no effect: it applies only to cases that have a golden file and neither allow nor iou_min, and the list \
             has no such case"
        );
        let error = Error::usage(message).in_file(list);
        return Err(error.with_hint(
            "'voxelize verify --update LIST MESH --golden DIR' records a case with a golden file",
        ));
    }
    check(&tasks, reach, names)?;
    Ok(tasks)
}

/// Returns `true` if `only` names this case, or is empty.
fn is_wanted(case: &Case, only: &[String]) -> bool {
    only.is_empty() || only.iter().any(|name| case::is_named(case, name))
}

/// Fails if a name of `--only` is not the name of a case.
fn check_names(list: &Path, cases: &[Case], only: &[String]) -> Result<()> {
    const SHOWN: usize = 12;
    let is_known = |name: &String| cases.iter().any(|case| case::is_named(case, name));
    let Some(unknown) = only.iter().find(|name| !is_known(name)) else {
        return Ok(());
    };
    let known: Vec<String> = cases.iter().flat_map(case::names).collect();
    let hint = match suggest::nearest(unknown, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean {}?", sanitized(near)),
        None => {
            let titles: Vec<_> = cases.iter().map(|case| sanitized(&case.title())).collect();
            let more = if titles.len() > SHOWN { ", …" } else { "" };
            let shown = &titles[..titles.len().min(SHOWN)];
            format!("its cases are {}{more}", shown.join(", "))
        }
    };
    let text = format!(
        "--only: no case has the name or the mesh '{}'",
        sanitized(unknown)
    );
    Err(Error::usage(text).in_file(list).with_hint(hint))
}

/// Fails if a case cannot make a grid, or if a file is where the list may not refer to.
fn check(tasks: &[Task], reach: Reach, names: &Names) -> Result<()> {
    for task in tasks {
        check_case(task, names)?;
    }
    for task in tasks {
        check_reach(task, "mesh", &task.file(), reach)?;
        if let Wanted::File(golden) = &task.wanted {
            check_reach(task, "golden", golden.path(), reach)?;
        }
        if let Some((_, golden)) = &task.keep {
            check_reach(task, "golden", golden.path(), reach)?;
        }
    }
    Ok(())
}

/// Fails if a file is where the list may not refer to.
fn check_reach(task: &Task, key: &str, file: &Path, reach: Reach) -> Result<()> {
    if reach == Reach::Anywhere || files::is_within(file, case::folder_of(&task.list)) {
        return Ok(());
    }
    let message = format!(
        "{key} is outside the folder of the list: {}",
        file.display()
    );
    Err(located(
        Error::input(Code::G010, message),
        task,
        task.case.line,
    ))
}

/// Adds the list and the line number to an error about a case. A new case has no line number.
fn located(error: Error, task: &Task, line: Option<u64>) -> Error {
    let error = error.in_file(&task.list);
    match line {
        Some(line) => error.at_line(line),
        None => error,
    }
}

/// Fails if the case cannot make a grid.
fn check_case(task: &Task, names: &Names) -> Result<()> {
    let case = &task.case;
    if case.mesh == "-" {
        let error = Error::input(
            Code::G005,
            "mesh is standard input, which can be read only once",
        );
        return Err(located(error.with_hint("name a file"), task, case.line));
    }
    case::check_keys(&case.options).map_err(|error| error.in_file(&task.list))?;
    let Err(error) = task.check(names) else {
        return Ok(());
    };
    if case.line.is_none() {
        // The case is not from a list, and its options come from the command line or a voxel file.
        return Err(error);
    }
    let (message, line) = match option_of(&case.options, error.message()) {
        Some(text) if text.is_text() => (format!("options: {}", error.message()), text.line),
        Some(option) => (error.message().to_string(), option.line),
        None => (error.message().to_string(), case.line),
    };
    let hint = match error.hint() {
        Some(hint) => hint.clone(),
        None => {
            "a case accepts only options that change the cells, not options for outputs or reports"
                .into()
        }
    };
    Err(located(
        Error::input(Code::G009, message).with_hint(hint),
        task,
        line,
    ))
}

/// Returns the first option that an error message names. Otherwise returns the options that are a single
/// text, if the case has them.
fn option_of<'a>(options: &'a CaseOptions, message: &str) -> Option<&'a CaseOption> {
    let named = options
        .0
        .iter()
        .find(|option| message.contains(&format!("--{}", option.name)));
    named.or_else(|| options.0.iter().find(|option| option.is_text()))
}

/// Returns the task that compares one mesh with one voxel file. The mesh is voxelized on the grid and by the
/// rule of the voxel file.
fn single(file: &InputFile, mesh: &Path, gate: Gate, names: &Names) -> Result<Task> {
    let golden = file.path();
    files::is_there(golden)?;
    if format::sniff(golden).is_none() {
        let hint = format!(
            "a mesh is compared with a voxel file such as part.npz; 'voxelize verify LIST' compares the meshes of a list, \
             and 'voxelize verify --update LIST {}' adds this one",
            mesh.display()
        );
        return Err(Error::usage("is not a voxel file")
            .in_file(golden)
            .with_hint(hint));
    }
    let title = mesh.display().to_string();
    let case = Case {
        name: Some(title.clone()),
        mesh: title,
        options: options_of(golden)?,
        golden: Golden::Unrecorded,
        gate,
        line: None,
    };
    let task = Task {
        mesh: mesh.to_path_buf(),
        like: Some(golden.to_path_buf()),
        wanted: Wanted::File(file.clone()),
        ..Task::new(golden, case)
    };
    task.check(names).map_err(|error| error.in_file(golden))?;
    Ok(task)
}

/// Returns the options that make cells on the grid and by the rule of a voxel file.
fn options_of(file: &Path) -> Result<CaseOptions> {
    let Record {
        rule_name,
        fields,
        drain,
        transform,
        ..
    } = format::describe(file)?.metadata.record;
    let mut options = case::options_of([("like", file.to_string_lossy().into_owned())]);
    if let Some(name) = rule_name {
        options.extend(case::options_of([("rule", name)]));
    }
    options.extend(case::options_of(fields));
    options.extend(case::options_of(drain.map(|holes| (DRAIN, holes))));
    // `up` does not change the cells. `near` is not needed, because the mesh reader finds the same point
    // again. The frame comes with the grid.
    let transform = transform
        .into_iter()
        .filter(|(name, _)| !matches!(*name, "up" | "near" | SCAN_FRAME));
    options.extend(case::options_of(transform));
    Ok(CaseOptions(options))
}
