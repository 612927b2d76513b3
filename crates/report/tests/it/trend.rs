//! The same load on many days.

use super::{material, run};
use stripewise_report::{Annotation, Attribution, Chart, Quantity, charts, html, png, svg};
use stripewise_results::{ExperimentPlace, Imported, RunRecord, Status};

/// A measurement of day `day` of October 2026.
fn of_day(day: u32, iops: f64) -> RunRecord {
    let mut run = run(&format!("day {day}"));
    run.id = format!("202610{day:02}-081500-abcd");
    run.started_at = format!("2026-10-{day:02}T08:15:00.000Z");
    run.jobs[0].outcome.iops = iops;
    run
}

/// About three per mille around the level.
fn noisy(day: u32, level: f64) -> RunRecord {
    of_day(day, level + f64::from((day * 7_919) % 7))
}

/// Twelve days at one level, twelve at half of it.
fn halved() -> Vec<RunRecord> {
    let level = |day| if day <= 12 { 1_000.0 } else { 500.0 };
    (1..=24).map(|day| noisy(day, level(day))).collect()
}

fn trend(runs: Vec<RunRecord>) -> Option<Chart> {
    let all = charts(&material(runs, Vec::new(), Vec::new()));
    all.into_iter().find(|chart| chart.name == "trend")
}

#[test]
fn a_step_stands_where_it_happened_in_the_chart_and_in_its_summary() {
    let chart = trend(halved()).expect("a trend");
    assert_eq!(chart.title, "Random read 8K 1\u{d7}1 on /data over time");
    assert_eq!(chart.x.quantity, Quantity::Date);
    let points = &chart.panels[0].series[0].points;
    assert_eq!(points.len(), 24);
    // A quarter past eight on the first of October 2026, by `date --utc +%s`.
    assert_eq!(points[0].x, 1_790_842_500.0);
    let [Annotation::AtX { x, label }] = &chart.panels[0].annotations[..] else {
        panic!("{:?}", chart.panels[0].annotations);
    };
    assert!(points[11].x < *x && *x < points[12].x);
    // 503 against 1,003 on average.
    assert!(
        label.starts_with("\u{2212}49.") || label.starts_with("\u{2212}50."),
        "{label}"
    );
    for words in [
        "Measured 24 times from 2026-10-01 08:15 to 2026-10-24 08:15.",
        "Between 2026-10-12 08:15 and 2026-10-13 08:15 the mean rate changed by \u{2212}",
    ] {
        assert!(chart.summary.contains(words), "{}", chart.summary);
    }
    assert_eq!(chart.panels[1].y.quantity, Quantity::Latency);
}

/// Six repetitions are one point with their range, not their best; cells of a grid are
/// separate loads.
#[test]
fn repetitions_are_one_point_and_cells_of_a_grid_are_apart() {
    let mut runs = Vec::new();
    for day in 1..=4 {
        for (number, iops) in [900.0, 1_000.0, 1_300.0].into_iter().enumerate() {
            let mut run = of_day(day, iops);
            run.id = format!("{}-{number}", run.id);
            run.series = Some(format!("series-{day}"));
            run.series_part = Some("repeat".to_owned());
            runs.push(run);
        }
    }
    let chart = trend(runs.clone()).expect("a trend");
    let points = &chart.panels[0].series[0].points;
    assert_eq!(points.len(), 4);
    assert_eq!(
        (points[0].y, points[0].span),
        (1_000.0, Some([900.0, 1_300.0]))
    );
    for run in &mut runs {
        run.series_part = Some("grid".to_owned());
        let cell = if run.jobs[0].outcome.iops > 950.0 {
            8
        } else {
            1
        };
        run.jobs[0].workload.outstanding = cell;
    }
    let all = charts(&material(runs, Vec::new(), Vec::new()));
    let titles: Vec<&str> = all
        .iter()
        .filter(|chart| chart.name.starts_with("trend"))
        .map(|chart| chart.title.as_str())
        .collect();
    let of = |load: &str| format!("Random read 8K 1\u{d7}{load} on /data over time");
    assert_eq!(titles, [of("1"), of("8")]);
}

#[test]
fn the_title_has_the_size_and_the_latency_its_kind() {
    let mut runs: Vec<RunRecord> = (1..=3).map(|day| noisy(day, 1_000.0)).collect();
    for (run, seed) in runs.iter_mut().zip(1..) {
        let workload = &mut run.jobs[0].workload;
        (workload.size_bytes, workload.read_percent) = (Some(4 << 30), 70);
        // Another seed and another duration do not make another load.
        (workload.seed, workload.duration_ns) = (seed, seed * 1_000_000_000);
    }
    let chart = trend(runs).expect("a trend");
    assert!(
        chart.title.ends_with(" on 4G of /data over time"),
        "{}",
        chart.title
    );
    assert_eq!(chart.panels[1].y.title, "p99 latency of reads");
}

#[test]
fn noise_is_no_step() {
    let chart = trend((1..=24).map(|day| noisy(day, 1_000.0)).collect()).expect("a trend");
    assert!(chart.panels[0].annotations.is_empty());
    assert!(chart.summary.ends_with("No step was found in the rate."));
}

#[test]
fn repetitions_are_one_point_with_their_range() {
    let mut runs = halved();
    for (number, run) in runs.iter_mut().take(3).enumerate() {
        run.series = Some("repeated".to_owned());
        run.jobs[0].outcome.iops = [900.0, 1_000.0, 1_100.0][number];
    }
    let chart = trend(runs).expect("a trend");
    let points = &chart.panels[0].series[0].points;
    assert_eq!(points.len(), 22);
    assert_eq!(
        (points[0].y, points[0].span),
        (1_000.0, Some([900.0, 1_100.0]))
    );
}

#[test]
fn what_is_no_measurement_of_the_same_load_is_left_out() {
    let spoilt: [fn(&mut RunRecord); 6] = [
        |run| run.status = Status::Partial,
        |run| run.imported = Some(Imported::default()),
        |run| {
            run.experiment = Some(ExperimentPlace {
                experiment: "x".to_owned(),
                block: 0,
                position: 0,
                level: "1M".to_owned(),
                cell: 0,
            });
        },
        |run| run.jobs[0].workload.threads = 9,
        |run| run.jobs[0].workload.size_bytes = Some(1 << 30),
        |run| run.jobs[0].workload.atomic = true,
    ];
    for spoil in spoilt {
        let mut runs: Vec<RunRecord> = (1..=3).map(|day| noisy(day, 1_000.0)).collect();
        assert!(trend(runs.clone()).is_some());
        spoil(&mut runs[1]);
        assert!(trend(runs).is_none());
    }
}

#[test]
fn a_trend_is_drawn_as_a_picture_and_on_the_page() {
    let material = material(halved(), Vec::new(), Vec::new());
    let chart = charts(&material).remove(0);
    assert_eq!(chart.name, "trend");
    let about = Attribution::of(&material);
    let drawn = svg(&chart);
    for words in ["Measured at (UTC)", "2026-10-15"] {
        assert!(drawn.contains(words), "{words}: {drawn}");
    }
    assert!(png(&drawn, 1.0, &about).is_ok());
    assert!(html(&material).contains("\"quantity\":\"date\""));
}
