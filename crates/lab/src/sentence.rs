//! The answer of a series in plain words, one sentence.

use crate::climb::Ended;
use crate::ladder::Step;
use crate::series::SeriesKind;
use stripewise_results::{LatencySummary, SeriesRecord, StepRecord};
use stripewise_units::{Slo, format_duration, format_iops};

/// "Random read: 9,800 IOPS at p99 < 5 ms with 16 in flight; the ceiling is
/// 12,400 at 64."
pub(crate) fn answer(
    kind: SeriesKind,
    slo: Slo,
    ended: Ended,
    series: &SeriesRecord,
    view: &[Step],
) -> String {
    if kind == SeriesKind::Log {
        return log(series);
    }
    let title = kind.title();
    let Some(ceiling) = series.ceiling.map(|index| &series.steps[index]) else {
        return format!("{title}: nothing was measured.");
    };
    let top = format!(
        "{} {} at {}",
        // Only a ladder that ran its course has found the ceiling.
        match ended {
            Ended::Ladder(_) | Ended::SingleStep => "the ceiling is",
            Ended::TimeSpent => "the most measured in the time given is",
            Ended::Partial => "the most measured before it was broken off is",
        },
        throughput(kind, ceiling),
        in_flight(ceiling)
    );
    match series.within_limit.map(|index| &series.steps[index]) {
        Some(within) => format!(
            "{title}: {} at {} with {} in flight; {top}.",
            throughput(kind, within),
            slo.describe(),
            in_flight(within)
        ),
        None => {
            let first = view.first().and_then(|step| step.latency_ns);
            let first = first.map_or_else(|| "unknown".to_owned(), format_duration);
            format!(
                "{title}: not within {} even with {} in flight ({} is {first} there); {top}.",
                slo.describe(),
                view.first().map_or(1, |step| step.load.in_flight()),
                slo.percentile
            )
        }
    }
}

/// The log's latency comes first: it is what a commit waits for.
fn log(series: &SeriesRecord) -> String {
    let step = &series.steps[0];
    let Some(LatencySummary { p50, p99, max, .. }) = step.latency_ns else {
        return "Log: nothing was measured.".to_owned();
    };
    format!(
        "Log: a durable write takes {} (p50), {} (p99), at most {}; {} a second with one in flight.",
        format_duration(p50),
        format_duration(p99),
        format_duration(max),
        format_iops(step.iops)
    )
}

fn throughput(kind: SeriesKind, step: &StepRecord) -> String {
    if kind.told_in_bytes() {
        format!("{} MiB/s", format_iops(step.mib_per_s))
    } else {
        format!("{} IOPS", format_iops(step.iops))
    }
}

fn in_flight(step: &StepRecord) -> u32 {
    step.threads.saturating_mul(step.outstanding)
}
