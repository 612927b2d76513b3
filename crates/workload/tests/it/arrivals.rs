//! When operations are due.

use stripewise_workload::{ArrivalSchedule, Arrivals, Rate};

fn schedule(iops: f64, arrivals: Arrivals, threads: u32, index: u32) -> ArrivalSchedule {
    ArrivalSchedule::new(Rate { iops, arrivals }, threads, index, 1)
}

#[test]
fn fixed_arrivals_of_all_threads_interleave_with_equal_gaps() {
    let mut due: Vec<u64> = (0..4)
        .flat_map(|thread| {
            let mut schedule = schedule(1000.0, Arrivals::Fixed, 4, thread);
            (0..100).map(move |_| schedule.next()).collect::<Vec<_>>()
        })
        .collect();
    due.sort_unstable();
    let expected: Vec<u64> = (0..400).map(|number| number * 1_000_000).collect();
    assert_eq!(due, expected);
}

#[test]
fn fixed_arrivals_do_not_drift_where_the_gap_is_no_whole_number() {
    let mut schedule = schedule(300_000.0, Arrivals::Fixed, 1, 0);
    for _ in 0..3_000_000 {
        schedule.next();
    }
    assert_eq!(schedule.next(), 10_000_000_000);
}

#[test]
fn poisson_gaps_have_the_mean_and_spread_of_an_exponential() {
    const DRAWS: u32 = 200_000;
    // Four threads of 4,000 a second in all: a mean gap of 1 ms each.
    let mut schedule = schedule(4000.0, Arrivals::Poisson, 4, 3);
    let mut before = 0;
    let (mut sum, mut squares, mut above_mean) = (0.0, 0.0, 0);
    for _ in 0..DRAWS {
        let due = schedule.next();
        let gap_ms = (due - before) as f64 / 1e6;
        before = due;
        sum += gap_ms;
        squares += gap_ms * gap_ms;
        above_mean += u32::from(gap_ms > 1.0);
    }
    let draws = f64::from(DRAWS);
    let mean = sum / draws;
    let variance = squares / draws - mean * mean;
    assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
    assert!((variance - 1.0).abs() < 0.03, "variance {variance}");
    // e^-1 of the gaps are longer than the mean.
    let share = f64::from(above_mean) / draws;
    assert!((share - 0.367_9).abs() < 0.005, "share {share}");
}

#[test]
fn poisson_keeps_the_fractions_of_nanoseconds() {
    // A mean gap of 1 ns: whole parts alone would add up to 0.58 of that.
    let mut schedule = schedule(1e9, Arrivals::Poisson, 1, 0);
    let mut last = 0;
    for _ in 0..1_000_000 {
        let due = schedule.next();
        assert!(due >= last);
        last = due;
    }
    assert!((990_000..1_010_000).contains(&last), "{last}");
}

#[test]
fn poisson_threads_are_independent() {
    let first = schedule(1000.0, Arrivals::Poisson, 2, 0).next();
    let second = schedule(1000.0, Arrivals::Poisson, 2, 1).next();
    assert_ne!(first, second);
}

#[test]
fn absurdly_slow_rates_end_at_the_end_of_time() {
    for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
        let mut schedule = schedule(1e-300, arrivals, 1, 0);
        schedule.next();
        assert_eq!(schedule.next(), u64::MAX, "{arrivals}");
        assert_eq!(schedule.next(), u64::MAX, "{arrivals}");
    }
}

/// What is left out is counted as if each was taken, whatever rounding does.
#[test]
fn leaving_out_what_is_due_counts_as_taking_it_does() {
    for arrivals in [Arrivals::Fixed, Arrivals::Poisson] {
        for (iops, threads) in [(1000.0, 1), (3.0, 7), (1e9, 4), (7e8 / 3.0, 3), (0.25, 2)] {
            for at_ns in [0, 1, 999, 1_000_000, 1_333_333, 3_900_001] {
                let rate = Rate { iops, arrivals };
                let mut skipped = ArrivalSchedule::new(rate, threads, 1, 5);
                let mut taken = skipped.clone();
                let (mut count, mut next) = (0, taken.next());
                while next < at_ns {
                    count += 1;
                    next = taken.next();
                }
                assert_eq!(skipped.skip_to(at_ns), count, "{rate:?} {threads} {at_ns}");
                assert_eq!(skipped.next(), next, "{rate:?} {threads} {at_ns}");
            }
        }
    }
}

/// Billions are not counted one by one.
#[test]
fn a_billion_arrivals_a_second_are_left_out_in_a_moment() {
    const DAY_NS: u64 = 86_400_000_000_000;
    for (arrivals, off_max) in [(Arrivals::Fixed, 1), (Arrivals::Poisson, 60_000_000)] {
        let rate = Rate {
            iops: 1e9,
            arrivals,
        };
        let mut schedule = ArrivalSchedule::new(rate, 1, 0, 9);
        let count = schedule.skip_to(DAY_NS);
        // Six standard deviations of a Poisson number.
        assert!(count.abs_diff(DAY_NS) <= off_max, "{arrivals:?}: {count}");
        assert!(schedule.next() >= DAY_NS, "{arrivals:?}");
    }
    let rate = Rate {
        iops: 1e9,
        arrivals: Arrivals::Fixed,
    };
    let mut schedule = ArrivalSchedule::new(rate, 3, 2, 9);
    // It ends at the end of numbers, too.
    schedule.skip_to(u64::MAX);
}
