//! What several use cases need: open targets, run jobs and keep the record, run stored
//! requests again, read files.

pub mod asked;
pub mod input;
pub mod keep;
pub mod measure;
pub mod parallel;
pub mod planned;
pub mod reading;
pub mod rerun;
pub mod simulated;
pub mod targets;
