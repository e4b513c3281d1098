//! Parts that several commands have in their JSON, and functions for values with a unit or with rounding. The
//! keys of schema 1 are stable.

use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use voxelize::compare::LargestDifference;
use voxelize::format::Written;
use voxelize::grid::FieldSummary;
use voxelize::grid::record::FIELDS;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Bounds, Digest, Error, Finding, Lattice, Rational, Record};

use super::display::corners;
use super::{Object, hint, hint_text};

/// Error that ended a run.
#[derive(Serialize)]
pub struct Failure {
    code: &'static str,
    message: String,
    triangle: Option<u64>,
    byte: Option<u64>,
    line: Option<u64>,
    hint: Option<String>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        Self {
            code: error.code().name(),
            message: error.to_string(),
            triangle: error.triangle(),
            byte: error.byte(),
            line: error.line(),
            hint: hint(error),
        }
    }
}

/// Warning or note.
#[derive(Serialize)]
pub struct Warning {
    level: &'static str,
    code: &'static str,
    message: String,
    hint: Option<String>,
    count: u64,
    triangle: Option<u64>,
    byte: Option<u64>,
    line: Option<u64>,
}

impl From<&Finding> for Warning {
    fn from(
        Finding {
            severity,
            first,
            count,
        }: &Finding,
    ) -> Self {
        Self {
            level: severity.name(),
            code: first.code().name(),
            message: first.message().to_string(),
            hint: first.hint().map(hint_text),
            count: *count,
            triangle: first.triangle(),
            byte: first.byte(),
            line: first.line(),
        }
    }
}

pub fn warnings(findings: &[Finding]) -> Vec<Warning> {
    findings.iter().map(Warning::from).collect()
}

/// File that was written.
#[derive(Serialize)]
pub struct OutputJson {
    pub path: String,
    pub format: &'static str,
    pub bytes: Option<u64>,
}

pub fn outputs(written: &[Written]) -> Vec<OutputJson> {
    let mut outputs = vec![];
    for one in written {
        outputs.push(OutputJson {
            path: lossy(&one.path),
            format: one.format,
            bytes: Some(one.bytes),
        });
    }
    outputs
}

/// Returns a path as text. Bytes that are not UTF-8 are replaced.
pub fn lossy(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Lowest and highest corner of a box.
#[derive(Serialize)]
pub struct CornersJson<T = f64> {
    pub min: [T; 3],
    pub max: [T; 3],
}

impl CornersJson {
    /// Creates the corners. `None` for empty bounds, which are infinite.
    pub fn of(bounds: &Bounds, coordinates: &GridCoordinates) -> Option<Self> {
        let corner = |corner: [f32; 3]| coordinates.point(corner.map(f64::from));
        (!bounds.is_empty()).then(|| Self {
            min: corner(bounds.min),
            max: corner(bounds.max),
        })
    }
}

/// Bounding box of the cells in which two grids differ.
#[derive(Serialize)]
pub struct DifferenceBox {
    /// `None` if no file has these cells.
    cells: Option<CornersJson<usize>>,
    world: Option<CornersJson>,
}

impl DifferenceBox {
    pub fn new([min, max]: [[usize; 3]; 2], lattice: Option<&Lattice>) -> Self {
        let world = lattice.map(|lattice| corners(lattice, [min, max]));
        Self {
            cells: Some(CornersJson { min, max }),
            world: world.map(|[min, max]| CornersJson { min, max }),
        }
    }

    /// Creates the box of cells that are in no file. It has a position in space only.
    pub fn in_space(cells: [[usize; 3]; 2], lattice: &Lattice) -> Self {
        let [min, max] = corners(lattice, cells);
        Self {
            cells: None,
            world: Some(CornersJson { min, max }),
        }
    }
}

/// Cell in which the values of two fields differ most.
#[derive(Serialize)]
pub struct LargestJson {
    cell: [usize; 3],
    values: [Value; 2],
    difference: Value,
}

impl From<LargestDifference> for LargestJson {
    fn from(largest: LargestDifference) -> Self {
        Self {
            cell: largest.cell,
            values: largest.values.map(float),
            difference: float(largest.difference),
        }
    }
}

/// Dims, position and cell size of a grid.
#[derive(Serialize)]
pub struct Grid {
    dims: [usize; 3],
    origin: [f64; 3],
    origin_exact: [String; 3],
    origin_is: &'static str,
    spacing: [f64; 3],
    spacing_exact: [String; 3],
    closed: [bool; 3],
}

impl From<&Lattice> for Grid {
    fn from(lattice: &Lattice) -> Self {
        let floats = |values: &[Rational; 3]| values.each_ref().map(Rational::to_f64);
        Self {
            dims: lattice.dims(),
            origin: floats(lattice.origin()),
            origin_exact: lattice.origin().each_ref().map(Rational::to_string),
            origin_is: "corner",
            spacing: floats(lattice.spacing()),
            spacing_exact: lattice.spacing().each_ref().map(Rational::to_string),
            closed: lattice.closed(),
        }
    }
}

#[derive(Serialize)]
pub struct Digests {
    grid: Option<String>,
    cells: String,
}

impl From<&Digest> for Digests {
    fn from(digest: &Digest) -> Self {
        Self {
            grid: digest.grid.map(|grid| grid.to_string()),
            cells: digest.cells.to_string(),
        }
    }
}

/// Options of a rule under the names that files use. Options that the rule does not have are null.
#[derive(Serialize)]
#[serde(transparent)]
pub struct FieldsJson(Object);

impl Default for FieldsJson {
    /// Returns an object with the options of all rules. All of them are null.
    fn default() -> Self {
        Self::new(&FIELDS, &[])
    }
}

impl FieldsJson {
    pub fn new(names: &[&str], known: &[(&'static str, String)]) -> Self {
        let mut fields: Object = names
            .iter()
            .map(|name| (name.to_string(), Value::Null))
            .collect();
        for (name, value) in known {
            if let Some(field) = fields.get_mut(*name) {
                *field = value.as_str().into();
            }
        }
        Self(fields)
    }
}

/// Returns the transform that the record of a file states.
pub fn transform(record: &Record) -> Object {
    record
        .transform
        .iter()
        .map(|(name, value)| (name.to_string(), value.as_str().into()))
        .collect()
}

/// Numbers of cells of each kind.
#[derive(Default, Serialize)]
pub struct Counts {
    pub cells: u64,
    pub occupied: Option<u64>,
    #[serde(flatten)]
    pub sides: Option<SidesJson>,
    /// Number of cells that several parts occupy. Such a cell has the label of the first of these parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared: Option<Vec<SharedCount>>,
    /// Cells in which parts with shares overlap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<OverlapCount>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<LabelCount>>,
}

/// Numbers of surface cells and of interior cells.
#[derive(Serialize)]
pub struct SidesJson {
    pub surface: Option<u64>,
    pub interior: Option<u64>,
}

/// Number of cells that two labels share.
#[derive(Serialize)]
pub struct SharedCount {
    pub labels: [String; 2],
    pub cells: u64,
    pub volume: f64,
}

/// Number of cells in which parts overlap, and their common volume.
#[derive(Serialize)]
pub struct OverlapCount {
    pub cells: u64,
    pub volume: f64,
}

/// Number of cells that have a label.
#[derive(Default, Serialize)]
pub struct LabelCount {
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<u8>,
    pub cells: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<f64>,
    /// Digest of the field of this label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// Range and counts of the values of a field.
#[derive(Serialize)]
pub struct FieldValues {
    background: Value,
    range: Option<[Value; 2]>,
    pub valued: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nan: Option<u64>,
    negated: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrays: Option<Vec<ArrayValues>>,
}

impl FieldValues {
    pub fn new(background: f32, summary: Option<&FieldSummary>) -> Self {
        Self {
            background: float(background),
            range: summary
                .and_then(|summary| summary.range)
                .map(|range| range.map(float)),
            valued: summary.map(|summary| summary.cells),
            nan: None,
            negated: summary.map(|summary| summary.negated),
            arrays: None,
        }
    }
}

/// Array that is stored in addition to a field.
#[derive(Serialize)]
pub struct ArrayValues {
    pub name: &'static str,
    pub components: usize,
    pub digest: String,
}

/// Returns a number as JSON. Infinity and NaN become text, because JSON has no such numbers.
pub fn float(value: impl Into<f64>) -> Value {
    let value = value.into();
    if value.is_finite() {
        value.into()
    } else {
        value.to_string().into()
    }
}

/// Returns the number of cells in a grid of these dims.
pub fn cells(dims: [usize; 3]) -> u64 {
    let cells: u128 = dims.iter().map(|&n| n as u128).product();
    u64::try_from(cells).unwrap_or(u64::MAX)
}

/// Returns the volume of the occupied cells, in cubic units of the coordinates.
pub fn volume(occupied: u64, lattice: &Lattice) -> f64 {
    let count = Rational::from(i64::try_from(occupied).unwrap_or(i64::MAX));
    (lattice.cell_volume() * count).to_f64()
}

/// Returns a time in milliseconds, rounded to microseconds.
pub fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Returns the time of each phase and the total, in milliseconds. Phases that the run did not reach are null.
pub fn timings(phases: &[(&str, Option<Duration>)], total: Duration) -> Object {
    let mut times = Object::new();
    for (name, time) in phases {
        times.insert(name.to_string(), time.map(ms).into());
    }
    times.insert("total".to_string(), ms(total).into());
    times
}
