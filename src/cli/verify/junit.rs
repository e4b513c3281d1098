//! Results as JUnit XML, which CI services display. The list is one suite, and each case is one test case.
//!
//! JUnit XML has no binding schema. This file writes the subset that the common readers share: `testsuites`,
//! `testsuite` and `testcase` with counts and seconds, `failure` for a result that differs, and `error` for a
//! case without a result.

use std::fmt::Write;
use std::time::Duration;

use voxelize::compare::CaseResult;
use voxelize::tool::text::is_obeyed;

use super::report::{CaseReport, details};
use super::task::Task;

/// Returns the XML for the cases of a list. `time` is the duration of the whole run.
pub fn to_xml(list: &str, tasks: &[Task], reports: &[CaseReport], time: Duration) -> String {
    let list = escaped(list);
    let mut failures = 0;
    let mut errors = 0;
    let mut tests = String::new();
    for (task, report) in tasks.iter().zip(reports) {
        let name = escaped(&task.case.title());
        let line = task
            .case
            .line
            .map_or(String::new(), |line| format!(" line=\"{line}\""));
        let time = seconds(report.time);
        tests += &format!(
            "    <testcase classname=\"{list}\" name=\"{name}\" file=\"{list}\"{line} time=\"{time}\""
        );
        let element = match &report.outcome {
            outcome if outcome.passes() => {
                tests += "/>\n";
                continue;
            }
            CaseResult::Failed(_) => {
                errors += 1;
                "error"
            }
            _ => {
                failures += 1;
                "failure"
            }
        };
        let kind = report.outcome.name();
        let lines = details(task, report);
        let message = escaped(lines.first().map_or("", String::as_str));
        let text = escaped(&lines.join("\n")).replace("&#10;", "\n");
        tests += &format!(
            ">\n      <{element} type=\"{kind}\" message=\"{message}\">{text}</{element}>\n    </testcase>\n"
        );
    }
    let counts = format!(
        "name=\"{list}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\" time=\"{}\"",
        tasks.len(),
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
