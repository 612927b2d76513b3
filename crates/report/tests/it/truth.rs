//! What a reader sees of mixed loads, of an experiment's metric, of limits, of
//! many runs and of nearly empty records.

use std::collections::BTreeSet;
use stripewise_report::{
    Annotation, Chart, Judgement, Material, RunsLook, charts, checked_sheet, csv_rows,
    document_line, html, markdown, runs_sheet, sheet_text, svg,
};
use stripewise_results::{
    AnswerBound, AnswerPlace, AnswerRecord, ComparisonRecord, ComparisonRow, Document,
    ExperimentPlace, Imported, InFullRecord, Interval, JobRecord, KneeRecord, LatencySummary,
    RequirementRecord, RequirementVerdict, RunRecord, SeriesRecord, SeriesVerdict, Severity,
    SideRecord, Status, StepRecord, SustainedClaim, SustainedRecord, TargetFacts, Verdict, Warning,
};

fn latency(ms: u64) -> LatencySummary {
    LatencySummary {
        min: 1_000,
        mean: ms as f64 * 0.5e6,
        p50: ms * 400_000,
        p90: ms * 800_000,
        p95: Some(ms * 900_000),
        p99: ms * 1_000_000,
        p999: Some(ms * 1_500_000),
        max: ms * 2_000_000,
    }
}

fn run(id: &str) -> RunRecord {
    let mut target = TargetFacts::unknown();
    target.name = "/data".to_owned();
    let mut run = RunRecord {
        id: id.to_owned(),
        jobs: vec![JobRecord {
            name: "job".to_owned(),
            target,
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    };
    let outcome = &mut run.jobs[0].outcome;
    outcome.duration_ns = 1_000_000_000;
    outcome.operations = 1_000;
    outcome.iops = 1_000.0;
    outcome.mib_per_s = 7.8125;
    outcome.read.operations = 1_000;
    outcome.read.bytes = 1_000 * 8_192;
    outcome.read.latency_ns = Some(latency(1));
    run
}

/// 700 reads with a p99 of 1 ms and 300 writes with 104 ms.
fn mixed(id: &str, outstanding: u32) -> RunRecord {
    let mut run = run(id);
    let job = &mut run.jobs[0];
    job.workload.read_percent = 70;
    job.workload.outstanding = outstanding;
    job.outcome.read.operations = 700;
    job.outcome.write.operations = 300;
    job.outcome.write.bytes = 300 * 8_192;
    job.outcome.write.latency_ns = Some(latency(104));
    run
}

fn material(runs: Vec<RunRecord>) -> Material {
    Material::new("Report", Document::new(runs))
}

fn step(outstanding: u32, iops: f64, p99_ms: u64) -> StepRecord {
    StepRecord {
        run: format!("run-{outstanding}"),
        threads: 1,
        outstanding,
        iops,
        mib_per_s: iops / 128.0,
        latency_ns: Some(latency(p99_ms)),
        ..StepRecord::default()
    }
}

/// Spinning disks: the limit is missed from the first step on.
fn disks(slo: &str) -> SeriesRecord {
    SeriesRecord {
        id: "series".to_owned(),
        name: "random-read".to_owned(),
        slo: slo.to_owned(),
        steps: vec![
            step(1, 170.0, 12),
            step(8, 700.0, 19),
            step(64, 1_200.0, 90),
        ],
        knee: Some(KneeRecord {
            kneedle_in_flight: 8,
            kneedle_bracket: [8, 8],
            plateau_in_flight: 64,
            plateau_bracket: [64, 64],
        }),
        ceiling: Some(2),
        stopped: "of it".to_owned(),
        sentence: "Random read: not within the limit.".to_owned(),
        ..SeriesRecord::default()
    }
}

fn of_series(series: SeriesRecord) -> Material {
    let runs = series.steps.iter().map(|step| {
        let mut run = run(&step.run);
        run.latency_limit = Some(series.slo.clone());
        run.jobs[0].outcome.read.latency_ns = step.latency_ns;
        run
    });
    let document = Document {
        series: vec![series.clone()],
        ..Document::new(runs.collect())
    };
    Material::new("Bench", document)
}

fn chart<'a>(charts: &'a [Chart], name: &str) -> &'a Chart {
    let names: Vec<&str> = charts.iter().map(|chart| chart.name.as_str()).collect();
    let found = charts.iter().find(|chart| chart.name == name);
    found.unwrap_or_else(|| panic!("{name} is not among {names:?}"))
}

/// The text about a requirement is the same wherever it is shown, and an undecided one is
/// never called missed.
#[test]
fn an_undecided_requirement_is_undecided_in_every_text() {
    let undecided = RequirementRecord {
        requirement: "iops>=1000".to_owned(),
        measured: Some(1_000.0),
        measured_words: "1,000 IOPS".to_owned(),
        of: String::new(),
        repetitions: 0,
        met: false,
        interval: Some([900.0, 1_100.0]),
        undecided: true,
        series: Vec::new(),
    };
    let mut material = material(vec![run("a")]);
    material.document.requirements = vec![undecided.clone()];
    let terminal = sheet_text(&runs_sheet(&material.document, &RunsLook::default()), 100);
    let picture = checked_sheet(&[], &[undecided], &[], false);
    let (judgement, verdict) = picture.verdict.clone().expect("a verdict");
    assert_eq!(
        (judgement, verdict.as_str()),
        (Judgement::Open, "Requirement undecided")
    );
    let texts = [
        html(&material),
        markdown(&material),
        terminal,
        sheet_text(&picture, 100),
        document_line(&material.document),
    ];
    for text in texts {
        let answer = text.split("<section id=\"answer\"").last();
        let answer = answer.expect("a text").to_lowercase();
        assert!(answer.contains("undecided"), "{answer}");
        for word in [">fail", "not met", "missed:", "missed</"] {
            assert!(!answer.contains(word), "{word}: {answer}");
        }
    }
}

#[test]
fn a_mixed_load_has_a_row_for_reads_one_for_writes_and_latencies_only_there() {
    let material = material(vec![mixed("one", 1)]);
    let text = markdown(&material);
    let row = |of: &str| {
        let found = text.lines().find(|line| line.contains(of));
        found.unwrap_or_else(|| panic!("{of}: {text}")).to_owned()
    };
    assert!(row("read: both").contains("| 1,000 |") && !row("read: both").contains("ms"));
    assert!(row("read: reads").contains("| 700 |") && row("read: reads").contains("| 1 ms |"));
    assert!(row("read: writes").contains("| 300 |") && row("read: writes").contains("| 104 ms |"));
    let page = html(&material);
    for words in [
        "random 70 % read: reads",
        "random 70 % read: writes",
        "104 ms",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn charts_of_mixed_loads_have_the_latencies_of_reads_and_of_writes() {
    let grid = [1, 2, 4].map(|outstanding| mixed(&format!("run-{outstanding}"), outstanding));
    let all = charts(&material(grid.to_vec()));
    let of = chart(&all, "against-load");
    let titles: Vec<&str> = of
        .panels
        .iter()
        .map(|panel| panel.y.title.as_str())
        .collect();
    assert_eq!(
        titles,
        [
            "Throughput",
            "Latency of reads, p99",
            "Latency of writes, p99"
        ]
    );
    assert_eq!(of.panels[2].series[0].points[0].y, 104e6);
    let two = charts(&material(grid[..2].to_vec()));
    assert!(svg(chart(&two, "side-by-side")).contains("Latency of writes, p99"));
}

#[test]
fn a_report_shows_the_metric_of_its_experiment_and_which_way_is_better() {
    let level = |level: &str, block: u32, ms: u64| {
        let mut run = run(&format!("{level}-{block}"));
        run.jobs[0].outcome.read.latency_ns = Some(latency(ms));
        run.experiment = Some(ExperimentPlace {
            experiment: "e".to_owned(),
            block,
            level: level.to_owned(),
            cell: 0,
            position: 0,
        });
        run
    };
    let runs: Vec<RunRecord> = (0..4)
        .flat_map(|block| [level("1", block, 29), level("4", block, 114)])
        .collect();
    let comparison = ComparisonRecord {
        title: "outstanding".to_owned(),
        a: SideRecord {
            name: "1".to_owned(),
            from: runs.iter().map(|run| run.id.clone()).collect(),
        },
        b: SideRecord {
            name: "4".to_owned(),
            from: Vec::new(),
        },
        level: 0.95,
        rows: vec![ComparisonRow {
            void: Vec::new(),
            operation: "read".to_owned(),
            pattern: "random".to_owned(),
            block_size_bytes: Some(8_192),
            threads: Some(1),
            outstanding: None,
            metric: "latency_ns_p99".to_owned(),
            a: 29e6,
            b: 114e6,
            difference_percent: 293.0,
            bounds_percent: None,
            estimate_percent: None,
            interval_percent: None,
            level: None,
            p_value: None,
            blocks: 4,
            verdict: Verdict::Worse,
            difference_percent_max: None,
            published_difference_percent: None,
            sentence: None,
            answers: None,
        }],
        groups: Vec::new(),
        verdict: Verdict::Worse,
        sentences: Vec::new(),
        notes: Vec::new(),
        drift: None,
    };
    let document = Document {
        comparisons: vec![comparison],
        ..Document::new(runs)
    };
    let all = charts(&Material::new("Experiment", document));
    let levels = chart(&all, "random-read-levels");
    assert_eq!(levels.panels[0].y.title, "p99 latency (lower is better)");
    assert_eq!(levels.panels[0].series[1].points[0].y, 114e6);
    let difference = chart(&all, "difference-latency-ns-p99");
    let title = &difference.panels[0].y.title;
    assert!(title.contains("p99 latency (lower is better)"), "{title}");
    let drift = chart(&all, "baseline-drift");
    assert!(drift.panels[0].y.title.starts_with("p99 latency"));
}

#[test]
fn a_limit_is_marked_at_its_percentile_and_in_the_colour_of_its_line() {
    let mut within = disks("p99<20ms");
    within.within_limit = Some(1);
    let all = charts(&of_series(within.clone()));
    let marks = &chart(&all, "percentiles").panels[0].annotations;
    let [Annotation::Bound { x, y, .. }] = marks[..] else {
        panic!("{marks:?}");
    };
    assert!((x - 2.0).abs() < 1e-9 && y == 20e6, "{x} {y}");
    let below = &chart(&all, "random-read-load").panels[1];
    let p99 = below.series.iter().find(|line| line.name == "p99");
    let tone = p99.map(|line| line.tone);
    assert!(
        matches!(below.annotations[..], [Annotation::AtY { tone: of, .. }] if of == tone),
        "{:?}",
        below.annotations
    );
    // A limit on the maximum has no position among percentiles.
    within.slo = "max<20ms".to_owned();
    let all = charts(&of_series(within.clone()));
    assert!(chart(&all, "percentiles").panels[0].annotations.is_empty());
    // The judged statistic is among the lines, even p90.
    within.slo = "p90<20ms".to_owned();
    let all = charts(&of_series(within));
    let lines = &chart(&all, "random-read-load").panels[1].series;
    assert!(lines.iter().any(|line| line.name == "p90"));
}

#[test]
fn a_missed_limit_is_answered_at_the_knee_and_said_so_wherever_it_is_shown() {
    let material = of_series(disks("p99<5ms"));
    let page = html(&material).replace('\u{a0}', " ");
    for words in [
        ">700 IOPS</td>",
        "  at the knee</td>",
        "One run per number, so no interval",
        "p99 &lt; 20 ms: 700 IOPS with 8 in flight; p99 &lt; 100 ms: 1,200 IOPS with 64 in flight",
    ] {
        assert!(page.contains(words), "{words}");
    }
    same_numbers(&material);
    let text = markdown(&material);
    assert!(
        text.contains("In single runs: p99 < 20 ms: 700 IOPS with 8 in flight;"),
        "{text}"
    );
    let all = charts(&material);
    let percentiles = chart(&all, "percentiles");
    assert_eq!(
        percentiles.panels[0].series[0].name,
        "Random read, at the knee"
    );
    assert!(
        percentiles
            .summary
            .contains("with 8 in flight, at the knee: nothing meets p99 < 5 ms"),
        "{}",
        percentiles.summary
    );
}

/// The table has the latency that the sentence names: that of the smallest load, even if a
/// larger one was luckier, and of the runs made for the answer if they are of that load.
#[test]
fn a_missed_limit_has_the_latency_of_the_smallest_load() {
    let mut series = disks("p99<5ms");
    series.steps[1] = step(8, 700.0, 9);
    let text = terminal(&of_series(series.clone()), false);
    let row = |text: &str| {
        let row = text.lines().find(|line| line.contains("none"));
        row.expect("a row")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(row(&text).contains("none 12 ms 1 "), "{text}");
    let of_runs = AnswerRecord {
        at: AnswerPlace::Highest,
        in_flight: 1.0,
        bound: None,
        iops: 171.0,
        iops_low: None,
        iops_high: None,
        mib_per_s: 1.3,
        mib_per_s_low: None,
        mib_per_s_high: None,
        level: 0.95,
        latency_ns: 13_000_000,
        latency: Some(latency(13)),
        runs: 2,
        runs_left_out: 0,
        in_full: None,
    };
    series.answer = Some(of_runs);
    assert_eq!(series.least_load(), Some((1, Some(13e6))));
    assert!(row(&terminal(&of_series(series), false)).contains("none 13 ms 1 "));
}

#[test]
fn each_sign_in_the_column_of_ceilings_means_one_thing() {
    let of = |steps: Vec<StepRecord>| {
        let mut series = SeriesRecord {
            ceiling: Some(steps.len() - 1),
            ceiling_bound: None,
            within_limit: Some(steps.len() - 1),
            knee: None,
            steps,
            ..disks("p99<900ms")
        };
        series.ceiling_bound = series.bound_of_ceiling();
        let text = terminal(&of_series(series), false);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let rising = of(vec![step(1, 170.0, 12), step(8, 700.0, 19)]);
    assert!(rising.contains("8 \u{2265} 700 ok"), "{rising}");
    let meaning = "; \u{2265}: more in flight may give more.";
    assert!(rising.contains(meaning), "{rising}");
    let loads = [1, 2, 4, 8];
    let flat = of(loads.map(|load| step(load, 700.0, 12)).to_vec());
    assert!(flat.contains(" same ok"), "{flat}");
    assert!(flat.contains("; same: the answer's."), "{flat}");
    // No ceiling is known.
    let alone = of(vec![step(1, 700.0, 12)]);
    assert!(!alone.contains("Ceiling"), "{alone}");
    // Every step met a stall, and most runs for the answer met none.
    let mut stalled = disks("p99<100ms");
    stalled.within_limit = Some(2);
    stalled.answer = Some(AnswerRecord {
        at: AnswerPlace::Plateau,
        in_flight: 64.0,
        bound: None,
        iops: 1_500.0,
        iops_low: Some(1_450.0),
        iops_high: Some(1_550.0),
        mib_per_s: 11.7,
        mib_per_s_low: Some(11.3),
        mib_per_s_high: Some(12.1),
        level: 0.95,
        latency_ns: 80_000_000,
        latency: None,
        runs: 12,
        runs_left_out: 0,
        in_full: None,
    });
    let slower = terminal(&of_series(stalled.clone()), false);
    assert!(!slower.contains("Ceiling"), "{slower}");
    let other = SeriesRecord {
        name: "random-write".to_owned(),
        ..disks("p99<100ms")
    };
    let mut both = of_series(stalled);
    both.document.series.push(other);
    let both = terminal(&both, false);
    for words in [" - ok", "; -: no step was as fast as the answer."] {
        let text = both.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{words}: {both}");
    }
    assert!(!both.contains("same"), "{both}");
}

/// The limit that an answer is at is not what was required of the load.
#[test]
fn the_verdict_on_a_load_is_on_what_was_required_of_it() {
    let verdict = |slo: &str, within: Option<usize>, found: &[RequirementVerdict]| {
        let mut series = disks(slo);
        series.within_limit = within;
        let required = found.iter().map(|verdict| RequirementRecord {
            requirement: "random-read iops>=9".to_owned(),
            measured: None,
            measured_words: String::new(),
            of: String::new(),
            repetitions: 0,
            met: *verdict == RequirementVerdict::Met,
            interval: None,
            undecided: *verdict == RequirementVerdict::Undecided,
            series: vec![SeriesVerdict {
                id: series.id.clone(),
                name: series.name.clone(),
                verdict: *verdict,
            }],
        });
        let required: Vec<RequirementRecord> = required.collect();
        let mut material = of_series(series);
        material.document.requirements = required;
        let text = terminal(&material, false);
        let row = text.lines().find(|line| line.starts_with("Random read"));
        let row = row.expect("a row").trim_end();
        let word = row.rsplit(' ').next().expect("a word").to_owned();
        let tables = markdown(&material);
        assert!(tables.contains(&format!("| {word} |")), "{word}: {tables}");
        word
    };
    let (met, missed) = (RequirementVerdict::Met, RequirementVerdict::Missed);
    let open = RequirementVerdict::Undecided;
    for (slo, within, found, word) in [
        ("p99<20ms", Some(1), &[][..], "ok"),
        ("p99<20ms", Some(1), &[met][..], "met"),
        ("p99<20ms", Some(1), &[met, open][..], "undecided"),
        ("p99<20ms", Some(1), &[open, missed, met][..], "missed"),
        ("p99<5ms", None, &[][..], "missed"),
        ("p99<5ms", None, &[met][..], "met"),
        ("p99<5ms", None, &[met, open][..], "undecided"),
    ] {
        assert_eq!(verdict(slo, within, found), word, "{slo} {found:?}");
    }
}

/// One line for a reason that several loads share, with loads instead of runs.
#[test]
fn a_warning_of_a_bench_names_the_loads_that_it_concerns() {
    let series = |name: &str, no_answer: bool| SeriesRecord {
        id: "bench".to_owned(),
        name: name.to_owned(),
        steps: vec![StepRecord {
            run: format!("run-{name}"),
            void: if no_answer {
                vec!["zero-data".to_owned()]
            } else {
                Vec::new()
            },
            ..step(1, 170.0, 12)
        }],
        no_answer: no_answer.then(|| "its only step is VOID (zero-data)".to_owned()),
        ..disks("p99<900ms")
    };
    let all = [
        series("random-read", true),
        series("random-write", true),
        series("log", false),
    ];
    let runs = all.iter().map(|series| {
        let mut run = run(&series.steps[0].run);
        run.series = Some(series.id.clone());
        run.series_part = Some(series.name.clone());
        run.warnings = series
            .no_answer
            .iter()
            .map(|_| Warning {
                code: "zero-data".to_owned(),
                severity: Severity::Void,
                message: "the data are zeros".to_owned(),
                short: String::new(),
                hint: Default::default(),
            })
            .collect();
        run
    });
    let document = Document {
        series: all.to_vec(),
        ..Document::new(runs.collect())
    };
    let text = terminal(&Material::new("Bench", document), false);
    let (_, care) = text.split_once("Read with care").expect("cautions");
    let care = care.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "X Random read; Random write: no answer; its only step is VOID (zero-data)",
        "the data are zeros 2 of 3 loads: Random read; Random write [zero-data]",
    ] {
        assert!(care.contains(words), "{words}: {text}");
    }
    assert_eq!(care.matches("no answer").count(), 1, "{text}");
}

/// The terminal output for runs.
fn terminal(material: &Material, ladders: bool) -> String {
    let look = RunsLook {
        ladders,
        ..RunsLook::default()
    };
    sheet_text(&runs_sheet(&material.document, &look), 160)
}

/// Every number of the sheet is in each of its renderings, with the same digits.
fn same_numbers(material: &Material) {
    let look = RunsLook {
        ladders: true,
        ..RunsLook::default()
    };
    let sheet = runs_sheet(&material.document, &look);
    let tables = sheet.tables.iter().flat_map(|table| &table.rows);
    let cells: Vec<&str> = tables
        .flatten()
        .map(|cell| cell.text.as_str())
        .filter(|text| text.contains(|letter: char| letter.is_ascii_digit()))
        .collect();
    assert!(cells.len() > 5, "{cells:?}");
    for (name, text) in [
        ("terminal", terminal(material, true)),
        ("page", html(material).replace('\u{a0}', " ")),
        ("Markdown", markdown(material)),
    ] {
        for cell in &cells {
            let cell = match name {
                "page" => cell.replace('<', "&lt;"),
                _ => (*cell).to_owned(),
            };
            assert!(text.contains(&cell), "{name}: {cell} is not in\n{text}");
        }
    }
}

#[test]
fn an_answer_stands_with_its_interval_wherever_it_is_shown() {
    let mut series = disks("p99<20ms");
    series.within_limit = Some(1);
    series.sentence = "Random read: 755 IOPS (712-801) at p99 < 20 ms.".to_owned();
    series.answer_runs = vec![series.steps[0].clone(), series.steps[1].clone()];
    let found = AnswerRecord {
        at: AnswerPlace::Limit,
        in_flight: 8.7,
        bound: None,
        iops: 755.4,
        iops_low: Some(712.2),
        iops_high: Some(801.4),
        mib_per_s: 5.9,
        mib_per_s_low: Some(5.6),
        mib_per_s_high: Some(6.3),
        level: 0.95,
        latency_ns: 20_000_000,
        latency: None,
        runs: 19,
        runs_left_out: 1,
        in_full: None,
    };
    series.answer = Some(found);
    let words = "755 IOPS (712-801)";
    let page = html(&of_series(series.clone()));
    same_numbers(&of_series(series.clone()));
    assert!(page.contains(">755 IOPS</td>") && page.contains(">\u{b1}6.1 %</td>"));
    assert!(
        page.contains(">20 ms</td>") && page.contains(">9</td>"),
        "place"
    );
    assert!(markdown(&of_series(series.clone())).contains(&format!("Answer: {words} with 9 in")));
    let table = terminal(&of_series(series.clone()), true);
    let table = table.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        table.contains("Answer: 755 IOPS (712-801) with 9 in flight, p99 20 ms; 19 runs at 1 to 8"),
        "{table}"
    );
    let all = charts(&of_series(series.clone()));
    let marks = &chart(&all, "random-read-load").panels[0].annotations;
    let ringed = |wanted: &str| {
        marks
            .iter()
            .any(|mark| matches!(mark, Annotation::AtPoint { label, .. } if *label == wanted))
    };
    assert!(ringed("answer: 755 IOPS (712-801)"), "{marks:?}");
    // A bound is called one.
    series.answer = Some(AnswerRecord {
        bound: Some(AnswerBound::AtLeast),
        iops: 712.2,
        iops_high: None,
        ..found
    });
    let page = html(&of_series(series));
    assert!(page.contains(">\u{2265} 712 IOPS</td>"));
}

/// A document on the terminal and in one line, without its breaks.
fn words_of(document: &Document) -> [String; 2] {
    let shown = [
        sheet_text(&runs_sheet(document, &RunsLook::default()), 100),
        document_line(document),
    ];
    shown.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A robust mean and a median hide stalls that only some runs met.
#[test]
fn runs_far_from_the_others_are_counted_in_full_wherever_a_rate_is_shown() {
    let mut series = disks("p99<20ms");
    series.within_limit = Some(1);
    series.answer = Some(AnswerRecord {
        at: AnswerPlace::Plateau,
        in_flight: 8.0,
        bound: None,
        iops: 755.0,
        iops_low: Some(750.0),
        iops_high: Some(760.0),
        mib_per_s: 5.9,
        mib_per_s_low: Some(5.8),
        mib_per_s_high: Some(6.0),
        level: 0.95,
        latency_ns: 19_000_000,
        latency: None,
        runs: 20,
        runs_left_out: 0,
        in_full: Some(InFullRecord {
            iops: 738.2,
            iops_low: Some(712.1),
            iops_high: Some(751.4),
            mib_per_s: 5.8,
            mib_per_s_low: Some(5.6),
            mib_per_s_high: Some(5.9),
            runs_apart: 3,
            difference_percent: -15.0,
            runs: 20,
        }),
    });
    let bench = of_series(series);
    let expected =
        "3 of 20 runs were slower by 15 %; counted in full the rate is 738 IOPS (712-751)";
    for text in words_of(&bench.document) {
        assert!(text.contains(expected), "{text}");
    }
    assert!(
        html(&bench).replace('\u{a0}', " ").contains(expected)
            && markdown(&bench).contains(expected)
    );
}

/// `run --steady`: the table has one number, and the cache gave another.
#[test]
fn a_run_behind_a_cache_says_what_the_cache_gave() {
    let mut behind = run("1");
    behind.sustained = Some(Box::new(SustainedRecord {
        claim: SustainedClaim::Sustained,
        absorbed_bytes: Some(256 << 20),
        absorbed_iops: Some(45_000.0),
        absorbed_mib_per_s: Some(351.6),
        iops: Some(1_000.0),
        from_bytes: 256 << 20,
        from_ns: 730_000_000,
        written_bytes: 1 << 30,
        duration_ns: 60_000_000_000,
        needed_ns: None,
        needed_bytes: None,
    }));
    let mut other = behind.clone();
    other.jobs[0].workload.outstanding = 4;
    let lasts = "45,000 IOPS until 256 MiB are read; the table has what lasts";
    let [alone, _] = words_of(&Document::new(vec![behind.clone()]));
    assert!(alone.contains(lasts), "{alone}");
    let [both, _] = words_of(&Document::new(vec![behind, other]));
    assert!(both.contains(&format!("4 in flight: {lasts}")), "{both}");
}

#[test]
fn a_hint_in_a_file_is_worded_for_the_command_that_made_the_run() {
    let mut one = run("1");
    one.command = ["stripewise", "align"].map(str::to_owned).to_vec();
    one.warnings.push(Warning {
        code: "few-operations".to_owned(),
        severity: Severity::Note,
        message: "few operations".to_owned(),
        short: String::new(),
        hint: "give --duration 2s".into(),
    });
    let mut material = material(vec![one]);
    for (command, expected) in [("", "give --duration 2s"), ("align", "align: --step 2s")] {
        for text in [html(&material), markdown(&material)] {
            assert!(text.contains(expected), "{command}: {text}");
        }
        material.hint = |line, _| format!("{}: --step 2s", line[1]);
    }
}

#[test]
fn only_whole_and_valid_repetitions_are_counted_in_full() {
    let repeated = |slow: usize| {
        let runs = (0..20_usize).map(|index| {
            let mut run = run(&index.to_string());
            run.jobs[0].outcome.iops = if index < slow { 840.0 } else { 1_000.0 };
            run
        });
        Document::new(runs.collect())
    };
    for text in words_of(&repeated(3)) {
        let expected = "3 of 20 runs were slower by 16 %; counted in full the rate is 976 IOPS";
        assert!(text.contains(expected), "{text}");
    }
    let (mut partial, mut void, mut imported) = (repeated(3), repeated(3), repeated(3));
    for run in &mut partial.runs[..3] {
        run.status = Status::Partial;
    }
    for run in &mut void.runs[..3] {
        run.warnings.push(Warning {
            code: "zero-data".to_owned(),
            severity: Severity::Void,
            message: "the data are zeros".to_owned(),
            short: String::new(),
            hint: Default::default(),
        });
    }
    imported.runs[0].imported = Some(Imported {
        tool: "fio".to_owned(),
        source: "runs.json".to_owned(),
        ..Imported::default()
    });
    for document in [&repeated(0), &partial, &void, &imported] {
        for text in words_of(document) {
            assert!(!text.contains("in full"), "{text}");
        }
    }
}

#[test]
fn the_judged_percentile_is_what_is_shown_beside_the_answer() {
    let mut series = disks("p99.9<60ms");
    series.within_limit = Some(1);
    let material = of_series(series);
    same_numbers(&material);
    let page = html(&material);
    assert!(page.contains("data-of=\"p99.9\">28.5 ms</td>"));
}

#[test]
fn the_log_answers_with_durable_writes() {
    let mut log = disks("p99<5ms");
    log.name = "log".to_owned();
    log.steps.truncate(1);
    (log.knee, log.ceiling) = (None, Some(0));
    let material = of_series(log);
    same_numbers(&material);
    let page = html(&material);
    // Twice: that it misses its limit, and what it does nevertheless.
    assert!(page.contains(">170 writes/s</td>") && page.matches(">12 ms</td>").count() > 1);
    assert!(page.contains("  as measured</td>"));
}

/// `count` intervals of this many milliseconds at a constant rate.
fn even(count: u64, milliseconds: u64) -> RunRecord {
    let mut run = run("even");
    let intervals = (0..count).map(|index| Interval {
        start_ns: index * milliseconds * 1_000_000,
        duration_ns: milliseconds * 1_000_000,
        read_operations: 100 * milliseconds,
        bytes: 1,
        latency_ns_mean: 1e6,
        latency_ns_p99: Some(2_000_000),
        latency_ns_max: 3_000_000,
        ..Interval::default()
    });
    run.jobs[0].outcome.intervals = intervals.collect();
    run
}

#[test]
fn steadiness_is_not_claimed_of_less_than_five_rounds_of_a_second() {
    for (count, milliseconds, claimed) in [
        (10, 100, false),
        (49, 100, false),
        (60, 100, true),
        (5, 1_000, true),
    ] {
        let all = charts(&material(vec![even(count, milliseconds)]));
        let time = chart(&all, "random-read-time");
        assert_eq!(
            time.summary.contains("SNIA"),
            claimed,
            "{count} of {milliseconds} ms: {}",
            time.summary
        );
    }
}

#[test]
fn a_grid_of_any_size_has_charts_and_only_no_charts_have_no_link() {
    let mut runs = Vec::new();
    for block in 0..30_u32 {
        for (threads, outstanding) in [(1, 1), (1, 2), (2, 1), (2, 4)] {
            let mut run = run(&format!("{block}-{threads}-{outstanding}"));
            let workload = &mut run.jobs[0].workload;
            workload.block_size_bytes = 4_096 * u64::from(block + 1);
            (workload.threads, workload.outstanding) = (threads, outstanding);
            runs.push(run);
        }
    }
    let all = charts(&material(runs.clone()));
    let maps = all
        .iter()
        .filter(|chart| chart.name.ends_with("-grid"))
        .count();
    assert_eq!(maps, 24);
    assert!(all[0].summary.contains("the first 24 of 30 groups"));
    assert!(all.iter().any(|chart| chart.title.ends_with("(2 of 4)")));
    // Without a varying load: bars, on several charts.
    runs.retain(|run| run.jobs[0].workload.outstanding == 1 && run.jobs[0].workload.threads == 1);
    let more = runs.clone().into_iter().map(|mut run| {
        run.jobs[0].workload.base_offset_bytes = 512;
        run.experiment = None;
        run
    });
    runs.extend(more);
    let all = charts(&material(runs));
    let bars = all
        .iter()
        .filter(|chart| chart.name.starts_with("side-by-side"))
        .count();
    assert!(
        bars == 2 || all.iter().any(|chart| chart.name.ends_with("-levels")),
        "{bars}"
    );
    assert!(!charts(&material(vec![run("alone")])).is_empty());
    let empty = RunRecord {
        jobs: Vec::new(),
        ..run("empty")
    };
    let page = html(&material(vec![empty]));
    assert!(!page.contains("href=\"#charts\""));
}

/// A result of SQLIO with a mean of 0 ms and a histogram.
fn sqlio() -> RunRecord {
    let mut run = run("sqlio");
    let shares: Vec<u64> = std::iter::once(97)
        .chain((1..25).map(|ms| u64::from(ms < 4)))
        .collect();
    run.imported = Some(Imported {
        tool: "sqlio".to_owned(),
        tool_version: None,
        source: "log.txt".to_owned(),
        line: None,
        details: Some(serde_json::json!({ "histogram_percent": shares })),
        absent: ["p50", "p90", "p99", "p999"]
            .map(|name| format!("jobs.outcome.read.latency_ns.{name}"))
            .into_iter()
            .collect::<BTreeSet<_>>()
            .into(),
        ..Imported::default()
    });
    run.jobs[0].outcome.read.latency_ns = Some(LatencySummary {
        max: 611_000_000,
        ..LatencySummary::default()
    });
    run
}

#[test]
fn a_result_of_sqlio_has_its_histogram_and_its_0_ms_is_less_than_one() {
    let material = material(vec![sqlio()]);
    let all = charts(&material);
    let histogram = chart(&all, "latency-histogram");
    assert_eq!(histogram.panels[0].series[0].points.len(), 25);
    assert!(
        histogram
            .summary
            .contains("97 % of operations took from 0 ms to 1 ms")
    );
    assert!(svg(histogram).contains("24+"));
    let (text, page) = (markdown(&material), html(&material));
    assert!(
        text.contains("| Mean |") && text.contains("| < 1 ms |"),
        "{text}"
    );
    assert!(page.contains("&lt; 1 ms</td>"));
    let terminal = terminal(&material, false);
    assert!(terminal.contains("< 1 ms"), "{terminal}");
    assert!(csv_rows(&material.document.runs[0]).contains(",<1000000,"));
    for text in [text, page, terminal] {
        assert!(!text.contains("0 ns"));
    }
}

#[test]
fn no_format_has_a_sign_that_acts() {
    const LABEL: &str = "a\u{1b}[2Jb\u{9b}c\u{202e}d\u{7f}";
    let mut one = run("one");
    one.label = Some(LABEL.to_owned());
    one.command = vec!["stripewise".to_owned(), LABEL.to_owned()];
    one.jobs[0].name = LABEL.to_owned();
    let mut other = one.clone();
    other.label = Some(format!("{LABEL}2"));
    let material = material(vec![one.clone(), other]);
    let pictures: String = charts(&material).iter().map(svg).collect();
    for (format, text) in [
        ("md", markdown(&material)),
        ("html", html(&material)),
        ("csv", csv_rows(&one).replace("\r\n", "")),
        ("svg", pictures),
        (
            "json",
            stripewise_report::plain_json(&material.document.to_json()),
        ),
    ] {
        let odd = |sign: char| {
            (sign.is_control() && !matches!(sign, '\n' | '\t'))
                || ('\u{202a}'..='\u{202e}').contains(&sign)
        };
        // ECharts has such characters in its own patterns.
        let own = include_str!("../../assets/echarts/echarts.min.js");
        let text = text.replace(own, "");
        assert!(!text.contains(odd), "{format}: {:?}", text.find(odd));
    }
}

/// The same numbers on every machine.
struct SeededRng(u64);

impl SeededRng {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides
    }

    fn real(&mut self) -> f64 {
        const ODD: [f64; 9] = [
            0.0,
            -1.0,
            1.0,
            5e-324,
            1e-9,
            1e9,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        ODD[self.roll(ODD.len())]
    }

    fn whole(&mut self) -> u64 {
        const ODD: [u64; 6] = [0, 0, 1, 1_000, 1_000_000_000, u64::MAX];
        ODD[self.roll(ODD.len())]
    }

    fn count(&mut self) -> u32 {
        const ODD: [u32; 5] = [0, 1, 2, 64, u32::MAX];
        ODD[self.roll(ODD.len())]
    }

    fn latency(&mut self) -> Option<LatencySummary> {
        (self.roll(4) > 0).then(|| LatencySummary {
            min: self.whole(),
            mean: self.real(),
            p50: self.whole(),
            p90: self.whole(),
            p95: Some(self.whole()),
            p99: self.whole(),
            p999: Some(self.whole()).filter(|ns| *ns != 1),
            max: self.whole(),
        })
    }

    fn run(&mut self, index: usize) -> RunRecord {
        let mut run = run(&format!("run-{index}"));
        let job = &mut run.jobs[0];
        job.workload.read_percent = [0, 70, 100][self.roll(3)];
        job.workload.threads = self.count();
        job.workload.outstanding = self.count();
        job.workload.block_size_bytes = self.whole();
        job.workload.base_offset_bytes = self.whole();
        let outcome = &mut job.outcome;
        outcome.iops = self.real();
        outcome.mib_per_s = self.real();
        outcome.duration_ns = self.whole();
        outcome.read.operations = self.whole();
        outcome.read.latency_ns = self.latency();
        outcome.write.latency_ns = self.latency();
        for interval in 0..self.roll(12) as u64 {
            outcome.intervals.push(Interval {
                start_ns: interval * 1_000_000_000,
                duration_ns: [0, 1, 1_000_000_000][self.roll(3)],
                read_operations: [0, 1, 1_000_000][self.roll(3)],
                latency_ns_mean: self.real(),
                latency_ns_p99: Some(self.whole()),
                latency_ns_max: self.whole(),
                ..Interval::default()
            });
        }
        if self.roll(3) == 0 {
            let absent: BTreeSet<String> = match self.roll(3) {
                0 => ["jobs".to_owned()].into(),
                1 => ["jobs.workload".to_owned()].into(),
                _ => BTreeSet::new(),
            };
            run.imported = Some(Imported {
                tool: ["sqlio", "fio", "dataset"][self.roll(3)].to_owned(),
                tool_version: None,
                source: String::new(),
                line: None,
                details: (self.roll(2) == 0)
                    .then(|| serde_json::json!({ "histogram_percent": [0, 0] })),
                absent: absent.into(),
                ..Imported::default()
            });
        }
        if self.roll(4) == 0 {
            run.experiment = Some(ExperimentPlace {
                experiment: "e".to_owned(),
                block: self.roll(4) as u32,
                level: self.roll(12).to_string(),
                cell: self.roll(2) as u32,
                position: 0,
            });
        }
        if self.roll(6) == 0 {
            let job = run.jobs[0].clone();
            run.jobs.push(job);
        }
        run
    }

    fn series(&mut self, runs: &[RunRecord]) -> SeriesRecord {
        let steps: Vec<StepRecord> = runs
            .iter()
            .map(|run| StepRecord {
                run: run.id.clone(),
                threads: self.count(),
                outstanding: self.count(),
                iops: self.real(),
                mib_per_s: self.real(),
                latency_ns: self.latency(),
                ..StepRecord::default()
            })
            .collect();
        let index = |rng: &mut SeededRng| {
            (rng.roll(2) == 0)
                .then(|| rng.roll(steps.len().max(1)))
                .filter(|index| *index < steps.len())
        };
        let (within_limit, ceiling) = (index(self), index(self));
        SeriesRecord {
            id: "s".to_owned(),
            name: ["random-read", "sequential-write", "log"][self.roll(3)].to_owned(),
            slo: ["p99<5ms", "p99.9<1us", "max<1h", ""][self.roll(4)].to_owned(),
            steps,
            knee: (self.roll(2) == 0).then(|| KneeRecord {
                kneedle_in_flight: self.count(),
                kneedle_bracket: [self.count(), self.count()],
                plateau_in_flight: self.count(),
                plateau_bracket: [1, 1],
            }),
            within_limit,
            ceiling,
            ..SeriesRecord::default()
        }
    }
}

#[test]
fn records_of_next_to_nothing_and_of_extremes_are_drawn_or_left_out() {
    let mut rng = SeededRng(7);
    for round in 0..150 {
        let runs: Vec<RunRecord> = (0..rng.roll(9)).map(|index| rng.run(index)).collect();
        let of_series = rng.roll(runs.len() + 1);
        let series = (rng.roll(2) == 0).then(|| rng.series(&runs[..of_series]));
        let document = Document {
            series: series.into_iter().collect(),
            ..Document::new(runs)
        };
        let material = Material::new("Report", document);
        let all = charts(&material);
        for chart in &all {
            let picture = svg(chart);
            assert!(
                !picture.contains("NaN") && !picture.contains("inf\""),
                "{round}: {}",
                picture
                    .lines()
                    .filter(|line| line.contains("NaN") || line.contains("inf\""))
                    .collect::<String>()
            );
            for row in chart.table().rows {
                assert!(!row.is_empty());
            }
        }
        if round % 50 == 0 {
            assert!(html(&material).len() < 2 << 20);
            let _ = markdown(&material);
        }
    }
}
