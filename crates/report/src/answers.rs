//! What a ladder answers with: its step within the limit, else the knee, so that
//! an array that misses the limit still shows what it can do.

use crate::number::rate;
use crate::words::told_in_bytes;
use stripewise_results::{AnswerPlace, AnswerRecord, LatencySummary, SeriesRecord, StepRecord};
use stripewise_stats::{LatencyStatistic, Slo};
use stripewise_units::format_duration;

/// Why a step is the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerReason {
    /// There is no other: the log is one step.
    Only,
    /// The most within the latency limit.
    Within,
    /// Where more load stops paying off; nothing meets the limit.
    Knee,
    /// The most of all; nothing meets the limit and no knee was found.
    Ceiling,
}

/// The step that answers for a ladder.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) step: &'a StepRecord,
    pub(crate) place: AnswerReason,
}

/// Limits at which a ladder is read off where its own is not met.
const LIMITS_MS: [u64; 4] = [1, 5, 20, 100];

/// The answer; nothing where nothing was measured, or no step counts.
pub(crate) fn answer(series: &SeriesRecord) -> Option<Answer<'_>> {
    if series.no_answer.is_some() {
        return None;
    }
    if let [step] = &series.steps[..] {
        return Some(Answer {
            step,
            place: AnswerReason::Only,
        });
    }
    // Runs made for the answer have the last word on whether anything meets the limit.
    let within = series.within_limit.filter(|_| is_within_limit(series));
    let at = |index: Option<usize>, place: AnswerReason| {
        let step = series.steps.get(index?).filter(|step| step.counts())?;
        Some(Answer { step, place })
    };
    let knee = knee_in_flight(series).and_then(|knee| {
        let mut steps = series.steps.iter();
        steps.position(|step| in_flight(step) == knee)
    });
    at(within, AnswerReason::Within)
        .or_else(|| at(knee, AnswerReason::Knee))
        .or_else(|| at(series.ceiling, AnswerReason::Ceiling))
}

/// The load at the knee. Records that were lightened have none of their own, and the runs
/// made for the answer know it still.
fn knee_in_flight(series: &SeriesRecord) -> Option<u32> {
    let of_answer = series
        .answer
        .filter(|answer| answer.at == AnswerPlace::Knee)
        .map(|answer| answer.in_flight.round() as u32);
    let knee = series.knee.as_ref().map(|knee| knee.kneedle_in_flight);
    knee.or(of_answer)
}

/// Threads times outstanding.
pub(crate) fn in_flight(step: &StepRecord) -> u32 {
    step.threads.saturating_mul(step.outstanding)
}

/// `9,800 IOPS`, `512 MiB/s`, `1,234 writes/s` of a log.
pub(crate) fn amount(series: &SeriesRecord, step: &StepRecord) -> String {
    if told_in_bytes(&series.name) {
        format!("{} MiB/s", rate(step.mib_per_s))
    } else if series.name == "log" {
        format!("{} writes/s", rate(step.iops))
    } else {
        format!("{} IOPS", rate(step.iops))
    }
}

/// `57,400 IOPS (54,900-59,800)`, in the unit of the series.
pub(crate) fn answer_amount(series: &SeriesRecord, answer: &AnswerRecord) -> String {
    match (told_in_bytes(&series.name), series.name.as_str()) {
        (true, _) => answer.words(true, "MiB/s"),
        (false, "log") => answer.words(false, "writes/s"),
        (false, _) => answer.words(false, "IOPS"),
    }
}

/// Whether something meets the limit: by the runs made for the answer where there are
/// some, else by the ladder's steps.
pub(crate) fn is_within_limit(series: &SeriesRecord) -> bool {
    match series.answer.map(|answer| answer.at) {
        Some(AnswerPlace::Limit | AnswerPlace::Plateau) => true,
        Some(AnswerPlace::Knee) => false,
        Some(AnswerPlace::Only) | None => series.within_limit.is_some(),
    }
}

/// `p99 1.8 ms`: what the limit judges, in the typical run of an answer.
pub(crate) fn judged_of_answer(series: &SeriesRecord, answer: &AnswerRecord) -> Option<String> {
    (answer.latency_ns > 0).then(|| {
        let latency = format_duration(answer.latency_ns);
        format!("{} {latency}", judged(series))
    })
}

/// What the limit of a series judges; p99 where the limit cannot be read.
pub(crate) fn judged(series: &SeriesRecord) -> LatencyStatistic {
    let limit = series.slo.parse::<Slo>();
    limit.map_or(LatencyStatistic::P99, |slo| slo.percentile)
}

/// One value of a summary in nanoseconds; a percentile beyond what the number of
/// operations allows is unknown.
pub(crate) fn value(latency: &LatencySummary, statistic: LatencyStatistic) -> Option<f64> {
    Some(match statistic {
        LatencyStatistic::Mean => latency.mean,
        LatencyStatistic::P50 => latency.p50 as f64,
        LatencyStatistic::P90 => latency.p90 as f64,
        LatencyStatistic::P95 => latency.p95? as f64,
        LatencyStatistic::P99 => latency.p99 as f64,
        LatencyStatistic::P999 => latency.p999? as f64,
        LatencyStatistic::Max => latency.max as f64,
    })
}

/// `p99.9 1.8 ms`: the value that the limit judges, as far as it is known.
pub(crate) fn judged_words(series: &SeriesRecord, step: &StepRecord) -> Option<String> {
    let latency = step.latency_ns.as_ref()?;
    let statistic = judged(series);
    let words = |ns: f64| format_duration(ns.round().max(0.0) as u64);
    Some(match value(latency, statistic) {
        Some(ns) => format!("{statistic} {}", words(ns)),
        None => format!("{statistic} unknown, max {}", words(latency.max as f64)),
    })
}

/// What the ladder gives at other limits, as far as its steps tell: `p99 < 20 ms:
/// 1,207 IOPS with 4 in flight; p99 < 100 ms: ...`. Limits that no step meets are
/// left out, and where none is met the text is empty.
pub(crate) fn at_other_limits(series: &SeriesRecord) -> String {
    let statistic = judged(series);
    let words = LIMITS_MS.into_iter().filter_map(|limit| {
        let step = best_within(series, limit)?;
        Some(format!(
            "{statistic} < {limit} ms: {} with {} in flight",
            amount(series, step),
            in_flight(step)
        ))
    });
    words.collect::<Vec<_>>().join("; ")
}

/// The same in brief, and with the limits that nothing meets: `p99 < 1 ms: none · 5 ms:
/// none · 20 ms: 284 IOPS with 2 in flight · 100 ms: 589 IOPS with 8`.
pub(crate) fn at_all_limits(series: &SeriesRecord) -> String {
    let mut said = false;
    let words = LIMITS_MS.into_iter().map(|limit| {
        let Some(step) = best_within(series, limit) else {
            return format!("{limit} ms: none");
        };
        let unit = if said { "" } else { " in flight" };
        said = true;
        format!(
            "{limit} ms: {} with {}{unit}",
            amount(series, step),
            in_flight(step)
        )
    });
    let words: Vec<String> = words.collect();
    format!("{} < {}", judged(series), words.join(" \u{b7} "))
}

/// The step of the highest throughput within so many milliseconds.
fn best_within(series: &SeriesRecord, limit_ms: u64) -> Option<&StepRecord> {
    let statistic = judged(series);
    let limit_ns = (limit_ms * 1_000_000) as f64;
    let counting = series.steps.iter().filter(|step| step.counts());
    let within = counting.filter(|step| {
        let latency = step.latency_ns.as_ref();
        latency
            .and_then(|latency| value(latency, statistic))
            .is_some_and(|ns| ns < limit_ns)
    });
    within.max_by(|a, b| a.iops.total_cmp(&b.iops))
}

/// What stands behind the sentence of a ladder that misses its limit: ` At the
/// knee: 700 IOPS with 8 in flight, p99 19 ms. p99 < 20 ms: ...`. Empty of others.
pub(crate) fn instead(series: &SeriesRecord) -> String {
    let Some(Answer { step, place }) = answer(series) else {
        return String::new();
    };
    let place = match place {
        AnswerReason::Only | AnswerReason::Within => return String::new(),
        AnswerReason::Knee => "knee",
        AnswerReason::Ceiling => "ceiling",
    };
    let judged = judged_words(series, step).map(|words| format!(", {words}"));
    let others = at_other_limits(series);
    // The sentence has the knee with its interval already.
    if series.answer.is_some() {
        return match others.as_str() {
            "" => String::new(),
            others => format!(" In single runs: {others}."),
        };
    }
    format!(
        " At the {place}: {} with {} in flight{}.{}",
        amount(series, step),
        in_flight(step),
        judged.unwrap_or_default(),
        if others.is_empty() {
            String::new()
        } else {
            format!(" {others}.")
        }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::KneeRecord;

    fn step(outstanding: u32, iops: f64, p99_ms: u64) -> StepRecord {
        StepRecord {
            run: String::new(),
            threads: 1,
            outstanding,
            iops,
            mib_per_s: iops / 128.0,
            latency_ns: Some(LatencySummary {
                min: 1,
                mean: 2.0,
                p50: 3,
                p90: 4,
                p95: None,
                p99: p99_ms * 1_000_000,
                p999: None,
                max: 900_000_000,
            }),
            bisection: false,
            partial: false,
            void: Vec::new(),
        }
    }

    fn disk(slo: &str) -> SeriesRecord {
        SeriesRecord {
            id: String::new(),
            name: "random-read".to_owned(),
            slo: slo.to_owned(),
            steps: vec![
                step(1, 120.0, 12),
                step(8, 700.0, 19),
                step(64, 1_500.0, 90),
            ],
            knee: Some(KneeRecord {
                kneedle_in_flight: 8,
                kneedle_bracket: [8, 8],
                plateau_in_flight: 64,
                plateau_bracket: [64, 64],
            }),
            partial: false,
            no_answer: None,
            within_limit: None,
            ceiling: Some(2),
            answer: None,
            answer_runs: Vec::new(),
            stopped: String::new(),
            sentence: String::new(),
        }
    }

    #[test]
    fn a_missed_limit_is_answered_at_the_knee_and_at_limits_that_are_met() {
        let mut series = disk("p99<5ms");
        let found = answer(&series).unwrap();
        assert_eq!(
            (found.place, found.step.outstanding),
            (AnswerReason::Knee, 8)
        );
        assert_eq!(
            at_other_limits(&series),
            "p99 < 20 ms: 700 IOPS with 8 in flight; p99 < 100 ms: 1,500 IOPS with 64 in flight"
        );
        assert_eq!(
            at_all_limits(&series),
            "p99 < 1 ms: none \u{b7} 5 ms: none \u{b7} 20 ms: 700 IOPS with 8 in flight \u{b7} \
             100 ms: 1,500 IOPS with 64"
        );
        series.knee = None;
        assert_eq!(answer(&series).unwrap().place, AnswerReason::Ceiling);
        series.within_limit = Some(0);
        assert_eq!(answer(&series).unwrap().place, AnswerReason::Within);
        series.no_answer = Some("all steps are VOID (zero-data)".to_owned());
        assert!(answer(&series).is_none());
        series.no_answer = None;
        series.within_limit = None;
        series.knee = disk("p99<5ms").knee;
        series.steps[1].void = vec!["zero-data".to_owned()];
        assert_eq!(
            answer(&series).unwrap().place,
            AnswerReason::Ceiling,
            "a void knee"
        );
        assert!(!at_other_limits(&series).contains("700 IOPS"));
        series.steps.clear();
        assert!(answer(&series).is_none());
    }

    /// Of hundreds of runs only what a row shows is kept: no knee can be read off them.
    #[test]
    fn lightened_records_are_answered_at_the_knee_all_the_same() {
        let answered = AnswerRecord {
            at: AnswerPlace::Knee,
            in_flight: 8.0,
            bound: None,
            iops: 700.0,
            iops_low: None,
            iops_high: None,
            mib_per_s: 5.0,
            mib_per_s_low: None,
            mib_per_s_high: None,
            level: 0.95,
            latency_ns: 19_000_000,
            runs: 8,
            runs_left_out: 0,
        };
        let series = SeriesRecord {
            knee: None,
            answer: Some(answered),
            ..disk("p99<5ms")
        };
        let found = answer(&series).unwrap();
        assert_eq!(
            (found.place, found.step.outstanding),
            (AnswerReason::Knee, 8)
        );
    }

    #[test]
    fn the_judged_percentile_is_told_and_not_another() {
        for (slo, words) in [
            ("p99<5ms", "p99 12 ms"),
            ("p99.9<5ms", "p99.9 unknown, max 900 ms"),
            ("max<5ms", "max 900 ms"),
            ("p90<5ms", "p90 4 ns"),
        ] {
            let series = disk(slo);
            assert_eq!(
                judged_words(&series, &series.steps[0]).as_deref(),
                Some(words)
            );
        }
    }
}
