//! What a voxel file is: where its cells are, how it was made, what is in it, its digests.

use std::path::Path;

use serde_json::json;
use voxelize::format::{self, Carries, Description};
use voxelize::grid::record::FIELDS;
use voxelize::grid::{Part, Record};
use voxelize::run::bytes;
use voxelize::{Lattice, Rational, Result, Voxels};

use super::super::call::Call;
use super::super::numbers::{grouped, grouped_number, number, percent, sizes};
use super::super::{json, summary, tell, told};

/// Tells of the voxels in a file.
pub fn look(path: &Path, call: &mut Call) -> Result<String> {
    let said = format::describe(path)?;
    call.know("format", said.format.name);
    call.know("bytes", said.bytes);
    call.know("dtype", said.dtype.map(|dtype| dtype.name()));
    let (voxels, parts) = format::open_parts(path)?;
    let occupied = voxels.count();
    know(call, &voxels, &parts, occupied);

    let mut text = String::new();
    let mut line = |label: &str, said: &str| tell::line(&mut text, label, said);
    let dtype = said.dtype.map_or_else(String::new, |dtype| format!(", {}", dtype.name()));
    line("voxels", &format!("{}: {}{dtype}, {}", path.display(), said.format.name, bytes(said.bytes.into())));
    line("grid", &grid(&voxels, &said));
    if let Some(exact) = voxels.lattice.as_ref().and_then(exact) {
        line("exact", &exact);
    }
    if let Some(rule) = rule(&voxels.record) {
        line("rule", &rule);
    }
    if let Some(made) = made(&voxels.record) {
        line("made", &made);
    }
    line("cells", &cells(&voxels, occupied));
    for part in &parts {
        line("", &format!("{} {}", grouped(part.cells.count()), part.sort.name()));
    }
    let digest = voxels.digest();
    call.know("digest", json::digest(&digest));
    line("digest", &summary::digest(&digest));
    Ok(text)
}

fn know(call: &mut Call, voxels: &Voxels, parts: &[Part], occupied: u64) {
    let Record { tool, rule_name, snap, input, .. } = &voxels.record;
    for name in FIELDS {
        call.know(name, voxels.record.field(name));
    }
    for (key, value) in [("rule", rule_name), ("snap", snap), ("made_by", tool), ("input", input)] {
        call.know(key, value.clone());
    }
    let count = |part: &Part| json!({"sort": part.sort.name(), "cells": part.cells.count()});
    call.know("parts", parts.iter().map(count).collect::<Vec<_>>());
    let dims = || json!({"dims": voxels.dims()});
    call.know("grid", voxels.lattice.as_ref().map_or_else(dims, json::lattice));
    let cells: u128 = voxels.dims().iter().map(|&n| n as u128).product();
    let cells = u64::try_from(cells).unwrap_or(u64::MAX);
    call.know("counts", json!({"cells": cells, "occupied": occupied}));
    call.know("volume", voxels.lattice.as_ref().map(|lattice| summary::volume(occupied, lattice)));
}

fn grid(voxels: &Voxels, said: &Description) -> String {
    let [x, y, z] = voxels.dims();
    let Some(lattice) = &voxels.lattice else {
        let hint = match (&said.metadata.lattice, said.format.carries) {
            (Some(_), _) => ", and the .json beside it is about other cells",
            (None, Carries::InFile) => "",
            (None, _) => "; with --sidecar a .json beside it does",
        };
        return format!("{x} × {y} × {z} cells; the file does not say where they are{hint}");
    };
    let size = sizes(lattice.spacing().each_ref().map(Rational::to_f64));
    let corner = lattice.origin().each_ref().map(|c| number(c.to_f64())).join(", ");
    let open: Vec<_> =
        ["x", "y", "z"].into_iter().zip(lattice.closed()).filter(|(_, closed)| !closed).collect();
    let open: Vec<_> = open.into_iter().map(|(axis, _)| axis).collect();
    let open =
        if open.is_empty() { String::new() } else { format!(", open at the end of {}", open.join(", ")) };
    format!("{x} × {y} × {z} cells of {size}, corner ({corner}){open}")
}

/// The fractions, where decimals do not say them.
fn exact(lattice: &Lattice) -> Option<String> {
    let is_said = |value: &Rational| Rational::parse_decimal(&number(value.to_f64())).as_ref() == Ok(value);
    if lattice.spacing().iter().chain(lattice.origin()).all(is_said) {
        return None;
    }
    let size = match lattice.spacing() {
        [x, ..] if lattice.is_cubic() => x.to_string(),
        all => all.each_ref().map(Rational::to_string).join(" × "),
    };
    let corner = lattice.origin().each_ref().map(Rational::to_string).join(", ");
    Some(format!("cells of {size}, corner ({corner})"))
}

/// `surface; ties: up; snap: float`.
fn rule(record: &Record) -> Option<String> {
    let snap = record.snap.as_ref().map(|snap| format!("snap: {snap}"));
    let options = record.fields.iter().map(|(name, value)| told::option(name, value, None));
    let all: Vec<_> = record.rule_name.clone().into_iter().chain(options).chain(snap).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// `by voxelize 0.1.0 from part.stl`.
fn made(record: &Record) -> Option<String> {
    let by = record.tool.as_ref().map(|tool| format!("by {tool}"));
    let from = record.input.as_ref().map(|input| format!("from {input}"));
    let all: Vec<_> = by.into_iter().chain(from).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

fn cells(voxels: &Voxels, occupied: u64) -> String {
    let all: u128 = voxels.dims().iter().map(|&n| n as u128).product();
    let share = percent(occupied, all);
    let volume = voxels.lattice.as_ref().map_or_else(String::new, |lattice| {
        format!(", volume {}", grouped_number(summary::volume(occupied, lattice)))
    });
    let all = grouped(u64::try_from(all).unwrap_or(u64::MAX));
    format!("{} of {all} ({share}){volume}", grouped(occupied))
}
