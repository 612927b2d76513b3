//! Computes outcomes from counts.
//!
//! All derived values (rates, percentiles, means) are computed only here, so that runs, imports and
//! recovered runs are consistent. No value is infinite or NaN: JSON has neither.

use crate::intervals::coarsen;
use crate::{Document, Drain, Errors, Interval, JobOutcome, KindOutcome, LatencySummary, OpenLoop};
use stripewise_stats::Histogram;
use stripewise_units::Percentile;

/// p99.9 is shown only for at least this many operations: with fewer, it is based on fewer than ten
/// of them.
pub const P999_OPERATIONS_MIN: u64 = 10_000;

/// No medium completes a write faster: an NVMe drive without a protected cache needs several times
/// as long, a disk a hundred times.
pub const DURABLE_NS_MIN: u64 = 20_000;

const NS_PER_S: f64 = 1e9;
const BYTES_PER_MIB: f64 = 1_048_576.0;

/// Counts of one kind of operation in the window.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindParts {
    /// Completed in full.
    pub operations: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Their latencies in nanoseconds.
    pub histogram: Histogram,
}

/// The parts of a [`JobOutcome`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OutcomeParts {
    /// Length of the measured window.
    pub duration_ns: u64,
    /// Reads.
    pub read: KindParts,
    /// Writes.
    pub write: KindParts,
    /// Explicit syncs, if requested.
    pub sync: Option<KindParts>,
    /// Commits.
    pub commit: Option<KindParts>,
    /// Discards, if there were any.
    pub discard: Option<KindParts>,
    /// Sum over complete reads, writes and discards of completion minus issue.
    pub in_flight_ns_sum: u128,
    /// User time of the workers in the window.
    pub cpu_user_ns: u64,
    /// System time of the workers in the window.
    pub cpu_system_ns: u64,
    /// Failed operations.
    pub errors: Errors,
    /// Operations that completed after the stop.
    pub drain: Drain,
    /// Open loop only.
    pub open_loop: Option<OpenLoop>,
    /// All intervals in order; merged here if there are too many.
    pub intervals: Vec<Interval>,
}

impl JobOutcome {
    /// Operations that failed, in the window and after the stop.
    pub fn failures(&self) -> u64 {
        self.errors.total.saturating_add(self.drain.errors)
    }

    /// The outcome of these counts. For a window of zero length rates are 0, and without operations
    /// costs are 0.
    pub fn from_parts(parts: OutcomeParts) -> JobOutcome {
        let discards = parts.discard.as_ref().map_or(0, |kind| kind.operations);
        let operations = parts.read.operations + parts.write.operations + discards;
        let bytes = parts.read.bytes + parts.write.bytes;
        let duration_ns = parts.duration_ns as f64;
        JobOutcome {
            duration_ns: parts.duration_ns,
            operations,
            bytes,
            iops: ratio(operations as f64 * NS_PER_S, duration_ns),
            mib_per_s: ratio(bytes as f64 / BYTES_PER_MIB * NS_PER_S, duration_ns),
            read: KindOutcome::from(parts.read),
            write: KindOutcome::from(parts.write),
            sync: parts.sync.map(KindOutcome::from),
            commit: parts.commit.map(KindOutcome::from),
            discard: parts.discard.map(KindOutcome::from),
            outstanding_mean: ratio(parts.in_flight_ns_sum as f64, duration_ns),
            initiation_latency_ns: None,
            threads: Vec::new(),
            cpu_user_ns_per_operation: ratio(parts.cpu_user_ns as f64, operations as f64),
            cpu_system_ns_per_operation: ratio(parts.cpu_system_ns as f64, operations as f64),
            errors: parts.errors,
            drain: parts.drain,
            open_loop: parts.open_loop,
            replay: None,
            due: None,
            pauses: Vec::new(),
            volume: None,
            drives: Vec::new(),
            intervals: coarsen(parts.intervals),
        }
    }
}

impl Document {
    /// Fills in the requested percentiles for all jobs.
    pub fn fill_percentiles(&mut self, requested: &[Percentile]) {
        for job in self.runs.iter_mut().flat_map(|run| &mut run.jobs) {
            job.outcome.fill_percentiles(requested);
        }
    }
}

impl JobOutcome {
    /// Fills in the requested percentiles, if individual latencies are known and at least ten of
    /// them are above.
    pub fn fill_percentiles(&mut self, requested: &[Percentile]) {
        let kinds = [
            Some(&mut self.read),
            Some(&mut self.write),
            self.sync.as_mut(),
            self.discard.as_mut(),
        ];
        for kind in kinds.into_iter().flatten() {
            let Some(histogram) = &kind.histogram else {
                continue;
            };
            let enough = |one: &&Percentile| histogram.count() >= one.operations_min();
            kind.latency_ns_percentiles = requested
                .iter()
                .filter(enough)
                .filter_map(|one| Some((one.to_string(), histogram.percentile(one.percent())?)))
                .collect();
        }
    }
}

impl From<KindParts> for KindOutcome {
    fn from(parts: KindParts) -> KindOutcome {
        KindOutcome {
            operations: parts.operations,
            bytes: parts.bytes,
            latency_ns: LatencySummary::of(&parts.histogram),
            histogram: (parts.histogram.count() > 0).then_some(parts.histogram),
            ..KindOutcome::default()
        }
    }
}

impl LatencySummary {
    /// The summary of these latencies (nanoseconds); `None` if there are none.
    /// [`LatencySummary::p999`] from [`P999_OPERATIONS_MIN`] on.
    pub fn of(latency_ns: &Histogram) -> Option<LatencySummary> {
        Some(LatencySummary {
            min: latency_ns.min()?,
            mean: latency_ns.mean()?,
            p50: latency_ns.percentile(50.0)?,
            p90: latency_ns.percentile(90.0)?,
            p95: latency_ns.percentile(95.0),
            p99: latency_ns.percentile(99.0)?,
            p999: if latency_ns.count() >= P999_OPERATIONS_MIN {
                latency_ns.percentile(99.9)
            } else {
                None
            },
            max: latency_ns.max()?,
        })
    }
}

/// 0 if the divisor is 0.
fn ratio(above: f64, below: f64) -> f64 {
    if below > 0.0 { above / below } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(latencies_ns: &[(u64, u64)]) -> KindParts {
        let mut histogram = Histogram::new();
        for &(latency_ns, count) in latencies_ns {
            histogram.record_n(latency_ns, count);
        }
        KindParts {
            operations: histogram.count(),
            bytes: histogram.count() * 8192,
            histogram,
        }
    }

    #[test]
    fn rates_and_littles_law_follow_from_the_counts() {
        let outcome = JobOutcome::from_parts(OutcomeParts {
            duration_ns: 2_000_000_000,
            read: kind(&[(500_000, 3000)]),
            write: kind(&[(1_000_000, 1000)]),
            in_flight_ns_sum: 2_500_000_000,
            cpu_user_ns: 4_000_000,
            cpu_system_ns: 8_000_000,
            ..OutcomeParts::default()
        });
        assert_eq!(outcome.operations, 4000);
        assert_eq!(outcome.bytes, 4000 * 8192);
        assert_eq!(outcome.iops, 2000.0);
        assert_eq!(outcome.mib_per_s, 15.625);
        assert_eq!(outcome.outstanding_mean, 1.25);
        assert_eq!(outcome.cpu_user_ns_per_operation, 1000.0);
        assert_eq!(outcome.cpu_system_ns_per_operation, 2000.0);
        assert_eq!(outcome.read.latency_ns.unwrap().max, 500_000);
        assert_eq!(outcome.sync, None);
    }

    #[test]
    fn an_empty_window_has_rates_of_zero_and_no_latencies() {
        let outcome = JobOutcome::from_parts(OutcomeParts::default());
        assert_eq!(outcome, JobOutcome::default());
    }

    #[test]
    fn percentiles_are_filled_in_where_ten_operations_lie_above() {
        let latencies: Vec<(u64, u64)> = (1..=1000).map(|at| (at * 100, 1)).collect();
        let mut outcome = JobOutcome::from_parts(OutcomeParts {
            read: kind(&latencies),
            ..OutcomeParts::default()
        });
        let requested: Vec<Percentile> = ["95", "p99", "99.9"]
            .into_iter()
            .map(|text| text.parse().unwrap())
            .collect();
        outcome.fill_percentiles(&requested);
        let found = &outcome.read.latency_ns_percentiles;
        assert_eq!(found.keys().collect::<Vec<_>>(), ["p95", "p99"]);
        assert!(found["p95"].abs_diff(95_000) < 200, "{found:?}");
        assert_eq!(outcome.read.latency_ns.unwrap().p95, Some(found["p95"]));
        assert!(outcome.write.latency_ns_percentiles.is_empty());
    }

    #[test]
    fn the_thousandth_is_shown_from_ten_thousand_operations_on() {
        let summary = |count| LatencySummary::of(&kind(&[(700, count)]).histogram).unwrap();
        assert_eq!(summary(9_999).p999, None);
        assert_eq!(summary(10_000).p999, Some(700));
        assert_eq!(LatencySummary::of(&Histogram::new()), None);
    }
}
