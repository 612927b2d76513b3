//! One binary for all integration tests of this crate.

mod mpirun;
mod ranks;
mod together;
