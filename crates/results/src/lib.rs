//! The record of a run: plain, versioned types, and the JSON document made of
//! them. No clock, no file, no SQL. Units are in the names.
#![forbid(unsafe_code)]

mod facts;
mod outcome;
mod record;
mod warning;

pub use facts::{CpuFacts, DeviceFacts, FileSystemFacts, HostFacts, TargetFacts, TargetKind};
pub use outcome::{
    Drain, EngineFacts, Errors, Interval, KindOutcome, LatencySummary, OpenLoop, Outcome,
};
pub use record::{Document, JobRecord, RunRecord, SCHEMA_VERSION, Status};
pub use warning::{Severity, Warning};
