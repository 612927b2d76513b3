//! Does a disk preserve the data written to it?
//!
//! Pure: no file, no clock, no thread. A caller with an engine polls a [`Worker`] for its next
//! step, lets it make the data of its writes and examine the data of its reads, and notifies it of
//! completions. A worker's findings are [`Fault`]s.
//!
//! Every logical sector identifies itself ([`stamp`]), so that no verdict depends on which random
//! number should have come next. A [`map::Map`] holds the expected contents of each block. Wrong
//! data is reread before it is classified.
#![forbid(unsafe_code)]

mod account;
mod capacity;
pub mod cut;
mod fault_reread;
mod finished;
mod judge;
mod layout;
mod ledger;
pub mod map;
pub mod power_cut_check;
pub mod sector_reading;
pub mod stamp;
pub mod stream;
mod survey;
pub mod verify_targets;
pub mod witness;
mod work;
mod worker;
mod worker_identity;

pub use account::{Account, Basis};
pub use capacity::{Capacity, capacity_of, fake};
pub use finished::FinishedState;
pub use judge::damage_in_words;
pub use layout::{Load, Plan, TooSmall, WorkerSet};
pub use ledger::{Ledger, content_of, hex, run_text};
pub use stripewise_results::faults::{Class, Content, Fault};
pub use survey::{RunData, Survey};
pub use verify_targets::{Region, TargetLayout, VerifyTargets};
pub use work::SeededRng;
pub use worker::Worker;
pub use worker_identity::{Counts, Failed, Operation, Phase, Role, Step, WorkerIdentity};
