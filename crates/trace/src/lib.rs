//! Block I/O traces: events and files in; observations, workload models and replay
//! streams out.
//!
//! There is one idea: an iterator of [`Operation`]s, and folds over it. Operations come
//! from the kernel's own events ([`kernel`], [`Pairer`]) or from files; statistics,
//! verdicts and models are folds, each with bounded memory.
//!
//! Everything is pure: no clock, no process, no tracefs. Bytes may be damaged or hostile,
//! so every number from them is bounded before it is used.
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
