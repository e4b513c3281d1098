//! Progress bar. It appears only on a terminal and only for work that takes a while. One bar covers all
//! phases of a run.

use std::fmt;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use voxelize::Progress;

use super::report::Verbosity;
use super::signals::Signals;

/// Time after which the bar appears.
const SHOWN_AFTER: Duration = Duration::from_millis(300);

/// Number of positions of the bar.
const STEPS: f64 = 1000.0;

/// Phases of the two kinds of runs, in order, each with its usual share of the time. A run may skip phases. A
/// phase that is not listed fills the rest of the bar.
const RUNS: [&[(&str, f64)]; 2] = [
    &[("bounds", 1.0), ("meshes", 4.0)],
    &[
        ("read", 1.0),
        ("contacts", 1.0),
        ("repair", 0.5),
        ("winding", 3.0),
        ("inside", 1.0),
        ("voxelize", 3.0),
        ("flood", 1.0),
        ("write", 3.0),
    ],
];

/// Shows progress and tells the work to stop after an interrupt.
pub struct Bar {
    bar: ProgressBar,
    phase: Mutex<BarPhase>,
    /// Completed part of the current phase, in the unit of the phase.
    done: AtomicU64,
    /// Time at which the bar appears. `None` if it never appears.
    due: Option<Instant>,
    shown: Once,
    signals: Signals,
}

/// Section of the bar that a phase fills. 0 is the start of the bar and 1 its end.
#[derive(Debug, Clone, Copy)]
struct BarPhase {
    start: f64,
    end: f64,
    /// Position of the first slab. `None` before the first slab.
    slabs: Option<f64>,
    /// Length of the phase, in the unit of the phase.
    total: u64,
}

impl BarPhase {
    /// State before the first phase.
    const NONE: Self = Self {
        start: 0.0,
        end: 0.0,
        slabs: None,
        total: 0,
    };

    /// Returns the section of the phase `name`, which begins where this phase ends.
    fn next(self, name: &str, total: u64) -> Self {
        let start = self.end;
        if let Some((slab, slabs)) = slab(name) {
            let first = self.slabs.unwrap_or(start);
            let length = (1.0 - first) / slabs;
            let end = (first + length * slab).clamp(start, 1.0);
            return Self {
                start: (end - length).max(start),
                end,
                slabs: Some(first),
                total,
            };
        }
        // Share of the remaining bar that this phase fills.
        let mut share = 1.0;
        for run in RUNS {
            if let Some(at) = run.iter().position(|(phase, _)| *phase == name) {
                share = run[at].1 / run[at..].iter().map(|(_, share)| share).sum::<f64>();
            }
        }
        Self {
            start,
            end: start + (1.0 - start) * share,
            total,
            ..self
        }
    }

    /// Returns the position of the bar when `done` units of the phase are completed.
    fn place(self, done: u64) -> f64 {
        let share = if self.total == 0 {
            0.0
        } else {
            (done as f64 / self.total as f64).min(1.0)
        };
        self.start + (self.end - self.start) * share
    }
}

/// Estimates the remaining time from the average rate of the whole run, because the rate of a single phase
/// would jump at the next phase. Returns an empty text at the start of the run.
fn time_left(share: f64, elapsed: Duration) -> String {
    if share < 0.02 || elapsed < Duration::from_secs(2) {
        return String::new();
    }
    let seconds = (elapsed.as_secs_f64() * (1.0 - share) / share).ceil();
    match seconds {
        s if s < 60.0 => format!("{s} s left"),
        s if s < 3600.0 => format!("{} min left", (s / 60.0).ceil()),
        s => format!("{} h left", (s / 3600.0).ceil()),
    }
}

/// Parses `slab 2/7` or `region 2/7` into the number and the total.
fn slab(name: &str) -> Option<(f64, f64)> {
    let numbers = name
        .strip_prefix("slab ")
        .or_else(|| name.strip_prefix("region "))?;
    let (n, count) = numbers.split_once('/')?;
    Some((
        n.parse().ok()?,
        count.parse().ok().filter(|count| *count > 0.0)?,
    ))
}

impl Bar {
    /// Creates a bar. It never appears in a quiet run, or if standard error is not a terminal.
    pub fn new(verbosity: Verbosity, signals: Signals) -> Self {
        let bar = ProgressBar::with_draw_target(Some(STEPS as u64), ProgressDrawTarget::hidden());
        if let Ok(style) =
            ProgressStyle::with_template("{msg:9} {wide_bar} {percent:>3} %  {left:>10}")
        {
            let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
                // An error in drawing the bar must not end the work.
                let _ = out.write_str(&time_left(f64::from(state.fraction()), state.elapsed()));
            };
            bar.set_style(style.with_key("left", left));
        }
        let shows = verbosity != Verbosity::Quiet && std::io::stderr().is_terminal();
        let due = shows.then(|| Instant::now() + SHOWN_AFTER);
        Self {
            bar,
            phase: Mutex::new(BarPhase::NONE),
            done: 0.into(),
            due,
            shown: Once::new(),
            signals,
        }
    }

    /// Removes the bar from the screen. The next phase shows it again.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Hides the bar while `print` writes to the terminal.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }

    /// Moves the bar to the position for `done` units of the phase.
    fn show(&self, phase: BarPhase, done: u64) {
        self.bar.set_position((STEPS * phase.place(done)) as u64);
    }

    fn phase(&self) -> std::sync::MutexGuard<'_, BarPhase> {
        self.phase.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// Progress that shows nothing but still passes on interrupts. Used where the slabs or regions advance the
/// bar themselves.
pub struct Silent<'a>(pub &'a Bar);

impl Progress for Silent<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

impl Progress for Bar {
    fn begin(&self, phase: &str, total: u64) {
        if self.due.is_none() {
            return;
        }
        let mut current = self.phase();
        *current = current.next(phase, total);
        self.done.store(0, Relaxed);
        if self.bar.is_finished() {
            self.bar.reset();
        }
        self.bar.set_message(phase.to_string());
        self.show(*current, 0);
    }

    fn advance(&self, by: u64) {
        let Some(due) = self.due else { return };
        let done = self.done.fetch_add(by, Relaxed) + by;
        if Instant::now() >= due {
            self.shown
                .call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
            let phase = *self.phase();
            self.show(phase, done);
        }
    }

    fn cancelled(&self) -> bool {
        self.signals.caught().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the positions of the bar at every quarter of each of these phases.
    fn places(phases: &[&str]) -> Vec<f64> {
        let mut phase = BarPhase::NONE;
        let mut places = Vec::new();
        for name in phases {
            phase = phase.next(name, 4);
            places.extend((0..=4).map(|done| phase.place(done)));
        }
        places
    }

    #[test]
    fn the_time_left_is_that_of_the_average() {
        let left = |share: f64, seconds: u64| time_left(share, Duration::from_secs(seconds));
        assert_eq!([left(0.5, 1), left(0.01, 50)], ["", ""]);
        assert_eq!(
            [left(0.5, 10), left(0.25, 40), left(0.1, 900)],
            ["10 s left", "2 min left", "3 h left"]
        );
    }

    #[test]
    fn one_bar_goes_from_start_to_end_and_never_back() {
        for phases in [
            &["read", "voxelize", "write"][..],
            &[
                "read", "repair", "winding", "voxelize", "voxelize", "flood", "write",
            ],
            &["read", "slab 1/3", "slab 2/3", "slab 2/3", "slab 3/3"],
            &["read", "region 1/2", "region 2/2"],
            &["bounds", "meshes"],
            &["cases"],
            &["write"],
        ] {
            let places = places(phases);
            assert_eq!(places[0], 0.0, "{phases:?}");
            assert!(
                (places[places.len() - 1] - 1.0).abs() < 1e-12,
                "{phases:?} {places:?}"
            );
            assert!(
                places.windows(2).all(|pair| pair[0] <= pair[1]),
                "{phases:?} {places:?}"
            );
            assert!(places.len() == 5 * phases.len());
        }
        let read = places(&["read", "voxelize"])[4];
        assert!((0.05..0.2).contains(&read), "{read}");
    }
}
