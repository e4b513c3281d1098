//! What a run found out, as far as it came: summary and JSON are two views of it.

use std::time::{Duration, Instant};

use voxelize::format::Written;
use voxelize::grid::Digest;
use voxelize::{Bounds, Error, Lattice};

use super::errors;
use super::estimate::Estimate;
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
    /// Occupied cells.
    pub occupied: Option<u64>,
    /// To compare results by.
    pub digest: Option<Digest>,
    /// What is odd but no error.
    pub warnings: Vec<String>,
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
    /// Where they are.
    pub bounds: Bounds,
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
            facts.warnings.push("the reader of the output went away before it had all".into());
            return Self::Closed;
        }
        let code = errors::exit_code(&error, signals.caught());
        Self::Failed(error, code)
    }
}

impl Facts {
    /// Nothing is known yet.
    pub fn new(started: Instant) -> Self {
        Self {
            started,
            source: None,
            lattice: None,
            room: None,
            estimate: None,
            snapped: None,
            occupied: None,
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
    *time = Some(start.elapsed());
    result
}
