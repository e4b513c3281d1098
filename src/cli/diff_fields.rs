//! `voxelize diff` of two fields.

use serde_json::{Value, json};
use voxelize::compare::{FieldDifference, Gate, LargestDifference};
use voxelize::grid::Field;
use voxelize::{Error, Result, Voxels};

use super::command::Call;
use super::diff::{ComparedGrid, DiffArgs};
use super::report::display::{cell_box, counted, dims, grouped, number};
use super::report::{Outcome, Report, value};

/// Refuses options and kinds of cells that do not go together.
pub fn check(args: &DiffArgs, [first, second]: [&Voxels; 2], call: &Call) -> Result<()> {
    let names = [&args.first, &args.second].map(|path| path.display().to_string());
    let is_field = [first, second].map(|voxels| voxels.field().is_some());
    let name = |option: &str| call.argv.with_value(option).unwrap_or_default();
    if is_field[0] != is_field[1] {
        let [a, b] = [first, second].map(|voxels| voxels.kind().plural());
        let what = format!("{} holds {a} and {} {b}, which cannot be compared", names[0], names[1]);
        return Err(Error::usage(what).with_hint("compare two fields, or two files of bits or labels"));
    }
    let refused = |option: &str, of: &str| {
        let error = Error::usage(format!("{option} compares {of}"));
        Err(error.with_hint(format!("the files hold {}; leave it out", first.kind().plural())))
    };
    match is_field[0] {
        false if args.tolerance.is_some() => refused(&name("tolerance"), "fields"),
        true if args.iou_min.is_some() => refused(&name("iou-min"), "occupied cells"),
        true if args.output.is_some() => {
            let option = name("output");
            let error = Error::usage(format!("{option}: fields have no cells added or removed to write"));
            Err(error.with_hint("without -o the fields are compared"))
        }
        _ => Ok(()),
    }
}

/// Compares two fields.
pub fn compare(
    args: &DiffArgs,
    [first, second]: [&Field; 2],
    grid: &ComparedGrid,
    report: &mut Report,
) -> Result<Outcome> {
    let tolerance = args.tolerance.unwrap_or(0.0);
    let difference = FieldDifference::between(first, second, tolerance)?;
    let FieldDifference { differing, beyond, largest, bounds } = difference;
    let cells = value::cells(first.dims());
    report.set("counts", json!({"cells": cells, "differing": differing, "beyond": beyond}));
    report.set("largest", largest.map(json_of));
    report.set("box", value::difference_box(bounds, grid.lattice));
    report.set("outputs", json!([]));
    let passes = Gate { allow: args.allow, iou_min: None }.lets_pass(beyond, 1.0);

    for (label, path, field) in [("first", &args.first, first), ("second", &args.second, second)] {
        report.row(label, &format!("{}: field of {} cells", path.display(), dims(field.dims())));
    }
    report.row("grid", &grid.text(args));
    let apart = format!("{} by more than {}", counted(beyond, "cell", "cells"), number(tolerance));
    let verdict = match (differing, beyond) {
        (0, _) => "equal".to_string(),
        (_, 0) => {
            format!("equal within {}; {} differ", number(tolerance), counted(differing, "cell", "cells"))
        }
        _ if passes => format!("different, but within what is allowed: {apart}"),
        _ => format!("different: {apart}, {} in all", grouped(differing)),
    };
    report.row("cells", &verdict);
    if let Some(LargestDifference { cell: [i, j, k], values: [a, b], difference }) = largest {
        let largest = number(difference);
        report.row("largest", &format!("{largest} in cell ({i}, {j}, {k}): {a} and {b}"));
    }
    if let Some(bounds) = bounds {
        report.row("box", &cell_box(bounds, grid.lattice));
    }
    Ok(if passes { Outcome::Done } else { Outcome::CheckFailed(None) })
}

/// Infinity and NaN, which JSON has not, are text.
fn json_of(largest: LargestDifference) -> Value {
    let number = |value: f64| if value.is_finite() { json!(value) } else { json!(value.to_string()) };
    let LargestDifference { cell, values, difference } = largest;
    json!({"cell": cell, "values": values.map(|value| number(value.into())), "difference": number(difference)})
}
