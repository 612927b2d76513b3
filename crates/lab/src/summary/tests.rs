//! Answers of series in which steps are void, were stopped, or are missing.

use super::*;
use stripewise_results::{AnswerPlace, AnswerRecord, LatencySummary};
use stripewise_results::{JobOutcome, Severity, Warning};
use stripewise_workload::Workload;

/// A step of random reads with 1 thread: its load, IOPS and p99 in milliseconds.
fn step(outstanding: u32, iops: f64, p99_ms: u64) -> RunRecord {
    let mut outcome = JobOutcome {
        operations: iops as u64,
        iops,
        mib_per_s: iops / 128.0,
        ..JobOutcome::default()
    };
    outcome.read.latency_ns = Some(LatencySummary {
        p99: p99_ms * 1_000_000,
        ..LatencySummary::default()
    });
    RunRecord {
        id: format!("run-{outstanding}"),
        series: Some("bench".to_owned()),
        series_part: Some("random-read".to_owned()),
        latency_limit: Some("p99<5ms".to_owned()),
        jobs: vec![JobRecord {
            name: "random-read".to_owned(),
            workload: Workload {
                outstanding,
                ..Workload::default()
            },
            outcome,
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    }
}

fn void(mut run: RunRecord, code: &str) -> RunRecord {
    run.jobs[0].warnings.push(Warning {
        code: code.to_owned(),
        severity: Severity::Void,
        message: String::new(),
        short: String::new(),
        hint: String::new().into(),
    });
    run
}

fn stopped(mut run: RunRecord) -> RunRecord {
    run.status = Status::Partial;
    run
}

fn of(runs: &[RunRecord]) -> SeriesRecord {
    let mut all = series_of(runs);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

/// Neither an index nor a value that could be mistaken for the answer.
fn has_no_answer(series: &SeriesRecord, reason: &str) {
    assert_eq!(series.no_answer.as_deref(), Some(reason));
    assert_eq!(
        (series.within_limit, series.ceiling, series.knee),
        (None, None, None)
    );
    assert_eq!(
        series.sentence,
        format!("Random read: no answer; {reason}.")
    );
}

#[test]
fn a_series_of_void_steps_has_no_answer_and_no_number() {
    let all = [1, 2, 4, 8].map(|load| void(step(load, 1e5 * f64::from(load), 1), "zero-data"));
    let series = of(&all);
    has_no_answer(&series, "all 4 steps are VOID (zero-data)");
    assert!(series.steps.iter().all(|step| step.void == ["zero-data"]));
    has_no_answer(&of(&all[..1]), "its only step is VOID (zero-data)");
}

#[test]
fn void_steps_are_left_out_of_the_answer_and_that_is_said() {
    let series = of(&[
        step(1, 1_000.0, 1),
        step(2, 1_900.0, 2),
        void(step(4, 90_000.0, 1), "file-entered-cache"),
        step(8, 4_000.0, 9),
    ]);
    assert_eq!((series.within_limit, series.ceiling), (Some(1), Some(3)));
    assert_eq!(series.no_answer, None);
    assert!(!series.sentence.contains("90,000"), "{}", series.sentence);
    assert!(
        series
            .sentence
            .ends_with("1 of 4 steps is VOID (file-entered-cache) and left out."),
        "{}",
        series.sentence
    );
}

#[test]
fn a_stopped_series_says_so_and_concludes_nothing_from_its_last_step() {
    let series = of(&[
        step(1, 1_000.0, 1),
        step(2, 1_900.0, 2),
        stopped(step(4, 9_000.0, 1)),
    ]);
    assert!(series.partial && series.steps[2].partial);
    assert_eq!((series.within_limit, series.ceiling), (Some(1), Some(1)));
    assert_eq!(
        series.sentence,
        "Random read, stopped before its end: 1,900 IOPS at p99 < 5 ms with 2 in flight (one run, \
         no interval), which is the highest rate of a complete step."
    );
    assert_eq!(series.stopped, "stopped before its end");
}

#[test]
fn an_answer_above_all_steps_is_set_beside_no_lower_ceiling() {
    let mut series = of(&[
        step(1, 1_000.0, 1),
        step(2, 1_900.0, 2),
        step(4, 2_000.0, 9),
    ]);
    let mut sentence_text = |iops: f64| {
        series.answer = Some(AnswerRecord {
            at: AnswerPlace::Limit,
            in_flight: 3.0,
            bound: None,
            iops,
            iops_low: None,
            iops_high: None,
            mib_per_s: iops / 128.0,
            mib_per_s_low: None,
            mib_per_s_high: None,
            level: 0.95,
            latency_ns: 5_000_000,
            latency: None,
            runs: 10,
            runs_left_out: 0,
            in_full: None,
        });
        let slo = "p99<5ms".parse().expect("a limit");
        sentence::answer(SeriesKind::RandomRead, slo, Ended::SingleStep, &series)
    };
    let below = sentence_text(1_950.0);
    assert!(
        below.ends_with("; the ceiling is at least 2,000 IOPS at 4."),
        "{below}"
    );
    let above = sentence_text(2_050.0);
    assert!(
        above.ends_with(" with 3 in flight; no step that counts was faster."),
        "{above}"
    );
}

#[test]
fn a_series_whose_only_step_was_stopped_has_no_answer() {
    // After the second Ctrl-C: nothing completed, and the latency is unknown.
    let mut nothing = stopped(step(1, 0.0, 0));
    nothing.jobs[0].outcome.read.latency_ns = None;
    let series = of(&[nothing]);
    assert!(series.partial);
    has_no_answer(&series, "it was stopped before its first step ended");
    let half = of(&[stopped(step(1, 12_345.0, 1))]);
    has_no_answer(&half, "it was stopped before its first step ended");
}

#[test]
fn a_limit_is_missed_only_at_loads_that_ran() {
    let missed = of(&[step(1, 300.0, 8), step(2, 500.0, 9)]);
    assert!(
        missed
            .sentence
            .contains("not within p99 < 5 ms even with 1 in flight (p99 is 8 ms there)"),
        "{}",
        missed.sentence
    );
    // Tables use this value.
    assert_eq!(missed.least_load(), Some((1, Some(8e6))));
    // One step of a ladder, as `report RUN` shows it: the others are absent.
    let rung = of(&[step(128, 90_000.0, 6)]);
    assert_eq!(
        rung.sentence,
        "Random read: not within p99 < 5 ms with 128 in flight (p99 is 6 ms there); the highest rate of the steps shown is 90,000 IOPS at 128."
    );
    assert_eq!(rung.stopped, "only some of its steps are present");
    // The first step was stopped: its result is unknown.
    let later = of(&[stopped(step(1, 300.0, 8)), step(2, 500.0, 9)]);
    assert!(
        later
            .sentence
            .contains("not within p99 < 5 ms with 2 in flight"),
        "{}",
        later.sentence
    );
}

#[test]
fn a_step_that_was_broken_off_before_anything_came_of_it_is_left_out() {
    let ids = |runs: &[RunRecord]| -> Vec<String> {
        let runs: Vec<&RunRecord> = runs.iter().collect();
        let slo = "p99<5ms".parse().expect("a limit");
        let series = summarise("id", SeriesKind::RandomRead, slo, &runs).expect("steps");
        assert_eq!(series.stopped, Ended::Partial.words());
        series.steps.into_iter().map(|step| step.run).collect()
    };
    let whole = step(1, 900.0, 1);
    let empty = stopped(step(2, 0.0, 1));
    assert_eq!(ids(&[whole.clone(), empty.clone()]), ["run-1"]);
    assert_eq!(ids(&[empty]), ["run-2"], "there is nothing else");
    let some = stopped(step(2, 17.0, 1));
    assert_eq!(ids(&[whole, some]), ["run-1", "run-2"]);
}

#[test]
fn equal_runs_have_an_interval_of_an_operation_to_either_side() {
    let log = |number: u32| {
        let mut run = step(1, 255.0, 4);
        run.id = format!("run-{number}");
        run.series_part = Some("log".to_owned());
        run.answer_block = (number > 0).then_some(number);
        run
    };
    let answer = of(&(0..8).map(log).collect::<Vec<_>>()).answer;
    let answer = answer.expect("eight runs of one load");
    let [low, high] = [answer.iops_low, answer.iops_high].map(|end| end.expect("an interval"));
    assert!(
        (low - 254.0).abs() < 1e-9 && (high - 256.0).abs() < 1e-9,
        "{answer:?}"
    );
    let mib = [answer.mib_per_s_low, answer.mib_per_s_high].map(|end| end.expect("an interval"));
    assert!(
        (mib[0] * 255.0 - answer.mib_per_s * 254.0).abs() < 1e-9,
        "{answer:?}"
    );
    assert!(mib[1] > answer.mib_per_s);
}

/// Two runs of a log give one answer without an interval, in rate and in latency.
#[test]
fn a_log_of_two_runs_is_answered_by_both() {
    let log = |number: u32, iops: f64, p99_ms: u64| {
        let mut run = step(1, iops, p99_ms);
        run.id = format!("run-{number}");
        run.series_part = Some("log".to_owned());
        run.answer_block = (number > 0).then_some(number);
        run
    };
    let series = of(&[log(0, 900.0, 4), log(1, 400.0, 16)]);
    let answer = series.answer.expect("two runs of the only load");
    assert_eq!((answer.runs, answer.iops_low), (2, None));
    assert!((answer.iops - 600.0).abs() < 1.0, "{answer:?}");
    assert_eq!(answer.latency.map(|all| all.p99), Some(answer.latency_ns));
    assert!(
        (7_900_000..8_100_000).contains(&answer.latency_ns),
        "{answer:?}"
    );
    assert!(
        series.sentence.contains("8 ms (p99)")
            && series
                .sentence
                .contains("600 a second (2 runs, no interval)"),
        "{}",
        series.sentence
    );
}
