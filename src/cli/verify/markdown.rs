//! Report as Markdown, for job summaries of GitHub and for comments. These show neither files of the job nor images in
//! `data:` URIs, so a layer of the cells that differ is drawn with coloured squares.

use voxelize::compare::CaseResult;

use super::report::{CaseReport, GridBrief, details};
use super::task::Task;
use crate::cli::report::display::{counted, grouped};

/// If a list has more cases, those that pass are only counted.
const MOST_PASSING: usize = 100;

/// Maximum number of rows of the table, and of cases with details. GitHub refuses summaries of more than 1 MiB.
const MOST_ROWS: usize = 1000;
const MOST_DETAILS: usize = 40;

/// Returns the report. `total` is the line that counts the cases.
pub fn to_markdown(total: &str, tasks: &[Task], reports: &[CaseReport]) -> String {
    let mut text = format!("### {}\n\n", escaped(total));
    let has_passing = reports.len() <= MOST_PASSING;
    let mut rows = vec![];
    for (task, report) in tasks.iter().zip(reports) {
        if has_passing || !report.outcome.passes() {
            rows.push(row(task, report));
        }
    }
    if !rows.is_empty() {
        text += "| | case | options | golden | now | change |\n|---|---|---|---|---|---|\n";
        text.extend(rows.iter().take(MOST_ROWS).map(String::as_str));
        if let Some(more @ 1..) = rows.len().checked_sub(MOST_ROWS) {
            text += &format!("\n{} more rows are left out.\n", grouped(more as u64));
        }
    }
    let failing = tasks
        .iter()
        .zip(reports)
        .filter(|(_, report)| !report.outcome.passes());
    for (n, (task, report)) in failing.enumerate() {
        if n == MOST_DETAILS {
            text += "\nThe details of further cases are in the report of the command.\n";
            break;
        }
        text += &described(task, report);
    }
    text
}

fn row(task: &Task, report: &CaseReport) -> String {
    let status = match &report.outcome {
        outcome if outcome.passes() => "✅ pass",
        CaseResult::Failed(_) => "⚠️ error",
        _ => "❌ differs",
    };
    let brief = |brief: Option<GridBrief>| brief.map_or(String::new(), |brief| brief.text());
    let options = task.case.options.to_string();
    let options = if options.is_empty() {
        String::new()
    } else {
        code(&options)
    };
    let change = match report.outcome.difference().or(report.by_position.as_ref()) {
        Some(difference) => format!(
            "{} added, {} removed",
            grouped(difference.added),
            grouped(difference.removed)
        ),
        None => match &report.outcome {
            CaseResult::Same => String::new(),
            CaseResult::Field(difference) => {
                counted(difference.differing, "cell differs", "cells differ")
            }
            outcome => outcome.name().to_string(),
        },
    };
    format!(
        "| {status} | {} | {options} | {} | {} | {change} |\n",
        escaped(task.case.name.as_ref().unwrap_or(&task.case.mesh)),
        brief(report.golden),
        brief(report.found)
    )
}

/// Returns the details of a case that does not pass, and a layer of its cells.
fn described(task: &Task, report: &CaseReport) -> String {
    let mut text = format!("\n**{}**\n\n", escaped(&task.case.title()));
    text += &fenced(&details(task, report));
    if let Some(squares) = &report.squares {
        text += &format!("\n{}\n\n", escaped(&squares.title));
        text += &fenced(&squares.rows);
        text += "\n🟦 added, 🟧 removed, 🟪 both, ⬛ unchanged, ⬜ empty\n";
    }
    text
}

/// Returns lines as a block of code. The fence is longer than every run of backquotes in the lines.
fn fenced(lines: &[String]) -> String {
    let mut longest = 2;
    for line in lines {
        let runs = line.split(|c| c != '`');
        longest = longest.max(runs.map(str::len).max().unwrap_or(0));
    }
    let fence = "`".repeat(longest + 1);
    let lines: Vec<_> = lines
        .iter()
        .map(|line| line.replace(['\n', '\r'], " "))
        .collect();
    format!("{fence}text\n{}\n{fence}\n", lines.join("\n"))
}

/// Returns text as code in a cell of a table.
fn code(text: &str) -> String {
    let plain = text.replace(['`', '\n', '\r'], " ").replace('|', "\\|");
    format!("`{plain}`")
}

/// Returns text in which no character is markup.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '<' => escaped += "&lt;",
            '&' => escaped += "&amp;",
            '@' => escaped += "&#64;",
            '\n' | '\r' => escaped.push(' '),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_no_markup() {
        assert_eq!(
            escaped("a|b_c <img> ![x](y) @me"),
            "a\\|b\\_c &lt;img> \\!\\[x\\](y) &#64;me"
        );
        assert_eq!(code("--only 'a|`b'"), "`--only 'a\\| b'`");
        let lines = ["```".to_string(), "x".to_string()];
        assert_eq!(fenced(&lines), "````text\n```\nx\n````\n");
    }
}
