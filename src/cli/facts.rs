//! What a run found out, as far as it came: summary and JSON are two views of it.

use std::time::{Duration, Instant};

use serde_json::{Value, json}; // the schema is the command line's own
use voxelize::codes::Outcome;
use voxelize::format::Written;
use voxelize::grid::Digest;
use voxelize::mesh::closed::Seal;
use voxelize::mesh::read::{Finding, Packing, Tolerance};
use voxelize::rule::InsideReport;
use voxelize::{Bounds, Error, Lattice};

use super::doubt::Found;
use super::errors;
use super::estimate::Estimate;
use super::plan::Voice;
use super::room::Room;
use super::signals::Signals;

/// What is known; what was not reached is `None`.
pub struct Facts {
    /// When the process started.
    pub started: Instant,
    /// About the file and the mesh in it.
    pub source: Option<Source>,
    /// Where the cells are.
    pub lattice: Option<Lattice>,
    /// How the grid is held in memory.
    pub room: Option<Room>,
    /// What it would take; only for a dry run.
    pub estimate: Option<Estimate>,
    /// Coordinates that snapping moved.
    pub snapped: Option<u64>,
    /// How far the mesh is closed, where that matters.
    pub seal: Option<Seal>,
    /// How inside was told from outside, by name.
    pub inside: Option<String>,
    /// What was noticed about the inside.
    pub told: InsideReport,
    /// Occupied cells.
    pub occupied: Option<u64>,
    /// How many of them are on the surface and how many within, where they are told apart.
    pub parts: Option<[u64; 2]>,
    /// Cells in doubt, if that was asked.
    pub doubt: Option<Found>,
    /// Cells of the way in of a flood, if that was asked.
    pub way_in: Option<u64>,
    /// To compare results by.
    pub digest: Option<Digest>,
    /// What is odd but no error.
    pub warnings: Vec<Warning>,
    /// How long it took.
    pub times: Times,
    /// The files written.
    pub outputs: Option<Vec<Written>>,
}

/// About the input.
pub struct Source {
    /// `stl-binary`.
    pub format: &'static str,
    /// Its size.
    pub bytes: u64,
    /// How many triangles it has.
    pub triangles: usize,
    /// How many of them have no area.
    pub degenerate: u64,
    /// How many were there, or in parts, and were not taken.
    pub dropped: u64,
    /// How the file is packed.
    pub packing: Packing,
    /// Where they are.
    pub bounds: Bounds,
}

/// Something odd: a finding, and whether it is worth a warning.
pub struct Warning {
    /// What it is, and how many there are.
    finding: Finding,
    outcome: Outcome,
}

impl Warning {
    /// A finding of the reader.
    pub fn of(finding: Finding, tolerance: Tolerance) -> Self {
        let outcome = finding.outcome(tolerance);
        Self { finding, outcome }
    }

    /// One that is found here.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let first = Error::input(code, message);
        Self { finding: Finding { first, count: 1 }, outcome: Outcome::Warned }
    }

    /// Whether it changes nothing here.
    pub fn is_note(&self) -> bool {
        self.outcome == Outcome::Noted
    }

    /// A line on stderr.
    pub fn line(&self) -> String {
        format!("{}: {}", self.label(), self.finding)
    }

    /// The same, about one of many meshes.
    pub fn line_of(&self, name: &str) -> String {
        format!("{}: {name}: {}", self.label(), self.finding)
    }

    fn label(&self) -> &'static str {
        if self.is_note() { "note" } else { "warn" }
    }

    /// An entry in JSON.
    pub fn json(&self) -> Value {
        let first = &self.finding.first;
        json!({
            "level": if self.is_note() { "note" } else { "warning" },
            "code": first.code(),
            "message": first.message(),
            "count": self.finding.count,
            "triangle": first.triangle(),
            "byte": first.byte(),
            "line": first.line(),
        })
    }
}

/// How long each phase took.
#[derive(Default)]
pub struct Times {
    /// Reading the mesh.
    pub read: Option<Duration>,
    /// Filling the cells.
    pub voxelize: Option<Duration>,
    /// Counting and digests.
    pub digest: Option<Duration>,
    /// Writing the output.
    pub write: Option<Duration>,
}

/// How a run ended.
pub enum Ending {
    /// All is done.
    Done,
    /// All is done, and more cells are in doubt than are allowed.
    Doubtful,
    /// A dry run: all could be done.
    Planned,
    /// The output is there already, and stays.
    Skipped,
    /// The reader of the output went away, and wants no more of it.
    Closed,
    /// It failed, with this exit code.
    Failed(Error, u8),
}

impl Ending {
    /// How a run ends that stopped with `error`.
    pub fn of(error: Error, signals: &Signals, facts: &mut Facts) -> Self {
        if errors::is_closed_pipe(&error) {
            let says = "the reader of the output went away before it had all";
            facts.warnings.push(Warning::new("W005", says));
            return Self::Closed;
        }
        let code = errors::exit_code(&error, signals.caught());
        Self::Failed(error, code)
    }
}

impl Facts {
    /// The lines for what is odd: warnings, and notes where every detail is wanted.
    pub fn odd_lines(&self, voice: Voice) -> impl Iterator<Item = String> {
        self.odd(voice).map(Warning::line)
    }

    /// What is odd: warnings, and notes where every detail is wanted.
    pub fn odd(&self, voice: Voice) -> impl Iterator<Item = &Warning> {
        let wanted = move |warning: &&Warning| !warning.is_note() || voice == Voice::Verbose;
        self.warnings.iter().filter(wanted)
    }

    /// Nothing is known yet.
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            source: None,
            lattice: None,
            room: None,
            estimate: None,
            snapped: None,
            inside: None,
            told: InsideReport::default(),
            occupied: None,
            parts: None,
            seal: None,
            doubt: None,
            way_in: None,
            digest: None,
            warnings: Vec::new(),
            times: Times::default(),
            outputs: None,
        }
    }
}

/// Does `work` and notes how long it took.
pub fn timed<R>(time: &mut Option<Duration>, work: impl FnOnce() -> R) -> R {
    let start = Instant::now();
    let result = work();
    *time = Some(time.unwrap_or_default() + start.elapsed());
    result
}
