//! Ctrl-C, SIGTERM and SIGHUP, on Windows Ctrl-C, Ctrl-Break and the closing of the
//! console: the first asks for an orderly stop that keeps what
//! was measured, the second stops at once.

#[cfg(unix)]
use std::sync::Arc;
use stripewise_campaign::Interrupt;

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

/// Starts to listen.
#[cfg(unix)]
pub fn listen() -> std::io::Result<Interrupt> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::atomic::AtomicBool;
    let interrupt = Interrupt::default();
    let seen = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        let number = usize::try_from(signal).unwrap_or(2);
        // Order matters: the shutdown looks at a flag that only an earlier
        // signal, of whichever kind, has set.
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&seen))?;
        signal_hook::flag::register(signal, Arc::clone(&seen))?;
        signal_hook::flag::register_usize(signal, interrupt.shared(), number)?;
    }
    Ok(interrupt)
}

/// Starts to listen. Windows has no signals: Ctrl-C and Ctrl-Break count as
/// SIGINT, and the closing of the console as SIGHUP.
#[cfg(windows)]
pub fn listen() -> std::io::Result<Interrupt> {
    use stripewise_io_engine::backend::console::{self, Asked};
    const SIGHUP: usize = 1;
    const SIGINT: usize = 2;
    let interrupt = Interrupt::default();
    let raised = interrupt.clone();
    console::listen(move |asked| {
        let number = match asked {
            Asked::Stop => SIGINT,
            Asked::Close => SIGHUP,
        };
        let before = raised.raise(number);
        if before != 0 && asked == Asked::Stop {
            std::process::exit(128 + SIGINT as i32);
        }
    })?;
    Ok(interrupt)
}
