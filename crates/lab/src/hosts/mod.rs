//! Merges the records of several hosts that measured at the same time.
//!
//! A [`Merge`] is a set of [`HostPart`]s, and combining two is the union of
//! their sets: associative, commutative, and a duplicate part counts once.
//! [`Merge::total`] is a pure function of that set. Only intervals in which *all* hosts
//! were measuring count ([`common_slots`]); histograms are summed bucket by bucket,
//! interval by interval, and every percentile comes from such a sum.
//!
//! Clocks are trusted unless records say otherwise: an offset between two hosts' clocks
//! is subtracted if it was measured.

mod align;
mod conditions;
mod error;
mod host_line;
mod host_part;
mod judge;
mod limit;
mod merge;
mod row;
mod sum;
#[cfg(test)]
mod tests;
mod total;

pub use align::{Lane, Slot, common_slots};
pub use conditions::{different_conditions, different_plans};
pub use error::MergeError;
pub use host_line::{LineError, from_line, to_line};
pub use host_part::{GrowingJob, HostPart, Latencies, PartInterval, PartJob};
pub use judge::{STRAGGLER_SHARE, STRAGGLER_Z, jain, robust_z};
pub use merge::{Merge, MissingHosts};
pub use total::Merged;
