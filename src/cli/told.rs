//! What was noticed while inside was told from outside: warnings, and its part of the JSON.

use serde_json::{Map, Value, json};
use voxelize::grid::record::INSIDE;
use voxelize::mesh::boundary::Loop;
use voxelize::mesh::closed::Seal;
use voxelize::mesh::components::Component;
use voxelize::rule::{LostComponents, LostPlaces, Repairs};
use voxelize::run::holes;
use voxelize::run::leak::Leak;
use voxelize::{Inside, Lattice, Rule, ThinFeatures};

use super::facts::{Facts, Warning};
use super::json;
use super::numbers::{counted, grouped, number};

/// The longest hole that is worth closing, in cells.
const WORTH: u64 = 16;

/// What is to be warned of, where this was asked for.
pub fn warnings(rule: &Rule, facts: &Facts) -> Vec<Warning> {
    let told = &facts.told;
    let open = match (rule.inside(), facts.seal) {
        (Some(Inside::Auto), _) => told.repairs.as_ref().map(open),
        (Some(chosen), Some(seal)) => unfit(chosen, seal),
        _ => None,
    };
    let leak = told.leak.as_ref().map(|leak| leaked(leak, facts.lattice.as_ref()));
    let cut = (rule.inside().is_some_and(Inside::is_flood) && is_cut(facts)).then(|| {
        let text = "the grid cuts the mesh, and its faces are outside: a flood gets in there, too";
        Warning::new("W007", text)
    });
    let disputed = told.disputed.filter(|cells| *cells > 0).map(|cells| {
        let cells = counted(cells, "cell", "cells");
        Warning::new("W008", format!("the three axes do not agree on {cells}; two of them decided"))
    });
    let lost = told.lost.unwrap_or_default();
    let thin = match rule {
        Rule::Solid { thin: ThinFeatures::Keep, .. } => {
            [told.lost.filter(|lost| !lost.closed).map(|_| not_kept()), None]
        }
        _ => [lost.components.as_ref().map(parts), lost.places.as_ref().map(places)],
    };
    [open, leak, cut, disputed].into_iter().chain(thin).flatten().collect()
}

/// Whether the mesh goes on beyond the grid.
fn is_cut(facts: &Facts) -> bool {
    let bounds = facts.source.as_ref().map(|source| source.bounds);
    let (Some(bounds), Some(lattice)) = (bounds, &facts.lattice) else { return false };
    (0..3).any(|a| lattice.is_passed(a, &bounds).contains(&true))
}

fn open(repairs: &Repairs) -> Warning {
    let mut text = "the mesh is not closed, so inside is where it winds around more than half".to_string();
    if let Some(longest) = &repairs.longest {
        let holes = counted(repairs.holes as u64, "hole", "holes");
        let which = if repairs.holes == 1 { "it has" } else { "the longest has" };
        text += &format!(": {holes}, {which} {}", described(longest));
    } else {
        let repaired = repaired(repairs);
        text += &format!(
            "; it has no holes, {}",
            if repaired.is_empty() { "but edges that many share" } else { &repaired }
        );
    }
    Warning::new("W006", text)
}

/// `2 triangles without area and 1 duplicate dropped, 69,451 triangles turned over`; nothing if that is so.
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
    let turned = (*turned > 0).then(|| format!("{} turned over", counted(*turned, "triangle", "triangles")));
    dropped.into_iter().chain(turned).collect::<Vec<_>>().join(", ")
}

/// What a method that was chosen takes for granted and the mesh has not.
fn unfit(chosen: Inside, seal: Seal) -> Option<Warning> {
    let name = chosen.name();
    let text = match (chosen, seal) {
        (Inside::Nonzero | Inside::EvenOdd, Seal::Open) => {
            format!("the mesh is not closed, so {name} may be wrong along some lines; robust is for such")
        }
        (Inside::Vote, Seal::Open) => {
            "the mesh is not closed, so vote may be wrong where two of three lines are; robust is for such"
                .to_string()
        }
        (Inside::Nonzero, Seal::Closed) => {
            "triangles of the mesh face either way, which nonzero counts; evenodd and robust do not"
                .to_string()
        }
        _ => return None,
    };
    Some(Warning::new("W006", text))
}

fn parts(thin: &LostComponents) -> Warning {
    let LostComponents { components, lost, scattered, largest, thickness, cell } = thin;
    let all = counted(*components, "part", "parts");
    let thinner = |n: u64| {
        let (are, have, it) = if n == 1 { ("is", "has", "it") } else { ("are", "have", "them") };
        format!("{are} thinner than a cell and {have} cells for some of {it} only")
    };
    let none = format!("no centre of a cell is inside {} of {all}", grouped(*lost));
    let mut text = match (*lost, *scattered) {
        (0, n) => format!("{} of {all} {}", grouped(n), thinner(n)),
        (_, 0) => none,
        (_, n) => format!("{none}, and {} {}", grouped(n), thinner(n)),
    };
    let (which, them) = if lost + scattered == 1 { ("it is", "it") } else { ("the largest is", "them") };
    text += &format!(": {which} {}", part(largest));
    if largest.thickness() < *cell && *lost > 0 {
        text += ", thinner than a cell";
    }
    text += &format!("; --keep-thin keeps {them}");
    if *thickness > 0.0 {
        text += &format!(", and so do cells of about {} where it is no thinner", digits(*thickness));
    }
    Warning::new("W009", text)
}

fn places(thin: &LostPlaces) -> Warning {
    let LostPlaces { places, cells, largest, .. } = thin;
    let (which, them) = if *places == 1 { ("it is", "it") } else { ("the longest is", "them") };
    let text = format!(
        "no centre of a cell is inside {} of the mesh ({}): {which} {}; --keep-thin keeps {them}, and so do smaller \
         cells",
        counted(*places, "thin place", "thin places"),
        counted(*cells, "cell", "cells"),
        extent(*largest)
    );
    Warning::new("W011", text)
}

/// What `--keep-thin` leaves out of a mesh that is not closed.
fn not_kept() -> Warning {
    let text = "the mesh is not closed, so --keep-thin keeps closed parts of it only, and no thin places";
    Warning::new("W010", text)
}

/// `20 × 10 × 0.1 around (0, 1, 2), about 0.098 thick`.
fn part(part: &Component) -> String {
    let corners = [part.bounds.min, part.bounds.max].map(|corner| corner.map(f64::from));
    format!("{}, about {} thick", extent(corners), digits(part.thickness()))
}

/// `20 × 10 × 0.1 around (0, 1, 2)`.
fn extent([low, high]: [[f64; 3]; 2]) -> String {
    let size = [0, 1, 2].map(|a| number(high[a] - low[a])).join(" × ");
    let centre = [0, 1, 2].map(|a| number((low[a] + high[a]) / 2.0)).join(", ");
    format!("{size} around ({centre})")
}

/// Two digits of a length, not rounded up.
fn digits(length: f64) -> String {
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
        text += &format!(", through a hole of {}{others}", described(longest));
        let sides = lattice.map(|lattice| holes::sides(&leak.holes, lattice)).unwrap_or_default();
        if let Some(most) = sides.into_iter().max().filter(|side| *side <= WORTH) {
            let them = if leak.holes.len() == 1 { "it" } else { "them" };
            text += &format!("; --close-holes {} closes {them}", most.max(1));
        }
    }
    Warning::new("W007", text)
}

/// `12 edges, 3.4 long, around (0, 1, 2)`.
fn described(hole: &Loop) -> String {
    let edges = counted(hole.points.len() as u64, "edge", "edges");
    // Of what is rounded in a sum of edges nobody wants to read.
    let least = 1e-9 * hole.length();
    let centre = hole.centre().map(|c| number(if c.abs() < least { 0.0 } else { c })).join(", ");
    format!("{edges}, {} long, around ({centre})", number(hole.length()))
}

/// An option of a rule, by its name and value in files: `hollow 2`, `ties: up`, `inside: nonzero (auto)`,
/// `2 holes of at most 3 cells closed`. `facts` are those of the run that made the cells, if it is this one.
pub fn option(name: &str, value: &str, facts: Option<&Facts>) -> String {
    match (name, facts.and_then(|facts| facts.inside.as_deref())) {
        ("variant", _) => value.to_string(),
        ("close_holes", _) => closed(value, facts.and_then(|facts| facts.told.closed_holes)),
        (INSIDE, Some(used)) if used != value => format!("{name}: {used} ({value})"),
        _ => format!("{}: {value}", name.replace('_', " ")),
    }
}

/// `2 holes of at most 3 cells closed`; without the number where nothing was done yet.
fn closed(most: &str, holes: Option<u64>) -> String {
    let holes = holes.map_or("holes".to_string(), |n| counted(n, "hole", "holes"));
    let cells = if most == "1" { "cell" } else { "cells" };
    format!("{holes} of at most {most} {cells} closed")
}

/// The entry `inside` of the JSON; null if the rule has none.
pub fn json(rule: &Rule, facts: &Facts) -> Value {
    let (Some(asked), told) = (rule.inside(), &facts.told) else { return Value::Null };
    let mut map = Map::new();
    map.insert("asked".into(), json!(asked.name()));
    map.insert("used".into(), json!(facts.inside));
    let options = rule.fields().into_iter().skip_while(|(name, _)| *name != INSIDE).skip(1);
    map.extend(options.map(|(name, value)| (name.to_string(), json::number_or_text(&value))));
    if let Inside::Flood { close_holes: Some(_) } = asked {
        map.insert("closed_holes".into(), json!(told.closed_holes));
    }
    if let Some(cells) = facts.way_in {
        map.insert("leak_path".into(), json!({"cells": cells}));
    }
    if let Some(disputed) = told.disputed {
        map.insert("disputed".into(), json!(disputed));
    }
    if let Some(Leak { cells, holes }) = &told.leak {
        let holes: Vec<Value> = holes.iter().map(hole).collect();
        map.insert("leak".into(), json!({"cells": cells, "holes": holes}));
    }
    map.insert("thin".into(), json::or_null(told.lost, |lost| thin_parts(lost.components.as_ref())));
    let looked = told.lost.filter(|lost| lost.closed);
    map.insert("thin_places".into(), json::or_null(looked, |lost| thin_places(lost.places.as_ref())));
    if let Some(repairs) = &told.repairs {
        let Repairs { degenerate, duplicates, turned, patches, cavities, not_orientable, holes, longest } =
            repairs;
        map.insert(
            "repairs".into(),
            json!({
                "degenerate": degenerate,
                "duplicates": duplicates,
                "turned": turned,
                "patches": patches,
                "cavities": cavities,
                "not_orientable": not_orientable,
                "holes": holes,
                "longest": longest.as_ref().map(hole),
            }),
        );
    }
    Value::Object(map)
}

fn thin_parts(thin: Option<&LostComponents>) -> Value {
    let Some(LostComponents { components, lost, scattered, largest, thickness, .. }) = thin else {
        return json!({"lost": 0, "scattered": 0});
    };
    let bounds = json::bounds(&largest.bounds);
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
