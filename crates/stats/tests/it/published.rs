//! The knees of published throughput curves.

use stripewise_stats::{CurvePoint, LadderStep, bracketed, difference_percent, knee};

const CURVES: &str = include_str!("../data/published_curves.csv");
const DIFFERENCES: &str = include_str!("../data/published_differences.csv");

fn curve(series: &str) -> Vec<CurvePoint> {
    CURVES
        .lines()
        .filter_map(|line| {
            let (name, rest) = line.split_once(',')?;
            let (load, rate) = rest.split_once(',')?;
            (name == series).then(|| CurvePoint {
                load: load.parse().unwrap(),
                rate: rate.parse().unwrap(),
            })
        })
        .collect()
}

#[test]
fn the_knees_of_the_published_curves_are_where_they_were_worked_out_to_be() {
    let cases = [
        ("oja-nisula-2007 read 64K", 128, 128),
        ("oja-nisula-2007 write 64K", 64, 128),
        ("eva8100-2009 read 64K", 128, 256),
        ("mssqltips-2127 read random", 64, 256),
    ];
    for (series, kneedle, plateau) in cases {
        let found = knee(&curve(series)).unwrap();
        assert_eq!(found.kneedle, Some(kneedle), "{series}: Kneedle");
        assert_eq!(found.plateau, plateau, "{series}: plateau");
        assert!(found.confirmed, "{series}");
    }
}

#[test]
fn published_ladders_would_have_stopped_at_the_right_step() {
    let cases = [
        ("oja-nisula-2007 read 64K", Some(512)),
        ("oja-nisula-2007 write 64K", Some(512)),
        ("eva8100-2009 read 64K", Some(1_024)),
        ("mssqltips-2127 read random", Some(1_024)),
        ("mssqltips-2127 read sequential", Some(8)),
        ("mssqltips-2127 write sequential", Some(8)),
        ("mssqltips-2127 write random", Some(8)),
    ];
    for (series, stop) in cases {
        let mut steps = Vec::new();
        let stopped = curve(series).iter().find_map(|point| {
            steps.push(LadderStep {
                load: point.load,
                rates: vec![point.rate],
            });
            bracketed(&steps).then_some(point.load)
        });
        assert_eq!(stopped, stop, "{series}");
    }
}

#[test]
fn all_72_published_differences_come_out_as_printed() {
    let mut seen = 0;
    for line in DIFFERENCES.lines().skip(2) {
        let fields: Vec<&str> = line.split(',').collect();
        let [a, b] = [0, 1].map(|k| fields[k].parse::<f64>().unwrap());
        let recomputed = difference_percent(a, b).unwrap();
        assert_eq!(format!("{recomputed:.2}"), fields[2], "{line}");
        seen += 1;
    }
    assert_eq!(seen, 72);
}

/// Ranks of the interval of a median at 95 %, as tables of order statistics have them.
#[test]
fn the_interval_of_a_median_has_the_ranks_of_the_binomial_distribution() {
    for (n, rank) in [
        (6, 1),
        (8, 1),
        (9, 2),
        (10, 2),
        (15, 4),
        (20, 6),
        (50, 18),
        (100, 40),
    ] {
        let values: Vec<f64> = (1..=n).map(f64::from).collect();
        let expected = [f64::from(rank), f64::from(n + 1 - rank)];
        assert_eq!(
            stripewise_stats::median_interval(&values, 0.95),
            Some(expected),
            "{n}"
        );
    }
    for values in [&[][..], &[1.0, 2.0, 3.0, 4.0, 5.0], &[f64::NAN; 9]] {
        assert_eq!(stripewise_stats::median_interval(values, 0.95), None);
    }
}
