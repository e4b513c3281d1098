//! The contents of the cells of a file, for info and view: labels with their counts, the range of a field.

use serde_json::{Value, json};
use voxelize::grid::{CellsRef, Field, FieldSummary};

use super::report::display::{grouped, number, occupancy};

/// A label of some cells, and how many have it.
pub struct LabelCount {
    value: u8,
    pub name: String,
    colour: Option<[u8; 3]>,
    pub cells: u64,
}

impl LabelCount {
    fn text(&self) -> String {
        format!("{} {}", grouped(self.cells), self.name)
    }

    fn json(&self) -> Value {
        let colour = self.colour.map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"));
        json!({"value": self.value, "name": self.name, "colour": colour, "cells": self.cells})
    }
}

/// The labels of cells; none of bits and fields.
pub fn labels(cells: CellsRef) -> Vec<LabelCount> {
    let CellsRef::Labels(labels) = cells else { return Vec::new() };
    let legend = labels.legend();
    let counted = |(value, cells)| {
        let colour = legend.get(value).and_then(|label| label.colour);
        LabelCount { value, name: legend.name(value).into_owned(), colour, cells }
    };
    labels.counts().into_iter().map(counted).collect()
}

/// `2,295 surface` of each label, without those of no cell if these are more than a few.
pub fn texts(labels: &[LabelCount]) -> Vec<String> {
    const FEW: usize = 4;
    let without = labels.iter().filter(|label| label.cells == 0).count();
    let is_shown = |label: &&LabelCount| label.cells > 0 || without <= FEW;
    labels.iter().filter(is_shown).map(LabelCount::text).collect()
}

/// The kind of cells, with their legend or their values.
pub fn json(cells: CellsRef, labels: &[LabelCount]) -> Value {
    let mut contents = json!({"kind": cells.kind().name()});
    match cells {
        CellsRef::Labels(_) => contents["legend"] = labels.iter().map(LabelCount::json).collect(),
        CellsRef::Field(field) => {
            let FieldSummary { cells, nan, negated, range } = field.summary();
            contents["background"] = value(field.background());
            contents["range"] = range.map_or(Value::Null, |range| json!(range.map(value)));
            contents["valued"] = json!(cells - nan);
            contents["nan"] = json!(nan);
            contents["negated"] = json!(negated);
        }
        _ => {}
    }
    contents
}

/// The sum of all values: of some at a time, and then of these sums, which rounds less.
pub fn sum(field: &Field) -> f64 {
    let of_some = |values: &[f32]| values.iter().map(|value| f64::from(*value)).sum::<f64>();
    field.values().chunks(1 << 12).map(of_some).sum()
}

/// A value of a field; infinity and NaN, which JSON has not, are text.
pub fn value(value: f32) -> Value {
    if value.is_finite() { json!(value) } else { json!(value.to_string()) }
}

/// `-1.5 … 3.25`.
pub fn range(field: &Field) -> String {
    range_text(&field.summary())
}

/// The range of values that were summed up.
pub fn range_text(summary: &FieldSummary) -> String {
    match summary.range {
        Some(range) => range.map(|value| number(value.into())).join(" … "),
        None => "no values but the background".to_string(),
    }
}

/// `1,200 of 8,000 (15.0 %) differ from the background, inf, 3 NaN`.
pub fn valued(field: &Field) -> String {
    valued_text(&field.summary(), field.dims(), field.background())
}

/// The counts of distances: `1,200 of 8,000 (15.0 %) within the band; 70 inside beyond it (-0.3)`.
pub fn distances(summary: &FieldSummary, dims: [usize; 3], background: f32) -> String {
    let FieldSummary { cells, negated, .. } = *summary;
    if background.is_infinite() {
        return format!("every cell has a distance: {}", occupancy(cells, dims));
    }
    let within = occupancy(cells, dims);
    let width = number(background.into());
    let inside = match negated {
        0 => String::new(),
        _ => format!("; {} inside beyond it (-{width})", grouped(negated)),
    };
    format!("{within} within the band{inside}; the others are {width}")
}

/// The count of shares: `1,200 of 8,000 (15.0 %) with a share inside`.
pub fn shares(summary: &FieldSummary, dims: [usize; 3]) -> String {
    format!("{} with a share inside", occupancy(summary.cells, dims))
}

/// The count of areas: `1,200 of 8,000 (15.0 %) with a part of the mesh`.
pub fn areas(summary: &FieldSummary, dims: [usize; 3]) -> String {
    format!("{} with a part of the mesh", occupancy(summary.cells, dims))
}

/// The counts of values that were summed up: `1,200 of 8,000 (15.0 %) differ from the background, 0.3; 70 are -0.3`.
fn valued_text(summary: &FieldSummary, dims: [usize; 3], background: f32) -> String {
    let FieldSummary { cells, nan, negated, .. } = *summary;
    let nans = if nan > 0 { format!(", {} NaN", grouped(nan)) } else { String::new() };
    let valued = occupancy(cells - nan, dims);
    let width = number(background.into());
    let are = if negated == 1 { "is" } else { "are" };
    let inner = match negated {
        0 => String::new(),
        _ => format!("; {} {are} -{width}", grouped(negated)),
    };
    format!("{valued} differ from the background, {width}{nans}{inner}")
}
