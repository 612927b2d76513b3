//! What a worker records of each operation: one count in a log-linear histogram, a sum, a minimum
//! and a maximum. No locks; memory is allocated only when a latency falls into a new octave.
//!
//! A recorder covers one interval; then the worker takes its spare, and the full one is sent to the
//! coordinator and comes back empty. Its buckets cover whole octaves around the values seen (2 KiB
//! each), so that hundreds of threads stay small with any allocator.
//!
//! Operations are not counted separately: their number is the sum of the buckets plus the few in
//! flight during a pause of the program.

use crate::errors::ErrorCounts;
use crate::summary::{JobCounts, KindCounts, OpenLoopCounts};
use stripewise_io_engine::Kind;
use stripewise_stats::Histogram;

/// Marks a latency that was not measured because the program was paused: added to it, or to its
/// start time. No bucket is that high, so the mark is checked only for an unusual latency.
pub(crate) const UNMEASURED: u64 = 1 << 63;

/// Instead of the time at which a commit began: the sync makes no write durable that none before
/// it did. Later than any time, also without its mark.
pub(crate) const NO_COMMIT: u64 = u64::MAX;

/// Buckets of one octave.
const OCTAVE: usize = 512;

/// [`Histogram::index`] in half the instructions: correct up to its largest value, and out of range
/// above. (With the lowest ten bits set, no number needs a shift below 0, and none of them survives
/// the shift where there is one.)
#[inline(always)]
fn index_of(value: u64) -> usize {
    let shift = (value | 1023).ilog2() - 9;
    ((shift as usize) << 9) + (value >> shift) as usize
}

/// Latencies of one kind in one interval. Its size is a power of two, and it has its own cache
/// lines.
#[derive(Debug)]
#[repr(align(128))]
pub(crate) struct KindRecorder {
    /// Bucket of `counts[0]`; a multiple of [`OCTAVE`].
    first_index: usize,
    /// u32 suffices: an interval of 10 s would need 400 million operations per second in a single
    /// bucket of a single thread.
    counts: Vec<u32>,
    /// Exact up to 2^64.
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
    /// Complete operations without a latency, see [`UNMEASURED`].
    unmeasured: u64,
    /// The known part of their time in flight.
    unmeasured_ns_sum: u64,
    /// Bytes of complete operations, if these have several sizes.
    bytes: u64,
}

impl KindRecorder {
    fn new() -> Self {
        KindRecorder {
            first_index: 0,
            counts: Vec::new(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
            unmeasured: 0,
            unmeasured_ns_sum: 0,
            bytes: 0,
        }
    }

    /// Adds the bytes of an operation that was counted, if operations have several sizes.
    pub(crate) fn add_bytes(&mut self, bytes: u32) {
        self.bytes += u64::from(bytes);
    }

    /// Counts one complete operation. With [`UNMEASURED`] its latency is left out.
    #[inline(always)]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        let index = index_of(latency_ns).wrapping_sub(self.first_index);
        let Some(count) = self.counts.get_mut(index) else {
            return self.record_new(latency_ns);
        };
        *count = count.wrapping_add(1);
        self.sum_ns = self.sum_ns.wrapping_add(latency_ns);
        // Branches, not `min` and `max`: they are almost never taken.
        if latency_ns < self.min_ns {
            self.min_ns = latency_ns;
        }
        if latency_ns > self.max_ns {
            self.max_ns = latency_ns;
        }
    }

    /// Counts a latency outside the octaves seen so far, or one that was not measured. A negative
    /// one, which only a clock that goes back could produce, counts as 0.
    #[cold]
    #[inline(never)]
    fn record_new(&mut self, latency_ns: u64) {
        // Within 146 years of the mark, in case the clock also went back.
        if (UNMEASURED / 2..UNMEASURED / 2 * 3).contains(&latency_ns) {
            self.unmeasured += 1;
            self.unmeasured_ns_sum += latency_ns.saturating_sub(UNMEASURED);
            return;
        }
        let latency_ns = if latency_ns > i64::MAX as u64 {
            0
        } else {
            latency_ns
        };
        let index = Histogram::index(latency_ns);
        let end = self.first_index + self.counts.len();
        if !(self.first_index..end).contains(&index) {
            self.grow(index);
        }
        self.counts[index - self.first_index] += 1;
        self.sum_ns = self.sum_ns.wrapping_add(latency_ns);
        self.min_ns = self.min_ns.min(latency_ns);
        self.max_ns = self.max_ns.max(latency_ns);
    }

    /// Makes room for the octave of `index`.
    fn grow(&mut self, index: usize) {
        let octave = index - index % OCTAVE;
        let (first, end) = if self.counts.is_empty() {
            (octave, octave + OCTAVE)
        } else {
            let end = self.first_index + self.counts.len();
            (self.first_index.min(octave), end.max(octave + OCTAVE))
        };
        let mut counts = vec![0; end - first];
        if !self.counts.is_empty() {
            let at = self.first_index - first;
            counts[at..at + self.counts.len()].copy_from_slice(&self.counts);
        }
        self.first_index = first;
        self.counts = counts;
    }

    /// Adds everything to `into` and resets; touches only what was used. `block_size_bytes` is 0 if
    /// operations have several sizes.
    fn drain_into(&mut self, into: &mut KindCounts, block_size_bytes: u64) {
        into.operations += self.unmeasured;
        into.bytes += self.unmeasured * block_size_bytes + std::mem::take(&mut self.bytes);
        self.unmeasured = 0;
        self.unmeasured_ns_sum = 0;
        if self.min_ns > self.max_ns {
            return;
        }
        let (low, high) = (Histogram::index(self.min_ns), Histogram::index(self.max_ns));
        let used = &mut self.counts[low - self.first_index..=high - self.first_index];
        let sum_ns = u128::from(self.sum_ns);
        let operations = (into.latency_ns).add_counts(low, used, sum_ns, self.min_ns, self.max_ns);
        into.operations += operations;
        into.bytes += operations * block_size_bytes;
        used.fill(0);
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }
}

/// Counts of one worker in one interval.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// By kind.
    pub(crate) kinds: [KindRecorder; 4],
    /// Commits: from the start of the first write since the last sync to the end of the sync.
    pub(crate) commits: KindRecorder,
    /// Open loop only: sum of completion minus issue, excluding syncs.
    pub(crate) from_issue_ns_sum: Option<u64>,
    /// Sum of completion minus issue of failed operations, excluding syncs: they have no latency,
    /// but were in flight.
    pub(crate) failed_ns_sum: u64,
    /// Failed operations.
    pub(crate) errors: ErrorCounts,
    /// Open loop only.
    pub(crate) open_loop: OpenLoopCounts,
}

impl Recorder {
    /// An empty one; `open_loop`: latencies do not count from issue.
    pub(crate) fn new(open_loop: bool) -> Self {
        Recorder {
            kinds: Kind::ALL.map(|_| KindRecorder::new()),
            commits: KindRecorder::new(),
            from_issue_ns_sum: open_loop.then_some(0),
            failed_ns_sum: 0,
            errors: ErrorCounts::with_room(),
            open_loop: OpenLoopCounts::default(),
        }
    }

    /// Changes with every complete operation of nonzero latency.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.kinds.iter().fold(0, |sum, kind| {
            sum.wrapping_add(kind.sum_ns).wrapping_add(kind.unmeasured)
        })
    }

    /// Adds everything to `into` and resets.
    pub(crate) fn drain_into(&mut self, into: &mut JobCounts, block_size_bytes: u64) {
        let closed_ns: u64 = [Kind::Read, Kind::Write, Kind::Discard]
            .map(|kind| &self.kinds[kind.index()])
            .iter()
            .map(|kind| kind.sum_ns + kind.unmeasured_ns_sum)
            .sum();
        into.in_flight_ns_sum += u128::from(self.from_issue_ns_sum.unwrap_or(closed_ns));
        into.in_flight_ns_sum += u128::from(self.failed_ns_sum);
        for kind in Kind::ALL {
            let bytes = if kind == Kind::Sync {
                0
            } else {
                block_size_bytes
            };
            self.kinds[kind.index()].drain_into(&mut into.kinds[kind.index()], bytes);
        }
        self.commits.drain_into(&mut into.commits, 0);
        into.errors.merge(&self.errors);
        into.open_loop.merge(&self.open_loop);
        self.from_issue_ns_sum = self.from_issue_ns_sum.map(|_| 0);
        self.failed_ns_sum = 0;
        self.errors.clear();
        self.open_loop = OpenLoopCounts::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_index_is_that_of_the_histogram() {
        let around = |value: u64| [value.saturating_sub(1), value, value + 1];
        let powers = (0..41).map(|shift| 1u64 << shift);
        let odd = (0..41).map(|shift| (1u64 << shift) * 1_000_003 / 700_001);
        for value in powers.chain(odd).flat_map(around) {
            if value < 1 << 41 {
                assert_eq!(index_of(value), Histogram::index(value), "{value}");
            }
        }
        for beyond in [1 << 41, (1 << 41) + 1, 1 << 50, u64::MAX] {
            assert!(index_of(beyond) >= Histogram::BUCKETS, "{beyond}");
        }
    }

    #[test]
    fn latencies_of_every_size_are_counted_and_drained_once() {
        let mut recorder = KindRecorder::new();
        let values = [5, 7_000_000, 80, 1 << 42, 0, 1023, 1024, 7_000_000];
        for value in values {
            recorder.record(value);
        }
        // As from a clock that went back.
        recorder.record(u64::MAX);
        let mut counts = KindCounts::default();
        recorder.drain_into(&mut counts, 512);
        assert_eq!(counts.operations, 9);
        assert_eq!(counts.bytes, 9 * 512);
        assert_eq!(counts.latency_ns.count(), 9);
        assert_eq!(counts.latency_ns.min(), Some(0));
        assert_eq!(counts.latency_ns.max(), Some(1 << 42));
        assert_eq!(
            counts.latency_ns.sum(),
            values.iter().map(|&value| u128::from(value)).sum()
        );
        recorder.drain_into(&mut counts, 512);
        assert_eq!(counts.operations, 9, "drained once");
        recorder.record(3);
        recorder.drain_into(&mut counts, 512);
        assert_eq!(counts.operations, 10);
    }

    #[test]
    fn an_operation_without_a_latency_is_counted_outside_the_histogram() {
        let mut recorder = Recorder::new(false);
        let read = Kind::Read.index();
        let before = recorder.fingerprint();
        for known_ns in [0, 40_000, 0_u64.wrapping_sub(7)] {
            recorder.kinds[read].record(UNMEASURED.wrapping_add(known_ns));
        }
        assert_ne!(recorder.fingerprint(), before);
        let mut counts = JobCounts::default();
        recorder.drain_into(&mut counts, 512);
        assert_eq!((counts.operations(), counts.bytes()), (3, 3 * 512));
        assert_eq!(counts.latency_ns().count(), 0);
        assert_eq!(counts.in_flight_ns_sum, 40_000);
        recorder.kinds[read].record(90_000);
        recorder.drain_into(&mut counts, 512);
        assert_eq!(counts.operations(), 4, "drained once");
        assert_eq!(counts.latency_ns().min(), Some(90_000));
    }
}
