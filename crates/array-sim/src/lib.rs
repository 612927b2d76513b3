//! Simulated disks and arrays in virtual time.
//!
//! An [`ArraySpec`] defines an array, [`Array`] runs it behind the port [`Simulate`]: requests in,
//! completions out, in order of time. No real time, entropy or system calls; integers of
//! nanoseconds, and of the float library only `sqrt`, which IEEE 754 defines exactly: the same
//! array, seed and requests give the same completions on every machine.
//!
//! ```
//! use stripewise_array_sim::{ArraySpec, Finished, Kind, Request, Simulate};
//!
//! let spec = ArraySpec::bundled("raid10-10k?offset=63s&stripe_unit=64K")?;
//! let mut array = spec.build();
//! let request = Request { token: 7, kind: Kind::Read, durable: false, offset_bytes: 0, length_bytes: 8192 };
//! array.submit(0, request);
//! let mut finished = Vec::new();
//! while let Some(next_ns) = array.next_event_ns() {
//!     array.advance(next_ns, &mut |done: Finished| finished.push(done));
//! }
//! assert_eq!((finished[0].token, finished[0].result), (7, 8192));
//! # Ok::<(), stripewise_array_sim::SpecError>(())
//! ```
//!
//! `docs/ARRAY_MODEL.md` has the equations, their sources, the accuracy against published tables,
//! and the unexplained deviations.
#![forbid(unsafe_code)]

mod arena;
mod array;
mod content;
mod controller;
mod drive;
mod elevator;
mod events;
mod facts;
mod faults;
mod fifo;
mod geometry;
pub mod layout;
pub mod random;
mod seek;
mod simulate;
pub mod spec;

pub use array::Array;
pub use content::FaultEvent;
pub use controller::MirrorRead;
pub use controller::limiter::Limits;
pub use drive::rotating::Scheduling;
pub use facts::{ArrayTotals, VolumeFacts};
pub use faults::{FaultPlan, WriteFault};
pub use fifo::Fifo;
pub use simulate::{Finished, Request, Simulate};
pub use spec::{ArraySpec, Bundled, SpecError, bundled};
pub use stripewise_units::Kind;
