//! Contents of a grid's cells: labels with the number of their cells, or the values of a field.

use serde::Serialize;
use voxelize::grid::{CellsRef, Field, FieldSummary};
use voxelize::{Lattice, Rule};

use super::report::display::{grouped, number, occupancy};
use super::report::value::FieldValues;

/// Kind of the cells, with their legend or their range of values.
#[derive(Serialize)]
pub struct Contents {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legend: Option<Vec<LegendEntry>>,
    #[serde(flatten)]
    field: Option<FieldValues>,
}

/// Label with the number of cells that have it.
#[derive(Serialize)]
pub struct LegendEntry {
    value: u8,
    pub name: String,
    colour: Option<String>,
    pub cells: u64,
}

impl Contents {
    pub fn new(cells: CellsRef) -> Self {
        let legend = matches!(cells, CellsRef::Labels(_)).then(|| labels(cells));
        let mut contents = Self {
            kind: cells.kind().name(),
            legend,
            field: None,
        };
        if let CellsRef::Field(field) = cells {
            let summary = field.summary();
            let values = contents
                .field
                .insert(FieldValues::new(field.background(), Some(&summary)));
            values.valued = Some(summary.cells - summary.nan);
            values.nan = Some(summary.nan);
        }
        contents
    }
}

/// Returns the labels of the cells. The list is empty for bits and fields.
pub fn labels(cells: CellsRef) -> Vec<LegendEntry> {
    let CellsRef::Labels(labels) = cells else {
        return Vec::new();
    };
    let legend = labels.legend();
    let mut entries = vec![];
    for (value, cells) in labels.counts() {
        let colour = legend.get(value).and_then(|label| label.colour);
        let colour = colour.map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"));
        entries.push(LegendEntry {
            value,
            name: legend.name(value).into_owned(),
            colour,
            cells,
        });
    }
    entries
}

/// Returns `2,295 surface` for each label. If more than `FEW` labels have no cells, these labels are left
/// out.
pub fn texts(labels: &[LegendEntry]) -> Vec<String> {
    const FEW: usize = 4;
    let shows_unused = labels.iter().filter(|label| label.cells == 0).count() <= FEW;
    let shown = labels
        .iter()
        .filter(|label| label.cells > 0 || shows_unused);
    shown
        .map(|label| format!("{} {}", grouped(label.cells), label.name))
        .collect()
}

/// Returns the sum of all values. Adding up chunks first makes the rounding error smaller.
pub fn sum(field: &Field) -> f64 {
    let chunks = field.values().chunks(1 << 12);
    chunks
        .map(|values| values.iter().map(|value| f64::from(*value)).sum::<f64>())
        .sum()
}

/// Returns the range of the values as text: `-1.5 … 3.25`.
pub fn range(summary: &FieldSummary) -> String {
    match summary.range {
        Some(range) => range.map(|value| number(value.into())).join(" … "),
        None => "no values but the background".to_string(),
    }
}

/// Returns the number of cells to which the rule gave a value: `1,200 of 8,000 (15.0 %) within the band; the
/// others have the value 0.3`.
pub fn made_values(rule: &Rule, summary: &FieldSummary, lattice: &Lattice) -> String {
    let cells = occupancy(summary.cells, lattice.dims());
    let background = rule.background(lattice).unwrap_or_default();
    match rule {
        Rule::Fraction { .. } => format!("{cells} with a share inside"),
        Rule::Area => format!("{cells} with a part of the mesh"),
        _ if background.is_infinite() => format!("every cell has a distance: {cells}"),
        _ => {
            let width = number(background.into());
            let inside = match summary.negated {
                0 => String::new(),
                negated => format!("; {} inside beyond it (-{width})", grouped(negated)),
            };
            format!("{cells} within the band{inside}; the others have the value {width}")
        }
    }
}

/// Returns the numbers of different values in a file: `1,200 of 8,000 (15.0 %) differ from the background,
/// 0.3, 3 NaN; 70 are -0.3`.
pub fn values(summary: &FieldSummary, field: &Field) -> String {
    let FieldSummary {
        cells,
        nan,
        negated,
        ..
    } = *summary;
    let width = number(field.background().into());
    let mut text = format!(
        "{} differ from the background, {width}",
        occupancy(cells - nan, field.dims())
    );
    if nan > 0 {
        text += &format!(", {} NaN", grouped(nan));
    }
    if negated > 0 {
        text += &format!(
            "; {} {} -{width}",
            grouped(negated),
            if negated == 1 { "is" } else { "are" }
        );
    }
    text
}
