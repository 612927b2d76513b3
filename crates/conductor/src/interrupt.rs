//! The caller's request to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal that requested an orderly stop, if any. Clones share their state.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// The next signal ends the process.
    at_once: Arc<AtomicBool>,
}

impl Interrupt {
    /// The number of the signal received, if any.
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }

    /// Requests a stop; returns the previous signal number, 0 for none.
    pub fn raise(&self, signal: usize) -> usize {
        self.signal.swap(signal, Ordering::Relaxed)
    }

    /// Makes the next signal end the process immediately: for work that measures and changes
    /// nothing, so that no loop has to poll. `false`: the next signal requests an orderly stop
    /// again, and only the one after it ends the process.
    pub fn end_at_once(&self, at_once: bool) {
        self.at_once.store(at_once, Ordering::SeqCst);
    }

    /// Whether the next signal ends the process; shared with a signal handler.
    pub fn ends_at_once(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.at_once)
    }

    /// Where a signal handler writes the signal number.
    pub fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }
}
