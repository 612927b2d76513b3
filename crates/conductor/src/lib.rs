//! Drives studies on targets: derives from the runs what is needed of a target, opens and
//! prepares it, executes the runs in real or virtual time, stores each record, shows
//! progress, obeys Ctrl-C, and resumes.
//!
//! Nothing here depends on a terminal, a command line or the environment. Store, clock, ids,
//! interrupt and observer come in the [`Context`]; what may be written to comes in the
//! [`Permissions`], which no request contains.
#![forbid(unsafe_code)]

pub mod conduct;
pub mod context;
pub mod durations;
pub mod exit;
pub mod failure;
pub mod host_group;
pub mod input;
pub mod interrupt;
pub mod keep;
pub mod measure;
pub mod needs;
pub mod observer;
pub mod parallel;
pub mod parts;
pub mod permissions;
pub mod pilot;
pub mod planned;
pub mod simulated;
pub mod start;
pub mod start_at;
pub mod targets;

pub use conduct::{ConductResult, Setup, conduct, open};
pub use context::{Clock, Context, Surroundings};
pub use exit::Exit;
pub use failure::{Failure, Outcome};
pub use interrupt::Interrupt;
pub use observer::{Event, JobInterval, NullObserver, Observer};
pub use permissions::Permissions;
