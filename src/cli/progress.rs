//! The progress bar: on a terminal only, and only for work that takes a while.

use std::io::IsTerminal;
use std::sync::Once;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use voxelize::Progress;

use super::report::Verbosity;
use super::signals::Signals;

/// Work that ends sooner shows no bar.
const SHOWN_AFTER: Duration = Duration::from_millis(300);

/// Shows progress, and passes interrupts on to the work.
pub struct Bar {
    bar: ProgressBar,
    /// When to show it; `None` for never.
    due: Option<Instant>,
    shown: Once,
    signals: Signals,
}

impl Bar {
    /// A bar that is not shown yet, and never if quiet or off a terminal.
    pub fn new(verbosity: Verbosity, signals: Signals) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{msg:9} {wide_bar} {percent:>3} %  {eta:>4} left") {
            bar.set_style(style);
        }
        let shows = verbosity != Verbosity::Quiet && std::io::stderr().is_terminal();
        let due = shows.then(|| Instant::now() + SHOWN_AFTER);
        Self { bar, due, shown: Once::new(), signals }
    }

    /// Takes the bar off the screen, until the next phase.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// Does `print`, which writes to the terminal, with the bar out of the way.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

/// Shows nothing and passes interrupts on: for writing between slabs, which show theirs.
pub struct Silent<'a>(pub &'a Bar);

impl Progress for Silent<'_> {
    fn cancelled(&self) -> bool {
        self.0.cancelled()
    }
}

impl Progress for Bar {
    fn begin(&self, phase: &str, total: u64) {
        self.bar.reset();
        self.bar.set_length(total);
        self.bar.set_message(phase.to_string());
    }

    fn advance(&self, by: u64) {
        self.bar.inc(by);
        if self.due.is_some_and(|due| Instant::now() >= due) {
            self.shown.call_once(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
    }

    fn cancelled(&self) -> bool {
        self.signals.caught().is_some()
    }
}
