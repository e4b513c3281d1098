//! `verify --update` records the current results as the expected results, and reports what changed.

use std::path::Path;

use voxelize::compare::{Case, CaseResult, Gate, Golden, Goldens};
use voxelize::format::{self, Carries, Existing, Format, SaveOptions, Sidecar};
use voxelize::grid::InMemory;
use voxelize::job::Request;
use voxelize::{Error, Result, tool};

use super::VerifyArgs;
use super::case;
use super::judge::judge;
use super::report::{self, CaseJson, CaseReport};
use super::task::{self, CaseCells, MadeCase, Task, Wanted};
use crate::cli::command::Call;
use crate::cli::files::{MadeFolders, SIDECAR, is_voxel_name, or_hint, with_suffix};
use crate::cli::names::{Names, OutputFile};
use crate::cli::progress::Bar;
use crate::cli::report::display::{counted, grouped, sanitized};
use crate::cli::report::{Outcome, Report};

/// Records the requested cases.
pub fn run(
    call: &Call,
    args: &VerifyArgs,
    request: &Request,
    only: &[String],
) -> Result<Vec<Report>> {
    refuse(args, request)?;
    let list = args.goldens.as_path();
    let resources = call.resources(args.run.max_memory)?;
    let new_list = OutputFile::new(list, "the list of goldens").register(&call.names)?;
    let goldens;
    let mut tasks = vec![];
    if args.meshes.is_empty() {
        goldens = Goldens::open_to_record(list)?;
        super::check_names(list, goldens.cases(), only)?;
        for case in goldens.cases() {
            if !super::is_wanted(case, only) {
                continue;
            }
            tasks.push(recording(list, case.clone(), None, &call.names)?);
        }
    } else {
        goldens = Goldens::edit(list)?;
        tasks = named(args, request, &goldens, &call.names)?;
    }
    call.check_files()?;
    // A file that `verify` would refuse is not recorded.
    super::check(&tasks, args.verify.reach(), &call.names)?;
    for (_, file) in tasks.iter().filter_map(|task| task.keep.as_ref()) {
        file.check()?;
    }
    call.check_files()?;
    let folders = MadeFolders::default();
    for (_, file) in tasks.iter().filter_map(|task| task.keep.as_ref()) {
        let hint = "--golden DIR, or golden in the list, names another folder";
        folders
            .make_for(file.path())
            .map_err(|e| or_hint(e, hint))?;
    }
    let bar = call.bar();
    let recorded = task::each(&tasks, &resources, call, &bar, record)?;
    for (task, recorded) in tasks.iter().zip(&recorded) {
        print(call, &goldens, task, recorded);
    }
    save_list(&new_list, &tasks, &recorded, &bar)?;
    Ok(vec![Report::rows(total(list, &recorded))])
}

/// Records the cases in the current version of the list, so that cases are kept which other processes
/// recorded in the meantime.
fn save_list(list: &OutputFile, tasks: &[Task], recorded: &[Recorded], bar: &Bar) -> Result<()> {
    let _lock = tool::lock_folder(list.path(), bar)?;
    let mut goldens = Goldens::edit(list.path())?;
    let before = goldens.to_text();
    for (task, recorded) in tasks.iter().zip(recorded) {
        if let Some((_, golden)) = &recorded.change {
            goldens.record(Case {
                golden: golden.clone(),
                ..task.case.clone()
            });
        }
    }
    let text = goldens.to_text();
    if text != before {
        list.save_bytes("goldens", text.as_bytes())?;
    }
    Ok(())
}

/// Fails for invalid combinations of arguments, and in CI.
fn refuse(args: &VerifyArgs, request: &Request) -> Result<()> {
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        let error =
            Error::usage("--update: CI is set, and a run that records goldens verifies nothing");
        return Err(
            error.with_hint("record them by hand, review the changes and commit them; or unset CI")
        );
    }
    refuse_voxels(args)?;
    if args.meshes.iter().any(|mesh| mesh.as_os_str() == "-") {
        let error = Error::usage("-: a case names its mesh, and standard input has no name");
        return Err(error.with_hint("save it as a file"));
    }
    let mut options = case::given(request);
    if args.meshes.is_empty() {
        options.0.retain(|option| option.name != "only");
    }
    let options = options.to_string();
    if !options.is_empty() && args.meshes.is_empty() {
        let error = Error::usage(format!(
            "{options}: every case of a list has its own options"
        ));
        return Err(error.with_hint("name the meshes whose cases get these options"));
    }
    if args.verify.golden.is_some() && args.meshes.is_empty() {
        return Err(Error::usage("--golden needs a mesh")
            .with_hint("voxelize verify --update goldens.toml part.stl --golden cells/"));
    }
    Ok(())
}

/// Fails if the list is a voxel file, or has the name of one.
fn refuse_voxels(args: &VerifyArgs) -> Result<()> {
    let list = args.goldens.as_path();
    let mesh = args
        .meshes
        .first()
        .map_or("part.stl".into(), |mesh| mesh.to_string_lossy());
    let name = list.display();
    if format::sniff(list).is_some() {
        let options = super::options_of(list)?;
        let error =
            Error::usage("is a voxel file; --update records in a list of goldens").in_file(list);
        return Err(error.with_hint(format!(
            "'voxelize {mesh} {options} -o {name}' writes the voxel file again"
        )));
    }
    if is_voxel_name(list) && !list.exists() {
        let error = Error::usage("has the extension of a voxel format; a list of goldens is TOML")
            .in_file(list);
        return Err(error.with_hint(
            "name it goldens.toml; --golden DIR stores the cells of cases as voxel files",
        ));
    }
    Ok(())
}

/// Returns the tasks for the meshes on the command line. Their cases may be new.
fn named(
    args: &VerifyArgs,
    request: &Request,
    goldens: &Goldens,
    names: &Names,
) -> Result<Vec<Task>> {
    let list = args.goldens.as_path();
    let folder = case::folder_of(list);
    let options = case::relocated(request, folder)?;
    let text = options.to_string();
    let mut tasks: Vec<Task> = vec![];
    for file in &args.meshes {
        let mesh = case::relative(folder, file)?;
        if tasks.iter().any(|task| task.case.mesh == mesh) {
            return Err(Error::usage("is given twice")
                .in_file(file)
                .with_hint("give it once"));
        }
        let known = goldens
            .cases()
            .iter()
            .find(|case| case.mesh == mesh && case::spelled(&case.options).to_string() == text);
        let case = match known {
            Some(case) => case.clone(),
            None => Case {
                name: None,
                mesh,
                options: options.clone(),
                golden: Golden::Unrecorded,
                gate: Gate::default(),
                line: None,
            },
        };
        let mut cells = None;
        if let Some(cells_folder) = &args.verify.golden {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = case::slug(&format!("{stem} {text}"));
            // `-` is a placeholder for the file name. The path of the folder alone would be empty if the list
            // is in the same folder.
            let path = case::relative(folder, &cells_folder.join("-"))?;
            let path = format!("{}{name}", path.strip_suffix('-').unwrap_or_default());
            let path = case::unused(&path, |path| {
                let file = format!("{path}.npz");
                let golden = Golden::File(file.clone());
                goldens.cases().iter().any(|case| case.golden == golden)
                    || tasks
                        .iter()
                        .any(|task| task.keep.as_ref().is_some_and(|(name, _)| *name == file))
            });
            cells = Some(format!("{path}.npz"));
        }
        tasks.push(recording(list, case, cells, names)?);
    }
    Ok(tasks)
}

/// Returns the task that records a case. If the golden of the case is not a file, its cells go to the file
/// `cells`, or are not stored if `cells` is `None`.
fn recording(list: &Path, case: Case, cells: Option<String>, names: &Names) -> Result<Task> {
    let mut task = Task::new(list, case);
    // Limits of the case apply only to comparisons.
    task.gate = Gate::default();
    let cells = match &task.case.golden {
        Golden::File(file) => Some(file.clone()),
        _ => cells,
    };
    if let Some(name) = cells {
        let file = golden_file(&case::resolve(case::folder_of(list), &name), names)?;
        let is_known = matches!(task.case.golden, Golden::File(_));
        // If this file was recorded before, its loss is reported. For a new case, an existing file counts as
        // recorded.
        if is_known || matches!(task.wanted, Wanted::Nothing) && file.path().exists() {
            task.wanted = Wanted::File(file.before());
        }
        task.keep = Some((name, file));
    }
    Ok(task)
}

/// Registers the file for the cells of a case, and its sidecar.
fn golden_file(path: &Path, names: &Names) -> Result<OutputFile> {
    if sidecar(golden_format(path)?) == Sidecar::Write {
        let sidecar = with_suffix(path, SIDECAR);
        new_golden(&sidecar, "the sidecar of the golden file of a case").register(names)?;
    }
    new_golden(path, "the golden file of a case").register(names)
}

fn new_golden(path: &Path, role: &str) -> OutputFile {
    let new = OutputFile::new(path, role).in_made_folder();
    new.existing(
        Existing::ReplaceIf(may_go),
        "name another file under golden, or remove this one",
    )
}

/// Returns `true` if a golden file may replace this file. The file must be empty or made by this tool,
/// because a list may name any file.
fn may_go(path: &Path) -> bool {
    tool::made_by_this_tool(path) || path.metadata().is_ok_and(|found| found.len() == 0)
}

fn golden_format(path: &Path) -> Result<&'static Format> {
    format::named_by(path)
        .map_err(|error| error.with_hint("'voxelize formats' lists them; .npz is a good choice"))
}

/// Returns whether a golden file of this format needs a sidecar for its lattice.
fn sidecar(format: &Format) -> Sidecar {
    if format.carries == Carries::InFile {
        Sidecar::Auto
    } else {
        Sidecar::Write
    }
}

/// Difference between the new golden and the recorded one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// No result was recorded before.
    New,
    /// The cells differ.
    Changed,
    /// The result is the same.
    Same,
    /// A result was recorded, but its file is missing or cannot be read.
    Again,
}

impl Change {
    /// Returns the label in the text, which is also the outcome in JSON.
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Again => "again",
        }
    }
}

/// Result of recording a case.
struct Recorded {
    report: CaseReport,
    /// The change and the new golden. `None` if the case has no result.
    change: Option<(Change, Golden)>,
}

/// Compares a grid with the recorded golden. Stores its cells if requested.
fn record(task: &Task, made: MadeCase) -> Recorded {
    // A case without a result is not recorded, so its golden file is not read.
    let mut report = judge(task, &made, Some(0));
    match made.cells.and_then(|made| store(task, &made, &mut report)) {
        Ok(change) => Recorded {
            report,
            change: Some(change),
        },
        Err(error) => {
            report.outcome = CaseResult::Failed(error);
            Recorded {
                report,
                change: None,
            }
        }
    }
}

/// Stores the cells of a case, unless the golden file already has the same cells. Returns the change and the
/// new golden.
fn store(task: &Task, made: &CaseCells, report: &mut CaseReport) -> Result<(Change, Golden)> {
    report.take(made);
    let change = match (&report.outcome, &task.case.golden) {
        (CaseResult::Same | CaseResult::Failed(_), Golden::Unrecorded) => Change::New,
        (CaseResult::Same, _) if report.golden.is_some() => Change::Same,
        // A golden file that cannot be read or compared is treated like a missing one.
        (CaseResult::Same | CaseResult::Failed(_), _) => Change::Again,
        _ => Change::Changed,
    };
    let Some((name, file)) = &task.keep else {
        return match made.digest.grid {
            Some(grid) => Ok((
                change,
                Golden::Digest {
                    grid,
                    cells: made.cells,
                },
            )),
            None => Err(Error::usage("a grid without a lattice has no digest")),
        };
    };
    let has_them = matches!(task.wanted, Wanted::File(_)) && report.golden.is_some();
    if let (Some(voxels), false) = (&made.voxels, has_them && report.outcome == CaseResult::Same) {
        let format = golden_format(file.path())?;
        let options = SaveOptions {
            sidecar: sidecar(format),
            ..SaveOptions::default()
        };
        file.save_source(&mut InMemory::new(voxels), format, &options)?;
    }
    Ok((change, Golden::File(name.clone())))
}

/// Prints the result of recording a case.
fn print(
    call: &Call,
    goldens: &Goldens,
    task: &Task,
    Recorded {
        report: case,
        change,
    }: &Recorded,
) {
    call.printer.print(&Report::of(|report, result| {
        *result = CaseJson::of(task);
        let change = match (change, &case.outcome) {
            (Some((change, _)), _) => *change,
            (None, CaseResult::Failed(error)) => return Err(error.clone()),
            (None, _) => return Err(Error::internal("a case without a result has no error")),
        };
        let mut line = format!("{:<7}  {}  ", change.word(), task.case.title());
        if let (Change::Changed, Some(golden)) = (change, case.golden) {
            line += &format!("{} → ", grouped(golden.cells));
        }
        line += &case
            .found
            .map_or(String::new(), |found| counted(found.cells, "cell", "cells"));
        if let (Wanted::Digest(..), Some((_, file))) = (&task.wanted, &task.keep) {
            line += &format!(", now in {}", file.path().display());
        }
        report.out.line(line);
        let others = goldens
            .cases()
            .iter()
            .filter(|case| case.mesh == task.case.mesh)
            .count() as u64;
        for line in reasons(task, case, change, others) {
            report.out.line(format_args!("         {line}"));
        }
        *result = CaseJson::new(task, case);
        result.outcome = Some(change.word());
        Ok(Outcome::Done)
    }));
}

/// Returns the details of a change, one per line. `others` is the number of other cases in the list with the
/// same mesh.
fn reasons(task: &Task, report: &CaseReport, change: Change, others: u64) -> Vec<String> {
    let mut lines = vec![];
    match (change, &report.outcome) {
        (Change::New, _) if task.case.line.is_none() && others > 0 => {
            let cases = counted(others, "other case", "other cases");
            lines.push(format!(
                "the list has {cases} of this mesh, unchanged: --update LIST alone records all again"
            ));
        }
        (Change::New | Change::Same, _) => {}
        (Change::Again, CaseResult::Failed(error)) => {
            lines.push(format!("{error}: recorded again"))
        }
        (Change::Again, _) => {
            lines.push("the digest could not be read: recorded again".to_string())
        }
        (Change::Changed, outcome) => {
            if let (Some(old), Some(new)) = (report.golden, report.found)
                && let (Some(old), Some(new)) = (old.grid, new.grid)
            {
                lines.push(format!("{old} → {new}"));
            }
            if *outcome != CaseResult::Digest {
                lines.extend(report::details(task, report));
            }
        }
    }
    lines
}

/// Returns the line that counts the changes.
fn total(list: &Path, recorded: &[Recorded]) -> String {
    let count = |change: Option<Change>| {
        recorded
            .iter()
            .filter(|one| one.change.as_ref().map(|(change, _)| *change) == change)
            .count()
    };
    let [new, changed, same, again, failed] = [
        Some(Change::New),
        Some(Change::Changed),
        Some(Change::Same),
        Some(Change::Again),
        None,
    ]
    .map(count);
    let list = sanitized(&list.to_string_lossy());
    let mut text = format!("{list}: {new} new, {changed} changed, {same} same");
    for (n, what) in [(again, "made again"), (failed, "failed")] {
        if n > 0 {
            text += &format!(", {} {what}", grouped(n as u64));
        }
    }
    text + "\n"
}
