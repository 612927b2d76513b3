//! Writing runs: begin, intervals as they come, finish; and deleting.
//!
//! Intervals are collected and written to SQLite about once a second, in one small transaction that
//! does not flush and does not wait for other processes: the caller drives a measurement and must
//! not stall.

use crate::columns::number_of;
use crate::error::{Error, ErrorKind, Result};
use crate::open::{Store, prepare};
use crate::owner::Owner;
use crate::pending::{ID_TRIES, PendingInterval, RunHandle, insert_interval};
use crate::rows::{copy_run, finish, insert_run, insert_whole, insert_without_sums, owner_at};
use crate::schema;
use crate::types::IntervalHistograms;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use std::path::Path;
use std::time::Duration;
use stripewise_results::{Interval, RunRecord, Status};

use Decision::{Commit, RollBack};

/// Write intervals when they span this much time.
const BATCH_NS: u64 = 1_000_000_000;
/// ... or when there are this many.
const BATCH_ROWS: usize = 256;
/// While nothing can be written, at most this many wait; beyond that they are merged.
const BACKLOG_ROWS: usize = 16_384;

const IS_THERE: &str = "SELECT 1 FROM runs WHERE id = ?1";

/// Unused pages left for later runs: 1 MiB.
const UNUSED_PAGES_MIN: i64 = 256;

/// Collects records for a store, see [`Store::save_each`].
pub struct Saving<'a> {
    gathered: &'a Transaction<'a>,
    /// `None`: there is none yet.
    store: Option<&'a Store>,
    owner: &'a Owner,
    failure: Option<rusqlite::Error>,
}

impl Saving<'_> {
    /// Adds a record, and returns whether its id is new: an existing one stays unchanged. After a
    /// failure nothing more is accepted.
    pub fn save(&mut self, record: &RunRecord) -> bool {
        if self.failure.is_some() {
            return false;
        }
        self.gather(record).unwrap_or_else(|error| {
            self.failure = Some(error);
            false
        })
    }

    /// Removes a record that was just added: its file turned out to be incomplete.
    pub fn take_back(&mut self, id: &str) {
        if self.failure.is_some() {
            return;
        }
        let delete = self
            .gathered
            .prepare_cached("DELETE FROM runs WHERE id = ?1");
        let deleted = delete.and_then(|mut delete| delete.execute([id]));
        self.failure = deleted.err();
    }

    fn gather(&self, record: &RunRecord) -> rusqlite::Result<bool> {
        if let Some(store) = self.store {
            let mut there = store.connection.prepare_cached(IS_THERE)?;
            if there.exists([&record.id])? {
                return Ok(false);
            }
        }
        Ok(insert_without_sums(self.gathered, record, self.owner)?.is_some())
    }
}

/// As [`Store::save_each`] into a new store, which `open` makes once `give` has succeeded.
pub fn save_each_in_new<T, E>(
    owner: &Owner,
    open: impl FnOnce() -> std::result::Result<Store, E>,
    give: impl FnOnce(&mut Saving<'_>) -> std::result::Result<T, E>,
) -> Result<std::result::Result<T, E>> {
    let mut gathered = temporary()?;
    let gathered = gathered.transaction().map_err(of_temporary)?;
    let given = gather(&gathered, None, owner, give)?;
    match given.and_then(|given| Ok((given, open()?))) {
        Ok((given, mut store)) => store.keep(&gathered).map(|()| Ok(given)),
        Err(error) => Ok(Err(error)),
    }
}

/// A database that SQLite deletes on close.
fn temporary() -> Result<Connection> {
    // SQLite puts an unnamed database in a place for temporary files.
    let mut gathered = Connection::open("").map_err(of_temporary)?;
    // It ends with this process: no flush or rollback is needed.
    prepare(&gathered, Duration::ZERO).map_err(of_temporary)?;
    gathered
        .pragma_update_and_check(None, "journal_mode", "OFF", |_| Ok(()))
        .and_then(|()| gathered.pragma_update(None, "synchronous", "OFF"))
        .map_err(of_temporary)?;
    schema::migrate(&mut gathered, Path::new(TEMPORARY))?;
    Ok(gathered)
}

const TEMPORARY: &str = "a temporary database (in SQLITE_TMPDIR, TMPDIR or /var/tmp)";

fn of_temporary(error: rusqlite::Error) -> Error {
    Error::from_sqlite(Path::new(TEMPORARY), "gather runs", error)
}

/// Gathers what `give` passes on.
fn gather<T, E>(
    gathered: &Transaction<'_>,
    store: Option<&Store>,
    owner: &Owner,
    give: impl FnOnce(&mut Saving<'_>) -> std::result::Result<T, E>,
) -> Result<std::result::Result<T, E>> {
    let mut saving = Saving {
        gathered,
        store,
        owner,
        failure: None,
    };
    let given = give(&mut saving);
    match saving.failure {
        Some(failure) => Err(of_temporary(failure)),
        None => Ok(given),
    }
}

impl Store {
    /// Inserts a run that is about to start; `skeleton` is its record as far as known: jobs with
    /// targets and workloads, outcomes empty. Its status is stored as running whatever the skeleton
    /// says. Flushes.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`] if the id is taken; otherwise as [`Store::open`].
    pub fn begin_run(&mut self, skeleton: &RunRecord) -> Result<RunHandle> {
        self.begin_run_of_several(skeleton, None)
    }

    /// As [`Store::begin_run`]; `left_after_ns` is the upper bound of the time remaining after it,
    /// if known, shown to watchers.
    pub fn begin_run_of_several(
        &mut self,
        skeleton: &RunRecord,
        left_after_ns: Option<u64>,
    ) -> Result<RunHandle> {
        const DOING: &str = "begin a run";
        let mut skeleton = skeleton.clone();
        skeleton.status = Status::Running;
        let run_number = self.write(DOING, |transaction, owner| {
            let inserted = insert_run(transaction, &skeleton, owner)?;
            let Some(run_number) = inserted else {
                return Ok(RollBack(None));
            };
            if let Some(left_ns) = left_after_ns {
                transaction.execute(
                    "UPDATE runs SET left_after_ns = ?2 WHERE run_number = ?1",
                    params![run_number, i64::try_from(left_ns).unwrap_or(i64::MAX)],
                )?;
            }
            Ok(Commit(inserted))
        })?;
        let Some(run_number) = run_number else {
            let text = format!("there is a run {} already", skeleton.id);
            return Err(self.error(DOING, ErrorKind::Misuse(text)));
        };
        Ok(RunHandle {
            run_number,
            id: skeleton.id,
            next_interval: vec![0; skeleton.jobs.len()],
            pending: Vec::new(),
            next_try_ns: 0,
            joined: 0,
        })
    }

    /// Adds the next interval of a job. Usually only buffered; once per second of the run it is
    /// written with the others, without flushing. If another process is writing, that is postponed
    /// rather than waited for. After an error the interval stays buffered: measuring may continue,
    /// and [`Store::finish_run`] does not need the intervals.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`] for a job that the run does not have; otherwise the failure of the
    /// store.
    pub fn append_interval(
        &mut self,
        run: &mut RunHandle,
        job_index: usize,
        interval: &Interval,
        histograms: IntervalHistograms<'_>,
    ) -> Result<()> {
        if run.next_interval.len() <= job_index {
            let text = format!("run {} has no job {job_index}", run.id);
            return Err(self.error("add an interval", ErrorKind::Misuse(text)));
        }
        let pending = PendingInterval::new(job_index, interval, histograms);
        self.append_pending(run, vec![pending])
    }

    /// As [`Store::append_interval`], for several intervals of existing jobs.
    pub(crate) fn append_pending(
        &mut self,
        run: &mut RunHandle,
        intervals: Vec<PendingInterval>,
    ) -> Result<()> {
        for mut pending in intervals {
            let Some(next) = run.next_interval.get_mut(pending.job_index) else {
                continue;
            };
            pending.interval_index = *next;
            *next += 1;
            // Only a store that has failed for a long time has this many waiting.
            if run.pending.len() >= BACKLOG_ROWS && crate::writer::join_shortest(&mut run.pending) {
                run.joined += 1;
            }
            run.pending.push(pending);
        }
        let (Some(first), Some(last)) = (run.pending.first(), run.pending.last()) else {
            return Ok(());
        };
        let end_ns = last
            .interval
            .start_ns
            .saturating_add(last.interval.duration_ns);
        let due = end_ns >= first.interval.start_ns.saturating_add(BATCH_NS);
        if !due && run.pending.len() < BATCH_ROWS || end_ns < run.next_try_ns {
            return Ok(());
        }
        match self.hand_over(run, Duration::ZERO) {
            Err(error) if matches!(error.kind(), ErrorKind::Locked { .. }) => Ok(()),
            done => done,
        }
    }

    /// Writes all intervals now, waiting for other processes if necessary. Call it when measuring
    /// ends, before waiting for operations in flight: a device that hangs then costs nothing of the
    /// measurement.
    ///
    /// # Errors
    /// The failure of the store; the intervals stay buffered.
    pub fn flush(&mut self, run: &mut RunHandle) -> Result<()> {
        self.hand_over(run, self.patience)
    }

    /// Stores the final record with its histograms (those inside the outcomes), merges intervals
    /// down to 4,096 per job, and flushes. The record's status must not be running. On an error the
    /// run stays as it was: keep the record and inform the user. The last second's intervals may be
    /// missing if only they could not be stored: the record matters more, and has them too.
    ///
    /// # Errors
    /// [`ErrorKind::Misuse`] if the record is not that of the handle's run; otherwise the failure
    /// of the store.
    pub fn finish_run(&mut self, mut run: RunHandle, record: &RunRecord) -> Result<()> {
        const DOING: &str = "finish a run";
        if record.id != run.id || record.status == Status::Running {
            let text = format!("record {} does not finish run {}", record.id, run.id);
            return Err(self.error(DOING, ErrorKind::Misuse(text)));
        }
        let flushed = self.flush(&mut run);
        drop(flushed);
        self.write(DOING, |transaction, _| {
            finish(transaction, run.run_number, record).map(Commit)
        })?;
        self.give_back_many_pages();
        self.move_log();
        Ok(())
    }

    /// Stores a complete record that was made elsewhere or earlier (an import).
    pub fn save_run(&mut self, record: &RunRecord) -> Result<()> {
        const DOING: &str = "save a run";
        let saved = self.write(DOING, |transaction, owner| {
            insert_whole(transaction, record, owner).map(Commit)
        })?;
        if saved {
            return Ok(());
        }
        let text = format!("there is a run {} already", record.id);
        Err(self.error(DOING, ErrorKind::Misuse(text)))
    }

    /// As [`Store::save_run`] for a new run: if another run has its id, the record gets one from
    /// `new_id` instead of being lost.
    ///
    /// # Errors
    /// The failure of the store: the record is not stored.
    pub fn save_new_run(
        &mut self,
        record: &mut RunRecord,
        mut new_id: impl FnMut() -> String,
    ) -> Result<()> {
        for _ in 0..ID_TRIES {
            match self.save_run(record) {
                Err(error) if matches!(error.kind(), ErrorKind::Misuse(_)) => record.id = new_id(),
                done => return done,
            }
        }
        self.save_run(record)
    }

    /// Whether no run, series or document has this id.
    pub fn is_free(&self, id: &str) -> Result<bool> {
        self.connection
            .query_row(
                "SELECT NOT EXISTS (SELECT 1 FROM runs WHERE id = ?1 OR series = ?1) \
                    AND NOT EXISTS (SELECT 1 FROM series WHERE id = ?1) \
                    AND NOT EXISTS (SELECT 1 FROM documents WHERE name = ?1)",
                [id],
                |row| row.get(0),
            )
            .map_err(|error| self.sqlite_error("look for an id", error))
    }

    /// Stores the complete records that `give` passes on: if it fails, none is stored. They are
    /// collected in a temporary database, so that others can write until all are there. Returns the
    /// result of `give`.
    ///
    /// # Errors
    /// The failure of the store or of the temporary database; nothing is stored then.
    pub fn save_each<T, E>(
        &mut self,
        give: impl FnOnce(&mut Saving<'_>) -> std::result::Result<T, E>,
    ) -> Result<std::result::Result<T, E>> {
        let mut gathered = temporary()?;
        let gathered = gathered.transaction().map_err(of_temporary)?;
        let given = gather(&gathered, Some(&*self), &self.owner, give)?;
        if given.is_ok() {
            self.keep(&gathered)?;
        }
        Ok(given)
    }

    fn keep(&mut self, gathered: &Transaction<'_>) -> Result<()> {
        self.write("save runs", |transaction, _| {
            let mut numbers = gathered.prepare("SELECT run_number FROM runs ORDER BY 1")?;
            for number in numbers.query_map((), |row| row.get(0))? {
                copy_run(gathered, transaction, number?)?;
            }
            Ok(Commit(()))
        })
    }

    /// Deletes runs by their full ids, all or none, and frees the space.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an unknown id; [`ErrorKind::Misuse`] for a run that another
    /// process is writing.
    pub fn delete(&mut self, ids: &[String]) -> Result<()> {
        const DOING: &str = "delete runs";
        let numbers: Vec<Option<i64>> = (ids.iter())
            .map(|id| number_of(id).filter(|number| self.has_lost_its_id(*number)))
            .collect();
        let refused = self.write(DOING, |transaction, here| {
            for (id, number) in ids.iter().zip(numbers) {
                let found = transaction
                    .query_row(
                        "SELECT run_number, status = 'running', owner_pid, owner_process_start, \
                         owner_boot_id, owner_pid_namespace, owner_host FROM runs \
                         WHERE id = ?1 OR run_number = ?2",
                        params![id, number],
                        |row| {
                            Ok((
                                row.get::<_, i64>(0)?,
                                row.get::<_, bool>(1)?,
                                owner_at(row, 2)?,
                            ))
                        },
                    )
                    .optional()?;
                match found {
                    None => {
                        return Ok(RollBack(Some(ErrorKind::NotFound { name: id.clone() })));
                    }
                    Some((_, true, owner)) if here.sees_alive(&owner) => {
                        let text = format!("run {id} is under way in process {}", owner.pid);
                        return Ok(RollBack(Some(ErrorKind::Misuse(text))));
                    }
                    Some((run_number, ..)) => {
                        transaction
                            .execute("DELETE FROM runs WHERE run_number = ?1", [run_number])?;
                    }
                }
            }
            // A summary is meaningless without its runs.
            transaction.execute(
                "DELETE FROM series WHERE id NOT IN \
                 (SELECT series FROM runs WHERE series IS NOT NULL)",
                (),
            )?;
            Ok(Commit(None))
        })?;
        if let Some(kind) = refused {
            return Err(self.error(DOING, kind));
        }
        let shrunk = self.give_back_pages();
        shrunk.map_err(|error| self.sqlite_error(DOING, error))?;
        self.move_log();
        Ok(())
    }

    /// Returns unused pages to the file system.
    fn give_back_pages(&self) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare("PRAGMA incremental_vacuum")?;
        let mut rows = statement.query(())?;
        // Each step frees one page.
        while rows.next()?.is_some() {}
        Ok(())
    }

    /// The same if that makes the file much smaller: merging the intervals of a long run leaves
    /// nine pages of ten unused. The run is stored whether or not it succeeds.
    fn give_back_many_pages(&self) {
        let number = |name: &str| -> rusqlite::Result<i64> {
            self.connection
                .pragma_query_value(None, name, |row| row.get(0))
        };
        if let (Ok(unused), Ok(all)) = (number("freelist_count"), number("page_count"))
            && unused > UNUSED_PAGES_MIN
            && unused > all / 4
        {
            self.give_back_pages().ok();
        }
    }

    /// Runs `body` in one transaction. On return its commit is on the disk, in the file with the
    /// store's name.
    pub(crate) fn write<T>(
        &mut self,
        doing: &'static str,
        body: impl FnOnce(&Transaction<'_>, &Owner) -> rusqlite::Result<Decision<T>>,
    ) -> Result<T> {
        let done = durable(&mut self.connection, |connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            match body(&transaction, &self.owner)? {
                Commit(value) => transaction.commit().map(|()| value),
                RollBack(value) => Ok(value),
            }
        });
        let value = done.map_err(|error| self.sqlite_error(doing, error))?;
        self.check_in_place(doing)?;
        Ok(value)
    }

    fn hand_over(&mut self, run: &mut RunHandle, patience: Duration) -> Result<()> {
        const DOING: &str = "add intervals";
        if run.pending.is_empty() {
            return Ok(());
        }
        let done = (|| {
            self.connection.busy_timeout(patience)?;
            let transaction = self
                .connection
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for pending in &run.pending {
                insert_interval(&transaction, run.run_number, pending)?;
            }
            transaction.commit()
        })();
        let restored = self.connection.busy_timeout(self.patience);
        if let Err(error) = done.and(restored) {
            let error = self.sqlite_error(DOING, error);
            // A write that failed on a full disk is retried with everything that waits, so
            // progressively less often: after an eighth of the time already waited, at most a
            // minute.
            if !matches!(error.kind(), ErrorKind::Locked { .. }) {
                run.next_try_ns = next_try_ns(&run.pending);
            }
            return Err(error);
        }
        run.pending.clear();
        run.next_try_ns = 0;
        Ok(())
    }

    /// Checkpoints the log while no measurement is running. Best effort: the rest is done later.
    fn move_log(&self) {
        let moved = self
            .connection
            .query_row("PRAGMA wal_checkpoint(PASSIVE)", (), |_| Ok(()));
        drop(moved);
    }
}

/// When waiting intervals are retried: a time of the run.
fn next_try_ns(pending: &[PendingInterval]) -> u64 {
    const LONGEST_NS: u64 = 60_000_000_000;
    let (Some(first), Some(last)) = (pending.first(), pending.last()) else {
        return 0;
    };
    let end_ns = (last.interval.start_ns).saturating_add(last.interval.duration_ns);
    let waiting_ns = end_ns.saturating_sub(first.interval.start_ns);
    end_ns.saturating_add((waiting_ns / 8).clamp(BATCH_NS, LONGEST_NS))
}

/// What to do with a transaction, and the result of its body.
pub(crate) enum Decision<T> {
    /// Keep what it wrote.
    Commit(T),
    /// Undo all of it.
    RollBack(T),
}

/// Flushes commits inside `body` to the disk, even with a write-ahead log.
fn durable<T>(
    connection: &mut Connection,
    body: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let before: i64 = connection.query_row("PRAGMA synchronous", (), |row| row.get(0))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    let done = body(connection);
    connection.pragma_update(None, "synchronous", before)?;
    done
}
