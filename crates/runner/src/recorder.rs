//! What a worker writes down about each operation: one count in a log-linear
//! histogram, a sum, a minimum and a maximum. Nothing is locked; memory is
//! allocated only when a latency falls into an octave never seen before.
//!
//! A recorder lives for one interval; then the worker takes its spare, and the
//! full one travels to the coordinator and comes back empty. Its buckets cover
//! whole octaves around what was seen (2 KiB each), so that hundreds of threads
//! stay small whatever the allocator does.
//!
//! Numbers of operations are not counted apart: they are the sum of the buckets.

use crate::errors::ErrorCounts;
use crate::summary::{JobCounts, KindCounts, OpenLoopCounts};
use stripewise_io_engine::Kind;
use stripewise_stats::Histogram;

/// Buckets of one octave.
const OCTAVE: usize = 512;

/// Latencies of one kind in one interval.
#[derive(Debug)]
pub(crate) struct KindRecorder {
    /// Bucket that `counts[0]` stands for; a multiple of [`OCTAVE`].
    first_index: usize,
    /// u32 is enough: an interval of 10 s would need 400 million operations a
    /// second in a single bucket of a single thread.
    counts: Vec<u32>,
    /// Exact up to 2^64.
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl KindRecorder {
    fn new() -> Self {
        KindRecorder {
            first_index: 0,
            counts: Vec::new(),
            sum_ns: 0,
            min_ns: u64::MAX,
            max_ns: 0,
        }
    }

    /// Counts one whole operation.
    #[inline]
    pub(crate) fn record(&mut self, latency_ns: u64) {
        let index = Histogram::index(latency_ns);
        match self.counts.get_mut(index.wrapping_sub(self.first_index)) {
            Some(count) => *count = count.wrapping_add(1),
            None => self.grow(index),
        }
        self.sum_ns = self.sum_ns.wrapping_add(latency_ns);
        // Branches, not `min` and `max`: they are nearly never taken.
        if latency_ns < self.min_ns {
            self.min_ns = latency_ns;
        }
        if latency_ns > self.max_ns {
            self.max_ns = latency_ns;
        }
    }

    /// Makes room for the octave of `index` and counts it.
    #[cold]
    #[inline(never)]
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
        self.counts[index - first] += 1;
    }

    /// Adds everything to `into` and forgets it; touches only what was used.
    fn drain_into(&mut self, into: &mut KindCounts, block_size_bytes: u64) {
        if self.min_ns > self.max_ns {
            return;
        }
        let (low, high) = (Histogram::index(self.min_ns), Histogram::index(self.max_ns));
        let used = &mut self.counts[low - self.first_index..=high - self.first_index];
        let operations = used.iter().map(|&count| u64::from(count)).sum();
        into.latency_ns
            .add_counts(low, used, operations, self.sum_ns, self.min_ns, self.max_ns);
        into.operations += operations;
        into.bytes += operations * block_size_bytes;
        used.fill(0);
        self.sum_ns = 0;
        self.min_ns = u64::MAX;
        self.max_ns = 0;
    }
}

/// All that one worker counts in one interval.
#[derive(Debug)]
pub(crate) struct Recorder {
    /// By kind.
    pub(crate) kinds: [KindRecorder; 3],
    /// Open loop only: sum of completion minus issue of reads and writes.
    pub(crate) from_issue_ns_sum: Option<u64>,
    /// Failed operations.
    pub(crate) errors: ErrorCounts,
    /// Open loop only.
    pub(crate) open_loop: OpenLoopCounts,
}

impl Recorder {
    /// An empty one; `open_loop`: latencies are not counted from issue.
    pub(crate) fn new(open_loop: bool) -> Self {
        Recorder {
            kinds: [
                KindRecorder::new(),
                KindRecorder::new(),
                KindRecorder::new(),
            ],
            from_issue_ns_sum: open_loop.then_some(0),
            errors: ErrorCounts::with_room(),
            open_loop: OpenLoopCounts::default(),
        }
    }

    /// Changes with every whole operation that took any time at all.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.kinds
            .iter()
            .fold(0, |sum, kind| sum.wrapping_add(kind.sum_ns))
    }

    /// Adds everything to `into` and forgets it.
    pub(crate) fn drain_into(&mut self, into: &mut JobCounts, block_size_bytes: u64) {
        let closed_ns =
            self.kinds[Kind::Read.index()].sum_ns + self.kinds[Kind::Write.index()].sum_ns;
        into.in_flight_ns_sum += u128::from(self.from_issue_ns_sum.unwrap_or(closed_ns));
        for kind in Kind::ALL {
            let bytes = if kind == Kind::Sync {
                0
            } else {
                block_size_bytes
            };
            self.kinds[kind.index()].drain_into(&mut into.kinds[kind.index()], bytes);
        }
        into.errors.merge(&self.errors);
        into.open_loop.merge(&self.open_loop);
        self.from_issue_ns_sum = self.from_issue_ns_sum.map(|_| 0);
        self.errors.clear();
        self.open_loop = OpenLoopCounts::default();
    }
}
