//! Partitions and file systems on real loop devices, and every refusal on a
//! device that is really in use.
//!
//! Each test makes its own devices and leaves nothing behind. What needs root or a
//! tool that is not there is skipped by name, or fails where
//! `STRIPEWISE_REQUIRE_TOOLS=1`. A test that claims a device has a process of its own.
#![cfg(target_os = "linux")]

#[macro_use]
#[path = "../../../../tests/support/own_process.rs"]
mod own_process;

mod anything;
mod erase;
mod format;
#[path = "../../../../tests/support/mutate.rs"]
mod mutate;
mod partition;
mod refusals;
mod restore;
mod saved;
mod support;
