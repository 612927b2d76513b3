//! Benches whose answers are known.

use super::*;
use stripewise_results::{JobOutcome, JobRecord, LatencySummary, TargetFacts};
use stripewise_workload::Workload;

/// Eight runs of the log of a bench around a rate, which differ by a few per cent.
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
                target: TargetFacts::unknown(),
                further_targets: Vec::new(),
                workload: Workload {
                    read_percent: 0,
                    threads: 1,
                    outstanding: 1,
                    ..Workload::default()
                },
                engine: Default::default(),
                outcome,
                warnings: Vec::new(),
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
    // Each answer is known to about 1.9 %, and so their ratio to 2.7 %.
    assert!(
        (-13.0..-12.0).contains(&low) && (-8.0..-7.0).contains(&high),
        "{row:?}"
    );
    assert_eq!(
        (record.a.from, record.b.from),
        (vec!["a".to_owned()], vec!["b".to_owned()])
    );
    let said = &record.sentences[0];
    assert!(said.starts_with("Log: 9,000 IOPS (8,8"), "{said}");
    assert!(
        said.contains("now gives 10.00 % (7.") && said.ends_with("less: worse."),
        "{said}"
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
    // Three runs make no answer.
    assert!(against(one(), log("b", 9_000.0, "p99<5ms")[..3].to_vec()).is_none());
}
