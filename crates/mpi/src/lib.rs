//! One array, many hosts: the same request on every rank of an MPI job, started at one
//! moment, merged interval by interval.
//!
//! A rank is a [`Member`] of a group: the companion of its own process's runs
//! (`campaign`'s `Companion`), which write to its own store as usual. Rank 0 leads. A
//! [`Carrier`] transports messages: MPI is one, and threads of one process are another,
//! for the tests.
#![forbid(unsafe_code)]

mod arguments;
mod carrier;
mod clock;
mod group;
mod message;
mod one_of;
mod pieces;
mod places;
mod runs;

pub use arguments::{Arguments, of_rank};
pub use carrier::Carrier;
pub use clock::{Comparison, ROUND_TRIPS};
pub use group::{Heartbeat, Member, Settings, Shutdown, Timeouts};
pub use message::Message;
pub use one_of::GroupMember;
pub use pieces::{MessageAssembler, PIECE_BYTES_MAX, cut};
pub use places::{HostTargets, Targets};
pub use runs::parts_of;
