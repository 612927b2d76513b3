//! One binary for all integration tests of this crate.

mod leading;
mod mpirun;
mod ranks;
mod together;
#[path = "../../../../tests/support/wait.rs"]
mod wait;
