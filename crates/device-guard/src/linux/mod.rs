//! Linux: `O_EXCL` claims; `/proc` and sysfs explain them, and add what a claim does not detect.

pub mod claims;
pub mod device;
mod exports;
mod file_or_devices;
pub mod generic;
#[cfg(test)]
#[path = "../../../../tests/support/machine.rs"]
mod machine;
mod openers;
pub mod traffic;
pub mod users;
