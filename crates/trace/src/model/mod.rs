//! A load as a model: small, without data and without names, and a stream of the same kind
//! again.
//!
//! Parametric models of arrivals and places failed on most loads that were tried, so this
//! keeps a list of runs and a profile of counts, and shuffles what is random about them:
//! - *arrivals*: how many there were in each 100 ms, as recorded. Inside a bin the gaps are
//!   those of another bin with as many, shifted in a circle.
//! - *runs*: operations of one kind, each of which begins where the last one ended: where it
//!   starts, and its sizes in order. Starts are shuffled within windows of 64.
//! - *interleaving*: how likely a run is interrupted, how likely an old run goes on after an
//!   end or an interruption, and how many are open at most.
//!
//! What a model cannot say: anything beyond the time and the places that were recorded.

mod arrivals;
mod extract;
mod file;
mod generate;

pub use extract::{ModelBuilder, ModelError, extract};
pub use file::{ModelFileError, read, write};
pub use generate::Regenerated;

use arrivals::Donors;
use stripewise_units::Kind;

/// The width of a bin of the profile.
pub const BIN_NS: u64 = 100_000_000;
/// No operation is longer: 64 GiB.
const SIZE_MAX: u64 = 64 << 30;
/// No file is longer.
const END_MAX: u64 = i64::MAX as u64;
/// Operations of a model at most.
pub const OPERATIONS_MAX: usize = 1 << 22;

/// Where an operation goes, and when, without anything that a recording adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When, nanoseconds from the beginning.
    pub at_ns: u64,
    /// What.
    pub kind: Kind,
    /// Where; 0 for a sync.
    pub offset_bytes: u64,
    /// How long; 0 for a sync.
    pub size_bytes: u64,
}

impl Request {
    /// The offset behind its last byte.
    #[must_use]
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.size_bytes)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub kind: Kind,
    pub offset_bytes: u64,
    /// Sizes in order, each with how many operations have it.
    pub sizes: Vec<(u64, u32)>,
}

impl Run {
    pub fn operations(&self) -> u64 {
        self.sizes.iter().map(|(_, count)| u64::from(*count)).sum()
    }
}

/// A load.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkloadModel {
    /// Operations in each 100 ms.
    pub(crate) counts: Vec<u32>,
    pub(crate) donors: Donors,
    pub(crate) runs: Vec<Run>,
    /// A run that goes on is interrupted with this probability.
    pub(crate) interrupted: f64,
    /// After the end of a run an old one goes on with this probability.
    pub(crate) resumed_after_end: f64,
    /// After an interruption an old one goes on with this probability.
    pub(crate) resumed_after_interruption: f64,
    /// Runs that are open at once, at most.
    pub(crate) open_max: u32,
    /// When it was recorded, it waited for its disk: what a model cannot do again.
    pub waited: bool,
}

impl WorkloadModel {
    /// How long the recording was, nanoseconds.
    #[must_use]
    pub fn duration_ns(&self) -> u64 {
        self.counts.len() as u64 * BIN_NS
    }

    /// Operations of the recording.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The offset behind the last byte that is touched: the size that a target needs, if
    /// nothing is folded.
    #[must_use]
    pub fn span_bytes(&self) -> u64 {
        let end = |run: &Run| {
            let bytes: u64 = run.sizes.iter().map(|(size, n)| size * u64::from(*n)).sum();
            run.offset_bytes + bytes
        };
        self.runs.iter().map(end).max().unwrap_or(0)
    }

    /// Bytes that are written once in the recording's time.
    #[must_use]
    pub fn written_bytes(&self) -> u64 {
        let writes = self.runs.iter().filter(|run| run.kind == Kind::Write);
        let sizes = writes.flat_map(|run| &run.sizes);
        sizes.map(|(size, count)| size * u64::from(*count)).sum()
    }

    /// Requests of the same kind, again and again until the recording's time is over.
    #[must_use]
    pub fn requests(&self, seed: u64) -> Regenerated<'_> {
        Regenerated::new(self, seed)
    }
}

#[cfg(test)]
mod tests;
