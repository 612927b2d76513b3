//! Joining the intervals of a finished job down to what a record keeps.

use crate::blob;
use crate::columns;
use crate::types::StoredInterval;
use rusqlite::{Transaction, params};
use stripewise_results::{INTERVALS_MAX, Interval, joined_group_size};
use stripewise_stats::Histogram;

/// Joins neighbours (pairs, fours, eights...) of one job until there are at most
/// [`INTERVALS_MAX`]. Latencies are merged, so that the joined 99 % is true.
pub(crate) fn compact(
    transaction: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
) -> rusqlite::Result<()> {
    let count: i64 = transaction
        .prepare_cached("SELECT count(*) FROM intervals WHERE run_number = ?1 AND job_index = ?2")?
        .query_row(params![run_number, job_index.cast_signed()], |row| {
            row.get(0)
        })?;
    let group_size = joined_group_size(usize::try_from(count).unwrap_or(0), INTERVALS_MAX);
    if group_size <= 1 {
        return Ok(());
    }
    let mut joined = Vec::with_capacity(INTERVALS_MAX);
    let mut group: Vec<StoredInterval> = Vec::with_capacity(group_size);
    let mut statement = transaction.prepare_cached(columns::INTERVALS_OF_JOB)?;
    let mut rows = statement.query(params![run_number, job_index.cast_signed()])?;
    while let Some(row) = rows.next()? {
        group.push(columns::interval_at(row)?);
        if group.len() == group_size {
            joined.push(join(&mut group));
        }
    }
    drop(rows);
    if !group.is_empty() {
        joined.push(join(&mut group));
    }
    transaction.execute(
        "DELETE FROM intervals WHERE run_number = ?1 AND job_index = ?2",
        params![run_number, job_index.cast_signed()],
    )?;
    for (index, interval) in joined.into_iter().enumerate() {
        crate::pending::insert_interval(
            transaction,
            run_number,
            &crate::pending::PendingInterval {
                job_index,
                interval_index: index as u64,
                interval: interval.interval,
                blobs: [
                    blob::encode(interval.histograms.read.as_ref()),
                    blob::encode(interval.histograms.write.as_ref()),
                    blob::encode(interval.histograms.sync.as_ref()),
                    blob::encode(interval.histograms.discard.as_ref()),
                ],
            },
        )?;
    }
    Ok(())
}

/// Makes one interval of the group and empties it.
pub(crate) fn join(group: &mut Vec<StoredInterval>) -> StoredInterval {
    let mut parts = group.drain(..);
    let mut whole = parts.next().unwrap_or_else(|| StoredInterval {
        interval: Interval::default(),
        histograms: crate::StoredHistograms::default(),
    });
    for part in parts {
        let histograms = &mut whole.histograms;
        merge(&mut histograms.read, part.histograms.read);
        merge(&mut histograms.write, part.histograms.write);
        merge(&mut histograms.sync, part.histograms.sync);
        merge(&mut histograms.discard, part.histograms.discard);
        whole.interval = whole.interval.joined_with(&part.interval, None);
    }
    let mut all = whole.histograms.read.clone();
    merge(&mut all, whole.histograms.write.clone());
    merge(&mut all, whole.histograms.discard.clone());
    whole.interval = whole.interval.with_latencies_of(all.as_ref());
    whole
}

/// Adds `part` to `whole`; either may be absent.
pub(crate) fn merge(whole: &mut Option<Histogram>, part: Option<Histogram>) {
    match (whole, part) {
        (_, None) => {}
        (Some(whole), Some(part)) => whole.merge(&part),
        (whole @ None, part) => *whole = part,
    }
}
