//! What was noticed while inside was told from outside: warnings, and its part of the JSON.

use serde_json::{Map, Value, json};
use voxelize::Inside;
use voxelize::mesh::boundary::Loop;
use voxelize::rule::{Repairs, Told};
use voxelize::run::leak::Leak;

use super::facts::Warning;
use super::numbers::{counted, number};

/// What is to be warned of; `asked` is what was asked for.
pub fn warnings(asked: Inside, told: &Told) -> Vec<Warning> {
    let open = told.repairs.as_ref().filter(|_| asked == Inside::Auto).map(open);
    let leak = told.leak.as_ref().map(leaked);
    let disputed = told.disputed.filter(|cells| *cells > 0).map(|cells| {
        let cells = counted(cells, "cell", "cells");
        Warning::new("W008", format!("the three axes do not agree on {cells}; two of them decided"))
    });
    [open, leak, disputed].into_iter().flatten().collect()
}

fn open(repairs: &Repairs) -> Warning {
    let mut text = "the mesh is not closed, so inside is where it winds around more than half".to_string();
    if let Some(longest) = &repairs.longest {
        let holes = counted(repairs.holes as u64, "hole", "holes");
        let which = if repairs.holes == 1 { "it has" } else { "the longest has" };
        text += &format!(": {holes}, {which} {}", described(longest));
    }
    Warning::new("W006", text)
}

fn leaked(leak: &Leak) -> Warning {
    let cells = counted(leak.cells, "cell", "cells");
    let mut text = format!("the flood reached {cells} that evenodd calls inside");
    if let Some(longest) = leak.holes.first() {
        let others = match leak.holes.len() {
            1 => String::new(),
            n => format!(", the longest of {n}"),
        };
        text += &format!(", through a hole of {}{others}", described(longest));
    }
    Warning::new("W007", text)
}

/// `12 edges, 3.4 long, around (0, 1, 2)`.
fn described(hole: &Loop) -> String {
    let edges = counted(hole.points.len() as u64, "edge", "edges");
    let centre = hole.centre().map(number).join(", ");
    format!("{edges}, {} long, around ({centre})", number(hole.length()))
}

/// The entry `inside` of the JSON.
pub fn json(asked: Inside, used: Option<&str>, told: &Told) -> Value {
    let mut map = Map::new();
    map.insert("asked".into(), json!(asked.info().name));
    map.insert("used".into(), json!(used));
    if let Some(disputed) = told.disputed {
        map.insert("disputed".into(), json!(disputed));
    }
    if let Some(Leak { cells, holes }) = &told.leak {
        let holes: Vec<Value> = holes.iter().map(hole).collect();
        map.insert("leak".into(), json!({"cells": cells, "holes": holes}));
    }
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

fn hole(hole: &Loop) -> Value {
    json!({"centre": hole.centre(), "length": hole.length(), "edges": hole.points.len()})
}
