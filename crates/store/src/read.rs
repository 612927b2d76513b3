//! Reading: lists, records, histograms, intervals.

use crate::checksum::{self, Sum};
use crate::columns::{
    Columns, HAS_INTERVALS, INTERVAL_COLUMNS, INTERVALS_OF_JOB, JOB_COLUMNS, JOBS_OF_RUN,
    LATENCIES_OF_RUN, LATENCY_COLUMNS, RECORD_OF_RUN, RUN, RUN_COLUMNS, damaged, histogram_at,
    interval_at, is_damage, job_at, number_of, run_at,
};
use crate::error::{Error, ErrorKind, Result};
use crate::last::steps_back;
use crate::open::Store;
use crate::packed;
use crate::types::{Filter, Listing, RunSummary, StoredHistograms, StoredInterval, Unreadable};
use rusqlite::{OptionalExtension, Row, Transaction, params};
use stripewise_results::{Interval, RequestedJob, RunRecord};

/// One condition for all filters: absent ones are NULL and match everything.
const FILTERED: &str = "\
WHERE (:label IS NULL OR instr(label, :label) > 0) AND (:series IS NULL OR series = :series) \
  AND (:status IS NULL OR status = :status) AND (:since IS NULL OR started_at >= :since) \
  AND (:target IS NULL OR EXISTS (SELECT 1 FROM jobs \
       WHERE jobs.run_number = runs.run_number AND instr(jobs.target, :target) > 0)) \
  AND (:tool IS NULL OR tool = :tool) ";

/// Reverse order of storing: an imported old result was still added last, and one without a date
/// has a place too. No sorting is needed.
const NEWEST_FIRST: &str = "ORDER BY run_number DESC LIMIT :limit";

const LISTING: &str = "list the runs";

const READING: &str = "read a run";

/// For one run; the limit is for [`Store::rows`].
const ONLY: &str = "AND run_number = :number LIMIT :limit";

impl Store {
    /// Runs `body` in one transaction, so that it reads a consistent state: another process may
    /// finish or delete a run between two statements.
    pub(crate) fn at_one_moment<T>(
        &self,
        doing: &'static str,
        body: impl FnOnce(&Transaction<'_>) -> Result<T>,
    ) -> Result<T> {
        let moment = self.connection.unchecked_transaction();
        body(&moment.map_err(|error| self.sqlite_error(doing, error))?)
    }

    /// Runs with their jobs, most recently stored first.
    ///
    /// # Errors
    /// The failure of the store; [`ErrorKind::Damaged`] if one of these runs cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>> {
        let listing = self.list_readable(filter)?;
        match listing.unreadable.into_iter().next() {
            Some(unreadable) => Err(unreadable.error),
            None => Ok(listing.runs),
        }
    }

    /// As [`Store::list`], but damaged runs are omitted and named, so that they do not block the
    /// others.
    ///
    /// # Errors
    /// The failure of the store, if not even the runs' ids can be read.
    pub fn list_readable(&self, filter: &Filter) -> Result<Listing> {
        self.at_one_moment(LISTING, |moment| self.listing_at(moment, filter))
    }

    pub(crate) fn listing_at(&self, moment: &Transaction<'_>, filter: &Filter) -> Result<Listing> {
        let mut listing = Listing::default();
        let sqlite = |error| self.sqlite_error(LISTING, error);
        match self.rows(moment, filter, None, &mut listing) {
            Err(error) if is_damage(&error) => {}
            done => return done.map(|()| listing).map_err(sqlite),
        }
        // A page of the table itself: looks up each run separately.
        listing = Listing::default();
        for (number, id) in self.numbers().map_err(sqlite)? {
            if let Err(error) = self.rows(moment, filter, Some(number), &mut listing) {
                let run = id.unwrap_or_else(|| unnamed(number));
                let error = self.damaged_run(LISTING, &run, error);
                listing.unreadable.push(Unreadable { run, error });
            }
        }
        let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
        listing.runs.truncate(limit);
        Ok(listing)
    }

    /// Adds the rows of one run or of all; the error is that of finding them.
    fn rows(
        &self,
        moment: &Transaction<'_>,
        filter: &Filter,
        number: Option<i64>,
        listing: &mut Listing,
    ) -> rusqlite::Result<()> {
        let which = if number.is_some() { ONLY } else { NEWEST_FIRST };
        let query = format!("{RUN}{FILTERED}{which}");
        let mut statement = moment.prepare_cached(&query)?;
        if let Some(number) = number {
            statement.raw_bind_parameter(":number", number)?;
        }
        for (name, value) in [
            (":label", filter.label.as_deref()),
            (":series", filter.series.as_deref()),
            (":status", filter.status.map(|status| status.name())),
            (":since", filter.since.as_deref()),
            (":target", filter.target.as_deref()),
            (":tool", filter.tool.as_deref()),
        ] {
            statement.raw_bind_parameter(name, value)?;
        }
        statement.raw_bind_parameter(":limit", filter.limit.map_or(-1, i64::from))?;
        let mut rows = statement.raw_query();
        while let Some(row) = rows.next()? {
            match summary_at(moment, row) {
                Ok(run) => listing.runs.push(run),
                Err(error) if is_damage(&error) => {
                    let number: i64 = row.get(0)?;
                    let run = row.get(1).unwrap_or_else(|_| unnamed(number));
                    let error = self.damaged_run(LISTING, &run, error);
                    listing.unreadable.push(Unreadable { run, error });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Numbers of all runs, newest first, and their ids: from the index of ids, which may be intact
    /// when the table is not; otherwise all numbers ever assigned.
    fn numbers(&self) -> rusqlite::Result<Vec<(i64, Option<String>)>> {
        let by_id = || -> rusqlite::Result<Vec<(i64, Option<String>)>> {
            let mut statement = self.connection.prepare(
                "SELECT run_number, id FROM runs INDEXED BY sqlite_autoindex_runs_1 ORDER BY id",
            )?;
            let rows = statement.query_map((), |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        };
        let mut numbers = match by_id() {
            Err(error) if is_damage(&error) => {
                let last: i64 = self.connection.query_row(
                    "SELECT seq FROM sqlite_sequence WHERE name = 'runs'",
                    (),
                    |row| row.get(0),
                )?;
                // Implausibly large numbers are themselves bit flips.
                if !(0..=NUMBERS_MAX).contains(&last) {
                    return Err(error);
                }
                (1..=last).map(|number| (number, None)).collect()
            }
            found => found?,
        };
        numbers.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
        Ok(numbers)
    }

    /// Whether the record of this run is durable: finished, and in the file with the store's name.
    /// `false` also if that cannot be read.
    pub fn keeps(&self, id: &str) -> bool {
        let finished = self.connection.query_row(
            "SELECT count(*) FROM runs WHERE id = ?1 AND status <> 'running'",
            [id],
            |row| row.get::<_, i64>(0),
        );
        self.check_in_place("find a run").is_ok() && finished.is_ok_and(|count| count == 1)
    }

    /// Resolves a run name: a full id, a unique prefix, or `last-run` (the newest that was measured
    /// here and is not in progress), `last-run~1` (the one before it) and so on. Imported results
    /// have only ids. For `last`, which may be several runs, see [`Store::full_name`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::Ambiguous`], or the failure of the store.
    pub fn resolve(&self, name: &str) -> Result<String> {
        Ok(self.find(name)?.1)
    }

    /// The record of a run, with its histograms inside the outcomes. `name` as in
    /// [`Store::resolve`]. Printed, it is byte for byte what the run printed.
    ///
    /// # Errors
    /// As [`Store::resolve`]; [`ErrorKind::Damaged`] if the stored data cannot be read.
    pub fn load(&self, name: &str) -> Result<RunRecord> {
        self.read_run(READING, name, record_of)
    }

    /// The record as [`RunRecord::to_json`] prints it. What this version of the program has stored
    /// is copied.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_json(&self, name: &str, version: &str) -> Result<String> {
        self.read_run(READING, name, |moment, run_number| {
            json_of(moment, run_number, version)
        })
    }

    /// As [`Store::load`] without histograms, and without the intervals that are stored apart: they
    /// are not read, and whether they are intact is not checked.
    ///
    /// # Errors
    /// As [`Store::load`].
    pub fn load_brief(&self, name: &str) -> Result<RunRecord> {
        self.read_run(READING, name, |moment, run_number| {
            record_as(moment, run_number, RunRecord::from_json)
        })
    }

    /// The jobs of a run as requested, without results: read without most of the record. `name` as
    /// in [`Store::resolve`].
    pub fn load_requested(&self, name: &str) -> Result<Vec<RequestedJob>> {
        self.read_run(READING, name, requested_of)
    }

    /// Whether the request of a run names requirements, or a bench that it is held to: found
    /// without reading its record, and `false` where that cannot be read.
    pub fn has_requirements(&self, id: &str) -> bool {
        const NAMED: &str = "SELECT instr(json, '\"requirements\":[\"') \
             + instr(json, '\"expected_bench\":\"') FROM records JOIN runs USING (run_number) WHERE id = ?1";
        let mut place = self.connection.prepare_cached(NAMED).ok();
        let place = place
            .as_mut()
            .map(|statement| statement.query_row([id], |row| row.get(0)));
        place.is_some_and(|place: rusqlite::Result<i64>| place.is_ok_and(|place| place > 0))
    }

    /// The intervals of one job in order, with their latencies.
    ///
    /// # Errors
    /// As [`Store::load`]. A nonexistent job has no intervals.
    pub fn load_intervals(&self, name: &str, job_index: usize) -> Result<Vec<StoredInterval>> {
        self.read_run("read intervals", name, |moment, run_number| {
            intervals_of(moment, run_number, job_index)
        })
    }

    /// Reads a part of the run of this name, which is named in the failure if it is damaged.
    fn read_run<T>(
        &self,
        doing: &'static str,
        name: &str,
        read: impl FnOnce(&Transaction<'_>, i64) -> rusqlite::Result<T>,
    ) -> Result<T> {
        self.at_one_moment(doing, |moment| {
            let (run_number, id) = self.find(name)?;
            read(moment, run_number).map_err(|error| self.damaged_run(doing, &id, error))
        })
    }

    /// The failure to read a run, with its name if it is damaged.
    pub(crate) fn damaged_run(
        &self,
        doing: &'static str,
        run: &str,
        error: rusqlite::Error,
    ) -> Error {
        self.sqlite_error(doing, error).of_run(run)
    }

    pub(crate) fn find(&self, name: &str) -> Result<(i64, String)> {
        match steps_back(name, "last-run") {
            Some(before) => self
                .find_newest(before)
                .map_err(|error| self.sqlite_error("find a run", error))?
                .ok_or_else(|| self.not_found(name)),
            None => match number_of(name) {
                Some(number) if self.has_lost_its_id(number) => Ok((number, name.to_owned())),
                _ => self.find_by_prefix(name),
            },
        }
    }

    /// Whether this run exists but its id cannot be read; otherwise the id is its only name.
    pub(crate) fn has_lost_its_id(&self, run_number: i64) -> bool {
        let id = self.connection.query_row(
            "SELECT id FROM runs NOT INDEXED WHERE run_number = ?1",
            [run_number],
            |row| row.get::<_, String>(0),
        );
        !matches!(id, Ok(_) | Err(rusqlite::Error::QueryReturnedNoRows))
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
        let query = |how: &str| -> rusqlite::Result<Vec<(i64, String)>> {
            let mut statement = self.connection.prepare_cached(&format!(
                "SELECT run_number, id FROM runs {how} \
                 WHERE id >= ?1 AND id <= ?2 AND substr(id, 1, length(?1)) = ?1 \
                 ORDER BY id LIMIT ?3",
            ))?;
            // Bounds on both sides, so that the index alone finds it.
            let last = format!("{name}{}", char::MAX);
            let rows = statement.query_map(params![name, last, SHOWN.cast_signed()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        };
        let sqlite = |error| self.sqlite_error("find a run", error);
        let mut found = query("").map_err(sqlite)?;
        if found.is_empty() && !name.is_empty() {
            // A list shows ids of the table; in a damaged file the index may have others, and a run
            // reported as damaged must be found by that name. What the table has lost, it does not
            // match.
            found = query("NOT INDEXED").unwrap_or_default();
        }
        // A full id may be a prefix of another; it sorts first.
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

    pub(crate) fn not_found(&self, name: &str) -> Error {
        let name = name.to_owned();
        self.error("find a run", ErrorKind::NotFound { name })
    }
}

fn summary_at(moment: &Transaction<'_>, row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let mut run = run_at(row)?;
    let mut sum = Sum::default();
    sum.add(row, RUN_COLUMNS)?;
    let run_number: i64 = row.get(0)?;
    let mut statement = moment.prepare_cached(JOBS_OF_RUN)?;
    let mut jobs = statement.query([run_number])?;
    while let Some(job) = jobs.next()? {
        sum.add(job, JOB_COLUMNS)?;
        run.jobs.push(job_at(job)?);
    }
    checksum::check(moment, run_number, checksum::SUMMARY, sum)?;
    Ok(run)
}

pub(crate) fn record_of(moment: &Transaction<'_>, run_number: i64) -> rusqlite::Result<RunRecord> {
    let mut record = record_as(moment, run_number, RunRecord::from_json)?;
    let histograms = histograms_of(moment, run_number, record.jobs.len())?;
    for (job_index, (job, stored)) in record.jobs.iter_mut().zip(histograms).enumerate() {
        if job.outcome.intervals.is_empty() {
            job.outcome.intervals = left_out_of(moment, run_number, job_index)?;
        }
        job.outcome.read.histogram = stored.read;
        job.outcome.write.histogram = stored.write;
        if let Some(sync) = &mut job.outcome.sync {
            sync.histogram = stored.sync;
        }
        if let Some(discard) = &mut job.outcome.discard {
            discard.histogram = stored.discard;
        }
    }
    Ok(record)
}

/// The JSON of a whole record on one line.
fn json_of(moment: &Transaction<'_>, run_number: i64, version: &str) -> rusqlite::Result<String> {
    const LEFT_OUT: &str = "\"intervals\":[]";
    const JOBS: &str = "SELECT count(*) FROM jobs WHERE run_number = ?1";
    let jobs: i64 = moment
        .prepare_cached(JOBS)?
        .query_row([run_number], |row| row.get(0))?;
    let version = format!(",\"version\":\"{version}\",");
    // In a string these quotation marks would be escaped.
    let is_printed_alike = |json: &str| {
        json.contains(&version)
            && !json.contains("\"imported\":")
            && json.matches(LEFT_OUT).count().cast_signed() as i64 == jobs
    };
    // Only a sum shows without parsing it that it is whole.
    let has_sum = checksum::stored(moment, run_number, checksum::RECORD)?.is_some();
    let stored = record_as(moment, run_number, |json| {
        Ok((has_sum && is_printed_alike(json)).then(|| json.to_owned()))
    })?;
    let to_json = |json: serde_json::Result<String>| {
        json.map_err(|error| damaged(0, format!("its record: {error}")))
    };
    let Some(stored) = stored else {
        return to_json(record_of(moment, run_number)?.to_json());
    };
    // They are not printed, but a run that lost them is damaged.
    let mut sum = Sum::default();
    let run = [run_number];
    checksum::sum_of(moment, &mut sum, LATENCIES_OF_RUN, run, LATENCY_COLUMNS)?;
    checksum::check(moment, run_number, checksum::LATENCIES, sum)?;
    let mut parts = stored.split(LEFT_OUT);
    let mut json = parts.next().unwrap_or_default().to_owned();
    for (job_index, part) in parts.enumerate() {
        let intervals = left_out_of(moment, run_number, job_index)?;
        json.push_str("\"intervals\":");
        json.push_str(&to_json(serde_json::to_string(&intervals))?);
        json.push_str(part);
    }
    Ok(json)
}

/// The intervals that the JSON of a record omits: a record without any may have lost them, which
/// its checksum shows.
fn left_out_of(
    moment: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
) -> rusqlite::Result<Vec<Interval>> {
    match packed::numbers(moment, run_number, job_index)? {
        Some((true, intervals)) => Ok(intervals),
        Some((false, _)) => Ok(Vec::new()),
        None => {
            // Unfinished runs and those of earlier versions have rows.
            let of_job = params![run_number, job_index.cast_signed()];
            if !moment.prepare_cached(HAS_INTERVALS)?.exists(of_job)? {
                let part = checksum::intervals_part(job_index);
                checksum::check(moment, run_number, &part, Sum::default())?;
            }
            Ok(Vec::new())
        }
    }
}

fn requested_of(moment: &Transaction<'_>, run_number: i64) -> rusqlite::Result<Vec<RequestedJob>> {
    #[derive(serde::Deserialize)]
    struct RequestedJobs {
        jobs: Vec<RequestedJob>,
    }
    let parse = |json: &str| serde_json::from_str(json);
    let requested: RequestedJobs = record_as(moment, run_number, parse)?;
    Ok(requested.jobs)
}

/// The JSON of a record, parsed as far as `T` requires.
fn record_as<T>(
    moment: &Transaction<'_>,
    run_number: i64,
    parse: impl FnOnce(&str) -> serde_json::Result<T>,
) -> rusqlite::Result<T> {
    let mut statement = moment.prepare_cached(RECORD_OF_RUN)?;
    statement.query_row([run_number], |row| {
        let mut sum = Sum::default();
        sum.add(row, Columns::always(1))?;
        checksum::check(moment, run_number, checksum::RECORD, sum)?;
        let json = row.get_ref(0)?.as_str()?;
        parse(json).map_err(|error| damaged(0, format!("its record: {error}")))
    })
}

fn intervals_of(
    moment: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
) -> rusqlite::Result<Vec<StoredInterval>> {
    if let Some((_, intervals)) = packed::numbers(moment, run_number, job_index)? {
        return packed::with_latencies(moment, run_number, job_index, intervals);
    }
    let mut statement = moment.prepare_cached(INTERVALS_OF_JOB)?;
    let mut rows = statement.query(params![run_number, job_index.cast_signed()])?;
    let mut sum = Sum::default();
    let mut intervals = Vec::new();
    while let Some(row) = rows.next()? {
        sum.add(row, INTERVAL_COLUMNS)?;
        intervals.push(interval_at(row)?);
    }
    let part = checksum::intervals_part(job_index);
    checksum::check(moment, run_number, &part, sum)?;
    Ok(intervals)
}

fn histograms_of(
    moment: &Transaction<'_>,
    run_number: i64,
    jobs: usize,
) -> rusqlite::Result<Vec<StoredHistograms>> {
    let mut all = vec![StoredHistograms::default(); jobs];
    let mut statement = moment.prepare_cached(LATENCIES_OF_RUN)?;
    let mut rows = statement.query([run_number])?;
    let mut sum = Sum::default();
    while let Some(row) = rows.next()? {
        sum.add(row, LATENCY_COLUMNS)?;
        let job_index = usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX);
        let Some(job) = all.get_mut(job_index) else {
            let text = format!("latencies of job {job_index} of {jobs}");
            return Err(damaged(0, text));
        };
        let histogram = histogram_at(row, 2)?;
        match row.get_ref(1)?.as_str()? {
            "read" => job.read = histogram,
            "write" => job.write = histogram,
            "discard" => job.discard = histogram,
            _ => job.sync = histogram,
        }
    }
    checksum::check(moment, run_number, checksum::LATENCIES, sum)?;
    Ok(all)
}

/// The name of a run whose id cannot be read.
fn unnamed(number: i64) -> String {
    format!("number-{number}")
}

/// Most runs looked up one by one in a damaged file.
const NUMBERS_MAX: i64 = 1 << 24;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{RECORD_OF_RUN, ROW_OF_RUN};
    use crate::owner::Owner;
    use crate::types::IntervalHistograms;
    use rusqlite::StatementStatus;
    use stripewise_results::{JobRecord, Status};

    /// SQLite prepares a statement again if its plan may depend on the bound values, unless
    /// configured otherwise.
    #[test]
    fn what_is_executed_for_each_run_is_prepared_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut store = Store::open(&path, Owner::of_this_process("here")).unwrap();
        for number in 0..3 {
            let record = RunRecord {
                id: format!("run-{number}"),
                ..RunRecord::empty()
            };
            store.save_run(&record).unwrap();
        }
        let of_each_run = [
            ROW_OF_RUN,
            JOBS_OF_RUN,
            RECORD_OF_RUN,
            LATENCIES_OF_RUN,
            INTERVALS_OF_JOB,
            crate::checksum::STORED,
        ];
        for query in of_each_run {
            let mut statement = store.connection.prepare(query).unwrap();
            let parameters = statement.parameter_count();
            for run in 1..=3 {
                for parameter in 1..=parameters {
                    statement.raw_bind_parameter(parameter, run).unwrap();
                }
                let mut rows = statement.raw_query();
                while rows.next().unwrap().is_some() {}
            }
            let again = statement.get_status(StatementStatus::RePrepare);
            assert_eq!(again, 0, "{query}");
        }
    }

    #[test]
    fn json_that_is_copied_is_what_would_be_printed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut store = Store::open(&path, Owner::of_this_process("here")).unwrap();
        let intervals: Vec<Interval> = (0..3)
            .map(|second| Interval {
                start_ns: second * 1_000_000_000,
                duration_ns: 1_000_000_000,
                latency_ns_mean: 1.0 / 3.0,
                ..Interval::default()
            })
            .collect();
        let mut job = JobRecord::default();
        job.outcome.intervals = intervals.clone();
        let record = RunRecord {
            id: "measured".to_owned(),
            version: "1.2.3".to_owned(),
            command: vec!["\"intervals\":[]".to_owned()],
            jobs: vec![job.clone(), JobRecord::default(), job],
            ..RunRecord::empty()
        };
        let mut run = store.begin_run(&record).unwrap();
        for interval in &intervals {
            for job in [0, 2] {
                let histograms = IntervalHistograms::default();
                store
                    .append_interval(&mut run, job, interval, histograms)
                    .unwrap();
            }
        }
        store.finish_run(run, &record).unwrap();
        let printed = record.to_json().unwrap();
        for version in ["1.2.3", "1.2.4"] {
            assert_eq!(store.load_json("measured", version).unwrap(), printed);
        }
        // What has lost a bit is not copied.
        let changed = "UPDATE records SET json = replace(json, 'complete', 'completf')";
        store.connection.execute(changed, ()).unwrap();
        let damaged = store.load_json("measured", "1.2.3").unwrap_err();
        assert!(
            matches!(damaged.kind(), ErrorKind::DamagedRun { .. }),
            "{damaged}"
        );
    }

    /// Another process finishes one run and deletes another while this one reads them.
    #[test]
    fn what_is_read_of_a_run_is_of_one_moment() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let record = |id: &str| RunRecord {
            id: id.to_owned(),
            ..RunRecord::empty()
        };
        let mut writer = Store::open(&path, Owner::of_this_process("here")).unwrap();
        let run = writer.begin_run(&record("finished")).unwrap();
        writer.save_run(&record("deleted")).unwrap();
        let reader = Store::open_read_only(&path).unwrap();
        let read = |moment: &Transaction<'_>, id: &str| {
            let (run_number, _) = reader.find(id)?;
            record_of(moment, run_number).map_err(|error| reader.damaged_run("read", id, error))
        };
        let seen = reader.at_one_moment("read", |moment| {
            reader.find("finished")?;
            writer.finish_run(run, &record("finished"))?;
            writer.delete(&["deleted".to_owned()])?;
            Ok((read(moment, "finished")?, read(moment, "deleted")?))
        });
        let (unfinished, deleted) = seen.unwrap();
        assert_eq!(unfinished.status, Status::Running);
        assert_eq!(deleted.id, "deleted");
        assert_ne!(reader.load("finished").unwrap().status, Status::Running);
        let gone = reader.load("deleted").unwrap_err();
        assert!(matches!(gone.kind(), ErrorKind::NotFound { .. }), "{gone}");
    }
}
