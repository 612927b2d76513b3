//! Finishes the runs of processes that died.
//!
//! What is known of such a run is its skeleton and its intervals with their
//! latencies. Merged, those give true counts and percentiles; what is not known
//! (processor time, drain, the schedule of an open loop, latencies of commits) is named in the
//! record.

use crate::columns;
use crate::error::Result;
use crate::open::Store;
use crate::packed::merge;
use crate::rows::{finish, owner_at};
use crate::types::{StoredInterval, Unreadable};
use rusqlite::{Connection, TransactionBehavior, params};
use stripewise_results::{
    Errors, Interval, JobOutcome, JobRecord, KindParts, OutcomeParts, RunRecord, Status,
};

impl Store {
    /// Finishes runs that are in progress according to the file but whose process is certainly
    /// gone. Returns their ids, and the damaged ones, which stay unchanged. Runs of other hosts or
    /// containers are left alone.
    pub(crate) fn recover(&mut self) -> Result<(Vec<String>, Vec<Unreadable>)> {
        const DOING: &str = "recover a run that was cut short";
        // There are almost never any: check without requesting write access.
        let orphans = orphans(&self.connection, &self.owner)
            .map_err(|error| self.sqlite_error(DOING, error))?;
        let (mut recovered, mut damaged) = (Vec::new(), Vec::new());
        for (run_number, id) in orphans {
            match self.recover_one(run_number) {
                Ok(true) => recovered.push(id),
                // Another process was faster.
                Ok(false) => {}
                Err(error) if columns::is_damage(&error) => {
                    let error = self.damaged_run(DOING, &id, error);
                    damaged.push(Unreadable { run: id, error });
                }
                Err(error) => return Err(self.sqlite_error(DOING, error)),
            }
        }
        Ok((recovered, damaged))
    }

    fn recover_one(&mut self, run_number: i64) -> rusqlite::Result<bool> {
        let transaction = self
            .connection
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        if !still_running(&transaction, run_number)? {
            return Ok(false);
        }
        let record = rebuild(&transaction, run_number)?;
        finish(&transaction, run_number, &record)?;
        transaction.commit()?;
        Ok(true)
    }
}

fn orphans(connection: &Connection, here: &crate::Owner) -> rusqlite::Result<Vec<(i64, String)>> {
    let mut statement = connection.prepare(
        "SELECT run_number, id, owner_pid, owner_process_start, owner_boot_id, \
         owner_pid_namespace, owner_host FROM runs WHERE status = 'running'",
    )?;
    let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?, owner_at(row, 2)?)))?;
    let mut orphans = Vec::new();
    for row in rows {
        let (run_number, id, owner) = row?;
        if here.sees_gone(&owner) {
            orphans.push((run_number, id));
        }
    }
    Ok(orphans)
}

fn still_running(connection: &Connection, run_number: i64) -> rusqlite::Result<bool> {
    connection.query_row(
        "SELECT count(*) FROM runs WHERE run_number = ?1 AND status = 'running'",
        [run_number],
        |row| row.get(0),
    )
}

fn rebuild(connection: &Connection, run_number: i64) -> rusqlite::Result<RunRecord> {
    let json: String = connection.query_row(
        "SELECT json FROM records WHERE run_number = ?1",
        [run_number],
        |row| row.get(0),
    )?;
    let mut record: RunRecord = serde_json::from_str(&json)
        .map_err(|error| columns::damaged(0, format!("record of run {run_number}: {error}")))?;
    let mut recovered_count = 0;
    for (job_index, job) in record.jobs.iter_mut().enumerate() {
        let mut statement = connection.prepare_cached(columns::INTERVALS_OF_JOB)?;
        let intervals = statement
            .query_map(
                params![run_number, job_index.cast_signed()],
                columns::interval_at,
            )?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        recovered_count += intervals.len();
        job.outcome = outcome_of(job, intervals);
    }
    let shares_bytes = |job: &JobRecord| {
        let outcome = &job.outcome;
        !has_one_size(job) && outcome.read.operations > 0 && outcome.write.operations > 0
    };
    let share = match record.jobs.iter().any(shares_bytes) {
        true => "; the bytes of reads and of writes are shares by their operations",
        false => "",
    };
    record.status = Status::Partial;
    let because = because(&record.jobs, recovered_count);
    record.partial_because = Some(format!("{because}{share}"));
    Ok(record)
}

/// Why a rebuilt record is partial, and what it lacks.
fn because(jobs: &[JobRecord], intervals: usize) -> String {
    if intervals == 0 {
        return "its process ended before the first interval was stored".to_owned();
    }
    // The sum of a write's latency and its sync's is in neither of their histograms.
    let lacking = match jobs.iter().any(|job| job.workload.has_commits()) {
        true => "processor time, drain, arrivals and latencies of commits",
        false => "processor time, drain and arrivals",
    };
    format!(
        "its process ended before the run did; rebuilt from the intervals stored until then, \
         without {lacking}"
    )
}

/// The outcome as far as intervals tell it. Where all operations have the job's block size,
/// the bytes of a kind follow from its operations: only whole ones count. Otherwise intervals
/// know the bytes of reads and writes together, and each kind gets a share by its operations.
fn outcome_of(job: &JobRecord, stored: Vec<StoredInterval>) -> JobOutcome {
    let (Some(first), Some(last)) = (stored.first(), stored.last()) else {
        return JobOutcome::default();
    };
    let duration_ns = (last.interval.start_ns + last.interval.duration_ns)
        .saturating_sub(first.interval.start_ns);
    let mut parts = OutcomeParts {
        duration_ns,
        ..OutcomeParts::default()
    };
    let [mut read, mut write, mut sync, mut discard] = [None, None, None, None];
    let mut discards = 0;
    let mut intervals: Vec<Interval> = Vec::with_capacity(stored.len());
    let mut errors_total = 0;
    let mut bytes = 0_u64;
    for StoredInterval {
        interval,
        histograms,
    } in stored
    {
        parts.read.operations += interval.read_operations;
        parts.write.operations += interval.write_operations;
        discards += interval.discard_operations;
        errors_total += interval.errors;
        bytes = bytes.saturating_add(interval.bytes);
        merge(&mut read, histograms.read);
        merge(&mut write, histograms.write);
        merge(&mut sync, histograms.sync);
        merge(&mut discard, histograms.discard);
        intervals.push(interval);
    }
    parts.errors = Errors {
        total: errors_total,
        ..Errors::default()
    };
    // Counted from issue only in a closed loop; latencies from due times hold
    // time before issue, and what was in flight is not known.
    if !job.workload.has_due_times() {
        let sum = |histogram: &Option<stripewise_stats::Histogram>| {
            histogram
                .as_ref()
                .map_or(0, stripewise_stats::Histogram::sum)
        };
        parts.in_flight_ns_sum = sum(&read) + sum(&write) + sum(&discard);
    }
    parts.read.histogram = read.unwrap_or_default();
    parts.write.histogram = write.unwrap_or_default();
    let block_bytes = job.workload.block_size_bytes;
    if has_one_size(job) {
        parts.read.bytes = parts.read.operations * block_bytes;
        parts.write.bytes = parts.write.operations * block_bytes;
    } else {
        let (reads, writes) = (parts.read.operations, parts.write.operations);
        parts.read.bytes = share(bytes, reads, reads + writes);
        parts.write.bytes = bytes - parts.read.bytes;
    }
    parts.sync = sync.map(|histogram| KindParts {
        operations: histogram.count(),
        bytes: 0,
        histogram,
    });
    parts.discard = (discards > 0).then(|| KindParts {
        operations: discards,
        bytes: discards * job.workload.block_bytes_mean(),
        histogram: discard.unwrap_or_default(),
    });
    parts.intervals = intervals;
    JobOutcome::from_parts(parts)
}

/// Whether all operations of a job have its block size.
fn has_one_size(job: &JobRecord) -> bool {
    job.workload.block_sizes.is_empty() && job.workload.recorded.is_none()
}

/// The share of `bytes` that `part` of `all` operations have.
fn share(bytes: u64, part: u64, all: u64) -> u64 {
    let share = u128::from(bytes) * u128::from(part) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_workload::{SyncCall, SyncPolicy, Workload};

    #[test]
    fn a_rebuilt_run_says_that_its_commits_are_not_known() {
        let job = |every, outstanding| JobRecord {
            name: "log".to_owned(),
            workload: Workload {
                outstanding,
                sync: Some(SyncPolicy {
                    every,
                    call: SyncCall::default(),
                }),
                read_percent: 0,
                ..Workload::default()
            },
            ..JobRecord::default()
        };
        for (every, outstanding) in [(1, 1), (1, 2), (2, 1)] {
            let mut log = job(every, outstanding);
            let reason = because(std::slice::from_ref(&log), 3);
            assert!(
                reason.ends_with(" arrivals and latencies of commits"),
                "{reason}"
            );
            log.workload.sync = None;
            assert!(because(&[log], 3).ends_with(" drain and arrivals"));
        }
    }
}
