//! Text of limits.

use super::document::{BucketUnit, CapFound, CapKind, Limit, LoadKind};
use stripewise_stats::{Drift, LimitCell};
use stripewise_units::{ByteSize, counted, format_duration, format_iops, format_rate_interval};

pub(super) const MIB: f64 = 1_048_576.0;

/// How a refusal begins that longer runs may lift.
pub(super) const SCATTERS: &str = "runs of one load scatter by";

/// The name of a cell, for records and the progress line.
pub(super) fn cell_name(cell: LimitCell) -> &'static str {
    match cell {
        LimitCell::Small => "4K reads at 64",
        LimitCell::Medium => "16K reads at 64",
        LimitCell::HalfDepth => "4K reads at 32",
        LimitCell::Large => "1M reads at 64",
        LimitCell::HalfLarge => "512K reads at 64",
        LimitCell::Single => "4K reads at 1",
        LimitCell::Writes => "4K writes at 64",
        LimitCell::Mix => "4K half and half at 64",
        LimitCell::SizeCorner => "reads at the corner in size",
        LimitCell::DepthCorner => "4K reads at the corner in depth",
        LimitCell::SmallAgain => "4K reads at 64 behind the writes",
        LimitCell::BeyondUnit => "reads beyond the corner in size",
    }
}

pub(super) fn kind(kind: LoadKind) -> &'static str {
    match kind {
        LoadKind::Reads => "reads",
        LoadKind::Writes => "writes",
        LoadKind::Mix => "half and half",
    }
}

/// `3,000 IOPS (2,990-3,010)`, `125 MiB/s (124-126)`.
pub fn cap(cap: &CapFound) -> String {
    let ends = [cap.per_s_low, cap.per_s_high];
    match cap.kind {
        CapKind::Iops => format_rate_interval(cap.per_s, ends, "IOPS"),
        CapKind::BytesPerS => {
            format_rate_interval(cap.per_s / MIB, ends.map(|end| end / MIB), "MiB/s")
        }
    }
}

pub(super) fn limits(limits: &[Limit]) -> String {
    let names = limits.iter().map(|limit| match limit {
        Limit::Iops => "IOPS",
        Limit::Bandwidth => "bandwidth",
        Limit::Latency => "latency",
        Limit::Processor => "this host's processor",
        Limit::ControlGroup => "control group",
        Limit::Undecided => "undecided",
    });
    names.collect::<Vec<_>>().join(" and ")
}

/// A rate that drifted while it was measured, and the cause.
pub(super) fn drift(drift: &Drift) -> String {
    let change = format!("{:.0} %", 100.0 * drift.change_share.abs());
    let fell = drift.change_share < 0.0;
    match drift.after_rounds {
        None => format!(
            "4K reads fell by {change} while writes were measured, and stayed there: a burst ended, \
             another load came, or the device is hot or still busy with the writes"
        ),
        Some(rounds) if fell => format!(
            "the rate at the cap fell by {change} after {}: a burst ended, another load came, or \
             the device is hot",
            counted(rounds, "round", "rounds")
        ),
        Some(rounds) => format!(
            "the rate at the cap rose by {change} after {}: another load ended, or earlier writes \
             were still being processed",
            counted(rounds, "round", "rounds")
        ),
    }
}

/// Whole seconds below two minutes, else whole minutes.
pub(super) fn seconds(seconds: f64) -> String {
    match seconds < 120.0 {
        true => format!("{seconds:.0} s"),
        false => format!("{:.0} min", seconds / 60.0),
    }
}

/// `31 min (30-32)`, or with a decimal if that is more precise.
pub(super) fn seconds_interval(value: f64, [low, high]: [f64; 2]) -> String {
    match value < 120.0 {
        true => format!("{value:.0} s ({low:.0}-{high:.0})"),
        false => {
            let decimals = usize::from(high - low < 120.0);
            let minutes = |seconds: f64| format!("{:.decimals$}", seconds / 60.0);
            format!(
                "{} min ({}-{})",
                minutes(value),
                minutes(low),
                minutes(high)
            )
        }
    }
}

/// A rate in the unit of a bucket.
pub(super) fn rate(value: f64, unit: BucketUnit) -> String {
    match unit {
        BucketUnit::Operations => format!("{} IOPS", format_iops(value)),
        BucketUnit::Bytes => format!("{} MiB/s", format_iops(value / MIB)),
    }
}

const GIB: f64 = 1_073_741_824.0;

/// The contents of a bucket of which only a bound is known.
pub(super) fn held_at_most(most: f64, unit: BucketUnit) -> String {
    match unit {
        BucketUnit::Operations => format!("at most {} operations", format_iops(most)),
        BucketUnit::Bytes => format!("at most {:.1} GiB", most / GIB),
    }
}

/// The contents of a bucket, with its interval.
pub(super) fn held(value: f64, ends: [f64; 2], unit: BucketUnit) -> String {
    match unit {
        BucketUnit::Operations => format_rate_interval(value, ends, "operations"),
        BucketUnit::Bytes => format_rate_interval(value / GIB, ends.map(|end| end / GIB), "GiB"),
    }
}

pub(super) fn size(bytes: u64) -> String {
    ByteSize(bytes).to_string()
}

pub(super) fn duration(ns: u64) -> String {
    format_duration(ns)
}
