//! The runs of a bench, their order, and its answers, on arrays with known truth.

use crate::support::Desk;
use std::sync::OnceLock;
use stripewise_campaign::bench::{BenchOptions, Slo, bench, expected, planned};
use stripewise_campaign::compare::{CompareQuestion, Comparison, compare};
use stripewise_campaign::steps::expectations::expectations;
use stripewise_campaign::{Context, Exit, Permissions};
use stripewise_lab::{SeriesKind, series_of};
use stripewise_report::{comparison_sheet, sheet_text};
use stripewise_results::{AnswerPlace, Document, RunRecord, SeriesRecord, StepRecord, Verdict};
use stripewise_workload::{CacheMode, Workload};

const ARRAY: &str = "sim:raid10-10k";
const LIMIT_NS: u64 = 30_000_000;

/// Runs a bench in this context, which must succeed; returns its records.
#[track_caller]
fn benched(context: &Context, options: &BenchOptions) -> Vec<RunRecord> {
    let mut store = context.open_store().expect("a store");
    let plan = planned(options).expect("a plan");
    let permissions = Permissions::default();
    let benched = bench(context, &mut store, options, plan, &permissions).expect("it begins");
    benched.ended.expect("it ends well");
    benched.records
}

fn only(target: &str, series: &[SeriesKind]) -> BenchOptions {
    BenchOptions {
        series: series.to_vec(),
        ..BenchOptions::of(target)
    }
}

/// For tests in which the choice of runs matters, not their length.
const SHORT_STEP_NS: Option<u64> = Some(500_000_000);

/// Random reads with a limit that some steps meet and others do not.
fn limited(target: &str, seed: u64) -> BenchOptions {
    BenchOptions {
        slo: Slo {
            limit_ns: LIMIT_NS,
            ..BenchOptions::of(target).slo
        },
        seed,
        ..only(target, &[SeriesKind::RandomRead])
    }
}

/// The bench with the limit, run once.
fn at_limit() -> &'static [RunRecord] {
    static RECORDS: OnceLock<Vec<RunRecord>> = OnceLock::new();
    RECORDS.get_or_init(|| benched(&Desk::new().context(), &limited(ARRAY, 1)))
}

fn workload(run: &RunRecord) -> &Workload {
    &run.jobs[0].workload
}

fn names(series: &[SeriesRecord]) -> Vec<&str> {
    series.iter().map(|one| one.name.as_str()).collect()
}

#[test]
fn it_runs_five_series_reads_before_writes() {
    let options = BenchOptions {
        step_ns: SHORT_STEP_NS,
        ..BenchOptions::of(ARRAY)
    };
    let records = benched(&Desk::new().context(), &options);
    let expected = [
        ("random-read", 100, 8),
        ("sequential-read", 100, 64),
        ("random-write", 0, 8),
        ("sequential-write", 0, 64),
        ("log", 0, 8),
    ];
    assert_eq!(
        names(&series_of(&records)),
        expected.map(|(name, _, _)| name)
    );
    for (name, reads, kib) in expected {
        let runs = records.iter();
        let runs: Vec<&RunRecord> = runs
            .filter(|run| run.series_part.as_deref() == Some(name))
            .collect();
        for run in &runs {
            let workload = workload(run);
            assert_eq!(workload.read_percent, reads, "{name}");
            assert_eq!(workload.block_size_bytes, kib << 10, "{name}");
        }
        if name == "log" {
            let workload = workload(runs[0]);
            assert_eq!(runs.len(), 8);
            assert_eq!(workload.cache, CacheMode::DirectSync);
            assert_eq!(workload.threads * workload.outstanding, 1);
        } else {
            assert!(runs.len() >= 3, "{name}: {} steps", runs.len());
        }
    }
}

#[test]
fn a_ladder_doubles_threads_first_and_outstanding_then() {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
    let series = series_of(at_limit());
    let mut in_flight = 0;
    for step in series[0].steps.iter().filter(|step| !step.bisection) {
        let (threads, outstanding) = (step.threads, step.outstanding);
        assert!(threads <= cores, "{threads}");
        assert!(
            outstanding == 1 || threads == cores,
            "{threads} x {outstanding}"
        );
        if in_flight > 0 {
            assert!(threads * outstanding <= 2 * in_flight);
            assert!(threads * outstanding > in_flight);
        } else {
            assert_eq!(threads * outstanding, 1);
        }
        in_flight = threads * outstanding;
        assert!(step.iops > 0.0 && step.mib_per_s > 0.0);
        // At least 30,000 operations per step, so p99.9 is shown.
        let latency = step.latency_ns.as_ref().expect("latencies");
        assert!(latency.p999.expect("many") >= latency.p99);
    }
    assert!(in_flight >= 16, "{in_flight}");
}

#[test]
fn the_knee_of_a_known_array_is_bracketed() {
    // Sixty-four channels of about 70 us: the 3.4 GB/s link is the limit.
    let options = only("sim:nvme", &[SeriesKind::SequentialRead]);
    let series = series_of(&benched(&Desk::new().context(), &options));
    let knee = series[0].knee.as_ref().expect("a knee");
    let (at, bracket) = (knee.plateau_in_flight, knee.plateau_bracket);
    assert!(bracket[0] <= at && at <= bracket[1], "{at} {bracket:?}");
    assert!((4..=16).contains(&at), "{at}");
    let last = series[0].steps.last().expect("steps");
    assert!(last.threads * last.outstanding > at);
}

#[test]
fn the_answer_lies_at_the_latency_limit_with_an_interval() {
    let records = at_limit();
    let all = series_of(records);
    let series = &all[0];
    assert_eq!(series.slo, "p99<30ms");
    let p99 = |step: &StepRecord| step.latency_ns.as_ref().expect("latencies").p99;
    let within = series.within_limit.expect("a step");
    let steps = &series.steps;
    assert!(p99(&steps[within]) < LIMIT_NS);
    let best = steps
        .iter()
        .filter(|step| p99(step) < LIMIT_NS)
        .map(|step| step.iops)
        .fold(0.0, f64::max);
    let answer = steps[within].iops;
    assert!(answer >= 0.9 * best, "{answer} {best}");
    // Between the largest step that meets the limit and the next, by twenty runs of its own.
    let found = series.answer.as_ref().expect("an answer");
    assert_eq!((found.at, found.runs), (AnswerPlace::Limit, 20));
    let (low, high) = (found.iops_low.expect("low"), found.iops_high.expect("high"));
    let rate = found.iops;
    assert!(low < rate && rate < high, "{low} {rate} {high}");
    assert!(high / low < 1.2, "an array without noise: {low} {high}");
    let beyond = steps[within + 1].iops;
    assert!(
        rate >= 0.97 * answer && rate <= beyond,
        "{answer} {rate} {beyond}"
    );
    assert_eq!(series.answer_runs.len(), 20);
    let blocks: Vec<u32> = records.iter().filter_map(|run| run.answer_block).collect();
    assert_eq!(blocks.len(), 20);
    assert!((0..4).all(|block| blocks.iter().filter(|one| **one == block).count() == 5));
    for word in [
        "Random read",
        "IOPS",
        "p99",
        "30 ms",
        "in flight",
        "ceiling",
    ] {
        let sentence = &series.sentence;
        assert!(sentence.contains(word), "{word}: {sentence}");
    }
}

#[test]
fn only_the_series_that_were_named_are_run() {
    let desk = Desk::new();
    let context = desk.context();
    let named = BenchOptions {
        step_ns: SHORT_STEP_NS,
        ..only(ARRAY, &[SeriesKind::Log, SeriesKind::SequentialRead])
    };
    let series = series_of(&benched(&context, &named));
    let mut found = names(&series);
    found.sort_unstable();
    assert_eq!(found, ["log", "sequential-read"]);
    let read_only = BenchOptions {
        read_only: true,
        step_ns: SHORT_STEP_NS,
        ..BenchOptions::of(ARRAY)
    };
    let series = series_of(&benched(&context, &read_only));
    assert_eq!(names(&series), ["random-read", "sequential-read"]);
    let larger = BenchOptions {
        step_ns: SHORT_STEP_NS,
        block_size_bytes: Some(16 << 10),
        ..only(ARRAY, &[SeriesKind::RandomRead])
    };
    let records = benched(&context, &larger);
    assert_eq!(workload(&records[0]).block_size_bytes, 16 << 10);
}

#[test]
fn the_same_seed_gives_the_same_bench() {
    let options = BenchOptions {
        seed: 3,
        step_ns: SHORT_STEP_NS,
        ..only("sim:sata-ssd", &[SeriesKind::RandomWrite])
    };
    let [one, again] = [(); 2].map(|()| {
        let series = series_of(&benched(&Desk::new().context(), &options));
        let rates = series[0].steps.iter().map(|step| step.iops);
        rates.collect::<Vec<f64>>()
    });
    assert_eq!(one, again);
}

#[track_caller]
fn compared(context: &Context, a: &str, b: &str, metrics: &[&str]) -> Comparison {
    let question = CompareQuestion {
        a: a.to_owned(),
        others: vec![b.to_owned()],
        metrics: metrics.iter().map(|&name| name.to_owned()).collect(),
        baseline: None,
    };
    let comparison = compare(context, &question).expect("a comparison");
    assert_eq!(comparison.exit(), Exit::Finding);
    comparison
}

#[test]
fn two_benches_are_compared_by_their_answers_first() {
    let desk = Desk::new();
    let context = desk.context();
    let of =
        |target: &str, seed: u64| series_of(&benched(&context, &limited(target, seed))).remove(0);
    let aligned = of("sim:raid10-10k?offset=1M", 1);
    let odd = of("sim:raid10-10k?offset=63s", 2);
    let all = compared(&context, &aligned.id, &odd.id, &[]).records;
    let first = &all[0];
    assert!(first.title.starts_with("answers at p99"), "{}", first.title);
    assert_eq!(first.rows.len(), 1);
    let row = &first.rows[0];
    assert_eq!(row.a, aligned.answer.as_ref().expect("an answer").iops);
    assert_eq!(row.b, odd.answer.as_ref().expect("an answer").iops);
    let [low, high] = row.interval_percent.expect("an interval");
    let estimate = row.estimate_percent.expect("an estimate");
    assert!(low < estimate && estimate < high, "{low} {estimate} {high}");
    // An eighth of the reads take two disks; loads are integers, which widens both intervals.
    assert!(high < 0.0 && low > -25.0, "{low} {high}");
    assert_eq!(row.verdict, Verdict::Worse);
    let message = &first.sentences[0];
    assert!(
        message.starts_with("Random read: ") && message.ends_with("less: worse."),
        "{message}"
    );
    let printed = sheet_text(&comparison_sheet(&all, &[], true), 100);
    assert!(printed.contains("Worse: random read"), "{printed}");
    assert!(
        printed.contains(&format!("({low:.2}..{high:.2})")),
        "{printed}"
    );
    // Then ceilings, knees and the log; not step by step, unless a metric is requested.
    let titles: Vec<&str> = all.iter().map(|record| record.title.as_str()).collect();
    assert!(titles[1].starts_with("ceilings of "), "{titles:?}");
    assert!(titles.len() <= 3, "{titles:?}");
    let steps = compared(&context, &aligned.id, &odd.id, &["iops"]).records;
    let rungs = steps.last().expect("a table");
    assert!(rungs.rows.len() > 3, "{rungs:?}");
}

#[test]
fn a_disk_is_held_to_an_array_of_its_kind() {
    let desk = Desk::new();
    let context = desk.context();
    let options = BenchOptions {
        step_ns: Some(100_000_000),
        ..only(ARRAY, &[SeriesKind::RandomRead, SeriesKind::Log])
    };
    let measured = series_of(&benched(&context, &options));
    let against = |name: &str| {
        let mut store = context.open_store().expect("a store");
        let permissions = Permissions::default();
        let hoped: Document =
            expected(&context, &mut store, name, &options, &permissions).expect("a bench");
        let label = format!("expected of {ARRAY}");
        assert!(
            hoped
                .runs
                .iter()
                .all(|run| run.label.as_ref() == Some(&label))
        );
        expectations(name, &hoped.series, &measured)
    };
    let itself = against(ARRAY);
    let message: Vec<&str> = itself.iter().map(|one| one.requirement.as_str()).collect();
    assert_eq!(message.len(), 2, "{message:?}");
    assert!(
        message[0].starts_with("random-read answer>="),
        "{message:?}"
    );
    assert!(message[1].starts_with("log p50<="), "{message:?}");
    assert!(itself.iter().all(|one| one.met));
    let slower = against("sim:nvme");
    assert!(!slower[0].met);
    let words = &slower[0].measured_words;
    assert!(
        words.contains("slower than this kind of storage"),
        "{words}"
    );
}
