//! The answer of a series in one plain sentence, with whatever one must know
//! first placed before or after it.

use crate::climb::Ended;
use crate::series::SeriesKind;
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerReason, AnswerRecord, SeriesRecord, StepRecord, SustainedClaim,
    SustainedRecord, rate_unit,
};
use stripewise_stats::Slo;
use stripewise_units::{
    distinct, format_bytes, format_count, format_duration, format_iops, plural,
};

/// "Random read: 9,800 IOPS (9,500-10,100) at p99 < 5 ms with 16 in flight; the ceiling is
/// 12,400 at 64." Without a valid step, it contains no number.
pub(crate) fn answer(kind: SeriesKind, slo: Slo, ended: Ended, series: &SeriesRecord) -> String {
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
        _ => ladder(kind, slo, ended, series),
    });
    words.push_str(&absorbed(kind, series));
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

/// " Before that a cache absorbs writes: 45,000 IOPS until 256 MiB are written.", or the number
/// of bytes over which the rate was sustained. What absorbs reads is a burst credit.
fn absorbed(kind: SeriesKind, series: &SeriesRecord) -> String {
    let Some(found) = series.sustained else {
        return String::new();
    };
    let reads = !kind.writes();
    match (
        found.absorbed_words(kind.reported_in_bytes(), reads),
        found.claim,
    ) {
        (Some(words), _) if reads => format!(" Before that a burst credit lasts: {words}."),
        (Some(words), _) => format!(" Before that a cache absorbs writes: {words}."),
        (None, SustainedClaim::AtLeast) => format!(
            " It held for {} of writing; a larger cache is not excluded.",
            format_bytes(found.written_bytes)
        ),
        (None, _) => String::new(),
    }
}

/// Why a ladder that only measured a cache has no answer: names its highest rate as that of
/// the cache. `None` if the rate is sustained.
pub(crate) fn not_sustained(
    kind: SeriesKind,
    highest: Option<&StepRecord>,
    found: &SustainedRecord,
) -> Option<String> {
    let why = found.not_reached_words(!kind.writes())?;
    Some(match highest {
        Some(step) => format!("{} was the most so far, but {why}", throughput(kind, step)),
        None => why,
    })
}

/// Why no step is valid: "all 8 steps are VOID (zero-data)".
pub(crate) fn no_answer(steps: &[StepRecord]) -> String {
    let codes = steps.iter().flat_map(|step| &step.void);
    let codes = distinct(codes.map(String::as_str)).join(", ");
    let void = steps.iter().filter(|step| !step.void.is_empty()).count();
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

/// A limit and a ceiling from the valid steps.
fn ladder(kind: SeriesKind, slo: Slo, ended: Ended, series: &SeriesRecord) -> String {
    let Some(answer) = series.answered() else {
        return "nothing was measured.".to_owned();
    };
    // Only a ladder that ran its course has found the ceiling, and not even that if its last
    // step was the fastest.
    let highest = match ended {
        Ended::Ladder(_) | Ended::SingleStep => "the ceiling",
        Ended::TimeSpent => "the highest rate measured in the given time",
        Ended::Partial => "the highest rate of a complete step",
        Ended::Fragment => "the highest rate of the steps shown",
    };
    let is_one_run = series.answer.is_none();
    let top = match series.ceiling.map(|index| &series.steps[index]) {
        // One step is the whole ladder.
        Some(only) if series.steps.len() == 1 => highest_words(kind, highest, only, None),
        _ => match series.ceiling_above() {
            Some(step) => {
                let bound = series.ceiling_bound.filter(|_| highest == "the ceiling");
                highest_words(kind, highest, step, bound)
            }
            None => "no step that counts was faster".to_owned(),
        },
    };
    if is_one_run && series.within_limit.is_some() && series.within_limit == series.ceiling {
        return format!(
            "{} at {} with {} in flight (one run, no interval), which is {highest}.",
            answer_words(kind, &answer.record),
            slo.describe(),
            load_words(&answer.record)
        );
    }
    let rate = answer_words(kind, &answer.record);
    let run = if is_one_run { ONE_RUN } else { "" };
    let place = match answer.reason {
        AnswerReason::Within => return within(kind, slo, &answer.record, &top),
        AnswerReason::Knee => "at the knee",
        AnswerReason::Highest if !is_one_run => "where it was fastest",
        AnswerReason::Highest | AnswerReason::Only => "",
    };
    let instead = match place {
        "" => String::new(),
        place => {
            let load = load_words(&answer.record);
            format!(" {rate} {place}, with {load} in flight{run};")
        }
    };
    format!("{}{instead} {top}.", missed(slo, series))
}

/// Suffix of a number from a single run.
const ONE_RUN: &str = " (one run, no interval)";

fn highest_words(
    kind: SeriesKind,
    highest: &str,
    step: &StepRecord,
    bound: Option<AnswerBound>,
) -> String {
    let bound = bound.map_or_else(String::new, |bound| format!("{} ", bound.words()));
    format!(
        "{highest} is {bound}{} at {}",
        throughput(kind, step),
        step.in_flight()
    )
}

/// The least valid load: the results of a stopped or void step are
/// unknown, as are those of loads that were not run.
fn missed(slo: Slo, series: &SeriesRecord) -> String {
    let (load, latency) = series.least_load().unwrap_or((1, None));
    let there = match latency {
        Some(ns) => {
            let latency = format_duration(ns.round() as u64);
            format!("{} is {latency} there", slo.percentile)
        }
        None => "no operation completed there".to_owned(),
    };
    let even = if load == 1 { "even " } else { "" };
    format!(
        "not within {} {even}with {load} in flight ({there});",
        slo.describe()
    )
}

/// The rate of a series within its limit.
fn within(kind: SeriesKind, slo: Slo, answer: &AnswerRecord, top: &str) -> String {
    let limit = slo.describe();
    let rate = answer_words(kind, answer);
    let load = load_words(answer);
    match (answer.at, answer.bound) {
        _ if answer.runs == 1 => {
            format!("{rate} at {limit} with {load} in flight{ONE_RUN}; {top}.")
        }
        (AnswerPlace::Plateau, None) => {
            format!("{rate} at {limit} with {load} in flight; this is the maximum.")
        }
        (AnswerPlace::Plateau, Some(AnswerBound::AtLeast)) => format!(
            "{rate} at {limit} with {load} in flight, where the ladder ended; more in flight \
             may give more."
        ),
        (AnswerPlace::Limit, Some(AnswerBound::AtLeast)) => {
            format!("{rate} at {limit}, which is still met with {load} in flight; {top}.")
        }
        (_, Some(AnswerBound::AtMost)) => {
            format!("{rate} at {limit}, which is no longer met with {load} in flight; {top}.")
        }
        _ => format!("{rate} at {limit} with {load} in flight; {top}."),
    }
}

/// Operations in flight of an answer, rounded.
fn load_words(answer: &AnswerRecord) -> String {
    format_count(answer.in_flight.round().max(1.0) as u64)
}

fn answer_words(kind: SeriesKind, answer: &AnswerRecord) -> String {
    let in_bytes = kind.reported_in_bytes();
    answer.words(in_bytes, rate_unit(in_bytes))
}

/// The log's latency comes first: it is what a commit waits for. Rate and latencies are from
/// the same runs.
fn log(series: &SeriesRecord) -> String {
    let record = series.answered().map(|answer| answer.record);
    let Some((record, latency)) = record.and_then(|record| Some((record, record.latency?))) else {
        return "nothing was measured.".to_owned();
    };
    let rate = record.words(false, "a second");
    let runs = match (record.runs, record.iops_low) {
        (1, _) => ONE_RUN.to_owned(),
        (runs, None) => format!(" ({runs} runs, no interval)"),
        _ => String::new(),
    };
    format!(
        "a durable write takes {} (p50), {} (p99), at most {}; {rate}{runs} with one in flight.",
        format_duration(latency.p50),
        format_duration(latency.p99),
        format_duration(latency.max),
    )
}

fn throughput(kind: SeriesKind, step: &StepRecord) -> String {
    match kind {
        _ if kind.reported_in_bytes() => format!("{} MiB/s", format_iops(step.mib_per_s)),
        SeriesKind::Log => format!("{} writes/s", format_iops(step.iops)),
        _ => format!("{} IOPS", format_iops(step.iops)),
    }
}
