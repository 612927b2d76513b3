//! Read-only view of runs in progress, and their intervals as far as stored.

use crate::columns::{INTERVAL_COLUMNS, interval_at};
use crate::error::Result;
use crate::open::Store;
use crate::owner::Owner;
use crate::packed;
use crate::rows::owner_at;
use crate::types::{Filter, RunSummary, StoredInterval};
use rusqlite::{OptionalExtension, params};
use stripewise_results::Status;

/// An unfinished run.
#[derive(Clone, Debug, PartialEq)]
pub struct UnfinishedRun {
    /// Its list entry.
    pub run: RunSummary,
    /// Whether the process that writes it is alive; `None` if that cannot be determined: on another
    /// host, or in another container.
    pub is_alive: Option<bool>,
}

/// As `INTERVALS_OF_JOB`, plus the index, newest first.
const INTERVALS_FROM: &str = "SELECT start_ns, duration_ns, read_operations, \
     write_operations, bytes, latency_ns_mean, latency_ns_p99, latency_ns_p99_is_bound, \
     latency_ns_max, errors, read_latency_ns_v2, write_latency_ns_v2, sync_latency_ns_v2, \
     discard_operations, discard_latency_ns_v2, interval_index FROM intervals JOIN runs USING (run_number) \
     WHERE runs.id = ?1 AND job_index = ?2 AND interval_index >= ?3 \
     ORDER BY interval_index DESC LIMIT ?4";

const NUMBER_OF_FINISHED: &str =
    "SELECT run_number FROM runs WHERE id = ?1 AND status <> 'running'";

const LEFT_AFTER: &str = "SELECT left_after_ns FROM runs WHERE id = ?1";

const BOOTS: &str = "SELECT id, owner_boot_id FROM runs ORDER BY run_number";

const OWNER: &str = "SELECT owner_pid, owner_process_start, owner_boot_id, \
     owner_pid_namespace, owner_host FROM runs WHERE id = ?1";

const OWNER_OF_NEWEST: &str = "SELECT owner_pid, owner_process_start, owner_boot_id, \
     owner_pid_namespace, owner_host FROM runs WHERE series = ?1 ORDER BY run_number DESC LIMIT 1";

impl Store {
    /// Unfinished runs, most recently begun first. Includes runs whose process is gone until the
    /// store is next opened for writing.
    pub fn unfinished_runs(&self) -> Result<Vec<UnfinishedRun>> {
        let filter = Filter {
            status: Some(Status::Running),
            ..Filter::default()
        };
        self.at_one_moment("list the runs", |moment| {
            let runs = self.listing_at(moment, &filter)?.runs;
            let each = runs.into_iter().map(|run| {
                let is_alive = self.is_alive(&run.id)?;
                Ok(UnfinishedRun { run, is_alive })
            });
            each.collect()
        })
    }

    /// The ids of all runs, each with the id of the boot in which it was stored.
    pub fn boots(&self) -> Result<Vec<(String, String)>> {
        let read = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut statement = self.connection.prepare_cached(BOOTS)?;
            let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        read().map_err(|error| self.sqlite_error("read the boots of runs", error))
    }

    /// Whether the process that wrote a run is alive; `None` if that cannot be determined. Between
    /// two runs of a series its process continues.
    ///
    /// # Errors
    /// The failure of the store, including when there is no such run.
    pub fn is_alive(&self, id: &str) -> Result<Option<bool>> {
        let owner = self
            .connection
            .query_row(OWNER, [id], |row| owner_at(row, 0))
            .map_err(|error| self.sqlite_error("find who writes a run", error))?;
        let here = Owner::of_this_process("");
        Ok(match (here.sees_alive(&owner), here.sees_gone(&owner)) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        })
    }

    /// Whether another process is measuring this series: the one that wrote its newest run is
    /// alive. Between two runs, none is in progress.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn is_measured_elsewhere(&self, series: &str) -> Result<bool> {
        let owner = self
            .connection
            .query_row(OWNER_OF_NEWEST, [series], |row| owner_at(row, 0))
            .optional()
            .map_err(|error| self.sqlite_error("find who writes a series", error))?;
        let here = Owner::of_this_process("");
        Ok(owner.is_some_and(|owner| here.sees_alive_elsewhere(&owner)))
    }

    /// Upper bound of the time remaining after a run when it began, in nanoseconds: that of the
    /// series' other runs. `None` if unknown.
    ///
    /// # Errors
    /// The failure of the store, including when there is no such run.
    pub fn left_after_ns(&self, id: &str) -> Result<Option<u64>> {
        let left: Option<i64> = self
            .connection
            .query_row(LEFT_AFTER, [id], |row| row.get(0))
            .map_err(|error| self.sqlite_error("find what follows a run", error))?;
        Ok(left.map(i64::cast_unsigned))
    }

    /// The last intervals of a job, at most `most`, from index `first`, in order, each with its
    /// index.
    ///
    /// # Errors
    /// The failure of the store. A run or job that does not exist has no intervals.
    pub fn intervals_from(
        &self,
        id: &str,
        job_index: usize,
        first: u64,
        most: u32,
    ) -> Result<Vec<(u64, StoredInterval)>> {
        let read = || -> rusqlite::Result<Vec<(u64, StoredInterval)>> {
            let mut statement = self.connection.prepare_cached(INTERVALS_FROM)?;
            let first = i64::try_from(first).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![id, job_index.cast_signed(), first, most])?;
            let mut all = Vec::new();
            while let Some(row) = rows.next()? {
                let index: i64 = row.get(INTERVAL_COLUMNS.all())?;
                all.push((index.cast_unsigned(), interval_at(row)?));
            }
            all.reverse();
            if all.is_empty() {
                return self.last_packed(id, job_index, first, most);
            }
            Ok(all)
        };
        read().map_err(|error| self.sqlite_error("read intervals", error))
    }

    /// The same for a run that has just finished, for watchers.
    fn last_packed(
        &self,
        id: &str,
        job_index: usize,
        first: i64,
        most: u32,
    ) -> rusqlite::Result<Vec<(u64, StoredInterval)>> {
        let moment = self.connection.unchecked_transaction()?;
        let Some(run_number) = moment
            .query_row(NUMBER_OF_FINISHED, [id], |row| row.get(0))
            .optional()?
        else {
            return Ok(Vec::new());
        };
        let Some((_, numbers)) = packed::numbers(&moment, run_number, job_index)? else {
            return Ok(Vec::new());
        };
        let first = usize::try_from(first).unwrap_or(usize::MAX);
        let skipped = first.max(numbers.len().saturating_sub(most as usize));
        if skipped >= numbers.len() {
            return Ok(Vec::new());
        }
        let all = packed::with_latencies(&moment, run_number, job_index, numbers)?;
        Ok((0_u64..).zip(all).skip(skipped).collect())
    }
}
