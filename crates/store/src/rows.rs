//! Rows of runs: which parts of a record go into which table.

use crate::blob;
use crate::checksum::Has;
use crate::columns::is_damage;
use crate::owner::Owner;
use crate::packed;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, Row, Transaction, params};
use std::borrow::Cow;
use stripewise_results::{Imported, JobRecord, KindOutcome, RunRecord};
use stripewise_stats::Histogram;

/// Inserts a run that is about to start; `None` if the id is taken.
pub(crate) fn insert_run(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    owner: &Owner,
) -> rusqlite::Result<Option<i64>> {
    let run_number = insert_row(transaction, record, owner)?;
    if let Some(run_number) = run_number {
        store_record(transaction, run_number, record)?;
    }
    Ok(run_number)
}

/// Looks for all rows that a run may have.
const EITHER: Has = Has {
    latencies: true,
    intervals: true,
};

/// Inserts a run made elsewhere, with its final record; `false` if the id is taken.
pub(crate) fn insert_whole(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    owner: &Owner,
) -> rusqlite::Result<bool> {
    let run_number = insert_without_sums(transaction, record, owner)?;
    if let Some(run_number) = run_number {
        crate::checksum::store(transaction, run_number, record.jobs.len(), EITHER)?;
    }
    Ok(run_number.is_some())
}

/// The same for [`copy_run`], which copies the sums.
pub(crate) fn insert_without_sums(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    owner: &Owner,
) -> rusqlite::Result<Option<i64>> {
    // No rows of intervals or histograms are there to be merged or replaced.
    let run_number = insert_run(transaction, record, owner)?;
    if let Some(run_number) = run_number {
        store_histograms(transaction, run_number, record)?;
    }
    Ok(run_number)
}

fn insert_row(
    transaction: &Transaction<'_>,
    record: &RunRecord,
    owner: &Owner,
) -> rusqlite::Result<Option<i64>> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO runs (id, started_at, status, label, series, series_part, host, warnings, \
         owner_pid, owner_process_start, owner_boot_id, owner_pid_namespace, owner_host, tool) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) \
         ON CONFLICT (id) DO NOTHING",
    )?;
    let inserted = insert.execute(params![
        record.id,
        record.started_at,
        record.status.name(),
        record.label,
        record.series,
        record.series_part,
        record.host.name,
        warnings(record),
        owner.pid,
        owner.process_start,
        owner.boot_id,
        owner.pid_namespace,
        owner.host,
        record.imported.as_ref().map(|imported| &imported.tool),
    ])?;
    Ok((inserted > 0).then(|| transaction.last_insert_rowid()))
}

/// Copies a completely stored run from a database of the same version; does nothing if its id is
/// taken.
pub(crate) fn copy_run(
    from: &Connection,
    to: &Transaction<'_>,
    run_number: i64,
) -> rusqlite::Result<()> {
    /// Tables whose rows begin with the run number, except `checksums`: one of the sums covers that
    /// number too.
    const OF_A_RUN: [&str; 5] = [
        "jobs",
        "records",
        "histograms",
        "discard_histograms",
        "packed_intervals",
    ];
    if copy_rows(from, to, "runs", run_number, Value::Null)? == 0 {
        return Ok(());
    }
    let number = to.last_insert_rowid();
    let mut copied = [0; OF_A_RUN.len()];
    for (table, copied) in OF_A_RUN.iter().zip(&mut copied) {
        *copied = copy_rows(from, to, table, run_number, Value::Integer(number))?;
    }
    let [jobs, _, histograms, discards, intervals] = copied;
    let has = Has {
        latencies: histograms + discards > 0,
        intervals: intervals > 0,
    };
    crate::checksum::store(to, number, jobs, has)
}

/// Copies a run's rows in a table under another run number; returns the number of rows added.
fn copy_rows(
    from: &Connection,
    to: &Transaction<'_>,
    table: &str,
    run_number: i64,
    number: Value,
) -> rusqlite::Result<usize> {
    let mut select =
        from.prepare_cached(&format!("SELECT * FROM {table} WHERE run_number = ?1"))?;
    let places = vec!["?"; select.column_count()].join(", ");
    let mut insert = to.prepare_cached(&format!(
        "INSERT INTO {table} VALUES ({places}) ON CONFLICT DO NOTHING"
    ))?;
    let mut rows = select.query([run_number])?;
    let mut copied = 0;
    while let Some(row) = rows.next()? {
        insert.raw_bind_parameter(1, &number)?;
        for column in 1..row.as_ref().column_count() {
            insert.raw_bind_parameter(column + 1, ToSqlOutput::Borrowed(row.get_ref(column)?))?;
        }
        copied += insert.raw_execute()?;
    }
    Ok(copied)
}

/// Everything about a run with its final record. Also used by recovery.
pub(crate) fn finish(
    transaction: &Transaction<'_>,
    run_number: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    transaction.execute(
        "UPDATE runs SET started_at = ?2, status = ?3, label = ?4, series = ?5, \
         series_part = ?6, host = ?7, warnings = ?8 WHERE run_number = ?1",
        params![
            run_number,
            record.started_at,
            record.status.name(),
            record.label,
            record.series,
            record.series_part,
            record.host.name,
            warnings(record),
        ],
    )?;
    store_final(transaction, run_number, record)?;
    crate::checksum::store(transaction, run_number, record.jobs.len(), EITHER)
}

/// Updates the row of a run with its final record.
fn store_final(
    transaction: &Transaction<'_>,
    run_number: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let mut stored = Cow::Borrowed(record);
    for (job_index, job) in record.jobs.iter().enumerate() {
        let intervals = &job.outcome.intervals;
        match packed::pack(transaction, run_number, job_index, intervals) {
            Ok(true) => stored.to_mut().jobs[job_index].outcome.intervals.clear(),
            Ok(false) => {}
            // Unreadable rows stay as they are: the record has its own. Some errors end the
            // transaction, and with it what follows.
            Err(error) if is_damage(&error) && !transaction.is_autocommit() => {}
            Err(error) => return Err(error),
        }
    }
    store_record(transaction, run_number, &stored)?;
    for delete in [
        "DELETE FROM histograms WHERE run_number = ?1",
        "DELETE FROM discard_histograms WHERE run_number = ?1",
    ] {
        transaction.prepare_cached(delete)?.execute([run_number])?;
    }
    store_histograms(transaction, run_number, record)
}

fn store_histograms(
    transaction: &Transaction<'_>,
    run_number: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    for (job_index, job) in record.jobs.iter().enumerate() {
        let outcome = &job.outcome;
        let kinds = [
            ("read", Some(&outcome.read)),
            ("write", Some(&outcome.write)),
            ("sync", outcome.sync.as_ref()),
        ];
        for (name, kind) in kinds {
            let histogram = kind.and_then(|kind| kind.histogram.as_ref());
            store_histogram(transaction, run_number, job_index, name, histogram)?;
        }
        let discard = outcome.discard.as_ref();
        store_discards(
            transaction,
            run_number,
            job_index,
            discard.and_then(|discard| discard.histogram.as_ref()),
        )?;
    }
    Ok(())
}

fn store_record(
    transaction: &Transaction<'_>,
    run_number: i64,
    record: &RunRecord,
) -> rusqlite::Result<()> {
    let json = json_of(record)?;
    transaction
        .prepare_cached("INSERT OR REPLACE INTO records (run_number, json) VALUES (?1, ?2)")?
        .execute(params![run_number, json])?;
    transaction
        .prepare_cached("DELETE FROM jobs WHERE run_number = ?1")?
        .execute([run_number])?;
    for (job_index, job) in record.jobs.iter().enumerate() {
        let imported = record.imported.as_ref();
        store_job(transaction, run_number, job_index, job, imported)?;
    }
    Ok(())
}

fn json_of(value: &impl serde::Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn store_job(
    transaction: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
    job: &JobRecord,
    imported: Option<&Imported>,
) -> rusqlite::Result<()> {
    let outcome = &job.outcome;
    let workload = &job.workload;
    transaction
        .prepare_cached(
            "INSERT INTO jobs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, \
             ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            run_number,
            job_index.cast_signed(),
            job.name,
            job.full_target_names(),
            workload.read_percent,
            job.pattern_name(),
            workload.block_size_bytes.cast_signed(),
            workload.threads,
            workload.outstanding,
            outcome.duration_ns.cast_signed(),
            outcome.operations.cast_signed(),
            outcome.iops,
            outcome.mib_per_s,
            p99(imported, job_index, "read", Some(&outcome.read)),
            p99(imported, job_index, "write", Some(&outcome.write)),
            outcome.errors.total.cast_signed(),
            workload.discard_percent,
            p99(imported, job_index, "discard", outcome.discard.as_ref()),
        ])?;
    Ok(())
}

/// The 99 % of one kind of operation; `None` if an imported result lacks it.
fn p99(
    imported: Option<&Imported>,
    job_index: usize,
    name: &str,
    kind: Option<&KindOutcome>,
) -> Option<i64> {
    let latency = kind?.latency_ns?;
    let given = imported.is_none_or(|imported| {
        imported.gives_of(job_index, &format!("jobs.outcome.{name}.latency_ns.p99"))
    });
    given.then_some(latency.p99.cast_signed())
}

fn store_histogram(
    transaction: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
    kind: &str,
    histogram: Option<&Histogram>,
) -> rusqlite::Result<()> {
    let Some(blob) = blob::encode(histogram) else {
        return Ok(());
    };
    transaction
        .prepare_cached("INSERT INTO histograms VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![run_number, job_index.cast_signed(), kind, blob])?;
    Ok(())
}

/// Latencies of discards have their own table.
fn store_discards(
    transaction: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
    histogram: Option<&Histogram>,
) -> rusqlite::Result<()> {
    let Some(blob) = blob::encode(histogram) else {
        return Ok(());
    };
    transaction
        .prepare_cached("INSERT INTO discard_histograms VALUES (?1, ?2, ?3)")?
        .execute(params![run_number, job_index.cast_signed(), blob])?;
    Ok(())
}

fn warnings(record: &RunRecord) -> i64 {
    let jobs: usize = record.jobs.iter().map(|job| job.warnings.len()).sum();
    (record.warnings.len() + jobs) as i64
}

/// The owner in five columns from `first` on.
pub(crate) fn owner_at(row: &Row<'_>, first: usize) -> rusqlite::Result<Owner> {
    Ok(Owner {
        pid: row.get(first)?,
        process_start: row.get(first + 1)?,
        boot_id: row.get(first + 2)?,
        pid_namespace: row.get(first + 3)?,
        host: row.get(first + 4)?,
    })
}
