//! Processes that use a device in each of the ways that leave no descriptor in
//! `/proc/PID/fd`, against a real kernel.

#![cfg(target_os = "linux")]

#[path = "../../../../tests/support/machine.rs"]
mod machine;
#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod unclaimed_uses;
mod user;
