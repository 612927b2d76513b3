//! Checksums: SQLite detects a broken page, but not a flipped bit inside a text or number.
//!
//! A sum covers the values of rows as stored, so that reading needs no second query: code that
//! reads a row adds it to the sum on the way.

use crate::columns::{self, Columns};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};

/// The stored sum of a part of a run.
pub(crate) const STORED: &str = "SELECT crc32 FROM checksums WHERE run_number = ?1 AND part = ?2";

/// The row of a run and those of its jobs, as shown in lists.
pub(crate) const SUMMARY: &str = "summary";
/// The JSON of the record.
pub(crate) const RECORD: &str = "record";
/// All histograms of the run.
pub(crate) const LATENCIES: &str = "latencies";

/// The stored intervals of a job.
pub(crate) fn intervals_part(job_index: usize) -> String {
    format!("intervals {job_index}")
}

/// Latencies of packed intervals.
pub(crate) fn interval_latencies_part(job_index: usize) -> String {
    format!("interval latencies {job_index}")
}

/// A sum that rows are added to.
#[derive(Default)]
pub(crate) struct Sum(crc32fast::Hasher);

impl Sum {
    /// Adds the values of a row, each with its type and length.
    pub(crate) fn add(&mut self, row: &Row<'_>, columns: Columns) -> rusqlite::Result<()> {
        let (mut until, mut end) = (columns.first, columns.first);
        for group in columns.later {
            let start = end;
            end += group;
            for column in start..end {
                if !matches!(row.get_ref(column)?, ValueRef::Null | ValueRef::Integer(0)) {
                    until = end;
                }
            }
        }
        for column in 0..until {
            self.add_value(row.get_ref(column)?);
        }
        Ok(())
    }

    fn add_value(&mut self, value: ValueRef<'_>) {
        let mut typed = |tag: u8, bytes: &[u8]| {
            self.0.update(&[tag]);
            self.0.update(&(bytes.len() as u64).to_le_bytes());
            self.0.update(bytes);
        };
        match value {
            ValueRef::Null => typed(0, &[]),
            ValueRef::Integer(number) => typed(1, &number.to_le_bytes()),
            ValueRef::Real(number) => typed(2, &number.to_bits().to_le_bytes()),
            ValueRef::Text(text) => typed(3, text),
            ValueRef::Blob(bytes) => typed(4, bytes),
        }
    }

    /// The stored form.
    pub(crate) fn value(self) -> i64 {
        i64::from(self.0.finalize())
    }
}

/// The sum over all rows that a query returns for a run.
pub(crate) fn sum_of(
    connection: &Connection,
    sum: &mut Sum,
    query: &str,
    values: impl rusqlite::Params,
    columns: Columns,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        sum.add(row, columns)?;
    }
    Ok(())
}

/// Which rows a run may have besides those that every run has: the sums of the others are those of
/// no rows, which need not be looked for.
#[derive(Clone, Copy)]
pub(crate) struct Has {
    pub(crate) latencies: bool,
    pub(crate) intervals: bool,
}

/// Stores the sums of a finished run, replacing earlier ones.
pub(crate) fn store(
    connection: &Connection,
    run_number: i64,
    jobs: usize,
    has: Has,
) -> rusqlite::Result<()> {
    let run = [run_number];
    let mut parts = Vec::with_capacity(jobs + 3);
    let mut sum = Sum::default();
    sum_of(
        connection,
        &mut sum,
        columns::ROW_OF_RUN,
        run,
        columns::RUN_COLUMNS,
    )?;
    sum_of(
        connection,
        &mut sum,
        columns::JOBS_OF_RUN,
        run,
        columns::JOB_COLUMNS,
    )?;
    parts.push((SUMMARY.to_owned(), sum.value()));
    for (part, query, columns, is_there) in [
        (RECORD, columns::RECORD_OF_RUN, Columns::always(1), true),
        (
            LATENCIES,
            columns::LATENCIES_OF_RUN,
            columns::LATENCY_COLUMNS,
            has.latencies,
        ),
    ] {
        let mut sum = Sum::default();
        if is_there {
            sum_of(connection, &mut sum, query, run, columns)?;
        }
        parts.push((part.to_owned(), sum.value()));
    }
    for job_index in 0..jobs {
        let of_job = params![run_number, job_index.cast_signed()];
        for (part, query, columns) in [
            (
                intervals_part(job_index),
                columns::PACKED_NUMBERS,
                columns::PACKED_NUMBERS_COLUMNS,
            ),
            (
                interval_latencies_part(job_index),
                columns::PACKED_LATENCIES,
                columns::PACKED_LATENCIES_COLUMNS,
            ),
        ] {
            let mut sum = Sum::default();
            if has.intervals {
                sum_of(connection, &mut sum, query, of_job, columns)?;
            }
            parts.push((part, sum.value()));
        }
    }
    connection
        .prepare_cached("DELETE FROM checksums WHERE run_number = ?1")?
        .execute(run)?;
    let mut statement = connection.prepare_cached("INSERT INTO checksums VALUES (?1, ?2, ?3)")?;
    for (part, crc32) in parts {
        statement.execute(params![run_number, part, crc32])?;
    }
    Ok(())
}

/// The stored sum; `None` for unfinished runs and those of earlier versions.
pub(crate) fn stored(
    connection: &Transaction<'_>,
    run_number: i64,
    part: &str,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(STORED)?
        .query_row(params![run_number, part], |row| row.get(0))
        .optional()
}

/// Compares what was read in this transaction with the stored sum, if any.
pub(crate) fn check(
    connection: &Transaction<'_>,
    run_number: i64,
    part: &str,
    found: Sum,
) -> rusqlite::Result<()> {
    match stored(connection, run_number, part)? {
        Some(crc32) if crc32 != found.value() => Err(mismatch(part)),
        _ => Ok(()),
    }
}

/// The error for data that differs from what was stored.
pub(crate) fn mismatch(what: &str) -> rusqlite::Error {
    columns::damaged(0, format!("its {what} does not match its checksum"))
}

/// The checksum of a document.
pub(crate) fn of_document(kind: &str, name: &str, stored_at: &str, json: &str) -> i64 {
    let mut sum = Sum::default();
    for text in [kind, name, stored_at, json] {
        sum.add_value(ValueRef::Text(text.as_bytes()));
    }
    sum.value()
}
