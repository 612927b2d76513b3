//! Data waiting to be written to the file.

use rusqlite::{Transaction, params};
use stripewise_results::Interval;

/// An id has 20 random bits: more collisions in a row are not chance.
pub(crate) const ID_TRIES: usize = 8;

/// A run that is being written. Returned by `begin_run` and consumed by `finish_run`; dropping it
/// leaves the run as `running` until the store is next opened after this process has gone.
#[derive(Debug)]
pub struct RunHandle {
    pub(crate) run_number: i64,
    pub(crate) id: String,
    /// Index of the next interval, by job.
    pub(crate) next_interval: Vec<u64>,
    /// Intervals not yet written.
    pub(crate) pending: Vec<PendingInterval>,
    /// The run's time before which a failed write is not retried.
    pub(crate) next_try_ns: u64,
    /// Intervals that were merged with a neighbour.
    pub(crate) joined: u64,
}

impl RunHandle {
    /// The id of the run.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// An interval waiting to be written.
#[derive(Debug)]
pub(crate) struct PendingInterval {
    pub(crate) job_index: usize,
    pub(crate) interval_index: u64,
    pub(crate) interval: Interval,
    /// Of reads, writes, syncs and discards.
    pub(crate) blobs: [Option<Vec<u8>>; 4],
}

pub(crate) fn insert_interval(
    transaction: &Transaction<'_>,
    run_number: i64,
    pending: &PendingInterval,
) -> rusqlite::Result<()> {
    let interval = &pending.interval;
    let [read, write, sync, discard] = &pending.blobs;
    transaction
        .prepare_cached(
            "INSERT INTO intervals VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, \
             ?13, ?14, ?15, ?16, ?17, ?18)",
        )?
        .execute(params![
            run_number,
            pending.job_index.cast_signed(),
            pending.interval_index.cast_signed(),
            interval.start_ns.cast_signed(),
            interval.duration_ns.cast_signed(),
            interval.read_operations.cast_signed(),
            interval.write_operations.cast_signed(),
            interval.bytes.cast_signed(),
            interval.latency_ns_mean,
            interval.latency_ns_p99.map(u64::cast_signed),
            interval.latency_ns_p99_is_bound,
            interval.latency_ns_max.cast_signed(),
            interval.errors.cast_signed(),
            read,
            write,
            sync,
            interval.discard_operations.cast_signed(),
            discard,
        ])?;
    Ok(())
}
