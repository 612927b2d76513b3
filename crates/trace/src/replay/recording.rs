//! A recording as a load: its operations in the order of arrival, how long it is, where it
//! goes, and whether it waits for its disk.

use super::mapping::{ExtentUse, MappingError};
use crate::closedness::{LoadClosedness, TaskSpans};
use crate::fidelity::Recording as RecordingFacts;
use crate::model::{Request, WorkloadModel};
use crate::operation::Operation;
use std::collections::BTreeMap;
use stripewise_units::{DeviceNumber, Kind};
use thiserror::Error;

/// Operations of a recording at most: about 500 MiB.
pub const RECORDING_OPERATIONS_MAX: usize = 1 << 23;

/// Idle time is never cut shorter than this: caches drain, buckets refill.
pub const IDLE_NS_MIN: u64 = 10_000_000_000;

/// Why a recording is no load.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RecordingError {
    /// There is nothing in it.
    #[error("the trace has no operations")]
    Empty,
    /// There is more than can be held.
    #[error("the trace has more than 8,388,608 operations")]
    TooMany,
    /// Arrivals within a second are not known.
    #[error("the trace's times are whole seconds, so it does not say when operations arrived")]
    WholeSeconds,
    /// Its places cannot be followed.
    #[error(transparent)]
    Places(#[from] MappingError),
}

impl RecordingError {
    /// What to do about it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            RecordingError::Empty => "record while the load runs",
            RecordingError::WholeSeconds => "use a trace with at least milliseconds",
            RecordingError::TooMany | RecordingError::Places(_) => {
                "take a part of it, such as the busiest hour"
            }
        }
    }
}

/// One operation of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedRequest {
    /// When, from the beginning of the recording, what and where.
    pub request: Request,
    /// How long it took there, where that is known.
    pub lasted_ns: Option<u64>,
    /// The index of its task.
    pub task: u32,
}

/// A recording.
#[derive(Debug)]
pub struct Recording {
    /// In the order of arrival.
    pub requests: Vec<RecordedRequest>,
    /// What fidelity asks of it.
    pub facts: RecordingFacts,
    /// Where it goes.
    pub extents: ExtentUse,
    /// Whether its tasks wait for the disk; None where completions are not known.
    pub closedness: Option<LoadClosedness>,
    /// It is a load made by a model of one that waited for its disk.
    pub waited: bool,
    /// Operations of other devices, which were left out.
    pub left_out: u64,
    /// Time that was cut out of pauses.
    pub idle_cut_ns: u64,
}

impl Recording {
    /// The operations of the busiest device. What is known of the source besides:
    /// the resolution of its times, and the share of events that it lost.
    ///
    /// # Errors
    /// Where there are none, too many, or their times say too little.
    pub fn of_operations(
        mut all: Vec<Operation>,
        (resolution_ns, lost_share): (Option<u64>, f64),
    ) -> Result<Recording, RecordingError> {
        if all.len() > RECORDING_OPERATIONS_MAX {
            return Err(RecordingError::TooMany);
        }
        let mut counts: BTreeMap<DeviceNumber, u64> = BTreeMap::new();
        for operation in &all {
            *counts.entry(operation.device).or_default() += 1;
        }
        let busiest = counts.iter().max_by_key(|(_, count)| **count);
        let (&device, &count) = busiest.ok_or(RecordingError::Empty)?;
        let left_out = all.len() as u64 - count;
        if resolution_ns.is_some_and(|ns| ns >= 1_000_000_000) {
            return Err(RecordingError::WholeSeconds);
        }
        all.retain(|one| one.device == device);
        let arrived_ns = |one: &Operation| one.entered_ns.unwrap_or(one.arrived_ns);
        all.sort_by_key(arrived_ns);
        let first_ns = all.first().map_or(0, arrived_ns);
        let mut spans = TaskSpans::default();
        all.iter().for_each(|one| spans.add(one));
        let is_timed = all.iter().any(|one| one.completed_ns.is_some());
        let requests = all.iter().map(|one| RecordedRequest {
            request: Request {
                at_ns: arrived_ns(one) - first_ns,
                kind: one.kind,
                offset_bytes: one.offset_bytes,
                size_bytes: one.size_bytes,
            },
            lasted_ns: one.whole_ns(),
            task: one.task.index() as u32,
        });
        Recording::new(requests.collect(), (resolution_ns, lost_share)).map(|recording| Recording {
            closedness: is_timed.then(|| spans.judge(lost_share)),
            left_out,
            ..recording
        })
    }

    /// A load of the kind that a model describes.
    ///
    /// # Errors
    /// As [`Recording::of_operations`].
    pub fn of_model(model: &WorkloadModel, seed: u64) -> Result<Recording, RecordingError> {
        let requests = model.requests(seed).map(|request| RecordedRequest {
            request,
            lasted_ns: None,
            task: 0,
        });
        let recording = Recording::new(requests.collect(), (None, 0.0))?;
        Ok(Recording {
            facts: RecordingFacts {
                duration_ns: model.duration_ns(),
                ..recording.facts
            },
            waited: model.waited,
            ..recording
        })
    }

    fn new(
        requests: Vec<RecordedRequest>,
        (resolution_ns, lost_share): (Option<u64>, f64),
    ) -> Result<Recording, RecordingError> {
        let mut extents = ExtentUse::default();
        for one in &requests {
            extents.add(&one.request)?;
        }
        let last_ns = requests.last().ok_or(RecordingError::Empty)?.request.at_ns;
        // The time behind the last arrival belongs to it, as that before each other one does.
        let gap_ns = last_ns / (requests.len() as u64 - 1).max(1);
        Ok(Recording {
            facts: RecordingFacts {
                duration_ns: (last_ns + gap_ns).max(1),
                resolution_ns,
                lost_share,
            },
            requests,
            extents,
            closedness: None,
            waited: false,
            left_out: 0,
            idle_cut_ns: 0,
        })
    }

    /// How long it is.
    #[must_use]
    pub const fn duration_ns(&self) -> u64 {
        self.facts.duration_ns
    }

    /// Operations of this kind, and their bytes.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> (u64, u64) {
        let of_kind = self.requests.iter().filter(|one| one.request.kind == kind);
        of_kind.fold((0, 0), |(count, bytes), one| {
            (count + 1, bytes + one.request.size_bytes)
        })
    }

    /// The longest operation.
    #[must_use]
    pub fn size_max(&self) -> u64 {
        let sizes = self.requests.iter().map(|one| one.request.size_bytes);
        sizes.max().unwrap_or(0)
    }

    /// A digest of all operations: FNV-1a of their numbers.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for one in &self.requests {
            let request = &one.request;
            let kind = request.kind.index() as u64;
            for word in [
                request.at_ns,
                request.offset_bytes,
                request.size_bytes,
                kind,
            ] {
                hash = (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
            }
        }
        format!("{hash:016x}")
    }

    /// Keeps the busiest part of this length, where the recording is longer. Where it began.
    ///
    /// # Errors
    /// As [`Recording::of_operations`].
    pub fn keep_busiest(&mut self, length_ns: u64) -> Result<u64, RecordingError> {
        if self.duration_ns() <= length_ns {
            return Ok(0);
        }
        let at_ns = |index: usize| self.requests[index].request.at_ns;
        let (mut best, mut first) = (0..0, 0);
        for last in 0..self.requests.len() {
            while at_ns(last) - at_ns(first) >= length_ns {
                first += 1;
            }
            if last + 1 - first > best.len() {
                best = first..last + 1;
            }
        }
        let from_ns = at_ns(best.start);
        self.requests.truncate(best.end);
        self.requests.drain(..best.start);
        self.extents = ExtentUse::default();
        for one in &mut self.requests {
            one.request.at_ns -= from_ns;
            self.extents.add(&one.request)?;
        }
        self.facts.duration_ns = length_ns;
        Ok(from_ns)
    }

    /// Cuts pauses with nothing in flight that are longer than this, but never to less than
    /// 10 s. Where completions are not known, a pause is time without an arrival.
    pub fn cut_idle(&mut self, longest_ns: u64) {
        let longest_ns = longest_ns.max(IDLE_NS_MIN);
        let (mut cut_ns, mut busy_until_ns) = (0, 0);
        for one in &mut self.requests {
            let at_ns = one.request.at_ns;
            let idle_ns = at_ns.saturating_sub(busy_until_ns);
            cut_ns += idle_ns.saturating_sub(longest_ns);
            busy_until_ns = at_ns
                .saturating_add(one.lasted_ns.unwrap_or(0))
                .max(busy_until_ns);
            one.request.at_ns -= cut_ns;
        }
        self.idle_cut_ns += cut_ns;
        self.facts.duration_ns -= cut_ns;
    }
}
