//! Warnings and notes: findings that are no errors.

use serde_json::{Value, json};
use voxelize::Error;
use voxelize::codes::Outcome as Severity;
use voxelize::mesh::read::{Finding, Tolerance};

use super::Verbosity;

/// A finding that does not end the run.
pub struct Warning {
    /// What it is, and how many there are.
    finding: Finding,
    severity: Severity,
}

impl Warning {
    /// A finding of the reader.
    pub fn of(finding: Finding, tolerance: Tolerance) -> Self {
        let severity = finding.outcome(tolerance);
        Self { finding, severity }
    }

    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let first = Error::input(code, message);
        Self { finding: Finding { first, count: 1 }, severity: Severity::Warned }
    }

    /// Whether it is printed: notes only where every detail is wanted.
    pub fn is_printed(&self, verbosity: Verbosity) -> bool {
        match verbosity {
            Verbosity::Quiet => false,
            Verbosity::Normal => self.severity != Severity::Noted,
            Verbosity::Verbose => true,
        }
    }

    pub fn code(&self) -> &'static str {
        self.finding.first.code()
    }

    /// `warning[W006]: …`; `about` says of which of many meshes.
    pub fn line(&self, about: &str) -> String {
        format!("{}[{}]: {about}{}\n", self.level(), self.code(), self.finding)
    }

    fn level(&self) -> &'static str {
        if self.severity == Severity::Noted { "note" } else { "warning" }
    }

    /// An entry in JSON.
    pub fn json(&self) -> Value {
        let first = &self.finding.first;
        json!({
            "level": self.level(),
            "code": first.code(),
            "message": first.message(),
            "count": self.finding.count,
            "triangle": first.triangle(),
            "byte": first.byte(),
            "line": first.line(),
        })
    }
}
