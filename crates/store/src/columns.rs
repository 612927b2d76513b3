//! The queries whose columns are read in order, and their decoding.

use crate::blob;
use crate::types::{JobSummary, RunSummary, StoredHistograms, StoredInterval};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{ErrorCode, Row};
use stripewise_results::{Interval, Status};

/// Columns in the order of [`interval_at`].
pub(crate) const INTERVALS_OF_JOB: &str = "SELECT start_ns, duration_ns, read_operations, \
     write_operations, bytes, latency_ns_mean, latency_ns_p99, latency_ns_p99_is_bound, \
     latency_ns_max, errors, read_latency_ns_v2, write_latency_ns_v2, sync_latency_ns_v2, \
     discard_operations, discard_latency_ns_v2 \
     FROM intervals WHERE run_number = ?1 AND job_index = ?2 ORDER BY interval_index";

/// Whether a job has rows of intervals.
pub(crate) const HAS_INTERVALS: &str =
    "SELECT 1 FROM intervals WHERE run_number = ?1 AND job_index = ?2";

/// Number of values in a row, for its checksum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    /// Columns present since the first version.
    pub(crate) first: usize,
    /// Columns added by later versions, one group each: a group counts if a value of it or of a
    /// later one is neither 0 nor absent, so that the sums of earlier rows stay valid.
    pub(crate) later: &'static [usize],
}

impl Columns {
    /// Columns that all versions have.
    pub(crate) const fn always(first: usize) -> Columns {
        Columns { first, later: &[] }
    }

    /// Number of all columns.
    pub(crate) fn all(self) -> usize {
        self.first + self.later.iter().sum::<usize>()
    }
}

/// Values of a row of [`INTERVALS_OF_JOB`].
pub(crate) const INTERVAL_COLUMNS: Columns = Columns {
    first: 13,
    later: &[2],
};

/// Summed as the intervals of a job, if packed.
pub(crate) const PACKED_NUMBERS: &str = "SELECT are_of_record, numbers FROM packed_intervals \
     WHERE run_number = ?1 AND job_index = ?2";
/// Values of a row of [`PACKED_NUMBERS`].
pub(crate) const PACKED_NUMBERS_COLUMNS: Columns = Columns::always(2);

/// Summed as their latencies.
pub(crate) const PACKED_LATENCIES: &str = "SELECT latencies FROM packed_intervals \
     WHERE run_number = ?1 AND job_index = ?2";
/// Values of a row of [`PACKED_LATENCIES`].
pub(crate) const PACKED_LATENCIES_COLUMNS: Columns = Columns::always(1);

/// Columns of a run in a list, in the order of [`run_at`].
pub(crate) const RUN: &str = "SELECT run_number, id, started_at, status, label, series, series_part, host, \
     warnings, tool FROM runs ";

/// The same for one run.
pub(crate) const ROW_OF_RUN: &str = "SELECT run_number, id, started_at, status, label, series, \
     series_part, host, warnings, tool FROM runs WHERE run_number = ?1";

/// Values of a row of [`ROW_OF_RUN`].
pub(crate) const RUN_COLUMNS: Columns = Columns::always(10);

/// The last column is after the summed ones: the p99 of discards from the record, for rows of
/// version 5, which have none. Values missing from an imported result are not read.
pub(crate) const JOBS_OF_RUN: &str = "\
SELECT name, target, read_percent, pattern, block_size_bytes, threads, outstanding, \
       duration_ns, operations, iops, mib_per_s, read_latency_ns_p99, write_latency_ns_p99, errors, \
       discard_percent, discard_latency_ns_p99, \
       CASE WHEN discard_percent > 0 AND discard_latency_ns_p99 IS NULL THEN \
           (SELECT json_extract(json, '$.jobs[' || job_index || '].outcome.discard.latency_ns.p99') \
            FROM records JOIN runs USING (run_number) \
            WHERE run_number = jobs.run_number AND tool IS NULL AND json_valid(json)) \
       END \
FROM jobs WHERE run_number = ?1 ORDER BY job_index";

/// Values of a row of [`JOBS_OF_RUN`].
pub(crate) const JOB_COLUMNS: Columns = Columns {
    first: 14,
    later: &[1, 1],
};

pub(crate) const RECORD_OF_RUN: &str = "SELECT json FROM records WHERE run_number = ?1";

pub(crate) const LATENCIES_OF_RUN: &str = "SELECT job_index, kind, latency_ns_v2 FROM histograms \
     WHERE run_number = ?1 UNION ALL SELECT job_index, 'discard', latency_ns_v2 \
     FROM discard_histograms WHERE run_number = ?1 ORDER BY job_index, kind";

/// Values of a row of [`LATENCIES_OF_RUN`].
pub(crate) const LATENCY_COLUMNS: Columns = Columns::always(3);

/// The number of a run named `number-` and that number.
pub(crate) fn number_of(name: &str) -> Option<i64> {
    name.strip_prefix("number-")?.parse().ok()
}

/// The error for inconsistent stored data.
pub(crate) fn damaged(column: usize, text: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, text.into())
}

pub(crate) fn status_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Status> {
    let name = row.get_ref(column)?.as_str()?;
    Ok(Status::from_name(name).ok_or(FromSqlError::InvalidType)?)
}

pub(crate) fn run_at(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    Ok(RunSummary {
        id: row.get(1)?,
        started_at: row.get(2)?,
        status: status_at(row, 3)?,
        label: row.get(4)?,
        series: row.get(5)?,
        series_part: row.get(6)?,
        host: row.get(7)?,
        jobs: Vec::new(),
        warnings: unsigned_at(row, 8)?,
        tool: row.get(9)?,
    })
}

pub(crate) fn job_at(row: &Row<'_>) -> rusqlite::Result<JobSummary> {
    let discards: Option<i64> = match row.get(15)? {
        Some(ns) => Some(ns),
        None => row.get(16)?,
    };
    Ok(JobSummary {
        name: row.get(0)?,
        target: row.get(1)?,
        read_percent: row.get(2)?,
        pattern: row.get(3)?,
        block_size_bytes: unsigned_at(row, 4)?,
        threads: row.get(5)?,
        outstanding: row.get(6)?,
        duration_ns: unsigned_at(row, 7)?,
        operations: unsigned_at(row, 8)?,
        iops: row.get(9)?,
        mib_per_s: row.get(10)?,
        read_latency_ns_p99: row.get::<_, Option<i64>>(11)?.map(i64::cast_unsigned),
        write_latency_ns_p99: row.get::<_, Option<i64>>(12)?.map(i64::cast_unsigned),
        errors: unsigned_at(row, 13)?,
        discard_percent: row.get(14)?,
        discard_latency_ns_p99: discards.map(i64::cast_unsigned),
    })
}

/// A row of [`INTERVALS_OF_JOB`].
pub(crate) fn interval_at(row: &Row<'_>) -> rusqlite::Result<StoredInterval> {
    Ok(StoredInterval {
        interval: Interval {
            start_ns: unsigned_at(row, 0)?,
            duration_ns: unsigned_at(row, 1)?,
            read_operations: unsigned_at(row, 2)?,
            write_operations: unsigned_at(row, 3)?,
            discard_operations: unsigned_at(row, 13)?,
            bytes: unsigned_at(row, 4)?,
            latency_ns_mean: row.get(5)?,
            latency_ns_p99: row.get::<_, Option<i64>>(6)?.map(i64::cast_unsigned),
            latency_ns_p99_is_bound: row.get(7)?,
            latency_ns_max: unsigned_at(row, 8)?,
            errors: unsigned_at(row, 9)?,
        },
        histograms: StoredHistograms {
            read: histogram_at(row, 10)?,
            write: histogram_at(row, 11)?,
            sync: histogram_at(row, 12)?,
            discard: histogram_at(row, 14)?,
        },
    })
}

pub(crate) fn histogram_at(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<stripewise_stats::Histogram>> {
    let blob = row.get_ref(column)?.as_blob_or_null()?;
    blob::decode(blob).map_err(|text| damaged(column, text))
}

/// Whether the file itself is inconsistent, rather than the system failing.
pub(crate) fn is_damage(error: &rusqlite::Error) -> bool {
    match error.sqlite_error() {
        Some(error) => {
            error.code == ErrorCode::DatabaseCorrupt
                || error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ
        }
        None => true,
    }
}

/// Counters above the range of SQL's integers wrap on writing and unwrap on reading.
pub(crate) fn unsigned_at(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
