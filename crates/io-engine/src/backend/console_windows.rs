//! What the console asks of the program: Ctrl-C, Ctrl-Break, and its closing.
//!
//! Here because it needs a function that the system calls, which std does not
//! offer. The system calls it on a thread of its own. When the console closes,
//! the user logs off or the machine shuts down, the process ends as soon as that
//! function returns, and after some seconds in any case; so it does not return,
//! and the program uses the time to keep what was measured.

use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};

/// What was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Ctrl-C or Ctrl-Break.
    Stop,
    /// The console is closing: a few seconds are left.
    Close,
}

/// What to do then, on the system's thread.
type Listener = Box<dyn Fn(Asked) + Send + Sync>;

static LISTENER: OnceLock<Listener> = OnceLock::new();

/// Calls `listener` for each such event from now on, instead of ending the
/// process. The first listener stays.
///
/// # Errors
/// When the system takes no listener.
pub fn listen(listener: impl Fn(Asked) + Send + Sync + 'static) -> io::Result<()> {
    LISTENER.get_or_init(|| Box::new(listener));
    // SAFETY: the function is there for as long as the process, and may be
    // called at any time on any thread.
    match unsafe { SetConsoleCtrlHandler(Some(handle), 1) } {
        0 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

// SAFETY: the system alone calls it, with a number; no memory is involved.
unsafe extern "system" fn handle(event: u32) -> i32 {
    let Some(listener) = LISTENER.get() else {
        return 0;
    };
    if matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        listener(Asked::Stop);
        return 1;
    }
    listener(Asked::Close);
    loop {
        std::thread::sleep(Duration::from_secs(60));
    }
}
