//! Ctrl-C, SIGTERM and SIGHUP, on Windows Ctrl-C, Ctrl-Break and the closing of the
//! console: the first asks for an orderly stop that keeps what
//! was measured, the second stops at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Makes a file that grows past `ulimit -f` an error of the write, as a full disk
/// is, instead of the end of the process.
#[cfg(unix)]
pub fn outlive_file_size_limit() {
    // A handler that only sets a flag: mkfs starts with the signal as it was.
    let unread = Arc::default();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread);
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn outlive_file_size_limit() {}

/// The signal that asked for a stop, or none.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Starts to listen.
    #[cfg(unix)]
    pub fn listen() -> std::io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
        use std::sync::atomic::AtomicBool;
        let interrupt = Interrupt::default();
        let seen = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
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

    /// Starts to listen. Windows has no signals: Ctrl-C and Ctrl-Break count as
    /// SIGINT, and the closing of the console as SIGHUP.
    #[cfg(windows)]
    pub fn listen() -> std::io::Result<Self> {
        use stripewise_io_engine::backend::console::{self, Asked};
        const SIGHUP: usize = 1;
        const SIGINT: usize = 2;
        let interrupt = Interrupt::default();
        let signal = Arc::clone(&interrupt.signal);
        console::listen(move |asked| {
            let number = match asked {
                Asked::Stop => SIGINT,
                Asked::Close => SIGHUP,
            };
            let before = signal.swap(number, Ordering::Relaxed);
            if before != 0 && asked == Asked::Stop {
                std::process::exit(128 + SIGINT as i32);
            }
        })?;
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
