//! Every use case as a library: a [`stripewise_workload::Request`] goes in, [`Event`]s
//! and records come out.
//!
//! Nothing here knows a terminal, a command line or the environment. What a use case has
//! at hand - store, clock, ids, interrupt, observer - is its [`Context`]; what it may
//! write to is its [`Permissions`], which no request holds.
//!
//! A use case is a folder and imports no other one; what several need is a step.
#![forbid(unsafe_code)]

pub mod bench;
pub mod context;
mod exit;
pub mod experiment;
mod failure;
mod interrupt;
pub mod observer;
mod permissions;
pub mod probe;
pub mod run;
pub mod steps;

pub use context::{Clock, Context, Surroundings};
pub use exit::Exit;
pub use failure::{Failure, Outcome};
pub use interrupt::Interrupt;
pub use observer::{Event, JobInterval, Observer, Silent};
pub use permissions::Permissions;
