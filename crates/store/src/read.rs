//! Reading: lists, records, histograms, intervals.

use crate::blob;
use crate::error::{Error, ErrorKind, Result};
use crate::open::Store;
use crate::types::{Filter, JobSummary, RunSummary, StoredHistograms, StoredInterval};
use rusqlite::types::{FromSqlError, Type};
use rusqlite::{OptionalExtension, Row, named_params, params};
use stripewise_results::{Interval, RunRecord, Status};

/// Columns in the order of [`interval_at`].
pub(crate) const INTERVALS_OF_JOB: &str = "SELECT start_ns, duration_ns, read_operations, \
     write_operations, bytes, latency_ns_mean, latency_ns_p99, latency_ns_p99_is_bound, \
     latency_ns_max, errors, read_latency_ns_v2, write_latency_ns_v2, sync_latency_ns_v2 \
     FROM intervals WHERE run_number = ?1 AND job_index = ?2 ORDER BY interval_index";

/// One statement for all filters: absent ones are NULL and let everything pass.
/// The order is that of storing, backwards: an import of something old was still
/// added last, and one without a date has its place too. Nothing is sorted.
const LIST: &str = "\
SELECT run_number, id, started_at, status, label, series, series_part, host, warnings, tool \
FROM runs \
WHERE (:label IS NULL OR label = :label) AND (:series IS NULL OR series = :series) \
  AND (:status IS NULL OR status = :status) AND (:since IS NULL OR started_at >= :since) \
  AND (:target IS NULL OR EXISTS (SELECT 1 FROM jobs \
       WHERE jobs.run_number = runs.run_number AND instr(jobs.target, :target) > 0)) \
  AND (:tool IS NULL OR tool = :tool) \
ORDER BY run_number DESC LIMIT :limit";

const JOBS_OF_RUN: &str = "\
SELECT name, target, read_percent, pattern, block_size_bytes, threads, outstanding, \
       duration_ns, operations, iops, mib_per_s, read_latency_ns_p99, write_latency_ns_p99, errors \
FROM jobs WHERE run_number = ?1 ORDER BY job_index";

impl Store {
    /// Runs with their jobs, what was stored last first.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        self.try_list(filter)
            .map_err(|error| self.sqlite_error("list the runs", error))
    }

    fn try_list(&self, filter: &Filter) -> rusqlite::Result<Vec<RunSummary>> {
        let mut statement = self.connection.prepare_cached(LIST)?;
        let mut jobs_of_run = self.connection.prepare_cached(JOBS_OF_RUN)?;
        let mut rows = statement.query(named_params! {
            ":label": filter.label,
            ":series": filter.series,
            ":status": filter.status.map(status_text),
            ":since": filter.since,
            ":target": filter.target,
            ":tool": filter.tool,
            ":limit": filter.limit.map_or(-1, i64::from),
        })?;
        let mut runs: Vec<RunSummary> = Vec::new();
        while let Some(row) = rows.next()? {
            let mut run = run_at(row)?;
            let jobs = jobs_of_run.query_map([row.get::<_, i64>(0)?], job_at)?;
            run.jobs = jobs.collect::<rusqlite::Result<_>>()?;
            runs.push(run);
        }
        Ok(runs)
    }

    /// The id that a name means: a whole id, the beginning of exactly one, or
    /// `last` (the newest that was measured here and is not under way), `last~1`
    /// (the one before it) and so on. Imported results have ids only.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::Ambiguous`], or the failure of the store.
    pub fn resolve(&self, name: &str) -> Result<String> {
        Ok(self.find(name)?.1)
    }

    /// The record of a run, its histograms inside the outcomes. `name` as in
    /// [`Store::resolve`]. Printed, it is byte for byte what the run printed.
    ///
    /// # Errors
    /// As [`Store::resolve`]; [`ErrorKind::Damaged`] when what is stored cannot be read.
    pub fn load(&self, name: &str) -> Result<RunRecord> {
        const DOING: &str = "read a run";
        let (run_number, id) = self.find(name)?;
        let json: String = self
            .connection
            .query_row(
                "SELECT json FROM records WHERE run_number = ?1",
                [run_number],
                |row| row.get(0),
            )
            .map_err(|error| self.sqlite_error(DOING, error))?;
        let mut record: RunRecord = serde_json::from_str(&json).map_err(|error| {
            let detail = format!("record of run {id}: {error}");
            self.error(DOING, ErrorKind::Damaged { detail })
        })?;
        let histograms = self.histograms_of(run_number, record.jobs.len())?;
        for (job, stored) in record.jobs.iter_mut().zip(histograms) {
            job.outcome.read.histogram = stored.read;
            job.outcome.write.histogram = stored.write;
            if let Some(sync) = &mut job.outcome.sync {
                sync.histogram = stored.sync;
            }
        }
        Ok(record)
    }

    /// All latencies of a run, an entry per job.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_histograms(&self, name: &str) -> Result<Vec<StoredHistograms>> {
        const DOING: &str = "read histograms";
        let (run_number, _) = self.find(name)?;
        let jobs: i64 = self
            .connection
            .query_row(
                "SELECT count(*) FROM jobs WHERE run_number = ?1",
                [run_number],
                |row| row.get(0),
            )
            .map_err(|error| self.sqlite_error(DOING, error))?;
        self.histograms_of(run_number, usize::try_from(jobs).unwrap_or(0))
    }

    /// The intervals of one job in order, with their latencies.
    ///
    /// # Errors
    /// As [`Store::load`]. A job that does not exist has no intervals.
    pub fn load_intervals(&self, name: &str, job_index: usize) -> Result<Vec<StoredInterval>> {
        let (run_number, _) = self.find(name)?;
        self.intervals_of(run_number, job_index)
            .map_err(|error| self.sqlite_error("read intervals", error))
    }

    pub(crate) fn intervals_of(
        &self,
        run_number: i64,
        job_index: usize,
    ) -> rusqlite::Result<Vec<StoredInterval>> {
        let mut statement = self.connection.prepare_cached(INTERVALS_OF_JOB)?;
        let rows =
            statement.query_map(params![run_number, job_index.cast_signed()], interval_at)?;
        rows.collect()
    }

    fn histograms_of(&self, run_number: i64, jobs: usize) -> Result<Vec<StoredHistograms>> {
        let read = || -> rusqlite::Result<Vec<StoredHistograms>> {
            let mut all = vec![StoredHistograms::default(); jobs];
            let mut statement = self.connection.prepare_cached(
                "SELECT job_index, kind, latency_ns_v2 FROM histograms WHERE run_number = ?1",
            )?;
            let mut rows = statement.query([run_number])?;
            while let Some(row) = rows.next()? {
                let job_index = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
                let Some(job) = all.get_mut(job_index) else {
                    return Err(damaged(
                        0,
                        format!("latencies of job {job_index} of {jobs}"),
                    ));
                };
                let histogram = histogram_at(row, 2)?;
                match row.get_ref(1)?.as_str()? {
                    "read" => job.read = histogram,
                    "write" => job.write = histogram,
                    _ => job.sync = histogram,
                }
            }
            Ok(all)
        };
        read().map_err(|error| self.sqlite_error("read histograms", error))
    }

    fn find(&self, name: &str) -> Result<(i64, String)> {
        let found = match name
            .strip_prefix("last")
            .map(|rest| (rest, rest.strip_prefix('~')))
        {
            Some(("", _)) => self.find_newest(0),
            Some((_, Some(digits))) => match digits.parse() {
                Ok(before) => self.find_newest(before),
                Err(_) => Ok(None),
            },
            _ => return self.find_by_prefix(name),
        };
        found
            .map_err(|error| self.sqlite_error("find a run", error))?
            .ok_or_else(|| self.not_found(name))
    }

    fn find_newest(&self, before: u32) -> rusqlite::Result<Option<(i64, String)>> {
        self.connection
            .query_row(
                "SELECT run_number, id FROM runs WHERE status <> 'running' \
                 AND tool IS NULL ORDER BY run_number DESC LIMIT 1 OFFSET ?1",
                [before],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()
    }

    fn find_by_prefix(&self, name: &str) -> Result<(i64, String)> {
        const SHOWN: usize = 5;
        let query = || -> rusqlite::Result<Vec<(i64, String)>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT run_number, id FROM runs \
                 WHERE id >= ?1 AND id <= ?2 AND substr(id, 1, length(?1)) = ?1 \
                 ORDER BY id LIMIT ?3",
            )?;
            // Bounds on both sides, so that the index alone finds it among many.
            let last = format!("{name}{}", char::MAX);
            let rows = statement.query_map(params![name, last, SHOWN.cast_signed()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        };
        let mut found = query().map_err(|error| self.sqlite_error("find a run", error))?;
        // A whole id may be the beginning of another; it sorts first.
        let whole = found.first().is_some_and(|(_, id)| id == name);
        if name.is_empty() || found.is_empty() {
            return Err(self.not_found(name));
        }
        if found.len() > 1 && !whole {
            let matches = found.into_iter().map(|(_, id)| id).collect();
            let name = name.to_owned();
            return Err(self.error("find a run", ErrorKind::Ambiguous { name, matches }));
        }
        Ok(found.swap_remove(0))
    }

    fn not_found(&self, name: &str) -> Error {
        let name = name.to_owned();
        self.error("find a run", ErrorKind::NotFound { name })
    }
}

pub(crate) fn status_text(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Complete => "complete",
        Status::Partial => "partial",
    }
}

/// An error that stands for "what is stored makes no sense".
pub(crate) fn damaged(column: usize, text: String) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Blob, text.into())
}

fn status_at(row: &Row<'_>, column: usize) -> rusqlite::Result<Status> {
    match row.get_ref(column)?.as_str()? {
        "running" => Ok(Status::Running),
        "complete" => Ok(Status::Complete),
        "partial" => Ok(Status::Partial),
        _ => Err(FromSqlError::InvalidType.into()),
    }
}

fn run_at(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
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

fn job_at(row: &Row<'_>) -> rusqlite::Result<JobSummary> {
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
        },
    })
}

fn histogram_at(
    row: &Row<'_>,
    column: usize,
) -> rusqlite::Result<Option<stripewise_stats::Histogram>> {
    let blob = row.get_ref(column)?.as_blob_or_null()?;
    blob::decode(blob).map_err(|text| damaged(column, text))
}

/// Counters above the range of SQL's integers wrap on the way in and back again
/// on the way out.
fn unsigned_at(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}
