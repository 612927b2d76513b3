//! Every use case as a library: a [`stripewise_workload::Request`] goes in, [`Event`]s
//! and records come out.
//!
//! Nothing here depends on a terminal, a command line or the environment. Store, clock, ids,
//! interrupt and observer come in the [`Context`]; what may be
//! written to comes in the [`Permissions`], which no request contains.
//!
//! A use case is a folder and imports no other use case; shared code is a step.
#![forbid(unsafe_code)]

pub mod advise;
pub mod align;
pub mod baseline;
pub mod bench;
pub mod check;
pub mod clean;
pub mod compare;
pub mod convert;
pub mod disks;
pub mod doctor;
pub mod export;
pub mod format;
pub mod headroom;
pub mod history;
pub mod import;
pub mod lab;
pub mod limits;
pub mod live;
pub mod merge;
pub mod observe;
pub mod partition;
pub mod power_cut;
pub mod prepare;
pub mod probe;
pub mod profile;
pub mod qualify;
pub mod report;
pub mod resume;
pub mod run;
pub mod schema;
pub mod sim;
pub mod sqlio;
pub mod steps;
pub mod study;
pub mod verify;
pub mod witness;

pub use stripewise_conductor::{
    Clock, Context, Event, Exit, Failure, Interrupt, JobInterval, NullObserver, Observer, Outcome,
    Permissions, Surroundings,
};
pub use stripewise_targets::{FileSystemSize, canonical, whole_path};
