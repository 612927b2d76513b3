//! Ctrl-C, SIGTERM and SIGHUP: the first asks for an orderly stop that keeps what
//! was measured, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The signal that asked for a stop, or none.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
}

/// Signals that ask for a stop. Numbers are those of Unix; where a system lacks
/// one, it is not listed.
#[cfg(unix)]
const SIGNALS: &[i32] = &[
    signal_hook::consts::SIGINT,
    signal_hook::consts::SIGTERM,
    signal_hook::consts::SIGHUP,
];
#[cfg(not(unix))]
const SIGNALS: &[i32] = &[signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM];

impl Interrupt {
    /// Starts to listen.
    pub fn listen() -> std::io::Result<Self> {
        let interrupt = Interrupt::default();
        let seen = Arc::new(AtomicBool::new(false));
        for &signal in SIGNALS {
            let number = usize::try_from(signal).unwrap_or(2);
            // Order matters: the shutdown looks at a flag that only an earlier
            // signal, of whichever kind, has set.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&seen),
            )?;
            signal_hook::flag::register(signal, Arc::clone(&seen))?;
            signal_hook::flag::register_usize(signal, Arc::clone(&interrupt.signal), number)?;
        }
        Ok(interrupt)
    }

    /// The number of the signal that came, if one did.
    pub fn signal(&self) -> Option<u8> {
        match self.signal.load(Ordering::Relaxed) {
            0 => None,
            number => u8::try_from(number).ok(),
        }
    }
}
