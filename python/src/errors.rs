//! Errors and findings of the library as Python has them, with hints in the words of Python.

use pyo3::prelude::*;
use voxelize::error::Setting;
use voxelize::{Error, Finding, Hint, Kind, Opt};

/// The exception for an error: `voxelize._errors` chooses its class.
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

/// Code, severity, text, hint, count and triangle of a finding.
pub type FindingFacts = (
    String,
    &'static str,
    String,
    Option<String>,
    u64,
    Option<u64>,
);

/// A finding as Python has it.
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

/// The hint of an error, or the advice of its code.
fn hint(error: &Error) -> Option<String> {
    let advice = || Hint::from(error.code().info().advice);
    Some(
        error
            .hint()
            .cloned()
            .unwrap_or_else(advice)
            .spelled(spelled),
    )
    .filter(|hint| !hint.is_empty())
}

/// An option as a keyword argument; none for options that only the command has.
fn spelled(Setting { option, value }: &Setting) -> Option<String> {
    let name = match option {
        Opt::Filled => return Some("rule=\"filled\"".to_string()),
        Opt::Solid => return Some("rule=\"solid\"".to_string()),
        Opt::KeepThin => return Some("keep_thin=True".to_string()),
        Opt::Lenient => return Some("lenient=True".to_string()),
        Opt::Strict => return Some("strict=True".to_string()),
        Opt::VoxSplit => return Some("vox_split=True".to_string()),
        Opt::Formats => return Some("voxelize.formats()".to_string()),
        Opt::AllowOutside
        | Opt::Bin
        | Opt::DryRun
        | Opt::Help
        | Opt::Info
        | Opt::NulNames
        | Opt::Region
        | Opt::Update
        | Opt::Verify => {
            return None;
        }
        Opt::Output => "path",
        option => &option.name().replace('-', "_"),
    };
    Some(match &**value {
        "" => name.to_string(),
        value if value.parse::<f64>().is_ok() => format!("{name}={value}"),
        value => format!("{name}=\"{value}\""),
    })
}
