//! Whether a fio job is consistent.
//!
//! fio computes its rates from the counts and time that it prints, so an edited or truncated number
//! is found by another one. Real output agrees to far less than a percent; the limits here allow
//! for tools that round.

use super::job::{Job, Latencies, PERCENTS, Side};
use super::outcome::{bandwidth, bytes};

/// Tolerance of a rate, as a fraction of the value computed from its count.
const RATE_OFF: f64 = 0.05;
/// How far a percentile may exceed the maximum: fio gives the middle of a histogram bucket, which
/// is up to 1/64 of its value wide.
const BUCKET_OFF: f64 = 0.02;

/// The first contradiction in a job, as the end of a sentence that names the job.
pub(super) fn contradiction(job: &Job) -> Option<String> {
    let of_sides = job.sides().find_map(|(name, side)| {
        impossible(side, name)
            .or_else(|| rates(side, name))
            .or_else(|| latencies(side, name))
    });
    of_sides.or_else(|| latencies(job.sync.as_deref()?, "sync"))
}

/// Operations or bytes per second that no device exceeds.
const RATE_MAX: f64 = 1e15;

/// A rate that is impossible regardless of its count.
fn impossible(of: &Side, side: &str) -> Option<String> {
    let stated = [("iops", of.iops), ("bw", bandwidth(of))];
    let found = stated
        .into_iter()
        .find_map(|(name, rate)| Some((name, rate.filter(|rate| *rate > RATE_MAX)?)));
    found
        .map(|(name, rate)| format!("reports {name} {rate:e} for its {side}s, which no device has"))
}

fn rates(of: &Side, side: &str) -> Option<String> {
    let runtime_ms = of.runtime_ms? as f64;
    let operations = of.total_ios.map(|count| count as f64);
    let bytes = bytes(of).map(|bytes| bytes as f64);
    // Tolerance of a rate for small counts: one operation, and the KiB in which older versions
    // count bytes.
    let block = bytes.zip(operations.filter(|operations| *operations > 0.0));
    let block = block.map_or(1024.0, |(bytes, operations)| bytes / operations);
    let checked = [
        ("operations", of.iops, operations, 1.0),
        ("bytes", bandwidth(of), bytes, block.max(1024.0)),
    ];
    checked.into_iter().find_map(|(what, stated, count, step)| {
        let (stated, count) = (stated?, count?);
        // Without a runtime fio prints no rate.
        let (follows, off) = if runtime_ms > 0.0 {
            let per_second = 1e3 / runtime_ms;
            let follows = count * per_second;
            let share = RATE_OFF + 1.0 / runtime_ms;
            (follows, follows * share + step * per_second.max(1.0))
        } else {
            (0.0, step)
        };
        ((stated - follows).abs() > off).then(|| {
            format!(
                "reports {stated:.0} {what} of its {side}s per second, but {count:.0} in {runtime_ms:.0} ms are {follows:.0}"
            )
        })
    })
}

fn latencies(of: &Side, side: &str) -> Option<String> {
    // Version 2 has microseconds in fields without a unit.
    let all = [
        ("clat_ns", &of.clat_ns),
        ("lat_ns", &of.lat_ns),
        ("clat", &of.clat),
        ("lat", &of.lat),
    ];
    all.into_iter().find_map(|(name, values)| {
        let what = disorder(values.as_ref()?)?;
        Some(format!("reports {name} of its {side}s with {what}"))
    })
}

/// Whether a latency exceeds one that must be larger.
pub(super) fn disorder(values: &Latencies) -> Option<String> {
    if values.count == Some(0) {
        return None;
    }
    let (min, mean, max) = (values.min, values.mean, values.max);
    let step = values.step.unwrap_or(1.0);
    // Minimum and maximum are whole numbers, the mean is not.
    let above = |low: Option<f64>, high: Option<f64>| {
        low.zip(high)
            .is_some_and(|(low, high)| low > high * (1.0 + 1e-6) + step)
    };
    if above(min, mean) || above(mean, max) || above(min, max) {
        let shown = |value: Option<f64>| value.map_or("none".to_owned(), |value| value.to_string());
        return Some(format!(
            "min {}, mean {} and max {}, which are not in order",
            shown(min),
            shown(mean),
            shown(max),
        ));
    }
    let mut before: Option<(f64, f64)> = None;
    let percentiles = values.percentiles.iter().flatten();
    for (percent, value) in PERCENTS.into_iter().zip(percentiles) {
        let Some(value) = value.filter(|value| *value >= 0.0) else {
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
