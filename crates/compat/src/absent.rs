//! Which fields of a record an importer provides: it starts from a record that provides nothing and
//! names each field it fills in. A forgotten field is absent rather than a false zero.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

/// Every field of a record whose default could be mistaken for a measurement. Optional fields are
/// not listed: they are absent by themselves.
const FIELDS: [&str; 52] = [
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
    "jobs.workload.think_time",
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

/// Kinds of operations that have latencies.
const KINDS: [&str; 3] = ["read", "write", "sync"];

/// All paths, sorted: a field is followed by its members.
static PATHS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let latencies = KINDS.iter().flat_map(|kind| {
        let path = move |name: &&str| format!("jobs.outcome.{kind}.latency_ns.{name}");
        LATENCIES.iter().map(path)
    });
    let fields = FIELDS.iter().map(|&path| path.to_owned());
    let mut paths: Vec<String> = fields.chain(latencies).collect();
    paths.sort();
    paths
});

/// Fills a field of a job's `workload` or `outcome`, the variable of that name, where its value is
/// known.
macro_rules! fill {
    ($absent:ident, $part:ident.$field:ident, $value:expr) => {
        if let Some(value) = $value {
            $part.$field = value;
            $absent.give(concat!("jobs.", stringify!($part), ".", stringify!($field)));
        }
    };
}
pub(crate) use fill;

/// The fields that are still absent: a bit for each of [`PATHS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Absent(u128);

impl Absent {
    /// Every field is absent.
    pub(crate) fn everything() -> Absent {
        Absent((1 << PATHS.len()) - 1)
    }

    /// Marks this field, and all its members, as provided.
    ///
    /// # Panics
    /// In debug builds, if no such field is listed: a mistyped name would leave the field out of
    /// the record forever.
    pub(crate) fn give(&mut self, path: &str) -> &mut Self {
        let before = self.0;
        let from = PATHS.partition_point(|known| known.as_str() < path);
        for (at, known) in PATHS.iter().enumerate().skip(from) {
            match known.strip_prefix(path) {
                Some(rest) if rest.is_empty() || rest.starts_with('.') => self.0 &= !(1 << at),
                Some(_) => {}
                None => break,
            }
        }
        debug_assert!(self.0 < before, "`{path}` is not a field, or given twice");
        self
    }

    /// Marks this field as present; its members are given one by one.
    pub(crate) fn open(&mut self, path: &str) {
        let at = PATHS.iter().position(|known| known == path);
        self.0 &= at.map_or(u128::MAX, |at| !(1 << at));
    }

    /// As [`Absent::give`] for several fields below one.
    pub(crate) fn give_all(&mut self, below: &str, names: &[&str]) -> &mut Self {
        for name in names {
            self.give_in(below, name);
        }
        self
    }

    /// As [`Absent::give`] for a field below one.
    pub(crate) fn give_in(&mut self, below: &str, name: &str) -> &mut Self {
        self.give(&format!("{below}.{name}"))
    }

    /// The absent fields of the jobs of one run, in order: those that all lack once, and those that
    /// only some lack under the job's number. `of_run`: what the run provides apart from its jobs.
    pub(crate) fn of_jobs(jobs: &[Absent], of_run: &[&str]) -> Arc<BTreeSet<String>> {
        let common = jobs
            .iter()
            .fold(Absent::everything().0, |all, job| all & job.0);
        let mut of_all = Absent(common);
        for path in of_run {
            of_all.open(path);
        }
        let mut all = of_all.into_set();
        for (index, job) in jobs.iter().enumerate() {
            for path in Absent(job.0 & !common).paths() {
                let path = match path.strip_prefix("jobs.") {
                    Some(rest) => format!("jobs.{index}.{rest}"),
                    None => path.to_owned(),
                };
                Arc::make_mut(&mut all).insert(path);
            }
        }
        all
    }

    fn paths(self) -> impl Iterator<Item = &'static str> {
        let all = PATHS.iter().enumerate();
        let left = all.filter(move |(at, _)| self.0 >> at & 1 == 1);
        left.map(|(_, path)| path.as_str())
    }

    /// The absent fields.
    pub(crate) fn into_set(self) -> Arc<BTreeSet<String>> {
        SETS.with_borrow_mut(|sets| {
            if sets.len() >= SETS_MAX && !sets.contains_key(&self.0) {
                sets.clear();
            }
            let set = sets
                .entry(self.0)
                .or_insert_with(|| Arc::new(self.paths().map(str::to_owned).collect()));
            Arc::clone(set)
        })
    }
}

/// Sets that are kept.
const SETS_MAX: usize = 64;

thread_local! {
    /// The sets of earlier records: results of one format mostly lack the same fields, so thousands
    /// of records share a few sets.
    static SETS: RefCell<BTreeMap<u128, Arc<BTreeSet<String>>>> =
        const { RefCell::new(BTreeMap::new()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_that_lack_the_same_share_one_set() {
        let mut reads = Absent::everything();
        reads.give("jobs.outcome.read.latency_ns");
        let one = Absent::of_jobs(&[reads, reads], &["started_at"]);
        let two = Absent::of_jobs(&[reads], &["started_at"]);
        assert!(Arc::ptr_eq(&one, &two));
        assert!(!one.contains("started_at") && one.contains("host"));
        assert!(!one.iter().any(|path| path.contains("read.latency_ns")));
        // What only some jobs lack changes no set of others.
        let both = Absent::of_jobs(&[reads, Absent::everything()], &["started_at"]);
        assert!(both.contains("jobs.1.outcome.read.latency_ns.p99"));
        assert_eq!(both.len(), one.len() + LATENCIES.len());
        assert_eq!(one, Absent::of_jobs(&[reads], &["started_at"]));
    }
}
