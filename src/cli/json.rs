//! The summary as JSON, schema 1, and the answers of verbs. Every key is always there; what was not
//! reached is null.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json}; // here too, as the schema is the command line's own
use voxelize::format::Written;
use voxelize::grid::record::{FIELDS, INSIDE};
use voxelize::mesh::closed::Seal;
use voxelize::{Bounds, Digest, Error, Lattice, Rational};

use super::call::End;
use super::doubt::Found;
use super::errors;
use super::estimate::Size;
use super::facts::{Ending, Facts, Warning};
use super::plan::{Plan, Telling};
use super::summary::volume;
use super::system;
use super::told;
use super::verb::Verb;

/// One line of JSON for a run, without the newline.
pub fn line(telling: &Telling, plan: Option<&Plan>, facts: &Facts, ending: &Ending) -> String {
    let mut map = head();
    let mut put = |key: &str, value: Value| map.insert(key.to_string(), value);
    let (status, exit_code) = match ending {
        Ending::Done | Ending::Closed => ("ok", errors::OK),
        Ending::Doubtful => ("failed", errors::NO),
        Ending::Skipped => ("skipped", errors::OK),
        Ending::Planned => ("planned", errors::OK),
        Ending::Failed(_, code) => ("error", *code),
    };
    put("status", json!(status));
    put("exit_code", json!(exit_code));
    if let Ending::Failed(error, _) = ending {
        put("error", failure(error));
    }
    put("input", or_null(telling.mesh.as_ref(), |path| input(path, facts)));
    put("mesh", mesh(facts));
    put("transform", or_null(plan, |_| json!({"up": "z", "axes": "x,y,z", "scale": "1/1"})));
    put("grid", or_null(plan.zip(facts.lattice.as_ref()), |(plan, lattice)| grid(plan, lattice)));
    put("rule", or_null(plan, |plan| json!(plan.job.rule.name())));
    let fields = plan.map(|plan| plan.job.rule.fields()).unwrap_or_default();
    for name in FIELDS.into_iter().take_while(|name| *name != INSIDE) {
        put(name, or_null(fields.iter().find(|(field, _)| *field == name), |(_, value)| json!(value)));
    }
    let asked = plan.and_then(|plan| plan.job.rule.inside());
    put("inside", or_null(plan, |plan| told::json(&plan.job.rule, facts)));
    let snap = |plan: &Plan| json!({"mode": plan.job.grid.snap.name(), "coordinates": facts.snapped});
    put("snap", or_null(plan, snap));
    let filled = facts.occupied.zip(facts.lattice.as_ref());
    put(
        "counts",
        or_null(filled, |(occupied, lattice)| {
            // With nothing inside, all is surface.
            let parts = if asked.is_none() { Some([occupied, 0]) } else { facts.parts };
            counts(occupied, lattice, parts)
        }),
    );
    put("volume", or_null(filled, |(occupied, lattice)| json!(volume(occupied, lattice))));
    put("digest", or_null(facts.digest.as_ref(), digest));
    put("warnings", facts.warnings.iter().map(Warning::json).collect());
    let how = |plan: &Plan| {
        let memory = facts.room.map(|room| room.plan.name());
        json!({"threads": plan.job.how.threads, "simd": plan.job.how.level.name(), "plan": memory})
    };
    put("run", or_null(plan, how));
    put("timings_ms", timings(facts));
    put("memory", json!({"peak_bytes": system::peak_memory()}));
    put("outputs", outputs(facts));
    put("doubt", or_null(facts.doubt.as_ref(), Found::json));
    if let Some(estimate) = &facts.estimate {
        let output = estimate.output.map(Size::bytes);
        let slabs = facts.room.map(|room| room.slabs);
        put("estimate", json!({"memory_bytes": estimate.memory, "slabs": slabs, "output_bytes": output}));
    }
    Value::Object(map).to_string()
}

/// What every object begins with.
fn head() -> Map<String, Value> {
    let tool = json!({"name": "voxelize", "version": env!("CARGO_PKG_VERSION")});
    Map::from_iter([("schema".to_string(), json!(1)), ("tool".to_string(), tool)])
}

/// One line of JSON for an answer of a verb, without the newline: `keys` in their order, those that
/// `known` does not have as null.
pub fn verb_line(verb: &Verb, known: &Map<String, Value>, end: &End) -> String {
    let mut map = head();
    let (status, exit_code) = match end {
        End::Yes => ("ok", errors::OK),
        End::No => ("failed", errors::NO),
        End::Failed(_, code) => ("error", *code),
    };
    map.insert("verb".to_string(), json!(verb.name));
    map.insert("status".to_string(), json!(status));
    map.insert("exit_code".to_string(), json!(exit_code));
    if let End::Failed(error, _) = end {
        map.insert("error".to_string(), failure(error));
    }
    for key in verb.keys {
        map.insert((*key).to_string(), known.get(*key).cloned().unwrap_or(Value::Null));
    }
    debug_assert!(known.keys().all(|key| verb.keys.contains(&key.as_str())), "{known:?}");
    Value::Object(map).to_string()
}

/// A value that is kept as text: as a number, if it is one.
pub fn number_or_text(value: &str) -> Value {
    value.parse::<u64>().map_or_else(|_| json!(value), |number| json!(number))
}

pub fn or_null<T>(known: Option<T>, value: impl FnOnce(T) -> Value) -> Value {
    known.map_or(Value::Null, value)
}

fn failure(error: &Error) -> Value {
    json!({
        "code": error.code(),
        "message": error.to_string(),
        "triangle": error.triangle(),
        "byte": error.byte(),
        "line": error.line(),
        "hint": errors::hint(error),
    })
}

fn input(path: &Path, facts: &Facts) -> Value {
    let source = facts.source.as_ref();
    let (format, bytes) = (source.map(|source| source.format), source.map(|source| source.bytes));
    let packing = source.and_then(|source| source.packing.name());
    json!({"path": path.to_string_lossy(), "format": format, "bytes": bytes, "packing": packing})
}

fn mesh(facts: &Facts) -> Value {
    or_null(facts.source.as_ref(), |source| {
        json!({
            "triangles": source.triangles,
            "degenerate": source.degenerate,
            "dropped": source.dropped,
            "bounds": bounds(&source.bounds),
            "closed": facts.seal.map(|seal| seal != Seal::Open),
            "oriented": facts.seal.map(|seal| seal == Seal::Oriented),
            "open_edges": null,
            "volume": null,
            "unit": null,
        })
    })
}

/// The corners of bounds; null for those of nothing, which are infinite.
pub fn bounds(bounds: &Bounds) -> Value {
    let corners = || json!({"min": bounds.min.map(f64::from), "max": bounds.max.map(f64::from)});
    or_null((!bounds.is_empty()).then_some(()), |()| corners())
}

fn grid(plan: &Plan, found: &Lattice) -> Value {
    let mut grid = lattice(found);
    grid["pad"] = json!(plan.job.grid.pad);
    grid
}

/// Where cells are.
pub fn lattice(lattice: &Lattice) -> Value {
    let floats = |values: &[Rational; 3]| json!(values.each_ref().map(|v| v.to_f64()));
    let fractions = |values: &[Rational; 3]| json!(values.each_ref().map(|v| v.to_string()));
    json!({
        "dims": lattice.dims(),
        "origin": floats(lattice.origin()),
        "origin_exact": fractions(lattice.origin()),
        "origin_is": "corner",
        "spacing": floats(lattice.spacing()),
        "spacing_exact": fractions(lattice.spacing()),
        "closed": lattice.closed(),
    })
}

/// How many cells, and which of them are on the surface, where that is known.
fn counts(occupied: u64, lattice: &Lattice, parts: Option<[u64; 2]>) -> Value {
    let cells = u64::try_from(lattice.cells()).unwrap_or(u64::MAX);
    let (surface, interior) = parts.map(|[surface, interior]| (surface, interior)).unzip();
    json!({"cells": cells, "occupied": occupied, "surface": surface, "interior": interior})
}

/// Both digests.
pub fn digest(digest: &Digest) -> Value {
    let grid = digest.grid.map(|grid| grid.to_string());
    json!({"grid": grid, "cells": digest.cells.to_string()})
}

fn timings(facts: &Facts) -> Value {
    // Microseconds are all that is repeatable.
    let ms = |time: Duration| (time.as_secs_f64() * 1e6).round() / 1e3;
    let times = &facts.times;
    json!({
        "read": times.read.map(ms),
        "voxelize": times.voxelize.map(ms),
        "digest": times.digest.map(ms),
        "write": times.write.map(ms),
        "total": ms(facts.started.elapsed()),
    })
}

fn outputs(facts: &Facts) -> Value {
    or_null(facts.outputs.as_ref(), |outputs| outputs.iter().map(output).collect())
}

fn output(written: &Written) -> Value {
    let path = written.path.to_string_lossy();
    json!({"path": path, "format": written.format, "bytes": written.bytes})
}
