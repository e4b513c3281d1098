//! Handling of signals. The first signal sets a flag that the work checks, and the run stops in an orderly
//! way. A second signal removes the temporary files and ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use voxelize::{Error, Result, tool};

/// Time between two checks of the flags.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Repeated signals within this time after the first one are ignored, because `timeout` sends each signal
/// twice.
const SAME: Duration = Duration::from_millis(500);

/// Time for which writing a report may block after a signal.
const STALL: Duration = Duration::from_millis(300);

/// Signals that ask this process to stop. The default handles none.
#[derive(Clone, Default)]
pub struct Signals {
    /// The process runs only this program. Inside another program, such as a fuzzer, that program handles the
    /// signals.
    is_program: bool,
    flags: Arc<Flags>,
}

#[derive(Default)]
struct Flags {
    listens: AtomicBool,
    /// Number of the last signal. 0 before the first one.
    caught: Arc<AtomicUsize>,
    /// Set by every signal. Detects a second one.
    again: Arc<AtomicBool>,
    /// Number of reports that are being written at this moment.
    stalling: AtomicUsize,
}

/// Guard that exists while a report is written. The report may go to a pipe that nobody reads.
pub struct MayStall(Arc<Flags>);

impl Drop for MayStall {
    fn drop(&mut self) {
        self.0.stalling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Turns a write beyond the file size limit into an error, as on a full disk. Without this, the signal
/// SIGXFSZ would end the process.
pub fn survive_limits() {
    // If registering fails, only writes beyond this limit are affected.
    #[cfg(unix)]
    let _ = flag::register(
        signal_hook::consts::SIGXFSZ,
        Arc::new(AtomicBool::new(false)),
    );
}

impl Signals {
    /// Creates the signals of a process that runs only this program.
    pub fn of_program() -> Self {
        Self {
            is_program: true,
            ..Self::default()
        }
    }

    /// Returns `true` if the process runs only this program.
    pub fn is_program(&self) -> bool {
        self.is_program
    }

    /// Starts to handle signals. Calling it again has no effect.
    pub fn listen(&self) -> Result<()> {
        if !self.is_program || self.flags.listens.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let flags = Arc::clone(&self.flags);
        tool::detached(move || flags.watch())?;
        self.flags
            .register()
            .map_err(|e| Error::output(format!("cannot listen for signals: {e}")))
    }

    /// Returns a guard that marks a report as being written. If the write blocks, a signal ends the process.
    /// Output files must not be written under this guard.
    pub fn may_stall(&self) -> MayStall {
        self.flags.stalling.fetch_add(1, Ordering::Relaxed);
        MayStall(Arc::clone(&self.flags))
    }

    /// Returns the number of the last signal. `None` before the first one.
    pub fn caught(&self) -> Option<u8> {
        match self.flags.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}

impl Flags {
    fn register(&self) -> io::Result<()> {
        let ignored = ignored();
        for &signal in STOPS {
            if ignored >> (signal - 1) & 1 == 0 {
                flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
                flag::register(signal, Arc::clone(&self.again))?;
            }
        }
        Ok(())
    }

    /// Removes the temporary files and ends the process.
    fn exit(&self) -> ! {
        // Writing to standard error may block as well, so a separate thread does it.
        let _ = tool::detached(|| eprintln!("error: {}", Error::interrupted()));
        std::thread::sleep(POLL_INTERVAL);
        let signal = self.caught.load(Ordering::Relaxed) as i32;
        tool::without_temporaries(|| std::process::exit(128 + signal))
    }

    /// Waits for the first signal. Then waits for a second signal or a blocked write, and ends the process.
    fn watch(&self) {
        while self.caught.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(POLL_INTERVAL);
        }
        let first = Instant::now();
        let mut stalled = Duration::ZERO;
        loop {
            if first.elapsed() < SAME {
                self.again.store(false, Ordering::Relaxed);
            }
            std::thread::sleep(POLL_INTERVAL);
            let is_stalling = self.stalling.load(Ordering::Relaxed) > 0;
            stalled = if is_stalling {
                stalled + POLL_INTERVAL
            } else {
                Duration::ZERO
            };
            if stalled >= STALL || first.elapsed() >= SAME && self.again.load(Ordering::Relaxed) {
                self.exit();
            }
        }
    }
}

/// Handled signals: all signals that would otherwise end the process and leave temporary files behind. SIGHUP
/// is handled only on Linux, where the process can find out whether `nohup` requested to ignore it.
#[cfg(target_os = "linux")]
const STOPS: &[i32] = {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM]
};
#[cfg(not(target_os = "linux"))]
const STOPS: &[i32] = &[SIGINT, SIGTERM];

/// Returns the signals that this process was started to ignore, as a bit mask whose lowest bit is signal 1.
/// These signals stay ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
