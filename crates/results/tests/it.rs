//! Documents: what is printed is read back, and printed again in the same bytes.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use stripewise_results::{
    Document, DocumentError, Drain, EngineFacts, Errors, HostFacts, Interval, JobOutcome,
    JobRecord, KindParts, OpenLoop, OutcomeParts, RunRecord, Severity, Status, TargetFacts,
    TargetKind, Warning,
};
use stripewise_stats::Histogram;
use stripewise_workload::{Arrivals, CursorKind, Pattern, Rate, SyncPolicy, Workload};

/// Texts with everything that has to be escaped.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{0,8}", any::<String>()]
}

/// Finite floats, odd ones included.
fn finite() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        (0_u64..1 << 53).prop_map(|value| value as f64 / 3.0),
        Just(-0.0),
        Just(f64::MIN_POSITIVE / 2.0),
    ]
}

/// Measurable floats, including unusual ones.
fn measured() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0_u64..1 << 53).prop_map(|value| value as f64 / 3.0),
        Just(-0.0),
        Just(f64::MIN_POSITIVE / 2.0),
    ]
}

fn kind() -> impl Strategy<Value = KindParts> {
    vec((0_u64..1 << 42, 1_u64..20_000), 0..4).prop_map(|latencies_ns| {
        let mut histogram = Histogram::new();
        for (latency_ns, count) in latencies_ns {
            histogram.record_n(latency_ns, count);
        }
        KindParts {
            operations: histogram.count(),
            bytes: histogram.count() * 512,
            histogram,
        }
    })
}

fn interval() -> impl Strategy<Value = Interval> {
    (
        any::<[u32; 6]>(),
        measured(),
        option::of(any::<u64>()),
        any::<bool>(),
    )
        .prop_map(
            |(numbers, latency_ns_mean, latency_ns_p99, latency_ns_p99_is_bound)| Interval {
                start_ns: numbers[0].into(),
                duration_ns: numbers[1].into(),
                read_operations: numbers[2].into(),
                write_operations: numbers[3].into(),
                discard_operations: numbers[0].into(),
                bytes: numbers[4].into(),
                latency_ns_mean,
                latency_ns_p99,
                latency_ns_p99_is_bound,
                latency_ns_max: u64::MAX,
                errors: numbers[5].into(),
            },
        )
}

prop_compose! {
    fn outcome()(
        duration_ns in 0_u64..1 << 60,
        read in kind(),
        write in kind(),
        sync in option::of(kind()),
        discard in option::of(kind()),
        in_flight_ns_sum in any::<u64>(),
        cpu in any::<[u64; 2]>(),
        by_reason in proptest::collection::btree_map(text(), any::<u64>(), 0..3),
        first in option::of(text()),
        open_loop in option::of(any::<[u64; 3]>()),
        intervals in vec(interval(), 0..4),
    ) -> JobOutcome {
        JobOutcome::from_parts(OutcomeParts {
            duration_ns,
            read,
            write,
            commit: sync.clone(),
            sync,
            discard,
            in_flight_ns_sum: u128::from(in_flight_ns_sum),
            cpu_user_ns: cpu[0],
            cpu_system_ns: cpu[1],
            errors: Errors { total: 3, by_reason, first },
            drain: Drain {
                operations: 9,
                errors: 1,
                first_error: Some("read at byte 8192: EIO".into()),
                latency_ns_max: u64::MAX,
                abandoned: 2,
            },
            open_loop: open_loop.map(|numbers| OpenLoop {
                arrivals_due: numbers[0],
                arrivals_issued: numbers[1],
                schedule_lag_ns_max: numbers[2],
            }),
            intervals,
        })
    }
}

fn workload() -> impl Strategy<Value = Workload> {
    let pattern = prop_oneof![
        Just(Workload::default().pattern),
        Just(Pattern::Sequential {
            cursor: CursorKind::Shared
        }),
        any::<u64>().prop_map(|stride_bytes| Pattern::Stride {
            stride_bytes,
            cursor: CursorKind::Own,
        }),
    ];
    (
        pattern,
        option::of(finite()),
        option::of(any::<u32>()),
        any::<u64>(),
        option::of(any::<u64>()),
    )
        .prop_map(|(pattern, rate, sync, seed, size_bytes)| Workload {
            pattern,
            rate: rate.map(|iops| Rate {
                iops,
                arrivals: Arrivals::Poisson,
            }),
            sync: sync.map(SyncPolicy::fdatasync),
            seed,
            size_bytes,
            ..Workload::default()
        })
}

fn warning() -> impl Strategy<Value = Warning> {
    (text(), text(), text(), text()).prop_map(|(code, message, short, hint)| Warning {
        code,
        severity: Severity::Void,
        message,
        short,
        hint: hint.into(),
    })
}

prop_compose! {
    fn job()(
        name in text(),
        outcome in outcome(),
        workload in workload(),
        fallbacks in vec(text(), 0..2),
        null_ns_per_operation in option::of(finite()),
        completion_hold_ns_max in prop_oneof![Just(0), any::<u64>()],
        partition_offset_bytes in option::of(any::<u64>()),
        warnings in vec(warning(), 0..2),
    ) -> JobRecord {
        JobRecord {
            name: name.clone(),
            target: TargetFacts {
                kind: TargetKind::TestFile,
                name,
                path: None,
                size_bytes: u64::MAX,
                partition_offset_bytes,
                logical_sector_bytes: 512,
                physical_sector_bytes: None,
                file_system: None,
                device: None,
                simulation: None,
            },
            further_targets: Vec::new(),
            workload,
            engine: EngineFacts {
                fallbacks,
                null_ns_per_operation,
                completion_hold_ns_max,
                ..EngineFacts::default()
            },
            outcome,
            warnings,
        }
    }
}

prop_compose! {
    fn run()(
        texts in any::<[String; 3]>(),
        optional in vec(option::of(text()), 4),
        jobs in vec(job(), 0..3),
        warnings in vec(warning(), 0..2),
        partial in any::<bool>(),
    ) -> RunRecord {
        RunRecord {
            answer_block: None,
            sustained: None,
            merged: None,
            start: None,
            experiment: None,
            imported: None,
            id: texts[0].clone(),
            started_at: texts[1].clone(),
            status: if partial { Status::Partial } else { Status::Complete },
            partial_because: optional[0].clone(),
            label: optional[1].clone(),
            command: texts.to_vec(),
            request: None,
            version: texts[2].clone(),
            series: optional[2].clone(),
            series_part: optional[3].clone(),
            latency_limit: None,
            processors: Vec::new(),
            verification: None,
            fidelity: None,
            host: HostFacts { name: texts[2].clone(), ..HostFacts::default() },
            jobs,
            warnings,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 64,
        rng_seed: proptest::test_runner::RngSeed::Fixed(2007),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn printing_parsing_and_printing_again_gives_the_same_bytes(runs in vec(run(), 0..3)) {
        let printed = Document::new(runs.clone()).to_json();
        let parsed = Document::from_json(&printed).unwrap();
        prop_assert_eq!(parsed.to_json(), printed);
        let without: Vec<_> = runs.into_iter().map(RunRecord::without_histograms).collect();
        prop_assert_eq!(parsed.runs, without);
    }
}

#[test]
fn a_document_of_another_version_is_named_whatever_its_shape() {
    for text in [
        r#"{"schema_version": 2, "runs": 7}"#,
        r#"{"schema_version": 2}"#,
    ] {
        let error = Document::from_json(text).unwrap_err();
        assert!(
            matches!(error, DocumentError::Version { found: 2 }),
            "{error}"
        );
        assert!(error.to_string().contains("version 2"), "{error}");
    }
}

#[test]
fn what_is_not_a_document_says_where_it_stops_being_one() {
    for text in [
        "",
        "[]",
        "{\"runs\": []}",
        "{\"schema_version\": 1, \"runs\": [{}]}",
    ] {
        let error = Document::from_json(text).unwrap_err();
        assert!(matches!(error, DocumentError::Malformed(_)), "{error}");
        assert!(error.to_string().contains("line 1"), "{error}");
    }
}

#[test]
fn newer_optional_fields_are_read_over() {
    let text = r#"{"schema_version": 1, "runs": [], "new": {"a": 1}}"#;
    assert_eq!(
        Document::from_json(text).unwrap(),
        Document::new(Vec::new())
    );
}

#[test]
fn the_keys_of_the_document_are_those_that_other_programs_read() {
    let mut histogram = Histogram::new();
    histogram.record_n(1_000, 10_000);
    let part = KindParts {
        operations: 10_000,
        bytes: 5_120_000,
        histogram,
    };
    let outcome = JobOutcome::from_parts(OutcomeParts {
        duration_ns: 1_000_000_000,
        read: part,
        open_loop: Some(OpenLoop::default()),
        ..OutcomeParts::default()
    });
    let json = serde_json::to_value(&outcome).unwrap();
    for key in [
        "duration_ns",
        "operations",
        "bytes",
        "iops",
        "mib_per_s",
        "read",
        "write",
        "outstanding_mean",
        "cpu_user_ns_per_operation",
        "errors",
        "drain",
        "intervals",
        "arrivals_due",
        "arrivals_issued",
        "schedule_lag_ns_max",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    for key in ["min", "mean", "p50", "p90", "p99", "p999", "max"] {
        assert!(json["read"]["latency_ns"].get(key).is_some(), "{key}");
    }
    assert_eq!(json["write"].get("latency_ns"), None);
}

#[test]
fn numbers_that_nobody_can_have_measured_are_refused_by_name() {
    let whole = Document::new(vec![RunRecord {
        id: "20261121-201530-k3f9".to_owned(),
        jobs: vec![JobRecord {
            name: "log".to_owned(),
            outcome: JobOutcome {
                iops: 421.5,
                mib_per_s: 7.25,
                outstanding_mean: 3.5,
                intervals: vec![Interval {
                    latency_ns_mean: 1234.5,
                    ..Interval::default()
                }],
                ..JobOutcome::default()
            },
            ..JobRecord::default()
        }],
        ..RunRecord::empty()
    }])
    .to_json();
    Document::from_json(&whole).unwrap();
    for (sound, broken, name) in [
        ("421.5", "-1", "iops is -1.0"),
        ("421.5", "1e308", "iops is 1e308"),
        ("7.25", "-7.25", "mib_per_s is -7.25"),
        ("3.5", "1e13", "outstanding_mean is"),
        ("1234.5", "-0.5", "intervals.0.latency_ns_mean is -0.5"),
    ] {
        assert!(whole.contains(sound), "{sound}");
        let error = Document::from_json(&whole.replacen(sound, broken, 1)).unwrap_err();
        assert!(matches!(error, DocumentError::Impossible(_)), "{error}");
        let stated = error.to_string();
        assert!(
            stated.contains(name) && stated.contains("k3f9, job log"),
            "{stated}"
        );
        assert!(!error.hint().is_empty());
    }
}
