//! Rows that `-v` adds to the summary: each choice and the reason for it.

use voxelize::job::MemoryLimit;
use voxelize::mesh::closed::Closedness;
use voxelize::run::Plan as Strategy;
use voxelize::{Inside, Lattice, Level, Rational, Rule, Snap, ThinFeatures, par};

use super::inside::{inside_options, option_text};
use super::report::RunReport;
use crate::cli::options::{GridFrom, Options};
use crate::cli::output::FormatBy;
use crate::cli::report::ReportRows;
use crate::cli::report::display::{bytes, counted, open_axes};

/// Adds the rows of `-v`. Steps that the run did not reach have no rows.
pub fn verbose(rows: &mut ReportRows, options: &Options, found: &RunReport) {
    let mut why: Vec<String> = Vec::new();
    if let Some(lattice) = &found.lattice {
        why.extend(grid(options, lattice));
    }
    why.extend(rule(options, found));
    let job = &options.job.options;
    why.push(match job.grid.snap {
        Snap::Float => {
            "snap float: coordinates rounded from a wall or cell centre snap to it".into()
        }
        Snap::None => "snap none: coordinates are used as in the file".into(),
    });
    why.push(format(options));
    let offered: Vec<_> = Level::available()
        .iter()
        .map(|level| level.name())
        .collect();
    why.push(format!(
        "simd {}: this machine offers {}",
        job.resources.level.name(),
        offered.join(", ")
    ));
    why.push(format!(
        "threads {}: the system offers {}",
        job.resources.threads,
        par::available_threads()
    ));
    why.extend(memory(options, found));
    for text in why {
        rows.row("why", text);
    }
}

fn rule(options: &Options, found: &RunReport) -> Vec<String> {
    let rule = &options.job.options.rule;
    let mut why = Vec::new();
    if let Some(used) = rule.ties() {
        let by = match rule.inside() {
            Some(Inside::Flood { .. }) => "set by the flood",
            _ if Some(used) == rule.info().rule.ties() => "the rule's default",
            _ => "--ties",
        };
        why.push(format!("ties {}: {by}", used.name()));
    }
    if let Some(method) = rule.inside() {
        why.push(inside(method, found));
    }
    if let (
        Some(lost),
        Rule::Solid {
            thin: ThinFeatures::Keep,
            ..
        },
    ) = (&found.lost, rule)
    {
        if let Some(thin) = &lost.components {
            let all = counted(thin.components, "component", "components");
            why.push(format!(
                "kept with filled cells: {} of {all}",
                thin.lost + thin.broken
            ));
        }
        if let Some(thin) = &lost.places {
            let places = counted(thin.places, "place", "places");
            let cells = counted(thin.cells, "cell", "cells");
            why.push(format!("kept with filled cells: {places} of {cells}"));
        }
    }
    if let Some(repairs) = &found.inside_report.repairs {
        let mut repaired = voxelize::rule::repaired(repairs);
        if repaired.is_empty() {
            repaired = "nothing to repair".to_string();
        }
        let holes = counted(repairs.holes as u64, "hole", "holes");
        why.push(format!("mesh as robust uses it: {repaired}; {holes}"));
    }
    for (name, value) in inside_options(rule) {
        let text = option_text(name, &value, Some(found), None);
        why.push(format!("{text}: --{}", name.replace('_', "-")));
    }
    why
}

fn inside(method: Inside, found: &RunReport) -> String {
    if method != Inside::Auto {
        return format!("inside {}: --inside", method.name());
    }
    let mesh = match found.closedness {
        Some(Closedness::Oriented) if found.inside.as_deref() == Some(Inside::Robust.name()) => {
            "every triangle occurs in both orientations"
        }
        Some(Closedness::Oriented) => "the mesh is closed and consistently oriented",
        Some(Closedness::Closed) => "the mesh is closed, but inconsistently oriented",
        Some(Closedness::Open) => "the mesh is not closed",
        None => return "inside auto: the rule's default".to_string(),
    };
    format!(
        "inside {}: auto, because {mesh}",
        found.inside.as_deref().unwrap_or("auto")
    )
}

fn grid(options: &Options, lattice: &Lattice) -> [String; 3] {
    let grid = &options.job.options.grid;
    let [x, y, z] = lattice.spacing();
    let size = if lattice.is_cubic() {
        format!("{x}")
    } else {
        format!("{x}, {y}, {z}")
    };
    let [x, y, z] = lattice.origin();
    let open = open_axes(lattice);
    let last = if let GridFrom::Like(_) = grid.from {
        let open = if open.is_empty() {
            "no axis".to_string()
        } else {
            open.join(", ")
        };
        format!(
            "a face on the last wall of an axis marks the last layer, except along {open}: {}",
            grid.option
        )
    } else if open.is_empty() {
        "a face on the last wall of an axis marks the last layer: the mesh does not extend beyond it"
            .to_string()
    } else {
        format!(
            "a face on the last wall along {} marks no layer: the mesh extends beyond it",
            open.join(", ")
        )
    };
    let short = |number: &Rational| {
        let text = number.to_string();
        text.strip_suffix("/1").map(str::to_string).unwrap_or(text)
    };
    let corner = [x, y, z].map(short).join(", ");
    [
        format!("cells of exactly {size}: {}", grid.option),
        format!("corner of the grid at exactly ({corner})"),
        last,
    ]
}

fn format(options: &Options) -> String {
    let output = &options.output;
    let by = match output.format_by {
        FormatBy::Option => "--format",
        FormatBy::Extension => "the extension",
        FormatBy::Default => "the default",
    };
    let numbers = match (output.requested_dtype(), output.dtype()) {
        (Some(dtype), _) => format!("; numbers are {}: --dtype", dtype.name()),
        (None, Some(dtype)) => format!("; numbers are {}: the default of the format", dtype.name()),
        (None, None) => String::new(),
    };
    format!("format {}: {by}{numbers}", output.format.name)
}

fn memory(options: &Options, found: &RunReport) -> Vec<String> {
    let mut why = vec![match options.job.options.resources.memory {
        MemoryLimit::Requested(most) => format!("memory up to {}: --max-memory", bytes(most)),
        MemoryLimit::Available(most) => format!("memory up to {}: available now", bytes(most)),
        MemoryLimit::Share(most) => {
            format!(
                "memory up to {}: the share of one of several jobs",
                bytes(most)
            )
        }
        MemoryLimit::Unknown => {
            "memory: no limit, because the system does not report available memory".to_string()
        }
    }];
    let Some(plan) = &found.memory else {
        return why;
    };
    let parts: Vec<_> = plan
        .parts
        .iter()
        .map(|part| format!("{} {}", part.name, bytes(part.bytes)))
        .collect();
    why.push(format!(
        "{} of memory: {}",
        bytes(plan.bytes),
        parts.join(", ")
    ));
    match plan.strategy {
        Strategy::Slabs(height) => {
            why.push(format!(
                "slabs of {height} layers: all at once takes {}",
                bytes(plan.dense)
            ));
        }
        Strategy::Bricks(height) => why.push(format!(
            "cells kept in bricks of 64 × 8 × 8, written {height} layers at a time: a large grid"
        )),
        Strategy::Dense => {}
    }
    why
}
