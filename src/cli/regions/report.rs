//! The parts of reports that the commands of regions have in common.

use serde_json::{Value, json};
use voxelize::Finding;
use voxelize::grid::FieldSummary;
use voxelize::grid::record::FIELDS;
use voxelize::job::regions::RegionStore;

use super::super::command::Call;
use super::super::contents;
use super::super::report::{Report, finding_line, value};
use super::super::run::option_text;

/// Sets the keys about the plan of a store, for which so many regions were requested.
pub fn set_plan(report: &mut Report, store: &RegionStore, requested: Option<usize>) {
    let plan = &store.plan.store;
    let record = &plan.grid.record;
    FIELDS.iter().for_each(|name| report.set(name, record.field(name)));
    report.set("rule", record.rule_name.clone());
    report.set("made_by", record.tool.clone());
    report.set("snap", record.snap.clone());
    let transform = record.transform.iter().map(|(name, value)| (name.to_string(), json!(value)));
    report.set("transform", Value::Object(transform.collect()));
    report.set("grid", plan.grid.lattice.as_ref().map(value::lattice));
    let mut regions = json!({
        "count": plan.regions(),
        "layers": plan.region_layers,
        "shard_layers": plan.shard_layers,
    });
    if let Some(requested) = requested {
        regions["requested"] = json!(requested);
    }
    report.set("regions", regions);
}

/// `filled; ties: none; inside: nonzero`.
pub fn rule_text(record: &voxelize::Record) -> String {
    let fields =
        record.fields.iter().map(|(name, value)| option_text(name, value, None, record.transform("unit")));
    record.rule_name.clone().into_iter().chain(fields).collect::<Vec<_>>().join("; ")
}

/// The rows and the keys of a field.
pub fn field_rows(report: &mut Report, store: &RegionStore, field: &FieldSummary) {
    let plan = &store.plan.store;
    let background = plan.grid.background.unwrap_or_default();
    let range = field.range.map(|range| range.map(contents::value));
    report.set(
        "field",
        json!({
            "background": contents::value(background),
            "range": range,
            "valued": field.cells,
            "negated": field.negated,
        }),
    );
    report.set("counts", json!({"cells": value::cells(plan.dims()), "occupied": null}));
    report.row("field", &contents::range_text(field));
}

/// Sets the warnings, and prints them behind the rows.
pub fn add_findings(report: &mut Report, call: &Call, findings: &[Finding]) {
    report.set("warnings", findings.iter().map(value::finding).collect::<Value>());
    let printed = findings.iter().filter(|finding| call.printer.options.verbosity.prints(finding));
    let lines: String = printed.map(|finding| finding_line("", finding)).collect();
    report.err += &lines;
}
