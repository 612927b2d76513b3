//! The crate's functions against values of SciPy, NumPy and Otava (see
//! `tests/data/make_reference.py`).

use stripewise_stats::{
    AtLimit, ChangePointRule, History, HistoryRun, LoadRun, NewRun, Quantile, SamplesMethod,
    SteadyRule, change_points, compare_samples, hodges_lehmann, incomplete_beta, incomplete_gamma,
    isotonic, mean, mean_interval, normal_cdf, normal_quantile, quantile, rank_sum,
    rank_sum_interval, rate_at_limit, robust_mean_interval, signed_rank, signed_rank_interval,
    student_quantile, student_two_sided, variance,
};

const REFERENCE: &str = include_str!("../data/reference.txt");

/// Calls `check` with the fields of each of a function's lines; there are
/// `expected` of them, so that a line cannot get lost.
fn each(function: &str, expected: usize, check: impl Fn(&[Vec<f64>])) {
    let mut seen = 0;
    for line in REFERENCE.lines() {
        let mut fields = line.split(" | ");
        if fields.next() != Some(function) {
            continue;
        }
        let numbers: Vec<Vec<f64>> = fields
            .map(|field| field.split(' ').map(|n| n.parse().unwrap()).collect())
            .collect();
        check(&numbers);
        seen += 1;
    }
    assert_eq!(seen, expected, "lines of {function}");
}

fn close(seen: f64, expected: f64, relative: f64, what: &str) {
    let error = (seen - expected).abs();
    assert!(
        error <= relative * expected.abs(),
        "{what}: {seen} instead of {expected}, relative error {}",
        error / expected.abs()
    );
}

#[test]
fn the_normal_distribution_is_scipys() {
    each("normal_cdf", 14, |f| {
        close(
            normal_cdf(f[0][0]),
            f[1][0],
            1e-13,
            &format!("cdf({})", f[0][0]),
        );
    });
    each("normal_quantile", 14, |f| {
        let (p, z) = (f[0][0], f[1][0]);
        close(normal_quantile(p), z, 1e-14, &format!("quantile({p})"));
    });
    assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(normal_quantile(1.0), f64::INFINITY);
    assert!(normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
}

#[test]
fn the_incomplete_beta_and_gamma_functions_are_scipys() {
    each("incomplete_beta", 120, |f| {
        let [a, b, x] = f[0][..] else { panic!("{f:?}") };
        close(
            incomplete_beta(a, b, x),
            f[1][0],
            1e-9,
            &format!("{:?}", f[0]),
        );
    });
    each("incomplete_gamma", 30, |f| {
        let [a, x] = f[0][..] else { panic!("{f:?}") };
        close(
            incomplete_gamma(a, x),
            f[1][0],
            1e-8,
            &format!("{:?}", f[0]),
        );
    });
    assert_eq!(
        [
            incomplete_beta(2.0, 3.0, 0.0),
            incomplete_beta(2.0, 3.0, 1.0)
        ],
        [0.0, 1.0]
    );
    assert_eq!(incomplete_gamma(2.0, 0.0), 0.0);
}

/// Restricted maximum likelihood by direct search; statsmodels' mixed models give the
/// same, to five digits, on the first.
#[test]
fn the_variances_of_a_history_are_those_of_restricted_maximum_likelihood() {
    each("history", 4, |f| {
        let runs: Vec<HistoryRun> = (0..f[0].len())
            .map(|k| HistoryRun {
                value: f[0][k],
                boot: f[1][k] as u64,
                hour: f[2][k] as u8,
            })
            .collect();
        let found = History::of(&runs).unwrap();
        let deviations = [
            found.run_deviation,
            found.boot_deviation,
            found.hour_deviation,
        ];
        for (seen, expected) in deviations.into_iter().zip(&f[3]) {
            let near = (seen - expected).abs() <= 0.01 * expected + 0.0003;
            assert!(near, "{deviations:?} not {:?}", f[3]);
        }
        close(found.mean, f[3][3], 1e-4, "mean");
        let last = runs.last().unwrap().boot;
        let mut boots: Vec<u64> = runs.iter().map(|run| run.boot).collect();
        boots.sort_unstable();
        boots.dedup();
        let boots = boots.len();
        for (number, (boot, hour)) in [(last, 3), (99, 3), (99, 99)].into_iter().enumerate() {
            let seen = found.predict(
                NewRun {
                    boot,
                    hour,
                    runs: 1,
                },
                0.95,
            );
            let expected = &f[4 + number];
            close(seen.value, expected[0], 3e-4, "prediction");
            // Where few boots are known, a new one may differ by 5 % at least.
            let least = if boot == 99 && boots < 4 { 1.05 } else { 1.0 };
            let low = expected[1].min(expected[0] / least);
            let high = expected[2].max(expected[0] * least);
            let half = (high - low) / 2.0;
            let off = (seen.low - low).abs().max((seen.high - high).abs());
            assert!(off <= 0.03 * half, "{seen:?} not {expected:?}");
        }
    });
}

#[test]
fn students_distribution_is_scipys() {
    each("student_two_sided", 117, |f| {
        let (t, degrees) = (f[0][0], f[0][1]);
        close(
            student_two_sided(t, degrees),
            f[1][0],
            1e-10,
            &format!("{:?}", f[0]),
        );
    });
    each("student_quantile", 104, |f| {
        let seen = student_quantile(f[0][0], f[0][1]);
        if f[0][0] == 0.5 {
            assert_eq!(seen, 0.0);
        } else {
            close(seen, f[1][0], 1e-9, &format!("{:?}", f[0]));
        }
    });
    assert!(student_two_sided(1.0, 0.0).is_nan() && student_quantile(2.0, 3.0).is_nan());
    assert_eq!(student_two_sided(f64::INFINITY, 3.0), 0.0);
}

#[test]
fn quantiles_and_mean_intervals_are_numpys_and_scipys() {
    each("quantile", 56, |f| {
        let (values, p) = (&f[0], f[1][0]);
        let definitions = [
            Quantile::Observed,
            Quantile::Linear,
            Quantile::MedianUnbiased,
        ];
        for (definition, expected) in definitions.into_iter().zip(&f[2]) {
            let seen = quantile(values, p, definition).unwrap();
            close(
                seen,
                *expected,
                1e-13,
                &format!("{definition:?} {p} of {values:?}"),
            );
        }
    });
    each("mean_interval", 6, |f| {
        let interval = mean_interval(&f[0], 0.95).unwrap();
        let seen = [
            mean(&f[0]).unwrap(),
            variance(&f[0]).unwrap(),
            interval.low,
            interval.high,
        ];
        for (seen, expected) in seen.into_iter().zip(&f[1]) {
            close(seen, *expected, 1e-9, "mean, variance or interval");
        }
    });
    assert_eq!(
        (mean(&[]), variance(&[1.0]), mean_interval(&[1.0], 0.95)),
        (None, None, None)
    );
    assert_eq!(quantile(&[], 0.5, Quantile::Linear), None);
    assert_eq!(quantile(&[1.0], f64::NAN, Quantile::Linear), None);
}

#[test]
fn signed_rank_p_values_are_scipys_with_and_without_ties() {
    each("signed_rank", 42, |f| {
        let test = signed_rank(&f[0]).unwrap();
        let seen = [test.p_two_sided, test.p_greater, test.p_less];
        for (seen, expected) in seen.into_iter().zip(&f[1]) {
            close(seen, *expected, 1e-12, &format!("{:?}", f[0]));
        }
    });
}

#[test]
fn signed_rank_intervals_are_those_of_enumeration() {
    each("signed_rank_interval", 16, |f| {
        let interval = signed_rank_interval(&f[0], f[1][0]).unwrap();
        let seen = [interval.value, interval.low, interval.high, interval.level];
        for (seen, expected) in seen.into_iter().zip(&f[2]) {
            close(seen, *expected, 1e-12, &format!("n = {}", f[0].len()));
        }
        close(
            hodges_lehmann(&f[0]).unwrap(),
            f[2][0],
            1e-14,
            "Hodges-Lehmann",
        );
    });
}

#[test]
fn change_points_are_otavas() {
    each("change_points", 48, |f| {
        let rule = ChangePointRule {
            window: f[1][0] as usize,
            p_value_max: f[1][1],
            magnitude_min: f[1][2],
        };
        let found = change_points(&f[0], &rule);
        let expected: Vec<usize> = f[2]
            .iter()
            .filter(|&&i| i >= 0.0)
            .map(|&i| i as usize)
            .collect();
        let places: Vec<usize> = found.iter().map(|c| c.index).collect();
        assert_eq!(places, expected, "{rule:?} on {:?}", f[0]);
        for (point, p_value) in found.iter().zip(&f[3]) {
            close(point.p_value, *p_value, 1e-9, "p-value");
        }
    });
    for series in [&[][..], &[1.0], &[1.0, 9.0]] {
        assert_eq!(change_points(series, &ChangePointRule::default()), []);
    }
}

#[test]
fn steady_state_figures_are_numpys() {
    each("steady", 12, |f| {
        let seen = SteadyRule::SNIA.judge(&f[0]).unwrap();
        for (seen, expected) in [seen.mean, seen.range_share, seen.slope_share]
            .into_iter()
            .zip(&f[1])
        {
            close(seen, *expected, 1e-9, &format!("{:?}", f[0]));
        }
    });
}

#[test]
fn rank_sum_p_values_are_scipys_with_and_without_ties() {
    each("rank_sum", 22, |f| {
        let test = rank_sum(&f[0], &f[1]).unwrap();
        let seen = [test.p_two_sided, test.p_greater, test.p_less];
        for (seen, expected) in seen.into_iter().zip(&f[2]) {
            close(seen, *expected, 1e-11, &format!("{:?} {:?}", f[0], f[1]));
        }
    });
}

#[test]
fn rank_sum_intervals_are_those_of_enumeration() {
    each("rank_sum_interval", 6, |f| {
        let interval = rank_sum_interval(&f[0], &f[1], 0.95).unwrap();
        let seen = [interval.value, interval.low, interval.high, interval.level];
        for (seen, expected) in seen.into_iter().zip(&f[2]) {
            close(
                seen,
                *expected,
                1e-12,
                &format!("{} and {}", f[0].len(), f[1].len()),
            );
        }
    });
}

#[test]
fn differences_of_few_repetitions_are_those_of_scipys_pooled_t_test() {
    each("pooled_student", 5, |f| {
        let found = compare_samples(&f[0], &f[1], 0.95).unwrap();
        assert_eq!(found.method, Some(SamplesMethod::PooledStudent));
        let interval = found.interval_percent.unwrap();
        let p_value = found.p_value.unwrap();
        let seen = [interval.value, interval.low, interval.high, p_value];
        for (seen, expected) in seen.into_iter().zip(&f[2]) {
            close(seen, *expected, 1e-8, &format!("{:?} {:?}", f[0], f[1]));
        }
    });
}

#[test]
fn hubers_location_is_that_of_statsmodels() {
    each("robust_mean_interval", 5, |f| {
        let seen = robust_mean_interval(&f[0], 0.95).expect("two values or more");
        for (seen, expected) in [seen.value, seen.low, seen.high].iter().zip(&f[1]) {
            close(*seen, *expected, 1e-9, &format!("{:?}", f[0]));
        }
    });
    assert_eq!(robust_mean_interval(&[1.0], 0.95), None);
    assert_eq!(robust_mean_interval(&[1.0, f64::NAN], 0.95), None);
}

#[test]
fn the_rate_at_a_limit_is_what_statsmodels_and_scipy_find() {
    each("rate_at_limit", 4, |f| {
        let runs: Vec<LoadRun> = (0..f[0].len())
            .map(|k| LoadRun {
                load: f[0][k],
                rate: f[1][k],
                latency_s: f[2][k],
            })
            .collect();
        let found = rate_at_limit(&runs, f[3][0], 0.95);
        let AtLimit::Crossed { load, rate } = found else {
            panic!("{found:?}");
        };
        let seen = [load, rate.value, rate.low, rate.high];
        for (seen, expected) in seen.iter().zip(&f[4]) {
            close(*seen, *expected, 1e-8, &format!("loads {:?}", f[0]));
        }
    });
}

#[test]
fn the_rising_sequence_is_scipys() {
    each("isotonic", 5, |f| {
        let seen = isotonic(&f[0]);
        assert_eq!(seen.len(), f[1].len());
        for (seen, expected) in seen.iter().zip(&f[1]) {
            close(*seen, *expected, 1e-12, "isotonic");
        }
    });
    assert!(isotonic(&[]).is_empty());
}
