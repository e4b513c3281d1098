//! Errors and findings of the library for Python. Their hints name keyword arguments in place of options.

use pyo3::prelude::*;
use voxelize::{Error, Finding, Kind};

/// Returns the exception for an error. The Python module `voxelize._errors` chooses its class.
pub fn raised(py: Python<'_>, error: &Error) -> PyErr {
    let kind = match error.kind() {
        Kind::Usage => "usage",
        Kind::Input => "input",
        Kind::Unfit => "unfit",
        Kind::TooLarge => "too-large",
        Kind::Output => "output",
        Kind::Interrupted => "interrupted",
        _ => "internal",
    };
    let place = (error.triangle(), error.byte(), error.line());
    let facts = (
        kind,
        error.to_string(),
        error.code().to_string(),
        hint(error),
        error.file(),
        place,
    );
    let make = || {
        py.import("voxelize._errors")?
            .getattr("error_of")?
            .call1(facts)
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Code, severity, text, hint, count and triangle of a finding, in this order.
pub type FindingFacts = (
    String,
    &'static str,
    String,
    Option<String>,
    u64,
    Option<u64>,
);

/// Returns the facts about a finding.
pub fn finding(finding: &Finding) -> FindingFacts {
    let error = &finding.first;
    let facts = (
        finding.code().to_string(),
        finding.severity.name(),
        finding.text(),
    );
    (
        facts.0,
        facts.1,
        facts.2,
        hint(error),
        finding.count,
        error.triangle(),
    )
}

/// Returns the hint of an error, or the advice for its code if it has no hint. `None` if there is neither.
fn hint(error: &Error) -> Option<String> {
    Some(error.advice().spelled(spelled)).filter(|hint| !hint.is_empty())
}

/// Returns the keyword argument for an option of the command. `None` for an option that only the command has.
fn spelled(option: &str) -> Option<String> {
    let (name, value) = option.split_once(' ').unwrap_or((option, ""));
    let name = match name {
        "--filled" | "--solid" => return Some(format!("rule=\"{}\"", &name[2..])),
        "--keep-thin" | "--lenient" | "--signed" | "--stretch" | "--strict" | "--vox-split" => {
            return Some(format!("{}=True", argument(name)));
        }
        "voxelize" if value == "formats" => return Some("voxelize.formats()".to_string()),
        "voxelize" | "--allow-outside" | "--dry-run" | "-0" => return None,
        "-f" => "format".to_string(),
        "-j" => "threads".to_string(),
        "-o" => "path".to_string(),
        name => argument(name),
    };
    Some(if value.is_empty() {
        name
    } else if value.parse::<f64>().is_ok() {
        format!("{name}={value}")
    } else {
        format!("{name}=\"{value}\"")
    })
}

/// Returns the name of the keyword argument for a long option.
fn argument(option: &str) -> String {
    option.trim_start_matches('-').replace('-', "_")
}
