//! What was found while inside was decided: warnings, and its part of the JSON.

use serde_json::{Map, Value, json};
use voxelize::grid::record::INSIDE;
use voxelize::mesh::boundary::Loop;
use voxelize::mesh::closed::Seal;
use voxelize::mesh::components::Component;
use voxelize::rule::{LostComponents, LostPlaces, Repairs};
use voxelize::run::holes;
use voxelize::run::leak::Leak;
use voxelize::{Inside, Lattice, Rule, ThinFeatures};

use super::super::report::display::{counted, grouped, number};
use super::super::report::value;
use super::super::report::warnings::Warning;
use super::report::RunReport;

/// The longest hole that is worth closing, in cells.
const WORTH_CLOSING: u64 = 16;

/// The warnings about a run with this rule.
pub fn warnings(rule: &Rule, report: &RunReport) -> Vec<Warning> {
    let inside = &report.inside_report;
    let open = match (rule.inside(), report.seal) {
        (Some(Inside::Auto), _) => inside.repairs.as_ref().map(open),
        (Some(chosen), Some(seal)) => unfit(chosen, seal),
        _ => None,
    };
    let leak = inside.leak.as_ref().map(|leak| leaked(leak, report.lattice.as_ref()));
    let cut = (rule.inside().is_some_and(Inside::is_flood) && is_cut(report)).then(|| {
        Warning::new("W007", "the grid boundary cuts the mesh, so the flood enters through the cut")
    });
    let disputed = inside.disputed.filter(|cells| *cells > 0).map(|cells| {
        let cells = counted(cells, "cell", "cells");
        Warning::new("W008", format!("vote: the axes disagree on {cells}; majority used"))
    });
    let lost = inside.lost.unwrap_or_default();
    let thin = match rule {
        Rule::Solid { thin: ThinFeatures::Keep, .. } => {
            [inside.lost.filter(|lost| !lost.closed).map(|_| not_kept()), None]
        }
        _ => [lost.components.as_ref().map(lost_components), lost.places.as_ref().map(lost_places)],
    };
    [open, leak, cut, disputed].into_iter().chain(thin).flatten().collect()
}

/// Whether the mesh extends beyond the grid.
fn is_cut(report: &RunReport) -> bool {
    let bounds = report.mesh.as_ref().map(|mesh| mesh.bounds);
    let (Some(bounds), Some(lattice)) = (bounds, &report.lattice) else { return false };
    (0..3).any(|a| lattice.is_passed(a, &bounds).contains(&true))
}

fn open(repairs: &Repairs) -> Warning {
    let why = match &repairs.longest {
        Some(longest) if repairs.holes == 1 => format!("1 hole: {}", hole_text(longest)),
        Some(longest) => {
            format!("{} holes, the longest: {}", grouped(repairs.holes as u64), hole_text(longest))
        }
        None => match repaired(repairs) {
            nothing if nothing.is_empty() => "no holes, but edges of several triangles".to_string(),
            repaired => format!("no holes, {repaired}"),
        },
    };
    Warning::new("W006", format!("the mesh is not closed ({why}); using winding number > 0.5"))
}

/// `2 triangles without area and 1 duplicate dropped, 69,451 triangles flipped`; empty if nothing was repaired.
pub fn repaired(repairs: &Repairs) -> String {
    let Repairs { degenerate, duplicates, turned, .. } = repairs;
    let dropped: Vec<_> = [
        (*degenerate, "triangle without area", "triangles without area"),
        (*duplicates, "duplicate", "duplicates"),
    ]
    .into_iter()
    .filter(|(n, ..)| *n > 0)
    .map(|(n, one, many)| counted(n, one, many))
    .collect();
    let dropped = (!dropped.is_empty()).then(|| format!("{} dropped", dropped.join(" and ")));
    let flipped = (*turned > 0).then(|| format!("{} flipped", counted(*turned, "triangle", "triangles")));
    dropped.into_iter().chain(flipped).collect::<Vec<_>>().join(", ")
}

/// A method that was chosen requires what the mesh is not.
fn unfit(chosen: Inside, seal: Seal) -> Option<Warning> {
    let text = match (chosen, seal) {
        (Inside::Nonzero | Inside::EvenOdd, Seal::Open) => {
            let name = chosen.name();
            format!("the mesh is not closed: {name} may be wrong along some lines; use robust")
        }
        (Inside::Vote, Seal::Open) => {
            "the mesh is not closed: vote may be wrong where two of three lines are; use robust".to_string()
        }
        (Inside::Nonzero, Seal::Closed) => {
            "inconsistent triangle orientation affects nonzero; use evenodd or robust".to_string()
        }
        _ => return None,
    };
    Some(Warning::new("W006", text))
}

fn lost_components(thin: &LostComponents) -> Warning {
    let LostComponents { components, lost, scattered, largest, thickness, cell } = thin;
    let all = counted(*components, "component", "components");
    let (verb, is) = if *lost == 1 { ("contains", "is") } else { ("contain", "are") };
    let none = format!("{} of {all} {verb} no cell centre and {is} lost", grouped(*lost));
    let thinner = |of: &str| {
        let is = if *scattered == 1 { "is" } else { "are" };
        format!("{}{of} {is} thinner than a cell and only partly filled", grouped(*scattered))
    };
    let mut text = match (*lost, *scattered) {
        (0, _) => thinner(&format!(" of {all}")),
        (_, 0) => none,
        _ => format!("{none}, {}", thinner("")),
    };
    let which = if lost + scattered == 1 { "" } else { "the largest " };
    text += &format!(": {which}{}", component(largest));
    if largest.thickness() < *cell && *lost > 0 {
        text += ", thinner than a cell";
    }
    text += "; use --keep-thin";
    if *thickness > 0.0 {
        text += &format!(", or cells of {} or smaller", two_digits(*thickness));
    }
    Warning::new("W009", text)
}

fn lost_places(thin: &LostPlaces) -> Warning {
    let LostPlaces { places, cells, largest, .. } = thin;
    let (is, which) = if *places == 1 { ("is", "") } else { ("are", "the longest ") };
    let (places, cells) = (counted(*places, "thin place", "thin places"), counted(*cells, "cell", "cells"));
    let extent = extent(*largest);
    let text = format!(
        "{places} of the mesh ({cells}) {is} lost, as no cell centre is inside: {which}{extent}; use --keep-thin, or \
         smaller cells"
    );
    Warning::new("W011", text)
}

/// What `--keep-thin` leaves out of a mesh that is not closed.
fn not_kept() -> Warning {
    let text = "the mesh is not closed, so --keep-thin keeps only its closed components, and no thin places";
    Warning::new("W010", text)
}

/// `20 × 10 × 0.1 around (0, 1, 2), about 0.098 thick`.
fn component(part: &Component) -> String {
    let corners = [part.bounds.min, part.bounds.max].map(|corner| corner.map(f64::from));
    format!("{}, about {} thick", extent(corners), two_digits(part.thickness()))
}

/// `20 × 10 × 0.1 around (0, 1, 2)`.
fn extent([low, high]: [[f64; 3]; 2]) -> String {
    let size = [0, 1, 2].map(|a| number(high[a] - low[a])).join(" × ");
    let centre = [0, 1, 2].map(|a| number((low[a] + high[a]) / 2.0)).join(", ");
    format!("{size} around ({centre})")
}

/// Two digits of a length, not rounded up.
fn two_digits(length: f64) -> String {
    if length <= 0.0 {
        return "0".to_string();
    }
    let scale = 10_f64.powi(1 - length.log10().floor() as i32);
    number((length * scale).floor() / scale)
}

fn leaked(leak: &Leak, lattice: Option<&Lattice>) -> Warning {
    let cells = counted(leak.cells, "cell", "cells");
    let mut text = format!("the flood reached {cells} that evenodd calls inside");
    if let Some(longest) = leak.holes.first() {
        let others = match leak.holes.len() {
            1 => String::new(),
            n => format!(", the longest of {n}"),
        };
        text += &format!(", through a hole of {}{others}", hole_text(longest));
        let sides = lattice.map(|lattice| holes::sides(&leak.holes, lattice)).unwrap_or_default();
        if let Some(most) = sides.into_iter().max().filter(|side| *side <= WORTH_CLOSING) {
            let them = if leak.holes.len() == 1 { "it" } else { "them" };
            text += &format!("; --close-holes {} closes {them}", most.max(1));
        }
    }
    Warning::new("W007", text)
}

/// `12 edges, 3.4 long, around (0, 1, 2)`.
fn hole_text(hole: &Loop) -> String {
    let edges = counted(hole.points.len() as u64, "edge", "edges");
    // Rounding in a sum of edges is not worth reading.
    let least = 1e-9 * hole.length();
    let centre = hole.centre().map(|c| number(if c.abs() < least { 0.0 } else { c })).join(", ");
    format!("{edges}, {} long, around ({centre})", number(hole.length()))
}

/// An option of a rule, by its name and value in files: `hollow 2`, `ties: up`, `inside: nonzero (auto)`,
/// `2 holes of at most 3 cells closed`. `report` is that of the run that made the cells, if it is this one.
pub fn option_text(name: &str, value: &str, report: Option<&RunReport>) -> String {
    match (name, report.and_then(|report| report.inside.as_deref())) {
        ("variant", _) => value.to_string(),
        ("close_holes", _) => {
            closed_holes(value, report.and_then(|report| report.inside_report.closed_holes))
        }
        (INSIDE, Some(used)) if used != value => format!("{name}: {used} ({value})"),
        _ => format!("{}: {value}", name.replace('_', " ")),
    }
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
pub fn json(rule: &Rule, report: &RunReport) -> Value {
    let (Some(asked), inside) = (rule.inside(), &report.inside_report) else { return Value::Null };
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| drop(map.insert(key.to_string(), value));
    put("asked", json!(asked.name()));
    put("used", json!(report.inside));
    for (name, value) in inside_options(rule) {
        put(name, value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number)));
    }
    if let Inside::Flood { close_holes: Some(_) } = asked {
        put("closed_holes", json!(inside.closed_holes));
    }
    if let Some(cells) = report.leak_path {
        put("leak_path", json!({"cells": cells}));
    }
    if let Some(disputed) = inside.disputed {
        put("disputed", json!(disputed));
    }
    if let Some(Leak { cells, holes }) = &inside.leak {
        put("leak", json!({"cells": cells, "holes": holes.iter().map(hole).collect::<Value>()}));
    }
    put("thin", inside.lost.map_or(Value::Null, |lost| thin_parts(lost.components.as_ref())));
    let searched = inside.lost.filter(|lost| lost.closed);
    put("thin_places", searched.map_or(Value::Null, |lost| thin_places(lost.places.as_ref())));
    if let Some(repairs) = &inside.repairs {
        put("repairs", repairs_json(repairs));
    }
    Value::Object(map)
}

fn repairs_json(repairs: &Repairs) -> Value {
    let Repairs { degenerate, duplicates, turned, patches, cavities, not_orientable, holes, longest } =
        repairs;
    json!({
        "degenerate": degenerate,
        "duplicates": duplicates,
        "turned": turned,
        "patches": patches,
        "cavities": cavities,
        "not_orientable": not_orientable,
        "holes": holes,
        "longest": longest.as_ref().map(hole),
    })
}

fn thin_parts(thin: Option<&LostComponents>) -> Value {
    let Some(LostComponents { components, lost, scattered, largest, thickness, .. }) = thin else {
        return json!({"lost": 0, "scattered": 0});
    };
    let bounds = value::bounds(&largest.bounds);
    let largest = json!({"bounds": bounds, "triangles": largest.triangles, "thickness": largest.thickness()});
    json!({
        "parts": components,
        "lost": lost,
        "scattered": scattered,
        "largest": largest,
        "thickness": thickness,
    })
}

fn thin_places(thin: Option<&LostPlaces>) -> Value {
    let Some(LostPlaces { places, cells, largest: [min, max], dims }) = thin else {
        return json!({"places": 0, "cells": 0});
    };
    let largest = json!({"bounds": {"min": min, "max": max}, "dims": dims});
    json!({"places": places, "cells": cells, "largest": largest})
}

fn hole(hole: &Loop) -> Value {
    json!({"centre": hole.centre(), "length": hole.length(), "edges": hole.points.len()})
}
