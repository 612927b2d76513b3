//! Promised properties of the intervals and tests, counted over simulated data with fixed seeds.
//! Bounds are binomial: 3.3 standard deviations around the promised share, a false failure in 1,000
//! if the seeds were drawn again. The long ones are ignored here and run nightly
//! (`cargo test -- --ignored`).

use stripewise_stats::{
    AtLimit, Bootstrap, ChangePointRule, CrossingAt, LadderStep, LoadRun, Pair, Quantile, Random,
    SteadyRule, change_points, compare_blocks, compare_samples, holm, isotonic_crossing,
    knee_brackets, mean, median, quantile, rate_at_limit, signed_rank, signed_rank_interval,
};

/// How often something happens in `trials`, as a share.
fn share(trials: u32, mut happens: impl FnMut(u32) -> bool) -> f64 {
    f64::from((0..trials).map(|k| u32::from(happens(k))).sum::<u32>()) / f64::from(trials)
}

/// The share is the promised one within the accuracy of this many trials.
fn assert_share(seen: f64, promised: f64, trials: u32, what: &str) {
    let deviation = (promised * (1.0 - promised) / f64::from(trials)).sqrt();
    assert!(
        (seen - promised).abs() <= 3.3 * deviation + 1e-12,
        "{what}: {seen} instead of {promised} +- {:.4}",
        3.3 * deviation
    );
}

/// Symmetric shapes with centre 0: normal, Laplace (heavy tails), uniform, and
/// two humps.
fn symmetric(shape: u32, random: &mut Random) -> f64 {
    let u = random.uniform();
    match shape {
        0 => random.normal(),
        1 => (0.5 - u).signum() * -(1.0 - (2.0 * u - 1.0).abs()).ln(),
        2 => u - 0.5,
        _ => random.normal() + if u < 0.5 { -3.0 } else { 3.0 },
    }
}

#[test]
fn exact_intervals_hold_the_truth_as_often_as_they_say_whatever_the_shape() {
    let trials = 1_500;
    for n in [6, 10, 11, 20] {
        for shape in 0..4 {
            let mut random = Random::new(100 + u64::from(shape));
            let mut level = 0.0;
            let seen = share(trials, |_| {
                let d: Vec<f64> = (0..n).map(|_| symmetric(shape, &mut random)).collect();
                let interval = signed_rank_interval(&d, 0.95).unwrap();
                level = interval.level;
                interval.contains(0.0)
            });
            assert!((0.95..0.97).contains(&level), "n = {n}: level {level}");
            assert_share(seen, level, trials, &format!("n = {n}, shape {shape}"));
        }
    }
}

#[test]
fn intervals_of_unpaired_repetitions_hold_the_truth_as_often_as_they_say() {
    // Runs that scatter by 1 % around 1,000 and 1,020: the truth is 2 %.
    let trials = 3_000;
    for (m, n) in [(1, 3), (1, 6), (2, 2), (3, 3), (4, 4), (6, 6), (3, 10)] {
        let mut random = Random::new(300 + 20 * m + n);
        let mut run = |centre: f64| centre * (0.01 * random.normal()).exp();
        let mut level = 0.0;
        let seen = share(trials, |_| {
            let a: Vec<f64> = (0..m).map(|_| run(1_000.0)).collect();
            let b: Vec<f64> = (0..n).map(|_| run(1_020.0)).collect();
            let found = compare_samples(&a, &b, 0.95).unwrap();
            let interval = found.interval_percent.unwrap();
            level = interval.level;
            interval.contains(2.0)
        });
        assert!((0.95..0.98).contains(&level), "{m}, {n}: level {level}");
        assert_share(seen, level, trials, &format!("{m} against {n}"));
    }
}

#[test]
fn exact_unpaired_intervals_keep_their_level_whatever_the_shape() {
    let trials = 1_500;
    for shape in 0..4 {
        let mut random = Random::new(500 + u64::from(shape));
        let mut level = 0.0;
        let seen = share(trials, |_| {
            let mut sample = || -> Vec<f64> {
                let run = |_| (0.05 * symmetric(shape, &mut random)).exp();
                (0..6).map(run).collect()
            };
            let (a, b) = (sample(), sample());
            let found = compare_samples(&a, &b, 0.95).unwrap();
            let interval = found.interval_percent.unwrap();
            level = interval.level;
            interval.contains(0.0)
        });
        assert_share(seen, level, trials, &format!("shape {shape}"));
    }
}

#[test]
fn holm_keeps_the_false_alarms_of_a_whole_table_below_the_level() {
    // 36 rows of 12 blocks without any effect.
    let trials = 400;
    let mut random = Random::new(7);
    let seen = share(trials, |_| {
        let p_values: Vec<f64> = (0..36)
            .map(|_| {
                let d: Vec<f64> = (0..12).map(|_| random.normal()).collect();
                signed_rank(&d).unwrap().p_two_sided
            })
            .collect();
        holm(&p_values).iter().any(|&p| p <= 0.05)
    });
    // Exact tests are discrete: 12 blocks reach 2/4096 and 4/4096 below 0.05/36,
    // so the true share is 1 - (1 - 4/4096)^36.
    assert_share(seen, 0.0345, trials, "false alarms of a table");
}

/// Ten pairs under a linear drift of the whole session.
struct Session {
    randomised: bool,
    effect: f64,
    /// Coefficient of variation of one measurement.
    variation: f64,
    drift: f64,
}

impl Session {
    fn pairs(&self, random: &mut Random) -> Vec<Pair> {
        (0..10)
            .map(|k| {
                let (a, b) = match (self.randomised, random.below(2)) {
                    (true, 0) => (2 * k, 2 * k + 1),
                    (true, _) => (2 * k + 1, 2 * k),
                    (false, _) => (k, 10 + k),
                };
                let mut measure = |slot: i32, effect: f64| {
                    let drift = 1.0 + self.drift * f64::from(slot) / 19.0;
                    1_000.0 * drift * (1.0 + effect) * (1.0 + self.variation * random.normal())
                };
                Pair {
                    a: measure(a, 0.0),
                    b: measure(b, self.effect),
                }
            })
            .collect()
    }

    /// How often a difference is found.
    fn found(&self, trials: u32, seed: u64) -> f64 {
        let mut random = Random::new(seed);
        share(trials, |_| {
            compare_blocks(&self.pairs(&mut random), 0.95)
                .unwrap()
                .found()
        })
    }
}

#[test]
fn a_then_b_finds_a_drift_where_randomised_blocks_find_nothing() {
    let trials = 1_500;
    let null = |randomised| Session {
        randomised,
        effect: 0.0,
        variation: 0.01,
        drift: 0.03,
    };
    // Most sessions without any difference find one when all of A ran first...
    let a_then_b = null(false).found(trials, 1);
    assert!(a_then_b > 0.81, "{a_then_b}");
    // ...and 4.9 %, the exact test's level for ten pairs, in random order.
    let blocks = null(true).found(trials, 2);
    assert_share(blocks, 1.0 - 0.951_171_875, trials, "randomised blocks");
}

#[test]
fn ten_pairs_find_one_per_cent_in_77_and_two_per_cent_in_all_of_100_sessions() {
    let trials = 1_500;
    // Ratios that vary by 1 % from pair to pair: each of the two by 0.71 %.
    let power = |effect| {
        Session {
            randomised: true,
            effect,
            variation: 0.01 / 2f64.sqrt(),
            drift: 0.03,
        }
        .found(trials, 3)
    };
    assert_share(power(0.01), 0.77, trials, "1 %");
    assert!(power(0.02) > 0.995);
}

/// A stationary series whose neighbours correlate by `rho`; variance 1, mean 0.
fn correlated(n: usize, rho: f64, random: &mut Random) -> Vec<f64> {
    let mut last = random.normal();
    (0..n)
        .map(|_| {
            last = rho * last + (1.0 - rho * rho).sqrt() * random.normal();
            last
        })
        .collect()
}

fn bootstrap_coverage(n: usize, rho: f64, block_length: usize, p: Option<f64>, trials: u32) -> f64 {
    let mut random = Random::new(11);
    share(trials, |k| {
        let values = correlated(n, rho, &mut random);
        let bootstrap = Bootstrap {
            block_length,
            resamples: 200,
            seed: u64::from(k),
        };
        let interval = bootstrap.interval(&values, 0.95, |v| match p {
            Some(p) => quantile(v, p, Quantile::Linear).unwrap(),
            None => mean(v).unwrap(),
        });
        let truth = p.map_or(0.0, stripewise_stats::normal_quantile);
        interval.unwrap().contains(truth)
    })
}

#[test]
fn block_bootstrap_intervals_of_means_come_near_their_level_and_blocks_of_one_do_not() {
    // Nominal 95 %. What 200 resamples of finite blocks reach is 91 % and more.
    for (n, rho, length) in [(10, 0.0, 1), (20, 0.0, 1), (200, 0.5, 6), (200, 0.3, 6)] {
        let seen = bootstrap_coverage(n, rho, length, None, 400);
        assert!((0.88..=0.98).contains(&seen), "n {n}, rho {rho}: {seen}");
    }
    // Neighbours that resemble each other, taken as independent: far too narrow.
    let naive = bootstrap_coverage(200, 0.5, 1, None, 400);
    assert!(naive < 0.83, "{naive}");
}

#[test]
fn brackets_of_the_knee_hold_the_true_one() {
    // Kneedle of the true levels is at 8, the plateau begins at 16 (98.5 %).
    let levels = [100.0, 180.0, 280.0, 370.0, 385.0, 390.0, 391.0, 390.5];
    let mut random = Random::new(31);
    let (mut kneedles, mut plateaus, mut lengths) = (0, 0, 0);
    let trials = 150;
    for seed in 0..trials {
        let steps: Vec<LadderStep> = levels
            .iter()
            .enumerate()
            .map(|(k, level)| LadderStep {
                load: 1 << k,
                rates: correlated(50, 0.3, &mut random)
                    .iter()
                    .map(|noise| level * (1.0 + 0.05 * noise))
                    .collect(),
            })
            .collect();
        let bootstrap = Bootstrap {
            block_length: 4,
            resamples: 200,
            seed,
        };
        let found = knee_brackets(&steps, 0.95, &bootstrap).unwrap();
        let kneedle = found.kneedle.unwrap();
        kneedles += u64::from(kneedle.low <= 8 && 8 <= kneedle.high);
        plateaus += u64::from(found.plateau.low <= 16 && 16 <= found.plateau.high);
        lengths += found.plateau.high.ilog2() - found.plateau.low.ilog2() + 1;
    }
    let shares = [kneedles, plateaus].map(|n| n as f64 / trials as f64);
    assert!(shares.iter().all(|share| *share >= 0.95), "{shares:?}");
    // They are brackets, not the whole ladder: three of its steps at most on average.
    assert!(f64::from(lengths) / trials as f64 <= 3.0, "{lengths}");
}

#[test]
fn a_level_series_counts_as_steady_unless_its_noise_is_as_large_as_the_limit() {
    // At a coefficient of variation of 3.5 % the fitted line moves by 10 % in 2 %
    // of windows by chance; at 9 % half of all windows range over 20 %.
    for (variation, least, most) in [(0.035, 0.97, 1.0), (0.09, 0.2, 0.6), (0.2, 0.0, 0.05)] {
        let mut random = Random::new(41);
        let seen = share(2_000, |_| {
            let window: Vec<f64> = (0..5)
                .map(|_| 500.0 * (1.0 + variation * random.normal()))
                .collect();
            SteadyRule::SNIA.judge(&window).unwrap().steady
        });
        assert!((least..=most).contains(&seen), "{variation}: {seen}");
    }
}

#[test]
fn series_without_a_step_rarely_show_one() {
    // The place is searched and tested at once: more than the p-value 0.001.
    for (n, most) in [(30, 0.025), (100, 0.07)] {
        let mut random = Random::new(2);
        let seen = share(300, |_| {
            let series: Vec<f64> = (0..n).map(|_| 100.0 + random.normal()).collect();
            !change_points(&series, &ChangePointRule::default()).is_empty()
        });
        assert!(seen <= most, "n = {n}: {seen}");
    }
}

#[test]
fn a_step_of_three_deviations_is_found_within_two_places() {
    let mut random = Random::new(5);
    let seen = share(200, |_| {
        let series: Vec<f64> = (0..60)
            .map(|k| if k < 40 { 100.0 } else { 97.0 } + random.normal())
            .collect();
        let found = change_points(&series, &ChangePointRule::default());
        found.iter().any(|step| step.index.abs_diff(40) <= 2)
    });
    assert!(seen > 0.95, "{seen}");
}

/// Blocks are added until the interval is narrow enough: stopping looks at the
/// width alone. Returns the share of intervals that miss the truth.
fn missed_when_stopping_on_width(
    variation: f64,
    width_percent: f64,
    trials: u32,
    seed: u64,
) -> f64 {
    let mut random = Random::new(seed);
    share(trials, |_| {
        let mut pairs: Vec<Pair> = Vec::new();
        loop {
            pairs.push(Pair {
                a: 1_000.0 * (1.0 + variation * random.normal()),
                b: 1_000.0 * (1.0 + variation * random.normal()),
            });
            if pairs.len() < 10 {
                continue;
            }
            let interval = compare_blocks(&pairs, 0.95)
                .unwrap()
                .interval_percent
                .unwrap();
            if interval.width() <= width_percent || pairs.len() >= 60 {
                return !interval.contains(0.0);
            }
        }
    })
}

#[test]
fn stopping_on_width_alone_hardly_changes_the_level() {
    let seen = missed_when_stopping_on_width(0.01, 2.0, 600, 4);
    // 5 % requested; experiments may reach 6.9 %, including stopping.
    assert!((0.03..=0.069).contains(&seen), "{seen}");
}

#[test]
#[ignore = "long: a minute"]
fn stopping_on_width_alone_keeps_the_level_at_all_noise_levels() {
    for variation in [0.005, 0.01, 0.015, 0.02, 0.03] {
        let seen = missed_when_stopping_on_width(variation, 2.0, 6_000, 40);
        eprintln!("variation {variation}: {seen} missed");
        assert!(
            (0.04..=0.069).contains(&seen),
            "variation {variation}: {seen}"
        );
    }
}

#[test]
#[ignore = "long: a minute"]
fn block_bootstrap_coverage_over_lengths_and_statistics() {
    for (n, rho, length, p) in [
        (60, 0.0, 4, None),
        (200, 0.5, 6, None),
        (600, 0.5, 9, None),
        (1_000, 0.5, 10, None),
        (60, 0.0, 4, Some(0.5)),
        (200, 0.5, 6, Some(0.5)),
        (200, 0.5, 6, Some(0.9)),
        (600, 0.5, 9, Some(0.9)),
    ] {
        let seen = bootstrap_coverage(n, rho, length, p, 2_000);
        eprintln!("n {n}, rho {rho}, blocks of {length}, quantile {p:?}: {seen}");
        assert!(
            (0.89..=0.97).contains(&seen),
            "n {n}, rho {rho}, {p:?}: {seen}"
        );
    }
}

#[test]
fn the_rate_at_a_limit_is_in_its_interval_though_one_run_in_twenty_is_disturbed() {
    // Runs differ by 8 %; the ceiling is 20,000 and p99 grows with the load.
    let trials = 600;
    let mut random = Random::new(15);
    let truth = |load: f64| 20_000.0 / (1.0 + (16.0 / load) * (16.0 / load)).sqrt();
    let latency = |load: f64| 2.5 * load / truth(load) * (load / 16.0).powf(0.1);
    let mut run = |load: f64| {
        let slowed = if random.uniform() < 0.05 { 0.6 } else { 1.0 };
        let factor = slowed * (0.08 * random.normal()).exp();
        LoadRun {
            load,
            rate: truth(load) * factor,
            latency_s: latency(load) / factor * (0.05 * random.normal()).exp(),
        }
    };
    let mut widths = Vec::new();
    let seen = share(trials, |_| {
        let loads = [18.0, 25.0, 30.0, 36.0, 48.0].repeat(4);
        let runs: Vec<LoadRun> = loads.into_iter().map(&mut run).collect();
        match rate_at_limit(&runs, latency(30.0), 0.95) {
            AtLimit::Crossed { rate, .. } => {
                widths.push((rate.high / rate.low).ln() / 2.0);
                rate.contains(truth(30.0))
            }
            other => panic!("{other:?}"),
        }
    });
    assert!((0.93..0.985).contains(&seen), "{seen}");
    let half = median(&widths).expect("widths");
    assert!((0.05..0.09).contains(&half), "{half}");
}

#[test]
fn a_crossing_that_the_runs_do_not_show_has_no_interval() {
    let run = |load: f64, rate: f64, latency_s: f64| LoadRun {
        load,
        rate,
        latency_s,
    };
    let loads = [8.0, 10.0, 12.0, 14.0, 16.0];
    // In proportion to the load: latency does not grow at all.
    let rising: Vec<LoadRun> = loads.map(|n| run(n, 100.0 * n, 0.01)).repeat(2);
    assert_eq!(rate_at_limit(&rising, 0.05, 0.95), AtLimit::Unknown);
    // Saturated: the limit of 100 ms is met at 100 in flight, far from all runs.
    let flat: Vec<LoadRun> = loads.map(|n| run(n, 1_000.0, n / 1_000.0)).repeat(2);
    match rate_at_limit(&flat, 0.1, 0.95) {
        AtLimit::Outside { load } => assert!((load - 100.0).abs() < 1.0, "{load}"),
        other => panic!("{other:?}"),
    }
    // Without any scatter the interval has no width, and the rate is that of all.
    match rate_at_limit(&flat, 0.012, 0.95) {
        AtLimit::Crossed { load, rate } => {
            assert!((load - 12.0).abs() < 1e-6 && (rate.value - 1_000.0).abs() < 1e-6);
            assert!(rate.width() < 1e-3, "{rate:?}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(rate_at_limit(&flat[..5], 0.012, 0.95), AtLimit::Unknown);
    let same = vec![run(8.0, 100.0, 0.01); 10];
    assert_eq!(rate_at_limit(&same, 0.01, 0.95), AtLimit::Unknown);
    let none = vec![run(8.0, 0.0, 0.0); 10];
    assert_eq!(rate_at_limit(&none, 0.01, 0.95), AtLimit::Unknown);
}

#[test]
fn a_level_crossed_twice_by_noise_is_crossed_once_by_the_rising_curve() {
    let points = [(0.0, 1.0), (1.0, 4.0), (2.0, 2.0), (3.0, 6.0)];
    // Pooled to 1, 3, 3, 6.
    assert_eq!(
        isotonic_crossing(&points, 4.5),
        Some(CrossingAt::Within(2.5))
    );
    assert_eq!(isotonic_crossing(&points, 0.5), Some(CrossingAt::Before));
    assert_eq!(isotonic_crossing(&points, 6.0), Some(CrossingAt::Beyond));
    assert_eq!(isotonic_crossing(&[], 1.0), None);
}
