//! Shared code of `align` and `lab`: an experiment is stored as a document before its
//! first run and after every block, its runs are stored one by one, and however
//! it stops, it can be resumed from these.
//!
//! | file | content |
//! |---|---|
//! | `fit` | the combined requirements of all workloads on a target |
//! | `target_range` | where a target starts, and which claims that permits |
//! | `start` | the first session: limits, pilot, announcement |
//! | `runner` | makes and stores the runs |
//! | `session` | one session, from open target to answer |
//!
//! The stored document and the result are steps of their own: `compare` and `report` read
//! them, too.

pub mod fit;
pub mod runner;
pub mod session;
pub mod start;
pub mod target_range;

pub use crate::steps::{answer, stored_experiment};
