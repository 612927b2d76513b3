//! Facts about the machine that runs the test.
#![cfg(target_os = "linux")]

mod anything;
mod kernel_text;
mod live;
mod memory;
#[path = "../../../../tests/support/mutate.rs"]
mod mutate;
#[path = "../../../../tests/support/scratch.rs"]
mod scratch;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
