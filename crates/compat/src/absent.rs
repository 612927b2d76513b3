//! Which fields of a record an importer gives: it starts from a record that
//! gives nothing and names what it filled in. What was forgotten is absent
//! rather than a false zero.

use std::collections::BTreeSet;

/// Every field of a record that could be mistaken for a measured one if its
/// default were shown. Optional fields are not listed: they are absent by
/// themselves.
const FIELDS: [&str; 51] = [
    "started_at",
    "version",
    "host",
    "jobs.target.kind",
    "jobs.target.name",
    "jobs.target.size_bytes",
    "jobs.target.logical_sector_bytes",
    "jobs.workload.read_percent",
    "jobs.workload.pattern",
    "jobs.workload.distribution",
    "jobs.workload.cursor",
    "jobs.workload.stride_bytes",
    "jobs.workload.block_size_bytes",
    "jobs.workload.threads",
    "jobs.workload.outstanding",
    "jobs.workload.duration_ns",
    "jobs.workload.ramp_ns",
    "jobs.workload.base_offset_bytes",
    "jobs.workload.size_bytes",
    "jobs.workload.cache",
    "jobs.workload.sync",
    "jobs.workload.rate",
    "jobs.workload.data",
    "jobs.workload.seed",
    "jobs.engine.name",
    "jobs.engine.asked",
    "jobs.engine.registered_buffers",
    "jobs.engine.registered_files",
    "jobs.engine.deferred_task_running",
    "jobs.engine.completion_hold_ns_max",
    "jobs.engine.fallbacks",
    "jobs.outcome.duration_ns",
    "jobs.outcome.operations",
    "jobs.outcome.bytes",
    "jobs.outcome.iops",
    "jobs.outcome.mib_per_s",
    "jobs.outcome.outstanding_mean",
    "jobs.outcome.cpu_user_ns_per_operation",
    "jobs.outcome.cpu_system_ns_per_operation",
    "jobs.outcome.errors",
    "jobs.outcome.drain",
    "jobs.outcome.intervals",
    "jobs.warnings",
    "warnings",
    "jobs.outcome.sync.operations",
    "jobs.outcome.sync.bytes",
    "jobs.outcome.sync.latency_ns",
    "jobs.outcome.read.operations",
    "jobs.outcome.read.bytes",
    "jobs.outcome.write.operations",
    "jobs.outcome.write.bytes",
];

/// The values of a latency summary.
const LATENCIES: [&str; 8] = ["min", "mean", "p50", "p90", "p95", "p99", "p999", "max"];

/// Collects what is given.
pub(crate) struct Absent(BTreeSet<String>);

impl Absent {
    /// Nothing is given.
    pub(crate) fn everything() -> Absent {
        let mut absent: BTreeSet<String> = FIELDS.iter().map(|&path| path.to_owned()).collect();
        for kind in ["read", "write", "sync"] {
            for name in LATENCIES {
                absent.insert(format!("jobs.outcome.{kind}.latency_ns.{name}"));
            }
        }
        Absent(absent)
    }

    /// This field, and all that is in it, was filled in.
    ///
    /// # Panics
    /// When no such field is listed: a name that was mistyped would leave the
    /// field out of the record for ever.
    pub(crate) fn give(&mut self, path: &str) -> &mut Self {
        let before = self.0.len();
        self.0.retain(|absent| {
            absent != path
                && !absent
                    .strip_prefix(path)
                    .is_some_and(|rest| rest.starts_with('.'))
        });
        debug_assert!(
            self.0.len() < before,
            "`{path}` is not a field, or given twice"
        );
        self
    }

    /// As [`Absent::give`] for several fields below one.
    pub(crate) fn give_all(&mut self, below: &str, names: &[&str]) -> &mut Self {
        for name in names {
            self.give(&format!("{below}.{name}"));
        }
        self
    }

    /// What is left of the jobs of one run, in order: what all lack once, and what
    /// only some lack below their number.
    pub(crate) fn of_jobs(jobs: Vec<Absent>) -> Absent {
        let Some(first) = jobs.first() else {
            return Absent::everything();
        };
        let common: BTreeSet<String> = first
            .0
            .iter()
            .filter(|path| jobs.iter().all(|job| job.0.contains(*path)))
            .cloned()
            .collect();
        let mut all = common.clone();
        for (index, job) in jobs.iter().enumerate() {
            for path in job.0.difference(&common) {
                match path.strip_prefix("jobs.") {
                    Some(rest) => all.insert(format!("jobs.{index}.{rest}")),
                    None => all.insert(path.clone()),
                };
            }
        }
        Absent(all)
    }

    /// What is left.
    pub(crate) fn into_set(self) -> BTreeSet<String> {
        self.0
    }
}
