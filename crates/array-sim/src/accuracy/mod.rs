//! How well the model meets published tables.
//!
//! The tables are copies of the published figures (`data/`), the load is a
//! closed loop over [`Simulate`](crate::Simulate), the parameters are those of
//! the bundled array files.

mod closed_loop;
pub mod tables;

pub use closed_loop::{Load, Measured, closed_loop};
