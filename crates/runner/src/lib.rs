//! The two drivers, warm-up, measurement, drain, and the trust warnings.
#![forbid(unsafe_code)]

pub mod drive;
mod error;
mod errors;
mod plan;
mod policy;
mod summary;
mod window;

pub use error::Error;
pub use errors::{ErrorCount, ErrorCounts, Failure};
pub use plan::{JobPlan, RunPlan};
pub use policy::{AsPlanned, Decision, Observer, Policy};
pub use summary::{
    CpuTimes, DrainCounts, IntervalSummary, JobCounts, JobTotals, KindCounts, OpenLoopCounts,
    RunTotals, StopReason,
};
pub use window::Phase;
