//! Results of cases, as text and as JSON.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Serialize, Serializer};
use voxelize::compare::{BoxSize, Case, CaseResult, Difference, FieldDifference};
use voxelize::grid::Hash;
use voxelize::job::UnitOfLength;
use voxelize::{Finding, Lattice, Rule, Voxels};

use super::VerifyArgs;
use super::squares::Squares;
use super::task::{CaseCells, Task};
use crate::cli::command::Call;
use crate::cli::info::volume;
use crate::cli::junit::{JunitCase, JunitResult};
use crate::cli::report::display::{
    self, cell_box, counted, duration, grouped, number, sanitized, share,
};
use crate::cli::report::{Outcome, Report, code_text, finding_line, hint, value};

/// Result of a case as JSON.
#[derive(Default, Serialize)]
pub struct CaseJson {
    name: Option<String>,
    mesh: Option<String>,
    options: Option<String>,
    pub outcome: Option<&'static str>,
    result: Option<GridBrief>,
    golden: Option<GridBrief>,
    difference: Option<CaseDifference>,
    mismatch: Option<Vec<String>>,
    size_factor: Option<f64>,
    allowed: Option<Allowed>,
    pictures: Option<Vec<String>>,
    warnings: Option<Vec<value::Warning>>,
    time_ms: Option<f64>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum CaseDifference {
    Cells {
        common: u64,
        added: u64,
        removed: u64,
        iou: f64,
        #[serde(rename = "box")]
        within: Option<value::DifferenceBox>,
    },
    Field {
        differing: u64,
        largest: Option<Box<value::LargestJson>>,
        #[serde(rename = "box")]
        within: Option<value::DifferenceBox>,
    },
}

#[derive(Serialize)]
struct Allowed {
    cells: Option<u64>,
    iou: Option<f64>,
}

/// Result of a case.
pub struct CaseReport {
    /// Result of the current run.
    pub found: Option<GridBrief>,
    /// Expected result.
    pub golden: Option<GridBrief>,
    /// Lattice of the cells that this run made.
    pub lattice: Option<Lattice>,
    pub outcome: CaseResult,
    /// If the grid changed: difference of the cells by their positions. `None` if the cells are not aligned.
    pub by_position: Option<Difference>,
    /// Lattice of the cells in `by_position`. It contains both grids.
    pub frame: Option<Lattice>,
    /// Factor by which the mesh is larger than the golden, if units may have been confused.
    pub size_factor: Option<f64>,
    /// Files that show how the cells differ.
    pub shown: Vec<PathBuf>,
    /// Remark about the picture, such as the reason why there is none.
    pub about_picture: Option<&'static str>,
    /// Layer of the cells that differ. `None` unless it was requested.
    pub squares: Option<Squares>,
    /// Findings about the mesh and its cells.
    pub findings: Vec<Finding>,
    pub time: Duration,
}

impl CaseReport {
    /// Creates the report of a case that took this time. It has no result yet.
    pub fn new(time: Duration) -> Self {
        Self {
            found: None,
            golden: None,
            lattice: None,
            outcome: CaseResult::Same,
            by_position: None,
            frame: None,
            size_factor: None,
            shown: vec![],
            about_picture: None,
            squares: None,
            findings: vec![],
            time,
        }
    }

    /// Copies the result of this run.
    pub fn take(&mut self, made: &CaseCells) {
        self.found = Some(GridBrief::of(made));
        self.lattice = made.lattice();
    }
}

/// Number of cells, volume and digest of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GridBrief {
    /// Number of occupied cells.
    pub cells: u64,
    /// Volume of the occupied cells, or of the shares of cells. `None` if it is unknown, as it is for a digest, and for
    /// the rules surface and thin, whose cells do not fill the mesh.
    pub volume: Option<f64>,
    /// Unit of the coordinates. `None` if it is unknown.
    #[serde(skip)]
    pub unit: Option<&'static str>,
    /// Size of the occupied cells. `None` if it is unknown.
    #[serde(skip)]
    pub size: Option<BoxSize>,
    /// Digest of the cells and the lattice.
    #[serde(rename = "digest", serialize_with = "as_text")]
    pub grid: Option<Hash>,
}

fn as_text<S: Serializer>(
    hash: &Option<Hash>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    hash.map(|hash| hash.to_string()).serialize(serializer)
}

impl GridBrief {
    pub fn of(made: &CaseCells) -> Self {
        let brief = Self {
            cells: made.cells,
            volume: None,
            unit: None,
            size: None,
            grid: made.digest.grid,
        };
        match &made.voxels {
            Some(voxels) => brief.measured(voxels),
            None => brief,
        }
    }

    /// Creates the description of a golden that is a digest.
    pub fn of_digest(grid: Hash, cells: u64) -> Self {
        Self {
            cells,
            volume: None,
            unit: None,
            size: None,
            grid: Some(grid),
        }
    }

    /// Creates the description of the cells of a golden file.
    pub fn of_file(golden: &Voxels) -> Self {
        let brief = Self {
            cells: golden.count(),
            volume: None,
            unit: None,
            size: None,
            grid: golden.digest().grid,
        };
        brief.measured(golden)
    }

    /// Adds the volume of these cells and its unit.
    fn measured(self, voxels: &Voxels) -> Self {
        let unit = voxels.record.transform("unit");
        let rule = voxels.record.rule_name.as_deref().and_then(Rule::from_name);
        let is_hollow = rule.is_some_and(|rule| rule.is_hollow());
        Self {
            volume: if is_hollow { None } else { volume(voxels) },
            size: BoxSize::of_cells(voxels),
            unit: unit
                .and_then(UnitOfLength::from_name)
                .map(UnitOfLength::name),
            ..self
        }
    }

    /// Returns `27,000 cells (volume 27,000 mm³)`.
    pub fn text(&self) -> String {
        let cells = counted(self.cells, "cell", "cells");
        match self.volume {
            Some(volume) => format!("{cells} (volume {})", display::volume(volume, self.unit)),
            None => cells,
        }
    }
}

/// Returns the result of a case as a test case of its list.
pub fn junit_case(list: &str, task: &Task, report: &CaseReport) -> JunitCase {
    let kind = report.outcome.name();
    let result = match &report.outcome {
        outcome if outcome.passes() => JunitResult::Passed,
        CaseResult::Failed(_) => JunitResult::Error(kind, details(task, report)),
        _ => JunitResult::Failure(kind, details(task, report)),
    };
    JunitCase {
        class: list.to_string(),
        name: task.case.title(),
        line: task.case.line,
        time: report.time,
        result,
    }
}

/// Returns the details of a difference or an error. The first line is a summary.
pub fn details(task: &Task, report: &CaseReport) -> Vec<String> {
    let mut lines = vec![];
    match &report.outcome {
        CaseResult::Same => {}
        CaseResult::Allowed(difference) | CaseResult::Cells(difference) => {
            lines = cells(task, report, difference);
        }
        CaseResult::Digest => {
            if let (Some(golden), Some(found)) = (report.golden, report.found) {
                lines = digests(golden, found);
            }
        }
        CaseResult::Field(difference) => lines = values(report, difference),
        CaseResult::Grid(changes) => {
            let mut changes = changes.clone();
            if let Some(sizes) = size_change(report) {
                changes.insert(0, sizes);
            }
            // Some JUnit readers show only the first line.
            let more = match changes.len() {
                0 | 1 => String::new(),
                n => format!(
                    "; {} below",
                    counted(n as u64 - 1, "more change", "more changes")
                ),
            };
            let first = changes.first().map_or("", String::as_str);
            lines.push(format!("the grid changed: {first}{more}"));
            lines.extend(changes.iter().skip(1).map(|change| format!("  {change}")));
            lines.extend(golden_and_now(report));
            if let Some(difference) = &report.by_position {
                lines.push(format!(
                    "by position: {} cells added, {} removed",
                    grouped(difference.added),
                    grouped(difference.removed)
                ));
                if let (Some(bounds), Some(frame)) = (difference.bounds, &report.frame) {
                    let space = display::ranges(display::corners(frame, bounds));
                    lines.push(format!("where: in space {space}"));
                }
            }
            lines.extend(shown(report));
        }
        CaseResult::Failed(error) => {
            let code = code_text(error);
            if code.is_empty() {
                lines.push(error.to_string());
            } else {
                lines.push(format!("error{code}: {error}"));
            }
            lines.extend(hint(error).map(|hint| format!("hint: {hint}")));
        }
    }
    if let Some(factor) = report.size_factor {
        let hint = display::size_factor(factor, ["the golden", "the mesh"]);
        lines.push(format!("hint: {hint}"));
    }
    lines
}

/// Returns the change of the size, measured in whole cells. `None` if the size did not change or is unknown.
fn size_change(report: &CaseReport) -> Option<String> {
    let [golden, found] = [report.golden?, report.found?];
    let [old, new] = [golden.size?, found.size?].map(|size| size.sides.map(number).join(" × "));
    if old == new && golden.unit == found.unit {
        return None;
    }
    let [before, after] = [golden.unit, found.unit].map(display::suffix);
    Some(if before == after {
        format!("size {old} → {new}{after}, rounded to whole cells")
    } else {
        format!("size {old}{before} → {new}{after}, rounded to whole cells")
    })
}

/// Returns the numbers of cells and the volumes of golden and result.
fn golden_and_now(report: &CaseReport) -> Option<String> {
    let [golden, found] = [report.golden?, report.found?];
    Some(format!(
        "golden has {}, now {}",
        golden.text(),
        found.text()
    ))
}

/// Returns the details of fields that differ.
fn values(report: &CaseReport, difference: &FieldDifference) -> Vec<String> {
    let mut first = counted(difference.differing, "cell differs", "cells differ");
    if let Some(largest) = difference.largest {
        let [i, j, k] = largest.cell;
        let [old, new] = largest.values;
        first += &format!(
            ", at most by {} in cell ({i}, {j}, {k}): golden has {old}, now {new}",
            number(largest.difference)
        );
    }
    let mut lines = vec![first];
    if let Some(bounds) = difference.bounds {
        lines.push(format!(
            "where: {}",
            cell_box(bounds, report.lattice.as_ref())
        ));
    }
    lines.extend(golden_and_now(report));
    lines
}

fn cells(task: &Task, report: &CaseReport, difference: &Difference) -> Vec<String> {
    let differ = counted(difference.differing(), "cell differs", "cells differ");
    let mut lines = vec![format!(
        "{differ}: {} added, {} removed; golden has {}, now {}; intersection over union {}",
        grouped(difference.added),
        grouped(difference.removed),
        grouped(difference.first()),
        grouped(difference.second()),
        share(difference.iou())
    )];
    if let Some(bounds) = difference.bounds {
        lines.push(format!(
            "where: {}",
            cell_box(bounds, report.lattice.as_ref())
        ));
    }
    lines.extend(shown(report));
    let mut limits = vec![];
    if let Some(most) = task.gate.allow {
        limits.push(counted(most, "cell", "cells"));
    }
    if let Some(least) = task.gate.iou_min {
        limits.push(format!("intersection over union at least {least}"));
    }
    if !limits.is_empty() {
        lines.push(format!("allowed: {}", limits.join(" and ")));
    }
    lines
}

/// Returns the line that names the pictures. `None` if there are none.
fn shown(report: &CaseReport) -> Option<String> {
    let names: Vec<_> = report
        .shown
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    (!names.is_empty()).then(|| format!("shown: {}", names.join(", ")))
}

fn digests(golden: GridBrief, found: GridBrief) -> Vec<String> {
    let [old, new] =
        [golden, found].map(|brief| brief.grid.map_or(String::new(), |grid| grid.to_string()));
    let cells = counted(golden.cells, "cell", "cells");
    let first = if golden.cells == found.cells {
        format!(
            "the digest differs: there are {cells} as in the golden, but they are other cells, or at another position"
        )
    } else {
        format!(
            "the digest differs: golden has {cells}, now {}",
            grouped(found.cells)
        )
    };
    vec![first, format!("golden {old}"), format!("now    {new}")]
}

/// Returns the remark about the picture of the differences, such as the reason why there is none.
fn about_picture(report: &CaseReport) -> Option<&'static str> {
    match &report.outcome {
        CaseResult::Grid(_) if report.golden.is_none() => {
            Some("no picture: the grid changed, and the golden file does not fit into memory")
        }
        CaseResult::Grid(_) => report.about_picture,
        CaseResult::Field(_) => Some("no picture: the cells are a field"),
        CaseResult::Digest => {
            Some("no picture: the golden is a digest, which does not contain the cells")
        }
        _ => None,
    }
}

impl CaseJson {
    /// Creates the JSON object of a case that has no result yet.
    pub fn of(task: &Task) -> Self {
        let Case { mesh, options, .. } = &task.case;
        Self {
            name: Some(task.case.title()),
            mesh: Some(mesh.clone()),
            options: Some(options.to_string()),
            outcome: Some("error"),
            ..Self::default()
        }
    }

    pub fn new(task: &Task, case: &CaseReport) -> Self {
        let difference = case.outcome.difference().or(case.by_position.as_ref());
        let mut difference = difference.map(|difference| CaseDifference::Cells {
            common: difference.common,
            added: difference.added,
            removed: difference.removed,
            iou: difference.iou(),
            within: difference.bounds.map(|bounds| match &case.frame {
                // Cells of a frame are in no file, so they have no numbers.
                Some(frame) => value::DifferenceBox::in_space(bounds, frame),
                None => value::DifferenceBox::new(bounds, case.lattice.as_ref()),
            }),
        });
        if let CaseResult::Field(field) = &case.outcome {
            difference = Some(CaseDifference::Field {
                differing: field.differing,
                largest: field
                    .largest
                    .map(|largest| Box::new(value::LargestJson::from(largest))),
                within: field
                    .bounds
                    .map(|bounds| value::DifferenceBox::new(bounds, case.lattice.as_ref())),
            });
        }
        let mismatch = match &case.outcome {
            CaseResult::Grid(changes) => Some(changes.clone()),
            _ => None,
        };
        Self {
            outcome: Some(case.outcome.name()),
            result: case.found,
            golden: case.golden,
            difference,
            mismatch,
            size_factor: case.size_factor,
            allowed: Some(Allowed {
                cells: task.gate.allow,
                iou: task.gate.iou_min,
            }),
            pictures: Some(case.shown.iter().map(|path| value::lossy(path)).collect()),
            warnings: Some(value::warnings(&case.findings)),
            time_ms: Some(value::ms(case.time)),
            ..Self::of(task)
        }
    }
}

/// Prints the outcome of each case, and the number of cases that pass.
pub fn print(call: &Call, args: &VerifyArgs, tasks: &[Task], cases: &[CaseReport]) {
    let rows: Vec<_> = tasks
        .iter()
        .zip(cases)
        .map(|(task, case)| row(task, case))
        .collect();
    let options = &call.printer.options;
    for ((task, case), line) in tasks.iter().zip(cases).zip(aligned(&rows)) {
        let mut lines = details(task, case);
        if args.verify.pictures.is_some() {
            lines.extend(about_picture(case).map(str::to_string));
        }
        for finding in case
            .findings
            .iter()
            .filter(|finding| options.verbosity.prints(finding))
        {
            lines.push(finding_line("", finding).trim_end().to_string());
        }
        if call.printer.is_verbose() {
            lines.extend(
                case.lattice
                    .as_ref()
                    .map(|lattice| format!("grid: {}", display::grid(lattice))),
            );
            let digest = case.found.and_then(|found| found.grid);
            lines.extend(digest.map(|digest| format!("digest: {digest}")));
        }
        call.printer.print(&Report::of(|report, result| {
            *result = CaseJson::new(task, case);
            report.out.line(line);
            for line in lines {
                report.out.line(format_args!("       {line}"));
            }
            Ok(match &case.outcome {
                CaseResult::Failed(error) => Outcome::of(error.clone()),
                outcome if outcome.passes() => Outcome::Done,
                _ => Outcome::CheckFailed(None),
            })
        }));
    }
    call.printer
        .print(&Report::rows(total(&args.goldens, cases)));
}

/// Returns the columns of a row: status, name or mesh, options, number of cells, time.
fn row(Task { case, .. }: &Task, report: &CaseReport) -> [String; 5] {
    let status = match &report.outcome {
        outcome if outcome.passes() => "pass",
        CaseResult::Failed(_) => "ERROR",
        _ => "FAIL",
    };
    let cells = report
        .found
        .map_or(String::new(), |found| counted(found.cells, "cell", "cells"));
    let name = case.name.as_ref().unwrap_or(&case.mesh);
    let options = sanitized(&case.options.to_string());
    [
        status.to_string(),
        sanitized(name),
        options,
        cells,
        duration(report.time),
    ]
}

/// Returns the rows as lines. Columns of numbers are aligned to the right, all others to the left.
fn aligned(rows: &[[String; 5]]) -> Vec<String> {
    let mut widths = [0; 5];
    for row in rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = text.chars().count().max(*width);
        }
    }
    let [_, name, options, cells, time] = widths;
    let mut lines = vec![];
    for [a, b, c, d, e] in rows {
        let line = format!("{a:<5}  {b:<name$}  {c:<options$}  {d:>cells$}  {e:>time$}");
        lines.push(line.trim_end().to_string());
    }
    lines
}

/// Returns the line that counts the cases. If digests differ, adds advice.
pub fn total(goldens: &Path, reports: &[CaseReport]) -> String {
    let mut passed = 0;
    let mut errors = 0;
    let mut failed = 0;
    for report in reports {
        match &report.outcome {
            outcome if outcome.passes() => passed += 1,
            CaseResult::Failed(_) => errors += 1,
            _ => failed += 1,
        }
    }
    let cases = match (reports.len(), passed) {
        (1, 1) => "1 case passes".to_string(),
        (n, _) => format!("{} cases pass", grouped(n as u64)),
    };
    let list = sanitized(&goldens.to_string_lossy());
    let mut text = format!("{list}: {} of {cases}", grouped(passed));
    if failed > 0 {
        text += &format!(", {}", counted(failed, "differs", "differ"));
    }
    if errors > 0 {
        text += &format!(", {}", counted(errors, "error", "errors"));
    }
    text += "\n";
    if reports
        .iter()
        .any(|report| report.outcome == CaseResult::Digest)
    {
        text += "hint: a digest cannot show where; --update LIST MESH OPTIONS --golden DIR stores the cells\n";
    }
    text
}
