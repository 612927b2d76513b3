//! Input and output of the store, besides records.

use stripewise_results::{Interval, Status};
use stripewise_stats::Histogram;

/// The latencies of one interval of one job, in nanoseconds. An empty histogram is equivalent to
/// `None`.
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

/// Stored latencies: `None` if there were no operations.
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

/// One stored interval of one job.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredInterval {
    /// Its numbers.
    pub interval: Interval,
    /// Its latencies.
    pub histograms: StoredHistograms,
}

/// Which runs to list. The default lists all of them, most recently stored first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only if the label contains this.
    pub label: Option<String>,
    /// Only runs of this series.
    pub series: Option<String>,
    /// Only with a job on a target whose name contains this: the absolute path, if it is one.
    pub target: Option<String>,
    /// Only imported results of this tool.
    pub tool: Option<String>,
    /// Only with this status.
    pub status: Option<Status>,
    /// Only started at or after this RFC 3339 time or day (UTC, compared as text); excludes
    /// imported results without a start time.
    pub since: Option<String>,
    /// At most this many, the most recently stored.
    pub limit: Option<u32>,
}

impl Filter {
    /// All runs of this series.
    pub fn of_series(series: &str) -> Filter {
        Filter {
            series: Some(series.to_owned()),
            ..Filter::default()
        }
    }
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
    /// The user's label.
    pub label: Option<String>,
    /// The series that it belongs to.
    pub series: Option<String>,
    /// Its part in the series.
    pub series_part: Option<String>,
    /// Name of the machine.
    pub host: String,
    /// The tool that made an imported result; `None` for runs measured here.
    pub tool: Option<String>,
    /// Its jobs, in order.
    pub jobs: Vec<JobSummary>,
    /// Number of warnings, of the run and of its jobs.
    pub warnings: u64,
}

/// Readable and unreadable runs.
#[derive(Debug, Default)]
pub struct Listing {
    /// Most recently stored first.
    pub runs: Vec<RunSummary>,
    /// Damaged runs; whether they match the filter is unknown.
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
    /// Unique within its run.
    pub name: String,
    /// Its absolute path if it has one; as the user named it in older rows.
    pub target: String,
    /// Percentage of reads, 0 to 100.
    pub read_percent: u8,
    /// Percentage of discards, 0 to 100.
    pub discard_percent: u8,
    /// `random`, `sequential`, `stride`.
    pub pattern: String,
    /// Bytes of one operation.
    pub block_size_bytes: u64,
    /// Threads.
    pub threads: u32,
    /// In flight per thread.
    pub outstanding: u32,
    /// Measured time; 0 during the run.
    pub duration_ns: u64,
    /// Reads, writes and discards that completed in it.
    pub operations: u64,
    /// Operations per second.
    pub iops: f64,
    /// Bytes per second in units of 1,048,576.
    pub mib_per_s: f64,
    /// 99 % of reads; `None` if there were none.
    pub read_latency_ns_p99: Option<u64>,
    /// 99 % of writes; `None` if there were none.
    pub write_latency_ns_p99: Option<u64>,
    /// 99 % of discards; `None` if there were none.
    pub discard_latency_ns_p99: Option<u64>,
    /// Failed operations.
    pub errors: u64,
}

/// A kept test file that Stripewise made. It is identified by device, inode, birth time and id
/// together; the path is only informational.
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
