//! The table of a verification: a line for each case, what differs below it, and the total.

use std::path::Path;
use std::time::Duration;

use voxelize::Result;
use voxelize::compare::Outcome;

use super::super::call::{Call, End};
use super::super::numbers::{counted, grouped};
use super::super::plan::Voice;
use super::super::{errors, tell};
use super::judge;
use super::report::{self, Report};
use super::work::Task;

/// Tells what came of every case, and how many pass.
///
/// # Errors
/// If it cannot be written.
pub fn print(call: &mut Call, goldens: &Path, tasks: &[Task], reports: &[Report]) -> Result<()> {
    let rows: Vec<_> = tasks.iter().zip(reports).map(|(task, report)| row(task, report)).collect();
    let lines = aligned(&rows);
    for ((task, report), line) in tasks.iter().zip(reports).zip(lines) {
        let mut details = report::details(task, report);
        if call.telling.voice == Voice::Verbose {
            details.extend(report::grid(report));
        }
        let below: String = details.iter().map(|detail| format!("       {detail}\n")).collect();
        report::know(call, task, report);
        let end = end(call, &report.outcome);
        call.answer(&format!("{line}\n{below}"), &end)?;
    }
    if call.prints() { tell::to_stdout(&total(goldens, reports)) } else { Ok(()) }
}

/// How the answer for a case ends. Where no table is read, its error is said like any other.
fn end(call: &Call, outcome: &Outcome) -> End {
    match outcome {
        Outcome::Failed(error) => {
            if !call.prints() {
                errors::print(error);
            }
            End::Failed(error.clone(), judge::code(outcome))
        }
        outcome if outcome.passes() => End::Yes,
        _ => End::No,
    }
}

/// The columns of a case: status, name or mesh, options, cells, time.
fn row(task: &Task, report: &Report) -> [String; 5] {
    let status = match &report.outcome {
        outcome if outcome.passes() => "pass",
        Outcome::Failed(_) => "ERROR",
        _ => "FAIL",
    };
    let cells = report.found.map_or(String::new(), |found| counted(found.cells, "cell", "cells"));
    let unnamed = format!("{} {}", task.mesh, task.options).trim_end() == task.title;
    let name = if unnamed { &task.mesh } else { &task.title };
    [status.to_string(), name.clone(), task.options.clone(), cells, time(report.time)]
}

/// The rows as lines: numbers to the right, words to the left.
fn aligned(rows: &[[String; 5]]) -> Vec<String> {
    let width = |n: usize| rows.iter().map(|row| row[n].chars().count()).max().unwrap_or(0);
    let widths: [usize; 5] = std::array::from_fn(width);
    let [_, name, options, cells, time] = widths;
    let line = |[a, b, c, d, e]: &[String; 5]| {
        format!("{a:<5}  {b:<name$}  {c:<options$}  {d:>cells$}  {e:>time$}").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

fn total(goldens: &Path, reports: &[Report]) -> String {
    let count = |of: &dyn Fn(&Outcome) -> bool| reports.iter().filter(|r| of(&r.outcome)).count() as u64;
    let passed = count(&Outcome::passes);
    let errors = count(&|outcome| matches!(outcome, Outcome::Failed(_)));
    let failed = reports.len() as u64 - passed - errors;
    let (cases, pass) = match reports.len() as u64 {
        1 if passed == 1 => ("1 case".to_string(), "passes"),
        n => (format!("{} cases", grouped(n)), "pass"),
    };
    let mut text = format!("{}: {} of {cases} {pass}", goldens.display(), grouped(passed));
    if failed > 0 {
        text += &format!(", {}", counted(failed, "differs", "differ"));
    }
    if errors > 0 {
        text += &format!(", {}", counted(errors, "error", "errors"));
    }
    text += "\n";
    if reports.iter().any(|report| report.outcome == Outcome::Digest) {
        text += "hint: a digest cannot say where; --update LIST MESH OPTIONS --golden DIR keeps the cells\n";
    }
    text
}

/// `1.2 ms`, `3.40 s`.
fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        short if short < 1.0 => format!("{:.1} ms", 1e3 * short),
        long => format!("{long:.2} s"),
    }
}
