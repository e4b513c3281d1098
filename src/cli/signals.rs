//! Interrupts: a flag that the work asks for, so that it can end cleanly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The signals that ask this process to stop.
#[derive(Clone, Default)]
pub struct Signals {
    listens: Arc<AtomicBool>,
    caught: Arc<AtomicUsize>,
    at_once: Arc<AtomicBool>,
}

impl Signals {
    /// From now on a signal sets the flag. A second one ends the process at once, for a phase that
    /// does not ask. To ask for it again changes nothing.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(&self) -> io::Result<()> {
        if self.listens.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            flag::register_conditional_default(signal, Arc::clone(&self.at_once))?;
            // In this order: the first signal finds `again` unset, and sets it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        Ok(())
    }

    /// From now on a signal ends the process at once, as it does by default: for writing into a
    /// pipe, which may block for ever and leaves nothing to clean up.
    pub fn end_at_once(&self) {
        self.at_once.store(true, Ordering::Relaxed);
    }

    /// The number of the signal that arrived, if one did.
    pub fn caught(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}
