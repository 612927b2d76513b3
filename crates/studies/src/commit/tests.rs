//! The study on made-up records.

use super::*;
use stripewise_results::{
    AtomicWriteFacts, DeviceFacts, FileSystemFacts, JobOutcome, JobRecord, KindOutcome, KindParts,
    Severity, Warning,
};
use stripewise_units::Hint;

/// A second of commits that take 1 ms, of which one in a hundred takes `slow_ns`.
fn record(run: &Run, slow_ns: u64, status: Status) -> RunRecord {
    let mut histogram = Histogram::default();
    histogram.record_n(1_000_000, 985);
    histogram.record_n(slow_ns, 15);
    let mut record = RunRecord::empty();
    let mut target = stripewise_results::TargetFacts::unknown();
    target.device = Some(DeviceFacts {
        name: "sdb".to_owned(),
        atomic_writes: Some(units(4_096, 16_384)),
        ..DeviceFacts::default()
    });
    target.file_system = Some(FileSystemFacts {
        kind: "ext4".to_owned(),
        atomic_writes: Some(units(4_096, 8_192)),
        ..FileSystemFacts::default()
    });
    record.status = status;
    record.jobs = vec![JobRecord {
        name: "commit".to_owned(),
        target,
        workload: run.jobs[0].workload.clone(),
        outcome: JobOutcome {
            duration_ns: RUN_NS,
            sync: Some(kind(1_000, 1_000_000)),
            commit: Some(KindOutcome::from(KindParts {
                operations: 1_000,
                bytes: 0,
                histogram,
            })),
            ..JobOutcome::default()
        },
        ..JobRecord::default()
    }];
    record
}

fn kind(operations: u64, each_ns: u64) -> KindOutcome {
    let mut histogram = Histogram::default();
    histogram.record_n(each_ns, operations);
    KindOutcome::from(KindParts {
        operations,
        bytes: 0,
        histogram,
    })
}

fn units(unit_min_bytes: u64, unit_max_bytes: u64) -> AtomicWriteFacts {
    AtomicWriteFacts {
        unit_min_bytes,
        unit_max_bytes,
    }
}

fn next(study: &CommitStudy) -> Run {
    match study.next() {
        NextStep::Run(run) => *run,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_was_stopped_says_first_how_far_it_came() {
    let mut study = CommitStudy::new(true, true, 1);
    let begun = study.sheet().answer;
    assert_eq!(begun, "stopped after 0 of 450 runs; nothing was measured");
    study.set_being_measured(true);
    let going_on = study.sheet().answer;
    assert!(going_on.starts_with("still being measured, 0 of 450 runs done; "));
    study.done = 450;
    assert!(study.is_whole());
    assert_eq!(study.sheet().answer, "nothing was measured");
}

#[test]
fn every_method_is_measured_on_a_file_of_each_state_and_a_device_without_a_page_cache() {
    let methods = |has_files, is_linux| {
        let study = CommitStudy::new(has_files, is_linux, 1);
        let loads = study.loads();
        assert_eq!(loads.len(), study.cells.len());
        loads.iter().for_each(|load| {
            stripewise_workload::check(&load.workload).expect("it can be done");
        });
        study.methods
    };
    assert_eq!(methods(true, true), CommitMethod::ALL);
    let names: Vec<&str> = methods(true, false).iter().map(|one| one.name()).collect();
    let other_names = [
        "fdatasync",
        "O_DSYNC",
        "O_DIRECT+fdatasync",
        "O_DIRECT|O_DSYNC",
    ];
    assert_eq!(names, other_names);
    let of_device = [CommitMethod::DirectFdatasync, CommitMethod::DirectDsync];
    assert_eq!(methods(false, true), of_device);
}

#[test]
fn a_simulated_array_has_growing_files_that_write_a_journal() {
    let device = CommitStudy::new(false, true, 1);
    assert_eq!(device.states(), [FileState::Written]);
    let mut study = CommitStudy::new(false, true, 1).simulated(true);
    assert_eq!(study.cells.len(), 2 * device.cells.len());
    assert_eq!(study.files(), [StudyFile::default()]);
    while let NextStep::Run(run) = study.next() {
        let is_growing = run.title.contains(", growing, ");
        assert_eq!(run.growing, [is_growing], "{}", run.title);
        assert_eq!(run.jobs[0].targets, [0]);
        study.completed(run.id, &record(&run, 2_000_000, Status::Complete));
    }
    // The made-up records have no writes that are durable by themselves.
    let records = study.records();
    let growing = records.iter().filter(|one| one.file == "growing");
    assert_eq!((growing.count(), records.len()), (5, 10));
    let has_note = |study: &CommitStudy| {
        let mut cautions = study.sheet().cautions.into_iter();
        cautions.any(|one| one.text == JOURNAL_IS_SIMULATED)
    };
    assert!(has_note(&study) && !has_note(&device));
}

#[test]
fn what_was_interrupted_goes_on_with_the_same_run() {
    let mut study = CommitStudy::new(true, true, 7);
    let first = next(&study);
    study.completed(first.id, &record(&first, 2_000_000, Status::Complete));
    let second = next(&study);
    study.completed(second.id, &record(&second, 2_000_000, Status::Partial));
    assert!(study.is_at_pause());
    let stored = study.to_json().expect("plain fields");
    let resumed = CommitStudy::from_json(&stored).expect("as it was stored");
    assert_eq!(resumed, study);
    assert_eq!(next(&resumed), second);
    assert!(CommitStudy::from_json(&stored.replace("\"fsync\",", "")).is_err());
}

#[test]
fn a_p99_has_the_interval_of_its_runs() {
    let mut study = CommitStudy::new(true, true, 1);
    let mut runs = 0;
    while let NextStep::Run(run) = study.next() {
        // Each run is a little slower than the one before.
        let slow_ns = 20_000_000 + 10_000 * u64::from(run.id.0);
        study.completed(run.id, &record(&run, slow_ns, Status::Complete));
        runs += 1;
    }
    assert_eq!(runs, 450);
    for one in study.records() {
        let p99 = one.latency_ns_p99.expect("5,000 commits");
        let [low, high] = [one.latency_ns_p99_low, one.latency_ns_p99_high];
        assert!(low.unwrap() < p99 && p99 < high.unwrap(), "{one:?}");
        assert!(low.unwrap() > 10_000_000, "{one:?}");
    }
}

#[test]
fn syncs_that_cost_nothing_are_warned_of_once() {
    let warned = |ns: u64, code: Option<&str>| {
        let mut study = CommitStudy::new(true, true, 1);
        for _ in 0..2 {
            let run = next(&study);
            let mut record = record(&run, 2_000_000, Status::Complete);
            record.jobs[0].outcome.sync = Some(kind(1_000, 1_000));
            record.jobs[0].outcome.commit = Some(kind(1_000, ns));
            let warning = code.map(|code| Warning {
                code: code.to_owned(),
                severity: Severity::Warning,
                message: "flushes end early".to_owned(),
                short: String::new(),
                hint: Hint::plain(""),
            });
            record.jobs[0].warnings.extend(warning);
            study.completed(run.id, &record);
        }
        let cautions = study.sheet().cautions.into_iter();
        let warnings = cautions.filter(|one| one.severity == Severity::Warning);
        let texts: Vec<String> = warnings.map(|one| one.text).collect();
        texts
    };
    let free = warned(7_000, None);
    assert_eq!(free.len(), 1, "{free:?}");
    assert!(
        free[0].starts_with("half of the commits of the fastest method took 7"),
        "{free:?}"
    );
    assert!(
        free[0].contains("outlives a loss of power, or it only claims to"),
        "{free:?}"
    );
    assert_eq!(warned(7_000, Some(TOO_FAST)), ["flushes end early"]);
    // After a write past the cache that takes a rotation, the sync has nothing to do.
    assert!(warned(8_000_000, None).is_empty());
}

#[test]
fn a_page_is_whole_only_where_device_and_file_system_say_so() {
    let mut study = CommitStudy::new(true, true, 1);
    let torn = |study: &CommitStudy| {
        let cautions = study.sheet().cautions;
        cautions.last().expect("a note").text.clone()
    };
    assert!(torn(&study).contains("is not known"), "{}", torn(&study));
    let run = next(&study);
    study.completed(run.id, &record(&run, 2_000_000, Status::Complete));
    // The device supports InnoDB's page size, the file system does not.
    let text = torn(&study);
    assert!(text.contains("atomic writes up to 8K"), "{text}");
    assert!(text.contains("full_page_writes"), "{text}");
    assert!(!text.contains("doublewrite"), "{text}");
    let mut atomic = study.atomic_writes.clone().expect("the record says so");
    assert_eq!(atomic.made_by(), None);
    // XFS needs no device for it.
    atomic.device = Some(units(0, 0));
    study.atomic_writes = Some(atomic.clone());
    let text = torn(&study);
    let says = "atomic writes up to 8K, where ext4 writes to a new place what the device does not";
    assert!(text.contains(says), "{text}");
    atomic.file_system = None;
    study.atomic_writes = Some(atomic);
    let text = torn(&study);
    assert!(text.contains("there are no atomic writes"), "{text}");
    assert!(text.contains("verify --power-cut"), "{text}");
}
