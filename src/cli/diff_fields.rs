//! `voxelize diff` of two fields.

use std::path::Path;

use serde_json::{Value, json};
use voxelize::compare::{FieldDifference, Gate, LargestDifference};
use voxelize::grid::Field;
use voxelize::{Error, Lattice, Result, Voxels};

use super::command::Call;
use super::report::display::{cell_box, counted, dims, grouped, number};
use super::report::{Outcome, Report, value};

/// Refuses options and kinds of cells that do not go together.
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
        let what = format!("{a} holds {one} and {b} holds {other}: they cannot be compared");
        return Err(Error::usage(what).with_hint("compare two fields, or two files of bits or labels"));
    }
    let refused = |option: &str, of: &str| {
        let error = Error::usage(format!("{option} compares {of}"));
        Err(error.with_hint(format!("the files hold {}; leave it out", first.kind().plural())))
    };
    match is_field[0] {
        false if call.given("tolerance") => refused(&name("tolerance"), "fields"),
        true if call.given("iou_min") => refused(&name("iou-min"), "occupied cells"),
        true if call.given("output") => {
            let option = name("output");
            let error = Error::usage(format!("{option}: fields have no cells added or removed to write"));
            Err(error.with_hint("without -o the fields are compared"))
        }
        _ => Ok(()),
    }
}

/// How fields are compared, and where their cells are.
pub struct FieldOptions<'a> {
    pub paths: [&'a Path; 2],
    pub tolerance: Option<f64>,
    pub gate: Gate,
    /// The row about the grid.
    pub grid: String,
    pub lattice: Option<&'a Lattice>,
}

/// Compares two fields.
pub fn compare([first, second]: [&Field; 2], options: &FieldOptions, report: &mut Report) -> Result<Outcome> {
    let difference = FieldDifference::between(first, second, options.tolerance)?;
    let FieldDifference { differing, signs_of_zero, beyond, largest, bounds } = difference;
    let cells = value::cells(first.dims());
    let counts = json!({
        "cells": cells,
        "differing": differing,
        "signs_of_zero": signs_of_zero,
        "beyond": beyond,
    });
    report.set("counts", counts);
    report.set("largest", largest.map(json_of));
    report.set("box", value::difference_box(bounds, options.lattice));
    report.set("outputs", json!([]));
    let passes = options.gate.lets_pass(beyond, 1.0);

    let [a, b] = options.paths;
    for (label, path, field) in [("first", a, first), ("second", b, second)] {
        report.row(label, &format!("{}: field of {} cells", path.display(), dims(field.dims())));
    }
    report.row("grid", &options.grid);
    report.row("cells", &verdict(&difference, options.tolerance, passes));
    if signs_of_zero > 0 {
        let cells = counted(signs_of_zero, "cell is", "cells are");
        report.row("", &format!("{cells} -0 in one field and +0 in the other"));
    }
    if let Some(LargestDifference { cell: [i, j, k], values: [a, b], difference }) = largest {
        let largest = number(difference);
        report.row("largest", &format!("{largest} in cell ({i}, {j}, {k}): {a} and {b}"));
    }
    if let Some(bounds) = bounds {
        report.row("box", &cell_box(bounds, options.lattice));
    }
    Ok(if passes { Outcome::Done } else { Outcome::CheckFailed(None) })
}

/// `different: 3 cells by more than 0.5, 19 in all`.
fn verdict(difference: &FieldDifference, tolerance: Option<f64>, passes: bool) -> String {
    let FieldDifference { differing, beyond, .. } = *difference;
    let cells = counted(beyond, "cell", "cells");
    let (apart, within) = match tolerance.map(number) {
        Some(tolerance) => (format!("{cells} by more than {tolerance}"), format!(" within {tolerance}")),
        None => (cells, String::new()),
    };
    match (differing, beyond) {
        (0, _) => "equal".to_string(),
        (_, 0) => format!("equal{within}; {} differ", counted(differing, "cell", "cells")),
        _ if passes => format!("different, but within what is allowed: {apart}"),
        (all, some) if all > some => format!("different: {apart}, {} in all", grouped(all)),
        _ => format!("different: {apart}"),
    }
}

/// Infinity and NaN, which JSON has not, are text.
fn json_of(largest: LargestDifference) -> Value {
    let number = |value: f64| if value.is_finite() { json!(value) } else { json!(value.to_string()) };
    let LargestDifference { cell, values, difference } = largest;
    json!({"cell": cell, "values": values.map(|value| number(value.into())), "difference": number(difference)})
}
