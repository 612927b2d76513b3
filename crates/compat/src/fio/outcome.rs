//! The measurements of a fio job. Version 2 gives latencies in microseconds (`clat`) and, until
//! 2.20, bytes in units of 1,024 (`io_bytes`); version 3 nanoseconds (`clat_ns`) and bytes. Field
//! names decide, not the version: distributions built fio from states between two releases.

use super::job::{Job, Latencies, Side};
use crate::absent::{Absent, fill};
use crate::foreign_result::put_latency;
use stripewise_results::{Errors, JobOutcome, KindOutcome, LatencySummary};

/// Reads and writes of a job; `None` if a field that every version has is missing. `in_turn`: they
/// were not done at the same time, so their rates must not be added.
pub(super) fn outcome(job: &Job, in_turn: bool, absent: &mut Absent) -> Option<JobOutcome> {
    let (read, write) = (job.read.as_deref()?, job.write.as_deref()?);
    let mut outcome = JobOutcome {
        read: kind(read, "read", absent)?,
        write: kind(write, "write", absent)?,
        ..JobOutcome::default()
    };
    outcome.operations = outcome
        .read
        .operations
        .checked_add(outcome.write.operations)?;
    outcome.bytes = outcome.read.bytes.checked_add(outcome.write.bytes)?;
    // A rate of 0 would say that a job which only trims did nothing.
    let trims = job.may_trim || job.trims();
    let only_trims = trims && outcome.operations == 0 && outcome.bytes == 0;
    if operations(read).is_some() && operations(write).is_some() && !only_trims {
        absent.give("jobs.outcome.operations");
    }
    let rate = |of: &Side| of.iops.filter(|rate| *rate >= 0.0);
    outcome.iops = rate(read)? + rate(write)?;
    outcome.mib_per_s = (bandwidth(read)? + bandwidth(write)?) / 1_048_576.0;
    if !(only_trims || in_turn) {
        absent.give_all("jobs.outcome", &["iops", "mib_per_s"]);
        // They need not follow from counts and the job's time: terse lines have no counts, and of
        // jobs reported together (`group_reporting`) some may have read for longer than others wrote.
        for (of, kind) in [(read, &mut outcome.read), (write, &mut outcome.write)] {
            if of.io_bytes != Some(0) {
                kind.iops = rate(of);
                kind.mib_per_s = bandwidth(of).map(|bytes| bytes / 1_048_576.0);
            }
        }
    }
    if !(read.is_rounded || write.is_rounded || only_trims) {
        absent.give("jobs.outcome.bytes");
    }
    let longest = job.longest_ms().and_then(|ms| ms.checked_mul(1_000_000));
    let errors = job.total_err.map(|total| Errors {
        total,
        ..Errors::default()
    });
    fill!(
        absent,
        outcome.duration_ns,
        longest.filter(|ns| *ns > 0 && !in_turn)
    );
    fill!(absent, outcome.errors, errors);
    outcome.sync = job.sync.as_deref().and_then(|sync| syncs(sync, absent));
    Some(outcome)
}

/// The job's syncs, if it waited for any.
fn syncs(of: &Side, absent: &mut Absent) -> Option<KindOutcome> {
    let measured = of.lat_ns.as_ref()?;
    let operations = of.total_ios.or(measured.count).filter(|count| *count > 0)?;
    // They transfer no bytes.
    absent.give_all("jobs.outcome.sync", &["operations", "bytes"]);
    absent.open("jobs.outcome.sync.latency_ns");
    Some(KindOutcome {
        operations,
        latency_ns: Some(summary(
            measured,
            1.0,
            "jobs.outcome.sync.latency_ns",
            absent,
        )),
        ..KindOutcome::default()
    })
}

/// Number of operations. Versions before 2.2 count them only in their rate, but if nothing was
/// transferred there were none.
fn operations(of: &Side) -> Option<u64> {
    of.total_ios.or_else(|| (bytes(of)? == 0).then_some(0))
}

/// Bytes per second.
pub(super) fn bandwidth(of: &Side) -> Option<f64> {
    of.bw_bytes.or_else(|| Some(of.bw? * 1024.0))
}

/// Bytes transferred; rounded down to 1,024 if no exact value is given.
pub(super) fn bytes(of: &Side) -> Option<u64> {
    let count = of.io_bytes?;
    match of.io_kbytes.is_some() || of.clat_ns.is_some() {
        true => Some(count),
        false => count.checked_mul(1024),
    }
}

/// Reads or writes. If there were none, that is known: they have no latency.
fn kind(of: &Side, name: &str, absent: &mut Absent) -> Option<KindOutcome> {
    let bytes = bytes(of)?;
    let operations = operations(of);
    let below = format!("jobs.outcome.{name}");
    if !of.is_rounded {
        absent.give_in(&below, "bytes");
    }
    if operations.is_some() {
        absent.give_in(&below, "operations");
    }
    let mut kind = KindOutcome {
        operations: operations.unwrap_or(0),
        bytes,
        ..KindOutcome::default()
    };
    let latencies = format!("{below}.latency_ns");
    if operations == Some(0) {
        absent.give(&latencies);
        return Some(kind);
    }
    if let Some((measured, unit_ns)) = measured(of) {
        kind.latency_ns = Some(summary(measured, unit_ns, &latencies, absent));
    }
    Some(kind)
}

fn summary(measured: &Latencies, unit_ns: f64, path: &str, absent: &mut Absent) -> LatencySummary {
    let mut summary = LatencySummary::default();
    let values = measured.percentiles.unwrap_or_default();
    let names = ["p50", "p90", "p95", "p99", "p999"];
    let percentiles = names.into_iter().zip(values);
    let others = [
        ("min", measured.min),
        ("mean", measured.mean),
        ("max", measured.max),
    ];
    for (name, value) in others.into_iter().chain(percentiles) {
        if let Some(value) = value.filter(|value| *value >= 0.0) {
            put_latency(&mut summary, name, value * unit_ns);
            absent.give_in(path, name);
        }
    }
    summary
}

/// The latencies that have percentiles, and nanoseconds per unit; `None` if none were measured.
fn measured(of: &Side) -> Option<(&Latencies, f64)> {
    let with = |total: &'_ Option<Latencies>| {
        let total = total.as_ref();
        total.is_some_and(|total| total.percentiles.is_some())
    };
    let (measured, unit_ns) = match of {
        of if with(&of.lat_ns) => (of.lat_ns.as_ref()?, 1.0),
        of if of.clat_ns.is_some() => (of.clat_ns.as_ref()?, 1.0),
        of if with(&of.lat) => (of.lat.as_ref()?, 1_000.0),
        of => (of.clat.as_ref()?, 1_000.0),
    };
    // Version 2 has no count; if nothing was measured, the maximum is 0.
    let nothing = unit_ns > 1.0 && measured.max == Some(0.0);
    (measured.count != Some(0) && !nothing).then_some((measured, unit_ns))
}
