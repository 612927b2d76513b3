//! The back ends. `cfg` on the operating system appears only here.
//!
//! `sys` holds the few calls that differ: positioned reads and writes, memory for buffers, error
//! numbers, and the system's native engine. `linux_io_uring` and `windows_iocp` exist by name on
//! all systems; on the wrong one, opening them returns an error.

pub(crate) mod absent;
pub(crate) mod buffers;
mod data_pace;
pub mod faulty;
mod intake;
pub mod null;
pub mod portable_threads;
#[cfg(any(unix, windows))]
mod stop_requests;
pub mod timed;

#[cfg(target_os = "linux")]
pub mod linux_io_uring;
#[cfg(not(target_os = "linux"))]
#[path = "absent_io_uring.rs"]
pub mod linux_io_uring;

#[cfg(windows)]
pub mod windows_iocp;
#[cfg(not(windows))]
#[path = "absent_iocp.rs"]
pub mod windows_iocp;

/// Console events.
#[cfg(windows)]
#[path = "console_windows.rs"]
pub mod console;
/// Stop signals, on Unix.
#[cfg(unix)]
#[path = "signals_unix.rs"]
pub mod signals;

#[cfg(target_os = "linux")]
#[path = "sys_linux.rs"]
pub(crate) mod sys;
#[cfg(all(unix, not(target_os = "linux")))]
#[path = "sys_unix.rs"]
pub(crate) mod sys;
#[cfg(windows)]
#[path = "sys_windows.rs"]
pub(crate) mod sys;

#[cfg(not(target_os = "linux"))]
mod no_waits;

/// The calling thread: its CPU time and affinity.
#[cfg(target_os = "linux")]
#[path = "thread_linux.rs"]
pub mod thread;
/// The calling thread: its CPU time and affinity.
#[cfg(windows)]
#[path = "thread_windows.rs"]
pub mod thread;
/// The calling thread: its CPU time and affinity.
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "thread_elsewhere.rs"]
pub mod thread;
