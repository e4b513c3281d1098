//! Interrupts: a flag that the work asks for, so that it can end cleanly.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// The signals that ask this process to stop.
#[derive(Clone, Default)]
pub struct Signals {
    caught: Arc<AtomicUsize>,
}

impl Signals {
    /// From now on a signal sets the flag. A second one ends the process at once, for a phase that
    /// does not ask.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(&self) -> io::Result<()> {
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            // In this order: the first signal finds `again` unset, and sets it.
            flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&self.caught), signal as usize)?;
        }
        Ok(())
    }

    /// The number of the signal that arrived, if one did.
    pub fn caught(&self) -> Option<u8> {
        match self.caught.load(Ordering::Relaxed) {
            0 => None,
            signal => u8::try_from(signal).ok(),
        }
    }
}
