//! The two drivers, warm-up, measurement, drain, and the trust warnings.
#![forbid(unsafe_code)]

mod checked;
mod collect;
pub mod drive;
mod due;
mod error;
mod errors;
mod journal;
mod lane;
mod living;
mod pauses;
mod plan;
mod policy;
mod recorder;
mod replay;
pub mod session;
mod summary;
mod think;
pub mod trust;
mod window;
mod worker;

pub use checked::Checks;
pub use due::DueCounts;
pub use error::Error;
pub use errors::{ErrorCount, ErrorCounts, Failure};
pub use living::LivingArrays;
pub use pauses::Pause;
pub use plan::{JobPlan, RunPlan};
pub use policy::{AsPlanned, Decision, Observer, Policy};
pub use summary::{
    CpuTimes, DrainCounts, IntervalSummary, JobCounts, JobTotals, KindCounts, OpenLoopCounts,
    RunTotals, StopReason, ThreadCounts,
};
pub use window::Phase;
