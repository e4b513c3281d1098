//! Interrupts. The first signal sets a flag, which the work checks, and the run ends in order. A second one
//! removes the temporary files and ends the process at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use voxelize::{Error, Result, tool};

/// Time between two checks of the flags.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Signals within this time of the first one count as one: `timeout` sends each signal twice.
const SAME: Duration = Duration::from_millis(500);

/// Time that a report may stall after a signal.
const STALL: Duration = Duration::from_millis(300);

/// Signals that ask this process to stop. The default listens to none.
#[derive(Clone, Default)]
pub struct Signals {
    /// The process runs only this program. A fuzzer handles signals itself.
    is_program: bool,
    flags: Arc<Flags>,
}

#[derive(Default)]
struct Flags {
    listens: AtomicBool,
    /// Number of the last signal.
    caught: Arc<AtomicUsize>,
    /// Set by every signal.
    again: Arc<AtomicBool>,
    /// Number of reports that are being written.
    stalling: AtomicUsize,
}

/// Guard while a report is written, perhaps to a pipe that nobody reads.
pub struct MayStall(Arc<Flags>);

impl Drop for MayStall {
    fn drop(&mut self) {
        self.0.stalling.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Turns a write beyond the limit of file sizes into an error, as on a full disk. Otherwise it would end
/// the process.
pub fn survive_limits() {
    // A failure affects only this limit.
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

    /// Starts to listen. A second call has no effect.
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

    /// Marks a report as being written while the returned guard lives. A signal ends the process if the
    /// write stalls. Outputs do not use this.
    pub fn may_stall(&self) -> MayStall {
        self.flags.stalling.fetch_add(1, Ordering::Relaxed);
        MayStall(Arc::clone(&self.flags))
    }

    /// Returns the number of the last signal, if any.
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
        // Standard error itself may stall.
        let _ = tool::detached(|| eprintln!("error: {}", Error::interrupted()));
        std::thread::sleep(POLL_INTERVAL);
        let signal = self.caught.load(Ordering::Relaxed) as i32;
        tool::without_temporaries(|| std::process::exit(128 + signal))
    }

    /// Waits for a signal, then for a reason to end the process at once.
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

/// Signals that stop a process: every signal that would end it and leave its files. A closed terminal is among them only
/// where the system states whether it is to be ignored, as `nohup` requests.
#[cfg(target_os = "linux")]
const STOPS: &[i32] = {
    use signal_hook::consts::{SIGALRM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    &[SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM]
};
#[cfg(not(target_os = "linux"))]
const STOPS: &[i32] = &[SIGINT, SIGTERM];

/// Signals that this process was started to ignore, the first one as the lowest bit. They stay ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
