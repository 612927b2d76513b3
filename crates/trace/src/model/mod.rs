//! A load as a model: small, without data and names, from which a similar stream can be generated.
//!
//! Parametric models of arrivals and locations failed on most loads tried, so this keeps a list of
//! runs and a profile of counts, and shuffles the random parts:
//! - *arrivals*: the number in each 100 ms, as recorded. Inside a bin the gaps are those of another
//!   bin with the same count, rotated.
//! - *runs*: operations of one kind, each of which begins where the last one ended: the start, and
//!   the sizes in order. Starts are shuffled within windows of 64.
//! - *interleaving*: the probability that a run is interrupted, that an old run continues after an
//!   end or an interruption, and the maximum open at once.
//!
//! A model has no information beyond the time and the locations that were recorded.

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
/// Longest operation: 64 GiB.
const SIZE_MAX: u64 = 64 << 30;
/// Largest file.
const END_MAX: u64 = i64::MAX as u64;
/// Most operations of a model.
pub const OPERATIONS_MAX: usize = 1 << 22;

/// Location and time of an operation, without further data of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Time, nanoseconds from the start.
    pub at_ns: u64,
    /// Its kind.
    pub kind: Kind,
    /// Its offset; 0 for a sync.
    pub offset_bytes: u64,
    /// Its length; 0 for a sync.
    pub size_bytes: u64,
}

impl Request {
    /// The offset after its last byte.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes.saturating_add(self.size_bytes)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub kind: Kind,
    pub offset_bytes: u64,
    /// Sizes in order, each with its number of operations.
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
    /// Probability that a continuing run is interrupted.
    pub(crate) interrupted: f64,
    /// Probability that an old run continues after the end of a run.
    pub(crate) resumed_after_end: f64,
    /// Probability that an old run continues after an interruption.
    pub(crate) resumed_after_interruption: f64,
    /// Most runs open at once.
    pub(crate) open_max: u32,
    /// When recorded, it waited for its disk, which a model cannot reproduce.
    pub waited: bool,
}

impl WorkloadModel {
    /// Length of the recording, nanoseconds.
    pub fn duration_ns(&self) -> u64 {
        self.counts.len() as u64 * BIN_NS
    }

    /// Operations of the recording.
    pub fn operations(&self) -> u64 {
        self.counts.iter().map(|&count| u64::from(count)).sum()
    }

    /// The offset after the last byte touched: the size that a target needs if nothing is folded.
    pub fn span_bytes(&self) -> u64 {
        let end = |run: &Run| {
            let bytes: u64 = run.sizes.iter().map(|(size, n)| size * u64::from(*n)).sum();
            run.offset_bytes + bytes
        };
        self.runs.iter().map(end).max().unwrap_or(0)
    }

    /// Similar requests, repeated until the recording's time is over.
    pub fn requests(&self, seed: u64) -> Regenerated<'_> {
        Regenerated::new(self, seed)
    }
}

#[cfg(test)]
mod tests;
