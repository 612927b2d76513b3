//! The drivers ask the same workers: the same operations in the same order.

use crate::arrays::Scripted;
use crate::common::*;
use crate::engines::{LOGS, Recorded};
use std::sync::atomic::AtomicU8;
use stripewise_io_engine::{Kind, Operation};
use stripewise_runner::drive::{real, virtual_time};
use stripewise_runner::{AsPlanned, RunPlan, StopReason};
use stripewise_workload::{
    CursorKind, DataPattern, Distribution, Pattern, SyncPolicy, Workload, derived_seed,
};

/// Kind, offset and length of what the virtual driver issues.
fn virtual_operations(workload: &Workload, plan: &RunPlan) -> Vec<(Kind, u64, u32)> {
    let array = Scripted::new(1_000);
    let log = array.log.clone();
    simulate(workload.clone(), array, plan);
    let log = log.borrow();
    let requests = log.requests.iter().map(|(_, request)| request);
    requests
        .map(|request| (request.kind, request.offset_bytes, request.length_bytes))
        .collect()
}

#[test]
fn null_engine_and_simulated_array_see_identical_operations() {
    let base = Workload {
        outstanding: 4,
        read_percent: 70,
        data: DataPattern::default(),
        ..workload()
    };
    let sequential = Pattern::Sequential {
        cursor: CursorKind::Own,
    };
    let skewed = Pattern::Random {
        distribution: Distribution::Zipf { theta: 0.9 },
    };
    let cases = [
        base.clone(),
        Workload {
            pattern: sequential,
            seed: 42,
            ..base.clone()
        },
        Workload {
            pattern: skewed,
            read_percent: 100,
            ..base.clone()
        },
        // One outstanding: when a sync falls due depends on completions.
        Workload {
            sync: Some(SyncPolicy::fdatasync(3)),
            outstanding: 1,
            ..base
        },
    ];
    let plan = RunPlan {
        operations_max_per_thread: Some(5_000),
        ..plan(u64::MAX)
    };
    for workload in cases {
        let expected = virtual_operations(&workload, &plan);
        let totals = run_real::<Recorded<0>>(workload.clone(), &plan);
        let seen = std::mem::take(&mut *LOGS[0].lock().expect("not poisoned"));
        let seen: Vec<_> = (seen.iter())
            .map(|o: &Operation| (o.kind, o.offset_bytes, o.length_bytes))
            .collect();
        assert_eq!(totals.stop_reason, StopReason::Operations);
        assert_eq!(totals.jobs[0].counts.operations(), 5_000);
        assert!(seen == expected, "{workload:?}");
    }
}

#[test]
fn each_file_of_a_job_has_the_stream_of_a_seed_of_its_own() {
    let workload = Workload {
        read_percent: 50,
        seed: 7,
        ..workload()
    };
    let mut job = simulated_job(workload.clone(), 0);
    job.plan.spans = vec![job.plan.spans[0]; 3];
    job.arrays = vec![0, 1, 2];
    let mut arrays = [1_000, 1_000, 1_000].map(Scripted::new);
    let (plan, none) = (plan(10 * MS), AtomicU8::new(0));
    let totals = virtual_time::run(&[job], &mut arrays, &plan, &mut AsPlanned, &mut (), &none);
    assert!(totals.is_ok());
    for (file, array) in (0..).zip(&arrays) {
        let alone = Workload {
            seed: derived_seed(7, file),
            ..workload.clone()
        };
        let expected = virtual_operations(&alone, &plan);
        let log = array.log.borrow();
        let seen = log.requests.iter().map(|(_, request)| request);
        let seen: Vec<_> = seen
            .map(|request| (request.kind, request.offset_bytes, request.length_bytes))
            .collect();
        assert!(seen.len() > 9_000);
        assert!(seen == expected, "file {file}");
    }
}

#[test]
fn the_short_path_issues_what_the_long_one_does() {
    // Without a limit of operations the worker takes the short path.
    let workload = Workload {
        outstanding: 8,
        read_percent: 40,
        ..workload()
    };
    let limited = RunPlan {
        operations_max_per_thread: Some(20_000),
        ..plan(u64::MAX)
    };
    let long = virtual_operations(&workload, &limited);
    let short = virtual_operations(&workload, &plan(10 * MS));
    assert!(short.len() > 9_000 && long.len() == 20_000);
    assert!(long.starts_with(&short));
}

#[test]
fn threads_on_a_shared_cursor_touch_every_block_once_in_a_cycle() {
    let workload = Workload {
        pattern: Pattern::Sequential {
            cursor: CursorKind::Shared,
        },
        threads: 4,
        outstanding: 3,
        ..workload()
    };
    let mut job = real_job(workload.clone());
    job.plan.spans[0].blocks = 8_000;
    let plan = RunPlan {
        operations_max_per_thread: Some(2_000),
        ..plan(u64::MAX)
    };
    let none = AtomicU8::new(0);
    real::run::<Recorded<1>>(&[job.clone()], &[], &plan, &mut AsPlanned, &mut (), &none)
        .expect("the engine opens");
    let operations = std::mem::take(&mut *LOGS[1].lock().expect("not poisoned"));
    let mut blocks: Vec<u64> = operations.iter().map(|o| o.offset_bytes / 8192).collect();
    blocks.sort_unstable();
    assert!(blocks.iter().copied().eq(0..8_000));
}

#[test]
fn the_base_offset_moves_operations_and_nothing_else() {
    let run = |start_bytes: u64| {
        let array = Scripted::new(1_000);
        let log = array.log.clone();
        let mut job = simulated_job(workload(), 0);
        job.plan.spans[0].start_bytes = start_bytes;
        let none = AtomicU8::new(0);
        stripewise_runner::drive::virtual_time::run(
            &[job],
            &mut [array],
            &plan(MS),
            &mut AsPlanned,
            &mut (),
            &none,
        )
        .expect("the plan is sound");
        let log = log.borrow();
        let offsets = log
            .requests
            .iter()
            .map(|(_, r)| r.offset_bytes - start_bytes);
        offsets.collect::<Vec<u64>>()
    };
    assert_eq!(run(0), run(63 * 512));
}
