//! Each warning both ways: a change of clean evidence that must raise it, and a
//! near miss that must not.

mod cases;
mod clean;
mod paused;
mod words;

use super::{Code, Evidence, judge, judge_series};
use cases::CASES;
use clean::{clean, throttle};
use std::collections::HashSet;
use stripewise_results::{JobRecord, Severity, TargetKind};

fn codes(evidence: &Evidence) -> Vec<String> {
    judge(evidence)
        .into_iter()
        .map(|warning| warning.code)
        .collect()
}

#[test]
fn clean_evidence_has_no_warnings() {
    assert_eq!(judge(&clean()), []);
}

/// What is wrong with one case.
fn problems(case: &cases::Case) -> Vec<String> {
    let name = case.code.as_str();
    let mut found = Vec::new();
    let mut evidence = clean();
    (case.fires)(&mut evidence);
    match judge(&evidence)
        .into_iter()
        .find(|warning| warning.code == name)
    {
        None => found.push(format!("{name} did not fire: {:?}", codes(&evidence))),
        Some(warning) => {
            if warning.severity != case.severity {
                found.push(format!(
                    "{name} is {:?}: {}",
                    warning.severity, warning.message
                ));
            }
            for words in case
                .expected_words
                .iter()
                .filter(|words| !warning.message.contains(**words))
            {
                found.push(format!(
                    "{name} does not say {words:?}: {}",
                    warning.message
                ));
            }
            if warning.hint.is_empty() {
                found.push(format!("{name} gives no advice"));
            }
        }
    }
    let mut evidence = clean();
    (case.near_miss)(&mut evidence);
    if let Some(warning) = judge(&evidence)
        .into_iter()
        .find(|warning| warning.code == name)
    {
        found.push(format!("{name}: the near miss fired: {}", warning.message));
    }
    found
}

#[test]
fn every_warning_fires_and_its_near_miss_does_not() {
    let found: Vec<String> = CASES.iter().flat_map(problems).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_code_has_a_case() {
    let with_case: HashSet<&str> = CASES.iter().map(|case| case.code.as_str()).collect();
    for code in Code::ALL {
        // Two need a series, one is known to the store alone; they are tested below
        // and in `words`.
        if !matches!(
            code,
            Code::FlatIops
                | Code::FlatBandwidth
                | Code::StoreBehind
                | Code::LateReplay
                | Code::WrongData
        ) {
            assert!(
                with_case.contains(code.as_str()),
                "no case for {}",
                code.as_str()
            );
        }
    }
}

#[test]
fn a_job_over_several_devices_is_not_held_against_the_first_of_them() {
    let cases = || {
        CASES.iter().filter(|case| {
            matches!(
                case.code,
                Code::DeviceSawLess | Code::DeviceQueueLimit | Code::DeviceDepthBelowAsked
            )
        })
    };
    assert!(cases().count() >= 3);
    for case in cases() {
        let mut evidence = clean();
        (case.fires)(&mut evidence);
        evidence.targets = 3;
        evidence.spread = true;
        let name = case.code.as_str();
        assert!(!codes(&evidence).iter().any(|code| code == name), "{name}");
    }
}

#[test]
fn the_gravest_warning_comes_first() {
    let mut evidence = clean();
    evidence.quick = true;
    evidence.outcome.operations = 0;
    let severities: Vec<Severity> = judge(&evidence)
        .iter()
        .map(|warning| warning.severity)
        .collect();
    assert_eq!(severities.first(), Some(&Severity::Void));
    assert!(severities.is_sorted_by(|a, b| a >= b));
}

#[test]
fn of_the_null_engine_nothing_else_is_said() {
    let mut evidence = clean();
    evidence.target.kind = TargetKind::Null;
    evidence.quick = true;
    evidence.outcome.outstanding_mean = 0.1;
    assert_eq!(codes(&evidence), ["null-engine"]);
}

#[test]
fn a_simulated_array_is_not_blamed_for_this_machine() {
    let mut evidence = clean();
    evidence.target.kind = TargetKind::Simulated;
    evidence.storage = None;
    evidence.engine.fallbacks = vec!["something".into()];
    evidence.quick = true;
    evidence.cache_size_bytes = Some(u64::MAX);
    evidence.outcome.cpu_user_ns_per_operation = 1e9;
    let observed = evidence
        .observed
        .as_mut()
        .expect("clean evidence is observed");
    observed.suspended_ns = u64::MAX;
    observed.cpu_steal_ns = u64::MAX / 4;
    observed.quota_periods_throttled = 9;
    assert_eq!(judge(&evidence), []);
}

#[test]
fn facts_that_are_missing_raise_nothing_and_break_nothing() {
    let clean = clean();
    let bare = Evidence::new(clean.target, clean.workload, clean.engine, clean.outcome);
    assert_eq!(judge(&bare), []);
    let mut empty = bare.clone();
    empty.outcome = stripewise_results::JobOutcome::default();
    empty.observed = Some(stripewise_machine::observe::Observed::default());
    empty.storage = Some(stripewise_disk_inspect::storage::Storage::default());
    empty.data = Some(stripewise_targets::DataFacts::default());
    assert_eq!(codes(&empty), ["few-operations"]);
}

fn step(block_size_bytes: u64, iops: f64) -> JobRecord {
    let clean = clean();
    let mut job = JobRecord {
        name: "main".into(),
        target: clean.target,
        workload: clean.workload,
        engine: clean.engine,
        outcome: clean.outcome,
        ..JobRecord::default()
    };
    job.workload.block_size_bytes = block_size_bytes;
    job.outcome.iops = iops;
    job.outcome.mib_per_s = iops * block_size_bytes as f64 / 1_048_576.0;
    job
}

fn series(steps: &[(u64, f64)]) -> Vec<String> {
    let jobs: Vec<JobRecord> = steps
        .iter()
        .map(|(kib, iops)| step(kib << 10, *iops))
        .collect();
    let jobs: Vec<&JobRecord> = jobs.iter().collect();
    judge_series(&jobs, &[])
        .into_iter()
        .map(|warning| warning.code)
        .collect()
}

#[test]
fn the_same_rate_at_every_block_size_is_a_cap() {
    for (what, steps, wanted) in [
        (
            "iops",
            &[(4, 3000.0), (16, 3010.0), (64, 2990.0)][..],
            &["flat-iops"][..],
        ),
        (
            "bandwidth",
            &[(4, 25_600.0), (16, 6_400.0), (64, 1_600.0)],
            &["flat-bandwidth"],
        ),
        (
            "a disk",
            &[(4, 90_000.0), (16, 60_000.0), (64, 20_000.0)],
            &[],
        ),
        (
            "a link at large blocks",
            &[(64, 1_600.0), (256, 400.0), (1024, 100.0)],
            &[],
        ),
        ("sizes too near", &[(4, 3000.0), (8, 3000.0)], &[]),
        ("one step", &[(4, 3000.0)], &[]),
        ("nothing", &[], &[]),
    ] {
        assert_eq!(series(steps), wanted, "{what}");
    }
}

#[test]
fn steps_that_differ_otherwise_are_not_held_against_each_other() {
    let mut other = step(64 << 10, 3000.0);
    other.workload.threads = 9;
    let small = step(4 << 10, 3000.0);
    assert_eq!(judge_series(&[&small, &other], &[]), []);
    let mut open = step(64 << 10, 3000.0);
    open.workload.rate = Some(stripewise_workload::Rate {
        iops: 3000.0,
        arrivals: stripewise_workload::Arrivals::Fixed,
    });
    assert_eq!(judge_series(&[&small, &open], &[]), []);
}

#[test]
fn a_spinning_disk_may_give_the_same_iops_at_small_blocks() {
    let steps: Vec<JobRecord> = [4u64, 8, 16]
        .iter()
        .map(|kib| {
            let mut job = step(kib << 10, 150.0);
            job.target.device = Some(stripewise_results::DeviceFacts {
                rotational: Some(true),
                ..Default::default()
            });
            job
        })
        .collect();
    let steps: Vec<&JobRecord> = steps.iter().collect();
    assert_eq!(judge_series(&steps, &[]), []);
}

#[test]
fn a_cap_is_named_where_it_is_known() {
    let jobs = [step(4 << 10, 3000.0), step(64 << 10, 3000.0)];
    let jobs: Vec<&JobRecord> = jobs.iter().collect();
    let throttle = throttle();
    let warnings = judge_series(&jobs, std::slice::from_ref(&throttle));
    assert!(warnings[0].hint.contains("/slice"), "{}", warnings[0].hint);
    assert!(
        judge_series(&jobs, &[])[0]
            .hint
            .contains("stripewise limits")
    );
}
