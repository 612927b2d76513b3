//! The study on made-up records: its runs, its end, and its text.

use super::*;
use crate::Origin;
use crate::product::{BUNDLED, bundled};
use stripewise_results::{
    DueRecord, DueSecondRecord, Interval, JobOutcome, JobRecord, KindOutcome, OpenLoop, Severity,
    ThreadOutcome, Warning,
};
use stripewise_stats::Histogram;
use stripewise_units::Hint;

const ONE: &str = r#"
name = "one"
about = "a test"
[[file]]
name = "log"
size = "64M"
state = "growing"
[[job]]
name = "log"
file = "log"
options = { write = true, sequential = true, block = "2300", cache = "buffered", sync = "fdatasync" }
[[requirement]]
name = "p99"
job = "log"
operations = "commits"
metric = "p99"
below = "10ms"
miss = "it is slow"
"#;

fn options(design: QualifyDesign) -> QualifyOptions {
    QualifyOptions {
        design,
        placement: Placement::default(),
        processors: 4,
        seed: 1,
        ends_at_miss: false,
    }
}

fn study(text: &str, design: QualifyDesign) -> Qualify {
    Qualify::new(text, options(design)).expect("the product is sound")
}

/// The text of a product that comes with the program.
fn text_of(name: &str) -> &'static str {
    let mut all = BUNDLED.iter();
    let found = all.find(|(known, _)| *known == name);
    found.expect("it is bundled").1
}

/// Latency of operations in a piece: `bad` of 100 per second take ten times as long as others.
#[derive(Clone, Copy)]
struct Disk {
    usual_ns: u64,
    bad: u64,
}

const GOOD: Disk = Disk {
    usual_ns: 2_000_000,
    bad: 0,
};
const BAD: Disk = Disk {
    usual_ns: 2_000_000,
    bad: 5,
};

fn record(run: &Run, disk: Disk, status: Status) -> RunRecord {
    let job = |(index, job): (usize, &PlacedJob)| {
        // Runs of commit methods count nothing by the second.
        let counting = run.counting.get(index).cloned().unwrap_or_default();
        let thresholds_ns = counting.thresholds_ns;
        let slow_ns = 10 * disk.usual_ns;
        let beyond = |threshold: &u64| match *threshold {
            limit if limit < disk.usual_ns => 100,
            limit if limit < slow_ns => disk.bad,
            _ => 0,
        };
        let second = DueSecondRecord {
            due: 100,
            beyond: thresholds_ns.iter().map(beyond).collect(),
            latency_ns_sum: (100 - disk.bad) * disk.usual_ns + disk.bad * slow_ns,
        };
        let seconds = job.workload.duration_ns / SECOND_NS;
        let mut histogram = Histogram::default();
        histogram.record_n(disk.usual_ns, seconds * (100 - disk.bad));
        histogram.record_n(slow_ns, seconds * disk.bad);
        let kind = KindOutcome {
            operations: 100 * seconds,
            histogram: Some(histogram),
            ..KindOutcome::default()
        };
        let counted = (!thresholds_ns.is_empty()).then(|| DueRecord {
            thresholds_ns,
            seconds: vec![second; seconds as usize],
            ..DueRecord::default()
        });
        JobRecord {
            name: job.name.clone(),
            workload: job.workload.clone(),
            outcome: JobOutcome {
                duration_ns: seconds * SECOND_NS,
                sync: Some(kind.clone()),
                commit: Some(kind.clone()),
                write: kind,
                due: counted,
                ..JobOutcome::default()
            },
            ..JobRecord::default()
        }
    };
    RunRecord {
        status,
        jobs: run.jobs.iter().enumerate().map(job).collect(),
        ..RunRecord::empty()
    }
}

/// Runs to the end; returns the number of runs and rests.
fn drive(study: &mut Qualify, disk: Disk) -> (u32, u32) {
    let (mut runs, mut rests) = (0, 0);
    loop {
        assert!(runs < 1_000, "it never ends");
        assert_eq!(study.next(), study.next(), "asked again it is the same");
        match study.next() {
            NextStep::Run(run) => {
                runs += 1;
                assert!(run.length_ns() <= (PIECE_S + 1) * SECOND_NS);
                study.completed(run.id, &record(&run, disk, Status::Complete));
            }
            NextStep::Rest { length_ns, .. } => {
                rests += 1;
                assert!(length_ns < 240 * SECOND_NS);
                study.rested();
            }
            NextStep::Done => return (runs, rests),
        }
    }
}

#[test]
fn what_was_stopped_says_so_first() {
    let mut study = study(ONE, QualifyDesign::Usual);
    for status in [Status::Complete, Status::Partial] {
        let NextStep::Run(run) = study.next() else {
            panic!("a piece comes next");
        };
        study.completed(run.id, &record(&run, GOOD, status));
    }
    let stopped = "stopped after 2 m of at most 30 m of measuring";
    let (_, words) = study.sheet().verdict.expect("there is one");
    assert_eq!(words, format!("S{}, undecided so far", &stopped[1..]));
    assert_eq!(study.sheet().answer, "1 of 1 requirement");
    assert_eq!(
        study.sheet().details[1],
        "To decide it, go on with --resume."
    );
    let line = study.line();
    assert!(
        line.starts_with(&format!("one: {stopped}, undecided so far (")),
        "{line}"
    );
    let origin = Origin::default();
    assert_eq!(QualifyDocument::of(&study, &origin).warnings[0], stopped);
    study.set_being_measured(true);
    let (_, words) = study.sheet().verdict.expect("there is one");
    let going_on = "Still being measured, 2 m of at most 30 m done, undecided so far";
    assert_eq!(words, going_on);
    assert!(!QualifyDocument::of(&study, &origin).resumable);
    let details = study.sheet().details;
    assert!(!details.iter().any(|one| one.contains("--resume")));
    study.set_being_measured(false);
    drive(&mut study, GOOD);
    assert_eq!(study.stopped(), None);
    assert!(study.line().starts_with("one: met ("), "{}", study.line());
}

#[test]
fn a_quiet_disk_is_met_at_minute_20_and_a_bad_one_missed_at_minute_3() {
    let mut good = study(ONE, QualifyDesign::Usual);
    assert_eq!(drive(&mut good, GOOD), (20, 0));
    assert_eq!((good.verdict(), good.seconds()), (Verdict::Met, 1_200));
    let judged = &good.judgements()[0];
    assert!((judged.measured.unwrap() - 2.0).abs() < 0.01, "{judged:?}");
    assert!(judged.high.unwrap() < 3.0, "{judged:?}");
    assert!(judged.low.unwrap() < 2.0, "{judged:?}");
    assert_eq!(good.time().left_ns, 0);

    let mut bad = study(ONE, QualifyDesign::Usual);
    assert_eq!(drive(&mut bad, BAD), (3, 0));
    assert_eq!(bad.verdict(), Verdict::Missed);
    let judged = &bad.judgements()[0];
    assert!((judged.measured.unwrap() - 20.0).abs() < 0.1, "{judged:?}");
    let details = bad.sheet().details;
    assert!(details[0].contains("it is slow"), "{details:?}");
}

/// One requirement after runs that are changed in this way.
fn after(text: &str, change: impl Fn(&mut JobOutcome)) -> Qualify {
    let mut study = study(text, QualifyDesign::Usual);
    let mut runs = 0;
    while let NextStep::Run(run) = study.next() {
        runs += 1;
        assert!(runs < 100, "it never ends");
        let mut made = record(&run, GOOD, Status::Complete);
        change(&mut made.jobs[0].outcome);
        study.completed(run.id, &made);
    }
    study
}

/// What never completed has no latency, but was due; what completed after the stop is in no
/// histogram.
#[test]
fn what_is_measured_is_not_better_than_what_was_counted() {
    let silent = after(ONE, |outcome| {
        for second in outcome.due.iter_mut().flat_map(|due| &mut due.seconds) {
            second.beyond.fill(50);
        }
    });
    let judged = &silent.judgements()[0];
    // The highest threshold.
    assert!((judged.measured.unwrap() - 80.0).abs() < 0.1, "{judged:?}");
    let line = silent.line();
    assert!(line.contains("p99 80 ms (above 80 ms) missed"), "{line}");

    let max = ONE.replace("p99\"\nbelow", "max\"\nat-most");
    let late = after(&max, |outcome| {
        if let Some(due) = &mut outcome.due {
            due.seconds[0].beyond.fill(1);
        }
        outcome.drain.latency_ns_max = 30_000_000;
    });
    let judged = &late.judgements()[0];
    assert_eq!(judged.verdict, Verdict::Missed);
    assert!((judged.measured.unwrap() - 30.0).abs() < 0.1, "{judged:?}");
}

#[test]
fn what_failed_is_no_rate() {
    let rate = ONE.replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"95\"");
    for (failures, verdict) in [(0, Verdict::Met), (600, Verdict::Missed)] {
        let study = after(&rate, |outcome| {
            // Reads that failed are no commits.
            outcome.errors.total = failures + 600;
            let reasons = &mut outcome.errors.by_reason;
            reasons.insert("read EIO".to_owned(), 600);
            reasons.insert("sync EIO".to_owned(), failures);
        });
        assert_eq!(study.verdict(), verdict, "{:?}", study.judgements());
        // Neither write nor sync alone is an operation that is counted.
        assert!(study.line().contains(" commits/s "), "{}", study.line());
    }
}

/// Arrivals are due whether or not the disk serves them, and those at the end of a minute are
/// left out where a latency is judged.
#[test]
fn the_rate_of_arrivals_is_what_completed_of_them() {
    let rate = ONE
        .replace("operations = \"commits\"\n", "")
        .replace("sync = \"fdatasync\"", "rate = 100")
        .replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"95\"");
    for (completed, due_s, verdict) in [(100, 55, Verdict::Met), (60, 60, Verdict::Missed)] {
        let study = after(&rate, |outcome| {
            let interval = |number: u64| Interval {
                start_ns: number * SECOND_NS / 2,
                duration_ns: SECOND_NS / 2,
                write_operations: completed / 2,
                ..Interval::default()
            };
            outcome.intervals = (0..120).map(interval).collect();
            outcome.open_loop = Some(OpenLoop::default());
            if let Some(due) = &mut outcome.due {
                due.seconds.truncate(due_s);
            }
        });
        let judged = &study.judgements()[0];
        assert_eq!(judged.verdict, verdict, "{judged:?}");
        assert_eq!(judged.measured, Some(completed as f64), "{judged:?}");
    }
}

/// A volume that is held to exactly what is required: no longer run tells.
#[test]
fn a_rate_at_its_limit_is_not_sent_into_a_longer_run() {
    let rate = ONE.replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"100\"");
    let mut study = study(&rate, QualifyDesign::Usual);
    drive(&mut study, GOOD);
    assert_eq!(study.verdict(), Verdict::Undecided);
    let details = study.sheet().details;
    assert!(
        details[0].ends_with("within 2 % of it, which is too close to tell."),
        "{details:?}"
    );
    assert!(
        details[1].starts_with("A rate within 2 % of its limit cannot be decided"),
        "{details:?}"
    );
}

/// What never arrived is late, so the percentile shows whether the rate is kept.
#[test]
fn a_rate_to_which_the_load_is_held_is_met_where_its_percentile_is() {
    let text = |metric: &str| {
        let latency = ONE
            .replace("operations = \"commits\"\n", "")
            .replace("sync = \"fdatasync\"", "rate = 100")
            .replace("metric = \"p99\"", &format!("metric = \"{metric}\""));
        let rate = "name = \"rate\"\njob = \"log\"\nmetric = \"iops\"\nat-least = 100\n";
        format!("{latency}[[requirement]]\n{rate}")
    };
    for (disk, verdict) in [(GOOD, Verdict::Met), (BAD, Verdict::Undecided)] {
        let mut study = study(&text("p99"), QualifyDesign::Usual);
        drive(&mut study, disk);
        let judged = &study.judgements()[1];
        assert_eq!(judged.verdict, verdict, "{judged:?}");
        let says = judged.reason.ends_with("; p99 shows that it was kept");
        assert_eq!(says, verdict == Verdict::Met, "{judged:?}");
    }
    // A twentieth may be late.
    let refused = Qualify::new(&text("p95"), options(QualifyDesign::Usual));
    assert!(refused.is_err());
}

/// Ten minutes whose mean is above the limit, and their end far below it.
#[test]
fn a_rate_whose_burst_ends_is_not_met_by_its_mean() {
    let rate = ONE.replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"85\"");
    let pieces = std::cell::Cell::new(0);
    let study = after(&rate, |outcome| {
        pieces.set(pieces.get() + 1);
        if pieces.get() > 9 {
            let due = outcome.due.as_mut().expect("it is counted");
            due.seconds.iter_mut().for_each(|second| second.due = 60);
        }
    });
    assert!(study.seconds() > 600, "{:?}", study.judgements());
    assert_eq!(study.verdict(), Verdict::Missed, "{:?}", study.judgements());
}

/// Earlier versions counted syncs, and did not ask for what commits need.
#[test]
fn what_an_earlier_version_measured_is_shown_and_not_continued() {
    let json = study(ONE, QualifyDesign::Usual).to_json().unwrap();
    assert!(!Qualify::from_json(&json).unwrap().counted_syncs());
    let held = r#"sync = \"fdatasync:8\", rate = 400"#;
    let old = json
        .replace(",\"counts_commits\":true", "")
        .replace(r#"sync = \"fdatasync\""#, held);
    assert!(old.contains(held), "{old}");
    let old = Qualify::from_json(&old).unwrap();
    assert!(old.counted_syncs());
    let cautions = old.sheet().cautions;
    let says = |one: &stripewise_report::Caution| one.text.contains("syncs alone");
    assert!(cautions.iter().any(says), "{cautions:?}");
    let refused = Qualify::new(
        &ONE.replace("fdatasync\"", "fdatasync:8\", rate = 400"),
        old.options().clone(),
    );
    assert!(refused.is_err());
}

/// A write is on its way to the medium before its sync begins.
#[test]
fn what_is_measured_of_a_commit_is_not_its_sync_alone() {
    let study = after(ONE, |outcome| {
        let mut histogram = Histogram::default();
        histogram.record_n(100_000, 6_000);
        outcome.sync = Some(KindOutcome {
            histogram: Some(histogram),
            ..KindOutcome::default()
        });
    });
    let measured = study.judgements()[0].measured.expect("it was measured");
    assert!((measured - 2.0).abs() < 0.01, "{measured}");
    let plan = study.plan().join("\n");
    assert!(plan.contains("p99 < 10 ms of commits of log"), "{plan}");
}

#[test]
fn after_a_change_the_percentile_is_that_of_the_part_that_is_judged() {
    let mut study = study(ONE, QualifyDesign::Usual);
    let mut runs = 0;
    while let NextStep::Run(run) = study.next() {
        runs += 1;
        assert!(runs < 100, "it never ends");
        // Three bad minutes of twenty: 0.75 % of all operations took 20 ms.
        let disk = if runs <= 17 { GOOD } else { BAD };
        study.completed(run.id, &record(&run, disk, Status::Complete));
    }
    assert_eq!((study.verdict(), study.seconds()), (Verdict::Missed, 1_200));
    let judged = &study.judgements()[0];
    let changed = judged.reason.contains("it changed after 1,020 s");
    assert!(changed, "{judged:?}");
    // Between two thresholds, 19 % apart.
    let measured = judged.measured.unwrap();
    assert!((20.0..23.8).contains(&measured), "{judged:?}");
    assert!(judged.low.unwrap() < measured, "{judged:?}");
}

#[test]
fn five_minutes_never_say_met_and_a_verdict_to_sign_rests_between() {
    let mut quick = study(ONE, QualifyDesign::Quick);
    assert_eq!(drive(&mut quick, GOOD), (5, 0));
    assert_eq!(quick.verdict(), Verdict::Undecided);
    assert!(!quick.is_open());
    let next = "To decide it, run it without --quick: up to 30 m of measuring.";
    assert_eq!(quick.sheet().details[1], next);
    let mut stopped = study(ONE, QualifyDesign::Quick);
    let NextStep::Run(run) = stopped.next() else {
        panic!("a piece comes next");
    };
    stopped.completed(run.id, &record(&run, GOOD, Status::Partial));
    let next = "--resume goes on, and can still show a miss. To decide it, run it without --quick";
    let details = stopped.sheet().details;
    assert!(details[1].starts_with(next), "{details:?}");
    let mut quick = study(ONE, QualifyDesign::Quick);
    drive(&mut quick, BAD);
    assert_eq!(quick.verdict(), Verdict::Missed);
    let mut signed = study(ONE, QualifyDesign::Signed);
    assert_eq!(drive(&mut signed, GOOD), (20, 20));
    assert_eq!(signed.verdict(), Verdict::Met);
}

#[test]
fn what_is_met_says_that_a_long_burst_credit_is_not_seen() {
    let notes = |design: QualifyDesign, disk: Disk| {
        let mut study = study(ONE, design);
        drive(&mut study, disk);
        let notes = study.sheet().cautions.into_iter();
        let notes: Vec<String> = notes.map(|one| one.text).collect();
        notes.join("\n")
    };
    for design in [QualifyDesign::Usual, QualifyDesign::Signed] {
        let met = notes(design, GOOD);
        assert!(met.contains("limits --burst`"), "{met}");
    }
    let missed = notes(QualifyDesign::Usual, BAD);
    assert!(!missed.contains("burst"), "{missed}");
}

#[test]
fn what_was_interrupted_goes_on_from_its_stored_state() {
    let mut first = study(ONE, QualifyDesign::Usual);
    for _ in 0..4 {
        let NextStep::Run(run) = first.next() else {
            panic!("it is not over");
        };
        first.completed(run.id, &record(&run, GOOD, Status::Complete));
    }
    let NextStep::Run(run) = first.next() else {
        panic!("it is not over");
    };
    let mut cut = record(&run, GOOD, Status::Partial);
    cut.jobs[0].outcome.duration_ns = 7 * SECOND_NS + SECOND_NS / 2;
    first.completed(run.id, &cut);
    assert_eq!(
        (first.seconds(), first.verdict()),
        (247, Verdict::Undecided)
    );
    let stored = first.to_json().expect("plain fields");
    let mut second = Qualify::from_json(&stored).expect("it was stored");
    assert_eq!(second.next(), first.next());
    assert!(second.is_open());
    drive(&mut second, GOOD);
    assert_eq!((second.seconds(), second.verdict()), (1_200, Verdict::Met));
    assert!(Qualify::from_json("{}").is_err());
}

#[test]
fn void_pieces_are_left_out_and_too_many_void_the_requirement() {
    let void = |run: &Run| {
        let mut record = record(run, GOOD, Status::Complete);
        record.jobs[0].warnings.push(Warning {
            code: "few-operations".to_owned(),
            severity: Severity::Void,
            message: "nothing completed".to_owned(),
            short: String::new(),
            hint: Hint::plain(""),
        });
        record
    };
    let mut study = study(ONE, QualifyDesign::Usual);
    let mut runs = 0;
    while let NextStep::Run(run) = study.next() {
        runs += 1;
        study.completed(run.id, &void(&run));
        assert!(runs < 10);
    }
    assert_eq!((runs, study.verdict()), (3, Verdict::Void));
    assert!(study.judgements()[0].reason.contains("few-operations"));
    let details = study.sheet().details;
    assert!(details[1].starts_with("What is void"), "{details:?}");
    // A state that the study made itself voids nothing.
    let mut study = self::study(ONE, QualifyDesign::Usual);
    if let NextStep::Run(run) = study.next() {
        let mut record = void(&run);
        record.jobs[0].warnings[0].code = "sparse-file".to_owned();
        study.completed(run.id, &record);
    }
    assert_eq!(study.seconds(), 60);
    // What was stopped in a void minute goes on.
    let mut study = self::study(ONE, QualifyDesign::Usual);
    if let NextStep::Run(run) = study.next() {
        let mut record = void(&run);
        record.status = Status::Partial;
        study.completed(run.id, &record);
    }
    assert_eq!((study.verdict(), study.is_open()), (Verdict::Void, true));
    let says = "one: stopped before a second was measured, void so far (p99 void)";
    assert!(study.line().starts_with(says), "{}", study.line());
    drive(&mut study, GOOD);
    assert_eq!(study.verdict(), Verdict::Met);
}

#[test]
fn a_hiccup_of_the_program_itself_in_the_first_minute_voids_nothing() {
    let late = |first: u64, others: u64| {
        let is_first = std::cell::Cell::new(true);
        after(ONE, |outcome| {
            let due = outcome.due.as_mut().expect("it is counted");
            due.own_lags = if is_first.replace(false) {
                first
            } else {
                others
            };
        })
    };
    // More than a thousandth of the first minute, not of the three before the first look.
    assert_eq!(late(10, 0).verdict(), Verdict::Met);
    let void = late(10, 10);
    assert_eq!((void.verdict(), void.seconds()), (Verdict::Void, 180));
    let reason = &void.judgements()[0].reason;
    let says = "the program itself issued 30 of 18,000 operations late";
    assert_eq!(reason, says);
}

#[test]
fn a_lag_that_voids_a_strict_limit_leaves_a_loose_one_of_the_same_job_alone() {
    let loose = "[[requirement]]\nname = \"loose\"\njob = \"log\"\noperations = \"commits\"\n\
                 metric = \"p99\"\nbelow = \"1s\"\n";
    let study = after(&format!("{ONE}{loose}"), |outcome| {
        let due = outcome.due.as_mut().expect("it is counted");
        let lags = |threshold_ns: &u64| if *threshold_ns > 20_000_000 { 0 } else { 10 };
        due.own_lags = 10;
        due.own_lags_beyond = due.thresholds_ns.iter().map(lags).collect();
    });
    let verdicts = study.judgements().iter().map(|one| one.verdict);
    let verdicts: Vec<Verdict> = verdicts.collect();
    assert_eq!(verdicts, [Verdict::Void, Verdict::Met]);
}

#[test]
fn what_takes_hours_is_not_sent_into_a_run_of_half_an_hour() {
    let rare = after(ONE, |outcome| {
        let due = outcome.due.as_mut().expect("it is counted");
        for (index, second) in due.seconds.iter_mut().enumerate() {
            second.due = u64::from(index.is_multiple_of(20));
            second.beyond.fill(0);
            second.latency_ns_sum = 0;
        }
    });
    assert_eq!(rare.verdict(), Verdict::Undecided);
    let details = rare.sheet().details.join("\n");
    assert!(details.contains("that takes 8 h"), "{details}");
    let says = "No run measures as long as p99 takes";
    assert!(details.contains(says), "{details}");
    assert!(!details.contains("--sign"), "{details}");
}

#[test]
fn what_is_due_at_a_rate_is_judged_as_long_before_the_end_as_the_limit_is() {
    let of_limit = |limit: &str| {
        let text = ONE
            .replace("operations = \"commits\"\n", "")
            .replace("sync = \"fdatasync\"", "rate = 50")
            .replace("below = \"10ms\"", limit);
        Qualify::new(&text, options(QualifyDesign::Usual))
    };
    for (limit, latest_ns) in [
        ("at-most = \"1s\"", 4_756_828_460),
        ("at-most = \"30s\"", 30_000_000_000),
    ] {
        let counting = super::judge::counting(&of_limit(limit).expect(limit), 0);
        let latest = counting.thresholds_ns.last().copied();
        assert_eq!(latest, Some(latest_ns), "{limit}");
    }
    let refused = of_limit("at-most = \"31s\"").unwrap_err().to_string();
    assert!(refused.contains("waits of up to 30 s"), "{refused}");
    // Without a limit nothing is late.
    let counting = super::judge::counting(&of_limit("").expect("no limit"), 0);
    assert_eq!(counting.lag_ns_max, u64::MAX);
}

#[test]
fn the_plan_says_which_verdict_may_come_and_when() {
    let plan = |requirement: &str, design| {
        let text = ONE.replace("metric = \"p99\"\nbelow = \"10ms\"", requirement);
        study(&text, design).plan().remove(0)
    };
    for (requirement, says) in [
        (
            "metric = \"p99\"\nbelow = \"10ms\"",
            "up to 30 m of measuring: \"missed\" is possible from minute 3, \"met\" not before minute 20.",
        ),
        (
            "metric = \"max\"\nbelow = \"10ms\"",
            "\"missed\" is possible from minute 1, \"met\" not before minute 30.",
        ),
        (
            "metric = \"p999\"\nbelow = \"10ms\"",
            "which can only show that something is missed: p99 takes longer to be met.",
        ),
        (
            "metric = \"iops\"\nat-least = 50",
            "up to 30 m of measuring: nothing is decided before minute 10.",
        ),
        (
            "metric = \"p99\"",
            "Time: 5 m of measuring; nothing is judged, as no limit is given.",
        ),
    ] {
        let plan = plan(requirement, QualifyDesign::Usual);
        assert!(plan.ends_with(says), "{plan}");
    }
    let is_longer = |metric: &str, design| {
        let text = ONE.replace("metric = \"p99\"", metric);
        let plan = study(&text, design).plan().join("\n");
        plan.contains("it measures for as long again, once")
    };
    assert!(is_longer("metric = \"p99\"", QualifyDesign::Usual));
    assert!(!is_longer("metric = \"p99\"", QualifyDesign::Quick));
    assert!(!is_longer("metric = \"max\"", QualifyDesign::Usual));
    let quick = plan("metric = \"p99\"", QualifyDesign::Quick);
    assert!(quick.contains("nothing is judged"), "{quick}");
    // Half an hour without a late one does not show a p99.9, and --sign is no longer.
    let text = ONE.replace("metric = \"p99\"", "metric = \"p999\"");
    let mut long = study(&text, QualifyDesign::Usual);
    drive(&mut long, GOOD);
    let next = "30 m can only show a miss; showing that it is met takes longer.";
    assert_eq!(long.sheet().details[1], next);
}

#[test]
fn the_plan_has_the_bytes_that_each_load_writes() {
    let text = text_of("etcd");
    let plan = study(text, QualifyDesign::Usual).plan().join("\n");
    let says = "Written in 30 m: wal as fast as the target allows (175.8 GiB at 100 MiB/s), \
                backend about 562.5 MiB.";
    assert!(plan.contains(says), "{plan}");
}

#[test]
fn on_one_target_files_lie_behind_each_other_in_whole_pages() {
    let placement = Placement {
        is_one_target: true,
        sector_bytes: 4_096,
        ..Placement::default()
    };
    let product = bundled("etcd").expect("it is bundled");
    let (wal, _) = placement.place(&product, 0);
    let (backend, target) = placement.place(&product, 1);
    assert_eq!((wal.block_size_bytes, wal.base_offset_bytes), (4_096, 0));
    assert_eq!((backend.base_offset_bytes, target), (1 << 30, 0));
    assert_eq!(wal.cache, stripewise_workload::CacheMode::Direct);
    assert_eq!(Placement::size_bytes(&product), (1 << 30) + (512 << 20));
}

#[test]
fn a_simulated_array_keeps_the_states_of_files_and_simulates_the_journal_of_growing_ones() {
    let on = |text: &str, is_simulated| {
        let options = QualifyOptions {
            placement: Placement {
                is_one_target: true,
                sector_bytes: 4_096,
                reads_only: false,
                is_simulated,
            },
            ..options(QualifyDesign::Usual)
        };
        let study = Qualify::new(text, options).expect("the product is sound");
        study.with_commits(true)
    };
    let note = |study: &Qualify| {
        let notes = study.sheet().cautions.into_iter().map(|one| one.text);
        let mut notes = notes.filter(|text| text.starts_with("no file system here"));
        notes.next().expect("a note")
    };
    let etcd = text_of("etcd");
    for (text, is_simulated, states) in [
        (ONE, true, ""),
        (ONE, false, ""),
        (etcd, true, "preallocated growing"),
        (etcd, false, "overwritten"),
    ] {
        let mut study = on(text, is_simulated);
        assert_eq!(study.files(), [StudyFile::default()]);
        while let NextStep::Run(run) = study.next() {
            let is_journaled = match run.part.as_str() {
                "commit" => run.jobs[0].workload.base_offset_bytes == (1 << 30) + (256 << 20),
                // Its log grows, and none of etcd's load.
                _ => is_simulated && text == ONE,
            };
            assert_eq!(run.growing.contains(&true), is_journaled, "{}", run.title);
            assert!(run.jobs.iter().all(|job| job.targets == [0]));
            study.completed(run.id, &record(&run, GOOD, Status::Complete));
        }
        let commits = study.commits().map_or_else(Vec::new, CommitStudy::records);
        let mut found: Vec<String> = commits.into_iter().map(|one| one.file).collect();
        found.dedup();
        assert_eq!(found.join(" "), states);
        let has_note = note(&study).contains("its journal is simulated");
        assert_eq!(has_note, is_simulated, "{}", note(&study));
    }
}

#[test]
fn a_target_that_is_only_read_judges_reads_alone() {
    let text = text_of("gitaly");
    let options = QualifyOptions {
        placement: Placement {
            is_one_target: true,
            sector_bytes: 4_096,
            reads_only: true,
            ..Placement::default()
        },
        ..options(QualifyDesign::Usual)
    };
    let mut study = Qualify::new(text, options).expect("it is bundled");
    assert!(study.loads().iter().all(|job| !job.workload.writes()));
    let plan = study.plan().join("\n");
    assert!(plan.contains("of writes: not measured"), "{plan}");
    assert!(!plan.contains("take turns"), "{plan}");
    assert!(!plan.contains("Written in"), "{plan}");
    drive(&mut study, GOOD);
    // 100 reads a second are below 8,000; the writes were not measured.
    let verdicts: Vec<Verdict> = study.judgements().iter().map(|one| one.verdict).collect();
    assert_eq!(verdicts, [Verdict::Missed, Verdict::Undecided]);
    let details = study.sheet().details.join("\n");
    assert!(
        details.contains("To judge what writes, name a directory"),
        "{details}"
    );
    assert!(!details.contains("--sign"), "{details}");
}

#[test]
fn every_bundled_product_comes_to_an_end() {
    for (name, text) in BUNDLED {
        let mut study = study(text, QualifyDesign::Usual);
        let (runs, _) = drive(&mut study, GOOD);
        assert!(runs > 0, "{name}");
        let phases = study.product().phases().len() as u64;
        assert!(study.seconds() <= 1_800, "{name}: {} s", study.seconds());
        assert!(u64::from(runs) <= 30 * phases, "{name}: {runs} runs");
        for judged in study.judgements() {
            assert_ne!(judged.verdict, Verdict::Void, "{name}: {judged:?}");
        }
        let document = QualifyDocument::of(&study, &Origin::default());
        assert_eq!(
            document.requirements.len(),
            study.product().requirements.len()
        );
        assert!(!study.line().is_empty() && !study.plan().is_empty());
    }
}

#[test]
fn what_the_load_itself_rules_out_is_refused() {
    let held = |requirement: &str, rate: u32| {
        let text = ONE
            .replace(
                "sync = \"fdatasync\"",
                &format!("sync = \"fdatasync\", rate = {rate}"),
            )
            .replace("metric = \"p99\"\nbelow = \"10ms\"", requirement);
        Qualify::new(&text, options(QualifyDesign::Usual)).map(|_| ())
    };
    let rate = "metric = \"iops\"\nat-least = 5000";
    assert_eq!(held(rate, 5_200), Ok(()));
    let refused = held(rate, 5_000).unwrap_err().to_string();
    let says = "which is held to 5,000 commits/s: within 2 % of it, which is too close to tell";
    assert!(refused.ends_with(says), "{refused}");
    let refused = held(rate, 2_000).unwrap_err().to_string();
    let says = "p99 requires at least 5,000 commits/s of job log, which is held to 2,000 commits/s";
    assert!(refused.contains(says), "{refused}");
    let each = format!("{rate}\nper-processor = true");
    assert_eq!(held(&each, 20_500), Ok(()));
    assert!(held(&each, 19_999).is_err());
    assert!(held("metric = \"mib-per-s\"\nat-least = 5", 2_000).is_err());
    assert_eq!(held(rate, 10_000_000), Ok(()));
    let refused = held(rate, 10_000_001).unwrap_err().to_string();
    let says = "job log: at most 10,000,000 arrivals a second are counted";
    assert_eq!(refused, says);
}

#[test]
fn what_has_no_limit_says_so_once() {
    let text = ONE.replace("below = \"10ms\"\n", "");
    let mut open = study(&text, QualifyDesign::Usual);
    drive(&mut open, GOOD);
    assert_eq!(open.verdict(), Verdict::NotJudged);
    let answer = open.sheet().answer;
    let says = "one has no limit to meet or miss; the table has what 5 m of measuring showed";
    assert_eq!(answer, says);
    let line = open.line();
    assert!(line.starts_with("one: not judged (p99 2.00 ms"), "{line}");
    assert_eq!(line.matches("not judged").count(), 1, "{line}");
    let sqlite = text_of("sqlite");
    let mut sqlite = study(sqlite, QualifyDesign::Usual);
    drive(&mut sqlite, GOOD);
    let answer = sqlite.sheet().answer;
    assert!(
        answer.starts_with("no limit is published for sqlite; "),
        "{answer}"
    );
}

#[test]
fn limits_per_processor_are_multiplied_and_a_maximum_is_never_plainly_met() {
    let study = study(text_of("cockroachdb"), QualifyDesign::Usual);
    assert_eq!(study.limit_value(&study.product().requirements[0]), 2_000.0);
    let mut study = self::study(text_of("exchange"), QualifyDesign::Usual);
    drive(&mut study, GOOD);
    let maximum = &study.judgements()[1];
    assert_eq!(maximum.verdict, Verdict::Met);
    assert!(maximum.reason.contains("more cannot be said of a maximum"));
    let details = study.sheet().details.join("\n");
    assert!(details.contains("so it is rarer than once in"), "{details}");
}

const COMMITS: &str = r#"
[commit]
files = ["log"]
groups = [8]
[commit.methods]
fdatasync = "sync=data"
dsync = "sync=open"
"#;

fn with_commits(options: QualifyOptions) -> Qualify {
    let study = Qualify::new(&format!("{ONE}{COMMITS}"), options);
    study.expect("the product is sound").with_commits(true)
}

#[test]
fn commit_methods_follow_the_verdict_and_leave_it_alone() {
    let mut study = with_commits(options(QualifyDesign::Usual));
    assert_eq!(
        study.plan().last().expect("the last line"),
        "Then 24 s: 2 ways of committing to 64 MiB of log, for a table that decides no \
         requirement."
    );
    // Two methods by one and by a group of 8, five times each.
    assert_eq!(drive(&mut study, GOOD), (20 + 20, 0));
    assert_eq!((study.verdict(), study.seconds()), (Verdict::Met, 1_200));
    assert_eq!((study.time().left_ns, study.is_open()), (0, false));
    let document = QualifyDocument::of(&study, &Origin::default());
    let cells = document.commit.iter().map(|one| {
        assert_eq!(one.file, "growing");
        (one.in_product.as_deref().unwrap_or(""), one.committers)
    });
    let cells: Vec<_> = cells.collect();
    let all = ["sync=data", "sync=open"].map(|words| [(words, 1), (words, 8)]);
    assert_eq!(cells, all.concat());
    let sheet = study.sheet();
    let titles = sheet.tables.iter().map(|table| table.title.as_str());
    let titles: Vec<&str> = titles.take(2).collect();
    assert_eq!(
        titles,
        ["Requirements", "Commits a second, each method alone"]
    );
    let expected_text = sheet.details.last().expect("what is the fastest");
    assert!(
        expected_text.starts_with("Commit methods, each alone: for one"),
        "{expected_text}"
    );
}

#[test]
fn ways_of_committing_are_compared_for_the_fewest_committers_there_are() {
    let commits = COMMITS.replace("groups", "committers = [4]\ngroups");
    let study = Qualify::new(&format!("{ONE}{commits}"), options(QualifyDesign::Usual));
    let mut study = study.expect("the product is sound").with_commits(true);
    drive(&mut study, GOOD);
    let details = study.sheet().details;
    let fastest = details.last().expect("what is the fastest");
    assert!(
        fastest.starts_with("Commit methods, each alone: for 4 committers 2 ways are alike"),
        "{fastest}"
    );
    // etcd has one way, and files of two states.
    let etcd = text_of("etcd");
    let mut etcd = self::study(etcd, QualifyDesign::Usual).with_commits(true);
    drive(&mut etcd, GOOD);
    let details = etcd.sheet().details;
    let fastest = details.last().expect("what is the fastest");
    let says = "one committer with fdatasync (its only way): 2 states of the file are alike";
    assert!(fastest.contains(says), "{fastest}");
}

#[test]
fn what_was_stopped_among_commit_methods_is_judged_and_goes_on() {
    let mut study = with_commits(options(QualifyDesign::Usual));
    let next = |study: &Qualify| match study.next() {
        NextStep::Run(run) => run,
        other => panic!("{other:?}"),
    };
    while study.is_judging() {
        let run = next(&study);
        study.completed(run.id, &record(&run, GOOD, Status::Complete));
    }
    let run = next(&study);
    let job = &run.jobs[0];
    assert_eq!((run.part.as_str(), &job.targets[..]), ("commit", &[0][..]));
    study.completed(run.id, &record(&run, GOOD, Status::Partial));
    assert!(study.is_open() && study.is_at_pause());
    assert!(study.line().starts_with("one: met ("), "{}", study.line());
    let details = study.sheet().details;
    let expected_text =
        "Commit methods, each alone: stopped after 0 of 20 runs; nothing was measured.";
    assert_eq!(details.last().expect("how far it came"), expected_text);
    let stored = study.to_json().expect("plain fields");
    let mut resumed = Qualify::from_json(&stored).expect("it was stored");
    assert_eq!(resumed.next(), study.next());
    assert_eq!(drive(&mut resumed, GOOD), (20, 0));
    // A state whose product has no such methods is damaged.
    let mut stored: serde_json::Value = serde_json::from_str(&stored).expect("it is JSON");
    stored["product"] = ONE.into();
    assert!(Qualify::from_json(&stored.to_string()).is_err());
}

#[test]
fn commit_methods_are_left_out_after_a_miss_that_ends_all_and_where_nothing_may_be_written() {
    let mut fast = with_commits(QualifyOptions {
        ends_at_miss: true,
        ..options(QualifyDesign::Usual)
    });
    assert_eq!(drive(&mut fast, BAD), (3, 0));
    assert!(!fast.is_open());
    let details = fast.sheet().details.join(" ");
    assert!(!details.contains("Commit methods"), "{details}");
    let mut placement = Placement {
        is_one_target: true,
        sector_bytes: 4_096,
        reads_only: true,
        ..Placement::default()
    };
    let placed = |placement| QualifyOptions {
        placement,
        ..options(QualifyDesign::Usual)
    };
    assert!(with_commits(placed(placement)).commits().is_none());
    // On a device the log lies behind the data, and its way of committing is direct.
    placement.reads_only = false;
    let oracle = text_of("oracle");
    let oracle = Qualify::new(oracle, placed(placement)).expect("it is bundled");
    let loads = oracle.with_commits(true).loads();
    let last = loads.last().expect("a commit");
    assert_eq!(last.workload.base_offset_bytes, 4 << 30);
    assert_eq!(
        (&last.targets[..], last.name.as_str()),
        (&[0][..], "commit")
    );
    let is_direct =
        |job: &PlacedJob| job.workload.cache == stripewise_workload::CacheMode::DirectSync;
    assert!(
        loads
            .iter()
            .filter(|job| job.name == "commit")
            .all(is_direct)
    );
}

#[test]
fn databases_compare_their_commit_methods_within_a_minute() {
    let mut names = Vec::new();
    for (name, text) in BUNDLED {
        let without = study(text, QualifyDesign::Usual);
        let study = study(text, QualifyDesign::Usual).with_commits(true);
        let more_ns = study.time().left_ns - without.time().left_ns;
        assert!(more_ns <= 60 * SECOND_NS, "{name}: {more_ns}");
        names.extend(study.commits().map(|_| name));
        for job in study.loads() {
            stripewise_workload::check(&job.workload).expect(name);
        }
    }
    let databases = [
        "etcd",
        "mysql",
        "oracle",
        "postgresql",
        "sqlite",
        "sqlserver",
    ];
    assert_eq!(names, databases);
}

/// A disk that misses, in pieces of which `held` have a warning about the processor.
fn missed_alongside(text: &str, code: &str, held: u32) -> Judgement {
    let mut study = study(text, QualifyDesign::Usual);
    let mut pieces = 0;
    while let NextStep::Run(run) = study.next() {
        let mut record = record(&run, BAD, Status::Complete);
        if pieces < held {
            record.jobs[0].warnings.push(Warning {
                code: code.to_owned(),
                severity: Severity::Warning,
                message: String::new(),
                short: "a quota of 0.10 processors".to_owned(),
                hint: Hint::default(),
            });
        }
        study.completed(run.id, &record);
        pieces += 1;
    }
    study.judgements()[0].clone()
}

#[test]
fn what_the_processor_held_back_is_not_missed_by_the_disk() {
    let rate = ONE
        .replace("p99\"\nbelow = \"10ms\"", "iops\"\nat-least = \"500\"")
        .replace("operations = \"commits\"\n", "");
    for (text, code, held, verdict) in [
        (ONE, "cpu-quota", 0, Verdict::Missed),
        (ONE, "cpu-quota", u32::MAX, Verdict::Void),
        (ONE, "cpu-bound", u32::MAX, Verdict::Missed),
        (&rate, "cpu-bound", u32::MAX, Verdict::Void),
        // One minute of ten is too little to blame.
        (&rate, "cpu-quota", 1, Verdict::Missed),
    ] {
        let judged = missed_alongside(text, code, held);
        assert_eq!(judged.verdict, verdict, "{code} {held}: {}", judged.reason);
        if verdict == Verdict::Void {
            for words in ["held the program back", "a quota of 0.10 processors"] {
                assert!(judged.reason.contains(words), "{}", judged.reason);
            }
        }
    }
}

/// A warning says of which load it is and in how many of its minutes, and has its name; that
/// one minute has few operations is said of none.
#[test]
fn warnings_of_minutes_name_their_load() {
    let mut study = study(ONE, QualifyDesign::Quick);
    while let NextStep::Run(run) = study.next() {
        let mut record = record(&run, GOOD, Status::Complete);
        let of = |code: &str, severity| Warning {
            code: code.to_owned(),
            severity,
            message: "as it is".to_owned(),
            short: String::new(),
            hint: Hint::default(),
        };
        record.jobs[0].warnings = vec![
            of("other-load", Severity::Warning),
            of("few-for-p999", Severity::Note),
        ];
        study.completed(run.id, &record);
    }
    let cautions = study.sheet().cautions;
    let found = cautions.iter().filter(|one| !one.code.is_empty());
    let found: Vec<(&str, &str)> = found.map(|one| (&*one.code, &*one.of)).collect();
    let job = &study.product().jobs[0].name;
    let of = format!("in 5 minutes of load {job}");
    assert_eq!(found, [("other-load", of.as_str())], "{cautions:?}");
}

#[test]
fn what_waited_for_a_processor_on_a_busy_machine_is_not_missed_by_the_disk() {
    let mean = ONE.replace("\"p99\"\nbelow = \"10ms\"", "\"mean\"\nbelow = \"2ms\"");
    // A minute has 300 operations beyond 10 ms, 3 s in all; its sum is 5.4 s beyond a mean of 2 ms.
    for (text, code, wait_s, verdict) in [
        (ONE, "cpu-bound", 2.0, Verdict::Void),
        (ONE, "cpu-bound", 1.0, Verdict::Missed),
        // The machine had a processor to spare: it was not other work.
        (ONE, "other-load", 2.0, Verdict::Missed),
        (&mean, "cpu-bound", 3.0, Verdict::Void),
        (&mean, "cpu-bound", 2.0, Verdict::Missed),
    ] {
        let mut study = study(text, QualifyDesign::Usual);
        while let NextStep::Run(run) = study.next() {
            let mut record = record(&run, BAD, Status::Complete);
            let job = &mut record.jobs[0];
            job.outcome.threads = vec![ThreadOutcome {
                cpu_wait_ns: (wait_s * 1e9) as u64,
                ..ThreadOutcome::default()
            }];
            job.warnings.push(Warning {
                code: code.to_owned(),
                severity: Severity::Warning,
                message: String::new(),
                short: String::new(),
                hint: Hint::default(),
            });
            study.completed(run.id, &record);
        }
        let judged = &study.judgements()[0];
        assert_eq!(
            judged.verdict, verdict,
            "{code} {wait_s}: {}",
            judged.reason
        );
        let says = judged
            .reason
            .contains("other work kept the processors busy");
        assert_eq!(says, verdict == Verdict::Void, "{}", judged.reason);
    }
}

#[test]
fn the_reason_of_a_rate_names_what_is_required() {
    let text = text_of("tikv");
    let mut tikv = study(text, QualifyDesign::Usual);
    drive(&mut tikv, GOOD);
    assert_eq!(
        tikv.judgements()[0].reason,
        "over 10 m the mean is 100 IOPS (100 IOPS to 100 IOPS), and at least 40,000 IOPS are \
         required"
    );
    let document = QualifyDocument::of(&tikv, &Origin::default());
    let relation = serde_json::to_value(&document.requirements[0]).expect("plain fields");
    assert_eq!(relation["relation"], "at-least");
}
