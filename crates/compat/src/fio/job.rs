//! The parts of a fio document that records are made from, independent of its output format.

use serde_json::Value;
use std::collections::BTreeMap;

/// Names and values of options, as strings.
pub(super) type OptionTexts = BTreeMap<String, String>;

/// Output of one fio invocation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Document {
    /// `fio-3.33`.
    pub(super) version: Option<String>,
    /// Seconds since 1970.
    pub(super) timestamp: Option<u64>,
    /// Milliseconds since 1970.
    pub(super) timestamp_ms: Option<u64>,
    pub(super) time: Option<String>,
    pub(super) global_options: Option<OptionTexts>,
    pub(super) jobs: Option<Vec<Job>>,
    /// From fio's client mode.
    pub(super) client_stats: Option<Vec<Job>>,
    pub(super) disk_util: Option<Value>,
}

/// A job of the document.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Job {
    pub(super) name: Option<String>,
    pub(super) host: Option<String>,
    pub(super) port: Option<u64>,
    pub(super) group: Option<u64>,
    pub(super) error: Option<i64>,
    pub(super) total_err: Option<u64>,
    /// Milliseconds since 1970.
    pub(super) start_ms: Option<u64>,
    /// Seconds.
    pub(super) elapsed: Option<u64>,
    pub(super) options: Option<OptionTexts>,
    /// The options are those of the header in fio's normal output.
    pub(super) of_header: bool,
    pub(super) read: Option<Box<Side>>,
    pub(super) write: Option<Box<Side>>,
    pub(super) trim: Option<Box<Side>>,
    /// It neither read nor wrote, and its form does not print trims: whether it trimmed is unknown.
    pub(super) may_trim: bool,
    /// Sum of reads and writes (`unified_rw_reporting`).
    pub(super) mixed: Option<Box<Side>>,
    pub(super) sync: Option<Box<Side>>,
}

impl Job {
    /// Reads and writes, where present.
    pub(super) fn sides(&self) -> impl Iterator<Item = (&'static str, &Side)> {
        let each = [("read", &self.read), ("write", &self.write)];
        each.into_iter()
            .filter_map(|(name, side)| Some((name, side.as_deref()?)))
    }

    /// The empty job that fio prints behind a group of which only some jobs have
    /// `group_reporting`: it has the group -1, and did nothing.
    pub(super) fn is_filler(&self) -> bool {
        self.group == Some(u64::from(u32::MAX)) && self.did_nothing()
    }

    /// It neither read nor wrote.
    pub(super) fn did_nothing(&self) -> bool {
        self.sides().all(|(_, side)| side.io_bytes == Some(0))
    }

    /// It is known to have trimmed.
    pub(super) fn trims(&self) -> bool {
        let trim = self.trim.as_deref();
        trim.is_some_and(|trim| trim.total_ios > Some(0))
    }

    /// The longer runtime of its directions, milliseconds.
    pub(super) fn longest_ms(&self) -> Option<u64> {
        self.sides().filter_map(|(_, side)| side.runtime_ms).max()
    }
}

/// One direction of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Side {
    pub(super) io_bytes: Option<u64>,
    pub(super) io_kbytes: Option<u64>,
    pub(super) total_ios: Option<u64>,
    pub(super) iops: Option<f64>,
    /// KiB per second.
    pub(super) bw: Option<f64>,
    pub(super) bw_bytes: Option<f64>,
    pub(super) runtime_ms: Option<u64>,
    /// Completion latency in nanoseconds; in version 2, microseconds.
    pub(super) clat_ns: Option<Latencies>,
    pub(super) lat_ns: Option<Latencies>,
    pub(super) clat: Option<Latencies>,
    pub(super) lat: Option<Latencies>,
    /// Its bytes are only known to the printed precision.
    pub(super) is_rounded: bool,
}

/// Latencies in one unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Latencies {
    pub(super) min: Option<f64>,
    pub(super) max: Option<f64>,
    pub(super) mean: Option<f64>,
    /// Number of samples.
    pub(super) count: Option<u64>,
    /// At [`PERCENTS`].
    pub(super) percentiles: Option<[Option<f64>; PERCENTS.len()]>,
    /// Value of the last printed digit, if not 1.
    pub(super) step: Option<f64>,
}

/// Percentiles that a record has.
pub(super) const PERCENTS: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];

/// Index of a percentile in [`PERCENTS`].
pub(super) fn percent_at(percent: f64) -> Option<usize> {
    PERCENTS
        .iter()
        .position(|known| (known - percent).abs() < 1e-6)
}
