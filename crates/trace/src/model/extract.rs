//! Builds a model from a trace.

use super::arrivals::Donors;
use super::{BIN_NS, END_MAX, OPERATIONS_MAX, Request, Run, SIZE_MAX, WorkloadModel};
use crate::runs::Runs;
use stripewise_units::Kind;
use thiserror::Error;

/// Longer recordings are not modelled: a week.
const DURATION_NS_MAX: u64 = 7 * 86_400 * 1_000_000_000;

/// Why there is no model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// There is nothing to model.
    #[error("the trace has no operations")]
    Empty,
    /// More operations than a model can hold.
    #[error("the trace has more than 4,194,304 operations")]
    TooMany,
    /// It is longer than a week.
    #[error("the trace is longer than a week")]
    TooLong,
    /// An offset that no disk has.
    #[error("an operation is longer than 64 GiB, or lies beyond 8 EiB")]
    Impossible,
    /// Arrivals within a tenth of a second are unknown.
    #[error("the trace's times are too coarse to say when operations arrived")]
    Coarse,
}

impl ModelError {
    /// How to resolve it.
    pub const fn hint(self) -> &'static str {
        match self {
            ModelError::Empty => "record while the load runs",
            ModelError::Impossible => "check the units of offsets and sizes",
            ModelError::Coarse => "use a trace with at least milliseconds",
            ModelError::TooMany | ModelError::TooLong => {
                "take a part of it, such as the busiest hour"
            }
        }
    }
}

/// The model of these requests, in the order of arrival; see [`ModelBuilder`].
///
/// # Errors
/// If there are none, too many, or over too long a time.
pub fn extract(requests: impl Iterator<Item = Request>) -> Result<WorkloadModel, ModelError> {
    let mut builder = ModelBuilder::default();
    for request in requests {
        builder.add(&request)?;
    }
    builder.finish()
}

/// A model under construction: requests are added one by one in the order of arrival, and times
/// count from the first. Those out of order are counted at the time of their predecessor.
#[derive(Default)]
pub struct ModelBuilder {
    /// Arrivals of each bin, nanoseconds after its start.
    bins: Vec<Vec<u32>>,
    list: RunList,
    first_ns: Option<u64>,
    last_ns: u64,
}

impl ModelBuilder {
    /// Adds a request.
    ///
    /// # Errors
    /// If there are too many, over too long a time, or at an impossible offset.
    pub fn add(&mut self, request: &Request) -> Result<(), ModelError> {
        let first = *self.first_ns.get_or_insert(request.at_ns);
        self.last_ns = request.at_ns.saturating_sub(first).max(self.last_ns);
        if self.last_ns > DURATION_NS_MAX {
            return Err(ModelError::TooLong);
        }
        if request.size_bytes > SIZE_MAX || request.end_bytes() > END_MAX {
            return Err(ModelError::Impossible);
        }
        if self.list.operations == OPERATIONS_MAX {
            return Err(ModelError::TooMany);
        }
        let bin = (self.last_ns / BIN_NS) as usize;
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, Vec::new());
        }
        self.bins[bin].push((self.last_ns % BIN_NS) as u32);
        self.list.add(request);
        Ok(())
    }

    /// The model.
    ///
    /// # Errors
    /// If no request was added.
    pub fn finish(self) -> Result<WorkloadModel, ModelError> {
        if self.list.operations == 0 {
            return Err(ModelError::Empty);
        }
        let counts = self.bins.iter().map(|bin| bin.len() as u32).collect();
        Ok(self.list.model(counts, Donors::choose(&self.bins)))
    }
}

/// Runs in the order found, and how they interleave.
#[derive(Default)]
struct RunList {
    runs: Vec<Run>,
    /// The run of each operation.
    of_operation: Vec<u32>,
    finder: Runs,
    /// Index of each of the finder's runs in the list.
    places: Vec<u32>,
    operations: usize,
}

impl RunList {
    fn add(&mut self, request: &Request) {
        self.operations += 1;
        let new = self.runs.len() as u32;
        let place = match request.kind {
            // A sync has no offset: each is a run of its own.
            Kind::Sync => None,
            kind => Some(
                self.finder
                    .next(kind, request.offset_bytes, request.end_bytes()),
            ),
        };
        if let Some(place) = place.filter(|place| !place.is_first) {
            let run = self.places[place.run as usize];
            self.of_operation.push(run);
            let sizes = &mut self.runs[run as usize].sizes;
            match sizes.last_mut() {
                Some((size, count)) if *size == request.size_bytes => *count += 1,
                _ => sizes.push((request.size_bytes, 1)),
            }
            return;
        }
        if place.is_some() {
            self.places.push(new);
        }
        self.of_operation.push(new);
        self.runs.push(Run {
            kind: request.kind,
            offset_bytes: request.offset_bytes,
            sizes: vec![(request.size_bytes, 1)],
        });
    }

    fn model(self, counts: Vec<u32>, donors: Donors) -> WorkloadModel {
        let mut left: Vec<u64> = self.runs.iter().map(Run::operations).collect();
        let mut seen = vec![false; self.runs.len()];
        // [what happened][how often]: of runs that continue, interrupted; of ends and of
        // interruptions, followed by an already open run.
        let (mut goes_on, mut interrupted) = (0u64, 0u64);
        let (mut ends, mut resumed_ends, mut resumed_interruptions) = (0u64, 0u64, 0u64);
        let mut open = 0u32;
        let mut opens = Vec::with_capacity(self.operations);
        let mut before: Option<usize> = None;
        for &run in &self.of_operation {
            let run = run as usize;
            let is_new = !std::mem::replace(&mut seen[run], true);
            if let Some(before) = before {
                if left[before] == 0 {
                    ends += 1;
                    resumed_ends += u64::from(!is_new);
                } else {
                    goes_on += 1;
                    if before != run {
                        interrupted += 1;
                        resumed_interruptions += u64::from(!is_new);
                    }
                }
            }
            left[run] -= 1;
            open += u32::from(is_new);
            open -= u32::from(left[run] == 0);
            opens.push(open);
            before = Some(run);
        }
        opens.sort_unstable();
        let open_max = opens[(opens.len() - 1) * 99 / 100].max(1);
        let share = |part: u64, of: u64| part as f64 / of.max(1) as f64;
        WorkloadModel {
            counts,
            donors,
            runs: self.runs,
            interrupted: share(interrupted, goes_on),
            resumed_after_end: share(resumed_ends, ends),
            resumed_after_interruption: share(resumed_interruptions, interrupted),
            open_max,
            waited: false,
        }
    }
}
