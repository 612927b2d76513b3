//! Rules at their borders; how often verdicts are false is counted by `cargo xtask truth
//! --only qualify`.

use super::*;
use crate::sample::Estimate;

fn level(seconds: usize, due: u64, beyond: u64) -> Vec<DueSecond> {
    vec![DueSecond { due, beyond }; seconds]
}

fn p99() -> ShareRule {
    ShareRule::new(0.01)
}

/// Every tenth second all of `burst` are beyond, `due` a second.
fn bursts(seconds: usize, due: u64, burst: u64) -> Vec<DueSecond> {
    (0..seconds)
        .map(|second| DueSecond {
            due,
            beyond: if second % 10 == 3 { burst } else { 0 },
        })
        .collect()
}

#[test]
fn too_little_is_not_judged() {
    for seconds in [0, 1, 2, 19] {
        assert_eq!(judge_share(&level(seconds, 100, 1), p99()), None);
        assert_eq!(judge_mean(&vec![(100, 0.1); seconds], 0.005, 0.5), None);
        assert_eq!(minutes_differ(&level(seconds, 100, 1), 1), None);
    }
    assert!(judge_share(&level(20, 100, 1), p99()).is_some());
    assert_eq!(judge_share(&level(30, 0, 0), p99()), None);
    for limit in [0.0, 1.0, -1.0, f64::NAN] {
        assert_eq!(judge_share(&level(30, 100, 1), ShareRule::new(limit)), None);
    }
    assert_eq!(minutes_differ(&level(299, 100, 1), 1), None);
    assert_eq!(judge_max(0, 0, 10.0), None);
    assert_eq!(judge_max(5, 0, 0.0), None);
}

/// Against the prototype of the procedure, which was written apart from this one, in C.
#[test]
fn the_procedure_gives_what_its_prototype_gives() {
    // Seconds, the chances of met and missed.
    let ramp: Vec<DueSecond> = (0..600)
        .map(|second| DueSecond {
            due: 200,
            beyond: u64::from(second % 7 == 0) * (second / 40),
        })
        .collect();
    let cases = [
        [0.993261781, 0.0336674626],
        [0.049352012, 0.987296402],
        [0.0346619533, 1.0],
        [0.325338208, 0.923966143],
        [0.979162544, 0.406402818],
    ];
    for (name, seconds, met, missed) in [
        (
            "bursts of 40",
            bursts(600, 200, 40),
            cases[0][0],
            cases[0][1],
        ),
        (
            "bursts of 10",
            bursts(1_800, 200, 10),
            cases[1][0],
            cases[1][1],
        ),
        ("none", level(600, 200, 0), cases[2][0], cases[2][1]),
        ("a ramp", ramp, cases[3][0], cases[3][1]),
        ("61 s", bursts(61, 500, 100), cases[4][0], cases[4][1]),
    ] {
        let found = judge_share(&seconds, p99()).unwrap();
        let near = |seen: f64, expected: f64| (seen - expected).abs() < 1e-7;
        assert!(
            near(found.p_met, met),
            "{name}: met {} not {met}",
            found.p_met
        );
        assert!(
            near(found.p_missed, missed),
            "{name}: missed {} not {missed}",
            found.p_missed
        );
    }
}

#[test]
fn the_interval_agrees_with_the_chances() {
    for burst in [0, 5, 40, 200] {
        let seconds = bursts(900, 200, burst);
        let found = judge_share(&seconds, p99()).unwrap();
        let Estimate {
            value, low, high, ..
        } = found.share;
        assert!(low <= value && value < high, "{found:?}");
        for (limit, met, missed) in [(high, 0.025, None), (low, 1.0, Some(0.025))] {
            if limit <= 1e-9 {
                continue;
            }
            let there = judge_share(&seconds, ShareRule::new(limit)).unwrap();
            assert!(there.p_met <= met + 1e-6, "{there:?}");
            if let Some(missed) = missed {
                assert!((there.p_missed - missed).abs() < 1e-6, "{there:?}");
            }
        }
    }
    // All are beyond: no upper end below 1.
    let all = judge_share(&level(60, 50, 50), p99()).unwrap();
    assert_eq!((all.share.value, all.p_met), (1.0, 1.0));
    assert!(all.share.high > 0.999 && all.p_missed < 1e-6);
}

#[test]
fn stalls_that_come_together_for_longer_than_assumed_are_named() {
    // 4 s of 20 bad operations a second in every 5 minutes: 0.13 %.
    let seconds: Vec<DueSecond> = (0..1_800)
        .map(|second| DueSecond {
            due: 200,
            beyond: if second % 300 < 4 { 20 } else { 0 },
        })
        .collect();
    let found = judge_share(&seconds, p99()).unwrap();
    assert!(found.cluster_s <= 1.0 && !found.is_clustered, "{found:?}");
    // The same as 4 s in which everything is bad.
    let seconds: Vec<DueSecond> = (0..1_800)
        .map(|second| DueSecond {
            due: 200,
            beyond: if second % 900 < 4 { 200 } else { 0 },
        })
        .collect();
    let found = judge_share(&seconds, p99()).unwrap();
    assert!((3.0..5.0).contains(&found.cluster_s), "{found:?}");
    assert!(found.is_clustered && found.seconds_wanted > 4_500.0);
    // One operation in 20 s is no stall of that length.
    let rare = |second: u64| DueSecond {
        due: u64::from(second.is_multiple_of(20)),
        beyond: 0,
    };
    let seconds: Vec<DueSecond> = (0..1_800).map(rare).collect();
    let found = judge_share(&seconds, p99()).unwrap();
    assert!(found.cluster_s > 19.0 && !found.is_clustered, "{found:?}");
    let with_latencies = seconds.into_iter().map(|due| LatencySecond {
        due,
        latency_s_sum: 0.0,
    });
    let seconds: Vec<LatencySecond> = with_latencies.collect();
    let p99 = LatencyLimit::Share(0.01);
    let judged = judge_latency(p99, Design::Continuous, 1, &seconds);
    let takes = judged.takes_seconds();
    assert!(
        takes.is_some_and(|seconds| (seconds - 30_000.0).abs() < 60.0),
        "{takes:?}"
    );
    let reason = judged.reason("took 10 ms or longer");
    let says = "with so few operations that takes 8 h 20 m of measuring";
    assert!(reason.ends_with(says), "{reason}");
}

fn run(design: Design, seconds: impl Iterator<Item = DueSecond>) -> QualifyOutcome {
    let mut qualification = Qualification::new(p99(), design, 1);
    for second in seconds {
        if qualification.feed(second) == QualifyStep::Done {
            break;
        }
    }
    qualification.outcome()
}

#[test]
fn verdicts_come_at_the_looks() {
    let forever = |beyond| std::iter::repeat(DueSecond { due: 200, beyond });
    let seen = |outcome: QualifyOutcome| (outcome.verdict, outcome.seconds);
    use QualifyVerdict::{Met, Missed, Undecided};
    let cases = [
        ("bad, continuous", Design::Continuous, 10, (Missed, 180)),
        ("bad, spread", Design::Spread, 10, (Missed, 300)),
        ("quiet, continuous", Design::Continuous, 0, (Met, 1_200)),
        ("quiet, spread", Design::Spread, 0, (Met, 1_200)),
        ("at the border", Design::Continuous, 2, (Undecided, 1_800)),
    ];
    for (name, design, beyond, expected) in cases {
        assert_eq!(seen(run(design, forever(beyond))), expected, "{name}");
        assert_eq!(design.seconds(), 1_800);
    }
    // Stopped before its end.
    let outcome = run(Design::Spread, forever(0).take(500));
    assert_eq!((outcome.verdict, outcome.seconds), (Undecided, 500));
    assert!(outcome.judgement.is_some());
    assert_eq!(Design::Spread.run_in_window_s(), Some((60, 180)));
    assert_eq!(Design::Continuous.run_in_window_s(), None);
}

#[test]
fn where_minutes_differ_the_part_since_then_is_judged() {
    // Quiet for 1,000 s, then 3 % are late.
    let second = |second: u64| DueSecond {
        due: 200,
        beyond: match second {
            0..1_000 => u64::from(second.is_multiple_of(97)),
            _ => 6,
        },
    };
    let outcome = run(Design::Continuous, (0..).map(second));
    assert_eq!(
        (outcome.verdict, outcome.seconds),
        (QualifyVerdict::Missed, 1_800)
    );
    let change = outcome.change.unwrap();
    assert!(change.at_s.abs_diff(1_000) <= 30, "{change:?}");
    assert_eq!(outcome.judgement.unwrap().seconds, 1_800 - change.at_s);
    // Bad for 100 s at first, then quiet for good: extended once, and met since then.
    let second = |second: u64| DueSecond {
        due: 200,
        beyond: if (150..400).contains(&second) { 2 } else { 0 },
    };
    let outcome = run(Design::Continuous, (0..).map(second));
    assert_eq!(
        (outcome.verdict, outcome.seconds),
        (QualifyVerdict::Met, 3_600)
    );
    assert!(outcome.change.is_some());
    // No change, no alarm.
    let steady = bursts(1_800, 200, 20);
    assert!(!minutes_differ(&steady, 1).unwrap().is_change());
}

#[test]
fn means_are_judged_by_their_excess_over_the_body() {
    // 2 ms each, and a stall of 0.4 s every 50 s: 2 + 1.6 ms at 200 a second.
    let seconds = |stall_sum: f64| -> Vec<(u64, f64)> {
        (0..1_800)
            .map(|second| (200, 0.4 + if second % 50 == 7 { stall_sum } else { 0.0 }))
            .collect()
    };
    let found = judge_mean(&seconds(16.0), 0.010, 0.5).unwrap();
    assert!((found.mean - 0.0036).abs() < 1e-9, "{found:?}");
    assert!(found.p_met < 0.001 && found.p_missed > 0.99, "{found:?}");
    let found = judge_mean(&seconds(16.0), 0.0025, 0.5).unwrap();
    assert!(found.p_met > 0.99 && found.p_missed < 0.01, "{found:?}");
    let found = judge_mean(&seconds(16.0), 0.0036, 0.5).unwrap();
    assert!(found.p_met > 0.3 && found.p_missed > 0.3, "{found:?}");
    // At the ends of the interval one of the two is as unlikely as 2.5 %.
    let at = |limit| judge_mean(&seconds(16.0), limit, 0.5).unwrap();
    assert!((at(found.high).p_met - 0.025).abs() < 1e-6, "{found:?}");
    assert!((at(found.low).p_missed - 0.025).abs() < 1e-6, "{found:?}");
    // Below the body it cannot be met; nothing that varies, and missed or not.
    assert_eq!(judge_mean(&seconds(16.0), 0.0019, 0.5).unwrap().p_met, 1.0);
    let flat = vec![(200, 0.4); 100];
    assert!(judge_mean(&flat, 0.0019, 0.5).unwrap().p_missed < 1e-9);
    assert!(judge_mean(&flat, 0.0021, 0.5).unwrap().p_missed > 1.0 - 1e-9);
}

/// Which side of their median they lie on is chance: it must not decide how sure a mean is.
#[test]
fn a_mean_below_the_median_is_judged_like_one_above_it() {
    let seconds = |odd_ms: f64| -> Vec<(u64, f64)> {
        // Of each minute, 20 s differ from 8 ms.
        let ms = |second: usize| if second % 60 < 20 { odd_ms } else { 8.0 };
        (0..600).map(|second| (100, ms(second) * 0.1)).collect()
    };
    for odd_ms in [7.0, 9.0] {
        let found = judge_mean(&seconds(odd_ms), 0.015, 1.0).unwrap();
        assert!(found.p_met < 0.02, "{odd_ms}: {found:?}");
        assert!(found.high < 0.015, "{odd_ms}: {found:?}");
    }
}

#[test]
fn a_maximum_is_missed_at_the_first_excess_and_never_met_for_good() {
    assert_eq!(
        judge_max(9, 1, 60.0),
        Some(MaxJudgement::Missed { beyond: 1 })
    );
    match judge_max(1_000, 0, 1_800.0) {
        Some(MaxJudgement::NoneSeen {
            operations: 1_000,
            rarer_than_one_per_s,
        }) => {
            assert!(
                (rarer_than_one_per_s - 600.9).abs() < 0.1,
                "{rarer_than_one_per_s}"
            );
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rate_and_a_percentile_are_judged_by_arrivals_whose_fate_is_known() {
    let required = OpenLoop {
        limit_ns: 5_000_000,
        share_max: 0.01,
    };
    assert_eq!(required.in_flight_cap_min(20_000.0), 1_000);
    assert_eq!(required.in_flight_cap_min(100.0), 256);
    assert!(required.is_void(10_000, 11) && !required.is_void(10_000, 10));
}

#[test]
fn a_closed_ladder_never_says_met() {
    let plateau = |low, high| {
        Some(Estimate {
            value: 0.5 * (low + high),
            low,
            high,
            level: 0.95,
        })
    };
    let cases = [
        (plateau(18_000.0, 19_000.0), Some(1.0), ClosedLadder::Missed),
        (
            plateau(18_000.0, 21_000.0),
            Some(9.0),
            ClosedLadder::NotWorthTrying,
        ),
        (
            plateau(18_000.0, 21_000.0),
            Some(1.0),
            ClosedLadder::Unknown,
        ),
        (
            plateau(50_000.0, 60_000.0),
            Some(0.1),
            ClosedLadder::Unknown,
        ),
        (None, None, ClosedLadder::Unknown),
    ];
    for (plateau, latency, expected) in cases {
        assert_eq!(closed_ladder(20_000.0, 5.0, plateau, latency), expected);
    }
}

#[test]
fn a_rate_is_undecided_within_two_per_cent_and_a_worst_batch_counts_twice() {
    let level: Vec<f64> = vec![1_000.0; 600];
    let found = judge_rate(&level).unwrap();
    assert!((found.rate - 1_000.0).abs() < 1e-9 && (found.low - 1_000.0).abs() < 1e-6);
    assert!(found.is_met(970.0) && !found.is_met(985.0) && !found.is_met(1_010.0));
    assert!(found.is_missed(1_030.0) && !found.is_missed(1_015.0) && !found.is_missed(990.0));
    // A minute at half the rate: the mean is 950, and it may be less.
    let dip: Vec<f64> = (0..600)
        .map(|second| {
            if (300..360).contains(&second) {
                500.0
            } else {
                1_000.0
            }
        })
        .collect();
    let found = judge_rate(&dip).unwrap();
    assert!((found.rate - 950.0).abs() < 1e-9);
    assert!(found.low < 900.0 && found.high > 990.0, "{found:?}");
    assert!(!found.is_met(900.0) && !found.is_missed(1_000.0));
    assert_eq!(judge_rate(&level[..19]), None);
    assert_eq!(judge_rate(&[0.0; 20]).unwrap().low, 0.0);
}

/// Of each second 200 due, `beyond` of them late, and a mean of `mean_ms`.
fn latency_seconds(count: usize, beyond: u64, mean_ms: f64) -> Vec<LatencySecond> {
    let second = |number: usize| LatencySecond {
        due: DueSecond { due: 200, beyond },
        // A little scatter, so that there is an error.
        latency_s_sum: 0.2 * mean_ms * if number.is_multiple_of(2) { 1.01 } else { 0.99 },
    };
    (0..count).map(second).collect()
}

#[test]
fn one_judge_looks_when_the_design_looks_whatever_the_limit_is_on() {
    use QualifyVerdict::{Met, Missed, Undecided};
    let judged = |limit, count, beyond, mean_ms| {
        let seconds = latency_seconds(count, beyond, mean_ms);
        let judged = judge_latency(limit, Design::Continuous, 1, &seconds);
        (judged.verdict, judged.until_seconds)
    };
    let p99 = LatencyLimit::Share(0.01);
    let mean = LatencyLimit::Mean(0.05);
    for (limit, count, beyond, mean_ms, expected) in [
        (p99, 0, 0, 1.0, (Undecided, Some(180))),
        (p99, 180, 20, 1.0, (Missed, None)),
        (p99, 300, 0, 1.0, (Undecided, Some(600))),
        (p99, 1_200, 0, 1.0, (Met, None)),
        // Between two looks nothing is decided.
        (mean, 179, 0, 200.0, (Undecided, Some(180))),
        (mean, 180, 0, 200.0, (Missed, None)),
        (mean, 299, 0, 1.0, (Undecided, Some(300))),
        (mean, 300, 0, 1.0, (Met, None)),
        // The first excess decides; without one it takes the whole design.
        (LatencyLimit::Max, 1, 1, 1.0, (Missed, None)),
        (LatencyLimit::Max, 1_799, 0, 1.0, (Undecided, Some(1_800))),
        (LatencyLimit::Max, 1_800, 0, 1.0, (Met, None)),
    ] {
        assert_eq!(
            judged(limit, count, beyond, mean_ms),
            expected,
            "{limit:?} {count}"
        );
    }
}

#[test]
fn the_earliest_met_is_that_of_a_target_that_never_waits() {
    let continuous = |limit| earliest_met(limit, Design::Continuous);
    assert_eq!(continuous(LatencyLimit::Share(0.05)), Some(300));
    assert_eq!(continuous(LatencyLimit::Share(0.01)), Some(1_200));
    assert_eq!(continuous(LatencyLimit::Share(0.001)), None);
    assert_eq!(continuous(LatencyLimit::Mean(0.015)), Some(300));
    assert_eq!(continuous(LatencyLimit::Mean(0.001)), None);
    assert_eq!(continuous(LatencyLimit::Max), Some(1_800));
    let spread = earliest_met(LatencyLimit::Share(0.01), Design::Spread);
    assert_eq!(spread, Some(1_200));
}

#[test]
fn what_a_look_has_decided_about_a_mean_stands() {
    let mut seconds = latency_seconds(300, 0, 1.0);
    seconds.extend(latency_seconds(1_500, 0, 500.0));
    let judged = judge_latency(LatencyLimit::Mean(0.05), Design::Continuous, 1, &seconds);
    assert_eq!(
        (judged.verdict, judged.until_seconds),
        (QualifyVerdict::Met, None)
    );
    // The number next to the verdict is for the seconds that it is based on.
    assert_eq!(
        judged.reason("took longer than 50 ms"),
        "the mean of the first 300 s, which decided, is 1 ms"
    );
    let other = judge_latency(
        LatencyLimit::Mean(0.05),
        Design::Continuous,
        1,
        &seconds[..300],
    );
    assert_eq!(other.found, judged.found);
    assert!(other.reason("").starts_with("the mean is "), "{other:?}");
    // One that is near the limit says up to where it may lie.
    let near = judge_latency(
        LatencyLimit::Mean(0.0012),
        Design::Continuous,
        1,
        &latency_seconds(1_800, 0, 1.0),
    );
    assert_eq!(near.verdict, QualifyVerdict::Undecided);
    let reason = near.reason("");
    assert!(
        reason.starts_with("the mean is 1 ms (999 µs to 2."),
        "{reason}"
    );
    assert!(reason.ends_with("included): too close to tell"), "{reason}");
    // An early look needs stronger evidence than the interval next to it.
    for (limit, count) in [
        (LatencyLimit::Mean(0.014), 300),
        (LatencyLimit::Share(0.05), 180),
    ] {
        let seconds = latency_seconds(count, 0, 2.0);
        let early = judge_latency(limit, Design::Continuous, 1, &seconds);
        assert_eq!(early.verdict, QualifyVerdict::Undecided);
        let reason = early.reason("took longer");
        let words = ": within the limit, but an early look needs more than 95 % confidence";
        assert!(reason.contains(words), "{reason}");
        assert!(
            reason.ends_with(&format!("only {count} seconds were measured")),
            "{reason}"
        );
    }
}

#[test]
fn a_maximum_is_met_with_how_rare_an_excess_must_be() {
    let seconds = latency_seconds(1_800, 0, 1.0);
    let judged = judge_latency(LatencyLimit::Max, Design::Continuous, 1, &seconds);
    assert_eq!(
        judged.reason("took longer than 50 ms"),
        "none of 360,000 operations took longer than 50 ms, so it is rarer than once in 10 m 1 s: more \
         cannot be said of a maximum"
    );
}

#[test]
fn stalls_that_were_seen_to_come_together_decide_by_what_was_seen_of_them() {
    // 2 s in each 20 minutes: 0.17 %, and clusters of about 2 s.
    let second = |number: usize| LatencySecond {
        due: DueSecond {
            due: 200,
            beyond: if number % 1_200 < 2 { 200 } else { 0 },
        },
        latency_s_sum: 0.2,
    };
    let seconds: Vec<LatencySecond> = (100..1_900).map(second).collect();
    let judged = judge_latency(LatencyLimit::Share(0.01), Design::Continuous, 1, &seconds);
    let reason = judged.reason("took 10 ms or longer");
    assert!(
        reason.contains("stalls come together for") && reason.contains("more than the 1 s assumed"),
        "{:?} {reason}",
        judged.verdict
    );
}
