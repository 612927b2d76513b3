//! Counts of a job: operations due and beyond a threshold by the second, and latencies.

use crate::FileState;
use crate::latencies::{Latencies, TOO_FAST};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use stripewise_results::{
    CountedOperations, DueRecord, DueSecondRecord, JobOutcome, JobRecord, RunRecord, Severity,
    Warning,
};

const SECOND_NS: u64 = 1_000_000_000;

/// What was counted of a job, all pieces one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JobSeconds {
    /// Latency thresholds of the counts, in nanoseconds.
    pub(super) thresholds_ns: Vec<u64>,
    /// Number of valid pieces.
    pub(super) pieces: u64,
    /// Number of void pieces, by code.
    pub(super) void: BTreeMap<String, u64>,
    pub(super) void_pieces: u64,
    pub(super) seconds: Vec<DueSecondRecord>,
    /// Operations completed in each second, where they arrive whether or not earlier ones have
    /// completed: what was due was not yet served.
    #[serde(default)]
    pub(super) completed: Vec<f64>,
    pub(super) own_lags: u64,
    /// Of them, for each threshold, those later than a tenth of it.
    #[serde(default)]
    own_lags_beyond: Vec<u64>,
    /// Time that operations waited with their threads for a processor, where the machine had
    /// none to spare, nanoseconds.
    #[serde(default)]
    pub(super) starved_ns: u64,
    pub(super) errors: u64,
    /// Failed syncs of the pieces that count.
    #[serde(default)]
    pub(super) failed_syncs: u64,
    /// Failed reads, writes and discards of the pieces that count.
    #[serde(default)]
    pub(super) failed_transfers: u64,
    /// The longest latency of what completed after the stop, which no histogram has.
    #[serde(default)]
    pub(super) drained_max_ns: u64,
    syncs: Latencies,
    #[serde(default)]
    commits: Latencies,
    transfers: Latencies,
    /// Bytes of an operation.
    pub(super) block_bytes: u64,
    /// Warnings by code.
    pub(super) warnings: BTreeMap<String, PieceWarning>,
}

/// A warning of some pieces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PieceWarning {
    /// The most severe.
    pub(super) severity: Severity,
    /// Number of pieces that have it.
    pub(super) pieces: u64,
    /// Short text, from the first.
    pub(super) text: String,
}

/// A minute has too few operations for a percentile of its own, which nobody requires: a
/// verdict covers all minutes, and reports how many it takes.
fn is_of_a_minute(warning: &Warning) -> bool {
    let is_of_few = ["few-operations", "few-for-p999"].contains(&warning.code.as_str());
    is_of_few && warning.severity != Severity::Void
}

/// Whole seconds of the measured window.
pub(super) fn whole_seconds(outcome: &JobOutcome) -> u64 {
    // Virtual and real windows may end some microseconds early.
    (outcome.duration_ns + SECOND_NS / 100) / SECOND_NS
}

/// Operations completed in each of so many seconds; those of an interval are spread over it.
fn completed(outcome: &JobOutcome, seconds: usize) -> Vec<f64> {
    let mut completed = vec![0.0; seconds];
    for interval in &outcome.intervals {
        let from_ns = interval.start_ns;
        let until_ns = from_ns.saturating_add(interval.duration_ns);
        let first = (from_ns / SECOND_NS) as usize;
        for (second, count) in completed.iter_mut().enumerate().skip(first) {
            let at_ns = second as u64 * SECOND_NS;
            if at_ns >= until_ns {
                break;
            }
            let shared_ns = until_ns.min(at_ns + SECOND_NS) - from_ns.max(at_ns);
            let of_interval = interval.operations() as f64 * shared_ns as f64;
            *count += of_interval / interval.duration_ns as f64;
        }
    }
    completed
}

impl JobSeconds {
    /// Adds a piece.
    pub(super) fn add(&mut self, run: &RunRecord, job: &JobRecord, state: FileState) {
        let is_expected = |code: &str| state.is_warned_of_by(code);
        let codes = run.void_codes_of(job);
        let codes: Vec<&str> = codes
            .into_iter()
            .filter(|code| !is_expected(code))
            .collect();
        for warning in job.warnings.iter().chain(&run.warnings) {
            if is_expected(&warning.code) || is_of_a_minute(warning) {
                continue;
            }
            let of_code = self.warnings.entry(warning.code.clone());
            let of_code = of_code.or_insert_with(|| PieceWarning {
                severity: warning.severity,
                pieces: 0,
                text: warning.in_short().to_owned(),
            });
            of_code.pieces += 1;
            of_code.severity = of_code.severity.max(warning.severity);
        }
        self.errors += job.outcome.failures();
        if !codes.is_empty() {
            self.void_pieces += 1;
            for code in codes {
                *self.void.entry(code.to_owned()).or_default() += 1;
            }
            return;
        }
        self.pieces += 1;
        let errors = &job.outcome.errors;
        let reasons = errors.by_reason.iter();
        let of_syncs = reasons.filter(|(reason, _)| reason.starts_with("sync "));
        let syncs: u64 = of_syncs.map(|(_, count)| count).sum();
        self.failed_syncs += syncs;
        self.failed_transfers += errors.total.saturating_sub(syncs);
        self.block_bytes = job.workload.block_bytes_mean();
        let outcome = &job.outcome;
        if let Some(due) = &outcome.due {
            self.add_seconds(outcome, due);
        }
        if job.warnings.iter().any(|one| one.code == "cpu-bound") {
            let waited = outcome.threads.iter().map(|thread| thread.cpu_wait_ns);
            let each_ns = waited.fold(0, u64::saturating_add);
            let with_it = u64::from(job.workload.outstanding.max(1));
            self.starved_ns = self
                .starved_ns
                .saturating_add(each_ns.saturating_mul(with_it));
        }
        self.drained_max_ns = self.drained_max_ns.max(outcome.drain.latency_ns_max);
        self.syncs.add(outcome.sync.as_ref());
        self.commits.add(outcome.commit.as_ref());
        for kind in [
            Some(&outcome.read),
            Some(&outcome.write),
            outcome.discard.as_ref(),
        ] {
            self.transfers.add(kind);
        }
    }

    /// Adds the whole seconds of a piece.
    fn add_seconds(&mut self, outcome: &JobOutcome, due: &DueRecord) {
        self.thresholds_ns.clone_from(&due.thresholds_ns);
        self.add_own_lags(due);
        let seconds = whole_seconds(outcome) as usize;
        if outcome.open_loop.is_some() {
            // Of the pieces of an earlier version it is only known what was due.
            let earlier = self.seconds.iter().skip(self.completed.len());
            let earlier: Vec<f64> = earlier.map(|second| second.due as f64).collect();
            self.completed.extend(earlier);
            self.completed.extend(completed(outcome, seconds));
        }
        let nothing = DueSecondRecord {
            beyond: vec![0; due.thresholds_ns.len()],
            ..DueSecondRecord::default()
        };
        let counted = due
            .seconds
            .iter()
            .cloned()
            .chain(std::iter::repeat(nothing));
        self.seconds.extend(counted.take(seconds));
    }

    fn add_own_lags(&mut self, due: &DueRecord) {
        let thresholds_ns = &due.thresholds_ns;
        self.own_lags_beyond
            .resize(thresholds_ns.len(), self.own_lags);
        for (lags, threshold_ns) in self.own_lags_beyond.iter_mut().zip(thresholds_ns) {
            *lags += due.own_lags_of(*threshold_ns);
        }
        self.own_lags += due.own_lags;
    }

    /// Index of a threshold.
    pub(super) fn threshold(&self, threshold_ns: u64) -> Option<usize> {
        let mut all = self.thresholds_ns.iter();
        all.position(|one| *one == threshold_ns)
    }

    /// Arrivals that the program itself issued later than a tenth of this threshold.
    pub(super) fn own_lags_beyond(&self, threshold_ns: u64) -> u64 {
        let index = self.threshold(threshold_ns);
        let counted = index.and_then(|index| self.own_lags_beyond.get(index));
        counted.copied().unwrap_or(self.own_lags)
    }

    /// Median of the syncs, unless a warning already explains it.
    pub(super) fn sync_median_ns(&self) -> Option<u64> {
        match self.warnings.contains_key(TOO_FAST) {
            true => None,
            false => self.syncs.histogram().percentile(50.0),
        }
    }

    /// Latencies of these operations.
    pub(super) fn latencies(&self, operations: CountedOperations) -> &Latencies {
        match operations {
            CountedOperations::Commits => &self.commits,
            CountedOperations::Transfers => &self.transfers,
        }
    }
}
