//! What is known of a case when it is done, in words, as JSON and as JUnit XML.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use voxelize::compare::junit::{self, Reason, Suite, Test, Verdict};
use voxelize::compare::{Difference, Outcome};
use voxelize::grid::Hash;
use voxelize::{Lattice, Result, format};

use super::super::boxes::{boxed, corners, share};
use super::super::call::Call;
use super::super::errors;
use super::super::numbers::{counted, grouped, number, sizes};
use super::work::{Made, Task};

/// The keys of the JSON of a case.
pub const KEYS: &[&str] = &[
    "name",
    "mesh",
    "options",
    "outcome",
    "result",
    "golden",
    "difference",
    "mismatch",
    "allowed",
    "pictures",
    "time_ms",
];

/// What is known of a case.
pub struct Report {
    /// What came out.
    pub found: Option<Found>,
    /// What should have.
    pub golden: Option<Found>,
    /// Where the cells are.
    pub lattice: Option<Lattice>,
    /// What came of it.
    pub outcome: Outcome,
    /// The files that show how the cells differ.
    pub shown: Vec<PathBuf>,
    /// How long it took.
    pub time: Duration,
}

/// A grid in brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// The digest of cells and lattice.
    pub grid: Option<Hash>,
    /// The occupied cells.
    pub cells: u64,
}

impl Found {
    /// What was made, in brief.
    pub fn of(made: &Made) -> Self {
        Self { grid: made.digest.grid, cells: made.cells }
    }

    fn json(self) -> Value {
        json!({"cells": self.cells, "digest": self.grid.map(|grid| grid.to_string())})
    }
}

/// Why a case does not pass, or passes only just: a line each, the first says it all in brief.
pub fn details(task: &Task, report: &Report) -> Vec<String> {
    match &report.outcome {
        Outcome::Same => vec![],
        Outcome::Allowed(difference) | Outcome::Cells(difference) => cells(task, report, difference),
        Outcome::Digest => digests(report),
        Outcome::Grid(other) => std::iter::once("the grid is another; golden and now:".to_string())
            .chain(other.iter().map(|what| format!("  {what}")))
            .collect(),
        Outcome::Failed(error) => {
            let hint = errors::hint(error).map(|hint| format!("hint: {hint}"));
            std::iter::once(error.to_string()).chain(hint).collect()
        }
        other => vec![format!("{}", other.name())],
    }
}

/// What -v says of what came out: where its cells are, and its digest.
pub fn grid(report: &Report) -> Vec<String> {
    let lattice = report.lattice.as_ref().map(|lattice| {
        let [x, y, z] = lattice.dims();
        let size = sizes(lattice.spacing().each_ref().map(|s| s.to_f64()));
        let corner = lattice.origin().each_ref().map(|c| number(c.to_f64())).join(", ");
        format!("grid: {x} × {y} × {z} cells of {size}, corner ({corner})")
    });
    let digest = report.found.and_then(|found| Some(format!("digest: {}", found.grid?)));
    lattice.into_iter().chain(digest).collect()
}

fn cells(task: &Task, report: &Report, difference: &Difference) -> Vec<String> {
    let Difference { added, removed, .. } = difference;
    let differ = counted(difference.differing(), "cell differs", "cells differ");
    let mut lines = vec![format!(
        "{differ}: {} added, {} removed; golden has {}, now {}; intersection over union {}",
        grouped(*added),
        grouped(*removed),
        grouped(difference.first()),
        grouped(difference.second()),
        share(difference.iou())
    )];
    lines
        .extend(difference.bounds.map(|bounds| format!("where: {}", boxed(bounds, report.lattice.as_ref()))));
    if !report.shown.is_empty() {
        let names: Vec<_> = report.shown.iter().map(|path| path.display().to_string()).collect();
        lines.push(format!("shown: {}", names.join(", ")));
    }
    if !task.gate.is_closed() {
        let few = task.gate.allow.map(|most| counted(most, "cell", "cells"));
        let alike = task.gate.iou_min.map(|least| format!("intersection over union at least {least}"));
        let both: Vec<_> = few.into_iter().chain(alike).collect();
        lines.push(format!("allowed: {}", both.join(" and ")));
    }
    lines
}

fn digests(report: &Report) -> Vec<String> {
    let (Some(golden), Some(found)) = (report.golden, report.found) else { return vec![] };
    let digest = |of: Found| of.grid.map(|grid| grid.to_string()).unwrap_or_default();
    let first = if golden.cells == found.cells {
        let cells = counted(golden.cells, "cell", "cells");
        format!("the digest is another: {cells} as in the golden, but not the same ones, or elsewhere")
    } else {
        format!(
            "the digest is another: golden has {}, now {}",
            counted(golden.cells, "cell", "cells"),
            grouped(found.cells)
        )
    };
    vec![first, format!("golden {}", digest(golden)), format!("now    {}", digest(found))]
}

/// Notes which case it is, for its JSON.
pub fn know_task(call: &mut Call, task: &Task) {
    call.know("name", task.title.as_str());
    call.know("mesh", task.mesh.as_str());
    call.know("options", task.options.as_str());
}

/// Notes what is known of a case for its JSON.
pub fn know(call: &mut Call, task: &Task, report: &Report) {
    know_task(call, task);
    call.know("outcome", report.outcome.name());
    call.know("result", report.found.map_or(Value::Null, Found::json));
    call.know("golden", report.golden.map_or(Value::Null, Found::json));
    if let Some(difference) = report.outcome.difference() {
        call.know("difference", json(report, difference));
    }
    if let Outcome::Grid(other) = &report.outcome {
        call.know("mismatch", other.clone());
    }
    call.know("allowed", json!({"cells": task.gate.allow, "iou": task.gate.iou_min}));
    let shown = report.shown.iter().map(|path| path.to_string_lossy());
    call.know("pictures", shown.collect::<Value>());
    call.know("time_ms", (report.time.as_secs_f64() * 1e6).round() / 1e3);
}

fn json(report: &Report, difference: &Difference) -> Value {
    let within = difference.bounds.map(|bounds| {
        let [low, high] = bounds;
        let world = report.lattice.as_ref().map(|lattice| {
            let [min, max] = corners(lattice, low, high);
            json!({"min": min, "max": max})
        });
        json!({"cells": {"min": low, "max": high}, "world": world})
    });
    json!({
        "common": difference.common,
        "added": difference.added,
        "removed": difference.removed,
        "iou": difference.iou(),
        "box": within,
    })
}

/// What to do if the report of `--junit` cannot be written.
pub const OTHER_JUNIT: &str = "--junit FILE names another file";

/// Writes the report of `--junit`.
///
/// # Errors
/// If it cannot be written.
pub fn write_junit(
    path: &Path,
    goldens: &Path,
    tasks: &[Task],
    reports: &[Report],
    time: Duration,
) -> Result<()> {
    let tests = tasks.iter().zip(reports).map(|(task, report)| test(task, report)).collect();
    let suite = Suite { name: goldens.display().to_string(), tests, time };
    let xml = junit::to_xml(&suite);
    let written = format::save_bytes(path, "junit", |out| out.write_all(xml.as_bytes()));
    written.map(drop).map_err(|e| errors::or_hint(e, OTHER_JUNIT))
}

fn test(task: &Task, report: &Report) -> Test {
    let lines = details(task, report);
    let reason = || Reason {
        kind: report.outcome.name().to_string(),
        message: lines.first().cloned().unwrap_or_default(),
        text: lines.join("\n"),
    };
    let verdict = match &report.outcome {
        outcome if outcome.passes() => Verdict::Passed,
        Outcome::Failed(_) => Verdict::Error(reason()),
        _ => Verdict::Failed(reason()),
    };
    Test { name: task.title.clone(), place: task.place.clone(), time: report.time, verdict }
}
