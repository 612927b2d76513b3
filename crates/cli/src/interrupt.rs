//! Ctrl-C, SIGTERM and SIGHUP; on Windows Ctrl-C, Ctrl-Break and closing the
//! console. The first requests an orderly stop that keeps the
//! results, the second stops immediately. While nothing is measured, the first does
//! (`Interrupt::end_at_once`), so that no computation has to poll.
//!
//! Signals within a second of the first count as the same request.

use stripewise_campaign::Interrupt;

/// Makes growth past `ulimit -f` a write error, like a full disk,
/// instead of the end of the process.
#[cfg(unix)]
pub fn ignore_sigxfsz() {
    // A handler that only sets a flag: mkfs starts with the default disposition.
    let unread = std::sync::Arc::default();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread);
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn ignore_sigxfsz() {}

/// Installs the handlers.
#[cfg(unix)]
pub fn listen() -> std::io::Result<Interrupt> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let interrupt = Interrupt::default();
    let (first, at_once) = (interrupt.shared(), interrupt.ends_at_once());
    stripewise_io_engine::backend::signals::listen(&[SIGINT, SIGTERM, SIGHUP], &first, &at_once)?;
    Ok(interrupt)
}

/// Installs the handlers. Windows has no signals: Ctrl-C and Ctrl-Break count as
/// SIGINT, and closing the console as SIGHUP.
#[cfg(windows)]
pub fn listen() -> std::io::Result<Interrupt> {
    let interrupt = Interrupt::default();
    let (first, at_once) = (interrupt.shared(), interrupt.ends_at_once());
    stripewise_io_engine::backend::console::listen(&first, &at_once)?;
    Ok(interrupt)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Work that measures nothing does not poll for a stop.
    #[test]
    fn a_process_that_measures_nothing_ends_at_the_first_signal() {
        const ROLE: &str = "STRIPEWISE_TEST_SIGNALS";
        const TEST: &str =
            "interrupt::tests::a_process_that_measures_nothing_ends_at_the_first_signal";
        let raise = || signal_hook::low_level::raise(signal_hook::consts::SIGTERM).expect("sent");
        match std::env::var(ROLE).as_deref() {
            Ok("reads") => {
                listen().expect("it listens").end_at_once(true);
                raise();
                std::process::exit(1);
            }
            Ok("measures") => {
                let interrupt = listen().expect("it listens");
                interrupt.end_at_once(true);
                interrupt.end_at_once(false);
                let began = std::time::Instant::now();
                raise();
                assert_eq!(interrupt.signal(), Some(15));
                // The second is part of the first; a later one ends the process in any case.
                raise();
                while began.elapsed() < Duration::from_secs(60) {
                    interrupt.end_at_once(false);
                    signal_hook::low_level::raise(signal_hook::consts::SIGHUP).expect("sent");
                    std::thread::sleep(Duration::from_millis(10));
                }
                std::process::exit(1);
            }
            _ => {
                for (role, code) in [("reads", 128 + 15), ("measures", 128 + 1)] {
                    let program = std::env::current_exe().expect("this program");
                    let mut child = std::process::Command::new(program);
                    child.args(["--exact", TEST]).env(ROLE, role);
                    let output = child.output().expect("it starts");
                    assert_eq!(output.status.code(), Some(code), "{role}: {output:?}");
                }
            }
        }
    }
}
