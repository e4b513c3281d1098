//! The verdict on a case: the result compared with the golden, and pictures of the differences.

use std::path::PathBuf;
use std::time::Duration;

use voxelize::compare::{CaseResult, Difference, diff};
use voxelize::format::SaveOptions;
use voxelize::grid::InMemory;
use voxelize::tool::outcome::{against_grid, other_grid};
use voxelize::view::{self, From, View};
use voxelize::{Code, Error, Lattice, Rational, Result, Voxels, format};

use super::super::files;
use super::super::guard::guarded;
use super::super::report::fitting;
use super::report::{CaseReport, GridBrief};
use super::task::{CaseCells, Pictures, Task, Wanted};

/// Whether differences are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    Pictures,
    Nothing,
}

/// The outcome of a task.
pub fn judge(task: &Task, made: Result<CaseCells>, time: Duration, shows: Shows) -> CaseReport {
    let mut report = CaseReport {
        found: None,
        golden: None,
        lattice: None,
        outcome: CaseResult::Same,
        shown: vec![],
        not_shown: None,
        findings: vec![],
        time,
    };
    let compared = guarded(|| {
        let mut made = made?;
        report.findings = std::mem::take(&mut made.findings);
        let mut shown = vec![];
        let (golden, outcome) = compare(task, &made, |golden, now, difference| {
            if let Some(pictures) = &task.pictures {
                shown = draw(pictures, [golden, now], difference)?;
            }
            Ok(())
        })?;
        (report.found, report.lattice, report.golden) = (Some(GridBrief::of(&made)), made.lattice(), golden);
        report.shown = shown;
        report.not_shown = if shows == Shows::Pictures { not_shown(&outcome) } else { None };
        Ok(outcome)
    });
    report.outcome = compared.unwrap_or_else(|error| CaseResult::Failed(fitting(error, super::arguments)));
    report
}

/// Why there is no picture of the differences.
fn not_shown(outcome: &CaseResult) -> Option<&'static str> {
    match outcome {
        CaseResult::Grid(_) => Some(
            "no picture: the grid changed; record with --like, or --bounds of a larger box, so that the grid stays put",
        ),
        CaseResult::Digest => Some("no picture: the golden is a digest, which has no cells"),
        _ => None,
    }
}

/// The expected result, and how the actual one differs from it. Grids whose cells differ by more than
/// the gate allows are shown to `show`.
pub fn compare(
    task: &Task,
    made: &CaseCells,
    show: impl FnOnce(&Voxels, &Voxels, &Difference) -> Result<()>,
) -> Result<(Option<GridBrief>, CaseResult)> {
    match (&task.wanted, &made.voxels) {
        (Wanted::File(file), Some(voxels)) => {
            // A look at its headers first: it may be a grid of any size.
            let path = file.path();
            files::is_there(path).map_err(|error| missing(task, error))?;
            let recorded = format::describe(path)?.metadata;
            let other = other_grid(recorded.lattice.as_ref(), &recorded.record, voxels)
                .map_err(|e| e.in_file(path))?;
            if !other.is_empty() {
                return Ok((None, CaseResult::Grid(other)));
            }
            let golden = files::open_voxels(file, &task.file, made.room)?;
            let found = GridBrief { cells: golden.count(), grid: golden.digest().grid };
            let outcome = against_grid(&golden, voxels, task.gate).map_err(|e| e.in_file(path))?;
            if let CaseResult::Cells(difference) = &outcome {
                show(&golden, voxels, difference)?;
            }
            Ok((Some(found), outcome))
        }
        (Wanted::Digest(grid, cells), _) => {
            let golden = GridBrief { grid: Some(*grid), cells: *cells };
            let same = golden == GridBrief::of(made);
            Ok((Some(golden), if same { CaseResult::Same } else { CaseResult::Digest }))
        }
        _ => Ok((None, CaseResult::Same)),
    }
}

/// The error for a missing golden file: similar names belong to other cases.
fn missing(task: &Task, error: Error) -> Error {
    if error.code() != Code::NotFound {
        return error;
    }
    error.with_hint(format!(
        "'voxelize verify --update {}' creates it; or correct its name there",
        task.place.0
    ))
}

/// Writes the files that show how a case differs, and gives their names.
fn draw(
    Pictures { vox, png }: &Pictures,
    [golden, now]: [&Voxels; 2],
    difference: &Difference,
) -> Result<Vec<PathBuf>> {
    let old = golden.occupied()?;
    let new = now.occupied()?;
    let lattice = now.lattice.as_ref();
    let spacing = lattice.map_or([1.0; 3], |lattice| lattice.spacing().each_ref().map(Rational::to_f64));
    let from = lattice.zip(difference.bounds).map_or(View::default().from, |(l, bounds)| side(l, bounds));
    view::cells(&diff::labels(old, new)?, spacing, &View { from, ..View::default() })?.save_in(png)?;
    if let Some(format) = format::by_name("vox") {
        let changes = diff::saved(diff::changes(old, new)?, lattice);
        vox.save_source(&mut InMemory::new(&changes), format, &SaveOptions::default())?;
    }
    Ok([vox, png].map(|file| file.path().to_path_buf()).to_vec())
}

/// The corner of the grid from which a box of cells is seen best: the one on its side.
fn side(lattice: &Lattice, [low, high]: [[usize; 3]; 2]) -> From {
    let beyond = |axis: usize| low[axis] + high[axis] + 1 >= lattice.dims()[axis];
    // The viewer goes around from the front, which is at low y.
    let azimuth = match (beyond(0), beyond(1)) {
        (true, false) => 45.0,
        (true, true) => 135.0,
        (false, true) => 225.0,
        (false, false) => 315.0,
    };
    let From { elevation, .. } = View::default().from;
    From::new(azimuth, if beyond(2) { elevation } else { -elevation })
}
