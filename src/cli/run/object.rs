//! The report of a run as JSON, schema 1. Every key is always present; phases not reached are null.

use std::path::Path;

use serde_json::{Value, json};
use voxelize::format::FileSize;
use voxelize::grid::record::INSIDE;
use voxelize::grid::{CellKind, Label};
use voxelize::job::system::peak_memory;
use voxelize::job::{SharedCells, Transform};
use voxelize::mesh::closed::Closedness;
use voxelize::tool::text::GridCoordinates;
use voxelize::{Lattice, Rational};

use super::super::options::{JobOptions, Mode, Options};
use super::super::report::{Report, value};
use super::field;
use super::findings;
use super::report::{DoubtReport, MeshFile, RunReport, surface_and_interior};

pub const KEYS: &str = "input mesh transform grid rule [options] inside snap counts field volume digest warnings run \
                        timings_ms memory outputs doubt";

/// Sets the keys of `report`, for the mesh of this name.
pub fn fill_object(report: &mut Report, mesh: Option<&Path>, options: Option<&Options>, found: &RunReport) {
    set_input(report, mesh, options.map(|options| &options.job.options), found);
    if let Some(options) = options {
        set_options(report, options, found);
    }
    let rule = options.map(|options| options.job.options.rule);
    let field = rule.filter(|rule| rule.kind() == CellKind::Field);
    if let (Some(rule), Some(lattice)) = (field, &found.lattice) {
        report.set("field", field::json(&rule, found, lattice));
        report.set("counts", json!({"cells": value::cells(lattice.dims()), "occupied": null}));
        if let Some(shares) = found.shares {
            let cell: f64 = lattice.spacing().iter().map(Rational::to_f64).product();
            report.set("volume", json!(shares * cell));
        }
    } else if let (Some(occupied), Some(lattice)) = (found.occupied, &found.lattice) {
        // With nothing inside, all is surface.
        let is_hollow = rule.is_some_and(|rule| rule.is_hollow());
        let labels = if is_hollow { Some([occupied, 0]) } else { surface_and_interior(&found.labels) };
        let mut counts = counts(occupied, lattice, labels);
        if !found.labels.is_empty() && surface_and_interior(&found.labels).is_none() {
            let counted = |(label, cells): &(Label, u64)| {
                let volume = value::volume(*cells, lattice);
                json!({"label": label.name, "value": label.value, "cells": cells, "volume": volume})
            };
            let shared = |pair: &SharedCells| {
                let volume = value::volume(pair.cells, lattice);
                json!({
                    "labels": [pair.first.name, pair.second.name],
                    "cells": pair.cells,
                    "volume": volume,
                })
            };
            counts["taken"] = json!(found.taken);
            counts["shared"] = found.shared.iter().map(shared).collect();
            counts["labels"] = found.labels.iter().map(counted).collect();
        }
        report.set("counts", counts);
        report.set("volume", value::volume(occupied, lattice));
    }
    report.set("digest", or_null(found.digest.as_ref(), value::digest));
    report.set("warnings", found.warnings.iter().map(value::finding).collect::<Value>());
    report.set("timings_ms", timings(found));
    report.set("memory", json!({"peak_bytes": peak_memory()}));
    report.set("outputs", or_null(found.outputs.as_ref(), value::outputs));
    report.set("doubt", or_null(found.doubt.as_ref(), DoubtReport::json));
}

/// Sets the keys about the mesh of this name.
pub fn set_input(report: &mut Report, mesh: Option<&Path>, options: Option<&JobOptions>, found: &RunReport) {
    report.set("input", or_null(mesh, |path| input(path, found)));
    let coordinates = options.map(|options| options.grid.transform.coordinates()).unwrap_or_default();
    report.set("mesh", mesh_json(found, &coordinates));
}

/// The choices, and the plan of a dry run.
fn set_options(report: &mut Report, options: &Options, found: &RunReport) {
    let job = &options.job.options;
    let Transform { up, axes, matrix, scale, translate, .. } = &job.grid.transform;
    let mut transform = json!({
        "up": up.name(),
        "axes": axes.to_string(),
        "rotate": job.grid.transform.rotation_text(),
        "scale": scale.to_string(),
        "translate": translate.each_ref().map(|by| by.to_string()),
    });
    if let Some(matrix) = matrix {
        transform["matrix"] = json!(matrix.to_string());
    }
    report.set("transform", transform);
    if let Some(lattice) = &found.lattice {
        let mut grid = value::lattice(lattice);
        grid["pad"] = match job.grid.padding(lattice) {
            Some([x, y, z]) if x == y && y == z => json!(x),
            padding => json!(padding),
        };
        report.set("grid", grid);
    }
    report.set("rule", job.rule.name());
    let fields = job.rule.fields().into_iter().take_while(|(name, _)| *name != INSIDE);
    fields.for_each(|(name, value)| report.set(name, value));
    report.set("inside", findings::json(&job.rule, found, &job.grid.transform.coordinates()));
    report.set("snap", json!({"mode": job.grid.snap.name(), "coordinates": found.snapped}));
    let strategy = found.memory.as_ref().map(|memory| memory.strategy.name());
    let threads = job.resources.threads;
    let level = job.resources.level.name();
    report.set("run", json!({"threads": threads, "simd": level, "plan": strategy}));
    if let (Some(memory), Mode::DryRun) = (&found.memory, options.mode) {
        let bytes = u64::try_from(memory.bytes).unwrap_or(u64::MAX);
        let output = found.output_size.map(FileSize::bytes);
        let cells = found.lattice.as_ref().map(|lattice| value::cells(lattice.dims()));
        report.set(
            "estimate",
            json!({
                "memory_bytes": bytes,
                "peak_bytes": found.peak.map(|bytes| u64::try_from(bytes).unwrap_or(u64::MAX)),
                "slabs": memory.slabs,
                "output_bytes": output,
                "cells": cells,
            }),
        );
    }
}

fn or_null<T>(known: Option<T>, value: impl FnOnce(T) -> Value) -> Value {
    known.map_or(Value::Null, value)
}

fn input(path: &Path, found: &RunReport) -> Value {
    let mesh = found.mesh.as_ref();
    let format = mesh.map(|mesh| mesh.format);
    let bytes = mesh.map(|mesh| mesh.bytes);
    let packing = mesh.and_then(|mesh| mesh.packing.name());
    // Of several files, the sum; each of them stands among the files.
    let files = mesh.map(|mesh| mesh.files.as_slice()).filter(|files| !files.is_empty());
    let file = |file: &MeshFile| {
        let MeshFile { name, format, bytes, packing } = file;
        json!({"path": name, "format": format, "bytes": bytes, "packing": packing.name()})
    };
    let files = files.map(|files| files.iter().map(file).collect::<Value>());
    let path = path.to_string_lossy();
    json!({"path": path, "format": format, "bytes": bytes, "packing": packing, "files": files})
}

fn mesh_json(found: &RunReport, coordinates: &GridCoordinates) -> Value {
    or_null(found.mesh.as_ref(), |mesh| {
        json!({
            "triangles": mesh.triangles,
            "degenerate": mesh.degenerate,
            "dropped": mesh.dropped,
            "bounds": value::bounds(&mesh.bounds, coordinates),
            "closed": found.closedness.map(|closedness| closedness != Closedness::Open),
            "oriented": found.closedness.map(|closedness| closedness == Closedness::Oriented),
            "unit": coordinates.unit,
        })
    })
}

/// How many cells, and how many of them are surface and interior, where that is known.
fn counts(occupied: u64, lattice: &Lattice, labels: Option<[u64; 2]>) -> Value {
    let (surface, interior) = labels.map(|[surface, interior]| (surface, interior)).unzip();
    let cells = value::cells(lattice.dims());
    json!({"cells": cells, "occupied": occupied, "surface": surface, "interior": interior})
}

fn timings(found: &RunReport) -> Value {
    let times = &found.times;
    json!({
        "read": times.read.map(value::ms),
        "voxelize": times.voxelize.map(value::ms),
        "digest": times.digest.map(value::ms),
        "write": times.write.map(value::ms),
        "total": value::ms(found.started.elapsed()),
    })
}
