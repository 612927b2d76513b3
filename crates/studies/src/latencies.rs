//! Latencies of the runs of a study, as stored in its state.

use serde::{Deserialize, Serialize};
use stripewise_report::Caution;
use stripewise_results::{DURABLE_NS_MIN, KindOutcome, Severity};
use stripewise_stats::Histogram;
use stripewise_units::format_duration;

/// Code of the warning that a flush does not reach a medium.
pub(crate) const TOO_FAST: &str = "durable-too-fast";

/// Latencies of one kind of operation, summed over runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Latencies {
    /// Lowest value and count of each bucket.
    buckets: Vec<(u64, u64)>,
    /// The longest, in nanoseconds.
    pub(crate) max_ns: u64,
}

impl Latencies {
    /// Adds those of a run, if it has such operations.
    pub(crate) fn add(&mut self, kind: Option<&KindOutcome>) {
        let Some(kind) = kind else { return };
        let longest = kind.latency_ns.map_or(0, |latency| latency.max);
        self.max_ns = self.max_ns.max(longest);
        let Some(more) = &kind.histogram else { return };
        let mut all = self.histogram();
        all.merge(more);
        let buckets = all.nonzero();
        self.buckets = buckets.map(|one| (one.value_low, one.count)).collect();
    }

    /// As a histogram, whose percentiles cover all runs.
    pub(crate) fn histogram(&self) -> Histogram {
        let mut all = Histogram::default();
        for &(value, count) in &self.buckets {
            all.record_n(value, count);
        }
        all
    }
}

/// The caution if the median of these (`syncs after a write`) is shorter than any medium
/// takes; the reason cannot be determined from outside.
pub(crate) fn free_syncs(what: &str, median_ns: Option<u64>) -> Option<Caution> {
    let median_ns = median_ns.filter(|&ns| ns < DURABLE_NS_MIN)?;
    let text = format!(
        "half of the {what} took {} or less, sooner than any medium: a write counts as durable before it is on \
         one; either the cache outlives a loss of power, or it only claims to, and only \
         `verify --power-cut` shows which",
        format_duration(median_ns)
    );
    Some(Caution {
        code: TOO_FAST.to_owned(),
        ..Caution::own(Severity::Warning, text, "")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::KindParts;

    #[test]
    fn runs_are_summed_and_the_longest_is_exact() {
        let run = |ns: u64, count: u64| {
            let mut histogram = Histogram::default();
            histogram.record_n(ns, count);
            KindOutcome::from(KindParts {
                operations: count,
                bytes: 0,
                histogram,
            })
        };
        let mut all = Latencies::default();
        all.add(Some(&run(1_000_003, 99)));
        all.add(None);
        all.add(Some(&run(7_000_001, 1)));
        assert_eq!(all.histogram().count(), 100);
        assert_eq!(all.max_ns, 7_000_001);
        let p50 = all.histogram().percentile(50.0).unwrap();
        assert!(p50.abs_diff(1_000_003) < 10_000, "{p50}");
    }
}
