//! The answer of a series in plain words, one sentence; what must be known of it
//! first stands before or behind it.

use crate::climb::Ended;
use crate::ladder::Step;
use crate::series::SeriesKind;
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerRecord, LatencySummary, SeriesRecord, StepRecord,
};
use stripewise_stats::Slo;
use stripewise_stats::median;
use stripewise_units::{format_count, format_duration, format_iops, plural};

/// "Random read: 9,800 IOPS (9,500-10,100) at p99 < 5 ms with 16 in flight; the ceiling is
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
    // Only a ladder that ran its course has found the ceiling.
    let highest = match ended {
        Ended::Ladder(_) | Ended::SingleStep => "the ceiling",
        Ended::TimeSpent => "the highest rate measured in the given time",
        Ended::Partial => "the highest rate of a complete step",
        Ended::Fragment => "the highest rate of the steps shown",
    };
    let top = format!(
        "{highest} is {} at {}",
        throughput(kind, ceiling),
        in_flight(ceiling)
    );
    if series.answer.is_none() && series.within_limit == series.ceiling {
        return format!(
            "{} at {} with {} in flight (one run, no interval), which is {highest}.",
            throughput(kind, ceiling),
            slo.describe(),
            in_flight(ceiling)
        );
    }
    if let Some(words) = within(kind, slo, series, &top) {
        return words;
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
    let knee = series.answer.as_ref().map_or_else(String::new, |answer| {
        format!(
            " {} at the knee, with {} in flight;",
            answer_words(kind, answer),
            load_words(answer)
        )
    });
    format!(
        "not within {} {even}with {load} in flight ({there});{knee} {top}.",
        slo.describe()
    )
}

/// What a series gives within its limit; none where no load meets it.
fn within(kind: SeriesKind, slo: Slo, series: &SeriesRecord, top: &str) -> Option<String> {
    let limit = slo.describe();
    let Some(answer) = &series.answer else {
        let step = series.within_limit.map(|index| &series.steps[index])?;
        return Some(format!(
            "{} at {limit} with {} in flight (one run, no interval); {top}.",
            throughput(kind, step),
            in_flight(step)
        ));
    };
    let rate = answer_words(kind, answer);
    let load = load_words(answer);
    // Several runs may be faster than the one run of any step: that is no ceiling.
    let top = match exceeds_all_steps(answer, series) {
        true => "no step that counts was faster",
        false => top,
    };
    Some(match (answer.at, answer.bound) {
        (AnswerPlace::Knee, _) => return None,
        (AnswerPlace::Plateau, None) => {
            format!("{rate} at {limit} with {load} in flight; more in flight does not increase it.")
        }
        (AnswerPlace::Plateau, Some(AnswerBound::AtLeast)) => format!(
            "{rate} at {limit} with {load} in flight, where the ladder ended; throughput was \
             still rising."
        ),
        (AnswerPlace::Limit, Some(AnswerBound::AtLeast)) => {
            format!("{rate} at {limit}, which is still met with {load} in flight; {top}.")
        }
        (_, Some(AnswerBound::AtMost)) => {
            format!("{rate} at {limit}, which is no longer met with {load} in flight; {top}.")
        }
        _ => format!("{rate} at {limit} with {load} in flight; {top}."),
    })
}

fn exceeds_all_steps(answer: &AnswerRecord, series: &SeriesRecord) -> bool {
    let ceiling = series.ceiling.map(|index| &series.steps[index]);
    ceiling.is_some_and(|ceiling| answer.iops >= ceiling.iops)
}

/// Operations in flight of an answer, to the nearest whole one.
fn load_words(answer: &AnswerRecord) -> String {
    format_count(answer.in_flight.round().max(1.0) as u64)
}

fn answer_words(kind: SeriesKind, answer: &AnswerRecord) -> String {
    let in_bytes = kind.told_in_bytes();
    answer.words(in_bytes, if in_bytes { "MiB/s" } else { "IOPS" })
}

/// The log's latency comes first: it is what a commit waits for. Of several runs the
/// median counts, and of their longest waits the longest.
fn log(series: &SeriesRecord) -> String {
    let runs = series.steps.iter().chain(&series.answer_runs);
    let counting: Vec<&StepRecord> = runs.filter(|step| step.counts()).collect();
    let latencies: Vec<LatencySummary> =
        counting.iter().filter_map(|step| step.latency_ns).collect();
    let middle = |value: fn(&LatencySummary) -> u64| {
        let values: Vec<f64> = latencies.iter().map(|one| value(one) as f64).collect();
        median(&values).map(|value| format_duration(value.round() as u64))
    };
    let (Some(step), Some(p50), Some(p99)) = (
        counting.first(),
        middle(|latency| latency.p50),
        middle(|latency| latency.p99),
    ) else {
        return "nothing was measured.".to_owned();
    };
    let max = latencies.iter().map(|latency| latency.max).max();
    let rate = match &series.answer {
        Some(answer) => answer.words(false, "a second"),
        None => format!("{} a second (one run, no interval)", format_iops(step.iops)),
    };
    format!(
        "a durable write takes {p50} (p50), {p99} (p99), at most {}; {rate} with one in flight.",
        format_duration(max.unwrap_or(0)),
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
