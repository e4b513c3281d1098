//! `verify --update`: records what comes out now as what should.

use std::path::Path;
use std::time::Duration;

use voxelize::compare::{Case, Gate, Golden, Goldens, Outcome};
use voxelize::format::{self, Carries, SaveOptions, Sidecar};
use voxelize::{Error, Result, Rule, Voxels};

use super::super::args;
use super::super::call::Call;
use super::super::job::How;
use super::super::tell;
use super::change::{self, Change, Recorded};
use super::options::{self, Spelled};
use super::report::{self, Found, Report};
use super::work::{self, Made, Task, Wanted};
use super::{Args, folders, judge, paths};

/// A case to be recorded.
struct Slot {
    /// What the list has of it.
    known: Option<Case>,
    mesh: String,
    options: String,
    /// The file that keeps its cells, if not only their digest is kept.
    keep: Option<String>,
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
        let goldens = Goldens::open_to_record(list)?;
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
    let mut folders = folders::Made::default();
    for file in tasks.iter().filter_map(|task| task.keep.as_ref()) {
        folders.add_for(file, "--golden DIR, or golden in the list, names another")?;
    }
    let recorded = work::each(&tasks, &how, call.signals, &call.bar(), |task, made, time| {
        made.and_then(|made| record(task, &made, time))
    })?;
    let before = goldens.to_text();
    let changes = note(call, &mut goldens, slots, &tasks, recorded)?;
    let text = goldens.to_text();
    if text != before {
        format::save_bytes(list, "goldens", |out| out.write_all(text.as_bytes()))?;
    }
    if call.prints() { tell::to_stdout(&change::total(list, &changes, tasks.len())) } else { Ok(()) }
}

/// Takes what was recorded into the list, and says it; gives the changes.
fn note(
    call: &mut Call,
    goldens: &mut Goldens,
    slots: Vec<Slot>,
    tasks: &[Task],
    recorded: Vec<Result<Recorded>>,
) -> Result<Vec<Change>> {
    let mut changes = vec![];
    for ((slot, task), recorded) in slots.into_iter().zip(tasks).zip(recorded) {
        match recorded {
            Ok(recorded) => {
                let change = slot.change(&recorded);
                change::say(call, task, &recorded, change)?;
                goldens.record(slot.case(recorded.report.found)?);
                changes.push(change);
            }
            Err(error) => {
                report::know_task(call, task);
                call.know("outcome", "error");
                call.fail(error);
            }
        }
    }
    Ok(changes)
}

/// Refuses what makes no sense, or must not be.
fn refuse(args: &Args, spelled: &Spelled) -> Result<()> {
    if std::env::var_os("CI").is_some_and(|value| !value.is_empty()) {
        let error = Error::usage("--update: CI is set, and a run that records goldens verifies nothing");
        return Err(error.with_hint("record them by hand, look at what changed, and commit it; or unset CI"));
    }
    refuse_voxels(args)?;
    if args.meshes.iter().any(|mesh| mesh.as_os_str() == "-") {
        let error = Error::usage("-: a case names its mesh, and standard input has no name");
        return Err(error.with_hint("save it as a file"));
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

/// Refuses a voxel file, or the name of one, in place of a list.
fn refuse_voxels(args: &Args) -> Result<()> {
    let list = args.goldens.as_path();
    let mesh = args.meshes.first().map_or("part.stl".into(), |mesh| mesh.to_string_lossy());
    let name = list.display();
    if format::sniff(list).is_some() {
        let rule = format::describe(list)?.metadata.record.rule().unwrap_or_default();
        let own = rule.info().rule;
        let named = (own != Rule::default()).then(|| format!("--{}", rule.name()));
        let fields = rule.fields().into_iter().filter(|field| !own.fields().contains(field));
        let same: String =
            named.into_iter().chain(args::words_of(fields)).map(|word| format!(" {word}")).collect();
        let error = Error::usage("is a voxel file, and --update records in a list").in_file(list);
        return Err(error.with_hint(format!("voxelize {mesh} --like {name}{same} -o {name} makes it again")));
    }
    if format::by_path(list).is_some() && !list.exists() {
        let error = Error::usage("is the name of a voxel file, and a list of goldens is TOML").in_file(list);
        return Err(error.with_hint("name it goldens.toml; --golden DIR keeps the cells of cases as files"));
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
            _ => None,
        };
        Self { mesh: case.mesh.clone(), options: case.options.clone(), keep, known: Some(case) }
    }

    fn task(&self, list: &Path) -> Task {
        let folder = paths::folder(list);
        let keep = self.keep.as_ref().map(|file| paths::resolve(folder, file));
        // A file that no case had so far may be there too: it is not lost unsaid.
        let wanted = match (self.known.as_ref().map(|case| &case.golden), &keep) {
            (Some(Golden::Digest { grid, cells }), _) => Wanted::Digest(*grid, *cells),
            (Some(Golden::File(_)), Some(file)) => Wanted::File(file.clone()),
            (_, Some(file)) if file.exists() => Wanted::File(file.clone()),
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
            keep,
            gate: Gate::default(),
            place: (list.display().to_string(), self.known.as_ref().map_or(0, |case| case.line)),
            options_line: self.known.as_ref().map_or(0, |case| case.options_line),
        }
    }

    /// What was recorded beside what the list has.
    fn change(&self, recorded: &Recorded) -> Change {
        let Recorded { report: Report { outcome, golden, .. }, .. } = recorded;
        match (self.known.as_ref().map(|case| &case.golden), outcome, golden) {
            (None | Some(Golden::Unrecorded), Outcome::Same, _) => Change::New,
            (Some(_), Outcome::Same, None) => Change::Again,
            (Some(_), Outcome::Same, Some(_)) => Change::Same,
            _ => Change::Changed,
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
                Case { name: None, mesh, options, golden, gate: Gate::default(), line: 0, options_line: 0 }
            }
        })
    }
}

/// Makes sure that no file is written over by another.
fn check_files(call: &mut Call, list: &Path, tasks: &[Task]) -> Result<()> {
    let mut files = vec![(list, "the list of goldens")];
    files.extend(tasks.iter().map(|task| (task.file.as_path(), "a mesh")));
    for task in tasks {
        let Some(file) = &task.keep else { continue };
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

/// Compares what came out with what was recorded, and keeps its cells where they are to be kept. A file
/// that has them already is left as it is.
fn record(task: &Task, made: &Made, time: Duration) -> Result<Recorded> {
    // A golden file that cannot be read or compared is replaced like one that is not there.
    let (compared, lost) = match judge::compare(task, made, |_, _, _| Ok(())) {
        Ok(compared) => (compared, None),
        Err(error) => ((None, Outcome::Same), Some(error)),
    };
    let (golden, outcome) = compared;
    let has_them = matches!(task.wanted, Wanted::File(_)) && golden.is_some() && outcome == Outcome::Same;
    if let (Some(file), Some(voxels), false) = (&task.keep, &made.voxels, has_them) {
        save(voxels, file)?;
    }
    let (found, lattice) = (Some(Found::of(made)), made.lattice());
    Ok(Recorded { report: Report { found, golden, lattice, outcome, shown: vec![], time }, lost })
}

fn save(voxels: &Voxels, file: &Path) -> Result<()> {
    let format = format::by_path(file).ok_or_else(|| Error::usage("no voxel format").in_file(file))?;
    let sidecar = if format.carries == Carries::InFile { Sidecar::Auto } else { Sidecar::Write };
    format::save(voxels, file, format, &SaveOptions { sidecar, ..SaveOptions::default() }).map(drop)
}
