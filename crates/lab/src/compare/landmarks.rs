//! Context for the answers of two benches: ceilings, the loads at the knees, and the
//! log's latency.
//!
//! A ceiling and a knee come from one climb, so they have no interval and no verdict.
//! The log runs several times at one load, so its latencies are compared like
//! repetitions of any other workload.

use super::{CompareOptions, Question, Side, compare_all};
use crate::experiment::Metric;
use crate::series::SeriesKind;
use crate::summary::series_of;
use stripewise_results::{
    ComparedAnswer, ComparisonGroup, ComparisonRecord, ComparisonRow, RunRecord, SeriesRecord,
    SideRecord, Verdict,
};
use stripewise_stats::difference_percent;

/// A series that each side has exactly once.
struct Pair<'a> {
    kind: SeriesKind,
    a: &'a SeriesRecord,
    b: &'a SeriesRecord,
    block_size_bytes: Option<u64>,
}

/// Tables of the results of two benches besides their answers; empty if a side is not a bench.
pub fn compare_landmarks(a: &Side, b: &Side, options: CompareOptions) -> Vec<ComparisonRecord> {
    let series = [a, b].map(|side| series_of(&side.runs));
    let pairs = pairs(&series, &a.runs);
    let ceilings = table(
        format!("ceilings of {} against {}", b.name, a.name),
        [a, b],
        pairs.iter().filter_map(ceiling).collect(),
    );
    let knees = table(
        format!("queue depth at the knee, {} against {}", b.name, a.name),
        [a, b],
        pairs.iter().filter_map(knee).collect(),
    );
    let mut all: Vec<ComparisonRecord> = [ceilings, knees].into_iter().flatten().collect();
    all.extend(log_latencies(a, b, options));
    all
}

fn pairs<'a>(series: &'a [Vec<SeriesRecord>; 2], runs: &[RunRecord]) -> Vec<Pair<'a>> {
    let only = |all: &'a [SeriesRecord], name: &str| {
        let mut found = all.iter().filter(|one| one.name == name);
        found.next().filter(|_| found.next().is_none())
    };
    let pair = |one: &'a SeriesRecord| {
        let a = only(&series[0], &one.name)?;
        let b = only(&series[1], &one.name)?;
        let of_series = |run: &&RunRecord| run.series_part.as_deref() == Some(a.name.as_str());
        let job = runs.iter().find(of_series)?.jobs.first()?;
        Some(Pair {
            kind: SeriesKind::from_name(&a.name)?,
            a,
            b,
            block_size_bytes: Some(job.workload.block_size_bytes),
        })
    };
    series[0].iter().filter_map(pair).collect()
}

/// The highest rate of each climb.
fn ceiling(pair: &Pair<'_>) -> Option<ComparisonRow> {
    if pair.kind == SeriesKind::Log {
        return None;
    }
    // A ladder that never was as fast as its answer tells nothing of a ceiling.
    let has_none = |series: &SeriesRecord| !series.has_one_load() && series.highest().is_none();
    if has_none(pair.a) || has_none(pair.b) {
        return None;
    }
    let metric = match pair.kind.reported_in_bytes() {
        true => Metric::MibPerS,
        false => Metric::Iops,
    };
    let rate = |series: &SeriesRecord| {
        let step = series.steps.get(series.ceiling?)?;
        Some(match metric {
            Metric::MibPerS => step.mib_per_s,
            _ => step.iops,
        })
    };
    let of = |series: &SeriesRecord| ComparedAnswer {
        leaves_slow_runs_out: false,
        bound: series.ceiling_bound,
        beyond_limit: None,
    };
    Some(ComparisonRow {
        answers: Some([of(pair.a), of(pair.b)]),
        ..row(pair, metric.name(), rate(pair.a)?, rate(pair.b)?)?
    })
}

/// Operations in flight at the knee of each curve.
fn knee(pair: &Pair<'_>) -> Option<ComparisonRow> {
    let load = |series: &SeriesRecord| series.knee.map(|knee| f64::from(knee.kneedle_in_flight));
    row(pair, "in_flight", load(pair.a)?, load(pair.b)?)
}

fn row(pair: &Pair<'_>, metric: &str, a: f64, b: f64) -> Option<ComparisonRow> {
    Some(ComparisonRow {
        operation: if pair.kind.writes() { "write" } else { "read" }.to_owned(),
        pattern: pair.kind.pattern().to_owned(),
        block_size_bytes: pair.block_size_bytes,
        metric: metric.to_owned(),
        a,
        b,
        difference_percent: difference_percent(a, b)?,
        blocks: 1,
        ..ComparisonRow::default()
    })
}

fn table(title: String, sides: [&Side; 2], rows: Vec<ComparisonRow>) -> Option<ComparisonRecord> {
    if rows.is_empty() {
        return None;
    }
    let [a, b] = sides.map(|side| {
        let mut from: Vec<String> = side
            .runs
            .iter()
            .filter_map(|run| run.series.clone())
            .collect();
        from.dedup();
        SideRecord {
            name: side.name.clone(),
            from,
        }
    });
    Some(ComparisonRecord {
        title,
        a,
        b,
        level: CompareOptions::default().level,
        groups: Vec::<ComparisonGroup>::new(),
        verdict: Verdict::Undecided,
        sentences: Vec::new(),
        rows,
        notes: vec![
            "Ceilings, and the queue depths at the knees, come from one climb each, so it is not known \
             how much of a difference is chance."
                .to_owned(),
        ],
        drift: None,
    })
}

/// Median and tail of a durable write.
fn log_latencies(a: &Side, b: &Side, options: CompareOptions) -> Vec<ComparisonRecord> {
    let log = |side: &Side| Side {
        name: side.name.clone(),
        runs: side
            .runs
            .iter()
            .filter(|run| run.series_part.as_deref() == Some("log"))
            .cloned()
            .collect(),
    };
    let [a, b] = [a, b].map(log);
    if a.runs.is_empty() || b.runs.is_empty() {
        return Vec::new();
    }
    let questions: Vec<Question<'_>> = ["latency_ns_p50", "latency_ns_p99"]
        .into_iter()
        .filter_map(|metric| metric.parse().ok())
        .map(|metric| Question {
            a: &a,
            b: &b,
            options: CompareOptions { metric, ..options },
        })
        .collect();
    let answers = compare_all(&questions).into_iter().filter_map(Result::ok);
    answers
        .map(|mut record| {
            record.title = format!("a durable write of the log, {} against {}", b.name, a.name);
            record
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{KneeRecord, StepRecord};

    fn series(name: &str, ceiling: f64, knee: u32) -> SeriesRecord {
        SeriesRecord {
            id: "bench".to_owned(),
            name: name.to_owned(),
            slo: "p99<5ms".to_owned(),
            steps: vec![StepRecord {
                run: "run".to_owned(),
                threads: 1,
                outstanding: 64,
                iops: ceiling,
                mib_per_s: ceiling / 128.0,
                ..StepRecord::default()
            }],
            knee: Some(KneeRecord {
                kneedle_in_flight: knee,
                kneedle_bracket: [knee, knee],
                plateau_in_flight: knee,
                plateau_bracket: [knee, knee],
            }),
            ceiling: Some(0),
            ..SeriesRecord::default()
        }
    }

    fn pair<'a>(kind: SeriesKind, a: &'a SeriesRecord, b: &'a SeriesRecord) -> Pair<'a> {
        Pair {
            kind,
            a,
            b,
            block_size_bytes: Some(8192),
        }
    }

    #[test]
    fn ceilings_and_knees_are_compared_without_an_interval() {
        let (a, b) = (
            series("random-read", 1000.0, 16),
            series("random-read", 1100.0, 32),
        );
        let both = pair(SeriesKind::RandomRead, &a, &b);
        let rate = ceiling(&both).expect("a ceiling");
        assert_eq!(
            (rate.metric.as_str(), rate.a, rate.b),
            ("iops", 1000.0, 1100.0)
        );
        assert!((rate.difference_percent - 10.0).abs() < 1e-9);
        assert_eq!(
            (rate.interval_percent, rate.verdict),
            (None, Verdict::Undecided)
        );
        let load = knee(&both).expect("a knee");
        assert_eq!(
            (load.metric.as_str(), load.a, load.b),
            ("in_flight", 16.0, 32.0)
        );
        let streams = pair(SeriesKind::SequentialRead, &a, &b);
        assert_eq!(ceiling(&streams).expect("a ceiling").metric, "mib_per_s");
        assert!(ceiling(&pair(SeriesKind::Log, &a, &b)).is_none());
    }

    #[test]
    fn a_series_without_an_answer_has_no_ceiling_to_compare() {
        let a = series("random-read", 1000.0, 16);
        let mut b = a.clone();
        (b.ceiling, b.knee) = (None, None);
        let both = pair(SeriesKind::RandomRead, &a, &b);
        assert!(ceiling(&both).is_none() && knee(&both).is_none());
    }
}
