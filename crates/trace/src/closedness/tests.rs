//! Loads whose structure is known: a few of each here, a thousand in `cargo xtask truth`.

use super::*;
use crate::operation::Operation;
use crate::tasks::TaskId;
use stripewise_stats::Random;
use stripewise_units::Kind;

const MS: f64 = 1e6;

/// An exponential time with this mean.
fn exponential(random: &mut Random, mean_ns: f64) -> f64 {
    -mean_ns * random.uniform().ln()
}

/// A closed load with this many slots on a disk that takes about 1 ms each.
fn closed(slots: usize, think_ns: f64, count: usize, seed: u64) -> Vec<Span> {
    let mut random = Random::new(seed);
    let mut next = vec![0.0f64; slots];
    let mut spans = Vec::new();
    while spans.len() < count {
        let slot = (0..slots)
            .min_by(|&a, &b| next[a].total_cmp(&next[b]))
            .unwrap_or(0);
        let at = next[slot] + exponential(&mut random, think_ns) + 20_000.0;
        let done = at + 0.3 * MS + exponential(&mut random, 0.7 * MS);
        next[slot] = done;
        spans.push(Span {
            issued_ns: at as u64,
            completed_ns: done as u64,
        });
    }
    spans
}

fn open(rate: f64, count: usize, seed: u64) -> Vec<Span> {
    let mut random = Random::new(seed);
    let mut at = 0.0;
    let each = |_| {
        at += exponential(&mut random, 1e9 / rate);
        let done = at + 0.3 * MS + exponential(&mut random, 0.7 * MS);
        Span {
            issued_ns: at as u64,
            completed_ns: done as u64,
        }
    };
    (0..count).map(each).collect()
}

fn timer(period_ns: u64, count: u64) -> Vec<Span> {
    let mut random = Random::new(3);
    let each = |k: u64| {
        let at = k * period_ns;
        let latency = 0.3 * MS + exponential(&mut random, 0.5 * MS);
        Span {
            issued_ns: at,
            completed_ns: at + latency as u64,
        }
    };
    (0..count).map(each).collect()
}

#[test]
fn one_at_a_time_is_closed_and_its_elasticity_is_its_busy_share() {
    let judged_structure = closedness(&closed(1, 1.0 * MS, 3_000, 1));
    assert_eq!(judged_structure.structure, Structure::OneAtATime);
    assert!(
        (judged_structure.elasticity - 0.5).abs() < 0.04,
        "{judged_structure:?}"
    );
    assert_eq!(judged_structure.slots, Some(1.0));
    let slope = judged_structure.slope.unwrap();
    assert!(slope.low < 1.1 && slope.high > 0.9, "{slope:?}");
    assert!(!judged_structure.is_insensitive());
}

#[test]
fn slots_are_counted_whatever_the_think_time() {
    for (think, share) in [(0.05 * MS, 0.93), (1.0 * MS, 0.5)] {
        let judged_structure = closedness(&closed(4, think, 8_000, 2));
        assert_eq!(
            judged_structure.structure,
            Structure::Closed,
            "{judged_structure:?}"
        );
        let slots = judged_structure.slots.unwrap();
        assert!((slots - 4.0).abs() < 1.2, "{judged_structure:?}");
        assert!(
            (judged_structure.elasticity - share).abs() < 0.15,
            "{judged_structure:?}"
        );
    }
}

#[test]
fn arrivals_that_come_by_themselves_are_open() {
    let judged_structure = closedness(&open(2_000.0, 20_000, 3));
    assert_eq!(
        judged_structure.structure,
        Structure::Open,
        "{judged_structure:?}"
    );
    assert_eq!(judged_structure.elasticity, 0.0);
    assert!(judged_structure.elasticity_interval[1] <= 0.15);
    assert_eq!(judged_structure.slots, None);
}

#[test]
fn bursts_are_open_and_never_called_closed() {
    // Batches of eight at random times.
    let mut random = Random::new(4);
    let mut spans = Vec::new();
    let mut at = 0.0;
    while spans.len() < 8_000 {
        at += exponential(&mut random, 4.0 * MS);
        for k in 0..8 {
            let issued = at + f64::from(k) * 200_000.0;
            let done = issued + 2.0 * MS + exponential(&mut random, MS);
            spans.push(Span {
                issued_ns: issued as u64,
                completed_ns: done as u64,
            });
        }
    }
    let judged_structure = closedness(&spans);
    assert!(judged_structure.structure.is_open(), "{judged_structure:?}");
    assert_eq!(judged_structure.elasticity, 0.0);
}

#[test]
fn timers_are_paced() {
    let judged_structure = closedness(&timer(5_000_000, 2_000));
    assert_eq!(
        judged_structure.structure,
        Structure::Paced,
        "{judged_structure:?}"
    );
    assert_eq!(judged_structure.elasticity, 0.0);
}

#[test]
fn too_few_operations_say_nothing() {
    for spans in [
        Vec::new(),
        closed(1, MS, 59, 5),
        closed(1, MS, 400, 5),
        closed(16, 0.0, 1_500, 5),
    ] {
        let judged_structure = closedness(&spans);
        assert_eq!(judged_structure.structure, Structure::TooFew);
        assert_eq!(judged_structure.elasticity_interval, [0.0, 1.0]);
        assert!(!judged_structure.is_insensitive());
    }
    // No time passes, or no latency: no panic.
    let still = vec![
        Span {
            issued_ns: 7,
            completed_ns: 7
        };
        1_000
    ];
    assert_eq!(closedness(&still).structure, Structure::TooFew);
}

#[test]
fn the_load_is_the_sum_of_its_tasks_and_losses_say_nothing() {
    let mut spans = TaskSpans::default();
    let mut add = |task: usize, all: &[Span]| {
        for span in all {
            spans.add(&Operation {
                task: TaskId::from_index(task),
                completed_ns: Some(span.completed_ns),
                ..Operation::at(span.issued_ns, Kind::Read, 0, 4_096)
            });
        }
    };
    add(1, &closed(1, 0.0, 3_000, 6));
    add(2, &timer(5_000_000, 1_000));
    let load = spans.judge(0.0);
    assert_eq!(load.tasks[0].task, TaskId::from_index(1));
    // Three quarters of the operations belong to a task with E just below 1.
    let elasticity = load.elasticity.unwrap();
    assert!((elasticity - 0.74).abs() < 0.03, "{elasticity}");
    assert!(load.elasticity_interval[0] <= elasticity);
    assert!(load.elasticity_interval[1] >= elasticity);
    assert_eq!(spans.judge(0.01).elasticity, None);
}
