//! The results of a run, as far as it came; summary, JSON and -v print them.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use voxelize::format::{FileSize, Written};
use voxelize::grid::{FieldSummary, Hash, Label, Quantity};
use voxelize::job::{MemoryPlan, SharedCells};
use voxelize::mesh::closed::{Closedness, ClosednessDefect};
use voxelize::mesh::read::Packing;
use voxelize::rule::{InsideReport, LostFeatures};
use voxelize::{Bounds, Digest, Finding, Inside, Lattice, Rational};

use super::super::report::display::{grouped, number, percent};

/// The results of a run; steps that it did not reach are `None`.
pub struct RunReport {
    pub started: Instant,
    pub mesh: Option<MeshInput>,
    pub lattice: Option<Lattice>,
    pub memory: Option<MemoryPlan>,
    /// The peak of memory that is expected, with the program; only for a dry run.
    pub peak: Option<u128>,
    /// The size of the output to come; only for a dry run, where its format allows a guess.
    pub output_size: Option<FileSize>,
    /// The axes along which the mesh goes on beyond a box that was given: `x, z`.
    pub cut: Option<String>,
    /// Coordinates that were snapped.
    pub snapped: Option<u64>,
    /// How far the mesh is closed, where that matters.
    pub closedness: Option<Closedness>,
    /// The defect that the cheap part of a check shows, where that matters.
    pub defect: Option<ClosednessDefect>,
    /// How inside was decided, by name.
    pub inside: Option<String>,
    /// Findings about the inside.
    pub inside_report: InsideReport,
    /// The features that solid loses or keeps.
    pub lost: Option<LostFeatures>,
    /// How many cells keep them.
    pub kept: Option<u64>,
    /// Occupied cells.
    pub occupied: Option<u64>,
    /// The values of a field; its occupied cells are those with a value.
    pub field: Option<FieldSummary>,
    /// The sum of shares of cells.
    pub shares: Option<f64>,
    /// The mesh has colours.
    pub has_colours: bool,
    /// The arrays beside it, with the digest of each.
    pub arrays: Vec<(Quantity, Hash)>,
    /// How many of them have each label, where they are labelled.
    pub labels: Vec<(Label, u64)>,
    /// How many cells of parts have the label of a part before them.
    pub taken: u64,
    /// The same for each pair of labels.
    pub shared: Vec<SharedCells>,
    /// Cells in doubt, if requested.
    pub doubt: Option<DoubtReport>,
    /// Cells of the leak path, if requested.
    pub leak_path: Option<u64>,
    pub digest: Option<Digest>,
    pub warnings: Vec<Finding>,
    pub times: Times,
    /// The files written.
    pub outputs: Option<Vec<Written>>,
}

/// How many cells are surface and interior, if these are the labels.
pub fn surface_and_interior(labels: &[(Label, u64)]) -> Option<[u64; 2]> {
    let is_standard = labels.iter().map(|(label, _)| label).eq(&[Label::SURFACE, Label::INTERIOR]);
    is_standard.then(|| [labels[0].1, labels[1].1])
}

/// One of several files that were read.
pub struct MeshFile {
    pub name: String,
    /// `stl-binary`.
    pub format: &'static str,
    pub bytes: u64,
    pub packing: Packing,
}

/// About the input.
pub struct MeshInput {
    /// `stl-binary`; of several files the format of the first.
    pub format: &'static str,
    /// Of all files.
    pub bytes: u64,
    pub packing: Packing,
    /// The files, if there are several.
    pub files: Vec<MeshFile>,
    pub triangles: usize,
    /// How many of them have no area.
    pub degenerate: u64,
    /// How many were there, or in parts, and were not taken.
    pub dropped: u64,
    pub bounds: Bounds,
}

/// How long each phase took.
#[derive(Default)]
pub struct Times {
    pub read: Option<Duration>,
    pub voxelize: Option<Duration>,
    /// Counting and digests.
    pub digest: Option<Duration>,
    pub write: Option<Duration>,
}

impl RunReport {
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            mesh: None,
            lattice: None,
            memory: None,
            peak: None,
            output_size: None,
            cut: None,
            snapped: None,
            inside: None,
            inside_report: InsideReport::default(),
            lost: None,
            kept: None,
            occupied: None,
            field: None,
            shares: None,
            has_colours: false,
            arrays: vec![],
            labels: vec![],
            taken: 0,
            shared: vec![],
            closedness: None,
            defect: None,
            doubt: None,
            leak_path: None,
            digest: None,
            warnings: Vec::new(),
            times: Times::default(),
            outputs: None,
        }
    }
}

/// Does `work` and adds how long it took.
pub fn timed<R>(time: &mut Option<Duration>, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *time = Some(time.unwrap_or_default() + start.elapsed());
    result
}

/// Cells in doubt.
#[derive(Debug, Clone)]
pub struct DoubtReport {
    pub cells: u64,
    /// Cells that any compared method calls inside.
    pub inside: u64,
    /// Cells that each of them does.
    pub by: [(Inside, u64); 4],
    /// Whether the flood leaked, so that it is not compared.
    pub leaked: bool,
    /// How many are allowed, of those inside.
    pub most: Option<Rational>,
}

impl DoubtReport {
    /// Whether no more cells are in doubt than are allowed.
    pub fn passes(&self) -> bool {
        let whole = |n: u64| Rational::from(i64::try_from(n).unwrap_or(i64::MAX));
        self.most.as_ref().is_none_or(|most| whole(self.cells) <= most * &whole(self.inside))
    }

    /// `1,234 cells (0.4 % of 310,000 that any of four methods calls inside)`.
    pub fn line(&self) -> String {
        let cells = if self.cells == 1 { "cell" } else { "cells" };
        let share = percent(self.cells, u128::from(self.inside));
        let inside = grouped(self.inside);
        let methods = if self.leaked { "three methods" } else { "four methods" };
        format!("{} {cells} ({share} of {inside} that any of {methods} calls inside)", grouped(self.cells))
    }

    /// `inside by nonzero 310,000, evenodd 309,980, robust 309,990, flood 290,000 without the surface`; a flood that
    /// leaked is named apart.
    pub fn by_method(&self) -> String {
        let [flood, others] = [true, false].map(|is_flood| {
            let by = self.by.iter().filter(|(method, _)| method.is_flood() == is_flood);
            by.map(|(method, cells)| format!("{} {}", method.name(), grouped(*cells))).collect::<Vec<_>>()
        });
        match self.leaked {
            true => format!("inside by {}; flood leaked, and is left out", others.join(", ")),
            false => {
                format!("inside by {}, {} without the surface", others.join(", "), flood.join(", "))
            }
        }
    }

    /// The methods that are not compared.
    fn left_out(&self) -> Vec<&'static str> {
        let left_out = self.by.iter().filter(|(method, _)| self.leaked && method.is_flood());
        left_out.map(|(method, _)| method.name()).collect()
    }

    /// Why the check failed.
    pub fn refusal(&self) -> String {
        let most = self.most.as_ref().map_or(1.0, Rational::to_f64);
        format!("failed: {} are in doubt; --max-doubt allows {} %", self.line(), number(100.0 * most))
    }

    pub fn json(&self) -> Value {
        let share = if self.inside == 0 { 0.0 } else { self.cells as f64 / self.inside as f64 };
        let by: Map<_, _> =
            self.by.iter().map(|(method, cells)| (method.name().to_string(), json!(cells))).collect();
        let most = self.most.as_ref().map(Rational::to_f64);
        json!({
            "cells": self.cells,
            "share": share,
            "inside": self.inside,
            "inside_by": by,
            "left_out": self.left_out(),
            "asked_most": most,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::args::values;
    use super::*;

    #[test]
    fn as_many_cells_in_doubt_as_are_allowed_pass_and_no_more() {
        for (most, cells, inside, passes) in [
            ("0.7%", 7, 1000, true),
            ("0.007", 8, 1000, false),
            ("0", 0, 0, true),
            ("0", 1, u64::MAX >> 1, false),
            ("100 %", 5, 5, true),
        ] {
            let by = [(Inside::Nonzero, inside); 4];
            let found =
                DoubtReport { cells, inside, by, leaked: false, most: Some(values::portion(most).unwrap()) };
            assert_eq!(found.passes(), passes, "{found:?}");
        }
        let by = [(Inside::Robust, 5); 4];
        assert!(DoubtReport { cells: 5, inside: 5, by, leaked: true, most: None }.passes());
        for wrong in ["101%", "-1%", "1.1", "%", "1%%", "some"] {
            assert!(values::portion(wrong).is_err(), "{wrong}");
        }
    }
}
