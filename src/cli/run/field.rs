//! The values of a field in summaries and JSON.

use serde_json::{Value, json};
use voxelize::grid::{FieldSummary, Hash, Quantity};
use voxelize::{Lattice, Rule};

use super::super::contents;
use super::report::RunReport;

/// `1,200 of 8,000 (15.0 %) within the band; the others are 0.3`.
pub fn cells(rule: &Rule, summary: &FieldSummary, lattice: &Lattice) -> String {
    match rule {
        Rule::Fraction { .. } => contents::shares(summary, lattice.dims()),
        Rule::Area => contents::areas(summary, lattice.dims()),
        _ => contents::distances(summary, lattice.dims(), rule.background(lattice).unwrap_or_default()),
    }
}

/// `-0.28 … 0.3`.
pub fn range(summary: &FieldSummary) -> String {
    contents::range_text(summary)
}

/// The entry `field` of the JSON; null if the rule makes bits.
pub fn json(rule: &Rule, found: &RunReport, lattice: &Lattice) -> Value {
    let summary = found.field.as_ref();
    let Some(background) = rule.background(lattice) else { return Value::Null };
    let range = summary.and_then(|summary| summary.range).map(|range| range.map(contents::value));
    let valued = summary.map(|summary| summary.cells);
    let negated = summary.map(|summary| summary.negated);
    let array = |(quantity, digest): &(Quantity, Hash)| json!({"name": quantity.name(), "components": quantity.numbers(), "digest": digest.to_string()});
    let arrays: Vec<_> = found.arrays.iter().map(array).collect();
    let background = contents::value(background);
    json!({"background": background, "range": range, "valued": valued, "negated": negated, "arrays": arrays})
}
