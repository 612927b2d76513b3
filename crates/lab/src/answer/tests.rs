//! Where runs are made and how they are judged, without noise: how often intervals
//! hold the truth under noise is what `cargo xtask truth --only e` counts.

use super::estimate::{AnswerRun, JudgedRun, estimate, where_to_move};
use super::limit_search::{AnswerGoal, Order, goal_of};
use crate::ladder::{Load, Step};
use crate::series::SeriesKind;
use stripewise_results::{AnswerBound, AnswerPlace, LatencySummary};
use stripewise_stats::{Histogram, Slo};

fn slo() -> Slo {
    "p99<5ms".parse().expect("a limit")
}

/// A device with a service time of 0.2 ms and at most `ceiling` IOPS; p99 is twice the mean.
fn step(in_flight: u32, ceiling: f64) -> Step {
    let alone = f64::from(in_flight) / 0.000_2;
    let iops = 1.0 / (1.0 / alone.powi(2) + 1.0 / ceiling.powi(2)).sqrt();
    let latency_s = 2.0 * f64::from(in_flight) / iops;
    Step {
        load: Load::spread(in_flight, 4),
        iops,
        latency_ns: Some((latency_s * 1e9) as u64),
    }
}

fn climb(ceiling: f64, up_to: u32) -> Vec<Step> {
    let loads = (0..9).map(|power| 1 << power);
    let loads = loads.filter(|load| *load <= up_to);
    loads.map(|load| step(load, ceiling)).collect()
}

fn judged(load: Load, ceiling: f64) -> JudgedRun {
    JudgedRun {
        step: Step {
            load,
            ..step(load.in_flight(), ceiling)
        },
        latency: None,
        counts: true,
        disturbed: false,
    }
}

#[test]
fn a_climb_says_where_to_look() {
    let random = |steps: &[Step]| goal_of(SeriesKind::RandomRead, slo(), steps);
    // 20,000 a second at 2 N / X = 5 ms: 50 in flight.
    match random(&climb(20_000.0, 128)) {
        Some(AnswerGoal::Crossing { in_flight }) => assert!((45.0..55.0).contains(&in_flight)),
        other => panic!("{other:?}"),
    }
    // All meet the limit, and 16 give as much as 32.
    let fast = climb(40_000.0, 64);
    assert_eq!(
        random(&fast),
        Some(AnswerGoal::Plateau {
            loads: [32, 64, 64].map(|load| Load::spread(load, 4)),
        })
    );
    assert!(matches!(
        random(&fast[..3]),
        Some(AnswerGoal::Level { rising: true, load, .. }) if load.in_flight() == 4
    ));
    // Flat in its last doubling, however little noise leaves certain: no bound.
    let mut noisy = climb(40_000.0, 64);
    noisy[6].iops = noisy[5].iops * 1.02;
    assert!(matches!(random(&noisy), Some(AnswerGoal::Plateau { .. })));
    noisy[6].iops = noisy[5].iops * 1.05;
    assert!(matches!(
        random(&noisy),
        Some(AnswerGoal::Level { rising: true, .. })
    ));
    // None meets it: 100 a second with 1 in flight are 20 ms.
    let slow: Vec<Step> = [1, 2, 4, 8, 16]
        .map(|load| Step {
            load: Load::spread(load, 4),
            iops: 100.0 * f64::from(load.min(4)),
            latency_ns: Some(20_000_000 * u64::from(load)),
        })
        .to_vec();
    assert!(matches!(
        random(&slow),
        Some(AnswerGoal::Level {
            place: AnswerPlace::Knee,
            load,
            ..
        }) if load.in_flight() == 4
    ));
    assert_eq!(random(&[]), None);
    assert!(matches!(
        goal_of(SeriesKind::Log, slo(), &slow[..1]),
        Some(AnswerGoal::Level {
            place: AnswerPlace::Only,
            ..
        })
    ));
    // A stream far from its limit gives the plateau's rate.
    assert!(matches!(
        goal_of(SeriesKind::SequentialRead, slo(), &climb(20_000.0, 128)),
        Some(AnswerGoal::Level { place: AnswerPlace::Plateau, load, .. }) if load.in_flight() <= 32
    ));
}

#[test]
fn a_block_has_five_runs_around_the_crossing_in_an_order_of_its_own() {
    for cores in [1, 2, 4, 7, 48] {
        for centre in [1.0, 1.6, 2.0, 3.0, 7.3, 12.0, 50.0, 200.0, 256.0] {
            let mut order = Order::new(1, cores, 256);
            let blocks: Vec<Vec<u32>> = (0..4)
                .map(|_| {
                    order
                        .block(centre)
                        .iter()
                        .map(|load| load.in_flight())
                        .collect()
                })
                .collect();
            let sorted = |block: &[u32]| {
                let mut block = block.to_vec();
                block.sort_unstable();
                block
            };
            let first = sorted(&blocks[0]);
            assert!(blocks.iter().all(|block| sorted(block) == first));
            assert!(blocks.iter().any(|block| *block != blocks[0]), "{blocks:?}");
            let mut different = first.clone();
            different.dedup();
            assert!(
                first.len() == 5 && different.len() >= 3,
                "{cores} {centre}: {first:?}"
            );
            assert!(first[0] >= 1 && first[4] <= 256 + cores, "{first:?}");
            assert!(f64::from(first[0]) <= centre.max(1.0), "{first:?}");
        }
    }
}

#[test]
fn with_few_in_flight_each_whole_load_is_run() {
    let block = |centre: f64, cores: u32| {
        let loads = Order::new(1, cores, 256).block(centre);
        let mut loads: Vec<u32> = loads.iter().map(|load| load.in_flight()).collect();
        loads.sort_unstable();
        loads
    };
    for cores in [1, 2, 4, 48] {
        assert_eq!(block(4.1, cores), [3, 4, 4, 5, 6]);
        assert_eq!(block(1.4, cores), [1, 1, 1, 2, 3]);
        assert_eq!(block(7.9, cores), [6, 7, 7, 8, 9]);
    }
    // If fewer reach the rate by the climb, they are run too.
    let block = |centre: f64, least: u32| {
        let loads = Order::new(1, 2, 256).with_least(Some(least)).block(centre);
        let mut loads: Vec<u32> = loads.iter().map(|load| load.in_flight()).collect();
        loads.sort_unstable();
        loads
    };
    assert_eq!(block(3.6, 1), [1, 2, 3, 4, 5]);
    assert_eq!(block(3.6, 2), [2, 3, 3, 4, 5]);
    assert_eq!(block(3.6, 8), [2, 3, 3, 4, 5]);
    let threads = |load, cores| Load::exactly(load, cores).threads;
    assert_eq!((threads(6, 2), threads(5, 2), threads(5, 8)), (2, 1, 5));
}

/// An array of mirrors: p99 jumps between 3 and 4 in flight, and 6 give as much as 5.
fn at_few(load: u32) -> JudgedRun {
    let (iops, p99_ms) = match load {
        1 => (160.0, 15.0),
        2 => (210.0, 18.0),
        3 => (220.0, 30.0),
        4 => (233.0, 59.0),
        5 => (250.0, 70.0),
        _ => (250.0, 80.0 + f64::from(load)),
    };
    JudgedRun {
        step: Step {
            load: Load::exactly(load, 4),
            iops,
            latency_ns: Some((p99_ms * 1e6) as u64),
        },
        ..judged(Load::exactly(load, 4), 250.0)
    }
}

#[test]
fn with_few_in_flight_the_answer_is_a_load_that_met_the_limit_itself() {
    let runs = |centre: f64| -> Vec<JudgedRun> {
        let mut order = Order::new(1, 4, 256);
        let blocks = (0..4).flat_map(|_| order.block(centre));
        blocks.map(|load| at_few(load.in_flight())).collect()
    };
    let limit = |text: &str| text.parse::<Slo>().expect("a limit");
    for (text, centre, load, iops) in [
        ("p99<60ms", 4.6, 4.0, 233.0),
        ("p99<40ms", 3.2, 3.0, 220.0),
        ("p99<17ms", 1.5, 1.0, 160.0),
        // 6 and 7 give no more than 5, and take longer.
        ("p99<87500us", 6.5, 5.0, 250.0),
    ] {
        let (slo, runs) = (limit(text), runs(centre));
        let goal = AnswerGoal::Crossing { in_flight: centre };
        assert_eq!(where_to_move(centre, &runs, slo), None, "{text}");
        let answer = estimate(goal, slo, &runs, 1.0).expect("an answer");
        assert_eq!((answer.in_flight, answer.bound), (load, None), "{text}");
        assert!((answer.iops - iops).abs() < 1e-6, "{answer:?}");
        assert!(answer.latency_ns < slo.limit_ns, "{answer:?}");
    }
    // The climb was wrong about the place: one more block there.
    let goal = |in_flight| AnswerGoal::Crossing { in_flight };
    let (above, below) = (runs(6.0), runs(1.0));
    assert_eq!(where_to_move(6.0, &above, limit("p99<60ms")), Some(4.0));
    assert_eq!(where_to_move(1.0, &below, limit("p99<60ms")), Some(4.0));
    let answer = estimate(goal(6.0), limit("p99<60ms"), &above, 1.0).expect("a bound");
    assert_eq!(answer.bound, Some(AnswerBound::AtMost));
    let both: Vec<JudgedRun> = above.into_iter().chain(runs(4.0)).collect();
    let answer = estimate(goal(6.0), limit("p99<60ms"), &both, 1.0).expect("an answer");
    assert_eq!((answer.in_flight, answer.bound), (4.0, None));
    // Nothing meets it.
    let answer = estimate(goal(1.0), limit("p99<1ms"), &below, 1.0).expect("a bound");
    assert_eq!(where_to_move(1.0, &below, limit("p99<1ms")), None);
    assert_eq!(answer.bound, Some(AnswerBound::AtMost));
}

#[test]
fn on_a_plateau_the_answer_is_the_smallest_load_that_gives_as_much() {
    let loads = [32, 64, 128].map(|load| Load::spread(load, 4));
    let runs = |ceiling| -> Vec<JudgedRun> {
        let all = (0..4).flat_map(|_| loads);
        all.map(|load| judged(load, ceiling)).collect()
    };
    let slo = "p99<50ms".parse().expect("a limit");
    let goal = AnswerGoal::Plateau { loads };
    let answer = estimate(goal, slo, &runs(20_000.0), 1.0).expect("an answer");
    assert_eq!((answer.in_flight, answer.at), (32.0, AnswerPlace::Plateau));
    // At 80,000 IOPS, 32 in flight give only 89 %, and 64 give 97 %.
    let answer = estimate(goal, slo, &runs(80_000.0), 1.0).expect("an answer");
    assert_eq!((answer.in_flight, answer.bound), (128.0, None));
    // Two of the loads miss the limit that single runs met: a bound.
    let strict = "p99<5ms".parse().expect("a limit");
    let answer = estimate(goal, strict, &runs(20_000.0), 1.0).expect("a bound");
    assert_eq!(answer.bound, Some(AnswerBound::AtLeast));
}

#[test]
fn the_answer_is_the_rate_where_the_limit_is_crossed() {
    let mut order = Order::new(1, 4, 256);
    let runs: Vec<JudgedRun> = (0..4)
        .flat_map(|_| order.block(48.0))
        .map(|load| judged(load, 20_000.0))
        .collect();
    let goal = AnswerGoal::Crossing { in_flight: 48.0 };
    let answer = estimate(goal, slo(), &runs, 0.5).expect("an answer");
    assert_eq!((answer.at, answer.bound), (AnswerPlace::Limit, None));
    assert!((49.0..51.0).contains(&answer.in_flight), "{answer:?}");
    assert!((answer.iops - 19_960.0).abs() < 40.0, "{answer:?}");
    assert!((answer.mib_per_s - answer.iops / 2.0).abs() < 1e-6);
    assert_eq!((answer.runs, answer.runs_left_out), (20, 0));
    assert_eq!(where_to_move(48.0, &runs, slo()), None);
    // Nine runs are too few; which runs are void or disturbed does not depend on values.
    assert_eq!(estimate(goal, slo(), &runs[..9], 0.5), None);
    let mut some = runs.clone();
    some[3].counts = false;
    some[7].disturbed = true;
    let answer = estimate(goal, slo(), &some, 0.5).expect("an answer");
    assert_eq!((answer.runs, answer.runs_left_out), (18, 2));
    // A disturbance of every run is how the machine behaves.
    let all: Vec<JudgedRun> = runs
        .iter()
        .map(|run| JudgedRun {
            disturbed: true,
            ..*run
        })
        .collect();
    assert_eq!(
        estimate(goal, slo(), &all, 0.5).map(|answer| answer.runs),
        Some(20)
    );
}

/// Each way to an answer limits what a stalled run counts, and says what it would be otherwise.
#[test]
fn runs_that_met_a_stall_are_counted_in_full_beside_the_answer() {
    let stalled = |run: &mut JudgedRun| run.step.iops *= 0.85;
    let mut order = Order::new(1, 4, 256);
    let crossing: Vec<JudgedRun> = (0..4)
        .flat_map(|_| order.block(48.0))
        .map(|load| judged(load, 20_000.0))
        .collect();
    let loads = [32, 64, 128].map(|load| Load::spread(load, 4));
    let plateau: Vec<JudgedRun> = (0..4)
        .flat_map(|_| loads)
        .map(|load| judged(load, 20_000.0))
        .collect();
    let level = vec![judged(loads[1], 20_000.0); 8];
    let goal = AnswerGoal::Level {
        load: loads[1],
        place: AnswerPlace::Plateau,
        rising: false,
    };
    let cases = [
        (
            AnswerGoal::Crossing { in_flight: 48.0 },
            "p99<5ms",
            crossing,
            3,
        ),
        (AnswerGoal::Plateau { loads }, "p99<50ms", plateau, 3),
        (goal, "p99<50ms", level, 1),
    ];
    for (goal, slo, mut runs, stalls) in cases {
        let slo = slo.parse().expect("a limit");
        runs.sort_by_key(|run| run.step.load.in_flight());
        let quiet = estimate(goal, slo, &runs, 0.5).expect("an answer");
        // Not two at one load.
        let count = runs.len();
        for quarter in 1..=stalls {
            stalled(&mut runs[count * quarter / 4]);
        }
        let found = estimate(goal, slo, &runs, 0.5).expect("an answer");
        assert!((found.iops / quiet.iops - 1.0).abs() < 0.01, "{found:?}");
        let full = found.in_full.expect("some were slower");
        assert!(!found.may_be(full.iops), "{found:?}");
        assert_eq!(full.runs, found.runs, "{found:?}");
        assert_eq!(full.runs_apart as usize, stalls, "{found:?}");
        assert!((full.difference_percent + 15.0).abs() < 1.0, "{found:?}");
        let truth = quiet.iops * (1.0 - 0.15 * stalls as f64 / count as f64);
        assert!((full.iops / truth - 1.0).abs() < 0.005, "{found:?}");
    }
}

#[test]
fn where_the_runs_show_no_crossing_there_is_a_bound() {
    let mut order = Order::new(1, 4, 256);
    let mut at = |centre: f64| -> Vec<JudgedRun> {
        let loads = (0..4).flat_map(|_| order.block(centre));
        loads
            .collect::<Vec<_>>()
            .into_iter()
            .map(|load| judged(load, 20_000.0))
            .collect()
    };
    let goal = AnswerGoal::Crossing { in_flight: 20.0 };
    let low = at(20.0);
    let there = where_to_move(20.0, &low, slo()).expect("it lies beyond");
    assert!((40.0..70.0).contains(&there), "{there}");
    let answer = estimate(goal, slo(), &low, 1.0).expect("a bound");
    assert_eq!(answer.bound, Some(AnswerBound::AtLeast));
    assert!((18_000.0..20_000.0).contains(&answer.iops) && answer.iops_high.is_none());
    let high = at(200.0);
    let answer = estimate(goal, slo(), &high, 1.0).expect("a bound");
    assert_eq!(answer.bound, Some(AnswerBound::AtMost));
    assert!((19_900.0..20_100.0).contains(&answer.iops) && answer.iops_low.is_none());
}

#[test]
fn a_plateau_that_fresh_runs_find_over_the_limit_is_a_bound_too() {
    let load = Load::spread(64, 4);
    let level = |rising| AnswerGoal::Level {
        load,
        place: AnswerPlace::Plateau,
        rising,
    };
    // 2 * 64 / 20,000 are 6.4 ms.
    let over = vec![judged(load, 20_000.0); 8];
    let answer = estimate(level(false), slo(), &over, 1.0).expect("an answer");
    assert_eq!(answer.bound, Some(AnswerBound::AtMost));
    let within = vec![judged(load, 60_000.0); 8];
    let answer = estimate(level(false), slo(), &within, 1.0).expect("an answer");
    assert_eq!((answer.at, answer.bound), (AnswerPlace::Plateau, None));
    let answer = estimate(level(true), slo(), &within, 1.0).expect("an answer");
    assert_eq!(answer.bound, Some(AnswerBound::AtLeast));
    assert_eq!(estimate(level(false), slo(), &within[..3], 1.0), None);
}

/// A stall in some of the runs is in the percentiles as often as among all operations.
#[test]
fn the_percentiles_of_an_answer_are_those_of_all_its_operations() {
    let histogram = |slow: u64| {
        let mut one = Histogram::new();
        one.record_n(1_000_000, 1_000 - slow);
        one.record_n(80_000_000, slow);
        one
    };
    let load = Load::spread(64, 4);
    let goal = AnswerGoal::Level {
        load,
        place: AnswerPlace::Plateau,
        rising: false,
    };
    let slo = "p99<50ms".parse().expect("a limit");
    // In three of eight runs 2 % of the operations are slow, which are 0.75 % of all; 3 % are 1.1 %.
    for (slow, p99_ns, bound) in [
        (20, 1_000_000, None),
        (30, 80_000_000, Some(AnswerBound::AtMost)),
    ] {
        let histograms: Vec<Histogram> = [slow, 0, 0, slow, 0, slow, 0, 0].map(histogram).to_vec();
        let runs = histograms.iter().map(|histogram| {
            let latency = LatencySummary::of(histogram);
            let step = Step {
                latency_ns: latency.map(|all| all.p99),
                ..judged(load, 20_000.0).step
            };
            let judged = JudgedRun {
                step,
                latency,
                ..judged(load, 20_000.0)
            };
            AnswerRun {
                judged,
                histogram: Some(histogram),
            }
        });
        let runs: Vec<AnswerRun<'_>> = runs.collect();
        let answer = estimate(goal, slo, &runs, 1.0).expect("an answer");
        let latency = answer.latency.expect("latencies");
        assert_eq!((latency.p50, latency.max), (1_000_000, 80_000_000));
        assert!(latency.p99.abs_diff(p99_ns) * 1_000 < p99_ns, "{answer:?}");
        assert_eq!((answer.latency_ns, answer.bound), (latency.p99, bound));
        // A document has no histograms: what is known are the percentiles of each run.
        let known: Vec<JudgedRun> = runs.iter().map(|run| run.judged).collect();
        let answer = estimate(goal, slo, &known, 1.0).expect("an answer");
        let between = 1_500_000..70_000_000;
        assert!(between.contains(&answer.latency_ns), "{answer:?}");
    }
}
