//! Console events: Ctrl-C, Ctrl-Break, and closing.
//!
//! Here because it needs a callback from the system, which std does not offer. The system calls it
//! on a thread of its own. When the console closes, the user logs off or the machine shuts down,
//! the process ends as soon as the callback returns, and after some seconds in any case; so it does
//! not return, and the program uses the time to store what was measured.

use super::stop_requests::StopRequests;
use super::sys;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

/// Windows has no signals: Ctrl-C and Ctrl-Break are mapped to SIGINT, closing the console to
/// SIGHUP.
const SIGHUP: usize = 1;
const SIGINT: usize = 2;

/// The registered listener.
struct Listener {
    first: Arc<AtomicUsize>,
    at_once: Arc<AtomicBool>,
    requests: StopRequests,
}

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Catches such events from now on, instead of ending the process. The first stores its number in
/// `first`, which is 0 until then; a Ctrl-C more than a second later, and any while `at_once` is
/// set, ends the process with 130. Only the first listener is used.
///
/// # Errors
/// If the system refuses the callback.
pub fn listen(first: &Arc<AtomicUsize>, at_once: &Arc<AtomicBool>) -> io::Result<()> {
    LISTENER.get_or_init(|| Listener {
        first: Arc::clone(first),
        at_once: Arc::clone(at_once),
        requests: StopRequests::default(),
    });
    // SAFETY: the function exists as long as the process, and may be called at any time on any
    // thread.
    match unsafe { SetConsoleCtrlHandler(Some(handle), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Listener {
    fn record_signal(&self, number: usize) {
        let is_another_wish = self.requests.is_repeated(sys::monotonic_ns());
        let ends = is_another_wish || self.at_once.load(Ordering::SeqCst);
        if ends && number == SIGINT {
            std::process::exit(128 + SIGINT as i32);
        }
        let _ = (self.first).compare_exchange(0, number, Ordering::SeqCst, Ordering::Relaxed);
    }
}

// SAFETY: only the system calls it, with a number; no memory is involved.
unsafe extern "system" fn handle(event: u32) -> i32 {
    let Some(listener) = LISTENER.get() else {
        return 0;
    };
    if matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        listener.record_signal(SIGINT);
        return 1;
    }
    listener.record_signal(SIGHUP);
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}
