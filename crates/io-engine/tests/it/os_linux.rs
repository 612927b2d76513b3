//! What the tests need of Linux: files past the page cache, and signals.

use std::any::Any;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use tempfile::NamedTempFile;

/// A file that is read and written.
pub fn plain(file: NamedTempFile) -> File {
    file.into_file()
}

/// One that is only read.
pub fn read_only(file: NamedTempFile) -> File {
    File::open(file.path()).expect("opened")
}

/// One past the page cache.
pub fn open_direct(file: NamedTempFile) -> Result<File, String> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_DIRECT)
        .open(file.path())
        .map_err(|error| format!("a file system with O_DIRECT ({error})"))
}

/// Sends a signal to this thread every 200 us until the guard is dropped.
pub fn interrupt_me() -> Result<Box<dyn Any>, String> {
    Ok(Box::new(Interrupting::start()))
}

struct Interrupting {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

extern "C" fn ignore(_signal: i32) {}

impl Interrupting {
    fn start() -> Self {
        // SAFETY: a handler that does nothing may run at any time; without
        // SA_RESTART, so that system calls do end.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = ignore as extern "C" fn(i32) as usize;
            let done = libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut());
            assert_eq!(done, 0);
        }
        // SAFETY: has no preconditions.
        let target = unsafe { libc::pthread_self() };
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                // SAFETY: the target waits for this thread in `drop`, so it lives.
                unsafe { libc::pthread_kill(target, libc::SIGUSR1) };
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        Interrupting {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Interrupting {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the sender ends");
        }
    }
}
