//! The inside of a mesh in summaries and in JSON, and the texts of rule options.

use serde::Serialize;
use voxelize::grid::PieceCounts;
use voxelize::grid::record::INSIDE;
use voxelize::mesh::boundary::Loop;
use voxelize::rule::{LostComponents, LostPlaces, Repairs};
use voxelize::run::Leak;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Code, Finding, Inside, Length, Record, Rule};

use super::report::RunReport;
use crate::cli::report::Object;
use crate::cli::report::display::{counted, grouped};
use crate::cli::report::value::CornersJson;

/// Returns the text of a rule option from its name and value in files: `hollow 2`, `ties: up`, `inside:
/// nonzero (auto)`, `2 holes of at most 3 cells closed`, `radius: 3 mm`. `report` is the report of the run
/// that made the cells, or `None` if an earlier run made them. `unit` is the unit of lengths.
pub fn option_text(
    name: &str,
    value: &str,
    report: Option<&RunReport>,
    unit: Option<&str>,
) -> String {
    match (name, report.and_then(|report| report.inside.as_deref())) {
        ("variant", _) => value.to_string(),
        ("close_holes", _) => closed_holes(
            value,
            report.and_then(|report| report.inside_report.closed_holes),
        ),
        (INSIDE, Some(used)) if used != value => format!("{name}: {used} ({value})"),
        ("wall" | "radius" | "iso", _)
            if unit.is_some() && value.ends_with(|c: char| c.is_ascii_digit()) =>
        {
            format!("{name}: {value} {}", unit.unwrap_or_default())
        }
        ("band", _) if value.ends_with(Length::UNITS) => {
            let length = value.trim_end_matches(Length::UNITS);
            format!("{name}: {length} {}", unit.unwrap_or(Length::UNITS))
        }
        _ => format!("{}: {value}", name.replace('_', " ")),
    }
}

/// Returns the rule that a file records, with its options: `surface; ties: up`. `None` if the file records no
/// rule.
pub fn record_text(record: &Record) -> Option<String> {
    let unit = record.transform("unit");
    let options = record
        .fields
        .iter()
        .map(|(name, value)| option_text(name, value, None, unit));
    let mut all: Vec<_> = record
        .rule_name
        .clone()
        .into_iter()
        .chain(options)
        .collect();
    all.extend(record.drain.as_ref().map(|holes| format!("drain: {holes}")));
    (!all.is_empty()).then(|| all.join("; "))
}

/// Returns the finding that a finite element mesh has several pieces, or that pieces are connected only at
/// edges or vertices (W025). `None` if neither is true.
pub fn of_pieces(counts: &PieceCounts) -> Option<Finding> {
    let mut texts = vec![];
    if counts.pieces > 1 {
        let [largest, cells] = [counts.largest, counts.cells].map(grouped);
        texts.push(format!(
            "the elements form {} pieces that share no face; the largest has {largest} of {cells}",
            grouped(counts.pieces)
        ));
    }
    if counts.edges + counts.vertices > 0 {
        let mut places = vec![];
        if counts.edges > 0 {
            places.push(counted(counts.edges, "edge", "edges"));
        }
        if counts.vertices > 0 {
            places.push(counted(counts.vertices, "vertex", "vertices"));
        }
        texts.push(format!(
            "elements are connected only at {}, as at a hinge",
            places.join(" and ")
        ));
    }
    (!texts.is_empty()).then(|| Finding::new(Code::W025, texts.join("; ")))
}

/// Returns `2 holes of at most 3 cells closed`. Without a number of holes: `holes of at most 3 cells closed`.
fn closed_holes(most: &str, holes: Option<u64>) -> String {
    let holes = holes.map_or("holes".to_string(), |n| counted(n, "hole", "holes"));
    let cells = if most == "1" { "cell" } else { "cells" };
    format!("{holes} of at most {most} {cells} closed")
}

/// Returns the rule options that belong to the method for the inside. They come after the method itself.
pub fn inside_options(rule: &Rule) -> impl Iterator<Item = (&'static str, String)> {
    rule.fields()
        .into_iter()
        .skip_while(|(name, _)| *name != INSIDE)
        .skip(1)
}

/// Method that decided the inside, and the features that the rule lost.
#[derive(Serialize)]
pub struct InsideInfo {
    requested: &'static str,
    used: Option<String>,
    #[serde(flatten)]
    options: Object,
    /// Null until the holes are closed. The key is absent without `--close-holes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_holes: Option<Option<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leak_path: Option<LeakPath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disputed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    leak: Option<LeakInfo>,
    thin: Option<ThinComponents>,
    thin_places: Option<ThinPlaces>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_cells: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repairs: Option<RepairsInfo>,
}

#[derive(Serialize)]
struct LeakPath {
    cells: u64,
}

#[derive(Serialize)]
struct LeakInfo {
    cells: u64,
    holes: Vec<Hole>,
}

#[derive(Serialize)]
struct Hole {
    centre: [f64; 3],
    length: f64,
    edges: usize,
}

#[derive(Default, Serialize)]
struct ThinComponents {
    components: Option<u64>,
    lost: u64,
    broken: u64,
    pieces: u64,
    largest: Option<LargestComponent>,
    thickness: Option<f64>,
}

#[derive(Serialize)]
struct LargestComponent {
    bounds: CornersJson,
    triangles: u64,
    thickness: f64,
}

#[derive(Default, Serialize)]
struct ThinPlaces {
    places: u64,
    cells: u64,
    largest: Option<LargestPlace>,
}

#[derive(Serialize)]
struct LargestPlace {
    bounds: CornersJson,
    dims: [usize; 3],
}

#[derive(Serialize)]
struct RepairsInfo {
    degenerate: u64,
    duplicates: u64,
    turned: u64,
    patches: u64,
    cavities: u64,
    not_orientable: u64,
    holes: usize,
    longest: Option<Hole>,
}

impl InsideInfo {
    /// Creates the object. `None` for a rule that needs no inside.
    pub fn new(rule: &Rule, found: &RunReport, coordinates: &GridCoordinates) -> Option<Self> {
        let method = rule.inside()?;
        let inside = &found.inside_report;
        let mut options = Object::new();
        for (name, value) in inside_options(rule) {
            let number = value.parse::<u64>().map(Into::into);
            options.insert(name.to_string(), number.unwrap_or_else(|_| value.into()));
        }
        let closes_holes = matches!(
            method,
            Inside::Flood {
                close_holes: Some(_)
            }
        );
        let lost = found.lost.as_ref();
        Some(Self {
            requested: method.name(),
            used: found.inside.clone(),
            options,
            closed_holes: closes_holes.then_some(inside.closed_holes),
            leak_path: found.leak_path.map(|cells| LeakPath { cells }),
            disputed: inside.disputed,
            leak: inside.leak.as_ref().map(|Leak { cells, holes }| LeakInfo {
                cells: *cells,
                holes: holes
                    .iter()
                    .map(|hole| Hole::new(hole, coordinates))
                    .collect(),
            }),
            thin: lost.map(|lost| ThinComponents::new(lost.components.as_ref(), coordinates)),
            thin_places: lost.map(|lost| ThinPlaces::new(lost.places.as_ref(), coordinates)),
            kept_cells: found.kept,
            repairs: inside
                .repairs
                .as_ref()
                .map(|repairs| RepairsInfo::new(repairs, coordinates)),
        })
    }
}

impl ThinComponents {
    fn new(found: Option<&LostComponents>, coordinates: &GridCoordinates) -> Self {
        let Some(found) = found else {
            return Self::default();
        };
        let thickness = coordinates.length(found.thickness);
        let bounds = corners(found.largest, coordinates);
        Self {
            components: Some(found.components),
            lost: found.lost,
            broken: found.broken,
            pieces: found.pieces,
            largest: Some(LargestComponent {
                bounds,
                triangles: found.triangles,
                thickness,
            }),
            thickness: Some(thickness),
        }
    }
}

impl ThinPlaces {
    fn new(found: Option<&LostPlaces>, coordinates: &GridCoordinates) -> Self {
        let Some(LostPlaces {
            places,
            cells,
            largest,
            dims,
        }) = found
        else {
            return Self::default();
        };
        let largest = LargestPlace {
            bounds: corners(*largest, coordinates),
            dims: *dims,
        };
        Self {
            places: *places,
            cells: *cells,
            largest: Some(largest),
        }
    }
}

fn corners(largest: [[f64; 3]; 2], coordinates: &GridCoordinates) -> CornersJson {
    let [min, max] = largest.map(|corner| coordinates.point(corner));
    CornersJson { min, max }
}

impl RepairsInfo {
    fn new(repairs: &Repairs, coordinates: &GridCoordinates) -> Self {
        Self {
            degenerate: repairs.degenerate,
            duplicates: repairs.duplicates,
            turned: repairs.turned,
            patches: repairs.patches,
            cavities: repairs.cavities,
            not_orientable: repairs.not_orientable,
            holes: repairs.holes,
            longest: repairs
                .longest
                .as_ref()
                .map(|hole| Hole::new(hole, coordinates)),
        }
    }
}

impl Hole {
    fn new(hole: &Loop, coordinates: &GridCoordinates) -> Self {
        let centre = coordinates.point(hole.centre());
        Self {
            centre,
            length: coordinates.length(hole.length()),
            edges: hole.points.len(),
        }
    }
}
