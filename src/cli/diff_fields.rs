//! Comparison of two fields by `voxelize diff`.

use std::path::Path;

use voxelize::compare::{FieldDifference, Gate, LargestDifference};
use voxelize::grid::Field;
use voxelize::{Error, Lattice, Result, Voxels};

use super::command::Call;
use super::report::ReportRows;
use super::report::display::{cell_box, counted, dims, grouped, number};

/// Refuses to compare a field with other cells, and refuses options that do not apply to the kind of cells.
pub fn check([a, b]: [&Path; 2], [first, second]: [&Voxels; 2], call: &Call) -> Result<()> {
    let is_field = [first, second].map(|voxels| voxels.field().is_some());
    let name = |option: &str| call.argv.with_value(option).unwrap_or_default();
    if is_field[0] != is_field[1] {
        let [one, other] = [first, second].map(|voxels| match voxels.field() {
            Some(_) => "a field",
            None => voxels.kind().name(),
        });
        let a = a.display();
        let b = b.display();
        let what = format!("{a} contains {one} and {b} contains {other}: they cannot be compared");
        return Err(
            Error::usage(what).with_hint("compare two fields, or two files of bits or labels")
        );
    }
    let refused = |option: &str, of: &str| {
        let error = Error::usage(format!("{option} compares {of}"));
        Err(error.with_hint(format!(
            "the files contain {}; omit the option",
            first.kind().plural()
        )))
    };
    match is_field[0] {
        false if call.given("tolerance") => refused(&name("tolerance"), "fields"),
        true if call.given("iou_min") => refused(&name("iou-min"), "occupied cells"),
        true if call.given("output") => {
            let option = name("output");
            let error = Error::usage(format!(
                "{option}: for fields there are no added or removed cells to write"
            ));
            Err(error.with_hint("without -o the fields are compared"))
        }
        _ => Ok(()),
    }
}

/// Options of a comparison of fields.
pub struct FieldOptions<'a> {
    pub paths: [&'a Path; 2],
    pub tolerance: Option<f64>,
    pub gate: Gate,
    /// Text of the row about the grid.
    pub grid: String,
    pub lattice: Option<&'a Lattice>,
}

/// Compares two fields and adds the rows about them. Returns the difference, and `true` if the options allow
/// it.
pub fn compare(
    [first, second]: [&Field; 2],
    options: &FieldOptions,
    rows: &mut ReportRows,
) -> Result<(FieldDifference, bool)> {
    let difference = FieldDifference::between(first, second, options.tolerance)?;
    let FieldDifference {
        signs_of_zero,
        beyond,
        largest,
        bounds,
        ..
    } = difference;
    let passes = options.gate.lets_pass(beyond, 1.0);
    let [a, b] = options.paths;
    for (label, path, field) in [("first", a, first), ("second", b, second)] {
        rows.row(
            label,
            format!("{}: field of {} cells", path.display(), dims(field.dims())),
        );
    }
    rows.row("grid", &options.grid);
    rows.row("cells", verdict(&difference, options.tolerance, passes));
    if signs_of_zero > 0 {
        let cells = counted(signs_of_zero, "cell is", "cells are");
        rows.row("", format!("{cells} -0 in one field and +0 in the other"));
    }
    if let Some(LargestDifference {
        cell: [i, j, k],
        values: [a, b],
        difference,
    }) = largest
    {
        let largest = number(difference);
        rows.row(
            "largest",
            format!("{largest} in cell ({i}, {j}, {k}): {a} and {b}"),
        );
    }
    if let Some(bounds) = bounds {
        rows.row("box", cell_box(bounds, options.lattice));
    }
    Ok((difference, passes))
}

/// Returns `different: 3 cells by more than 0.5, 19 in all`.
fn verdict(difference: &FieldDifference, tolerance: Option<f64>, passes: bool) -> String {
    let FieldDifference {
        differing, beyond, ..
    } = *difference;
    let mut apart = counted(beyond, "cell", "cells");
    let mut within = String::new();
    if let Some(tolerance) = tolerance.map(number) {
        apart += &format!(" by more than {tolerance}");
        within = format!(" within {tolerance}");
    }
    match (differing, beyond) {
        (0, _) => "equal".to_string(),
        (_, 0) => format!(
            "equal{within}; {} differ",
            counted(differing, "cell", "cells")
        ),
        _ if passes => format!("different, but within the limits: {apart}"),
        (all, some) if all > some => format!("different: {apart}, {} in all", grouped(all)),
        _ => format!("different: {apart}"),
    }
}
