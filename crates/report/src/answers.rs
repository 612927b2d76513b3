//! The answer of a ladder as text: its rate within the limit, else at the knee, so
//! that an array that misses the limit still shows its performance. The answer itself is
//! derived in one place, [`SeriesRecord::answered`].

use crate::number::rate;
use stripewise_results::{AnswerReason, AnswerRecord, SeriesAnswer, SeriesRecord, StepRecord};
use stripewise_stats::Slo;
use stripewise_units::format_duration;

/// Limits in milliseconds at which a ladder is evaluated if it misses its own.
const LIMITS_MS: [u64; 4] = [1, 5, 20, 100];

/// `9,800 IOPS`, `512 MiB/s`, `1,234 writes/s` of a log.
pub(crate) fn amount(series: &SeriesRecord, step: &StepRecord) -> String {
    if series.is_in_bytes() {
        format!("{} MiB/s", rate(step.mib_per_s))
    } else if series.name == "log" {
        format!("{} writes/s", rate(step.iops))
    } else {
        format!("{} IOPS", rate(step.iops))
    }
}

/// `57,400 IOPS (54,900-59,800)`, in the unit of the series.
pub(crate) fn answer_amount(series: &SeriesRecord, answer: &AnswerRecord) -> String {
    answer.words(series.is_in_bytes(), unit(series))
}

/// The unit of a series.
pub(crate) fn unit(series: &SeriesRecord) -> &'static str {
    match (series.is_in_bytes(), series.name.as_str()) {
        (true, _) => "MiB/s",
        (false, "log") => "writes/s",
        (false, _) => "IOPS",
    }
}

/// Operations in flight of an answer, rounded.
pub(crate) fn load_of(answer: &AnswerRecord) -> u64 {
    answer.in_flight.round().max(1.0) as u64
}

/// Where a ladder that misses its limit is evaluated; `None` if it has no such place.
pub(crate) fn place_of(answer: &SeriesAnswer) -> Option<&'static str> {
    match answer.reason {
        AnswerReason::Only | AnswerReason::Within => None,
        AnswerReason::Knee => Some("at the knee"),
        AnswerReason::Highest => Some("where it was fastest"),
    }
}

/// `p99 < 5 ms`; as in the record if that cannot be parsed.
pub(crate) fn limit_words(series: &SeriesRecord) -> String {
    let limit = series.slo.parse::<Slo>();
    limit.map_or_else(|_| series.slo.clone(), |slo| slo.describe())
}

/// `p99` and `1.8 ms`: the statistic that the limit judges, for the runs of an answer; the maximum
/// if that is not known.
pub(crate) fn judged_of_answer(
    series: &SeriesRecord,
    answer: &AnswerRecord,
) -> Option<(String, String)> {
    let statistic = series.judged();
    if answer.latency_ns > 0 {
        return Some((statistic.to_string(), format_duration(answer.latency_ns)));
    }
    let longest = answer.latency?.max;
    Some((
        format!("{statistic} unknown, max"),
        format_duration(longest),
    ))
}

/// The ladder's results at other limits, from its steps: `p99 < 20 ms:
/// 1,207 IOPS with 4 in flight; p99 < 100 ms: ...`. Limits that no step meets are
/// left out; the text is empty if none is met.
pub(crate) fn at_other_limits(series: &SeriesRecord) -> String {
    let statistic = series.judged();
    let words = LIMITS_MS.into_iter().filter_map(|limit| {
        let step = best_within(series, limit)?;
        Some(format!(
            "{statistic} < {limit} ms: {} with {} in flight",
            amount(series, step),
            step.in_flight()
        ))
    });
    words.collect::<Vec<_>>().join("; ")
}

/// The same in brief, including unmet limits: `p99 < 1 ms: none · 5 ms:
/// none · 20 ms: 284 IOPS with 2 in flight · 100 ms: 589 IOPS with 8`.
pub(crate) fn at_all_limits(series: &SeriesRecord) -> String {
    let mut unit_is_shown = false;
    let words = LIMITS_MS.into_iter().map(|limit| {
        let Some(step) = best_within(series, limit) else {
            return format!("{limit} ms: none");
        };
        let unit = if unit_is_shown { "" } else { " in flight" };
        unit_is_shown = true;
        format!(
            "{limit} ms: {} with {}{unit}",
            amount(series, step),
            step.in_flight()
        )
    });
    let words: Vec<String> = words.collect();
    format!("{} < {}", series.judged(), words.join(" \u{b7} "))
}

/// The step with the highest throughput within this many milliseconds.
fn best_within(series: &SeriesRecord, limit_ms: u64) -> Option<&StepRecord> {
    let statistic = series.judged();
    let limit_ns = (limit_ms * 1_000_000) as f64;
    let counting = series.steps.iter().filter(|step| step.counts());
    let within = counting.filter(|step| {
        let latency = step.latency_ns.as_ref();
        latency
            .and_then(|latency| latency.statistic(statistic))
            .is_some_and(|ns| ns < limit_ns)
    });
    within.max_by(|a, b| a.iops.total_cmp(&b.iops))
}

/// Text after the sentence of a ladder that misses its limit: ` In single runs:
/// p99 < 20 ms: ...`. Empty for others.
pub(crate) fn instead(series: &SeriesRecord) -> String {
    let is_missed = series
        .answered()
        .is_some_and(|answer| place_of(&answer).is_some());
    match at_other_limits(series).as_str() {
        others if is_missed && !others.is_empty() => format!(" In single runs: {others}."),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{AnswerPlace, KneeRecord, LatencySummary};

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
            ..StepRecord::default()
        }
    }

    fn disk(slo: &str) -> SeriesRecord {
        SeriesRecord {
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
            ceiling: Some(2),
            ..SeriesRecord::default()
        }
    }

    #[test]
    fn a_missed_limit_is_answered_at_the_knee_and_at_limits_that_are_met() {
        let mut series = disk("p99<5ms");
        let found = series.answered().unwrap();
        assert_eq!(
            (found.reason, found.record.in_flight, found.is_within),
            (AnswerReason::Knee, 8.0, false)
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
        assert_eq!(series.answered().unwrap().reason, AnswerReason::Highest);
        series.within_limit = Some(0);
        assert_eq!(series.answered().unwrap().reason, AnswerReason::Within);
        series.no_answer = Some("all steps are VOID (zero-data)".to_owned());
        assert!(series.answered().is_none());
        series.no_answer = None;
        series.within_limit = None;
        series.knee = disk("p99<5ms").knee;
        series.steps[1].void = vec!["zero-data".to_owned()];
        assert_eq!(
            series.answered().unwrap().reason,
            AnswerReason::Highest,
            "a void knee"
        );
        assert!(!at_other_limits(&series).contains("700 IOPS"));
        series.steps.clear();
        assert!(series.answered().is_none());
    }

    /// Records of hundreds of runs keep only what a row shows, so they have no knee.
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
            latency: None,
            runs: 8,
            runs_left_out: 0,
            in_full: None,
        };
        let series = SeriesRecord {
            knee: None,
            answer: Some(answered),
            ..disk("p99<5ms")
        };
        let found = series.answered().unwrap();
        assert_eq!(
            (found.reason, found.record.in_flight, found.is_within),
            (AnswerReason::Knee, 8.0, false)
        );
    }

    #[test]
    fn the_judged_percentile_is_shown_and_not_another() {
        for (slo, expected) in [
            ("p99<5ms", ("p99", "19 ms")),
            ("p99.9<5ms", ("p99.9 unknown, max", "900 ms")),
            ("max<5ms", ("max", "900 ms")),
            ("p90<5ms", ("p90", "4 ns")),
        ] {
            let series = disk(slo);
            let record = series.answered().expect("an answer").record;
            let (label, value) = judged_of_answer(&series, &record).expect("latencies");
            assert_eq!((label.as_str(), value.as_str()), expected, "{slo}");
        }
    }
}
