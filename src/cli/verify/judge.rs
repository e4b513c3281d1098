//! The verdict on a case: what came out beside what should.

use std::path::Path;
use std::time::Duration;

use voxelize::compare::outcome::{against_grid, other_grid};
use voxelize::compare::{Difference, Outcome};
use voxelize::{Error, Result, Voxels, format};

use super::super::{errors, files};
use super::pictures;
use super::report::{Found, Report};
use super::work::{Made, Task, Wanted};

/// What came of a task.
pub fn judge(task: &Task, made: Result<Made>, time: Duration, pictures: Option<&Path>) -> Report {
    let mut report =
        Report { found: None, golden: None, lattice: None, outcome: Outcome::Same, shown: vec![], time };
    let compared = made.and_then(|made| {
        let mut shown = vec![];
        let (golden, outcome) = compare(task, &made, |golden, now, difference| {
            if let Some(folder) = pictures {
                shown = pictures::write(folder, &task.stem, [golden, now], difference)?;
            }
            Ok(())
        })?;
        (report.found, report.lattice, report.golden) = (Some(Found::of(&made)), made.lattice(), golden);
        report.shown = shown;
        Ok(outcome)
    });
    report.outcome = compared.unwrap_or_else(Outcome::Failed);
    report
}

/// What should have come out, and how that differs from what did. Grids whose cells differ by more than
/// the gate allows are shown to `show`.
pub fn compare(
    task: &Task,
    made: &Made,
    show: impl FnOnce(&Voxels, &Voxels, &Difference) -> Result<()>,
) -> Result<(Option<Found>, Outcome)> {
    match (&task.wanted, &made.voxels) {
        (Wanted::File(file), Some(voxels)) => {
            // A look at its headers first: it may be a grid of any size.
            files::is_there(file).map_err(|error| missing(task, error))?;
            let said = format::describe(file)?.metadata;
            let other =
                other_grid(said.lattice.as_ref(), &said.record, voxels).map_err(|e| e.in_file(file))?;
            if !other.is_empty() {
                return Ok((None, Outcome::Grid(other)));
            }
            let golden = files::open_voxels(file, &task.file)?;
            let found = Found { cells: golden.count(), grid: golden.digest().grid };
            let outcome = against_grid(&golden, voxels, task.gate).map_err(|e| e.in_file(file))?;
            if let Outcome::Cells(difference) = &outcome {
                show(&golden, voxels, difference)?;
            }
            Ok((Some(found), outcome))
        }
        (Wanted::Digest(grid, cells), _) => {
            let golden = Found { grid: Some(*grid), cells: *cells };
            let same = golden == Found::of(made);
            Ok((Some(golden), if same { Outcome::Same } else { Outcome::Digest }))
        }
        _ => Ok((None, Outcome::Same)),
    }
}

/// The error for a golden file that is not there: names like it are those of other cases.
fn missing(task: &Task, error: Error) -> Error {
    if error.code() != "not-found" {
        return error;
    }
    error.with_hint(format!("'voxelize verify --update {}' makes it; or mend its name there", task.place.0))
}

/// The exit code of an outcome, and what to say of an error.
pub fn code(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Failed(error) => errors::exit_code(error, None),
        other if other.passes() => errors::OK,
        _ => errors::NO,
    }
}
