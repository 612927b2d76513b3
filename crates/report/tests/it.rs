//! Charts and pages from fixed records: golden pictures, text that stays text,
//! valid CSV.

#[path = "../../../tests/support/skips.rs"]
mod skips;

#[path = "it/truth.rs"]
mod truth;

#[path = "it/pictures.rs"]
mod pictures;

#[path = "it/trend.rs"]
mod trend;

use std::path::{Path, PathBuf};
use stripewise_report::{
    Attribution, Material, charts, csv_heading, csv_rows, html, markdown, png, svg,
};
use stripewise_results::{
    ComparisonGroup, ComparisonRecord, ComparisonRow, Document, Interval, JobOutcome, JobRecord,
    KneeRecord, LatencySummary, RunRecord, SeriesRecord, SideRecord, StepRecord, TargetFacts,
    Verdict,
};

const SCRIPT: &str = "</script><script>alert(1)</script><!-- =1+1 | `x`";

fn latency(p50: u64) -> LatencySummary {
    LatencySummary {
        min: p50 / 2,
        mean: p50 as f64 * 1.2,
        p50,
        p90: p50 * 2,
        p95: Some(p50 * 3),
        p99: p50 * 5,
        p999: Some(p50 * 9),
        max: p50 * 20,
    }
}

/// A ladder with its knee at 16 in flight.
fn ladder() -> SeriesRecord {
    let steps = [
        (1, 900.0),
        (2, 1_800.0),
        (4, 3_500.0),
        (8, 6_400.0),
        (16, 9_812.0),
        (32, 10_400.0),
        (64, 10_450.0),
    ];
    let steps = steps.map(|(outstanding, iops)| StepRecord {
        run: format!("run-{outstanding}"),
        threads: 1,
        outstanding,
        iops,
        mib_per_s: iops / 128.0,
        latency_ns: Some(latency((f64::from(outstanding) / iops * 0.6e9) as u64)),
        ..StepRecord::default()
    });
    SeriesRecord {
        id: "series".to_owned(),
        name: "random-read".to_owned(),
        slo: "p99<5ms".to_owned(),
        steps: steps.to_vec(),
        knee: Some(KneeRecord {
            kneedle_in_flight: 16,
            kneedle_bracket: [8, 16],
            plateau_in_flight: 32,
            plateau_bracket: [32, 64],
        }),
        within_limit: Some(4),
        ceiling: Some(6),
        stopped: "more in flight no longer rises".to_owned(),
        sentence: "Random read: 9,812 IOPS at p99 < 5 ms with 16 in flight; the ceiling is 10,450 IOPS at 64.".to_owned(),
        ..SeriesRecord::default()
    }
}

fn comparison() -> ComparisonRecord {
    let row = |operation: &str, threads: u32, percent: f64, half: f64| ComparisonRow {
        operation: operation.to_owned(),
        pattern: "random".to_owned(),
        block_size_bytes: Some(8_192),
        threads: Some(threads),
        outstanding: Some(4),
        metric: "iops".to_owned(),
        a: 400.0,
        b: 400.0 * (1.0 + percent / 100.0),
        difference_percent: percent,
        bounds_percent: None,
        estimate_percent: Some(percent),
        interval_percent: Some([percent - half, percent + half]),
        level: None,
        p_value: Some(0.002),
        blocks: 10,
        verdict: if percent > half {
            Verdict::Better
        } else {
            Verdict::NoDifference
        },
        difference_percent_max: None,
        published_difference_percent: None,
        void: Vec::new(),
        sentence: None,
        answers: None,
    };
    ComparisonRecord {
        title: "partition offset".to_owned(),
        a: SideRecord {
            name: "31.5K".to_owned(),
            from: Vec::new(),
        },
        b: SideRecord {
            name: "1M".to_owned(),
            from: Vec::new(),
        },
        level: 0.95,
        rows: vec![
            row("read", 1, 0.4, 1.1),
            row("read", 8, 11.2, 1.5),
            row("read", 64, 12.4, 0.8),
            row("write", 1, -0.3, 0.9),
            row("write", 8, 9.7, 2.0),
            row("write", 64, 12.1, 1.0),
        ],
        groups: vec![ComparisonGroup {
            name: "random read".to_owned(),
            metric: "iops".to_owned(),
            rows: 3,
            difference_percent_mean: 8.0,
        }],
        verdict: Verdict::Better,
        sentences: vec!["1M gives 11 % more random reads than 31.5K.".to_owned()],
        notes: Vec::new(),
        drift: None,
    }
}

/// A run whose rate halves in the middle.
fn run(label: &str) -> RunRecord {
    let intervals = (0..80).map(|second: u64| Interval {
        start_ns: second * 1_000_000_000,
        duration_ns: 1_000_000_000,
        read_operations: if second < 40 {
            3_000 + second % 7
        } else {
            1_500 + second % 5
        },
        bytes: 8_192 * 3_000,
        latency_ns_mean: 1.4e6,
        latency_ns_p99: Some(4_000_000 + second * 1_000),
        latency_ns_max: 9_000_000 + (second % 11) * 2_000_000,
        ..Interval::default()
    });
    let mut outcome = JobOutcome {
        duration_ns: 80_000_000_000,
        operations: 180_000,
        iops: 2_250.0,
        mib_per_s: 17.578125,
        intervals: intervals.collect(),
        ..JobOutcome::default()
    };
    outcome.read.operations = 180_000;
    outcome.read.latency_ns = Some(latency(1_200_000));
    let mut target = TargetFacts::unknown();
    target.name = "/data".to_owned();
    RunRecord {
        id: "20261121-201530-k3f9".to_owned(),
        started_at: "2026-11-21T20:15:30.000Z".to_owned(),
        label: Some(label.to_owned()),
        command: vec![
            "stripewise".to_owned(),
            "run".to_owned(),
            "/data".to_owned(),
            "--label".to_owned(),
            label.to_owned(),
        ],
        version: "0.1.0".to_owned(),
        jobs: vec![JobRecord {
            name: "job".to_owned(),
            target,
            outcome,
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    }
}

fn material(
    runs: Vec<RunRecord>,
    series: Vec<SeriesRecord>,
    comparisons: Vec<ComparisonRecord>,
) -> Material {
    let document = Document {
        series,
        comparisons,
        ..Document::new(runs)
    };
    Material::new("Report", document)
}

fn drawings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/drawings")
}

/// A picture is the one in `tests/drawings`. `STRIPEWISE_WRITE_TABLES=1` keeps what is drawn now.
fn is_as_kept(name: &str, drawn: &str) {
    let path = drawings().join(format!("{name}.svg"));
    if std::env::var_os("STRIPEWISE_WRITE_TABLES").is_some() {
        std::fs::write(&path, format!("{}\n", drawn.trim_end())).expect("a picture");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let is_same = drawn.trim_end() == kept.trim_end();
    assert!(is_same, "{} is drawn as\n{drawn}", path.display());
}

#[test]
fn pictures_of_fixed_records_are_as_they_were() {
    let mut drawn = Vec::new();
    for (name, material) in [
        ("ladder", material(Vec::new(), vec![ladder()], Vec::new())),
        (
            "comparison",
            material(Vec::new(), Vec::new(), vec![comparison()]),
        ),
        ("run", material(vec![run("a run")], Vec::new(), Vec::new())),
    ] {
        for chart in &charts(&material) {
            let name = format!("{name}-{}", chart.name);
            is_as_kept(&name, &svg(chart));
            drawn.push(format!("{name}.svg"));
        }
    }
    let folder = std::fs::read_dir(drawings()).expect("the pictures");
    let kept = folder.map(|entry| entry.expect("a picture").file_name());
    let mut kept: Vec<String> = kept.map(|name| name.display().to_string()).collect();
    kept.sort();
    drawn.sort();
    assert_eq!(drawn, kept, "one that is no longer drawn has to be removed");
}

#[test]
fn a_picture_is_drawn_with_the_embedded_font() {
    let charts = charts(&material(Vec::new(), vec![ladder()], Vec::new()));
    let picture = png(&svg(&charts[0]), 1.0, &Attribution::default()).expect("a picture");
    assert!(
        picture.starts_with(b"\x89PNG") && picture.len() > 10_000,
        "{}",
        picture.len()
    );
    // Without its text, the same picture is much lighter.
    let wordless: String = svg(&charts[0])
        .split("<text")
        .enumerate()
        .map(|(index, part)| {
            if index == 0 {
                part.to_owned()
            } else {
                part.split_once("</text>")
                    .map_or(String::new(), |(_, rest)| rest.to_owned())
            }
        })
        .collect();
    assert!(
        png(&wordless, 1.0, &Attribution::default())
            .expect("a picture")
            .len()
            * 10
            < picture.len() * 9
    );
}

#[test]
fn the_chart_of_a_ladder_has_knee_limit_and_ceiling_and_its_table_the_same_values() {
    let charts = charts(&material(Vec::new(), vec![ladder()], Vec::new()));
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    assert_eq!(names, ["random-read-load", "latency-against-iops"]);
    let picture = svg(&charts[0]);
    for words in [
        "knee 16 (90 %: 8 to 16)",
        "limit: 9,812 IOPS",
        "ceiling: 10,450 IOPS",
        "limit: p99 &lt; 5 ms",
    ] {
        assert!(picture.contains(words), "{words}");
    }
    let table = charts[0].table();
    assert_eq!(table.rows.len(), 7);
    assert_eq!(&table.rows[4][..2], ["16", "9,812"]);
}

#[test]
fn a_step_in_the_rate_is_pointed_at() {
    let charts = charts(&material(vec![run("x")], Vec::new(), Vec::new()));
    let time = charts
        .iter()
        .find(|chart| chart.name.ends_with("-time"))
        .expect("a chart over time");
    assert!(
        time.summary
            .contains("At 40 s the rate steps by \u{2212}50."),
        "{}",
        time.summary
    );
}

#[test]
fn text_of_users_stays_text_in_every_format() {
    let material = material(vec![run(SCRIPT)], Vec::new(), Vec::new());
    let page = html(&material);
    // The page's own: chart data, records, ECharts, and its script.
    assert_eq!(page.matches("<script").count(), 4);
    assert_eq!(page.matches("</script>").count(), 4);
    assert!(!page.contains("<!-- =1"));
    let text = markdown(&material);
    assert!(
        !text.replace("    stripewise", "").contains("<script>") || text.contains("    stripewise")
    );
    let table: String = text.lines().filter(|line| line.starts_with('|')).collect();
    assert!(
        !table.contains("<script>") && !table.contains(" | `"),
        "{table}"
    );
    assert!(csv_rows(&run("=1+1,\"x\"")).contains(",\"'=1+1,\"\"x\"\"\","));
    let columns = csv_heading().matches(',').count();
    assert_eq!(csv_rows(&run("plain")).matches(',').count(), columns);
}

#[test]
fn a_page_is_under_one_and_a_half_megabytes_however_much_is_measured() {
    let mut many = Vec::new();
    for index in 0..600 {
        let mut one = run("x");
        one.id = format!("20261121-201530-{index:04}");
        many.push(one);
    }
    assert!(html(&material(many, vec![ladder()], vec![comparison()])).len() < 1_500_000);
}
