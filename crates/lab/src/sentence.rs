//! The answer of a series in plain words, one sentence; what must be known of it
//! first stands before or behind it.

use crate::climb::Ended;
use crate::ladder::Step;
use crate::series::SeriesKind;
use stripewise_results::{LatencySummary, SeriesRecord, StepRecord};
use stripewise_units::{Slo, format_duration, format_iops, plural};

/// "Random read: 9,800 IOPS at p99 < 5 ms with 16 in flight; the ceiling is
/// 12,400 at 64." Where no step counts, no number is in it.
pub(crate) fn answer(
    kind: SeriesKind,
    slo: Slo,
    ended: Ended,
    series: &SeriesRecord,
    view: &[Step],
) -> String {
    let title = kind.title();
    if let Some(reason) = &series.no_answer {
        return format!("{title}: no answer; {reason}.");
    }
    let mut words = match (kind, ended) {
        (_, Ended::Partial) => format!("{title}, stopped before its end: "),
        _ => format!("{title}: "),
    };
    words.push_str(&match kind {
        SeriesKind::Log => log(series),
        _ => ladder(kind, slo, ended, series, view),
    });
    let void = series.steps.iter().filter(|step| !step.void.is_empty());
    let void = void.count();
    if void > 0 {
        words.push_str(&format!(
            " {void} of {} steps {} VOID ({}) and left out.",
            series.steps.len(),
            plural(void, "is", "are"),
            series.void_codes().join(", ")
        ));
    }
    words
}

/// Why no step counts: "all 8 steps are VOID (zero-data)".
pub(crate) fn no_answer(steps: &[StepRecord]) -> String {
    let mut codes: Vec<&str> = Vec::new();
    for code in steps.iter().flat_map(|step| &step.void) {
        if !codes.contains(&code.as_str()) {
            codes.push(code);
        }
    }
    let void = steps.iter().filter(|step| !step.void.is_empty()).count();
    let codes = codes.join(", ");
    match (void, steps.len()) {
        (0, _) => "it was stopped before its first step ended".to_owned(),
        (1, 1) => format!("its only step is VOID ({codes})"),
        (void, all) if void == all => format!("all {all} steps are VOID ({codes})"),
        (void, all) => format!(
            "{void} of {all} steps {} VOID ({codes}), and the {} stopped before {} end",
            plural(void, "is", "are"),
            plural(all - void, "other was", "others were"),
            plural(all - void, "its", "their"),
        ),
    }
}

/// What the steps that count say of a limit and a ceiling.
fn ladder(
    kind: SeriesKind,
    slo: Slo,
    ended: Ended,
    series: &SeriesRecord,
    view: &[Step],
) -> String {
    let Some(ceiling) = series.ceiling.map(|index| &series.steps[index]) else {
        return "nothing was measured.".to_owned();
    };
    let top = format!(
        "{} {} at {}",
        // Only a ladder that ran its course has found the ceiling.
        match ended {
            Ended::Ladder(_) | Ended::SingleStep => "the ceiling is",
            Ended::TimeSpent => "the most measured in the time given is",
            Ended::Partial => "the most that a whole step gave is",
            Ended::Fragment => "the most of the steps shown is",
        },
        throughput(kind, ceiling),
        in_flight(ceiling)
    );
    if let Some(within) = series.within_limit.map(|index| &series.steps[index]) {
        return format!(
            "{} at {} with {} in flight; {top}.",
            throughput(kind, within),
            slo.describe(),
            in_flight(within)
        );
    }
    // The least load that counts: what a step says that was stopped, or that is
    // void, is not known, and neither is what loads that were not run would give.
    let first = series.steps.iter().position(StepRecord::counts);
    let (load, latency) = first.map_or((1, None), |index| {
        (in_flight(&series.steps[index]), view[index].latency_ns)
    });
    let there = match latency {
        Some(ns) => format!("{} is {} there", slo.percentile, format_duration(ns)),
        None => "no operation completed there".to_owned(),
    };
    let even = if load == 1 { "even " } else { "" };
    format!(
        "not within {} {even}with {load} in flight ({there}); {top}.",
        slo.describe()
    )
}

/// The log's latency comes first: it is what a commit waits for.
fn log(series: &SeriesRecord) -> String {
    let step = series.steps.iter().find(|step| step.counts());
    let Some((step, LatencySummary { p50, p99, max, .. })) =
        step.and_then(|step| Some((step, step.latency_ns?)))
    else {
        return "nothing was measured.".to_owned();
    };
    format!(
        "a durable write takes {} (p50), {} (p99), at most {}; {} a second with one in flight.",
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
