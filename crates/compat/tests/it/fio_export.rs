//! Records in fio's JSON: what fio-plot reads is there, and imported again it gives the
//! same numbers.

use crate::tools::FIO;
use serde_json::Value;
use stripewise_compat::{FioExport, import};
use stripewise_results::{
    EngineFacts, Interval, JobOutcome, JobRecord, JobRow, KindOutcome, LatencySummary,
    OperationKind, RunRecord, TargetFacts,
};
use stripewise_workload::{Arrivals, CursorKind, Pattern, Rate, SyncPolicy, ThinkTime, Workload};

fn exported(runs: &[RunRecord], starts: &[i64]) -> (String, Vec<&'static str>) {
    let mut export = FioExport::default();
    let mut text = FioExport::head("0.1.0", 1_795_000_000_123);
    for (run, start) in runs.iter().zip(starts) {
        text.push_str(&export.run(run, Some(*start)));
    }
    text.push_str(FioExport::TAIL);
    (text, export.left_out())
}

fn kind(operations: u64, bytes: u64) -> KindOutcome {
    KindOutcome {
        operations,
        bytes,
        latency_ns: (operations > 0).then_some(LatencySummary {
            min: 70_123,
            mean: 412_345.625,
            p50: 400_000,
            p90: 500_001,
            p95: Some(600_000),
            p99: 900_123,
            p999: Some(1_500_000),
            max: 2_000_321,
        }),
        ..KindOutcome::default()
    }
}

/// A run of 10 s of one job.
fn run(workload: Workload, reads: u64, writes: u64) -> RunRecord {
    let block = workload.block_size_bytes;
    let (read, write) = (kind(reads, reads * block), kind(writes, writes * block));
    let outcome = JobOutcome {
        duration_ns: 10_000_000_000,
        operations: reads + writes,
        bytes: (reads + writes) * block,
        iops: (reads + writes) as f64 / 10.0,
        mib_per_s: ((reads + writes) * block) as f64 / 10.0 / 1_048_576.0,
        intervals: vec![
            Interval {
                duration_ns: 5_000_000_000,
                read_operations: reads / 2,
                write_operations: writes / 2,
                ..Interval::default()
            },
            Interval {
                duration_ns: 5_000_000_000,
                read_operations: reads - reads / 2,
                write_operations: writes - writes / 2,
                ..Interval::default()
            },
        ],
        read,
        write,
        ..JobOutcome::default()
    };
    let job = JobRecord {
        name: "job".to_owned(),
        target: TargetFacts {
            name: "/data/a:b".to_owned(),
            ..TargetFacts::unknown()
        },
        workload,
        engine: EngineFacts {
            name: "io_uring".to_owned(),
            ..EngineFacts::default()
        },
        outcome,
        ..JobRecord::default()
    };
    RunRecord {
        id: "20261126-100000-0001".to_owned(),
        started_at: "2026-11-26T10:00:00.000Z".to_owned(),
        jobs: vec![job],
        ..RunRecord::empty()
    }
}

#[test]
fn imported_again_it_gives_the_same_numbers() {
    let load = |read_percent: u8| Workload {
        read_percent,
        threads: 4,
        outstanding: 8,
        ..Workload::default()
    };
    let sequential = Workload {
        pattern: Pattern::Sequential {
            cursor: CursorKind::Own,
        },
        block_size_bytes: 65_536,
        ramp_ns: 1_500_000_000,
        size_bytes: Some(1 << 30),
        base_offset_bytes: 1 << 20,
        sync: Some(SyncPolicy::fdatasync(1)),
        ..load(0)
    };
    let slow = Workload {
        rate: Some(Rate {
            iops: 2_000.0,
            arrivals: Arrivals::Poisson,
        }),
        ..load(100)
    };
    let thinks = Workload {
        think_time: Some(ThinkTime {
            pause_ns: 2_000_000,
            every: 4,
        }),
        ..load(100)
    };
    let runs = [
        run(load(100), 20_000, 0),
        run(load(70), 14_000, 6_000),
        run(sequential, 0, 20_000),
        run(slow, 20_000, 0),
        run(thinks, 20_000, 0),
    ];
    let starts: Vec<i64> = (0..5).map(|at| 1_795_000_000_000 + at * 20_000).collect();
    let (text, left_out) = exported(&runs, &starts);
    assert!(left_out.iter().any(|what| what.contains("open loop")));
    let file = import(text.as_bytes(), "x").unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(file.runs.len(), runs.len(), "{text}");
    for (found, wanted) in file.runs.iter().zip(&runs) {
        let (of, to) = (&found.jobs[0].outcome, &wanted.jobs[0].outcome);
        let counts = |outcome: &JobOutcome| {
            let kinds = [&outcome.read, &outcome.write];
            kinds.map(|kind| (kind.operations, kind.bytes, kind.latency_ns))
        };
        assert_eq!(counts(of), counts(to));
        assert_eq!((of.operations, of.bytes), (to.operations, to.bytes));
        assert_eq!(of.duration_ns, to.duration_ns);
        assert!((of.iops - to.iops).abs() < 1e-6);
        // fio's rate of bytes is a whole number.
        assert!((of.mib_per_s - to.mib_per_s).abs() * 1_048_576.0 < 1.5);
        let (is, was) = (&found.jobs[0].workload, &wanted.jobs[0].workload);
        let row = JobRow {
            run: found,
            job: &found.jobs[0],
        };
        assert_eq!(row.operation(), Some(was.operation_name()));
        assert_eq!(row.pattern(), Some(wanted.jobs[0].pattern_name()));
        assert_eq!((row.threads(), row.outstanding()), (Some(4), Some(8)));
        assert_eq!(row.block_size_bytes(), Some(was.block_size_bytes));
        assert_eq!((row.cache(), is.rate), (Some(was.cache), was.rate));
        assert_eq!((is.sync, is.think_time), (was.sync, was.think_time));
        assert_eq!((is.ramp_ns, is.size_bytes), (was.ramp_ns, was.size_bytes));
        assert_eq!(is.base_offset_bytes, was.base_offset_bytes);
        assert_eq!(row.target_names(), "/data/a:b");
    }
}

#[test]
fn it_has_what_programs_look_for() {
    let (text, _) = exported(&[run(Workload::default(), 20_000, 0)], &[1_795_000_000_000]);
    let document: Value = serde_json::from_str(&text).unwrap();
    let job = &document["jobs"][0];
    for path in [
        "/job options/rw",
        "/job options/bs",
        "/job options/iodepth",
        "/job options/numjobs",
        "/read/iops",
        "/read/bw",
        "/read/iops_stddev",
        "/read/lat_ns/mean",
        "/read/clat_ns/percentile/99.000000",
        "/write/total_ios",
        "/trim/total_ios",
        "/usr_cpu",
    ] {
        assert!(job.pointer(path).is_some(), "{path}: {text}");
    }
    assert!(
        document["fio version"]
            .as_str()
            .unwrap()
            .starts_with("fio-3.")
    );
    assert_eq!(job["job options"]["filename"], "/data/a\\:b");
}

#[test]
fn what_an_imported_result_does_not_say_is_not_said() {
    let file = import(FIO.as_bytes(), "x").unwrap();
    let starts = [1_795_000_000_000, 1_795_000_100_000];
    let (text, _) = exported(&file.runs, &starts);
    let again = import(text.as_bytes(), "x").unwrap();
    assert_eq!(again.runs.len(), file.runs.len());
    for (found, wanted) in again.runs.iter().zip(&file.runs) {
        for (of, to) in found.jobs.iter().zip(&wanted.jobs) {
            assert_eq!(of.outcome.read.operations, to.outcome.read.operations);
            assert_eq!(of.outcome.read.latency_ns, to.outcome.read.latency_ns);
            assert_eq!(of.outcome.write.latency_ns, to.outcome.write.latency_ns);
        }
    }
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(document["jobs"][0].get("usr_cpu").is_none());
    assert!(
        document["jobs"][0]["read"]["lat_ns"]
            .get("stddev")
            .is_none()
    );
}

/// With `group_reporting`, readers and writers are one job.
#[test]
fn reads_that_took_longer_than_writes_have_their_own_rates() {
    let text = include_str!("../data/fio-same-run.json");
    let mut document: Value = serde_json::from_str(text).unwrap();
    let write = &mut document["jobs"][0]["write"];
    write["runtime"] = 100.into();
    write["iops"] = 4590.0.into();
    write["bw_bytes"] = 18_800_640.into();
    write["bw"] = 18_360.into();
    let file = import(format!("{document:#}\n").as_bytes(), "x").unwrap();
    let (again, _) = exported(&file.runs[..1], &[1_795_000_000_000]);
    let again = import(again.as_bytes(), "x").unwrap();
    for file in [file, again] {
        let run = &file.runs[0];
        let row = JobRow {
            run,
            job: &run.jobs[0],
        };
        assert_eq!(row.iops_of(OperationKind::Write), Some(4590.0));
        let mib = row.mib_per_s_of(OperationKind::Write).unwrap();
        assert!((mib - 4590.0 / 256.0).abs() < 1e-5, "{mib}");
        let reads = row.iops_of(OperationKind::Read).unwrap();
        assert!((reads - 1077.0 / 0.161).abs() < 1e-3, "{reads}");
    }
}
