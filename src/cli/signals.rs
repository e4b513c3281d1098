//! Interrupts: a flag that the work asks for, so that it can end cleanly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use voxelize::{Error, Result, tool};

use super::is_fuzzing;

/// How often a signal is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long the work has to end after the first signal.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// How long a report may stall after the first signal: nobody reads the pipe that it is written to.
const STALL: Duration = Duration::from_millis(300);

/// The signals that ask this process to stop.
#[derive(Clone, Default)]
pub struct Signals {
    listens: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
    /// How many writes of reports are under way.
    stalling: Arc<AtomicUsize>,
}

/// From now on a write beyond the limit of file sizes is an error like that of a full disk, where it would end the
/// process.
pub fn survive_limits() {
    // Where the system refuses, all else works.
    #[cfg(unix)]
    let _ = flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
}

/// As long as it lives, a report is written, perhaps to a pipe that nobody reads.
pub struct MayStall(Arc<AtomicUsize>);

impl Drop for MayStall {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Signals {
    /// From now on a signal sets the flag. One that comes a second later or more ends the process at
    /// once, for a phase that does not ask; one that comes sooner is the same again, as `timeout` sends
    /// them. To ask for it again changes nothing.
    pub fn listen(&self) -> Result<()> {
        // A fuzzer has signals of its own.
        if is_fuzzing() || self.listens.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let at_once = Arc::new(AtomicBool::new(false));
        self.lose_patience(&at_once)?;
        self.register(&at_once).map_err(|e| Error::output(format!("cannot listen for signals: {e}")))
    }

    fn register(&self, at_once: &Arc<AtomicBool>) -> io::Result<()> {
        let ignored = ignored();
        for &signal in STOPS {
            if ignored >> (signal - 1) & 1 == 1 {
                continue;
            }
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(at_once))?;
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        Ok(())
    }

    /// From now on, and as long as the answer lives, a report is written: a signal ends the process if that
    /// stalls. Outputs are not written like this: they are removed first.
    pub fn may_stall(&self) -> MayStall {
        self.stalling.fetch_add(1, Ordering::Relaxed);
        MayStall(Arc::clone(&self.stalling))
    }

    /// Sets `at_once` when the work had its time to end after a signal, and ends the process if it stalls in a
    /// report.
    fn lose_patience(&self, at_once: &Arc<AtomicBool>) -> Result<()> {
        let signals = self.clone();
        let at_once = Arc::clone(at_once);
        tool::detached(move || {
            while signals.caught().is_none() {
                std::thread::sleep(POLL_INTERVAL);
            }
            let mut stalled = Duration::ZERO;
            for n in 1.. {
                std::thread::sleep(POLL_INTERVAL);
                let is_stalling = signals.stalling.load(Ordering::Relaxed) > 0;
                stalled = if is_stalling { stalled + POLL_INTERVAL } else { Duration::ZERO };
                if stalled >= STALL {
                    std::process::exit(128 + signals.caught().map_or(0, i32::from));
                }
                if POLL_INTERVAL * n >= GRACE_PERIOD {
                    at_once.store(true, Ordering::Relaxed);
                }
            }
        })
    }

    /// The number of the signal that arrived, if one did.
    pub fn caught(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}

/// The signals that stop a process: every signal that would end it and leave its files. A closed terminal is among them only where the system says whether it is
/// to be ignored, as `nohup` does.
#[cfg(target_os = "linux")]
const STOPS: &[i32] = {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM]
};
#[cfg(not(target_os = "linux"))]
const STOPS: &[i32] = &[SIGINT, SIGTERM];

/// The signals that whoever started this process has it ignore, the first one as the lowest bit: they
/// stay ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
