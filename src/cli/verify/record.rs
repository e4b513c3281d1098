//! `verify --update`: records the present results as expected results, and reports the changes.

use std::path::Path;
use std::time::Duration;

use voxelize::compare::{Case, CaseResult, Gate, Golden, Goldens};
use voxelize::format::{self, Carries, Existing, Format, SaveOptions, Sidecar};
use voxelize::grid::InMemory;
use voxelize::job::{Names, NewFile, OutFile};
use voxelize::{Error, Result, Rule, tool};

use super::super::args::words_of;
use super::super::command::Call;
use super::super::files::{MadeFolders, SIDECAR, is_voxel_name, or_hint, with_suffix};
use super::super::progress::Bar;
use super::super::report::display::{counted, grouped, sanitized};
use super::super::report::{Outcome, Report};
use super::case::{self, CaseOptions};
use super::report::{self, CaseJson, CaseReport, GridBrief};
use super::task::{self, CaseCells, Task, Wanted};
use super::{VerifyArgs, judge};

/// A case to be recorded.
struct CaseSlot {
    /// Its entry in the list.
    known: Option<Case>,
    mesh: String,
    options: String,
    /// The file that keeps its cells, if not only their digest is kept.
    keep: Option<String>,
    /// For a new case: how many the list has of its mesh.
    others: usize,
}

/// Records the cases that `args` ask for.
pub fn run(call: &Call, args: &VerifyArgs, options: &CaseOptions) -> Result<Vec<Report>> {
    refuse(args, options)?;
    let list = args.goldens.as_path();
    let resources = call.resources(args.run.max_memory)?;
    let new_list = call.names.writes(NewFile::named(list, "the list of goldens"))?;
    let slots: Vec<_> = if args.meshes.is_empty() {
        let goldens = Goldens::open_to_record(list)?;
        goldens.cases().iter().cloned().map(CaseSlot::listed).collect()
    } else {
        named(args, options, &Goldens::edit(list)?)?
    };
    let tasks = slots.iter().map(|slot| slot.task(list, &call.names)).collect::<Result<Vec<_>>>()?;
    tasks.iter().try_for_each(|task| super::check_case(list, task, &call.names))?;
    call.check_files()?;
    // What plain verify would refuse is not recorded.
    for task in &tasks {
        super::check_reach(list, task, "mesh", &task.file, args.verify.reach())?;
        if let Some(file) = &task.keep {
            super::check_reach(list, task, "golden", file.path(), args.verify.reach())?;
            file.check()?;
        }
    }
    call.check_files()?;
    let folders = MadeFolders::default();
    for file in tasks.iter().filter_map(|task| task.keep.as_ref()) {
        let hint = "--golden DIR, or golden in the list, names another";
        folders.make_for(file.path()).map_err(|e| or_hint(e, hint))?;
    }
    let bar = call.bar();
    let recorded = task::each(&tasks, &resources, call, &bar, |task, made, time| {
        made.and_then(|made| record(task, &made, time))
    })?;
    let (changes, cases) = note(call, slots, &tasks, recorded)?;
    save_list(&new_list, cases, &bar)?;
    Ok(vec![Report::rows(total(list, &changes, tasks.len()))])
}

/// Takes cases into the list as it is now: what others recorded meanwhile stays.
fn save_list(list: &OutFile, cases: Vec<Case>, bar: &Bar) -> Result<()> {
    let _lock = tool::lock_folder(list.path(), bar)?;
    let mut goldens = Goldens::edit(list.path())?;
    let before = goldens.to_text();
    cases.into_iter().for_each(|case| goldens.record(case));
    let text = goldens.to_text();
    if text != before {
        list.save_bytes("goldens", |out| out.write_all(text.as_bytes()))?;
    }
    Ok(())
}

/// Prints the recorded cases; returns the changes, and the cases for the list.
fn note(
    call: &Call,
    slots: Vec<CaseSlot>,
    tasks: &[Task],
    recorded: Vec<Result<Recorded>>,
) -> Result<(Vec<Change>, Vec<Case>)> {
    let mut changes = vec![];
    let mut cases = vec![];
    for ((slot, task), recorded) in slots.into_iter().zip(tasks).zip(recorded) {
        call.printer.print(&Report::of(|report, result: &mut CaseJson| {
            result.set_task(task);
            result.outcome = Some("error");
            let recorded = recorded.as_ref().map_err(Error::clone)?;
            let change = slot.change(recorded);
            changes.push(change);
            fill(report, result, task, recorded, change);
            if change == Change::New && slot.others > 0 {
                let cases = counted(slot.others as u64, "other case", "other cases");
                let line = format!(
                    "the list has {cases} of this mesh, unchanged: --update LIST alone records all again"
                );
                report.out.0.push_str(&format!("         {line}\n"));
            }
            Ok(Outcome::Done)
        }));
        if let Ok(recorded) = recorded {
            cases.push(slot.case(recorded.report.found)?);
        }
    }
    Ok((changes, cases))
}

/// Refuses what makes no sense, or must not be.
fn refuse(args: &VerifyArgs, options: &CaseOptions) -> Result<()> {
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        let error = Error::usage("--update: CI is set, and a run that records goldens verifies nothing");
        return Err(error.with_hint("record them by hand, review the changes and commit them; or unset CI"));
    }
    refuse_voxels(args)?;
    if args.meshes.iter().any(|mesh| mesh.as_os_str() == "-") {
        let error = Error::usage("-: a case names its mesh, and standard input has no name");
        return Err(error.with_hint("save it as a file"));
    }
    if let (Some(options), []) = (options.given(), args.meshes.as_slice()) {
        let error = Error::usage(format!("{options}: every case of a list has its own options"));
        return Err(error.with_hint("name the meshes whose cases get these options"));
    }
    if args.verify.golden.is_some() && args.meshes.is_empty() {
        return Err(Error::usage("--golden needs a mesh")
            .with_hint("voxelize verify --update goldens.toml part.stl --golden cells/"));
    }
    Ok(())
}

/// Refuses a voxel file, or the name of one, in place of a list.
fn refuse_voxels(args: &VerifyArgs) -> Result<()> {
    let list = args.goldens.as_path();
    let mesh = args.meshes.first().map_or("part.stl".into(), |mesh| mesh.to_string_lossy());
    let name = list.display();
    if format::sniff(list).is_some() {
        let rule = Rule::from_record(&format::describe(list)?.metadata.record).unwrap_or_default();
        let own = rule.info().rule;
        let named = (own != Rule::default()).then(|| format!("--{}", rule.name()));
        let fields = rule.fields().into_iter().filter(|field| !own.fields().contains(field));
        let words = named.into_iter().chain(words_of(fields));
        let same: String = words.map(|word| format!(" {word}")).collect();
        let error = Error::usage("is a voxel file, and --update records in a list").in_file(list);
        return Err(error.with_hint(format!("voxelize {mesh} --like {name}{same} -o {name} makes it again")));
    }
    if is_voxel_name(list) && !list.exists() {
        let error = Error::usage("is the name of a voxel file, and a list of goldens is TOML").in_file(list);
        return Err(error.with_hint("name it goldens.toml; --golden DIR keeps the cells of cases as files"));
    }
    Ok(())
}

/// The cases of the named meshes, from the list or new.
fn named(args: &VerifyArgs, options: &CaseOptions, goldens: &Goldens) -> Result<Vec<CaseSlot>> {
    let folder = case::folder_of(&args.goldens);
    let options = case::relocated(options.given().unwrap_or_default(), folder)?;
    let mut slots: Vec<CaseSlot> = vec![];
    for file in &args.meshes {
        let mesh = case::relative(folder, file)?;
        if slots.iter().any(|slot| slot.mesh == mesh) {
            return Err(Error::usage("is given twice").in_file(file).with_hint("give it once"));
        }
        let same = |case: &&Case| case.mesh == mesh && case::spelled(&case.options) == options;
        let mut slot = match goldens.cases().iter().find(same).cloned() {
            Some(case) => CaseSlot::listed(case),
            None => {
                let others = goldens.cases().iter().filter(|case| case.mesh == mesh).count();
                CaseSlot { known: None, mesh, options: options.clone(), keep: None, others }
            }
        };
        if let (Some(cells), None) = (&args.verify.golden, &slot.keep) {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = case::slug(&format!("{stem} {options}"));
            let cells = case::relative(folder, &cells.join("-"))?;
            let written = |name: &str| format!("{}{name}.npz", &cells[..cells.len() - 1]);
            let name = case::unused(&name, |name| {
                let file = written(name);
                let golden = Golden::File(written(name));
                goldens.cases().iter().any(|case| case.golden == golden)
                    || slots.iter().any(|slot| slot.keep.as_ref() == Some(&file))
            });
            slot.keep = Some(written(&name));
        }
        slots.push(slot);
    }
    Ok(slots)
}

impl CaseSlot {
    /// A case of the list.
    fn listed(case: Case) -> Self {
        let keep = match &case.golden {
            Golden::File(file) => Some(file.clone()),
            _ => None,
        };
        Self { mesh: case.mesh.clone(), options: case.options.clone(), keep, known: Some(case), others: 0 }
    }

    fn task(&self, list: &Path, names: &Names) -> Result<Task> {
        let folder = case::folder_of(list);
        let keep =
            self.keep.as_ref().map(|file| golden_file(&case::resolve(folder, file), names)).transpose()?;
        // A file that no case had so far may be there too: it is not lost unsaid.
        let wanted = match (self.known.as_ref().map(|case| &case.golden), &keep) {
            (Some(Golden::Digest { grid, cells }), _) => Wanted::Digest(*grid, *cells),
            (Some(Golden::File(_)), Some(file)) => Wanted::File(file.before()),
            (_, Some(file)) if file.path().exists() => Wanted::File(file.before()),
            _ => Wanted::Nothing,
        };
        let title = format!("{} {}", self.mesh, self.options).trim_end().to_string();
        Ok(Task {
            title: self.known.as_ref().map_or(title, Case::title),
            stem: String::new(),
            mesh: self.mesh.clone(),
            file: case::resolve(folder, &self.mesh),
            folder: folder.to_path_buf(),
            options: self.options.clone(),
            like: None,
            wanted,
            keep,
            pictures: None,
            gate: Gate::default(),
            place: (list.display().to_string(), self.known.as_ref().map_or(0, |case| case.line)),
            options_line: self.known.as_ref().map_or(0, |case| case.options_line),
        })
    }

    /// Recorded results that the list does not have.
    fn change(&self, recorded: &Recorded) -> Change {
        let Recorded { report: CaseReport { outcome, golden, .. }, .. } = recorded;
        match (self.known.as_ref().map(|case| &case.golden), outcome, golden) {
            (None | Some(Golden::Unrecorded), CaseResult::Same, _) => Change::New,
            (Some(_), CaseResult::Same, None) => Change::Again,
            (Some(_), CaseResult::Same, Some(_)) => Change::Same,
            _ => Change::Changed,
        }
    }

    /// The case as it is to stand in the list.
    fn case(self, found: Option<GridBrief>) -> Result<Case> {
        let digest = found.and_then(|GridBrief { grid, cells }| Some(Golden::Digest { grid: grid?, cells }));
        let golden = self.keep.map(Golden::File).or(digest);
        let golden = golden.ok_or_else(|| Error::usage("a grid without a lattice has no digest"))?;
        Ok(match self.known {
            Some(case) => Case { golden, ..case },
            None => {
                let mesh = self.mesh;
                let options = self.options;
                Case { name: None, mesh, options, golden, gate: Gate::default(), line: 0, options_line: 0 }
            }
        })
    }
}

/// The file that keeps the cells of a case, among the names of the run.
fn golden_file(path: &Path, names: &Names) -> Result<OutFile> {
    if sidecar(golden_format(path)?) == Sidecar::Write {
        let sidecar = with_suffix(path, SIDECAR);
        names.writes(new_golden(&sidecar, "the sidecar of the golden file of a case"))?;
    }
    names.writes(new_golden(path, "the golden file of a case"))
}

fn new_golden<'a>(path: &'a Path, role: &'a str) -> NewFile<'a> {
    let new = NewFile::named(path, role).in_made_folder();
    new.existing(Existing::ReplaceIf(may_go), "name another file under golden, or remove this one")
}

/// Whether a golden may replace a file: one of this tool, or one without content. A list may name any.
fn may_go(path: &Path) -> bool {
    tool::made_by_this_tool(path) || path.metadata().is_ok_and(|found| found.len() == 0)
}

fn golden_format(path: &Path) -> Result<&'static Format> {
    format::named_by(path)
        .map_err(|error| error.with_hint("'voxelize formats' lists them; .npz is a good choice"))
}

/// Compares the result with the recorded one, and stores its cells if requested. A file
/// that has them already is left as it is.
fn record(task: &Task, made: &CaseCells, time: Duration) -> Result<Recorded> {
    // A golden file that cannot be read or compared is replaced like one that is not there.
    let (compared, lost) = match judge::compare(task, made, |_, _, _| Ok(())) {
        Ok(compared) => (compared, None),
        Err(error) => ((None, CaseResult::Same), Some(error)),
    };
    let (golden, outcome) = compared;
    let has_them = matches!(task.wanted, Wanted::File(_)) && golden.is_some() && outcome == CaseResult::Same;
    if let (Some(file), Some(voxels), false) = (&task.keep, &made.voxels, has_them) {
        let format = golden_format(file.path())?;
        let options = SaveOptions { sidecar: sidecar(format), ..SaveOptions::default() };
        file.save_source(&mut InMemory::new(voxels), format, &options)?;
    }
    let found = Some(GridBrief::of(made));
    let lattice = made.lattice();
    let shown = vec![];
    let not_shown = None;
    let findings = made.findings.clone();
    let report = CaseReport { found, golden, lattice, outcome, shown, not_shown, findings, time };
    Ok(Recorded { report, lost })
}

/// Golden files say where their cells are.
fn sidecar(format: &Format) -> Sidecar {
    if format.carries == Carries::InFile { Sidecar::Auto } else { Sidecar::Write }
}

/// The recorded result of a case.
struct Recorded {
    report: CaseReport,
    /// Why the result cannot be compared with the recorded one.
    lost: Option<Error>,
}

/// The new record compared with the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// Nothing was recorded.
    New,
    /// Other cells.
    Changed,
    /// Nothing has changed.
    Same,
    /// Something was, but is gone or cannot be read.
    Again,
}

impl Change {
    /// The word for it, as text and as the outcome in JSON.
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Again => "again",
        }
    }
}

/// The row and the keys of a recorded case.
fn fill(report: &mut Report, result: &mut CaseJson, task: &Task, recorded: &Recorded, change: Change) {
    let case = &recorded.report;
    let cells = case.found.map(|found| counted(found.cells, "cell", "cells")).unwrap_or_default();
    let old = case.golden.filter(|_| change == Change::Changed);
    let old = old.map(|golden| format!("{} → ", grouped(golden.cells))).unwrap_or_default();
    let kept = match (&task.wanted, &task.keep) {
        (Wanted::Digest(..), Some(file)) => format!(", now in {}", file.path().display()),
        _ => String::new(),
    };
    let line = format!("{:<7}  {}  {old}{cells}{kept}", change.word(), task.title);
    report.out.0 = sanitized(&line) + "\n";
    let reasons = reasons(task, recorded, change);
    report.out.0.extend(reasons.iter().map(|line| format!("         {}\n", sanitized(line))));
    *result = CaseJson::new(task, case);
    result.outcome = Some(change.word());
}

/// Details of a change, a line each.
fn reasons(task: &Task, Recorded { report, lost }: &Recorded, change: Change) -> Vec<String> {
    match (change, lost) {
        (Change::New | Change::Same, _) => vec![],
        (Change::Again, Some(error)) => vec![format!("{error}: recorded again")],
        (Change::Again, None) => vec!["the digest could not be read: recorded again".to_string()],
        (Change::Changed, _) => {
            let digests = report.golden.zip(report.found).and_then(|(old, new)| old.grid.zip(new.grid));
            let digests = digests.map(|(old, new)| format!("{old} → {new}"));
            let details = report::details(task, report);
            let details = details.into_iter().filter(|_| report.outcome != CaseResult::Digest);
            digests.into_iter().chain(details).collect()
        }
    }
}

/// How many of so many cases changed, and how.
fn total(list: &Path, changes: &[Change], cases: usize) -> String {
    let count = |change: Change| changes.iter().filter(|other| **other == change).count();
    let [new, changed, same] = [Change::New, Change::Changed, Change::Same].map(count);
    let list = sanitized(&list.to_string_lossy());
    let mut text = format!("{list}: {new} new, {changed} changed, {same} same");
    for (n, what) in [(count(Change::Again), "made again"), (cases - changes.len(), "failed")] {
        if n > 0 {
            text += &format!(", {} {what}", grouped(n as u64));
        }
    }
    text + "\n"
}
