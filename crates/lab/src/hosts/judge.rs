//! Evaluates the hosts' rates: stragglers, fairness, the limit.

use stripewise_stats::{Bootstrap, Estimate, mean_interval, median};

/// A straggler's robust z exceeds this: Iglewicz and Hoaglin's recommendation (1993).
pub const STRAGGLER_Z: f64 = 3.5;
/// ... and its rate is below this share of the median: z alone names a straggler among equals
/// in 29 % of groups of three.
pub const STRAGGLER_SHARE: f64 = 0.9;
/// The median absolute deviation of a normal distribution, in standard deviations.
const NORMAL_MAD: f64 = 0.674_489_750_196_081_7;
/// With fewer intervals than this, blocks cannot be drawn.
const BLOCKS_FROM: usize = 8;

/// Jain's index of fairness (Jain, Chiu and Hawe 1984): (sum x)^2 / (n sum x^2), from
/// 1/n (one host does everything) to 1 (all are equal). `None` if all rates are 0.
pub fn jain(rates: &[f64]) -> Option<f64> {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let index = sum * sum / (rates.len() as f64 * squares);
    (index.is_finite() && sum > 0.0).then_some(index.min(1.0))
}

/// Each rate's distance from the median of all, in standard deviations as the median
/// absolute deviation estimates them; positive for slow ones. `None` if more than half
/// are equal: then there is no spread.
pub fn robust_z(rates: &[f64]) -> Vec<Option<f64>> {
    let Some(middle) = median(rates) else {
        return Vec::new();
    };
    let distances: Vec<f64> = rates.iter().map(|rate| (rate - middle).abs()).collect();
    let spread = median(&distances).filter(|spread| *spread > 0.0);
    let z = |rate: &f64| spread.map(|spread| NORMAL_MAD * (middle - rate) / spread);
    rates.iter().map(z).collect()
}

/// Which of these rates are stragglers. Of two hosts, neither is: it is unknown which of
/// them is normal.
pub(super) fn stragglers(rates: &[f64]) -> Vec<bool> {
    let middle = median(rates).unwrap_or(0.0);
    let judged = robust_z(rates).into_iter().zip(rates);
    judged
        .map(|(z, rate)| {
            rates.len() > 2 && *rate < STRAGGLER_SHARE * middle && z.is_none_or(|z| z > STRAGGLER_Z)
        })
        .collect()
}

/// The mean of rates of consecutive intervals with its 95 % interval: neighbours are
/// correlated, so blocks of them are drawn; of few intervals, Student's. `None`
/// for fewer than two.
pub(super) fn mean_over_time(rates: &[f64]) -> Option<Estimate> {
    const LEVEL: f64 = 0.95;
    if rates.len() < BLOCKS_FROM {
        // However much few intervals differ, no rate is below 0.
        return mean_interval(rates, LEVEL).map(|interval| interval.map(|rate| rate.max(0.0)));
    }
    let bootstrap = Bootstrap {
        block_length: Bootstrap::block_length_for(rates.len()),
        resamples: 1_000,
        seed: 1,
    };
    let mean = |rates: &[f64]| rates.iter().sum::<f64>() / rates.len() as f64;
    bootstrap.interval(rates, LEVEL, mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_one_for_equals_and_a_share_for_one_that_does_everything() {
        assert_eq!(jain(&[5.0; 4]), Some(1.0));
        assert_eq!(jain(&[7.0, 0.0, 0.0, 0.0]), Some(0.25));
        // (1 + 2 + 3)^2 / (3 * 14).
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!(jain(&[0.0, 0.0]), None);
        assert_eq!(jain(&[]), None);
    }

    #[test]
    fn z_is_the_distance_from_the_median_over_the_scaled_deviation() {
        // Median 100, deviations 4 2 0 2 40: their median 2.
        let z = robust_z(&[96.0, 98.0, 100.0, 102.0, 60.0]);
        let z: Vec<f64> = z.into_iter().map(Option::unwrap).collect();
        // Sorted: 60 96 98 100 102, so the median is 98 and the deviations are
        // 2 0 2 4 38.
        assert!((z[4] - NORMAL_MAD * 38.0 / 2.0).abs() < 1e-12, "{z:?}");
        assert!(z[3] < 0.0);
    }

    #[test]
    fn a_straggler_is_far_off_and_slow() {
        let cases: [(&[f64], &[usize]); 7] = [
            (&[100.0, 101.0, 99.0, 60.0], &[3]),
            // Equals except for one.
            (&[100.0, 100.0, 60.0], &[2]),
            // Far off in units of a tiny spread, and yet within 10 %.
            (&[100.0, 100.1, 99.9, 95.0], &[]),
            // Slow, but so are others: they simply differ.
            (&[100.0, 80.0, 60.0, 40.0], &[]),
            // A faster one is not a straggler.
            (&[100.0, 101.0, 99.0, 300.0], &[]),
            // Undecidable for two.
            (&[100.0, 10.0], &[]),
            (&[100.0], &[]),
        ];
        for (rates, expected) in cases {
            let slow = stragglers(rates);
            let slow: Vec<usize> = (0..rates.len()).filter(|&host| slow[host]).collect();
            assert_eq!(slow, expected, "{rates:?}");
        }
    }

    /// METHODS 10: z alone names a straggler among equals in 29 % of groups of three.
    #[test]
    fn equals_are_hardly_ever_called_stragglers() {
        let mut random = stripewise_stats::Random::new(20);
        let mut named = 0;
        for _ in 0..2_000 {
            // Sums of twelve uniform numbers: normal, 2 % standard deviation.
            let mut rate = || {
                let sum: f64 = (0..12).map(|_| random.below(1_000) as f64 / 1_000.0).sum();
                100.0 + 2.0 * (sum - 6.0)
            };
            let rates = [rate(), rate(), rate()];
            named += usize::from(stragglers(&rates).contains(&true));
        }
        assert!(named < 20, "{named} of 2,000");
    }

    #[test]
    fn the_mean_over_time_has_an_interval_from_two_values_on() {
        assert_eq!(mean_over_time(&[5.0]), None);
        let few = mean_over_time(&[5.0, 6.0, 7.0]).unwrap();
        assert!(few.low < 6.0 && 6.0 < few.high && few.value == 6.0);
        let uneven = mean_over_time(&[300.0, 10.0, 5.0]).unwrap();
        assert!(uneven.low == 0.0 && uneven.high > 500.0, "{uneven:?}");
        let many: Vec<f64> = (0..60).map(|k| 100.0 + f64::from(k % 7)).collect();
        let many = mean_over_time(&many).unwrap();
        assert!(many.contains(many.value) && many.width() < 3.0);
    }
}
