//! Report of several meshes. Reports are printed in the order of the call: each one waits until all earlier
//! meshes are done. A total follows.

use std::collections::BTreeMap;
use std::sync::Mutex;

use voxelize::format::Written;
use voxelize::grid::CellKind;
use voxelize::{Code, Kind};

use super::{BatchOptions, Item};
use crate::cli::command::Call;
use crate::cli::options::{Mode, Options};
use crate::cli::progress::Bar;
use crate::cli::report::display::{bytes, counted, dims, duration, grouped};
use crate::cli::report::{self, Outcome, Report, finding_line};
use crate::cli::run::{self, RunReport, RunResult};

/// Report of a finished mesh, and its contribution to the total.
pub struct Entry {
    report: Report,
    kind: EntryKind,
    /// Number of occupied cells.
    cells: u64,
    /// Number of bytes written. In a dry run, the estimate, or 0 if there is no estimate.
    bytes: u64,
    /// Estimated memory in a dry run, in bytes.
    memory: u128,
    /// Texts for the grid, `22 × 22 × 22 cells`, and for its padding. `None` if no grid was made.
    grid: Option<[String; 2]>,
    /// Warnings about the mesh.
    warnings: Vec<BatchWarning>,
}

/// Warning about a mesh.
struct BatchWarning {
    code: Code,
    message: String,
    /// The warning as it is printed for a single mesh.
    line: String,
}

/// Warnings that have the same code.
struct SameCode {
    /// Number of meshes that have this warning.
    count: u64,
    first: BatchWarning,
    /// The message is the same for all these meshes.
    is_one_message: bool,
}

/// Outcome of a mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    /// The output was written. In a dry run, it would be written.
    Good,
    Skipped,
    Failed,
    Interrupted,
}

impl Entry {
    pub fn new(
        batch: &BatchOptions,
        item: &Item,
        options: Option<&Options>,
        found: &RunReport,
        outcome: Outcome,
        call: &Call,
    ) -> Self {
        let kind = match &outcome {
            Outcome::Failed(error) if error.kind() == Kind::Interrupted => EntryKind::Interrupted,
            Outcome::Failed(_) => EntryKind::Failed,
            Outcome::Skipped => EntryKind::Skipped,
            _ => EntryKind::Good,
        };
        let verbosity = call.printer.options.verbosity;
        let name = format!("{}: ", item.title());
        let mut warnings = vec![];
        for finding in found
            .warnings
            .iter()
            .filter(|finding| verbosity.prints(finding))
        {
            let line = finding_line(&name, finding);
            warnings.push(BatchWarning {
                code: finding.code(),
                message: finding.text(),
                line,
            });
        }
        let mut report = Report::new(&RunResult::new(Some(&item.path), options, found), outcome);
        if let (true, Some(options)) = (
            call.printer.is_verbose() && kind != EntryKind::Failed,
            options,
        ) {
            report
                .err
                .line(format!("{name}{}", in_brief(options, found)));
            let left_out = run::left_out(options, found);
            let findings = found.warnings.iter().cloned().chain(left_out);
            report
                .err
                .findings(&name, &findings.collect::<Vec<_>>(), verbosity);
        }
        match &mut report.outcome {
            Outcome::CheckFailed(Some(why)) => *why = format!("{name}{why}"),
            // The error may name no file, or a file other than the mesh.
            Outcome::Failed(error)
                if error
                    .file()
                    .is_none_or(|file| name.strip_suffix(": ") != Some(file)) =>
            {
                report.error_text = Some(report::error_text(&name, error));
            }
            _ => {}
        }
        let mut grid = None;
        if let (EntryKind::Good, Some(options), Some(lattice)) = (kind, options, &found.lattice) {
            let padding = run::padding(&options.job.options, lattice);
            grid = Some([format!("{} cells", dims(lattice.dims())), padding]);
        }
        let written: u64 = found
            .outputs
            .iter()
            .flatten()
            .map(|written| written.bytes)
            .sum();
        Self {
            report,
            kind,
            cells: found
                .occupied
                .filter(|_| kind == EntryKind::Good)
                .unwrap_or(0),
            bytes: written + found.output_size.map_or(0, |size| size.bytes()),
            memory: found
                .memory
                .as_ref()
                .filter(|_| batch.mode == Mode::DryRun)
                .map_or(0, |plan| plan.bytes),
            grid,
            warnings,
        }
    }
}

/// Returns the outcome of a successful mesh as one line.
fn in_brief(options: &Options, found: &RunReport) -> String {
    let grid = found.lattice.as_ref().map_or_else(String::new, |lattice| {
        format!("{} cells, ", dims(lattice.dims()))
    });
    let name = options.output.name();
    match (found.occupied, &found.memory) {
        (Some(occupied), _) => {
            let time = duration(found.elapsed());
            format!("{grid}{} occupied; wrote {name}, {time}", grouped(occupied))
        }
        (None, Some(plan)) => format!("{grid}{} of memory; would be {name}", bytes(plan.bytes)),
        (None, None) => format!("skipped, {name} exists"),
    }
}

/// Prints reports in the order of the meshes, although the meshes are finished in any order.
pub struct OrderedReporter<'a> {
    batch: &'a BatchOptions,
    call: &'a Call<'a>,
    bar: &'a Bar,
    state: Mutex<BatchState>,
}

/// Sums over the printed reports, and the reports that wait for earlier ones.
#[derive(Default)]
struct BatchState {
    waiting: BTreeMap<usize, Entry>,
    next: usize,
    counts: [u64; 4],
    cells: u64,
    bytes: u64,
    /// Memory of the mesh that needs the most, in bytes.
    memory: u128,
    /// Texts for the grid and the padding that all meshes share. A text is empty where meshes differ.
    grids: Option<[String; 2]>,
    warnings: BTreeMap<Code, SameCode>,
}

impl<'a> OrderedReporter<'a> {
    pub fn new(batch: &'a BatchOptions, call: &'a Call, bar: &'a Bar) -> Self {
        Self {
            batch,
            call,
            bar,
            state: Mutex::default(),
        }
    }

    /// Adds the report of mesh `n`, then prints every report whose predecessors are all printed.
    pub fn take(&self, n: usize, entry: Entry) {
        let mut state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        state.waiting.insert(n, entry);
        loop {
            let next = state.next;
            let Some(mut entry) = state.waiting.remove(&next) else {
                return;
            };
            state.next += 1;
            state.add(&mut entry, self.batch.output.stack.is_some());
            self.bar.aside(|| self.call.printer.print(&entry.report));
        }
    }

    /// Returns the summary of warnings, and the line that counts the outputs.
    pub fn total(&self, stacked: Option<Written>) -> Vec<Report> {
        let state = self.state.lock().unwrap_or_else(|e| e.into_inner());
        let mut total = Report::default();
        let all = self.batch.items.len() as u64;
        for warning in state
            .warnings
            .values()
            .filter(|_| !self.call.printer.is_verbose())
        {
            match warning.count {
                1 => total.err.line(warning.first.line.trim_end()),
                _ => total.err.line(summed_up(warning, all)),
            }
        }
        if let Some(skipped) = self.batch.skipped.text() {
            total.err.row("skipped", skipped);
        }
        total
            .err
            .row("total", self.text(&state, stacked.map(|file| file.bytes)));
        vec![total]
    }

    /// Returns `490 of 500 written to out/, 10 failed; …`.
    fn text(&self, state: &BatchState, stacked: Option<u64>) -> String {
        let batch = self.batch;
        let [good, skipped, failed, interrupted] = state.counts;
        let all = grouped(batch.items.len() as u64);
        let would = match batch.mode {
            Mode::DryRun => "would be written",
            Mode::Write if batch.output.stack.is_some() && stacked.is_none() => {
                "made, but not written"
            }
            Mode::Write => "written",
        };
        let folder = batch
            .output
            .folder
            .as_ref()
            .map(|folder| folder.root.display().to_string());
        let place = folder.unwrap_or_else(|| batch.output.name());
        let mut text = format!("{} of {all} {would} to {place}", grouped(good));
        for (count, what) in [
            (skipped, "skipped"),
            (failed, "failed"),
            (interrupted, "interrupted"),
        ] {
            if count > 0 {
                text += &format!(", {} {what}", grouped(count));
            }
        }
        if let Some([cells, padding]) = &state.grids {
            text += &match (cells.as_str(), padding.as_str()) {
                ("", "") => String::new(),
                ("", padding) => format!("; grids{}", padding.trim_start_matches(',')),
                (cells, padding) => format!("; {cells} each{padding}"),
            };
        }
        let is_field = batch.levels[0].rule.kind() == CellKind::Field;
        let occupied = if is_field { "with a value" } else { "occupied" };
        text += &match batch.mode {
            Mode::Write => {
                format!(
                    "; {} {occupied}, {}",
                    counted(state.cells, "cell", "cells"),
                    bytes(stacked.unwrap_or(state.bytes))
                )
            }
            Mode::DryRun => {
                let memory = bytes(state.memory);
                let written = bytes(state.bytes);
                format!("; {written}, with {memory} of memory for the largest")
            }
        };
        let time = self.call.started.elapsed();
        format!(
            "{text}; {}",
            run::time_line(time, &[], &batch.levels[0].resources, "")
        )
    }
}

/// Returns `warning[W009]: 81 of 1,000 meshes: …; -v lists them`. The message is the one that all these
/// meshes have. If their messages differ, it is the text of the code.
fn summed_up(warning: &SameCode, all: u64) -> String {
    let SameCode {
        count,
        first: BatchWarning { code, message, .. },
        is_one_message,
    } = warning;
    let message = if *is_one_message {
        message
    } else {
        code.info().finding
    };
    format!(
        "warning[{code}]: {} of {} meshes: {message}; -v lists them",
        grouped(*count),
        grouped(all)
    )
}

impl BatchState {
    fn add(&mut self, entry: &mut Entry, is_stacked: bool) {
        if entry.kind == EntryKind::Interrupted {
            // The interrupt is reported once, not for each mesh.
            let is_first = self.counts[EntryKind::Interrupted as usize] == 0;
            let text = match (is_first, is_stacked) {
                (true, true) => "error: interrupted; nothing was written\n",
                (true, false) => "error: interrupted; every written file is complete\n",
                (false, _) => "",
            };
            entry.report.error_text = Some(text.to_string());
        }
        self.counts[entry.kind as usize] += 1;
        self.cells += entry.cells;
        self.bytes += entry.bytes;
        self.memory = self.memory.max(entry.memory);
        if let Some(grid) = entry.grid.take() {
            let common = self.grids.get_or_insert_with(|| grid.clone());
            for (common, one) in common.iter_mut().zip(grid) {
                if *common != one {
                    common.clear();
                }
            }
        }
        let mut codes: Vec<_> = entry.warnings.drain(..).collect();
        codes.dedup_by_key(|warning| warning.code);
        for warning in codes {
            match self.warnings.get_mut(&warning.code) {
                Some(same) => {
                    same.count += 1;
                    same.is_one_message &= same.first.message == warning.message;
                }
                None => {
                    let same = SameCode {
                        count: 1,
                        first: warning,
                        is_one_message: true,
                    };
                    self.warnings.insert(same.first.code, same);
                }
            }
        }
    }
}
