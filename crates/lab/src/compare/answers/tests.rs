//! Benches with known answers.

use super::*;
use stripewise_results::{JobOutcome, JobRecord, LatencySummary};
use stripewise_workload::Workload;

/// Eight runs of the log of a bench around a rate, with a scatter of a few per cent.
fn log(bench: &str, rate: f64, slo: &str) -> Vec<RunRecord> {
    let shares = [1.0, 0.98, 1.02, 1.01, 0.99, 0.97, 1.03, 1.0];
    let runs = (0..).zip(shares).map(|(number, share)| {
        let mut outcome = JobOutcome {
            operations: (rate * share * 1.5) as u64,
            iops: rate * share,
            mib_per_s: rate * share / 128.0,
            ..JobOutcome::default()
        };
        outcome.write.latency_ns = Some(LatencySummary {
            p99: 1_000_000,
            ..LatencySummary::default()
        });
        RunRecord {
            id: format!("{bench}-{number}"),
            series: Some(bench.to_owned()),
            series_part: Some("log".to_owned()),
            answer_block: (number > 0).then_some(number),
            latency_limit: Some(slo.to_owned()),
            jobs: vec![JobRecord {
                name: "log".to_owned(),
                workload: Workload {
                    read_percent: 0,
                    threads: 1,
                    outstanding: 1,
                    ..Workload::default()
                },
                outcome,
                ..JobRecord::default()
            }],
            ..RunRecord::empty()
        }
    });
    runs.collect()
}

fn against(a: Vec<RunRecord>, b: Vec<RunRecord>) -> Option<ComparisonRecord> {
    let side = |name: &str, runs| Side {
        name: name.to_owned(),
        runs,
    };
    compare_answers(&side("then", a), &side("now", b), CompareOptions::default())
}

#[test]
fn answers_are_compared_with_the_interval_of_their_ratio() {
    let slo = "p99<5ms";
    let record = against(log("a", 10_000.0, slo), log("b", 9_000.0, slo)).expect("answers");
    let [row] = record.rows.as_slice() else {
        panic!("{record:?}")
    };
    assert_eq!(
        (row.verdict, record.verdict),
        (Verdict::Worse, Verdict::Worse)
    );
    assert_eq!(
        (row.pattern.as_str(), row.operation.as_str()),
        ("log", "write")
    );
    assert!((row.difference_percent + 10.0).abs() < 1e-9, "{row:?}");
    let [low, high] = row.interval_percent.expect("an interval");
    // Each answer is known to about 1.9 %, so their ratio is known to 2.7 %.
    assert!(
        (-13.0..-12.0).contains(&low) && (-8.0..-7.0).contains(&high),
        "{row:?}"
    );
    assert_eq!(
        (record.a.from, record.b.from),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
    let sentence_text = &record.sentences[0];
    assert!(
        sentence_text.starts_with("Log: 9,000 IOPS (8,8"),
        "{sentence_text}"
    );
    assert!(
        sentence_text.contains("now gives 10.00 % (7.") && sentence_text.ends_with("less: worse."),
        "{sentence_text}"
    );

    let same = against(log("a", 10_000.0, slo), log("b", 10_050.0, slo)).expect("answers");
    assert_eq!(same.verdict, Verdict::NoDifference);
    assert!(
        same.sentences[0].contains("no difference larger than"),
        "{same:?}"
    );
}

#[test]
fn answers_to_different_questions_are_not_compared() {
    let one = || log("a", 10_000.0, "p99<5ms");
    assert!(against(one(), log("b", 9_000.0, "p99<9ms")).is_none());
    let mut other_block = log("b", 9_000.0, "p99<5ms");
    for run in &mut other_block {
        run.jobs[0].workload.block_size_bytes = 4_096;
    }
    assert!(against(one(), other_block).is_none());
    let two = [one(), log("c", 11_000.0, "p99<5ms")].concat();
    assert!(against(two, log("b", 9_000.0, "p99<5ms")).is_none());
    // Three runs are too few for an answer.
    assert!(against(one(), log("b", 9_000.0, "p99<5ms")[..3].to_vec()).is_none());
}

#[test]
fn conditions_that_differ_and_answers_of_one_side_are_named() {
    let sized = |bench: &str, gib: u64| {
        let mut runs = log(bench, 10_000.0, "p99<5ms");
        for run in &mut runs {
            run.jobs[0].target.size_bytes = gib << 30;
        }
        runs
    };
    let notes = |gib: u64| {
        against(sized("a", 4), sized("b", gib))
            .expect("answers")
            .notes
    };
    let of_size =
        |note: &String| note.contains("caused by the size in use: 4 GiB on then, 6 GiB on now.");
    assert!(notes(6).iter().any(of_size), "{:?}", notes(6));
    assert!(!notes(4).iter().any(|note| note.contains(" on now")));

    let runs = log("a", 1_000.0, "p99<5ms");
    let series = series_of(&runs);
    let of = |kind: SeriesKind| AnswerEntry {
        kind,
        series: &series[0],
        answer: answer(None, [900.0, 1_100.0]),
        compared: ComparedAnswer {
            leaves_slow_runs_out: false,
            bound: None,
            beyond_limit: None,
        },
        block_size_bytes: 8192,
    };
    let side = |name: &str| Side {
        name: name.to_owned(),
        runs: Vec::new(),
    };
    let (a, b) = (side("a"), side("b"));
    let of_a = [of(SeriesKind::RandomRead), of(SeriesKind::Log)];
    let of_b = [of(SeriesKind::RandomRead)];
    let only = only_in([&a, &b], [&of_a, &of_b]);
    assert_eq!(only.as_deref(), Some("Answered in a, not in b: log."));
    assert_eq!(only_in([&b, &a], [&of_b, &of_a]), None);
}

/// An answer of one bench, as stored.
fn answer(bound: Option<AnswerBound>, [low, high]: [f64; 2]) -> AnswerRecord {
    let iops = match bound {
        Some(AnswerBound::AtLeast) => low,
        Some(AnswerBound::AtMost) => high,
        None => (low * high).sqrt(),
    };
    AnswerRecord {
        at: AnswerPlace::Limit,
        in_flight: 1.0,
        bound,
        iops,
        iops_low: (bound != Some(AnswerBound::AtMost)).then_some(low),
        iops_high: (bound != Some(AnswerBound::AtLeast)).then_some(high),
        mib_per_s: iops / 128.0,
        mib_per_s_low: None,
        mib_per_s_high: None,
        level: 0.95,
        latency_ns: 1,
        latency: None,
        runs: 8,
        runs_left_out: 0,
        in_full: None,
    }
}

#[test]
fn a_bound_and_an_interval_that_exclude_each_other_are_different() {
    use AnswerBound::{AtLeast, AtMost};
    let interval = |low, high| answer(None, [low, high]);
    let at_least = |rate| answer(Some(AtLeast), [rate, rate]);
    let at_most = |rate| answer(Some(AtMost), [rate, rate]);
    for (a, b, verdict, bounds) in [
        (
            interval(1_000.0, 1_100.0),
            at_least(9_000.0),
            Verdict::Better,
            [Some(718.18), None],
        ),
        (
            at_least(9_000.0),
            interval(1_000.0, 1_100.0),
            Verdict::Worse,
            [None, Some(-87.78)],
        ),
        (
            at_least(9_000.0),
            at_most(900.0),
            Verdict::Worse,
            [None, Some(-90.0)],
        ),
        (
            at_most(900.0),
            interval(850.0, 950.0),
            Verdict::Undecided,
            [Some(-5.56), None],
        ),
        (
            at_least(900.0),
            interval(850.0, 950.0),
            Verdict::Undecided,
            [None, Some(5.56)],
        ),
        (
            at_least(900.0),
            at_least(9_000.0),
            Verdict::Undecided,
            [None, None],
        ),
    ] {
        let row = compared_row(a, b);
        assert_eq!(excluded(&row), verdict, "{row:?}");
        let ends = row.bounds_percent.expect("bounds");
        let rounded = ends.map(|end| end.map(|end| (end * 100.0).round() / 100.0));
        assert_eq!(rounded, bounds, "{row:?}");
    }
    assert_eq!(
        most_change([None, Some(5.56)]).as_deref(),
        Some("at most 5.56 % more")
    );
    assert_eq!(most_change([None, None]), None);
}

/// The row of two answers of a log.
fn compared_row(a: AnswerRecord, b: AnswerRecord) -> ComparisonRow {
    let runs = log("a", 1_000.0, "p99<5ms");
    let series = series_of(&runs);
    let of = |answer: AnswerRecord| AnswerEntry {
        kind: SeriesKind::Log,
        series: &series[0],
        answer,
        compared: ComparedAnswer {
            leaves_slow_runs_out: false,
            bound: answer.bound,
            beyond_limit: None,
        },
        block_size_bytes: 8192,
    };
    let (a, b) = (of(a), of(b));
    row(&a, &b, CompareOptions::default()).expect("a row").row
}

/// A side's rate beyond a limit that the other side meets is not better for being higher.
#[test]
fn an_answer_beyond_its_limit_is_marked_and_never_better() {
    let slow = |bench: &str, rate: f64| {
        let mut runs = log(bench, rate, "p99<5ms");
        for run in &mut runs {
            let latency = run.jobs[0].outcome.write.latency_ns.as_mut();
            latency.expect("latencies").p99 = 9_000_000;
        }
        runs
    };
    let meets = || log("a", 10_000.0, "p99<5ms");
    let more = against(meets(), slow("b", 12_000.0)).expect("answers");
    assert_eq!(more.verdict, Verdict::Undecided, "{more:?}");
    let [of_a, of_b] = more.rows[0].answers.expect("answers");
    assert_eq!(
        (of_a.beyond_limit, of_b.beyond_limit),
        (None, Some(AnswerPlace::Only))
    );
    let sentence_text = &more.sentences[0];
    assert!(
        sentence_text.ends_with(": undecided (over the limit)."),
        "{sentence_text}"
    );
    let less = against(meets(), slow("b", 9_000.0)).expect("answers");
    assert_eq!(less.verdict, Verdict::Worse);
    let both = against(slow("c", 10_000.0), slow("b", 12_000.0)).expect("answers");
    assert_eq!(both.verdict, Verdict::Better);
}

/// Its stalls are in no interval, and no reason to call it as good.
#[test]
fn an_answer_that_leaves_slow_runs_out_is_not_equal() {
    let stalls = |bench: &str| {
        let mut runs = log(bench, 10_000.0, "p99<5ms");
        let count = runs.len();
        for run in &mut runs[count - 2..] {
            run.jobs[0].outcome.iops /= 2.0;
        }
        runs
    };
    let smooth = || log("a", 10_000.0, "p99<5ms");
    let same = against(smooth(), log("b", 10_000.0, "p99<5ms")).expect("answers");
    assert_eq!(same.verdict, Verdict::NoDifference);
    let table = against(smooth(), stalls("b")).expect("answers");
    assert_eq!(table.verdict, Verdict::Undecided, "{table:?}");
    assert_eq!(
        table.rows[0].undecided_because(),
        Some("slow runs are left out")
    );
    let text = &table.sentences[0];
    assert!(
        text.contains(" were slower by 48 %; counted in full"),
        "{text}"
    );
}
