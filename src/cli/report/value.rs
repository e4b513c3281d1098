//! Values for programs: the parts that objects of `--json` have in common. Keys of schema 1 stay.

use std::time::Duration;

use serde_json::{Value, json};
use voxelize::format::Written;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Bounds, Digest, Error, Finding, Lattice, Rational};

use super::display::corners;
use super::{hint, spelled};

pub fn error(error: &Error) -> Value {
    json!({
        "code": error.code().name(),
        "message": error.to_string(),
        "triangle": error.triangle(),
        "byte": error.byte(),
        "line": error.line(),
        "hint": hint(error),
    })
}

/// The corners of bounds; null for empty bounds, which are infinite.
pub fn bounds(bounds: &Bounds, coordinates: &GridCoordinates) -> Value {
    match bounds.is_empty() {
        true => Value::Null,
        false => {
            let [min, max] = [bounds.min, bounds.max].map(|corner| coordinates.point(corner.map(f64::from)));
            json!({"min": min, "max": max})
        }
    }
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

pub fn digest(digest: &Digest) -> Value {
    json!({"grid": digest.grid.map(|grid| grid.to_string()), "cells": digest.cells.to_string()})
}

/// The number of cells of a grid.
pub fn cells(dims: [usize; 3]) -> u64 {
    let cells: u128 = dims.iter().map(|&n| n as u128).product();
    u64::try_from(cells).unwrap_or(u64::MAX)
}

/// The volume of the occupied cells, in cubic units of the file.
pub fn volume(occupied: u64, lattice: &Lattice) -> f64 {
    let count = Rational::from(i64::try_from(occupied).unwrap_or(i64::MAX));
    (lattice.cell_volume() * count).to_f64()
}

/// Where two grids differ; null if they do not.
pub fn difference_box(bounds: Option<[[usize; 3]; 2]>, lattice: Option<&Lattice>) -> Value {
    let Some([low, high]) = bounds else { return Value::Null };
    let world = lattice.map(|lattice| {
        let [min, max] = corners(lattice, [low, high]);
        json!({"min": min, "max": max})
    });
    json!({"cells": {"min": low, "max": high}, "world": world})
}

/// Milliseconds; of these, microseconds are all that is repeatable.
pub fn ms(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

pub fn outputs<'a>(written: impl IntoIterator<Item = &'a Written>) -> Value {
    let output =
        |one: &Written| json!({"path": one.path.to_string_lossy(), "format": one.format, "bytes": one.bytes});
    written.into_iter().map(output).collect()
}

/// A warning or a note.
pub fn finding(finding: &Finding) -> Value {
    let first = &finding.first;
    json!({
        "level": finding.severity.name(),
        "code": first.code().name(),
        "message": first.message(),
        "hint": first.hint().map(|hint| hint.spelled(|set| Some(spelled(set)))),
        "count": finding.count,
        "triangle": first.triangle(),
        "byte": first.byte(),
        "line": first.line(),
    })
}
