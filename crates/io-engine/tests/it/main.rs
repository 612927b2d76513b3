//! All integration tests of the crate, in one binary.

mod faults;
mod fixture;
mod suite;

#[cfg(target_os = "linux")]
#[path = "limits_linux.rs"]
mod limits;
#[cfg(target_os = "linux")]
#[path = "os_linux.rs"]
mod os;
#[cfg(not(target_os = "linux"))]
#[path = "os_other.rs"]
mod os;
