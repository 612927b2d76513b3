//! Ctrl-C, SIGTERM and SIGHUP, on Windows Ctrl-C, Ctrl-Break and the closing of the
//! console: the first asks for an orderly stop that keeps what
//! was measured, the second stops at once. Where nothing is measured the first does
//! (`Interrupt::end_at_once`), so that no computation has to listen.

#[cfg(unix)]
use std::sync::{Arc, atomic::AtomicBool};
use stripewise_campaign::Interrupt;

/// Makes a file that grows past `ulimit -f` an error of the write, as a full disk
/// is, instead of the end of the process.
#[cfg(unix)]
pub fn ignore_sigxfsz() {
    // A handler that only sets a flag: mkfs starts with the signal as it was.
    let unread = Arc::default();
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, unread);
}

/// Windows has no such limit.
#[cfg(windows)]
pub fn ignore_sigxfsz() {}

/// Starts to listen.
#[cfg(unix)]
pub fn listen() -> std::io::Result<Interrupt> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let interrupt = Interrupt::default();
    let seen = interrupt.ends_at_once();
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        hear(signal, &interrupt, &seen, || ())?;
    }
    Ok(interrupt)
}

/// Hears one signal. `between` is called wherever one may come while this is under way: from
/// the first step on the system's own answer, to end the process, is gone, so what is heard
/// first must be the signal itself.
#[cfg(unix)]
fn hear(
    signal: i32,
    interrupt: &Interrupt,
    seen: &Arc<AtomicBool>,
    between: impl Fn(),
) -> std::io::Result<()> {
    let number = usize::try_from(signal).unwrap_or(2);
    signal_hook::flag::register_usize(signal, interrupt.shared(), number)?;
    between();
    // Order matters here, too: the shutdown looks at a flag that only an earlier signal, of
    // whichever kind, has set.
    signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(seen))?;
    between();
    signal_hook::flag::register(signal, Arc::clone(seen))?;
    Ok(())
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
    let at_once = interrupt.ends_at_once();
    console::listen(move |asked| {
        let number = match asked {
            Asked::Stop => SIGINT,
            Asked::Close => SIGHUP,
        };
        let before = raised.raise(number);
        let ends = before != 0 || at_once.load(std::sync::atomic::Ordering::Relaxed);
        if ends && asked == Asked::Stop {
            std::process::exit(128 + SIGINT as i32);
        }
    })?;
    Ok(interrupt)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use signal_hook::consts::SIGUSR1;

    #[test]
    fn a_signal_that_comes_while_listening_begins_is_not_lost() {
        let interrupt = Interrupt::default();
        let raised = || {
            interrupt.raise(0);
            signal_hook::low_level::raise(SIGUSR1).expect("a signal");
            assert_eq!(interrupt.signal().map(i32::from), Some(SIGUSR1));
        };
        hear(SIGUSR1, &interrupt, &Arc::default(), raised).expect("it is heard");
    }

    /// What measures nothing asks nobody whether it is to stop.
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
                raise();
                assert_eq!(interrupt.signal(), Some(15));
                // The second does, whatever is wished.
                interrupt.end_at_once(false);
                raise();
                std::process::exit(1);
            }
            _ => {
                for role in ["reads", "measures"] {
                    let program = std::env::current_exe().expect("this program");
                    let mut child = std::process::Command::new(program);
                    child.args(["--exact", TEST]).env(ROLE, role);
                    let output = child.output().expect("it starts");
                    assert_eq!(output.status.code(), Some(128 + 15), "{role}: {output:?}");
                }
            }
        }
    }
}
