//! The wish of whoever asked that it stops.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The signal that asked for an orderly stop, or none. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// The number of the signal that came, if one did.
    #[must_use]
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }

    /// Asks for a stop; returns the number that was there before, 0 for none.
    pub fn raise(&self, signal: usize) -> usize {
        self.signal.swap(signal, Ordering::Relaxed)
    }

    /// Where a handler of signals writes the number.
    #[must_use]
    pub fn shared(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.signal)
    }
}
