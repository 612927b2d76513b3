//! All integration tests of the crate, in one binary.

#[cfg(target_os = "linux")]
#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod faults;
mod fixture;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod suite;
mod timed;

#[cfg(target_os = "linux")]
#[path = "manners_linux.rs"]
mod flags_by_kind;
#[cfg(target_os = "linux")]
#[path = "limits_linux.rs"]
mod limits;
#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod os;
#[cfg(windows)]
#[path = "os_windows.rs"]
mod os;
#[cfg(not(any(target_os = "linux", windows)))]
#[path = "os_other.rs"]
mod os;
