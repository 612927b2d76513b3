//! The wish of whoever asked that it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal that asked for an orderly stop, or none. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    /// The next signal ends the process.
    at_once: Arc<AtomicBool>,
}

impl Interrupt {
    /// The number of the signal that came, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::SeqCst) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }

    /// Asks for a stop; returns the number that was there before, 0 for none.
    pub fn raise(&self, signal: usize) -> usize {
        self.signal.swap(signal, Ordering::Relaxed)
    }

    /// From here on the next signal ends the process, wherever it is: for what measures
    /// nothing and changes nothing, so that no loop has to ask. `false`: from here on the first
    /// asks for an orderly stop, and only one that comes later ends it.
    pub fn end_at_once(&self, at_once: bool) {
        self.at_once.store(at_once, Ordering::SeqCst);
    }

    /// Whether the next signal ends the process, for a handler of signals.
    #[must_use]
    pub fn ends_at_once(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.at_once)
    }

    /// Where a handler of signals writes the number.
    #[must_use]
    pub fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }
}
