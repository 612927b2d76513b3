//! Conclusions of a check: change found and not found, incomparable runs,
//! requirements, gentle checks.

use crate::support::{Desk, run_in, series_of, with};
use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;
use stripewise_campaign::baseline::{BaselineOptions, SetBaseline, all, set};
use stripewise_campaign::check::{Answer, CheckLoad, CheckOptions, check};
use stripewise_campaign::history::{delete, show};
use stripewise_campaign::{Context, Event, Exit, Failure, Interrupt, Observer, Permissions};
use stripewise_report::requirement_line;
use stripewise_results::Verdict;
use stripewise_store::{Filter, RunSummary};
use stripewise_workload::{Request, Workload};

const ALIGNED: &str = "sim:raid10-10k?offset=64K";
const MISALIGNED: &str = "sim:raid10-10k?offset=63s";
const LARGER: &str = "sim:raid10-10k?offset=64K&disks=6";

fn load(threads: u32, seconds: u64) -> Workload {
    Workload {
        threads,
        outstanding: 4,
        duration_ns: seconds * 1_000_000_000,
        ..Workload::default()
    }
}

/// Stores the runs of this id as a baseline; returns their number.
#[track_caller]
fn keep(context: &Context, id: &str, name: &str, repeat: Option<u32>) -> usize {
    let options = BaselineOptions {
        id: id.to_owned(),
        name: name.to_owned(),
        repeat,
        ..BaselineOptions::default()
    };
    match set(context, &options, &Permissions::default()).expect("a baseline") {
        SetBaseline::Stored { stored, .. } => stored.runs.len(),
        SetBaseline::BrokenOff(exit) => panic!("{exit:?}"),
    }
}

/// A test desk with a baseline of six repetitions of two workloads, and its series.
fn with_baseline() -> (Desk, &'static str) {
    static KEPT: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    let (store, series) = KEPT.get_or_init(|| {
        let desk = Desk::new();
        let context = desk.context();
        let request = Request {
            repetitions: 6,
            ..with(ALIGNED, [load(1, 8), load(8, 8)])
        };
        let series = series_of(&run_in(&context, request));
        assert_eq!(keep(&context, &series, "baseline", None), 12);
        (desk.into_store(), series)
    });
    (Desk::with_store(store), series.as_str())
}

/// The defaults of `check`: as many repetitions as the baseline has.
fn options() -> CheckOptions {
    CheckOptions {
        repeat: Some(6),
        ..CheckOptions::default()
    }
}

fn at(target: &str) -> CheckOptions {
    CheckOptions {
        target: Some(target.to_owned()),
        ..options()
    }
}

#[track_caller]
fn checked(context: &Context, options: &CheckOptions, exit: Exit) -> Answer {
    let answer = check(context, options, &Permissions::default()).expect("an answer");
    assert_eq!(answer.exit(), exit);
    answer
}

fn refused(context: &Context, options: &CheckOptions) -> Failure {
    check(context, options, &Permissions::default()).expect_err("a refusal")
}

/// Checks that its table has these words, in its title, sentences, notes or with it.
#[track_caller]
fn assert_mentions(answer: &Answer, words: &str) {
    let of_tables = answer.comparisons.iter();
    let mut all: Vec<&str> = of_tables
        .flat_map(|table| {
            [&table.title]
                .into_iter()
                .chain(&table.sentences)
                .chain(&table.notes)
        })
        .map(String::as_str)
        .collect();
    all.extend(answer.sentences.iter().map(String::as_str));
    let all = all.join("\n");
    assert!(all.contains(words), "`{words}` is not in\n{all}");
}

/// The stored runs, newest first.
fn stored_runs(context: &Context) -> Vec<RunSummary> {
    let store = context.open_store().expect("a store");
    let runs = context.stored_runs(&store, &Filter::default());
    runs.expect("a list")
}

fn stored_run_count(context: &Context) -> usize {
    stored_runs(context).len()
}

#[test]
fn nothing_changed_and_nothing_is_told() {
    let (desk, _) = with_baseline();
    let context = desk.context();
    let before = stored_run_count(&context);
    let answer = checked(&context, &options(), Exit::Done);
    assert_eq!(answer.baseline.as_deref(), Some("baseline"));
    assert_eq!(answer.records.len(), 12);
    assert_eq!(stored_run_count(&context), before + 12, "its runs are kept");
    let table = &answer.comparisons[0];
    assert_eq!(table.verdict, Verdict::NoDifference);
    for row in &table.rows {
        // The same array and seeds: exactly the same numbers.
        assert_eq!(row.a, row.b);
    }
    assert_mentions(&answer, "no difference in IOPS larger than");
}

/// Requests a stop after this many runs.
struct StopsAfter {
    runs: Cell<u32>,
    interrupt: Interrupt,
}

impl Observer for StopsAfter {
    fn on_event(&self, event: &Event<'_>) {
        if let Event::Run { .. } = event {
            self.runs.set(self.runs.get().saturating_sub(1));
            if self.runs.get() == 0 {
                self.interrupt.raise(2);
            }
        }
    }
}

#[test]
fn a_stop_between_the_runs_and_the_fit_concludes_nothing_and_keeps_the_runs() {
    let (desk, _) = with_baseline();
    let context = desk.context_with(Box::new(StopsAfter {
        runs: Cell::new(12),
        interrupt: desk.interrupt.clone(),
    }));
    let before = stored_run_count(&context);
    let answer = checked(&context, &options(), Exit::Interrupted(2));
    assert_eq!(answer.records.len(), 12);
    assert!(answer.comparisons.is_empty());
    assert_eq!(stored_run_count(&context), before + 12);
}

/// If the signal does not end the process during the fit, its result is not used.
#[test]
fn a_stop_while_stored_runs_are_judged_concludes_nothing() {
    let (desk, series) = with_baseline();
    let context = desk.context();
    let before = stored_run_count(&context);
    let judged = CheckOptions {
        run: Some(series.to_owned()),
        ..options()
    };
    let answer = check(&context, &judged, &Permissions::default()).expect("an answer");
    assert_eq!(answer.comparisons.len(), 1);
    desk.interrupt.raise(2);
    let answer = checked(&context, &judged, Exit::Interrupted(2));
    assert!(answer.comparisons.is_empty());
    assert_eq!(stored_run_count(&context), before);
}

/// A signal ends the process while nothing is measured, and only then.
#[test]
fn work_that_a_signal_may_end_is_told_to_its_handler() {
    let desk = Desk::new();
    let context = desk.context();
    let ends = desk.interrupt.ends_at_once();
    let ends = || ends.load(Ordering::SeqCst);
    assert_eq!(context.ending_at_once(ends), Some(true));
    assert!(!ends());
    let stopped = context.ending_at_once(|| desk.interrupt.raise(15));
    assert_eq!((stopped, ends()), (None, false));
    let never = context.ending_at_once(|| panic!("a signal came before"));
    assert_eq!((never, ends()), (None::<()>, false));
}

#[test]
fn a_loss_is_found_and_a_gain_is_no_failure() {
    let (desk, _) = with_baseline();
    let context = desk.context();
    let worse = checked(&context, &at(MISALIGNED), Exit::Finding);
    assert_eq!(worse.comparisons[0].verdict, Verdict::Worse);
    assert_mentions(&worse, "offset: 64K then, 31.5K now");
    let tolerant = CheckOptions {
        tolerate: Some(20.0),
        ..at(MISALIGNED)
    };
    assert_mentions(
        &checked(&context, &tolerant, Exit::Done),
        "The loss is tolerated: it is not certainly above 20 %.",
    );
    let faster = at("sim:raid10-10k?offset=64K&rpm=15000");
    let faster = checked(&context, &faster, Exit::Done);
    assert_eq!(faster.comparisons[0].verdict, Verdict::Better);
}

#[test]
fn what_is_not_comparable_is_refused_unless_it_was_changed_on_purpose() {
    let (desk, _) = with_baseline();
    let context = desk.context();
    let before = stored_run_count(&context);
    let failure = refused(&context, &at(LARGER));
    assert_eq!(failure.exit, Exit::Target);
    let sentences = format!("{failure}\n{}", failure.hint.as_deref().expect("a hint"));
    for words in [
        "cannot be compared with the baseline `baseline`",
        "size in use:",
        "--changed",
    ] {
        assert!(sentences.contains(words), "{words}: {sentences}");
    }
    assert_eq!(stored_run_count(&context), before, "nothing was measured");
    let on_purpose = CheckOptions {
        changed: Some("4 to 6 disks".to_owned()),
        ..at(LARGER)
    };
    let changed = check(&context, &on_purpose, &Permissions::default()).expect("an answer");
    assert_mentions(&changed, "after the change `4 to 6 disks`");
    assert_mentions(&changed, "the difference may be caused by the size in use");
    let stored = all(&context).expect("baselines");
    assert_eq!(stored[0].changes[0].words, "4 to 6 disks");
    let newest = stored_runs(&context).remove(0);
    assert_eq!(newest.label.as_deref(), Some("4 to 6 disks"));
    // Incomparable stored runs are a usage error.
    run_in(&context, with(LARGER, [load(8, 1)]));
    let judged = CheckOptions {
        run: Some("last".to_owned()),
        ..options()
    };
    let failure = refused(&context, &judged);
    assert_eq!(failure.exit, Exit::Usage);
    assert!(failure.to_string().contains("size in use:"), "{failure}");
}

#[test]
fn stored_runs_can_be_judged_instead_of_new_ones() {
    let (desk, _) = with_baseline();
    let context = desk.context();
    let request = Request {
        repetitions: 6,
        ..with(MISALIGNED, [load(8, 1)])
    };
    let series = series_of(&run_in(&context, request));
    let before = stored_run_count(&context);
    let judged = CheckOptions {
        run: Some(series),
        require: vec!["read_iops>=1".parse().expect("a requirement")],
        ..options()
    };
    let answer = checked(&context, &judged, Exit::Finding);
    assert_eq!(answer.comparisons[0].verdict, Verdict::Worse);
    assert!(answer.requirements[0].met);
    assert_eq!(stored_run_count(&context), before, "nothing was measured");
}

#[test]
fn a_single_run_as_baseline_rests_on_todays_scatter() {
    let desk = Desk::new();
    let context = desk.context();
    run_in(&context, with(ALIGNED, [load(8, 20)]));
    assert_eq!(keep(&context, "last", "old", None), 1);
    let worse = checked(&context, &at(MISALIGNED), Exit::Finding);
    assert_mentions(&worse, "assume that both sides scatter alike");
    // Its own repetitions give it a narrow interval.
    assert_eq!(keep(&context, "last", "firm", Some(6)), 6);
    let firm = CheckOptions {
        baseline: Some("firm".to_owned()),
        ..options()
    };
    let answer = checked(&context, &firm, Exit::Done);
    assert_eq!(answer.comparisons[0].a.from.len(), 6);
}

#[test]
fn requirements_are_gates_with_and_without_a_baseline() {
    let requiring = |texts: &[&str], options: CheckOptions| CheckOptions {
        require: (texts.iter())
            .map(|text| text.parse().expect("a requirement"))
            .collect(),
        ..options
    };
    let alone = CheckOptions {
        repeat: Some(2),
        load: CheckLoad {
            duration_ns: Some(1_000_000_000),
            ..CheckLoad::default()
        },
        ..at(ALIGNED)
    };
    let desk = Desk::new();
    let met = requiring(&["read_iops>=100"], alone.clone());
    checked(&desk.context(), &met, Exit::Done);
    let three = ["read_iops>=100", "log p99<1us", "write_iops>=10"];
    let answer = checked(&desk.context(), &requiring(&three, alone), Exit::Finding);
    let outcomes = answer.requirements.iter();
    let outcomes: Vec<(&str, bool)> = outcomes
        .map(|one| (one.requirement.as_str(), one.met))
        .collect();
    assert_eq!(
        outcomes,
        [(three[0], true), (three[1], false), (three[2], true)]
    );
    assert_eq!(answer.baseline, None);

    let (desk, _) = with_baseline();
    let context = desk.context();
    let many = requiring(&["iops>=1000000"], options());
    let missed = checked(&context, &many, Exit::Finding);
    let line = requirement_line(&missed.requirements[0]);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "MISSED: iops>=1000000:",
        "(random read, 8K, 8 threads of 4; median of 6 runs)",
    ] {
        assert!(line.contains(words), "{words}: {line}");
    }
    // A name that is not in the baseline is a usage error, before anything runs.
    let log = requiring(&["log p99<1h"], options());
    let refused = check(&context, &log, &Permissions::default()).expect_err("a refusal");
    assert_eq!(refused.exit, Exit::Usage);
}

#[test]
fn a_baseline_outlives_its_runs() {
    let (desk, series) = with_baseline();
    let context = desk.context();
    delete(&context, &[series.to_owned()]).expect("deleted");
    assert_eq!(stored_run_count(&context), 0);
    checked(&context, &options(), Exit::Done);
}

#[test]
fn a_gentle_check_only_reads_a_little_and_compares_with_its_like() {
    let (desk, _) = with_baseline();
    let context = desk.context();
    let gentle = CheckOptions {
        gentle: true,
        repeat: Some(3),
        ..options()
    };
    let first = checked(&context, &gentle, Exit::Done);
    assert_mentions(&first, "These are the first gentle runs");
    let document = show(&context, &["last".to_owned()]).expect("runs");
    let workload = &document.runs[0].jobs[0].workload;
    assert_eq!(workload.rate.expect("a rate").iops, 50.0);
    assert_eq!((workload.threads, workload.outstanding), (1, 1));
    assert_eq!(workload.read_percent, 100);
    let second = checked(&context, &gentle, Exit::Done);
    let table = &second.comparisons[0];
    assert_eq!(table.rows[0].metric, "latency_ns_p50");
    assert_eq!(table.verdict, Verdict::NoDifference);
}
