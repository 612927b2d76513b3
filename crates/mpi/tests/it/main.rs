//! One binary for all integration tests of this crate.

mod leading;
mod mpirun;
mod multi_host;
mod ranks;
#[path = "../../../../tests/support/wait.rs"]
mod wait;
