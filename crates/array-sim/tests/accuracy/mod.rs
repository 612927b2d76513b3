//! How well the model meets published tables.
//!
//! The tables are copies of the published figures (`data/`), the load is a
//! closed loop over [`Simulate`](stripewise_array_sim::Simulate), the parameters are those of
//! the bundled array files, found with `examples/fit.rs`. [`report()`] scores
//! everything that `docs/ARRAY_MODEL.md` claims: each row has the figure, what
//! it must be, and whether it is.

mod closed_loop;
mod report;
mod rows;
mod sequential;
pub mod tables;

pub use closed_loop::{Load, Measured, Positions, closed_loop};
pub use report::{Report, Row, report};

/// Operations measured in each cell: the standard deviation of a cell is then
/// about 0.7 %.
pub const OPERATIONS: u64 = 30_000;
