//! Merging adjacent intervals, so that a record stays small however long the run was.
//!
//! Intervals are merged by powers of two from the first one on. Counts, bytes, errors and the
//! maximum of merged intervals are exact, the mean is weighted by operations; the 99 % is exact if
//! histograms are available, otherwise the larger of the two, which is an upper bound and marked
//! so.

use crate::Interval;
use stripewise_stats::Histogram;

/// A record keeps at most this many intervals of a job.
pub const INTERVALS_MAX: usize = 4_096;

impl Interval {
    /// This interval merged with the following one. `merged` holds the latencies of reads and
    /// writes of both, if available.
    pub fn joined_with(&self, next: &Interval, merged: Option<&Histogram>) -> Interval {
        let end_ns = next.start_ns.saturating_add(next.duration_ns);
        let (mine, theirs) = (self.operations() as f64, next.operations() as f64);
        let joined = Interval {
            start_ns: self.start_ns,
            duration_ns: end_ns.saturating_sub(self.start_ns),
            read_operations: self.read_operations.saturating_add(next.read_operations),
            write_operations: self.write_operations.saturating_add(next.write_operations),
            discard_operations: (self.discard_operations).saturating_add(next.discard_operations),
            bytes: self.bytes.saturating_add(next.bytes),
            latency_ns_mean: if mine + theirs > 0.0 {
                (self.latency_ns_mean * mine + next.latency_ns_mean * theirs) / (mine + theirs)
            } else {
                0.0
            },
            latency_ns_p99: self.latency_ns_p99.max(next.latency_ns_p99),
            latency_ns_p99_is_bound: self.latency_ns_p99_is_bound
                || next.latency_ns_p99_is_bound
                || (self.latency_ns_p99.is_some() && next.latency_ns_p99.is_some()),
            latency_ns_max: self.latency_ns_max.max(next.latency_ns_max),
            errors: self.errors.saturating_add(next.errors),
        };
        match merged {
            Some(_) => joined.with_latencies_of(merged),
            None => joined,
        }
    }

    /// Sets mean, 99 % and maximum from these latencies of its reads and writes. Without any, it is
    /// unchanged.
    #[must_use]
    pub fn with_latencies_of(mut self, latency_ns: Option<&Histogram>) -> Interval {
        let Some(latency_ns) = latency_ns.filter(|latency_ns| latency_ns.count() > 0) else {
            return self;
        };
        self.latency_ns_mean = latency_ns.mean().unwrap_or(self.latency_ns_mean);
        self.latency_ns_p99 = latency_ns.percentile(99.0);
        self.latency_ns_p99_is_bound = false;
        self.latency_ns_max = latency_ns.max().unwrap_or(self.latency_ns_max);
        self
    }

    /// Reads, writes and discards completed.
    pub fn operations(&self) -> u64 {
        // Records come from files, which may contain anything.
        let transfers = self.read_operations.saturating_add(self.write_operations);
        transfers.saturating_add(self.discard_operations)
    }
}

/// How many neighbours must be merged into one so that at most `limit` of `count` intervals remain:
/// 1, 2, 4... `limit` counts as at least 1.
pub fn joined_group_size(count: usize, limit: usize) -> usize {
    count.div_ceil(limit.max(1)).next_power_of_two()
}

/// At most [`INTERVALS_MAX`] intervals out of any number, in order.
pub fn coarsen(intervals: Vec<Interval>) -> Vec<Interval> {
    let group_size = joined_group_size(intervals.len(), INTERVALS_MAX);
    if group_size == 1 {
        return intervals;
    }
    intervals
        .chunks(group_size)
        .map(|group| {
            group[1..]
                .iter()
                .fold(group[0], |joined, next| joined.joined_with(next, None))
        })
        .collect()
}

/// The intervals of a run in progress, in constant memory: the merging of [`coarsen`] as they come.
/// Intervals merged while their latencies are available keep an exact 99 %.
#[derive(Clone, Debug, Default)]
pub struct IntervalSeries {
    closed: Vec<Interval>,
    /// Number of neighbours in one closed interval; a power of two, 0 at the start.
    group_size: usize,
    open: Option<Open>,
}

#[derive(Clone, Debug)]
struct Open {
    interval: Interval,
    parts: usize,
    latency_ns: Option<Histogram>,
}

impl IntervalSeries {
    /// None yet.
    pub fn new() -> IntervalSeries {
        IntervalSeries::default()
    }

    /// Adds the next interval; `latency_ns` are those of its reads and writes.
    pub fn push(&mut self, interval: Interval, latency_ns: Option<&Histogram>) {
        self.group_size = self.group_size.max(1);
        let open = match self.open.take() {
            None => Open {
                interval,
                parts: 1,
                // Copied only if another will be merged with it.
                latency_ns: latency_ns.filter(|_| self.group_size > 1).cloned(),
            },
            Some(mut open) => {
                open.latency_ns = match (open.latency_ns, latency_ns) {
                    (Some(mut merged), Some(more)) => {
                        merged.merge(more);
                        Some(merged)
                    }
                    _ => None,
                };
                open.interval = open
                    .interval
                    .joined_with(&interval, open.latency_ns.as_ref());
                open.parts += 1;
                open
            }
        };
        if open.parts < self.group_size {
            self.open = Some(open);
            return;
        }
        if self.closed.len() == INTERVALS_MAX {
            self.halve();
            // The complete group is now the first half of one.
            self.open = Some(Open {
                latency_ns: latency_ns
                    .filter(|_| open.parts == 1)
                    .cloned()
                    .or(open.latency_ns),
                ..open
            });
        } else {
            self.closed.push(open.interval);
        }
    }

    fn halve(&mut self) {
        self.group_size *= 2;
        self.closed = self
            .closed
            .chunks(2)
            .map(|pair| match pair {
                [first, second] => first.joined_with(second, None),
                _ => pair[0],
            })
            .collect();
    }

    /// All of them in order, at most [`INTERVALS_MAX`].
    pub fn finish(mut self) -> Vec<Interval> {
        if let Some(open) = self.open.take() {
            if self.closed.len() == INTERVALS_MAX {
                self.halve();
            }
            self.closed.push(open.interval);
        }
        self.closed
    }
}

#[cfg(test)]
mod tests;
