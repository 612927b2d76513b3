//! What a job of fio measured. Version 2 gives latencies in microseconds (`clat`)
//! and, until 2.20, bytes in units of 1,024 (`io_bytes`); version 3 nanoseconds
//! (`clat_ns`) and bytes. The names of fields tell, not the version: distributions
//! built fio from what lay between two releases.

use super::json::{PERCENTS, is_percentile};
use crate::absent::Absent;
use serde_json::{Map, Value};
use stripewise_results::{Errors, JobOutcome, KindOutcome, LatencySummary};

/// Reads and writes of a job; `None` where what every version gives is missing.
pub(super) fn outcome(
    job: &Value,
    read: &Value,
    write: &Value,
    absent: &mut Absent,
) -> Option<JobOutcome> {
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
    if operations(read).is_some() && operations(write).is_some() {
        absent.give("jobs.outcome.operations");
    }
    let rate = |of: &Value| {
        of.get("iops")
            .and_then(Value::as_f64)
            .filter(|rate| *rate >= 0.0)
    };
    outcome.iops = rate(read)? + rate(write)?;
    outcome.mib_per_s = (bandwidth(read)? + bandwidth(write)?) / 1_048_576.0;
    absent.give_all("jobs.outcome", &["iops", "mib_per_s"]);
    if !(is_rounded(read) || is_rounded(write)) {
        absent.give("jobs.outcome.bytes");
    }
    let runtime_ms = |of: &Value| of.get("runtime").and_then(Value::as_u64).unwrap_or(0);
    let longest_ms = runtime_ms(read).max(runtime_ms(write));
    if let Some(ns) = longest_ms.checked_mul(1_000_000).filter(|ns| *ns > 0) {
        outcome.duration_ns = ns;
        absent.give("jobs.outcome.duration_ns");
    }
    if let Some(total) = job.get("total_err").and_then(Value::as_u64) {
        outcome.errors = Errors {
            total,
            ..Errors::default()
        };
        absent.give("jobs.outcome.errors");
    }
    Some(outcome)
}

/// How many there were. Versions before 2.2 count them only in their rate, but
/// where nothing was transferred there were none.
fn operations(of: &Value) -> Option<u64> {
    let total = of.get("total_ios").and_then(Value::as_u64);
    total.or_else(|| (bytes(of)? == 0).then_some(0))
}

/// What marks a side whose bytes are only known in the digits that fio prints.
pub(super) const ROUNDED: &str = "bytes are rounded";

fn is_rounded(of: &Value) -> bool {
    of.get(ROUNDED).is_some()
}

/// Bytes per second.
pub(super) fn bandwidth(of: &Value) -> Option<f64> {
    let bytes = of.get("bw_bytes").and_then(Value::as_f64);
    bytes.or_else(|| Some(of.get("bw")?.as_f64()? * 1024.0))
}

/// Bytes transferred; to 1,024 below where nothing says them exactly.
pub(super) fn bytes(of: &Value) -> Option<u64> {
    let count = of.get("io_bytes").and_then(Value::as_u64)?;
    let exact = of.get("io_kbytes").is_some() || of.get("clat_ns").is_some();
    if exact {
        Some(count)
    } else {
        count.checked_mul(1024)
    }
}

/// Reads or writes. Where there were none, that is known: they have no latency.
fn kind(of: &Value, name: &str, absent: &mut Absent) -> Option<KindOutcome> {
    let bytes = bytes(of)?;
    let operations = operations(of);
    let below = format!("jobs.outcome.{name}");
    if !is_rounded(of) {
        absent.give(&format!("{below}.bytes"));
    }
    if operations.is_some() {
        absent.give(&format!("{below}.operations"));
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
    let Some((measured, unit_ns)) = measured(of) else {
        return Some(kind);
    };
    let number = |field: &str| {
        let value = measured.get(field).and_then(Value::as_f64)?;
        (value >= 0.0).then_some(value * unit_ns)
    };
    let mut summary = LatencySummary::default();
    if let Some(min) = number("min") {
        summary.min = min as u64;
        absent.give(&format!("{latencies}.min"));
    }
    if let Some(mean) = number("mean") {
        summary.mean = mean;
        absent.give(&format!("{latencies}.mean"));
    }
    if let Some(max) = number("max") {
        summary.max = max as u64;
        absent.give(&format!("{latencies}.max"));
    }
    percentiles(measured, unit_ns, &latencies, &mut summary, absent);
    kind.latency_ns = Some(summary);
    Some(kind)
}

/// The latencies that have percentiles, and nanoseconds of their unit; `None`
/// where none were measured.
fn measured(of: &Value) -> Option<(&Value, f64)> {
    let with = |name: &str| {
        of.get(name)
            .filter(|total| total.get("percentile").is_some())
    };
    let (measured, unit_ns) = None
        .or_else(|| Some((with("lat_ns")?, 1.0)))
        .or_else(|| Some((of.get("clat_ns")?, 1.0)))
        .or_else(|| Some((with("lat")?, 1_000.0)))
        .or_else(|| Some((of.get("clat")?, 1_000.0)))?;
    let none = measured.get("N").and_then(Value::as_u64) == Some(0);
    // Version 2 has no count; where nothing was measured its maximum is 0.
    let nothing = unit_ns > 1.0 && measured.get("max").and_then(Value::as_u64) == Some(0);
    (!none && !nothing).then_some((measured, unit_ns))
}

/// A percentile in fio's unit.
pub(super) fn percentile(all: &Map<String, Value>, percent: f64) -> Option<f64> {
    let found = all.iter().find(|(name, _)| is_percentile(name, percent))?;
    found.1.as_f64().filter(|value| *value >= 0.0)
}

/// Those of fio's percentiles that a record has, whose names are texts with
/// version by version another number of zeros.
fn percentiles(
    measured: &Value,
    unit_ns: f64,
    latencies: &str,
    summary: &mut LatencySummary,
    absent: &mut Absent,
) {
    let Some(all) = measured.get("percentile").and_then(Value::as_object) else {
        return;
    };
    for (percent, name) in PERCENTS
        .into_iter()
        .zip(["p50", "p90", "p95", "p99", "p999"])
    {
        let Some(value) = percentile(all, percent) else {
            continue;
        };
        let value = (value * unit_ns) as u64;
        match name {
            "p50" => summary.p50 = value,
            "p90" => summary.p90 = value,
            "p95" => summary.p95 = Some(value),
            "p99" => summary.p99 = value,
            _ => summary.p999 = Some(value),
        }
        absent.give(&format!("{latencies}.{name}"));
    }
}
