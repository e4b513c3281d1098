//! Triage: what becomes of a finding. It ends the reading, or is kept to be told.

use std::cell::{Cell, RefCell};
use std::fmt;

use crate::codes::{self, Outcome};
use crate::error::{Error, Result};

/// How much a reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Tolerance {
    /// What could change the result without a word is refused; what is only odd is noted.
    #[default]
    Usual,
    /// Every finding is refused: for files that any program should read alike.
    Strict,
    /// What is whole is taken; what is not is dropped and counted.
    Lenient,
}

/// Something odd that did not end the reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The first of its kind: code, place, and what it would say as an error.
    pub first: Error,
    /// How many there are.
    pub count: u64,
}

impl Finding {
    /// Whether it is worth a warning, or a note.
    pub fn outcome(&self, tolerance: Tolerance) -> Outcome {
        outcome(self.first.code(), tolerance)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        if self.count > 1 { write!(f, ", the first of {}", self.count) } else { Ok(()) }
    }
}

/// What becomes of a code; one that is in no table, such as an interruption, is refused.
fn outcome(code: &str, tolerance: Tolerance) -> Outcome {
    match (codes::of(code), tolerance) {
        (None, _) | (_, Tolerance::Strict) => Outcome::Refused,
        (Some(row), Tolerance::Usual) => row.usual,
        (Some(row), Tolerance::Lenient) => row.lenient,
    }
}

/// The findings of one reading: at most one of each code, so their number is bounded.
#[derive(Default)]
pub(super) struct Triage {
    tolerance: Tolerance,
    findings: RefCell<Vec<Finding>>,
    dropped: Cell<u64>,
}

impl Triage {
    pub fn new(tolerance: Tolerance) -> Self {
        Self { tolerance, ..Self::default() }
    }

    /// Whether what is not whole is dropped.
    pub fn is_lenient(&self) -> bool {
        self.tolerance == Tolerance::Lenient
    }

    /// Notes a finding, or ends the reading.
    pub fn found(&self, error: Error) -> Result<()> {
        self.found_all(error.code(), 1, || error.clone())
    }

    /// The same for `count` at once, of which the first makes the error.
    pub fn found_all(&self, code: &str, count: u64, first: impl Fn() -> Error) -> Result<()> {
        if outcome(code, self.tolerance) == Outcome::Refused {
            return Err(first());
        }
        let mut findings = self.findings.borrow_mut();
        match findings.iter_mut().find(|finding| finding.first.code() == code) {
            Some(known) => known.count += count,
            None => findings.push(Finding { first: first(), count }),
        }
        Ok(())
    }

    /// Counts triangles that were there but were not taken.
    pub fn drop_triangles(&self, count: u64) {
        self.dropped.set(self.dropped.get() + count);
    }

    /// The triangles not taken.
    pub fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// What was found, by code. If nothing was whole, the first damage is an error after all.
    pub fn finish(&self, triangles: usize) -> Result<Vec<Finding>> {
        let mut findings = self.findings.take();
        let is_damage = |finding: &&Finding| finding.outcome(Tolerance::Usual) == Outcome::Refused;
        if triangles == 0
            && let Some(damage) = findings.iter().find(is_damage)
        {
            return Err(damage.first.clone().with_hint("nothing in it is whole: export it again"));
        }
        findings.sort_by_key(|finding| finding.first.code());
        Ok(findings)
    }
}
