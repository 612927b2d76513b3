use super::*;

fn curve(points: &[(u64, f64)]) -> Vec<CurvePoint> {
    points
        .iter()
        .map(|&(load, rate)| CurvePoint { load, rate })
        .collect()
}

#[test]
fn few_points_have_a_plateau_but_no_kneedle() {
    assert_eq!(knee(&[]), None);
    let cases = [
        (&[(4, 10.0)][..], 4, false),
        (&[(4, 10.0), (8, 20.0)], 8, false),
        (&[(4, 20.0), (8, 20.1)], 4, true),
        (&[(4, f64::NAN), (0, 99.0), (8, 1.0)], 8, false),
    ];
    for (points, plateau, confirmed) in cases {
        let found = knee(&curve(points)).unwrap();
        assert_eq!(
            (found.kneedle, found.plateau, found.confirmed),
            (None, plateau, confirmed),
            "{points:?}"
        );
    }
}

#[test]
fn a_straight_or_convex_curve_has_no_kneedle() {
    // Straight over log2 N, and proportional to N.
    let straight = curve(&[(1, 1.0), (2, 2.0), (4, 3.0), (8, 4.0), (16, 5.0)]);
    let convex = curve(&[(1, 1.0), (2, 2.0), (4, 4.0), (8, 8.0)]);
    for points in [straight, convex] {
        let found = knee(&points).unwrap();
        assert_eq!((found.kneedle, found.confirmed), (None, false));
    }
    assert_eq!(
        knee(&curve(&[(1, 5.0), (2, 5.0), (4, 5.0)]))
            .unwrap()
            .kneedle,
        None
    );
}

#[test]
fn one_lucky_step_is_no_knee() {
    for (rates, kneedle) in [
        // A single run at 16 gives twice what its neighbours do.
        ([2_000.0, 4_000.0, 8_317.0, 18_285.0, 10_453.0], None),
        // So does the highest rate, against which all others are measured.
        ([100.0, 900.0, 400.0, 420.0, 410.0], None),
        // A curve that falls beyond its knee, step by step or at once.
        ([100.0, 190.0, 300.0, 310.0, 150.0], Some(4)),
        ([100.0, 260.0, 250.0, 200.0, 150.0], Some(2)),
    ] {
        let loads = [1, 2, 4, 8, 16];
        let points: Vec<(u64, f64)> = loads.into_iter().zip(rates).collect();
        let found = knee(&curve(&points)).unwrap();
        assert_eq!(found.kneedle, kneedle, "{rates:?}");
    }
}

#[test]
fn points_may_come_in_any_order() {
    let mut points = curve(&[(1, 100.0), (2, 190.0), (4, 300.0), (8, 310.0), (16, 312.0)]);
    let forward = knee(&points);
    points.reverse();
    assert_eq!(knee(&points), forward);
}

/// 60 rates around a level, with noise of `share` that lasts three intervals.
fn noisy(load: u64, level: f64, share: f64, random: &mut Random) -> LadderStep {
    let mut rates = Vec::new();
    while rates.len() < 60 {
        let rate = level * (1.0 + share * random.normal());
        rates.extend([rate; 3]);
    }
    LadderStep { load, rates }
}

#[test]
fn brackets_hold_the_knee_and_widen_with_noise() {
    let truth = [
        (1, 100.0),
        (2, 180.0),
        (4, 280.0),
        (8, 370.0),
        (16, 385.0),
        (32, 390.0),
    ];
    let bootstrap = Bootstrap {
        block_length: 4,
        resamples: 300,
        seed: 2,
    };
    let brackets = |share| {
        let mut random = Random::new(11);
        let steps: Vec<LadderStep> = truth
            .iter()
            .map(|&(load, level)| noisy(load, level, share, &mut random))
            .collect();
        knee_brackets(&steps, 0.95, &bootstrap).unwrap()
    };
    let quiet = brackets(0.002);
    assert_eq!((quiet.plateau.low, quiet.plateau.high), (16, 16));
    let kneedle = quiet.kneedle.unwrap();
    assert_eq!((kneedle.low, kneedle.load, kneedle.high), (8, 8, 8));
    let loud = brackets(0.15);
    assert!(loud.plateau.low < 16 && loud.plateau.high >= 16, "{loud:?}");
    assert_eq!(brackets(0.15), loud);
}

#[test]
fn single_rates_give_brackets_of_one_load() {
    let steps: Vec<LadderStep> = [(1, 100.0), (2, 190.0), (4, 300.0), (8, 310.0)]
        .iter()
        .map(|&(load, rate)| LadderStep {
            load,
            rates: vec![rate],
        })
        .collect();
    let bootstrap = Bootstrap {
        block_length: 4,
        resamples: 10,
        seed: 1,
    };
    let found = knee_brackets(&steps, 0.95, &bootstrap).unwrap();
    assert_eq!((found.plateau.low, found.plateau.high), (8, 8));
    assert_eq!(found.kneedle.map(|k| (k.low, k.high)), Some((4, 4)));
    assert_eq!(knee_brackets(&[], 0.95, &bootstrap), None);
}
