//! What goes into the store and what comes out of it, besides records.

use stripewise_results::{Interval, Status};
use stripewise_stats::Histogram;

/// The latencies of one interval of one job, in nanoseconds. Empty histograms
/// may be given or left out; it makes no difference.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalHistograms<'a> {
    /// Of reads.
    pub read: Option<&'a Histogram>,
    /// Of writes.
    pub write: Option<&'a Histogram>,
    /// Of explicit syncs.
    pub sync: Option<&'a Histogram>,
    /// Of discards.
    pub discard: Option<&'a Histogram>,
}

/// Latencies as they were stored: `None` where there were no operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredHistograms {
    /// Of reads.
    pub read: Option<Histogram>,
    /// Of writes.
    pub write: Option<Histogram>,
    /// Of explicit syncs.
    pub sync: Option<Histogram>,
    /// Of discards.
    pub discard: Option<Histogram>,
}

/// One interval of one job as it was stored.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredInterval {
    /// Its numbers.
    pub interval: Interval,
    /// Its latencies.
    pub histograms: StoredHistograms,
}

/// Which runs to list. The default lists all of them, what was stored last first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only where the label contains this.
    pub label: Option<String>,
    /// Only of this series.
    pub series: Option<String>,
    /// Only with a job on a target whose name contains this: the absolute path where it is one.
    pub target: Option<String>,
    /// Only results of this tool, imported ones.
    pub tool: Option<String>,
    /// Only with this status.
    pub status: Option<Status>,
    /// Only started at or after this RFC 3339 time or day (UTC, compared as text);
    /// imported results that do not say when they began are not among them.
    pub since: Option<String>,
    /// At most so many, those that were stored last.
    pub limit: Option<u32>,
}

/// A run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its id.
    pub id: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// How it ended.
    pub status: Status,
    /// The user's words.
    pub label: Option<String>,
    /// The series that it belongs to.
    pub series: Option<String>,
    /// Its part in the series.
    pub series_part: Option<String>,
    /// Name of the machine.
    pub host: String,
    /// The tool that made an imported result; `None` for what was measured here.
    pub tool: Option<String>,
    /// Its jobs, in order.
    pub jobs: Vec<JobSummary>,
    /// Number of warnings, of the run and of its jobs.
    pub warnings: u64,
}

/// Runs that could be read, and those that could not.
#[derive(Debug, Default)]
pub struct Listing {
    /// What was stored last first.
    pub runs: Vec<RunSummary>,
    /// Those that are damaged; whether they fit the filter is not known.
    pub unreadable: Vec<Unreadable>,
}

/// A run or document that is there and cannot be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Its id or name, or `number N` where that cannot be read either.
    pub run: String,
    /// Why.
    pub error: crate::Error,
}

/// A job in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct JobSummary {
    /// Unique in its run.
    pub name: String,
    /// By its absolute path where it has one; as the user named it in rows of before.
    pub target: String,
    /// Share of reads, 0 to 100.
    pub read_percent: u8,
    /// Share of discards, 0 to 100.
    pub discard_percent: u8,
    /// `random`, `sequential`, `stride`.
    pub pattern: String,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// In flight per thread.
    pub outstanding: u32,
    /// Measured time; 0 while the run is under way.
    pub duration_ns: u64,
    /// Reads, writes and discards that completed in it.
    pub operations: u64,
    /// Operations a second.
    pub iops: f64,
    /// Bytes a second in units of 1,048,576.
    pub mib_per_s: f64,
    /// 99 % of reads; `None` where there were none.
    pub read_latency_ns_p99: Option<u64>,
    /// 99 % of writes; `None` where there were none.
    pub write_latency_ns_p99: Option<u64>,
    /// 99 % of discards; `None` where there were none.
    pub discard_latency_ns_p99: Option<u64>,
    /// Failed operations.
    pub errors: u64,
}

/// A test file that Stripewise made and kept. The file is known by all four of
/// device, inode, birth time and id together; the path only helps people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeFile {
    /// The value of the file's extended attribute `user.stripewise.made`.
    pub id: String,
    /// `st_dev`.
    pub device: u64,
    /// `st_ino`.
    pub inode: u64,
    /// Birth time in nanoseconds since 1970; `None` where the file system has none.
    pub birth_ns: Option<i64>,
    /// Where it was made.
    pub path: String,
    /// Its size.
    pub size_bytes: u64,
    /// RFC 3339, UTC.
    pub made_at: String,
}
