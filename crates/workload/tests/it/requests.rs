//! Requests: printing one, reading it and asking for its runs gives the same workloads
//! bit for bit; slips and permissions are refused.

use proptest::prelude::*;
use stripewise_workload::{
    Arrivals, BlockSizes, CacheMode, CursorKind, DataPattern, Distribution, Pattern, Plan,
    PlanOrder, Rate, Request, RequestJob, RequestPart, SyncPolicy, ThinkTime, Workload,
    derived_seed,
};

fn cursors() -> impl Strategy<Value = CursorKind> {
    prop_oneof![
        Just(CursorKind::Own),
        Just(CursorKind::Shared),
        Just(CursorKind::Columns)
    ]
}

fn patterns() -> impl Strategy<Value = Pattern> {
    prop_oneof![
        Just(Distribution::Uniform).prop_map(|distribution| Pattern::Random { distribution }),
        (1e-9..5.0f64).prop_map(|theta| Pattern::Random {
            distribution: Distribution::Zipf { theta }
        }),
        (1u8..100, 1u8..100).prop_map(|(space_percent, operations_percent)| Pattern::Random {
            distribution: Distribution::Hot {
                space_percent,
                operations_percent
            }
        }),
        cursors().prop_map(|cursor| Pattern::Sequential { cursor }),
        (1u64..1 << 30, cursors()).prop_map(|(stride, cursor)| Pattern::Stride {
            stride_bytes: stride * 512,
            cursor
        }),
    ]
}

fn caches() -> impl Strategy<Value = CacheMode> {
    prop_oneof![
        Just(CacheMode::Direct),
        Just(CacheMode::DirectSync),
        Just(CacheMode::Buffered),
        Just(CacheMode::BufferedSync)
    ]
}

prop_compose! {
    fn rates()(iops in 1e-3..1e9f64, poisson in any::<bool>()) -> Rate {
        let arrivals = if poisson { Arrivals::Poisson } else { Arrivals::Fixed };
        Rate { iops, arrivals }
    }
}

prop_compose! {
    fn workloads()(
        pattern in patterns(),
        cache in caches(),
        (read_percent, every) in (0u8..100, prop::option::of(1u32..9_999)),
        (block, threads, outstanding) in (1u64..2_048, 1u32..=256, 1u32..=64),
        (in_turn, ramp_ns, offset) in (any::<bool>(), 0u64..1 << 40, any::<u64>()),
        (pause_ns, every_operations) in (1u64..1 << 40, 1u32..9_999),
        size in prop::option::of(any::<u64>()),
        rate in prop::option::of(rates()),
        (compressible_percent, dedupable_percent) in (0u8..=100, 0u8..=100),
        seed in any::<u64>(),
        discard_percent in 0u8..=100,
    ) -> Workload {
        Workload {
            recorded: None,
            read_percent,
            // What is synced is written.
            discard_percent: match every {
                Some(_) => discard_percent.min(99 - read_percent),
                None => discard_percent.min(100 - read_percent),
            },
            pattern,
            block_size_bytes: block * 512,
            block_sizes: BlockSizes::default(),
            threads,
            outstanding,
            in_turn: in_turn && rate.is_none(),
            duration_ns: 1_234_567_891,
            ramp_ns,
            base_offset_bytes: offset,
            size_bytes: size,
            cache,
            sync: every.map(SyncPolicy::fdatasync),
            atomic: false,
            dsync: false,
            poll: false,
            think_time: (rate.is_none() && in_turn).then_some(ThinkTime {
                pause_ns,
                every: every_operations,
            }),
            rate,
            data: DataPattern { compressible_percent, dedupable_percent },
            seed,
        }
    }
}

prop_compose! {
    fn requests()(
        label in prop::option::of("\\PC{0,12}"),
        workloads in prop::collection::vec(workloads(), 1..4),
        target in "\\PC{1,20}",
        both in any::<bool>(),
        repetitions in 1u32..4,
        cpus in prop::collection::vec(any::<u32>(), 0..3),
        interval_ns in 1_000_000u64..=10_000_000_000,
        cache_size_bytes in prop::option::of(any::<u64>()),
        (cache_by_name, load_by_number) in (any::<bool>(), any::<bool>()),
        simulated_operations_min in any::<u64>(),
        operations_max_per_thread in prop::option::of(1..=u64::MAX),
    ) -> Request {
        let ramp_ns = workloads[0].ramp_ns;
        let jobs = workloads.into_iter().enumerate().map(|(number, workload)| RequestJob {
            name: format!("job {number}"),
            targets: vec![target.clone(), format!("/{target}")],
            workload: Workload { ramp_ns, ..workload },
        });
        Request {
            label,
            jobs: jobs.collect(),
            order: if both { PlanOrder::Both } else { PlanOrder::Alone },
            part: if both { RequestPart::Plan } else { RequestPart::Grid },
            repetitions,
            engine: "threads".to_owned(),
            cpus,
            interval_ns,
            simulated_operations_min,
            operations_max_per_thread,
            cache_size_bytes,
            requirements: vec!["p99<5ms".to_owned()],
            verify: true,
            cache_by_name,
            load_by_number,
            ..Request::default()
        }
    }
}

proptest! {
    #![proptest_config(crate::fixed_seed(200))]

    #[test]
    fn a_printed_request_means_the_same_runs(request in requests()) {
        let again = Request::from_json(&request.to_json());
        prop_assert_eq!(again.as_ref().map(Request::runs), Ok(request.runs()));
        prop_assert_eq!(again, Ok(request));
    }
}

#[test]
fn a_request_of_one_run_means_that_run() {
    let plan: Plan = "run = \"both\"\n[[job]]\nname = \"a\"\ntarget = \"x\"\n[[job]]\nname = \"b\"\ntarget = \"y\""
        .parse()
        .unwrap();
    let request = Request {
        repetitions: 2,
        ..plan.request(None, None).unwrap()
    };
    let runs = request.runs();
    assert_eq!(runs.len(), 6);
    let names =
        |run: &[(usize, Workload)]| -> Vec<usize> { run.iter().map(|(job, _)| *job).collect() };
    assert_eq!(names(&runs[1]), [1]);
    assert_eq!(names(&runs[5]), [0, 1]);
    assert_eq!(runs[5][0].1.seed, derived_seed(runs[2][0].1.seed, 1));
    for run in runs {
        let jobs = run.iter().map(|(job, workload)| RequestJob {
            workload: workload.clone(),
            ..request.jobs[*job].clone()
        });
        let of_run = request.of_run(jobs.collect());
        let workloads = |run: &[(usize, Workload)]| -> Vec<Workload> {
            run.iter().map(|(_, workload)| workload.clone()).collect()
        };
        assert_eq!(workloads(&of_run.runs().concat()), workloads(&run));
        assert_eq!(of_run.check(), Ok(()));
    }
}

/// The minimal request.
const LEAST: &str = r#"{
    "request_version": 1,
    "jobs": [{
        "name": "job", "targets": ["sim:nvme"],
        "workload": {
            "read_percent": 100, "pattern": "random", "distribution": "uniform",
            "block_size_bytes": 8192, "threads": 1, "outstanding": 1, "duration_ns": 1000000000,
            "ramp_ns": 0, "base_offset_bytes": 0, "size_bytes": null, "cache": "direct",
            "sync": null, "rate": null, "seed": 7,
            "data": {"compressible_percent": 0, "dedupable_percent": 0}
        }
    }]
}"#;

#[test]
fn what_is_left_out_has_the_usual_value() {
    let request = Request::from_json(LEAST).unwrap();
    assert_eq!(request.interval_ns, 1_000_000_000);
    assert_eq!((request.repetitions, request.engine.as_str()), (1, "auto"));
    assert_eq!(request.jobs[0].workload.seed, 7);
}

/// What is written in place of what, the problem, and what the hint holds.
const SLIPS: [(&str, &str, &str, &str); 13] = [
    (
        "\"jobs\"",
        "\"label\": 1, \"jobs\"",
        "not a request",
        "--show-request",
    ),
    (
        "\"jobs\"",
        "\"intervall_ns\": 1, \"jobs\"",
        "`intervall_ns`",
        "`interval_ns`",
    ),
    ("\"seed\"", "\"sed\": 1, \"seed\"", "`sed`", "`seed`"),
    (
        "\"jobs\"",
        "\"destroy\": \"vda\", \"jobs\"",
        "`destroy`",
        "--destroy",
    ),
    (
        "\"jobs\"",
        "\"busy_ok\": true, \"jobs\"",
        "`busy_ok`",
        "--busy-ok",
    ),
    (
        "\"jobs\"",
        "\"interval_ns\": 1, \"jobs\"",
        "interval 1ns is out of range",
        "1ms to 10s",
    ),
    (
        "\"jobs\"",
        "\"engine\": \"fast\", \"jobs\"",
        "engine `fast`",
        "uring",
    ),
    (
        "\"jobs\"",
        "\"repetitions\": 0, \"jobs\"",
        "repetitions 0",
        "1 to 1000",
    ),
    (
        "_version\": 1",
        "_version\": 2",
        "version 2",
        "print it again",
    ),
    (
        "\"threads\": 1",
        "\"threads\": 0",
        "job `job`: threads 0",
        "",
    ),
    ("[\"sim:nvme\"]", "[]", "has no target", "sim:NAME"),
    (
        "\"name\": \"job\"",
        "\"name\": \"\"",
        "not a valid name",
        "64 bytes",
    ),
    ("}]\n}", "}]", "not JSON", "--show-request"),
];

#[test]
fn slips_are_refused_with_a_hint() {
    for (from, to, problem, hint) in SLIPS {
        let text = LEAST.replacen(from, to, 1);
        assert_ne!(text, LEAST, "{from}");
        let error = Request::from_json(&text).unwrap_err();
        assert!(error.to_string().contains(problem), "{to}: {error}");
        assert!(error.hint().contains(hint), "{to}: {}", error.hint());
    }
}

#[test]
fn a_request_beyond_what_can_be_run_is_refused_before_it_takes_memory() {
    let mut request = Request::from_json(LEAST).unwrap();
    request.jobs[0].targets = vec!["sim:nvme".to_owned(); 4_096];
    request.check().unwrap();
    request.jobs[0].targets.push("sim:nvme".to_owned());
    let error = request.check().unwrap_err();
    assert!(error.to_string().contains("4097 targets"), "{error}");

    let mut request = Request::from_json(LEAST).unwrap();
    request.order = PlanOrder::Alone;
    request.repetitions = 1_000;
    request.jobs = vec![request.jobs[0].clone(); 100];
    request.check().unwrap();
    request.jobs.push(request.jobs[0].clone());
    let error = request.check().unwrap_err();
    assert!(error.to_string().contains("101000 runs"), "{error}");
}

#[test]
fn jobs_at_once_have_names_and_times_in_common() {
    let request = Request::from_json(LEAST).unwrap();
    let job = request.jobs[0].clone();
    let longer = RequestJob {
        name: "other".to_owned(),
        workload: Workload {
            duration_ns: 1,
            ..job.workload.clone()
        },
        ..job.clone()
    };
    for (other, problem) in [(job.clone(), "are named `job`"), (longer, "one duration")] {
        let jobs = vec![job.clone(), other];
        let together = Request {
            jobs,
            ..request.clone()
        };
        let error = together.check().unwrap_err();
        assert!(error.to_string().contains(problem), "{error}");
        let alone = Request {
            order: PlanOrder::Alone,
            ..together
        };
        assert_eq!(alone.check(), Ok(()));
    }
}

#[test]
fn what_belongs_to_another_pattern_is_refused() {
    let request = Request {
        jobs: vec![RequestJob {
            name: "reads".to_owned(),
            targets: vec!["sim:nvme".to_owned()],
            workload: Workload::default(),
        }],
        ..Request::default()
    };
    let mut value: serde_json::Value =
        serde_json::from_str(&request.to_json()).expect("it is JSON");
    for (key, given) in [("stride_bytes", "65536"), ("cursor", "\"own\"")] {
        let mut value = value.clone();
        value["jobs"][0]["workload"][key] = serde_json::from_str(given).expect("JSON");
        let error = Request::from_json(&value.to_string()).expect_err(key);
        let expected_text = format!("job `reads`: `{key}` does not belong to the pattern `random`");
        assert_eq!(error.to_string(), expected_text);
    }
    value["operations_max_per_thread"] = 0.into();
    let error = Request::from_json(&value.to_string()).expect_err("nothing to do");
    assert!(
        error.to_string().contains("would measure nothing"),
        "{error}"
    );
}
