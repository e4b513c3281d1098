//! Comparison of a result with its golden, and pictures of the differences.

use std::path::PathBuf;

use voxelize::compare::{BoxSize, CaseResult, Difference, confused_factor, diff};
use voxelize::format::SaveOptions;
use voxelize::grid::InMemory;
use voxelize::tool::outcome::{against_grid, other_grid};
use voxelize::view::{self, From, View};
use voxelize::{BitGrid, Code, Error, Lattice, Rational, Result, Voxels, format};

use super::frame::CommonFrame;
use super::report::{CaseReport, GridBrief};
use super::squares::Squares;
use super::task::{CaseCells, MadeCase, Task, Wanted};
use crate::cli::compared;
use crate::cli::files;
use crate::cli::guard::guarded;
use crate::cli::names::{InputFile, OutputFile};
use crate::cli::report::fitting;

/// Compares the grid of a task with the expected result. If pictures are requested, draws the differences.
///
/// `room` limits the memory, in bytes, for the cells of a golden file if the case has no result.
pub fn judge(task: &Task, made: &MadeCase, room: Option<u64>) -> CaseReport {
    let mut report = CaseReport::new(made.time);
    if let Wanted::Digest(grid, cells) = &task.wanted {
        report.golden = Some(GridBrief::of_digest(*grid, *cells));
    }
    let compared = guarded(|| {
        let made = made.cells.as_ref().map_err(Error::clone)?;
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
    if let (Wanted::File(file), None) = (&task.wanted, report.golden) {
        report.golden = golden_of(file, room);
    }
    if !report.outcome.passes() {
        report.size_factor = size_factor(report.golden, made.size);
    }
    report
}

/// Returns the factor between the sizes of a golden and a mesh, if units may have been confused.
fn size_factor(golden: Option<GridBrief>, mesh: Option<BoxSize>) -> Option<f64> {
    let golden = golden?.size?;
    // The cells may extend beyond the mesh by a cell at both ends.
    let golden = BoxSize {
        tolerance: 2.0 * golden.tolerance,
        ..golden
    };
    confused_factor(&golden, &mesh?)
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
        if let Ok(golden) = files::open_within(file, made.room) {
            report.golden = Some(GridBrief::of_file(&golden));
            compare_grids(task, &golden, now, made.room, report)?;
        }
        return Ok(CaseResult::Grid(other));
    }
    let golden = compared::open_voxels(file, &task.mesh, made.room)?;
    let outcome = against_grid(&golden, now, task.gate).map_err(|e| e.in_file(path))?;
    if let CaseResult::Cells(difference) = &outcome {
        let cells = [golden.occupied()?, now.occupied()?];
        show(task, cells, now.lattice.as_ref(), difference, report)?;
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

/// Compares the cells of two different grids by their positions, and draws them. If their cells are not aligned, the
/// picture shows one grid next to the other.
fn compare_grids(
    task: &Task,
    golden: &Voxels,
    now: &Voxels,
    room: Option<u64>,
    report: &mut CaseReport,
) -> Result<()> {
    if golden.field().is_some() || now.field().is_some() {
        report.about_picture = Some("no picture: the grid changed, and the cells are a field");
        return Ok(());
    }
    let Some(frame) = CommonFrame::of(golden, now, room)? else {
        let Some([_, png]) = &task.pictures else {
            return Ok(());
        };
        report.about_picture = Some(
            "the picture has the grids side by side, because their cells are not aligned; \
             record with --like, or with --bounds for a larger box, to keep the grid",
        );
        return draw_beside(png, golden, now, report);
    };
    let difference = Difference::between(&frame.first, &frame.second)?;
    if difference.is_none() {
        report.about_picture = Some("no picture: no cell was added or removed");
    } else {
        let cells = [&frame.first, &frame.second];
        show(task, cells, Some(&frame.lattice), &difference, report)?;
    }
    report.by_position = Some(difference);
    report.frame = Some(frame.lattice);
    Ok(())
}

/// Draws the golden on the left and the result on the right, each as large as its half.
fn draw_beside(
    png: &OutputFile,
    golden: &Voxels,
    now: &Voxels,
    report: &mut CaseReport,
) -> Result<()> {
    let mut halves = vec![];
    for (name, voxels) in [("golden", golden), ("now", now)] {
        let cells = voxels.occupied()?;
        if cells.count() == 0 {
            report.about_picture = Some("no picture: the grid changed, and one grid has no cells");
            return Ok(());
        }
        let [width, height] = View::default().size;
        let view = View {
            size: [width / 2, height],
            ..View::default()
        };
        let spacing = sides(voxels.lattice.as_ref());
        let dims = cells.dims().map(|n| n.to_string()).join(" x ");
        let unit = voxels.record.transform("unit").unwrap_or_default();
        let picture = view::cells(cells, spacing, &view)?;
        let text = format!("{name}: {dims} cells");
        halves.push(picture.with_caption(&text, unit, view.background));
    }
    png.save_bytes("png", &halves[0].beside(&halves[1]).to_png()?)?;
    report.shown = vec![png.path().to_path_buf()];
    Ok(())
}

/// Returns the side lengths of a cell.
fn sides(lattice: Option<&Lattice>) -> [f64; 3] {
    lattice.map_or([1.0; 3], |lattice| {
        lattice.spacing().each_ref().map(Rational::to_f64)
    })
}

/// Draws the cells that differ, in the files and the squares that are requested.
fn show(
    task: &Task,
    [golden, now]: [&BitGrid; 2],
    lattice: Option<&Lattice>,
    difference: &Difference,
    report: &mut CaseReport,
) -> Result<()> {
    if task.has_squares {
        report.squares = Squares::of(golden, now);
    }
    if let Some(pictures) = &task.pictures {
        report.shown = draw(pictures, [golden, now], lattice, difference)?;
    }
    Ok(())
}

/// Writes the files that show the differences of a case, and returns their paths.
fn draw(
    [vox, png]: &[OutputFile; 2],
    [old, new]: [&BitGrid; 2],
    lattice: Option<&Lattice>,
    difference: &Difference,
) -> Result<Vec<PathBuf>> {
    let spacing = sides(lattice);
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
