//! Comparison of a result with its golden, and pictures of the differences.

use std::path::PathBuf;
use std::time::Duration;

use voxelize::compare::{CaseResult, Difference, diff};
use voxelize::format::SaveOptions;
use voxelize::grid::InMemory;
use voxelize::tool::outcome::{against_grid, other_grid};
use voxelize::view::{self, From, View};
use voxelize::{Code, Error, Lattice, Rational, Result, Voxels, format};

use super::report::{CaseReport, GridBrief};
use super::task::{CaseCells, Task, Wanted};
use crate::cli::files;
use crate::cli::guard::guarded;
use crate::cli::names::{InputFile, OutputFile};
use crate::cli::report::fitting;

/// Compares the grid of a task with the expected result. If pictures are requested, draws the differences.
///
/// `room` limits the memory, in bytes, for the cells of a golden file if the case has no result.
pub fn judge(
    task: &Task,
    made: &Result<CaseCells>,
    time: Duration,
    room: Option<u64>,
) -> CaseReport {
    let mut report = CaseReport::new(time);
    if let Wanted::Digest(grid, cells) = &task.wanted {
        report.golden = Some(GridBrief::of_digest(*grid, *cells));
    }
    let compared = guarded(|| {
        let made = made.as_ref().map_err(Error::clone)?;
        report.findings.clone_from(&made.findings);
        let outcome = match &task.wanted {
            Wanted::Digest(grid, cells) => {
                if (Some(*grid), *cells) == (made.digest.grid, made.cells) {
                    report.golden = Some(GridBrief::of(made));
                    CaseResult::Same
                } else {
                    CaseResult::Digest
                }
            }
            Wanted::File(file) => against_file(task, file, made, &mut report)?,
            Wanted::Nothing => CaseResult::Same,
        };
        report.take(made);
        Ok(outcome)
    });
    report.outcome =
        compared.unwrap_or_else(|error| CaseResult::Failed(fitting(error, super::arguments)));
    if let (Wanted::File(file), None, Err(_)) = (&task.wanted, report.golden, made) {
        report.golden = golden_of(file, room);
    }
    report
}

/// Returns the description of a golden file. `None` if its cells cannot be read within `room` bytes.
fn golden_of(file: &InputFile, room: Option<u64>) -> Option<GridBrief> {
    let golden = files::open_within(file, room).ok()?;
    Some(GridBrief::of_file(&golden))
}

/// Compares a grid with the grid in a golden file.
fn against_file(
    task: &Task,
    file: &InputFile,
    made: &CaseCells,
    report: &mut CaseReport,
) -> Result<CaseResult> {
    let Some(now) = &made.voxels else {
        return Ok(CaseResult::Same);
    };
    // The grid in the file may be too large to read, so its header is compared first.
    let path = file.path();
    files::is_there(path).map_err(|error| missing(task, error))?;
    let recorded = format::describe(path)?.metadata;
    let other = other_grid(recorded.lattice.as_ref(), &recorded.record, now)
        .map_err(|e| e.in_file(path))?;
    if !other.is_empty() {
        report.golden = golden_of(file, made.room);
        return Ok(CaseResult::Grid(other));
    }
    let golden = files::open_voxels(file, &task.mesh, made.room)?;
    let outcome = against_grid(&golden, now, task.gate).map_err(|e| e.in_file(path))?;
    if let (Some(pictures), CaseResult::Cells(difference)) = (&task.pictures, &outcome) {
        report.shown = draw(pictures, [&golden, now], difference)?;
    }
    report.golden = Some(GridBrief::of_file(&golden));
    Ok(outcome)
}

/// Adds a hint to the error for a missing golden file. The hint suggests no similar names, because they
/// belong to other cases.
fn missing(task: &Task, error: Error) -> Error {
    if error.code() != Code::NotFound {
        return error;
    }
    error.with_hint(format!(
        "'voxelize verify --update {}' creates it; or correct the name in the list",
        task.list.display()
    ))
}

/// Writes the files that show the differences of a case, and returns their paths.
fn draw(
    [vox, png]: &[OutputFile; 2],
    [golden, now]: [&Voxels; 2],
    difference: &Difference,
) -> Result<Vec<PathBuf>> {
    let old = golden.occupied()?;
    let new = now.occupied()?;
    let lattice = now.lattice.as_ref();
    let spacing = lattice.map_or([1.0; 3], |lattice| {
        lattice.spacing().each_ref().map(Rational::to_f64)
    });
    let from = match (lattice, difference.bounds) {
        (Some(lattice), Some(bounds)) => side(lattice, bounds),
        _ => View::default().from,
    };
    let picture = view::cells(
        &diff::labels(old, new)?,
        spacing,
        &View {
            from,
            ..View::default()
        },
    )?;
    png.save_bytes("png", &picture.to_png()?)?;
    if let Some(format) = format::by_name("vox") {
        let changes = diff::saved(diff::changes(old, new)?, lattice);
        vox.save_source(
            &mut InMemory::new(&changes),
            format,
            &SaveOptions::default(),
        )?;
    }
    Ok(vec![vox.path().to_path_buf(), png.path().to_path_buf()])
}

/// Returns the viewpoint at the corner of the grid that is nearest to a box of cells.
fn side(lattice: &Lattice, [low, high]: [[usize; 3]; 2]) -> From {
    let [x, y, z] = [0, 1, 2].map(|axis| low[axis] + high[axis] + 1 >= lattice.dims()[axis]);
    // Azimuth 0 is the front, where y is lowest.
    let azimuth = match (x, y) {
        (true, false) => 45.0,
        (true, true) => 135.0,
        (false, true) => 225.0,
        (false, false) => 315.0,
    };
    let From { elevation, .. } = View::default().from;
    From::new(azimuth, if z { elevation } else { -elevation })
}
