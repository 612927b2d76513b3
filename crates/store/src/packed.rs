//! The intervals of a finished job, merged down to the record's number and packed into one row.
//! During a run each has its own row, so that nothing is lost with its process; these take six
//! times the space.
//!
//! Two blobs, both deflated: the numbers, column by column, 8 bytes per value, and the latencies,
//! the lengths of all histograms and then the histograms. A record needs only the first.

use crate::checksum::{self, Sum};
use crate::columns::{self, damaged};
use crate::types::{StoredHistograms, StoredInterval};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use rusqlite::{OptionalExtension, Transaction, params};
use std::io::{Read, Write};
use stripewise_results::{INTERVALS_MAX, Interval, joined_group_size};
use stripewise_stats::Histogram;

/// Values of an interval, see [`values_of`].
const VALUES: usize = 11;
const VALUE_BYTES: usize = size_of::<u64>();
/// Reads, writes, syncs and discards.
const KINDS: usize = 4;
const LENGTH_BYTES: usize = size_of::<u32>();
/// Far more than a histogram takes; a larger length is damage.
const HISTOGRAM_BYTES_MAX: u32 = 1 << 20;

/// Packs the intervals of a finished job. Merges neighbours (pairs, fours, eights...) until there
/// are at most [`INTERVALS_MAX`]; latencies are merged too, so that the merged 99 % is correct.
/// Returns whether the record may omit its own because they are identical.
pub(crate) fn pack(
    transaction: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
    of_record: &[Interval],
) -> rusqlite::Result<bool> {
    let of_job = params![run_number, job_index.cast_signed()];
    let count: i64 = transaction
        .prepare_cached("SELECT count(*) FROM intervals WHERE run_number = ?1 AND job_index = ?2")?
        .query_row(of_job, |row| row.get(0))?;
    if count == 0 {
        return Ok(false);
    }
    let group_size = joined_group_size(usize::try_from(count).unwrap_or(0), INTERVALS_MAX).max(1);
    let mut packer = Packer::default();
    let mut group: Vec<StoredInterval> = Vec::with_capacity(group_size);
    let mut statement = transaction.prepare_cached(columns::INTERVALS_OF_JOB)?;
    let mut rows = statement.query(of_job)?;
    while let Some(row) = rows.next()? {
        let interval = columns::interval_at(row)?;
        if group_size == 1 {
            packer.add(interval);
            continue;
        }
        group.push(interval);
        if group.len() == group_size {
            packer.add(join(&mut group));
        }
    }
    drop(rows);
    if !group.is_empty() {
        packer.add(join(&mut group));
    }
    let are_of_record = packer.intervals == of_record;
    // In this order: if the first fails, the rows are still there.
    transaction
        .prepare_cached("INSERT OR REPLACE INTO packed_intervals VALUES (?1, ?2, ?3, ?4, ?5)")?
        .execute(params![
            run_number,
            job_index.cast_signed(),
            are_of_record,
            packer.numbers(),
            packer.latencies(),
        ])?;
    transaction.execute(
        "DELETE FROM intervals WHERE run_number = ?1 AND job_index = ?2",
        of_job,
    )?;
    Ok(are_of_record)
}

/// The numbers of a packed job, and whether its record omitted them; `None` if it is not packed.
pub(crate) fn numbers(
    moment: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
) -> rusqlite::Result<Option<(bool, Vec<Interval>)>> {
    let mut statement = moment.prepare_cached(columns::PACKED_NUMBERS)?;
    let read = |row: &rusqlite::Row<'_>| {
        let mut sum = Sum::default();
        sum.add(row, columns::PACKED_NUMBERS_COLUMNS)?;
        let part = checksum::intervals_part(job_index);
        checksum::check(moment, run_number, &part, sum)?;
        let intervals = unpacked_numbers(row.get_ref(1)?.as_blob()?);
        Ok((row.get(0)?, intervals.map_err(|text| damaged(1, text))?))
    };
    statement
        .query_row(params![run_number, job_index.cast_signed()], read)
        .optional()
}

/// The latencies of a job whose [`numbers`] are `intervals`.
pub(crate) fn with_latencies(
    moment: &Transaction<'_>,
    run_number: i64,
    job_index: usize,
    intervals: Vec<Interval>,
) -> rusqlite::Result<Vec<StoredInterval>> {
    let mut statement = moment.prepare_cached(columns::PACKED_LATENCIES)?;
    statement.query_row(params![run_number, job_index.cast_signed()], |row| {
        let mut sum = Sum::default();
        sum.add(row, columns::PACKED_LATENCIES_COLUMNS)?;
        let part = checksum::interval_latencies_part(job_index);
        checksum::check(moment, run_number, &part, sum)?;
        let histograms = unpacked_latencies(row.get_ref(0)?.as_blob()?, intervals.len());
        let histograms = histograms.map_err(|text| damaged(0, text))?;
        let both = intervals.into_iter().zip(histograms);
        Ok(both
            .map(|(interval, histograms)| StoredInterval {
                interval,
                histograms,
            })
            .collect())
    })
}

/// Intervals being packed into a row.
#[derive(Default)]
struct Packer {
    intervals: Vec<Interval>,
    lengths: Vec<u8>,
    blobs: Vec<u8>,
}

impl Packer {
    fn add(&mut self, stored: StoredInterval) {
        let of = &stored.histograms;
        for histogram in [&of.read, &of.write, &of.sync, &of.discard] {
            let blob = crate::blob::encode(histogram.as_ref()).unwrap_or_default();
            // Lengths are far below the limit, see `HISTOGRAM_BYTES_MAX`.
            let length = u32::try_from(blob.len()).unwrap_or(u32::MAX);
            self.lengths.extend(length.to_le_bytes());
            self.blobs.extend(blob);
        }
        self.intervals.push(stored.interval);
    }

    fn numbers(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.intervals.len() * VALUES * VALUE_BYTES];
        let mut before_ns = 0;
        for (row, interval) in self.intervals.iter().enumerate() {
            for (column, value) in values_of(interval, before_ns).into_iter().enumerate() {
                let at = (column * self.intervals.len() + row) * VALUE_BYTES;
                bytes[at..at + VALUE_BYTES].copy_from_slice(&value.to_le_bytes());
            }
            before_ns = interval.start_ns;
        }
        deflated(&[&bytes])
    }

    fn latencies(&self) -> Vec<u8> {
        deflated(&[&self.lengths, &self.blobs])
    }
}

/// The start as a difference from the preceding one: usually the same number.
fn values_of(interval: &Interval, before_ns: u64) -> [u64; VALUES] {
    [
        interval.start_ns.wrapping_sub(before_ns),
        interval.duration_ns,
        interval.read_operations,
        interval.write_operations,
        interval.discard_operations,
        interval.bytes,
        interval.latency_ns_mean.to_bits(),
        interval.latency_ns_p99.unwrap_or(0),
        u64::from(interval.latency_ns_p99.is_some())
            | u64::from(interval.latency_ns_p99_is_bound) << 1,
        interval.latency_ns_max,
        interval.errors,
    ]
}

fn unpacked_numbers(blob: &[u8]) -> Result<Vec<Interval>, String> {
    const ROW_BYTES: usize = VALUES * VALUE_BYTES;
    let mut bytes = Vec::new();
    DeflateDecoder::new(blob)
        .take((INTERVALS_MAX * ROW_BYTES + 1) as u64)
        .read_to_end(&mut bytes)
        .map_err(|error| format!("its intervals: {error}"))?;
    let count = bytes.len() / ROW_BYTES;
    if !bytes.len().is_multiple_of(ROW_BYTES) || count > INTERVALS_MAX {
        return Err(format!("{} bytes are no intervals", bytes.len()));
    }
    let value = |row: usize, column: usize| {
        let at = (column * count + row) * VALUE_BYTES;
        u64::from_le_bytes(bytes[at..at + VALUE_BYTES].try_into().expect("8 bytes"))
    };
    let mut start_ns = 0_u64;
    let each = (0..count).map(|row| {
        let value = |column| value(row, column);
        start_ns = start_ns.wrapping_add(value(0));
        Interval {
            start_ns,
            duration_ns: value(1),
            read_operations: value(2),
            write_operations: value(3),
            discard_operations: value(4),
            bytes: value(5),
            latency_ns_mean: f64::from_bits(value(6)),
            latency_ns_p99: (value(8) & 1 != 0).then(|| value(7)),
            latency_ns_p99_is_bound: value(8) & 2 != 0,
            latency_ns_max: value(9),
            errors: value(10),
        }
    });
    Ok(each.collect())
}

fn unpacked_latencies(blob: &[u8], count: usize) -> Result<Vec<StoredHistograms>, String> {
    let io = |error: std::io::Error| format!("the latencies of its intervals: {error}");
    let mut decoder = DeflateDecoder::new(blob);
    let mut lengths = vec![0; count * KINDS * LENGTH_BYTES];
    decoder.read_exact(&mut lengths).map_err(io)?;
    let mut lengths = lengths
        .chunks_exact(LENGTH_BYTES)
        .map(|bytes| u32::from_le_bytes(bytes.try_into().expect("4 bytes")));
    let mut next = || match lengths.next().unwrap_or(0) {
        0 => Ok(None),
        length if length > HISTOGRAM_BYTES_MAX => Err(format!("a histogram of {length} bytes")),
        length => {
            let mut bytes = vec![0; length as usize];
            decoder.read_exact(&mut bytes).map_err(io)?;
            crate::blob::decode(Some(&bytes))
        }
    };
    let each = (0..count).map(|_| {
        Ok(StoredHistograms {
            read: next()?,
            write: next()?,
            sync: next()?,
            discard: next()?,
        })
    });
    each.collect()
}

fn deflated(parts: &[&[u8]]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    for part in parts {
        encoder.write_all(part).expect("memory takes it");
    }
    encoder.finish().expect("memory takes it")
}

/// Merges the group into one interval and empties it.
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
