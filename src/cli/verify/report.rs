//! The result of a case: rows, JSON and JUnit XML; and the total.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};
use voxelize::compare::{CaseResult, Difference};
use voxelize::grid::Hash;
use voxelize::job::OutFile;
use voxelize::tool::junit::{self, Reason, Suite, Test, Verdict};
use voxelize::{Finding, Lattice, Result};

use super::super::command::Call;
use super::super::report::display::{self, cell_box, counted, duration, grouped, sanitized, share};
use super::super::report::{Outcome, Report, finding_line, hint, value};
use super::super::signals::Signals;
use super::task::{CaseCells, Task};

/// Result of a case as JSON.
#[derive(Default, Serialize)]
pub struct CaseJson {
    name: Option<String>,
    mesh: Option<String>,
    options: Option<String>,
    pub outcome: Option<&'static str>,
    result: Option<GridBrief>,
    golden: Option<GridBrief>,
    difference: Option<CellDifference>,
    mismatch: Option<Vec<String>>,
    allowed: Option<Allowed>,
    pictures: Option<Vec<String>>,
    warnings: Option<Vec<value::Warning>>,
    time_ms: Option<f64>,
}

#[derive(Serialize)]
struct CellDifference {
    common: u64,
    added: u64,
    removed: u64,
    iou: f64,
    #[serde(rename = "box")]
    within: Option<value::DifferenceBox>,
}

#[derive(Serialize)]
struct Allowed {
    cells: Option<u64>,
    iou: Option<f64>,
}

/// The result of a case.
pub struct CaseReport {
    /// The result.
    pub found: Option<GridBrief>,
    /// The recorded grid.
    pub golden: Option<GridBrief>,
    /// Where the cells are.
    pub lattice: Option<Lattice>,
    /// The outcome.
    pub outcome: CaseResult,
    /// The files that show how the cells differ.
    pub shown: Vec<PathBuf>,
    /// Why there are none, where they were requested.
    pub not_shown: Option<&'static str>,
    /// Warnings and notes about the mesh and its cells.
    pub findings: Vec<Finding>,
    /// How long it took.
    pub time: Duration,
}

/// A grid in brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct GridBrief {
    /// The occupied cells.
    pub cells: u64,
    /// The digest of cells and lattice.
    #[serde(rename = "digest", serialize_with = "as_text")]
    pub grid: Option<Hash>,
}

fn as_text<S: Serializer>(hash: &Option<Hash>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    hash.map(|hash| hash.to_string()).serialize(serializer)
}

impl GridBrief {
    /// The result in brief.
    pub fn of(made: &CaseCells) -> Self {
        Self { grid: made.digest.grid, cells: made.cells }
    }
}

/// Why a case does not pass, or passes only just: a line each, the first says it all in brief.
pub fn details(task: &Task, report: &CaseReport) -> Vec<String> {
    match &report.outcome {
        CaseResult::Same => vec![],
        CaseResult::Allowed(difference) | CaseResult::Cells(difference) => cells(task, report, difference),
        CaseResult::Digest => digests(report),
        CaseResult::Grid(other) => grid_changes(other),
        CaseResult::Failed(error) => {
            let hint = hint(error).map(|hint| format!("hint: {hint}"));
            std::iter::once(error.to_string()).chain(hint).collect()
        }
    }
}

/// The first change on the first line, which is all that some readers of JUnit show.
fn grid_changes(changes: &[String]) -> Vec<String> {
    let [first, others @ ..] = changes else { return vec!["the grid changed".to_string()] };
    let more = match others.len() {
        0 => String::new(),
        count => format!("; {} below", counted(count as u64, "more change", "more changes")),
    };
    let first = format!("the grid changed: {first}{more}");
    std::iter::once(first).chain(others.iter().map(|change| format!("  {change}"))).collect()
}

/// The lines of -v about the result: where its cells are, and its digest.
pub fn grid(report: &CaseReport) -> Vec<String> {
    let lattice = report.lattice.as_ref().map(|lattice| format!("grid: {}", display::grid(lattice)));
    let digest = report.found.and_then(|found| Some(format!("digest: {}", found.grid?)));
    lattice.into_iter().chain(digest).collect()
}

fn cells(task: &Task, report: &CaseReport, difference: &Difference) -> Vec<String> {
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
    lines.extend(
        difference.bounds.map(|bounds| format!("where: {}", cell_box(bounds, report.lattice.as_ref()))),
    );
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

fn digests(report: &CaseReport) -> Vec<String> {
    let (Some(golden), Some(found)) = (report.golden, report.found) else { return vec![] };
    let digest = |of: GridBrief| of.grid.map(|grid| grid.to_string()).unwrap_or_default();
    let first = if golden.cells == found.cells {
        let cells = counted(golden.cells, "cell", "cells");
        format!("the digest differs: {cells} as in the golden, but others, or at another position")
    } else {
        format!(
            "the digest differs: golden has {}, now {}",
            counted(golden.cells, "cell", "cells"),
            grouped(found.cells)
        )
    };
    vec![first, format!("golden {}", digest(golden)), format!("now    {}", digest(found))]
}

impl CaseJson {
    /// Sets the keys of which case it is.
    pub fn set_task(&mut self, task: &Task) {
        self.name = Some(task.title.clone());
        self.mesh = Some(task.mesh.clone());
        self.options = Some(task.options.clone());
    }

    pub fn new(task: &Task, case: &CaseReport) -> Self {
        let mut json = Self::default();
        json.set_task(task);
        json.outcome = Some(case.outcome.name());
        json.result = case.found;
        json.golden = case.golden;
        json.difference = case.outcome.difference().map(|difference| CellDifference {
            common: difference.common,
            added: difference.added,
            removed: difference.removed,
            iou: difference.iou(),
            within: difference.bounds.map(|bounds| value::DifferenceBox::new(bounds, case.lattice.as_ref())),
        });
        if let CaseResult::Grid(other) = &case.outcome {
            json.mismatch = Some(other.clone());
        }
        json.allowed = Some(Allowed { cells: task.gate.allow, iou: task.gate.iou_min });
        json.pictures = Some(case.shown.iter().map(|path| value::lossy(path)).collect());
        json.warnings = Some(value::warnings(&case.findings));
        json.time_ms = Some(value::ms(case.time));
        json
    }
}

/// Prints the outcome of every case, and the number that pass.
pub fn print(call: &Call, goldens: &Path, tasks: &[Task], cases: &[CaseReport]) {
    let rows: Vec<_> = tasks.iter().zip(cases).map(|(task, case)| row(task, case)).collect();
    for ((task, case), line) in tasks.iter().zip(cases).zip(aligned(&rows)) {
        call.printer.print(&Report::of(|report, result| {
            *result = CaseJson::new(task, case);
            let mut details = details(task, case);
            details.extend(case.not_shown.map(str::to_string));
            let verbosity = call.printer.options.verbosity;
            let printed = case.findings.iter().filter(|finding| verbosity.prints(finding));
            details.extend(printed.map(|finding| finding_line("", finding).trim_end().to_string()));
            if call.printer.is_verbose() {
                details.extend(grid(case));
            }
            report.out.0 = format!("{line}\n");
            report.out.0.extend(details.iter().map(|detail| format!("       {}\n", sanitized(detail))));
            Ok(match &case.outcome {
                CaseResult::Failed(error) => Outcome::of(error.clone()),
                outcome if outcome.passes() => Outcome::Done,
                _ => Outcome::CheckFailed(None),
            })
        }));
    }
    call.printer.print(&Report::rows(total(goldens, cases)));
}

/// The columns of a case: status, name or mesh, options, cells, time.
fn row(task: &Task, report: &CaseReport) -> [String; 5] {
    let status = match &report.outcome {
        outcome if outcome.passes() => "pass",
        CaseResult::Failed(_) => "ERROR",
        _ => "FAIL",
    };
    let cells = report.found.map_or(String::new(), |found| counted(found.cells, "cell", "cells"));
    let unnamed = format!("{} {}", task.mesh, task.options).trim_end() == task.title;
    let name = if unnamed { &task.mesh } else { &task.title };
    [status.to_string(), sanitized(name), sanitized(&task.options), cells, duration(report.time)]
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

fn total(goldens: &Path, reports: &[CaseReport]) -> String {
    let count = |of: &dyn Fn(&CaseResult) -> bool| reports.iter().filter(|r| of(&r.outcome)).count() as u64;
    let passed = count(&CaseResult::passes);
    let errors = count(&|outcome| matches!(outcome, CaseResult::Failed(_)));
    let failed = reports.len() as u64 - passed - errors;
    let (cases, pass) = match reports.len() as u64 {
        1 if passed == 1 => ("1 case".to_string(), "passes"),
        n => (format!("{} cases", grouped(n)), "pass"),
    };
    let mut text =
        format!("{}: {} of {cases} {pass}", sanitized(&goldens.to_string_lossy()), grouped(passed));
    if failed > 0 {
        text += &format!(", {}", counted(failed, "differs", "differ"));
    }
    if errors > 0 {
        text += &format!(", {}", counted(errors, "error", "errors"));
    }
    text += "\n";
    if reports.iter().any(|report| report.outcome == CaseResult::Digest) {
        text +=
            "hint: a digest cannot show where; --update LIST MESH OPTIONS --golden DIR stores the cells\n";
    }
    text
}

/// Writes the report of `--junit`.
pub fn write_junit(
    signals: &Signals,
    file: &OutFile,
    goldens: &Path,
    tasks: &[Task],
    reports: &[CaseReport],
    time: Duration,
) -> Result<()> {
    let tests = tasks.iter().zip(reports).map(|(task, report)| test(task, report)).collect();
    let suite = Suite { name: goldens.display().to_string(), tests, time };
    let xml = junit::to_xml(&suite);
    let _may_stall = signals.may_stall();
    file.save_bytes("junit", |out| out.write_all(xml.as_bytes())).map(drop)
}

fn test(task: &Task, report: &CaseReport) -> Test {
    let lines = details(task, report);
    let reason = || Reason {
        kind: report.outcome.name().to_string(),
        message: lines.first().cloned().unwrap_or_default(),
        text: lines.join("\n"),
    };
    let verdict = match &report.outcome {
        outcome if outcome.passes() => Verdict::Passed,
        CaseResult::Failed(_) => Verdict::Error(reason()),
        _ => Verdict::Failed(reason()),
    };
    Test { name: task.title.clone(), place: task.place.clone(), time: report.time, verdict }
}
