//! Does a disk perform like its kind? Compares its bench with that of a simulated array,
//! as requirements: half the rate of the array, or a durable write that takes twice
//! as long, is still acceptable.

use stripewise_lab::{Ended, SeriesKind};
use stripewise_results::{AnswerRecord, RequirementRecord, SeriesRecord, SeriesVerdict};
use stripewise_units::{format_duration_beside, format_iops_beside};

/// Slower by more than this factor is missed; faster by more only gets a remark.
const FACTOR: f64 = 2.0;

/// The result of a series, and its description.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Value {
    /// IOPS or MiB/s, or nanoseconds for a log.
    value: f64,
    what: &'static str,
}

/// A requirement for each series that both benches ran: `expected` on the array `name`,
/// `measured` on the disk.
pub fn expectations(
    name: &str,
    expected: &[SeriesRecord],
    measured: &[SeriesRecord],
) -> Vec<RequirementRecord> {
    let of = |series: &SeriesRecord| {
        let kind = SeriesKind::from_name(&series.name)?;
        let other = measured.iter().find(|other| other.name == series.name)?;
        let record = requirement(name, kind, series, other);
        let verdict = SeriesVerdict {
            id: other.id.clone(),
            name: other.name.clone(),
            verdict: record.verdict(),
        };
        Some(RequirementRecord {
            series: vec![verdict],
            ..record
        })
    };
    expected.iter().filter_map(of).collect()
}

fn requirement(
    name: &str,
    kind: SeriesKind,
    expected: &SeriesRecord,
    measured: &SeriesRecord,
) -> RequirementRecord {
    let (wanted, found) = match kind {
        SeriesKind::Log => (durable_write(expected), durable_write(measured)),
        // Answers of both, or the ceiling that every climb has.
        _ => match (within(kind, expected), within(kind, measured)) {
            (Some(wanted), Some(found)) => (Some(wanted), Some(found)),
            _ => (ceiling(kind, expected), ceiling(kind, measured)),
        },
    };
    // Beside what it is compared with.
    let words = |value: f64, other: f64| match kind {
        SeriesKind::Log => format_duration_beside(value.round() as u64, other.round() as u64),
        kind if kind.reported_in_bytes() => format!("{} MiB/s", format_iops_beside(value, other)),
        _ => format!("{} IOPS", format_iops_beside(value, other)),
    };
    let (Some(wanted), Some(found)) = (wanted, found) else {
        return RequirementRecord {
            requirement: format!("{} like {name}", expected.name),
            measured_words: "one of the two benches has no answer".to_owned(),
            undecided: true,
            ..RequirementRecord::default()
        };
    };
    // Above 1: better than expected.
    let ratio = match kind {
        SeriesKind::Log => wanted.value / found.value,
        _ => found.value / wanted.value,
    };
    let (sign, bound) = match kind {
        SeriesKind::Log => ("<=", wanted.value * FACTOR),
        _ => (">=", wanted.value / FACTOR),
    };
    let verdict = match ratio {
        ratio if ratio < 1.0 / FACTOR => "slower than this kind of storage",
        ratio if ratio > FACTOR => "faster than this kind of storage",
        _ => "within a factor of two of this kind of storage",
    };
    let met = ratio >= 1.0 / FACTOR;
    // A ladder that was cut short has not shown the maximum.
    let is_cut = found.what == "ceiling" && measured.stopped == Ended::TimeSpent.words();
    RequirementRecord {
        requirement: format!(
            "{} {}{sign}{}",
            expected.name,
            wanted.what,
            words(bound, found.value)
        ),
        measured: Some(found.value),
        measured_words: format!(
            "{} where {name} gives {}; {verdict}",
            words(found.value, bound),
            words(wanted.value, bound)
        ),
        met,
        undecided: !met && is_cut,
        ..RequirementRecord::default()
    }
}

/// The rate within the latency limit.
fn within(kind: SeriesKind, series: &SeriesRecord) -> Option<Value> {
    let answer = series.answer.filter(|answer| answer.bound.is_none())?;
    let AnswerRecord {
        iops, mib_per_s, ..
    } = answer;
    let value = if kind.reported_in_bytes() {
        mib_per_s
    } else {
        iops
    };
    Some(Value {
        value,
        what: "answer",
    })
}

fn ceiling(kind: SeriesKind, series: &SeriesRecord) -> Option<Value> {
    let step = series.steps.get(series.ceiling?)?;
    let value = if kind.reported_in_bytes() {
        step.mib_per_s
    } else {
        step.iops
    };
    Some(Value {
        value,
        what: "ceiling",
    })
}

/// The median of a durable write, in the runs behind the log's answer.
fn durable_write(series: &SeriesRecord) -> Option<Value> {
    let latency = series.answered()?.record.latency?;
    Some(Value {
        value: Some(latency.p50 as f64).filter(|value| *value > 0.0)?,
        what: "p50",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{LatencySummary, StepRecord};

    fn series(name: &str, rate: f64, p50_ns: u64) -> SeriesRecord {
        let step = StepRecord {
            run: "run".to_owned(),
            threads: 1,
            outstanding: 1,
            iops: rate,
            mib_per_s: rate / 16.0,
            latency_ns: Some(LatencySummary {
                p50: p50_ns,
                ..LatencySummary::default()
            }),
            ..StepRecord::default()
        };
        SeriesRecord {
            id: "bench".to_owned(),
            name: name.to_owned(),
            slo: "p99<5ms".to_owned(),
            steps: vec![step],
            ceiling: Some(0),
            ..SeriesRecord::default()
        }
    }

    fn judged(name: &str, expected: (f64, u64), measured: (f64, u64)) -> RequirementRecord {
        let expected = [series(name, expected.0, expected.1)];
        let measured = [series(name, measured.0, measured.1)];
        let mut all = expectations("sim:x", &expected, &measured);
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    #[test]
    fn half_of_the_rate_is_in_the_ballpark_and_less_is_not() {
        for (rate, met, says) in [
            (500.0, true, "within a factor of two"),
            (499.0, false, "slower than this kind"),
            (2000.0, true, "within a factor of two"),
            (2001.0, true, "faster than this kind"),
        ] {
            let one = judged("random-read", (1000.0, 1), (rate, 1));
            assert_eq!(one.met, met, "{rate}");
            assert!(one.measured_words.contains(says), "{one:?}");
            assert_eq!(one.requirement, "random-read ceiling>=500 IOPS");
        }
        let streams = judged("sequential-read", (1600.0, 1), (1600.0, 1));
        assert_eq!(streams.requirement, "sequential-read ceiling>=50.0 MiB/s");
    }

    #[test]
    fn a_ladder_that_was_cut_short_does_not_miss_a_ceiling() {
        let expected = [series("random-read", 1000.0, 1)];
        let mut measured = [series("random-read", 100.0, 1)];
        assert!(!expectations("sim:x", &expected, &measured)[0].undecided);
        measured[0].stopped = Ended::TimeSpent.words().to_owned();
        let all = expectations("sim:x", &expected, &measured);
        assert!(!all[0].met && all[0].undecided, "{all:?}");
    }

    #[test]
    fn a_log_is_judged_by_its_latency() {
        let one = judged("log", (1.0, 100_000), (1.0, 200_000));
        assert!(one.met, "{one:?}");
        let one = judged("log", (1.0, 100_000), (1.0, 210_000));
        assert!(
            !one.met && one.requirement.starts_with("log p50<="),
            "{one:?}"
        );
        // A series that did not run cannot be compared.
        assert!(expectations("sim:x", &[series("log", 1.0, 1)], &[]).is_empty());
    }

    #[test]
    fn without_an_answer_nothing_is_met() {
        let expected = [series("random-read", 1000.0, 1)];
        let mut measured = [series("random-read", 1000.0, 1)];
        measured[0].ceiling = None;
        let all = expectations("sim:x", &expected, &measured);
        assert!(!all[0].met && all[0].undecided && all[0].measured.is_none());
    }
}
