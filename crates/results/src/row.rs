//! A job as seen by tables, charts and comparisons: every value that may be unknown is an `Option`,
//! so that what an imported result lacks is never shown as zero.

use crate::{JobRecord, KindOutcome, LatencySummary, RunRecord};
use stripewise_workload::CacheMode;

/// One job of one run, for display or comparison.
#[derive(Clone, Copy, Debug)]
pub struct JobRow<'a> {
    /// The run.
    pub run: &'a RunRecord,
    /// The job.
    pub job: &'a JobRecord,
}

impl<'a> JobRow<'a> {
    /// All jobs of these runs, in order.
    pub fn of(runs: &'a [RunRecord]) -> impl Iterator<Item = JobRow<'a>> {
        runs.iter()
            .flat_map(|run| run.jobs.iter().map(move |job| JobRow { run, job }))
    }

    /// A value of the job, if its source gives the field at this path of its JSON
    /// (`jobs.workload.cache`); own records give everything.
    pub fn given<T>(&self, path: &str, value: T) -> Option<T> {
        let imported = self.run.imported.as_ref();
        let gives = imported.is_none_or(|imported| match self.index() {
            Some(index) => imported.gives_of(index, path),
            None => imported.gives(path),
        });
        gives.then_some(value)
    }

    /// Its index in the run, from its address in memory: a run may have thousands of jobs.
    fn index(&self) -> Option<usize> {
        let jobs = &self.run.jobs;
        let first = jobs.as_ptr().addr();
        let bytes = std::ptr::from_ref(self.job).addr().checked_sub(first)?;
        let index = bytes / size_of::<JobRecord>();
        let found = jobs.get(index)?;
        std::ptr::eq(found, self.job).then_some(index)
    }

    /// `read`, `write`, or `mixed` with the percentage of reads; absent if the source does not give
    /// it.
    pub fn operation(&self) -> Option<String> {
        let name = self.job.workload.operation_name();
        self.given("jobs.workload.read_percent", name)
    }

    /// `random`, `sequential` or `stride`.
    pub fn pattern(&self) -> Option<&'static str> {
        self.given("jobs.workload.pattern", self.job.pattern_name())
    }

    /// Bytes of one operation; `None` if operations have several sizes.
    pub fn block_size_bytes(&self) -> Option<u64> {
        let workload = &self.job.workload;
        let one_size = workload.block_sizes.is_empty() && workload.recorded.is_none();
        let block_size_bytes = self.given(
            "jobs.workload.block_size_bytes",
            self.job.workload.block_size_bytes,
        );
        block_size_bytes.filter(|_| one_size)
    }

    /// The block size as text: `8K`, `4K-64K` if operations have several sizes.
    pub fn block_text(&self) -> Option<String> {
        let text = self.job.workload.block_text();
        self.given("jobs.workload.block_size_bytes", text)
    }

    /// Threads.
    pub fn threads(&self) -> Option<u32> {
        self.given("jobs.workload.threads", self.job.workload.threads)
    }

    /// Outstanding per thread.
    pub fn outstanding(&self) -> Option<u32> {
        self.given("jobs.workload.outstanding", self.job.workload.outstanding)
    }

    /// Outstanding of one thread, over all of its targets.
    pub fn outstanding_of_thread(&self) -> Option<u32> {
        let of_one = self.in_flight().zip(self.threads());
        of_one
            .and_then(|(all, threads)| all.checked_div(threads))
            .or_else(|| self.outstanding())
    }

    /// Total operations in flight: threads times outstanding times targets; for targets visited in
    /// turn, a thread has its outstanding on all of them together. Also absent if it exceeds
    /// `u32::MAX`: no such load was ever run.
    pub fn in_flight(&self) -> Option<u32> {
        let targets = if self.job.workload.in_turn {
            1
        } else {
            u32::try_from(self.job.further_targets.len() + 1).ok()?
        };
        let of_one = self.threads()?.checked_mul(self.outstanding()?)?;
        of_one.checked_mul(targets)
    }

    /// [`JobRecord::target_names`].
    pub fn target_names(&self) -> String {
        self.job.target_names()
    }

    /// Where the target starts plus the workload's base offset: determines alignment. Absent if
    /// either is unknown.
    pub fn offset_bytes(&self) -> Option<u64> {
        let start = self.job.target.partition_offset_bytes?;
        let base = self.given(
            "jobs.workload.base_offset_bytes",
            self.job.workload.base_offset_bytes,
        )?;
        start.checked_add(base)
    }

    /// The cache mode.
    pub fn cache(&self) -> Option<CacheMode> {
        self.given("jobs.workload.cache", self.job.workload.cache)
    }

    /// Operations per second.
    pub fn iops(&self) -> Option<f64> {
        self.given("jobs.outcome.iops", self.job.outcome.iops)
    }

    /// Units of 1,048,576 bytes per second.
    pub fn mib_per_s(&self) -> Option<f64> {
        self.given("jobs.outcome.mib_per_s", self.job.outcome.mib_per_s)
    }

    /// The byte rate shown in a line about the job: [`JobRow::mib_per_s`], or, for a job that only
    /// discards and so transfers none, that of the discarded bytes.
    pub fn mib_per_s_shown(&self) -> Option<f64> {
        match self.job.workload.discard_percent {
            100 => self.mib_per_s_of(OperationKind::Discard),
            _ => self.mib_per_s(),
        }
    }

    /// Measured time.
    pub fn duration_ns(&self) -> Option<u64> {
        self.given("jobs.outcome.duration_ns", self.job.outcome.duration_ns)
    }

    /// Completed operations.
    pub fn operations(&self) -> Option<u64> {
        self.given("jobs.outcome.operations", self.job.outcome.operations)
    }

    /// The latencies that the job's limit applies to: writes if it only writes, discards if it does
    /// nothing else, otherwise reads. Use [`JobRow::latency`] for single values of imported
    /// records, which may lack some.
    pub fn latencies(&self) -> Option<&'a LatencySummary> {
        self.outcome_of(self.kind_of_limit())?.latency_ns.as_ref()
    }

    /// The kind its limit applies to; if the source does not give it, derived from the measurement.
    fn kind_of_limit(&self) -> OperationKind {
        let read_percent = self.job.workload.read_percent;
        let only_writes = match self.given("jobs.workload.read_percent", read_percent) {
            Some(percent) => percent == 0,
            None => self.job.outcome.read.latency_ns.is_none(),
        };
        match only_writes {
            true if self.job.workload.discard_percent == 100 => OperationKind::Discard,
            true => OperationKind::Write,
            false => OperationKind::Read,
        }
    }

    /// Whether it does several kinds of operations, so that no single latency applies: use
    /// [`JobRow::latency_of`].
    pub fn is_mixed(&self) -> bool {
        self.kinds().len() > 1
    }

    /// The kinds of operations it does; if the source does not give them, derived from the
    /// measurement.
    pub fn kinds(&self) -> Vec<OperationKind> {
        let workload = &self.job.workload;
        let reads = self.given("jobs.workload.read_percent", workload.read_percent);
        let is_done = |kind: &OperationKind| match (kind, reads) {
            (OperationKind::Discard, _) => workload.discards(),
            (OperationKind::Read, Some(percent)) => percent > 0,
            (OperationKind::Write, Some(_)) => workload.writes(),
            (_, None) => self.latencies_of(*kind).is_some(),
        };
        OperationKind::ALL.into_iter().filter(is_done).collect()
    }

    /// `None` if it has none of that kind.
    fn outcome_of(&self, kind: OperationKind) -> Option<&'a KindOutcome> {
        let outcome = &self.job.outcome;
        match kind {
            OperationKind::Read => Some(&outcome.read),
            OperationKind::Write => Some(&outcome.write),
            OperationKind::Discard => outcome.discard.as_ref(),
        }
    }

    fn latencies_of(&self, kind: OperationKind) -> Option<&'a LatencySummary> {
        self.outcome_of(kind)?.latency_ns.as_ref()
    }

    /// Operations of one kind per second; absent if the source gives neither that nor their number
    /// and the time.
    pub fn iops_of(&self, kind: OperationKind) -> Option<f64> {
        let outcome = self.outcome_of(kind)?;
        let counted = || self.per_second_of(kind, "operations", outcome.operations as f64);
        outcome.iops.or_else(counted)
    }

    /// Units of 1,048,576 bytes of one kind per second, as [`JobRow::iops_of`].
    pub fn mib_per_s_of(&self, kind: OperationKind) -> Option<f64> {
        let outcome = self.outcome_of(kind)?;
        let counted = || self.per_second_of(kind, "bytes", outcome.bytes as f64 / 1_048_576.0);
        outcome.mib_per_s.or_else(counted)
    }

    fn per_second_of(&self, kind: OperationKind, field: &str, amount: f64) -> Option<f64> {
        self.per_second(&format!("jobs.outcome.{}.{field}", kind.name()), amount)
    }

    fn per_second(&self, path: &str, amount: f64) -> Option<f64> {
        let seconds = self.duration_ns().filter(|ns| *ns > 0)? as f64 / 1e9;
        self.given(path, amount / seconds)
    }

    /// Syncs per second; absent if it did none, or its source does not give their number, or the
    /// time.
    pub fn syncs_per_s(&self) -> Option<f64> {
        let syncs = self.job.outcome.sync.as_ref()?.operations as f64;
        self.per_second("jobs.outcome.sync.operations", syncs)
    }

    /// One latency of its syncs, as [`JobRow::latency_of`].
    pub fn latency_of_syncs(&self, name: &str) -> Option<f64> {
        let latencies = self.job.outcome.sync.as_ref()?.latency_ns.as_ref()?;
        let path = format!("jobs.outcome.sync.latency_ns.{name}");
        self.given(&path, latency_named(latencies, name)?)
    }

    /// One latency in nanoseconds by its JSON name: `mean`, `p50`, `p90`, `p95`, `p99`, `p999`,
    /// `min`, `max`, for the kind that the job's limit applies to. Absent if unknown, and for any
    /// other name.
    pub fn latency(&self, name: &str) -> Option<f64> {
        self.latency_of(self.kind_of_limit(), name)
    }

    /// The same of one kind of operation.
    pub fn latency_of(&self, kind: OperationKind, name: &str) -> Option<f64> {
        let value = latency_named(self.latencies_of(kind)?, name)?;
        let path = format!("jobs.outcome.{}.latency_ns.{name}", kind.name());
        self.given(&path, value)
    }
}

/// By its JSON name.
fn latency_named(latencies: &LatencySummary, name: &str) -> Option<f64> {
    Some(match name {
        "min" => latencies.min as f64,
        "mean" => latencies.mean,
        "p50" => latencies.p50 as f64,
        "p90" => latencies.p90 as f64,
        "p95" => latencies.p95? as f64,
        "p99" => latencies.p99 as f64,
        "p999" => latencies.p999? as f64,
        "max" => latencies.max as f64,
        _ => return None,
    })
}

// Named as in records.
stripewise_units::named! {
    /// Kind of an operation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OperationKind {
        /// It reads.
        Read = "read",
        /// It writes.
        Write = "write",
        /// It discards.
        Discard = "discard",
    }
}

impl OperationKind {
    /// Plural: `reads`, `writes`, `discards`.
    pub fn plural(self) -> &'static str {
        match self {
            OperationKind::Read => "reads",
            OperationKind::Write => "writes",
            OperationKind::Discard => "discards",
        }
    }
}
