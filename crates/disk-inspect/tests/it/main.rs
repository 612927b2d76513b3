//! Facts read from captured trees, and from the machine that runs the test.
#![cfg(target_os = "linux")]

mod fixtures;
mod live;
mod loops;
mod machine;
mod scratch;
mod tables;
mod trees;
mod verdicts;
