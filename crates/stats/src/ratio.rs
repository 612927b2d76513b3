//! Ratio of two estimates, each with its own interval.
//!
//! If no runs can be paired (two benches, each with an answer fitted to its own runs), the interval
//! of the ratio comes from both intervals (Zou and Donner 2008, "method of variance estimates
//! recovery"): on logarithms the distance of each end from the difference is the root of the summed
//! squares of the two ends it depends on. Asymmetric intervals stay asymmetric.

use crate::distribution::{normal_cdf, normal_quantile};
use crate::sample::Estimate;

/// B compared with A.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// (B / A - 1) * 100, with its interval.
    pub difference_percent: Estimate,
    /// Two-sided, of "no difference": 1 minus the level of the widest such interval that excludes
    /// 0, as if the ends were those of normal distributions.
    pub p_value: f64,
}

/// B against A. None where a value or an end is not finite and above 0, an interval does
/// not hold its value, or the levels differ.
///
/// ```
/// use stripewise_stats::{Estimate, ratio};
/// let of = |value: f64| Estimate { value, low: value / 1.05, high: value * 1.05, level: 0.95 };
/// let found = ratio(&of(1_000.0), &of(1_100.0)).unwrap();
/// assert!((found.difference_percent.value - 10.0).abs() < 1e-9);
/// assert!(found.difference_percent.low > 2.0 && found.p_value < 0.01);
/// ```
pub fn ratio(a: &Estimate, b: &Estimate) -> Option<Ratio> {
    let sound = |one: &Estimate| {
        let ends = 0.0 < one.low && one.low <= one.value && one.value <= one.high;
        ends && one.high.is_finite()
    };
    if !sound(a) || !sound(b) || a.level != b.level || !(0.0..1.0).contains(&a.level) {
        return None;
    }
    let (a_log, b_log) = (a.map(libm::log), b.map(libm::log));
    let below = |one: &Estimate| one.value - one.low;
    let above = |one: &Estimate| one.high - one.value;
    let value = b_log.value - a_log.value;
    let down = libm::hypot(below(&b_log), above(&a_log));
    let up = libm::hypot(above(&b_log), below(&a_log));
    let percent = |d: f64| 100.0 * libm::expm1(d);
    // Distance of the difference from 0, in its half widths on the side of 0.
    let towards_zero = if value > 0.0 { down } else { up };
    let p_value = match value == 0.0 {
        true => 1.0,
        false => {
            let z = normal_quantile(0.5 + 0.5 * a.level) * value.abs() / towards_zero;
            2.0 * normal_cdf(-z)
        }
    };
    let difference = Estimate {
        value,
        low: value - down,
        high: value + up,
        level: a.level,
    };
    Some(Ratio {
        difference_percent: difference.map(percent),
        p_value,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn of(value: f64, low: f64, high: f64) -> Estimate {
        Estimate {
            value,
            low,
            high,
            level: 0.95,
        }
    }

    #[test]
    fn an_interval_ends_at_zero_where_the_p_value_is_its_level() {
        let a = of(1_000.0, 950.0, 1_040.0);
        let end = libm::exp(libm::hypot(libm::log(1.04), libm::log(1.03)));
        let b = of(1_000.0 * end, 1_000.0 * end / 1.03, 2_000.0);
        let found = ratio(&a, &b).expect("sound");
        assert!(found.difference_percent.low.abs() < 1e-9, "{found:?}");
        assert!((found.p_value - 0.05).abs() < 1e-9, "{found:?}");
        let backwards = ratio(&b, &a).expect("sound");
        assert!(backwards.difference_percent.high.abs() < 1e-9);
        assert!((backwards.p_value - 0.05).abs() < 1e-9);
    }

    #[test]
    fn what_has_no_width_or_no_logarithm() {
        let exact = of(1_000.0, 1_000.0, 1_000.0);
        assert_eq!(ratio(&exact, &exact).expect("sound").p_value, 1.0);
        let more = ratio(&exact, &of(1_001.0, 1_001.0, 1_001.0)).expect("sound");
        assert_eq!(more.p_value, 0.0);
        for bad in [
            of(0.0, 0.0, 1.0),
            of(1.0, 2.0, 3.0),
            of(1.0, 0.5, f64::INFINITY),
            of(f64::NAN, 1.0, 2.0),
        ] {
            assert_eq!(ratio(&exact, &bad), None);
            assert_eq!(ratio(&bad, &exact), None);
        }
    }

    #[test]
    fn it_holds_the_ratio_as_often_as_its_parts_hold_theirs() {
        let mut random = Random::new(21);
        let mut draw = |truth: f64, noise: f64| {
            let value = truth * libm::exp(noise * random.normal());
            let half = libm::exp(1.959_964 * noise);
            of(value, value / half, value * half)
        };
        let (mut covered, mut alarms) = (0, 0);
        for _ in 0..4_000 {
            let found = ratio(&draw(1_000.0, 0.02), &draw(1_080.0, 0.05)).expect("sound");
            covered += u32::from(found.difference_percent.contains(8.0));
            let null = ratio(&draw(500.0, 0.03), &draw(500.0, 0.03)).expect("sound");
            alarms += u32::from(null.p_value <= 0.05);
        }
        // 95 % and three standard deviations of 4,000.
        assert!((3_759..=3_841).contains(&covered), "{covered}");
        assert!((159..=241).contains(&alarms), "{alarms}");
    }
}
