//! Facts read from captured trees, and from the machine that runs the test.
#![cfg(target_os = "linux")]

mod agreement;
mod agreement_trees;
mod fixtures;
mod golden;
mod layout;
mod live;
mod loops;
mod machine;
mod scratch;
#[path = "../../../../tests/support/skips.rs"]
mod skips;
mod superblocks;
mod tables;
mod trees;
mod verdicts;
