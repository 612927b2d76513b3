//! What `align` and `lab` share: an experiment is kept as a document before its
//! first run and after every block, its runs are kept one by one, and whatever
//! stops it, it can be resumed from these.
//!
//! | file | what |
//! |---|---|
//! | `fit` | what all workloads together ask of a target |
//! | `ground` | where a target starts, and what may be said of it |
//! | `start` | the first sitting: limits, pilot, what will be done |
//! | `runner` | makes and keeps the runs |
//! | `sitting` | one sitting, from open target to answer |
//!
//! The document of the store, and what was found, are steps: `compare` and `report` read
//! them too.

pub mod fit;
pub mod ground;
pub mod runner;
pub mod session;
pub mod start;

pub use crate::steps::{answer, stored_experiment};
