//! Verdicts on a rate and a latency of one series, from ladders and from open-loop runs.

use super::*;
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerRecord, DueRecord, DueSecondRecord, JobOutcome, JobRecord,
    LatencySummary, Severity, StepRecord, Warning,
};
use stripewise_workload::{Arrivals, Rate, Workload};

fn parsed(texts: &[&str]) -> Vec<Requirement> {
    let all = texts.iter().map(|text| text.parse());
    all.collect::<Result<_, _>>().expect("requirements")
}

/// A ladder with these steps: in flight, IOPS, p99 in milliseconds.
fn ladder(steps: &[(u32, f64, u64)], answer: Option<AnswerRecord>) -> SeriesRecord {
    let step = |&(outstanding, iops, p99_ms): &(u32, f64, u64)| StepRecord {
        run: format!("step-{outstanding}"),
        threads: 1,
        outstanding,
        iops,
        mib_per_s: iops / 128.0,
        latency_ns: Some(LatencySummary {
            p99: p99_ms * 1_000_000,
            ..LatencySummary::default()
        }),
        ..StepRecord::default()
    };
    SeriesRecord {
        id: "bench".to_owned(),
        name: "random-read".to_owned(),
        slo: "p99<5ms".to_owned(),
        steps: steps.iter().map(step).collect(),
        answer,
        ..SeriesRecord::default()
    }
}

fn answer(at: AnswerPlace, [low, high]: [f64; 2], bound: Option<AnswerBound>) -> AnswerRecord {
    AnswerRecord {
        at,
        in_flight: 32.0,
        bound,
        iops: (low + high) / 2.0,
        iops_low: Some(low),
        iops_high: Some(high),
        mib_per_s: 1.0,
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

/// A run at 800 IOPS for `seconds`; in every tenth second, `late` operations take longer
/// than 15 ms.
fn at_rate(seconds: usize, late: u64) -> RunRecord {
    let second = |number: usize| DueSecondRecord {
        due: 800,
        beyond: vec![if number.is_multiple_of(10) { late } else { 0 }],
        latency_ns_sum: 800 * 1_000_000,
    };
    let outcome = JobOutcome {
        due: Some(DueRecord {
            thresholds_ns: vec![15_000_000 - 1],
            seconds: (0..seconds).map(second).collect(),
            ..DueRecord::default()
        }),
        ..JobOutcome::default()
    };
    RunRecord {
        id: "at-rate".to_owned(),
        series: Some("bench".to_owned()),
        series_part: Some(part_at_rate(SeriesKind::RandomRead)),
        jobs: vec![JobRecord {
            name: "random-read".to_owned(),
            workload: Workload {
                rate: Some(Rate {
                    iops: 800.0,
                    arrivals: Arrivals::Poisson,
                }),
                ..Workload::default()
            },
            outcome,
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    }
}

const BOTH: [&str; 2] = ["random-read iops>=800", "random-read p99<15ms"];

fn verdicts(series: &SeriesRecord, runs: &[RunRecord]) -> Vec<(bool, bool, String)> {
    let required = parsed(&BOTH);
    let both = required_together(&required, &[SeriesKind::RandomRead]).expect("clear");
    let judged = both[0].judge(series, &runs.iter().collect::<Vec<_>>());
    assert_eq!(judged.len(), 2);
    let effect = judged
        .into_iter()
        .map(|(_, one)| (one.met, one.undecided, one.measured_words));
    effect.collect()
}

#[test]
fn a_rate_and_a_latency_belong_together_where_they_mean_one_series() {
    use SeriesKind::{Log, RandomRead, SequentialRead};
    let kinds = [RandomRead, SequentialRead, Log];
    for (texts, expected) in [
        (&BOTH[..], Ok(vec![RandomRead])),
        (&["random-read iops>=800", "log p99<15ms"], Ok(vec![])),
        (&["write_iops>=800", "log p99<15ms"], Ok(vec![Log])),
        (&["random-read iops>=800"], Ok(vec![])),
        (&["read_iops>=800", "random-read p99<15ms"], Err(())),
        (&["random-read iops>=800", "p99<15ms"], Err(())),
    ] {
        let required = parsed(texts);
        let found = required_together(&required, &kinds);
        let found = found.map(|all| all.iter().map(|one| one.kind).collect::<Vec<_>>());
        assert_eq!(found.map_err(|_| ()), expected, "{texts:?}");
    }
    // With one series, no other could be meant.
    let required = parsed(&["iops>=800", "p99<15ms"]);
    let alone = required_together(&required, &[RandomRead]).expect("clear");
    assert_eq!(alone[0].kind, RandomRead);
    assert_eq!(alone[0].thresholds_ns(), [14_999_999]);
    assert_eq!(alone[0].in_flight_max(8192), 256);
}

/// 32 in flight reach the rate and 1 meets the latency, but no load does both.
#[test]
fn what_no_load_satisfies_is_missed_by_the_ladder() {
    let raid = ladder(
        &[
            (1, 167.0, 10),
            (2, 284.0, 19),
            (16, 737.0, 108),
            (32, 875.0, 223),
        ],
        Some(answer(AnswerPlace::Knee, [864.0, 885.0], None)),
    );
    let missed = verdicts(&raid, &[]);
    assert!(missed.iter().all(|one| !one.0 && !one.1), "{missed:?}");
    // The reason is given once.
    let [rate, latency] = [&missed[0].2, &missed[1].2];
    assert_eq!(rate, "as random-read p99<15ms, with which it is judged");
    assert!(
        latency.contains("p99 is 108 ms at 737 IOPS already"),
        "{latency}"
    );
    // It gives less than the rate at any latency.
    let slow = ladder(
        &[(1, 100.0, 1), (2, 200.0, 1), (4, 201.0, 2)],
        Some(answer(AnswerPlace::Plateau, [195.0, 205.0], None)),
    );
    let missed = verdicts(&slow, &[]);
    assert!(missed.iter().all(|one| !one.0 && !one.1), "{missed:?}");
    assert!(missed[1].2.contains("205 IOPS at most"), "{missed:?}");
}

/// A step meets both, but the ladder does not show stalls.
#[test]
fn what_a_ladder_seems_to_meet_is_not_met_by_it() {
    let fast = ladder(
        &[(1, 9_000.0, 1), (32, 300_000.0, 1)],
        Some(answer(
            AnswerPlace::Plateau,
            [290_000.0, 310_000.0],
            Some(AnswerBound::AtLeast),
        )),
    );
    let open = verdicts(&fast, &[]);
    assert!(open.iter().all(|one| !one.0 && one.1), "{open:?}");
    // The command that decides it, with enough time.
    let command = "stripewise bench TARGET --series random-read --time 1h \
                   --require 'random-read iops>=800' --require 'random-read p99<15ms'";
    assert!(open[1].2.ends_with(command), "{open:?}");
}

#[test]
fn runs_at_the_rate_decide_by_their_seconds() {
    let fast = ladder(&[(1, 9_000.0, 1), (32, 30_000.0, 1)], None);
    for (seconds, late, expected) in [
        (1_800, 0, (true, false)),
        (1_200, 0, (true, false)),
        // Ten minutes without late operations do not exclude a one-second stall in a hundred.
        (600, 0, (false, true)),
        (170, 800, (false, true)),
        // One second in ten is late as a whole: 10 %.
        (180, 800, (false, false)),
    ] {
        for (met, undecided, words) in verdicts(&fast, &[at_rate(seconds, late)]) {
            assert_eq!((met, undecided), expected, "{seconds} s, {late}: {words}");
        }
    }
    // Split runs count like one; a run of another bench does not.
    let pieces = [at_rate(600, 0), at_rate(600, 0)];
    assert!(verdicts(&fast, &pieces).iter().all(|one| one.0));
    let mut other = pieces.clone();
    other[1].series = Some("another".to_owned());
    assert!(verdicts(&fast, &other).iter().all(|one| one.1));
}

#[test]
fn void_runs_and_those_that_the_program_held_back_decide_nothing() {
    let fast = ladder(&[(1, 9_000.0, 1), (32, 30_000.0, 1)], None);
    let mut lagging = at_rate(1_800, 0);
    if let Some(due) = &mut lagging.jobs[0].outcome.due {
        due.own_lags = 1_800 * 800 / 900;
    }
    // Late by a tenth of a smaller threshold than the one that is judged.
    let mut of_other = lagging.clone();
    if let Some(due) = &mut of_other.jobs[0].outcome.due {
        let smallest = due.thresholds_ns[0] / 100;
        due.own_lags_beyond = vec![due.own_lags, 0];
        due.thresholds_ns.insert(0, smallest);
        for second in &mut due.seconds {
            second.beyond.insert(0, 0);
        }
    }
    let effect = verdicts(&fast, std::slice::from_ref(&of_other));
    assert!(effect.iter().all(|one| one.0), "{effect:?}");
    let mut void = at_rate(1_800, 0);
    void.jobs[0].warnings.push(Warning {
        code: "io-throttled".to_owned(),
        severity: Severity::Void,
        message: String::new(),
        short: String::new(),
        hint: String::new().into(),
    });
    let mut slower = at_rate(1_800, 0);
    if let Some(rate) = &mut slower.jobs[0].workload.rate {
        rate.iops = 700.0;
    }
    for (run, says) in [
        (lagging, "issued"),
        (void, "io-throttled"),
        (slower, "lower rate"),
    ] {
        let effect = verdicts(&fast, std::slice::from_ref(&run));
        assert!(effect.iter().all(|one| !one.0 && one.1), "{effect:?}");
        assert!(effect[1].2.contains(says), "{effect:?}");
    }
}

#[test]
fn pieces_end_where_it_is_looked() {
    let mut sum = 0;
    let ends: Vec<u64> = pieces_s()
        .into_iter()
        .map(|piece| {
            sum += piece;
            sum
        })
        .collect();
    assert_eq!(ends, [180, 300, 600, 1_200, 1_800]);
}

#[test]
fn steps_past_the_highest_rate_say_nothing_of_few_in_flight() {
    let all = parsed(&["random-read iops>=20000", "random-read p99<5ms"]);
    let groups = required_together(&all, &[SeriesKind::RandomRead]).expect("pairs");
    let both = groups.first().expect("a pair");
    let missed = |steps: &[(u32, f64, u64)]| both.is_missed_by_ladder(&ladder(steps, None), 8_192);
    // With 512 in flight, the rate falls back to that of one.
    assert!(!missed(&[
        (1, 17_000.0, 1),
        (64, 61_000.0, 4),
        (512, 16_900.0, 90)
    ]));
    // A step that is slow by chance, next to one that gives both.
    assert!(!missed(&[
        (1, 17_000.0, 14),
        (4, 40_000.0, 1),
        (64, 61_000.0, 4)
    ]));
    assert!(missed(&[
        (1, 17_000.0, 6),
        (4, 40_000.0, 9),
        (64, 61_000.0, 30)
    ]));
}
