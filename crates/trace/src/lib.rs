//! Block I/O traces: converts events and files to observations, workload models and replay streams.
//!
//! The single concept is an iterator of [`Operation`]s, and folds over it. Operations come from the
//! kernel's own events ([`kernel`], [`Pairer`]) or from files; statistics, verdicts and models are
//! folds, each in bounded memory.
//!
//! Everything is pure: no clock, no process, no tracefs. Input may be damaged or hostile, so every
//! number from it is bounded before use.
#![forbid(unsafe_code)]

pub mod blame;
pub mod closedness;
mod event;
pub mod fidelity;
pub mod files;
pub mod kernel;
pub mod model;
pub mod observation;
mod operation;
mod order;
mod pairing;
pub mod replay;
mod roles;
mod runs;
mod tasks;

pub use event::{Comm, Direction, Event, Flags, RequestLetters, Step};
pub use operation::{Operation, StageTimes};
pub use order::InOrder;
pub use pairing::{Pairer, PairingReport};
pub use roles::Role;
pub use runs::{RunPlace, Runs};
pub use tasks::{TaskId, Tasks};
