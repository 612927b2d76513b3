//! Whether a job of fio agrees with itself.
//!
//! fio computes its rates from the counts and the time that it prints, so a number
//! that was edited or cut short is found by another one. Real output agrees to
//! far less than a percent; the limits here are wide enough for tools that round.

use super::json::PERCENTS;
use super::outcome::{bandwidth, bytes, percentile};
use serde_json::Value;

/// How far a rate may be from what follows from its count, as a share of it.
const RATE_OFF: f64 = 0.05;
/// What marks latencies that are printed in another unit than they are given in here:
/// what their last digit stands for.
pub(super) const RESOLUTION: &str = "resolution";

/// How far a percentile may be above the maximum: fio gives the middle of a
/// bucket of its histogram, which is up to 1/64 of its value wide.
const BUCKET_OFF: f64 = 0.02;

/// The first contradiction in a job, as the end of a sentence that names the job.
pub(super) fn contradiction(job: &Value) -> Option<String> {
    ["read", "write"].into_iter().find_map(|side| {
        let of = job.get(side)?;
        impossible(of, side)
            .or_else(|| rates(of, side))
            .or_else(|| latencies(of, side))
    })
}

/// Operations, or bytes, a second beyond which no device goes.
const RATE_MAX: f64 = 1e15;

/// A rate that nothing can have, whatever it follows from.
fn impossible(of: &Value, side: &str) -> Option<String> {
    let said = [
        ("iops", of.get("iops").and_then(Value::as_f64)),
        ("bw", bandwidth(of)),
    ];
    let found = said
        .into_iter()
        .find_map(|(name, rate)| Some((name, rate.filter(|rate| *rate > RATE_MAX)?)));
    found
        .map(|(name, rate)| format!("reports {name} {rate:e} for its {side}s, which no device has"))
}

fn rates(of: &Value, side: &str) -> Option<String> {
    let runtime_ms = of.get("runtime").and_then(Value::as_f64)?;
    let operations = of.get("total_ios").and_then(Value::as_f64);
    let iops = of.get("iops").and_then(Value::as_f64);
    let bytes = bytes(of).map(|bytes| bytes as f64);
    // What a rate may be off by where there is little to count: one operation, and
    // the KiB in which older versions count bytes.
    let block = bytes.zip(operations.filter(|operations| *operations > 0.0));
    let block = block.map_or(1024.0, |(bytes, operations)| bytes / operations);
    let checked = [
        ("operations", iops, operations, 1.0),
        ("bytes", bandwidth(of), bytes, block.max(1024.0)),
    ];
    checked.into_iter().find_map(|(what, said, count, step)| {
        let (said, count) = (said?, count?);
        // Without time fio prints no rate.
        let (follows, off) = if runtime_ms > 0.0 {
            let per_second = 1e3 / runtime_ms;
            let follows = count * per_second;
            let share = RATE_OFF + 1.0 / runtime_ms;
            (follows, follows * share + step * per_second.max(1.0))
        } else {
            (0.0, step)
        };
        ((said - follows).abs() > off).then(|| {
            format!(
                "reports {said:.0} {what} of its {side}s per second, but {count:.0} in {runtime_ms:.0} ms are {follows:.0}"
            )
        })
    })
}

fn latencies(of: &Value, side: &str) -> Option<String> {
    // Version 2 has microseconds in fields without a unit.
    ["clat_ns", "lat_ns", "clat", "lat"].into_iter().find_map(|name| {
        let values = of.get(name)?;
        if values.get("N").and_then(Value::as_u64) == Some(0) {
            return None;
        }
        let number = |field: &str| values.get(field).and_then(Value::as_f64);
        let (min, mean, max) = (number("min"), number("mean"), number("max"));
        let step = number(RESOLUTION).unwrap_or(1.0);
        // Minimum and maximum are whole numbers, the mean is not.
        let above = |low: Option<f64>, high: Option<f64>| {
            low.zip(high).is_some_and(|(low, high)| low > high * (1.0 + 1e-6) + step)
        };
        if above(min, mean) || above(mean, max) || above(min, max) {
            let shown = |value: Option<f64>| value.map_or("none".to_owned(), |value| value.to_string());
            return Some(format!(
                "reports {name} of its {side}s with min {}, mean {} and max {}, which are not in order",
                shown(min),
                shown(mean),
                shown(max),
            ));
        }
        percentiles(values, max, step).map(|what| format!("reports {name} of its {side}s with {what}"))
    })
}

fn percentiles(values: &Value, max: Option<f64>, step: f64) -> Option<String> {
    let all = values.get("percentile").and_then(Value::as_object)?;
    let mut before: Option<(f64, f64)> = None;
    for percent in PERCENTS {
        let Some(value) = percentile(all, percent) else {
            continue;
        };
        if let Some((lower, least)) = before.filter(|(_, least)| *least > value) {
            return Some(format!(
                "{least} at {lower} percent and less, {value}, at {percent} percent"
            ));
        }
        if let Some(max) = max.filter(|max| value > max * (1.0 + BUCKET_OFF) + step) {
            return Some(format!(
                "{value} at {percent} percent, above its max of {max}"
            ));
        }
        before = Some((percent, value));
    }
    None
}
