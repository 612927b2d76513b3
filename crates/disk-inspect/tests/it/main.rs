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
mod superblocks;
mod tables;
mod trees;
mod verdicts;
