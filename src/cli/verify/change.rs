//! What `verify --update` changed, and how that is said.

use std::path::Path;

use voxelize::compare::Outcome;
use voxelize::{Error, Result};

use super::super::call::{Call, End};
use super::super::numbers::{counted, grouped};
use super::report::{self, Report};
use super::work::{Task, Wanted};

/// What was recorded of a case.
pub struct Recorded {
    pub report: Report,
    /// Why that cannot be compared with what was recorded before.
    pub lost: Option<Error>,
}

/// What was recorded beside what was recorded before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Nothing was.
    New,
    /// Other cells.
    Changed,
    /// The same.
    Same,
    /// Something was, but is gone or cannot be read.
    Again,
}

impl Change {
    /// The word for it, as text and as the outcome in JSON.
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Changed => "changed",
            Self::Same => "same",
            Self::Again => "again",
        }
    }
}

/// Says what was recorded.
///
/// # Errors
/// If it cannot be written.
pub fn say(call: &mut Call, task: &Task, recorded: &Recorded, change: Change) -> Result<()> {
    let report = &recorded.report;
    let cells = report.found.map(|found| counted(found.cells, "cell", "cells")).unwrap_or_default();
    let old = report.golden.filter(|_| change == Change::Changed);
    let old = old.map(|golden| format!("{} → ", grouped(golden.cells))).unwrap_or_default();
    let kept = match (&task.wanted, &task.keep) {
        (Wanted::Digest(..), Some(file)) => format!(", now in {}", file.display()),
        _ => String::new(),
    };
    let mut text = format!("{:<7}  {}  {old}{cells}{kept}\n", change.word(), task.title);
    for line in why(task, recorded, change) {
        text += &format!("         {line}\n");
    }
    report::know(call, task, report);
    call.know("outcome", change.word());
    call.answer(&text, &End::Yes)
}

/// What there is to say of a change, a line each.
fn why(task: &Task, Recorded { report, lost }: &Recorded, change: Change) -> Vec<String> {
    match (change, lost) {
        (Change::New | Change::Same, _) => vec![],
        (Change::Again, Some(error)) => vec![format!("{error}: made again")],
        (Change::Again, None) => vec!["the digest could not be read: made again".to_string()],
        (Change::Changed, _) => {
            let digests = report.golden.zip(report.found).and_then(|(old, new)| old.grid.zip(new.grid));
            let digests = digests.map(|(old, new)| format!("{old} → {new}"));
            let details = report::details(task, report);
            let details = details.into_iter().filter(|_| report.outcome != Outcome::Digest);
            digests.into_iter().chain(details).collect()
        }
    }
}

/// How many of so many cases changed, and how.
pub fn total(list: &Path, changes: &[Change], cases: usize) -> String {
    let count = |change: Change| changes.iter().filter(|other| **other == change).count();
    let [new, changed, same] = [Change::New, Change::Changed, Change::Same].map(count);
    let mut text = format!("{}: {new} new, {changed} changed, {same} same", list.display());
    for (n, what) in [(count(Change::Again), "made again"), (cases - changes.len(), "not made")] {
        if n > 0 {
            text += &format!(", {} {what}", grouped(n as u64));
        }
    }
    text + "\n"
}
