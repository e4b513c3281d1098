//! Results as JUnit XML, which CI services display. Each result is one test case of a suite.
//!
//! JUnit XML has no binding schema. This file writes the subset that the common readers share: `testsuites`,
//! `testsuite` and `testcase` with counts and seconds, `failure` for a result that differs, and `error` for a
//! case without a result.

use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use voxelize::tool::text::is_obeyed;
use voxelize::{Error, Result};

use super::names::{Names, OutputFile};

/// Result as a test case.
pub struct JunitCase {
    /// File that the case belongs to.
    pub class: String,
    pub name: String,
    /// Line of the file.
    pub line: Option<u64>,
    pub time: Duration,
    pub result: JunitResult,
}

impl JunitCase {
    /// Creates the case of a file for which an error prevented every result.
    pub fn failed(file: &str, error: &Error) -> Self {
        Self {
            class: file.to_string(),
            name: file.to_string(),
            line: None,
            time: Duration::ZERO,
            result: JunitResult::of_error(error),
        }
    }
}

/// Result of a test case.
pub enum JunitResult {
    Passed,
    /// Wrong result: its kind and the lines that describe it.
    Failure(&'static str, Vec<String>),
    /// Missing result: its kind and the lines that describe it.
    Error(&'static str, Vec<String>),
}

impl JunitResult {
    /// Creates the result of work that failed.
    fn of_error(error: &Error) -> Self {
        let mut lines = vec![error.message().to_string()];
        if let Some(hint) = error.hint() {
            lines.push(super::report::hint_text(hint));
        }
        Self::Error("failed", lines)
    }
}

/// Registers the file of `--junit`.
pub fn output_file(path: &Path, names: &Names) -> Result<OutputFile> {
    OutputFile::new(path, "the report")
        .hint("--junit FILE names another file")
        .register(names)
}

/// Returns the XML for the cases of a suite. `time` is the duration of the whole run.
pub fn to_xml(suite: &str, cases: &[JunitCase], time: Duration) -> String {
    let suite = escaped(suite);
    let mut failures = 0;
    let mut errors = 0;
    let mut tests = String::new();
    for case in cases {
        let name = escaped(&case.name);
        let class = escaped(&case.class);
        let line = case
            .line
            .map_or(String::new(), |line| format!(" line=\"{line}\""));
        let time = seconds(case.time);
        tests += &format!(
            "    <testcase classname=\"{class}\" name=\"{name}\" file=\"{class}\"{line} time=\"{time}\""
        );
        let (element, kind, lines) = match &case.result {
            JunitResult::Passed => {
                tests += "/>\n";
                continue;
            }
            JunitResult::Failure(kind, lines) => {
                failures += 1;
                ("failure", kind, lines)
            }
            JunitResult::Error(kind, lines) => {
                errors += 1;
                ("error", kind, lines)
            }
        };
        let message = escaped(lines.first().map_or("", String::as_str));
        let text = escaped(&lines.join("\n")).replace("&#10;", "\n");
        tests += &format!(
            ">\n      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>\n    </testcase>\n"
        );
    }
    let counts = format!(
        "name=\"{suite}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{}\"",
        cases.len(),
        seconds(time)
    );
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite {counts}>\n{tests}  \
         </testsuite>\n</testsuites>\n"
    )
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

/// Escapes a text for XML elements and attributes. Characters that XML 1.0 cannot represent become U+FFFD.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // In an attribute, XML readers would turn these characters into spaces.
            '\t' | '\n' | '\r' => drop(write!(escaped, "&#{};", c as u32)),
            '\0'..'\x20' | '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            // Control characters that terminals and viewers would obey.
            c if is_obeyed(c) => drop(write!(escaped, "&#{};", c as u32)),
            c => escaped.push(c),
        }
    }
    escaped
}
