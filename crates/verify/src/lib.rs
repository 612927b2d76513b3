//! Does a disk keep what it was given?
//!
//! Pure: no file, no clock, no thread. Whoever has an engine asks a [`Worker`] what to do
//! next, lets it make the data of its writes and look at what its reads brought, and tells
//! it what completed. What a worker makes of it are [`Fault`]s.
//!
//! Every logical sector says for itself what it is ([`stamp`]), so that no verdict rests on
//! which random number should have come next. A [`map::Map`] holds what each block must
//! hold. What came wrong is read again before anything is called by a name.
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
pub use layout::{Crews, Load, Plan, TooSmall};
pub use ledger::{Ledger, content_of, hex, run_text};
pub use stripewise_results::faults::{Class, Content, Fault};
pub use survey::{RunLeft, Survey};
pub use verify_targets::{Region, TargetLayout, VerifyTargets};
pub use work::Dice;
pub use worker::Worker;
pub use worker_identity::{Counts, Failed, Operation, Phase, Role, Step, WorkerIdentity};
