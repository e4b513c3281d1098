//! `voxelize explain CODE` prints the meaning of an error or a finding, and what to do about it.

use clap::ArgAction;
use serde::Serialize;
use voxelize::error::CodeInfo;
use voxelize::{CODES, Error, Hint, Result};

use super::args::arguments;
use super::command::{Call, Command};
use super::report::{Outcome, Report, ReportRows, empty, hint_text};
use super::suggest::nearest;

pub const COMMAND: Command = Command {
    name: "explain",
    about: "explain the code of an error or a warning",
    examples: "\
voxelize explain W009      what the warning means, and what to do
voxelize explain           all codes, one per line
voxelize explain --json    the same for programs",
    notes: "",
    empty: empty::<ExplainedCodes>,
    arguments: arguments::<ExplainArgs>,
    run,
};

#[derive(Debug, clap::Args)]
struct ExplainArgs {
    /// Codes as in messages; all codes without one [default: none]
    #[arg(value_name = "CODE", action = ArgAction::Append)]
    codes: Vec<String>,
}

/// Result of the command. Null until the call is validated.
#[derive(Default, Serialize)]
struct ExplainedCodes {
    codes: Option<Vec<ExplainedCode>>,
}

#[derive(Serialize)]
struct ExplainedCode {
    code: &'static str,
    finding: &'static str,
    severity: &'static str,
    /// Severity with `--lenient`.
    lenient: &'static str,
    /// Null if there is nothing to do.
    advice: Option<String>,
}

impl ExplainedCode {
    fn new(row: &CodeInfo) -> Self {
        let advice = hint_text(&Hint::from(row.advice));
        Self {
            code: row.name,
            finding: row.finding,
            severity: row.severity.name(),
            lenient: row.lenient.name(),
            advice: Some(advice).filter(|advice| !advice.is_empty()),
        }
    }
}

fn run(call: &Call) -> Result<Vec<Report>> {
    let ExplainArgs { codes: names } = call.args()?;
    let mut rows = vec![];
    for name in &names {
        rows.push(found(name)?);
    }
    call.check_files()?;
    Ok(vec![Report::of(|report, result: &mut ExplainedCodes| {
        let is_list = rows.is_empty();
        if is_list {
            rows = CODES.iter().collect();
        }
        let codes: Vec<_> = rows.into_iter().map(ExplainedCode::new).collect();
        report.out = if is_list {
            list(&codes)
        } else {
            details(&codes)
        };
        result.codes = Some(codes);
        Ok(Outcome::Done)
    })])
}

/// Returns the table row of a code. The case of its letter is ignored.
fn found(name: &str) -> Result<&'static CodeInfo> {
    for row in CODES {
        if row.name.eq_ignore_ascii_case(name) {
            return Ok(row);
        }
    }
    let error = Error::usage(format!("'{name}' is not the code of an error or a warning"));
    // Codes are in upper case, or words in lower case.
    let names = || CODES.iter().map(|row| row.name);
    let near = nearest(&name.to_ascii_uppercase(), names());
    Err(
        match near.or_else(|| nearest(&name.to_ascii_lowercase(), names())) {
            Some(near) => error.with_hint(format!("did you mean {near}?")),
            None => error.with_hint("`voxelize explain` lists all codes"),
        },
    )
}

fn list(codes: &[ExplainedCode]) -> ReportRows {
    let mut text = String::new();
    for code in codes {
        text += &format!(
            "{:<12}  {:<7}  {}\n",
            code.code, code.severity, code.finding
        );
    }
    ReportRows(text)
}

fn details(codes: &[ExplainedCode]) -> ReportRows {
    let mut rows = ReportRows::default();
    for code in codes {
        rows.row("code", code.code);
        rows.row("means", code.finding);
        let mut severity = code.severity.to_string();
        if code.lenient != code.severity {
            severity += &format!("; with --lenient: {}", code.lenient);
        }
        rows.row("becomes", severity);
        rows.row("advice", code.advice.as_deref().unwrap_or("none"));
    }
    rows
}
