//! Interrupts: a flag that the work asks for, so that it can end cleanly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use voxelize::{Error, Result};

/// How often a signal is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long the work has to end after the first signal.
const GRACE_PERIOD: Duration = Duration::from_secs(1);

/// The signals that ask this process to stop.
#[derive(Clone, Default)]
pub struct Signals {
    listens: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
}

impl Signals {
    /// From now on a signal sets the flag. One that comes a second later or more ends the process at
    /// once, for a phase that does not ask; one that comes sooner is the same again, as `timeout` sends
    /// them. To ask for it again changes nothing.
    ///
    /// A write beyond the limit of file sizes becomes an error like that of a full disk, where it would
    /// end the process.
    pub fn listen(&self) -> Result<()> {
        self.register().map_err(|e| Error::output(format!("cannot listen for signals: {e}")))
    }

    fn register(&self) -> io::Result<()> {
        if self.listens.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        #[cfg(unix)]
        flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)))?;
        let at_once = Arc::new(AtomicBool::new(false));
        self.lose_patience(&at_once);
        let ignored = ignored();
        for &signal in STOPS {
            if ignored >> (signal - 1) & 1 == 1 {
                continue;
            }
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&at_once))?;
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        Ok(())
    }

    /// Sets `at_once` when the work had its time to end after a signal.
    fn lose_patience(&self, at_once: &Arc<AtomicBool>) {
        let (signals, at_once) = (self.clone(), Arc::clone(at_once));
        std::thread::spawn(move || {
            while signals.caught().is_none() {
                std::thread::sleep(POLL_INTERVAL);
            }
            std::thread::sleep(GRACE_PERIOD);
            at_once.store(true, Ordering::Relaxed);
        });
    }

    /// The number of the signal that arrived, if one did.
    pub fn caught(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}

/// What asks a process to stop. A closed terminal is among them only where the system says whether it is
/// to be ignored, as `nohup` does.
#[cfg(target_os = "linux")]
const STOPS: &[i32] = &[SIGINT, SIGTERM, signal_hook::consts::SIGHUP];
#[cfg(not(target_os = "linux"))]
const STOPS: &[i32] = &[SIGINT, SIGTERM];

/// The signals that whoever started this process has it ignore, the first one as the lowest bit: they
/// stay ignored.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
