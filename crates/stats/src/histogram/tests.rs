use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A runner with a fixed seed: the same cases on every machine.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]))
}

/// Values spread over all octaves rather than crowded in the largest.
fn values() -> impl Strategy<Value = Vec<u64>> {
    prop::collection::vec((0u32..44, any::<u64>()), 0..60).prop_map(|pairs| {
        pairs
            .into_iter()
            .map(|(bits, raw)| raw & ((1u64 << bits) - 1))
            .collect()
    })
}

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|&value| histogram.record(value));
    histogram
}

fn merged(a: &Histogram, b: &Histogram) -> Histogram {
    let mut sum = a.clone();
    sum.merge(b);
    sum
}

#[test]
fn buckets_tile_the_values_without_gap_or_overlap() {
    let mut next = 0;
    for index in 0..Histogram::BUCKETS {
        let (low, high) = Histogram::range_of(index);
        assert_eq!(low, next, "bucket {index} starts where the last one ended");
        assert!(high >= low);
        for value in [low, Histogram::value_of(index), high] {
            assert_eq!(Histogram::index(value), index, "value {value}");
        }
        next = high + 1;
    }
    assert_eq!(next, VALUE_MAX + 1);
    assert_eq!(Histogram::BUCKETS, 16_896);
}

#[test]
fn a_midpoint_is_at_most_one_in_1024_off_at_every_octave_edge() {
    for bit in 0..41 {
        let edge = 1u64 << bit;
        for value in edge.saturating_sub(2_100)..=(edge + 2_100).min(VALUE_MAX) {
            let reported = Histogram::value_of(Histogram::index(value));
            assert!(
                reported.abs_diff(value) * 1_024 <= value,
                "{value} is reported as {reported}"
            );
            assert!(value >= 1_024 || reported == value, "{value} is exact");
        }
    }
}

#[test]
fn values_above_the_largest_count_as_it_but_stay_exact_in_the_extremes() {
    let histogram = of(&[5, u64::MAX, VALUE_MAX + 1]);
    assert_eq!(histogram.max(), Some(u64::MAX));
    assert_eq!(
        histogram.sum(),
        5 + u128::from(u64::MAX) + u128::from(VALUE_MAX) + 1
    );
    assert_eq!(histogram.nonzero().count(), 2);
    assert_eq!(histogram.percentile(100.0), Some(u64::MAX));
}

#[test]
fn few_values_are_reported_exactly() {
    let none = Histogram::new();
    assert_eq!(
        (none.percentile(50.0), none.mean(), none.min(), none.max()),
        (None, None, None, None)
    );
    assert_eq!((none.sum(), none.count(), none.count_at_most(9)), (0, 0, 0));
    let one = of(&[123_456_789]);
    for percent in [-3.0, 0.0, 50.0, 100.0, 400.0] {
        assert_eq!(one.percentile(percent), Some(123_456_789));
    }
    let two = of(&[1_000_001, 3_000_001]);
    assert_eq!(two.percentile(50.0), Some(1_000_001));
    assert_eq!(two.percentile(50.000_000_1), Some(3_000_001));
    assert_eq!(two.mean(), Some(2_000_001.0));
    assert_eq!(two.percentile(f64::NAN), None);
}

#[test]
fn ranks_follow_decimal_percentages() {
    // Small values, so that each is its own bucket: value k has rank k.
    let histogram = of(&(1..=1_000).collect::<Vec<_>>());
    let cases = [
        (0.0, 1),
        (0.1, 1),
        (0.100_001, 2),
        (29.0, 290),
        (50.0, 500),
        (57.0, 570),
        (58.0, 580),
        (90.0, 900),
        (99.0, 990),
        (99.9, 999),
        (99.99, 1_000),
        (100.0, 1_000),
    ];
    for (percent, value) in cases {
        assert_eq!(histogram.percentile(percent), Some(value), "{percent} %");
    }
}

#[test]
fn a_recorders_counts_give_the_same_histogram_as_its_values() {
    let values = [3, 3, 900, 5_000, 5_001, 1 << 33];
    let first_index = 2;
    let mut counts = vec![0u32; Histogram::BUCKETS - first_index];
    for value in values {
        counts[Histogram::index(value) - first_index] += 1;
    }
    let sum: u64 = values.iter().sum();
    let mut histogram = Histogram::new();
    let added = histogram.add_counts(first_index, &counts, sum.into(), 3, 1 << 33);
    assert_eq!(added, 6);
    assert_eq!(histogram, of(&values));
    assert_eq!(histogram.add_counts(0, &[0; 9], 0, u64::MAX, 0), 0);
    assert_eq!(histogram, of(&values));
}

#[test]
#[should_panic(expected = "bucket of the maximum")]
fn a_recorder_whose_counts_contradict_its_maximum_is_refused() {
    Histogram::new().add_counts(0, &[1, 1], 1, 0, 2);
}

#[test]
fn clearing_leaves_an_empty_one() {
    let mut histogram = of(&[1, 2_000_000]);
    histogram.clear();
    assert_eq!(histogram, Histogram::new());
    histogram.record_n(7, 0);
    assert!(histogram.is_empty());
    histogram.record_n(7, 3);
    assert_eq!(histogram, of(&[7, 7, 7]));
}

#[test]
fn merging_is_commutative_associative_and_the_same_as_recording_all() {
    runner(300)
        .run(&(values(), values(), values()), |(a, b, c)| {
            let all = of(&[a.clone(), b.clone(), c.clone()].concat());
            let (a, b, c) = (of(&a), of(&b), of(&c));
            prop_assert_eq!(merged(&a, &b), merged(&b, &a));
            prop_assert_eq!(merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
            prop_assert_eq!(merged(&merged(&a, &b), &c), all);
            Ok(())
        })
        .unwrap();
}

#[test]
fn percentiles_never_fall_and_are_within_a_thousandth_of_the_sorted_value() {
    runner(120)
        .run(&values(), |values| {
            let histogram = of(&values);
            let mut sorted = values.clone();
            sorted.sort_unstable();
            let mut last = 0;
            for tenth in (0..=1_000u64).step_by(5) {
                let Some(value) = histogram.percentile(tenth as f64 / 10.0) else {
                    prop_assert!(values.is_empty());
                    continue;
                };
                prop_assert!(value >= last);
                last = value;
                let rank = (values.len() as u64 * tenth).div_ceil(1_000).max(1);
                let exact = sorted[rank as usize - 1];
                prop_assert!(exact > VALUE_MAX || value.abs_diff(exact) * 1_024 <= exact);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn counting_below_a_limit_agrees_with_the_buckets() {
    let histogram = of(&(1..=100).map(|k| k * 50).collect::<Vec<_>>());
    for (limit, count) in [
        (0, 0),
        (49, 0),
        (50, 1),
        (999, 19),
        (1_000, 20),
        (9_999, 100),
    ] {
        assert_eq!(histogram.count_at_most(limit), count, "limit {limit}");
    }
}
