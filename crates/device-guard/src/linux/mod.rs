//! Linux: `O_EXCL` claims; `/proc` and sysfs explain, and add what a claim does not see.

pub mod claims;
pub mod device;
pub mod generic;
#[cfg(test)]
#[path = "../../../../tests/support/machine.rs"]
mod machine;
pub mod users;
