//! `verify --update`: records what comes out now as what should.

use std::path::Path;
use std::time::Duration;

use voxelize::compare::{Case, Gate, Golden, Goldens, Outcome};
use voxelize::format::{self, Carries, SaveOptions, Sidecar};
use voxelize::{Error, Result, Voxels};

use super::super::call::{Call, End};
use super::super::job::How;
use super::super::numbers::grouped;
use super::super::tell;
use super::options::{self, Spelled};
use super::report::{self, Found, Report};
use super::work::{self, Made, Task, Wanted};
use super::{Args, paths};

/// A case to be recorded.
struct Slot {
    /// What the list has of it.
    known: Option<Case>,
    mesh: String,
    options: String,
    /// The file that keeps its cells, if not only their digest is kept.
    keep: Option<String>,
}

/// What was recorded of a case, and what that is beside what was recorded before.
struct Recorded {
    report: Report,
    change: Change,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    New,
    Changed,
    Same,
}

impl Change {
    const ALL: [Self; 3] = [Self::New, Self::Changed, Self::Same];

    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
        }
    }
}

/// Records the cases that `args` ask for.
///
/// # Errors
/// If it is refused, or the list cannot be written. A case that cannot be made stays as it was, and
/// is told like any error.
pub fn run(call: &mut Call, args: &Args, spelled: &Spelled) -> Result<()> {
    refuse(args, spelled)?;
    let list = args.goldens.as_path();
    let how = How::new(&args.run.power, args.run.max_memory, call.typed)?;
    let (mut goldens, slots) = if args.meshes.is_empty() {
        let goldens = Goldens::open(list)?;
        let slots = goldens.cases().iter().cloned().map(Slot::listed).collect();
        (goldens, slots)
    } else {
        let goldens = Goldens::edit(list)?;
        let slots = named(args, spelled, &goldens)?;
        (goldens, slots)
    };
    let tasks: Vec<_> = slots.iter().map(|slot| slot.task(list)).collect();
    tasks.iter().try_for_each(|task| super::check_case(list, task))?;
    check_files(call, list, &tasks)?;
    let recorded = work::each(&tasks, &how, call.signals, &call.bar(), |task, made, time| {
        made.and_then(|made| {
            let recorded = record(task, &made, time);
            if let (Wanted::File(file), Some(voxels), Change::New | Change::Changed) =
                (&task.wanted, &made.voxels, recorded.change)
            {
                save(voxels, file)?;
            }
            Ok(recorded)
        })
    })?;
    let (before, mut changes) = (goldens.to_text(), vec![]);
    for ((slot, task), recorded) in slots.into_iter().zip(&tasks).zip(recorded) {
        match recorded {
            Ok(Recorded { report, change }) => {
                say(call, task, &report, change)?;
                goldens.record(slot.case(report.found)?);
                changes.push(change);
            }
            Err(error) => {
                report::know_task(call, task);
                call.know("outcome", "error");
                call.fail(error);
            }
        }
    }
    let text = goldens.to_text();
    if text != before {
        format::save_bytes(list, "goldens", |out| out.write_all(text.as_bytes()))?;
    }
    if call.prints() { tell::to_stdout(&total(list, &changes, tasks.len())) } else { Ok(()) }
}

/// Refuses what makes no sense, or must not be.
fn refuse(args: &Args, spelled: &Spelled) -> Result<()> {
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        let error = Error::usage("--update: CI is set, and a run that records goldens verifies nothing");
        return Err(error.with_hint("record them by hand, look at what changed, and commit it; or unset CI"));
    }
    if let (Some(options), []) = (spelled.given(), args.meshes.as_slice()) {
        let error = Error::usage(format!("{options}: every case of a list has its own options"));
        return Err(error.with_hint("name the meshes whose cases are to have them"));
    }
    if args.verify.golden.is_some() && args.meshes.is_empty() {
        return Err(Error::usage("--golden: no mesh is given whose cells are to be kept")
            .with_hint("voxelize verify --update goldens.toml part.stl --golden cells/"));
    }
    Ok(())
}

/// The cases of the meshes that are named: those of the list, or new ones.
fn named(args: &Args, spelled: &Spelled, goldens: &Goldens) -> Result<Vec<Slot>> {
    let folder = paths::folder(&args.goldens);
    let options = options::relocated(spelled.given().unwrap_or_default(), folder);
    let mut slots: Vec<Slot> = vec![];
    for file in &args.meshes {
        let mesh = paths::relative(folder, file);
        if slots.iter().any(|slot| slot.mesh == mesh) {
            return Err(Error::usage("is given twice").in_file(file).with_hint("give it once"));
        }
        let same = |case: &&Case| case.mesh == mesh && options::spelled(&case.options) == options;
        let mut slot = match goldens.cases().iter().find(same).cloned() {
            Some(case) => Slot::listed(case),
            None => Slot { known: None, mesh, options: options.clone(), keep: None },
        };
        if let (Some(cells), None) = (&args.verify.golden, &slot.keep) {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let name = paths::slug(&format!("{stem} {options}"));
            let written = |name: &str| paths::relative(folder, &cells.join(format!("{name}.npz")));
            let name = paths::unused(&name, |name| {
                let (file, golden) = (written(name), Golden::File(written(name)));
                goldens.cases().iter().any(|case| case.golden == golden)
                    || slots.iter().any(|slot| slot.keep.as_ref() == Some(&file))
            });
            slot.keep = Some(written(&name));
        }
        slots.push(slot);
    }
    Ok(slots)
}

impl Slot {
    /// A case of the list.
    fn listed(case: Case) -> Self {
        let keep = match &case.golden {
            Golden::File(file) => Some(file.clone()),
            Golden::Digest { .. } => None,
        };
        Self { mesh: case.mesh.clone(), options: case.options.clone(), keep, known: Some(case) }
    }

    fn task(&self, list: &Path) -> Task {
        let folder = paths::folder(list);
        let wanted = match (&self.keep, self.known.as_ref().map(|case| &case.golden)) {
            (Some(file), _) => Wanted::File(paths::resolve(folder, file)),
            (None, Some(Golden::Digest { grid, cells })) => Wanted::Digest(*grid, *cells),
            _ => Wanted::Nothing,
        };
        let title = format!("{} {}", self.mesh, self.options).trim_end().to_string();
        Task {
            title: self.known.as_ref().map_or(title, Case::title),
            stem: String::new(),
            mesh: self.mesh.clone(),
            file: paths::resolve(folder, &self.mesh),
            folder: folder.to_path_buf(),
            options: self.options.clone(),
            wanted,
            gate: Gate::default(),
            place: (list.display().to_string(), self.known.as_ref().map_or(0, |case| case.line)),
        }
    }

    /// The case as it is to stand in the list.
    fn case(self, found: Option<Found>) -> Result<Case> {
        let digest = found.and_then(|Found { grid, cells }| Some(Golden::Digest { grid: grid?, cells }));
        let golden = self.keep.map(Golden::File).or(digest);
        let golden = golden.ok_or_else(|| Error::usage("a grid without a lattice has no digest"))?;
        Ok(match self.known {
            Some(case) => Case { golden, ..case },
            None => {
                let (mesh, options) = (self.mesh, self.options);
                Case { name: None, mesh, options, golden, gate: Gate::default(), line: 0 }
            }
        })
    }
}

/// Makes sure that no file is written over by another.
fn check_files(call: &mut Call, list: &Path, tasks: &[Task]) -> Result<()> {
    let mut files = vec![(list, "the list of goldens")];
    files.extend(tasks.iter().map(|task| (task.file.as_path(), "a mesh")));
    for task in tasks {
        let Wanted::File(file) = &task.wanted else { continue };
        tell::refuse_same(file, &files)?;
        files.push((file, "the golden file of another case, which would be lost"));
        if format::by_path(file).is_none() {
            let error = Error::usage("no voxel format has this extension").in_file(file);
            return Err(error.with_hint("'voxelize formats' lists them; .npz is a good one"));
        }
    }
    call.keep(&files)?;
    format::probe_output(list)
}

/// Compares what came out with what was recorded, and writes the golden file if it is to change.
fn record(task: &Task, made: &Made, time: Duration) -> Recorded {
    // A golden file that cannot be read or compared is replaced like one that is not there.
    let (golden, outcome) = super::compare(task, made, |_, _, _| Ok(())).unwrap_or((None, Outcome::Same));
    let change = match (golden, &outcome) {
        (None, Outcome::Same) => Change::New,
        (Some(_), Outcome::Same) => Change::Same,
        _ => Change::Changed,
    };
    let (found, lattice) = (Some(Found::of(made)), made.lattice());
    Recorded { report: Report { found, golden, lattice, outcome, shown: vec![], time }, change }
}

fn save(voxels: &Voxels, file: &Path) -> Result<()> {
    let format = format::by_path(file).ok_or_else(|| Error::usage("no voxel format").in_file(file))?;
    let folder = paths::folder(file);
    std::fs::create_dir_all(folder)
        .map_err(|e| Error::output(format!("cannot be made: {e}")).in_file(folder))?;
    let sidecar = if format.carries == Carries::InFile { Sidecar::Auto } else { Sidecar::Write };
    format::save(voxels, file, format, &SaveOptions { sidecar, ..SaveOptions::default() }).map(drop)
}

/// Says what was recorded.
fn say(call: &mut Call, task: &Task, report: &Report, change: Change) -> Result<()> {
    let cells = |found: Found| grouped(found.cells);
    let found = report.found.map(cells).unwrap_or_default();
    let counts = match report.golden.filter(|_| change == Change::Changed) {
        Some(golden) => format!("{} → {found} cells", cells(golden)),
        None => format!("{found} cells"),
    };
    let mut text = format!("{:<7}  {}  {counts}\n", change.word(), task.title);
    if change == Change::Changed {
        let digests = report.golden.zip(report.found).and_then(|(old, new)| old.grid.zip(new.grid));
        let digests = digests.map(|(old, new)| format!("{old} → {new}"));
        let details = report::details(task, report).into_iter().filter(|_| report.outcome != Outcome::Digest);
        text +=
            &digests.into_iter().chain(details).map(|line| format!("         {line}\n")).collect::<String>();
    }
    report::know(call, task, report);
    call.know("outcome", change.word());
    call.answer(&text, &End::Yes)
}

fn total(list: &Path, changes: &[Change], cases: usize) -> String {
    let count = |change: Change| changes.iter().filter(|other| **other == change).count();
    let counts = Change::ALL.map(|change| format!("{} {}", count(change), change.word()));
    let failed = match cases - changes.len() {
        0 => String::new(),
        n => format!(", {} not made", grouped(n as u64)),
    };
    format!("{}: {}{failed}\n", list.display(), counts.join(", "))
}
