//! How SQLIO's numbers hang together, over random ones.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stripewise_compat::sqlio::{Counted, HISTOGRAM_BINS, mib_hundredths, rate_hundredths};

fn check<S: Strategy>(strategy: S, test: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let config = Config::with_cases(256);
    let seed = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    TestRunner::new_with_rng(config, seed)
        .run(&strategy, test)
        .unwrap();
}

#[test]
fn rates_are_cut_after_two_decimals_never_rounded() {
    check(
        (0_u64..1 << 40, 1_u64..1 << 45),
        |(operations, duration_ns)| {
            let hundredths = u128::from(rate_hundredths(operations, duration_ns));
            let exact = u128::from(operations) * 100_000_000_000;
            prop_assert!(hundredths * u128::from(duration_ns) <= exact);
            prop_assert!((hundredths + 1) * u128::from(duration_ns) > exact);
            Ok(())
        },
    );
    assert_eq!(rate_hundredths(5, 0), 0);
}

#[test]
fn megabytes_are_the_printed_rate_times_the_block_cut() {
    check(
        (0_u64..1 << 40, 1_u64..65_536),
        |(hundredths, block_kib)| {
            let mib = u128::from(mib_hundredths(hundredths, block_kib));
            let exact = u128::from(hundredths) * u128::from(block_kib);
            prop_assert!(mib * 1024 <= exact && (mib + 1) * 1024 > exact);
            Ok(())
        },
    );
    // Pairs that were published.
    for (iops, block_kib, mib) in [
        (42_188, 8, 329),
        (2_850_787, 8, 22_271),
        (18_316, 2, 35),
        (785_180, 8, 6_134),
    ] {
        assert_eq!(mib_hundredths(iops, block_kib), mib);
    }
}

#[test]
fn latencies_are_cut_one_by_one_and_their_mean_again() {
    let latencies = prop::collection::vec((0_u64..60_000_000, 1_u64..1_000), 1..40);
    check(latencies, |latencies| {
        let mut counted = Counted::default();
        for &(latency_ns, count) in &latencies {
            counted.add(latency_ns, count);
        }
        let total: u64 = latencies.iter().map(|(_, count)| count).sum();
        let sum_ms: u64 = latencies
            .iter()
            .map(|(ns, count)| ns / 1_000_000 * count)
            .sum();
        let values = counted.latency_ms();
        prop_assert_eq!(values.avg, sum_ms / total);
        let min = latencies
            .iter()
            .map(|(ns, _)| ns / 1_000_000)
            .min()
            .unwrap();
        let max = latencies
            .iter()
            .map(|(ns, _)| ns / 1_000_000)
            .max()
            .unwrap();
        prop_assert_eq!((values.min, values.max), (min, max));
        // The true mean is less than 2 ms above what is printed.
        let sum_ns: u64 = latencies.iter().map(|(ns, count)| ns * count).sum();
        let mean_ms = sum_ns as f64 / total as f64 / 1e6;
        prop_assert!((values.avg as f64..values.avg as f64 + 2.0).contains(&mean_ms));
        Ok(())
    });
}

#[test]
fn shares_are_rounded_to_the_nearest_percent_bin_by_bin() {
    let counts = prop::collection::vec(0_u64..10_000, HISTOGRAM_BINS);
    check(counts, |counts| {
        let mut counted = Counted::default();
        for (ms, &count) in counts.iter().enumerate() {
            // Both ends of a bin belong to it; the last one has no end.
            counted.add(ms as u64 * 1_000_000, count / 2);
            counted.add(ms as u64 * 1_000_000 + 999_999, count - count / 2);
        }
        let total: u64 = counts.iter().sum();
        for (share, count) in counted.histogram_percent().into_iter().zip(counts) {
            let exact = count as f64 * 100.0 / total.max(1) as f64;
            prop_assert!((f64::from(share) - exact).abs() <= 0.5 + 1e-9);
        }
        Ok(())
    });
    let mut counted = Counted::default();
    counted.add(24_000_000, 1);
    counted.add(u64::MAX, 1);
    assert_eq!(counted.histogram_percent()[24], 100);
}
