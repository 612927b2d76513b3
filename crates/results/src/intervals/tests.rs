use super::*;

fn interval(index: u64, operations: u64, p99: u64) -> Interval {
    Interval {
        start_ns: index * 100,
        duration_ns: 100,
        read_operations: operations,
        write_operations: 1,
        discard_operations: 0,
        bytes: operations * 8192,
        latency_ns_mean: p99 as f64 / 2.0,
        latency_ns_p99: Some(p99),
        latency_ns_p99_is_bound: false,
        latency_ns_max: p99 + 5,
        errors: 1,
    }
}

fn sums(intervals: &[Interval]) -> (u64, u64, u64, u64, u64, u64) {
    intervals.iter().fold((0, 0, 0, 0, 0, 0), |sum, interval| {
        (
            sum.0 + interval.duration_ns,
            sum.1 + interval.read_operations,
            sum.2 + interval.write_operations,
            sum.3 + interval.bytes,
            sum.4 + interval.errors,
            sum.5.max(interval.latency_ns_max),
        )
    })
}

#[test]
fn a_joined_interval_spans_both_and_bounds_the_99_percent_from_above() {
    let joined = interval(3, 10, 700).joined_with(&interval(4, 30, 900), None);
    assert_eq!((joined.start_ns, joined.duration_ns), (300, 200));
    assert_eq!((joined.read_operations, joined.write_operations), (40, 2));
    assert_eq!(joined.latency_ns_p99, Some(900));
    assert!(joined.latency_ns_p99_is_bound);
    let mean = (350.0 * 11.0 + 450.0 * 31.0) / 42.0;
    assert!((joined.latency_ns_mean - mean).abs() < 1e-9);
}

#[test]
fn an_idle_neighbour_leaves_the_99_percent_true() {
    let idle = Interval {
        start_ns: 100,
        duration_ns: 100,
        ..Interval::default()
    };
    let joined = interval(0, 10, 700).joined_with(&idle, None);
    assert_eq!(joined.latency_ns_p99, Some(700));
    assert!(!joined.latency_ns_p99_is_bound);
}

#[test]
fn latencies_at_hand_give_the_true_99_percent() {
    let mut latency_ns = Histogram::new();
    latency_ns.record_n(100, 990);
    latency_ns.record_n(1000, 10);
    let joined = interval(0, 499, 800).joined_with(&interval(1, 499, 900), Some(&latency_ns));
    assert_eq!(joined.latency_ns_p99, Some(100));
    assert!(!joined.latency_ns_p99_is_bound);
    assert_eq!(joined.latency_ns_mean, 109.0);
}

#[test]
fn the_group_size_is_the_smallest_power_of_two_that_suffices() {
    let cases = [
        (0, 4, 1),
        (4, 4, 1),
        (5, 4, 2),
        (8, 4, 2),
        (9, 4, 4),
        (4096, 4096, 1),
        (4097, 4096, 2),
        (7, 0, 8),
    ];
    for (count, limit, expected) in cases {
        assert_eq!(
            joined_group_size(count, limit),
            expected,
            "{count} into {limit}"
        );
    }
}

#[test]
fn coarsening_keeps_sums_and_order_and_the_limit() {
    for count in [0, 1, 4_095, 4_096, 4_097, 8_192, 8_193, 20_001] {
        let fine: Vec<_> = (0..count)
            .map(|index| interval(index, index % 7, 500 + index % 11))
            .collect();
        let coarse = coarsen(fine.clone());
        assert!(coarse.len() <= INTERVALS_MAX);
        assert_eq!(sums(&coarse), sums(&fine), "{count}");
        for pair in coarse.windows(2) {
            assert_eq!(pair[0].start_ns + pair[0].duration_ns, pair[1].start_ns);
        }
    }
}

#[test]
fn a_series_pushed_one_by_one_has_the_shape_of_one_coarsened_at_the_end() {
    for count in [1, 4_096, 4_097, 8_192, 8_193, 20_001] {
        let fine: Vec<_> = (0..count)
            .map(|index| interval(index, index % 7, 500 + index % 11))
            .collect();
        let mut series = IntervalSeries::new();
        for one in &fine {
            series.push(*one, None);
        }
        let stripped = series.finish();
        let coarse = coarsen(fine);
        assert_eq!(stripped.len(), coarse.len(), "{count}");
        for (mine, theirs) in stripped.iter().zip(&coarse) {
            assert_eq!(mine.start_ns, theirs.start_ns);
            assert_eq!(mine.duration_ns, theirs.duration_ns);
            assert_eq!(mine.read_operations, theirs.read_operations);
            assert_eq!(mine.latency_ns_p99, theirs.latency_ns_p99);
        }
    }
}

#[test]
fn a_series_with_latencies_has_true_percentiles_where_they_were_at_hand() {
    let mut series = IntervalSeries::new();
    // 16,385 intervals: groups of four, or eight after the last one.
    let total = 16_384;
    for index in 0..total {
        let latency = 100 + index % 2 * 800;
        let mut latency_ns = Histogram::new();
        latency_ns.record_n(latency, 100);
        let one = Interval {
            start_ns: index * 100,
            duration_ns: 100,
            read_operations: 100,
            ..Interval::default()
        };
        series.push(one.with_latencies_of(Some(&latency_ns)), Some(&latency_ns));
    }
    let stripped = series.finish();
    assert_eq!(stripped.len(), 4_096);
    let last = stripped.last().unwrap();
    assert!(!last.latency_ns_p99_is_bound, "{last:?}");
    assert_eq!(last.latency_ns_mean, 500.0);
    assert_eq!(last.latency_ns_p99, Some(900));
    assert!(stripped[0].latency_ns_p99_is_bound);
}
