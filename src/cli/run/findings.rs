//! The inside of a mesh in summaries and JSON.

use serde_json::{Map, Value, json};
use voxelize::grid::PieceCounts;
use voxelize::grid::record::INSIDE;
use voxelize::mesh::boundary::Loop;
use voxelize::rule::{LostComponents, LostPlaces, Repairs};
use voxelize::run::Leak;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Code, Finding, Inside, Rule};

use super::super::report::display::{counted, grouped};
use super::report::RunReport;

/// An option of a rule, by its name and value in files: `hollow 2`, `ties: up`, `inside: nonzero (auto)`,
/// `2 holes of at most 3 cells closed`, `radius: 3 mm`. `report` is that of the run that made the cells, if it is this
/// one; `unit` is that of lengths.
pub fn option_text(name: &str, value: &str, report: Option<&RunReport>, unit: Option<&str>) -> String {
    match (name, report.and_then(|report| report.inside.as_deref())) {
        ("variant", _) => value.to_string(),
        ("close_holes", _) => {
            closed_holes(value, report.and_then(|report| report.inside_report.closed_holes))
        }
        (INSIDE, Some(used)) if used != value => format!("{name}: {used} ({value})"),
        ("radius" | "iso", _) if unit.is_some() && value.ends_with(|c: char| c.is_ascii_digit()) => {
            format!("{name}: {value} {}", unit.unwrap_or_default())
        }
        _ => format!("{}: {value}", name.replace('_', " ")),
    }
}

/// The finding that a finite element mesh falls apart, or hangs together in edges or vertices alone (W025).
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
        texts.push(format!("elements meet in {} alone, as at a hinge", places.join(" and ")));
    }
    (!texts.is_empty()).then(|| Finding::new(Code::W025, texts.join("; ")))
}

/// `2 holes of at most 3 cells closed`; without the number where nothing was done yet.
fn closed_holes(most: &str, holes: Option<u64>) -> String {
    let holes = holes.map_or("holes".to_string(), |n| counted(n, "hole", "holes"));
    let cells = if most == "1" { "cell" } else { "cells" };
    format!("{holes} of at most {most} {cells} closed")
}

/// The options of the method that finds the inside.
pub fn inside_options(rule: &Rule) -> impl Iterator<Item = (&'static str, String)> {
    rule.fields().into_iter().skip_while(|(name, _)| *name != INSIDE).skip(1)
}

/// The entry `inside` of the JSON; null if the rule has none.
pub fn json(rule: &Rule, report: &RunReport, coordinates: &GridCoordinates) -> Value {
    let (Some(method), inside) = (rule.inside(), &report.inside_report) else { return Value::Null };
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| drop(map.insert(key.to_string(), value));
    put("requested", json!(method.name()));
    put("used", json!(report.inside));
    for (name, value) in inside_options(rule) {
        put(name, value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number)));
    }
    if let Inside::Flood { close_holes: Some(_) } = method {
        put("closed_holes", json!(inside.closed_holes));
    }
    if let Some(cells) = report.leak_path {
        put("leak_path", json!({"cells": cells}));
    }
    if let Some(disputed) = inside.disputed {
        put("disputed", json!(disputed));
    }
    if let Some(Leak { cells, holes }) = &inside.leak {
        put(
            "leak",
            json!({"cells": cells, "holes": holes.iter().map(|hole| hole_json(hole, coordinates)).collect::<Value>()}),
        );
    }
    put("thin", report.lost.map_or(Value::Null, |lost| thin_parts(lost.components.as_ref(), coordinates)));
    put(
        "thin_places",
        report.lost.map_or(Value::Null, |lost| thin_places(lost.places.as_ref(), coordinates)),
    );
    if let Some(kept) = report.kept {
        put("kept_cells", json!(kept));
    }
    if let Some(repairs) = &inside.repairs {
        put("repairs", repairs_json(repairs, coordinates));
    }
    Value::Object(map)
}

fn repairs_json(repairs: &Repairs, coordinates: &GridCoordinates) -> Value {
    let Repairs { degenerate, duplicates, turned, patches, cavities, not_orientable, holes, longest, .. } =
        repairs;
    json!({
        "degenerate": degenerate,
        "duplicates": duplicates,
        "turned": turned,
        "patches": patches,
        "cavities": cavities,
        "not_orientable": not_orientable,
        "holes": holes,
        "longest": longest.as_ref().map(|hole| hole_json(hole, coordinates)),
    })
}

fn thin_parts(thin: Option<&LostComponents>, coordinates: &GridCoordinates) -> Value {
    let Some(LostComponents { components, lost, broken, pieces, largest, triangles, thickness, .. }) = thin
    else {
        return json!({
            "components": null,
            "lost": 0,
            "broken": 0,
            "pieces": 0,
            "largest": null,
            "thickness": null,
        });
    };
    let thickness = coordinates.length(*thickness);
    let [min, max] = largest.map(|corner| coordinates.point(corner));
    let largest = json!({"bounds": {"min": min, "max": max}, "triangles": triangles, "thickness": thickness});
    json!({
        "components": components,
        "lost": lost,
        "broken": broken,
        "pieces": pieces,
        "largest": largest,
        "thickness": thickness,
    })
}

fn thin_places(thin: Option<&LostPlaces>, coordinates: &GridCoordinates) -> Value {
    let Some(LostPlaces { places, cells, largest: [min, max], dims }) = thin else {
        return json!({"places": 0, "cells": 0, "largest": null});
    };
    let [min, max] = [min, max].map(|corner| coordinates.point(*corner));
    let largest = json!({"bounds": {"min": min, "max": max}, "dims": dims});
    json!({"places": places, "cells": cells, "largest": largest})
}

fn hole_json(hole: &Loop, coordinates: &GridCoordinates) -> Value {
    let [centre, length] =
        [json!(coordinates.point(hole.centre())), json!(coordinates.length(hole.length()))];
    json!({"centre": centre, "length": length, "edges": hole.points.len()})
}
