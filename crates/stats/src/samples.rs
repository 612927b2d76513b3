//! A against B with unpaired repetitions: the difference in per cent, its interval, a p-value.
//!
//! For runs of different sessions: one stored series against another, a baseline against today.
//! Anything that changed between the sessions is part of the difference; blocks
//! ([`crate::compare_blocks`]) avoid that.
//!
//! Everything is done on ln(value). If both samples are large enough: the Hodges-Lehmann shift with
//! the interval of the exact rank-sum test, which only assumes that both distributions have the
//! same shape. With fewer values (one old run against six new ones): the difference of means with
//! Student's interval and the pooled variance, exact if logarithms are normal with equal scatter on
//! both sides, which then has to be assumed. Welch's interval needs no equal scatter, but two
//! values on each side, and is no better with so few.

use crate::distribution::{student_quantile, student_two_sided};
use crate::rank_sum::{rank_sum, rank_sum_interval, shift};
use crate::sample::{Estimate, mean, variance};
use serde::{Deserialize, Serialize};

/// How an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SamplesMethod {
    /// The exact rank-sum test: nothing assumed but equal shapes.
    RankSum,
    /// Student's t with the pooled variance: assumes normal logarithms and equal scatter on both
    /// sides.
    PooledStudent,
}

/// B compared with A, from two samples of repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SamplesComparison {
    /// Values of A and of B.
    pub counts: [usize; 2],
    /// (B / A - 1) * 100.
    pub difference_percent: f64,
    /// The same with its interval; none with fewer than four values in all.
    pub interval_percent: Option<Estimate>,
    /// Two-sided, of "no difference", before any correction for many rows.
    pub p_value: Option<f64>,
    /// How interval and p-value were computed.
    pub method: Option<SamplesMethod>,
}

/// Compares B with A. None where a sample is empty or a value is not finite and
/// above 0.
///
/// 1 value against 1, or 1 against 2: a difference, no interval. 2 against 2, 1
/// against 3 and more: Student's interval (two degrees of freedom: 4.3 standard
/// errors to either side), until the rank-sum test can reach 1 - level (4 against
/// 4, 3 against 5, 2 against 8 for 95 %).
///
/// ```
/// use stripewise_stats::{SamplesMethod, compare_samples};
/// let (a, b) = ([100.0, 101.0, 99.0, 100.5], [110.0, 111.5, 109.0, 110.5]);
/// let found = compare_samples(&a, &b, 0.95).unwrap();
/// assert_eq!(found.method, Some(SamplesMethod::RankSum));
/// assert!(found.interval_percent.unwrap().low > 7.0);
/// assert!(compare_samples(&[100.0], &[110.0], 0.95).unwrap().p_value.is_none());
/// ```
pub fn compare_samples(a: &[f64], b: &[f64], level: f64) -> Option<SamplesComparison> {
    let (a, b) = (logarithms(a)?, logarithms(b)?);
    let percent = |d: f64| 100.0 * libm::expm1(d);
    let counts = [a.len(), b.len()];
    if let Some(interval) = rank_sum_interval(&a, &b, level) {
        return Some(SamplesComparison {
            counts,
            difference_percent: percent(interval.value),
            interval_percent: Some(interval.map(percent)),
            p_value: rank_sum(&a, &b).map(|test| test.p_two_sided),
            method: Some(SamplesMethod::RankSum),
        });
    }
    if let Some((interval, p_value)) = pooled_student(&a, &b, level) {
        return Some(SamplesComparison {
            counts,
            difference_percent: percent(interval.value),
            interval_percent: Some(interval.map(percent)),
            p_value: Some(p_value),
            method: Some(SamplesMethod::PooledStudent),
        });
    }
    Some(SamplesComparison {
        counts,
        difference_percent: percent(shift(&a, &b)?),
        interval_percent: None,
        p_value: None,
        method: None,
    })
}

fn logarithms(values: &[f64]) -> Option<Vec<f64>> {
    let usable = |v: &f64| v.is_finite() && *v > 0.0;
    let all = !values.is_empty() && values.iter().all(usable);
    all.then(|| values.iter().map(|v| libm::log(*v)).collect())
}

/// Student's interval of mean(b) - mean(a) and its p-value (Student 1908, Fisher 1925), with the
/// pooled variance of both samples, so that one of them may be a single value. None below two
/// degrees of freedom: with one, the interval is 12.7 standard errors wide and depends on a single
/// difference.
fn pooled_student(a: &[f64], b: &[f64], level: f64) -> Option<(Estimate, f64)> {
    let degrees = a.len() + b.len() - 2;
    if degrees < 2 || !(0.0..1.0).contains(&level) {
        return None;
    }
    let squares = |values: &[f64]| variance(values).unwrap_or(0.0) * (values.len() - 1) as f64;
    let pooled = (squares(a) + squares(b)) / degrees as f64;
    let error = libm::sqrt(pooled * (1.0 / a.len() as f64 + 1.0 / b.len() as f64));
    let value = mean(b)? - mean(a)?;
    let t = student_quantile(0.5 + 0.5 * level, degrees as f64);
    let p_value = if error > 0.0 {
        student_two_sided(value / error, degrees as f64)
    } else if value == 0.0 {
        1.0
    } else {
        // Repetitions that never differ, and a difference between the sides.
        0.0
    };
    let interval = Estimate {
        value,
        low: value - t * error,
        high: value + t * error,
        level,
    };
    Some((interval, p_value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_repetitions_have_a_difference_but_no_interval() {
        assert_eq!(compare_samples(&[], &[1.0], 0.95), None);
        assert_eq!(compare_samples(&[1.0], &[0.0], 0.95), None);
        assert_eq!(compare_samples(&[1.0], &[f64::NAN], 0.95), None);
        for (a, b) in [(1, 1), (1, 2), (2, 1)] {
            let found = compare_samples(&vec![100.0; a], &vec![112.5; b], 0.95).unwrap();
            assert!((found.difference_percent - 12.5).abs() < 1e-9);
            assert_eq!(
                (found.interval_percent, found.p_value, found.method),
                (None, None, None)
            );
        }
    }

    #[test]
    fn the_method_follows_from_the_numbers_of_repetitions() {
        let values = |n: usize, centre: f64| -> Vec<f64> {
            (0..n)
                .map(|k| centre + (k * 7 % 11) as f64 / 10.0)
                .collect()
        };
        for (a, b, method) in [
            (1, 3, SamplesMethod::PooledStudent),
            (2, 2, SamplesMethod::PooledStudent),
            (1, 6, SamplesMethod::PooledStudent),
            (3, 4, SamplesMethod::PooledStudent),
            (4, 4, SamplesMethod::RankSum),
            (6, 6, SamplesMethod::RankSum),
        ] {
            let found = compare_samples(&values(a, 100.0), &values(b, 120.0), 0.95).unwrap();
            assert_eq!(found.method, Some(method), "{a} against {b}");
            let interval = found.interval_percent.unwrap();
            assert!(interval.low > 0.0 && interval.contains(found.difference_percent));
        }
    }

    #[test]
    fn swapping_a_and_b_mirrors_the_ratio() {
        let (a, b) = ([99.0, 101.0, 100.0], [104.0, 103.0]);
        let forward = compare_samples(&a, &b, 0.95).unwrap();
        let backward = compare_samples(&b, &a, 0.95).unwrap();
        let mirrored = |percent: f64| 100.0 * (1.0 / (1.0 + percent / 100.0) - 1.0);
        let (f, b) = (
            forward.interval_percent.unwrap(),
            backward.interval_percent.unwrap(),
        );
        assert!((mirrored(f.low) - b.high).abs() < 1e-9);
        assert!((forward.p_value.unwrap() - backward.p_value.unwrap()).abs() < 1e-12);
    }

    #[test]
    fn repetitions_that_never_differ_decide_by_themselves() {
        let same = compare_samples(&[100.0], &[100.0; 3], 0.95).unwrap();
        assert_eq!(same.p_value, Some(1.0));
        let other = compare_samples(&[100.0], &[101.0; 3], 0.95).unwrap();
        assert_eq!(other.p_value, Some(0.0));
    }
}
