//! Zipf-distributed ranks over any number of blocks, in constant memory.
//!
//! Rejection-inversion: W. Hörmann and G. Derflinger, "Rejection-inversion to
//! generate variates from monotone discrete distributions", ACM TOMACS 6(3),
//! 1996. Rank k (from 1) has a probability proportional to k^-theta; a draw
//! takes 1.0 to 1.2 attempts whatever the count. All of `exp`, `ln`, `expm1` and
//! `log1p` come from the pure `libm` crate, so that draws are the same everywhere.
//! Counts above 2^53 lose the lowest bits of the rank to the float; their far
//! tail is then coarse, but stays in range.

use crate::random::Generator;

/// A sampler.
#[derive(Clone, Debug)]
pub(crate) struct Zipf {
    theta: f64,
    count: u64,
    /// H(1.5) - 1: the upper end of the area to draw from.
    integral_first: f64,
    /// H(count + 0.5): its lower end (H falls with the sign turned).
    integral_last: f64,
    /// Ranks within this distance of the inverted value need no test.
    shortcut: f64,
}

impl Zipf {
    /// Ranks below `count` (at least 1) with exponent `theta` above 0.
    pub(crate) fn new(count: u64, theta: f64) -> Self {
        debug_assert!(count >= 1 && theta > 0.0);
        let integral = |x| integral(theta, x);
        Zipf {
            theta,
            count,
            integral_first: integral(1.5) - 1.0,
            integral_last: integral(count as f64 + 0.5),
            shortcut: 2.0 - integral_inverse(theta, integral(2.5) - density(theta, 2.0)),
        }
    }

    /// A rank, from 0 (the most popular) to `count - 1`.
    #[inline]
    pub(crate) fn draw(&self, generator: &mut Generator) -> u64 {
        let width = self.integral_first - self.integral_last;
        loop {
            let area = self.integral_last + generator.unit_above_zero() * width;
            let inverted = integral_inverse(self.theta, area);
            // The cast saturates: below 0 becomes 0, too large becomes u64::MAX.
            let rank = ((inverted + 0.5) as u64).clamp(1, self.count);
            let nearest = rank as f64;
            if nearest - inverted <= self.shortcut
                || area >= integral(self.theta, nearest + 0.5) - density(self.theta, nearest)
            {
                return rank - 1;
            }
        }
    }
}

/// h(x) = x^-theta.
fn density(theta: f64, x: f64) -> f64 {
    libm::exp(-theta * libm::log(x))
}

/// H(x), an antiderivative of h: (x^(1 - theta) - 1) / (1 - theta), or ln x where
/// theta is 1; `expm1` keeps it exact near there.
fn integral(theta: f64, x: f64) -> f64 {
    let ln_x = libm::log(x);
    ln_x * expm1_over((1.0 - theta) * ln_x)
}

/// The x whose H is `area`.
fn integral_inverse(theta: f64, area: f64) -> f64 {
    // Rounding may push it just below -1, where log1p has no value.
    let scaled = (area * (1.0 - theta)).max(-1.0);
    libm::exp(area * log1p_over(scaled))
}

/// (e^x - 1) / x, continued through 0 by its series.
fn expm1_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::expm1(x) / x
    } else {
        1.0 + x * 0.5 * (1.0 + x / 3.0)
    }
}

/// ln(1 + x) / x, continued through 0 by its series.
fn log1p_over(x: f64) -> f64 {
    if x.abs() > 1e-8 {
        libm::log1p(x) / x
    } else {
        1.0 - x * (0.5 - x / 3.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    /// Share of each rank that the definition gives.
    fn expected(theta: f64, count: u64) -> Vec<f64> {
        let weights: Vec<f64> = (1..=count).map(|k| libm::pow(k as f64, -theta)).collect();
        let sum: f64 = weights.iter().sum();
        weights.iter().map(|weight| weight / sum).collect()
    }

    #[test]
    fn ranks_come_as_often_as_the_definition_says() {
        const DRAWS: u32 = 200_000;
        for theta in [0.1, 0.5, 0.99, 1.0, 1.2, 2.0, 5.0] {
            for count in [1, 2, 10, 100] {
                let zipf = Zipf::new(count, theta);
                let mut generator = Generator::new(3, Purpose::Position, 0);
                let mut hits = vec![0_u32; count as usize];
                for _ in 0..DRAWS {
                    hits[zipf.draw(&mut generator) as usize] += 1;
                }
                for (rank, share) in expected(theta, count).iter().enumerate() {
                    let mean = share * f64::from(DRAWS);
                    let deviation = libm::sqrt(mean * (1.0 - share)).max(1.0);
                    let error = f64::from(hits[rank]) - mean;
                    assert!(
                        error.abs() <= 5.0 * deviation,
                        "theta {theta}, {count} ranks, rank {rank}: {} for {mean}",
                        hits[rank]
                    );
                }
            }
        }
    }

    #[test]
    fn the_first_rank_of_a_petabyte_has_its_share() {
        // The sum of k^-1.2 over 2^41 ranks is zeta(1.2) - 5 * 2^(-41/5) within
        // 1e-14; zeta(1.2) = 5.591582441177750776...
        let sum = 5.591_582_441_177_751 - 5.0 * libm::pow(2.0, -8.2);
        let zipf = Zipf::new(1 << 41, 1.2);
        let mut generator = Generator::new(5, Purpose::Position, 0);
        let hits = (0..100_000)
            .filter(|_| zipf.draw(&mut generator) == 0)
            .count();
        let share = hits as f64 / 100_000.0;
        assert!((share - 1.0 / sum).abs() < 0.006, "{share}");
    }

    #[test]
    fn ranks_stay_in_range_for_any_count_and_exponent() {
        for theta in [1e-9, 0.3, 1.0, 1.000_000_01, 5.0] {
            for count in [1, 3, 1 << 45, 1 << 55, u64::MAX] {
                let zipf = Zipf::new(count, theta);
                let mut generator = Generator::new(9, Purpose::Position, 1);
                for _ in 0..2_000 {
                    assert!(zipf.draw(&mut generator) < count, "{theta} {count}");
                }
            }
        }
    }

    #[test]
    fn a_tiny_exponent_is_nearly_uniform() {
        let zipf = Zipf::new(1 << 45, 1e-6);
        let mut generator = Generator::new(9, Purpose::Position, 1);
        let lower_half = (0..10_000)
            .filter(|_| zipf.draw(&mut generator) < 1 << 44)
            .count();
        assert!((4_800..5_200).contains(&lower_half), "{lower_half}");
    }
}
