//! Real engines on a real file: every operation lands where the stream says.

use crate::common::*;
use std::collections::HashSet;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicU8;
use stripewise_io_engine::backend::linux_io_uring::Uring;
use stripewise_io_engine::backend::portable_threads::Threads;
use stripewise_io_engine::{Engine, ErrorKind, Kind};
use stripewise_runner::drive::real::{self, RealJob};
use stripewise_runner::{AsPlanned, Error, RunPlan, RunTotals, StopReason};
use stripewise_workload::{CursorKind, Pattern, SyncPolicy, Workload};

const BLOCKS: u64 = 256;

/// Writes each block of a fresh file once, with syncs between.
fn write_once<E: Engine + 'static>() -> Result<(RunTotals, Vec<u8>), Error> {
    let mut file = tempfile::NamedTempFile::new().expect("there is room for 2 MiB");
    file.write_all(&vec![0; (BLOCKS * 8192) as usize])
        .expect("there is room for 2 MiB");
    let workload = Workload {
        read_percent: 0,
        outstanding: 4,
        threads: 2,
        pattern: Pattern::Sequential {
            cursor: CursorKind::Shared,
        },
        sync: Some(SyncPolicy::fdatasync(16)),
        ..workload()
    };
    let mut plan = job(workload);
    plan.spans[0].blocks = BLOCKS;
    let opened = File::options().read(true).write(true).open(file.path());
    let job = RealJob {
        plan,
        files: vec![Arc::new(opened.expect("it was just made"))],
        register_buffers: true,
        faults: None,
        hand_overs: None,
        checks: None,
    };
    let plan = RunPlan {
        operations_max_per_thread: Some(BLOCKS / 2),
        ..crate::common::plan(u64::MAX)
    };
    let none = AtomicU8::new(0);
    let totals = real::run::<E>(&[job], &[], &plan, &mut AsPlanned, &mut (), &none)?;
    Ok((
        totals,
        std::fs::read(file.path()).expect("it is still there"),
    ))
}

fn check(totals: &RunTotals, bytes: &[u8]) {
    assert_eq!(totals.stop_reason, StopReason::Operations);
    let counts = &totals.jobs[0].counts;
    assert_eq!(counts.errors.total(), 0, "{:?}", counts.errors);
    let writes = counts.kind(Kind::Write);
    assert_eq!((writes.operations, writes.bytes), (BLOCKS, BLOCKS * 8192));
    // The last syncs may fall due when the threads have nothing more to do.
    let syncs = counts.kind(Kind::Sync).operations;
    assert!((12..=16).contains(&syncs), "{syncs} syncs");
    assert_eq!(bytes.len() as u64, BLOCKS * 8192, "nothing past the end");
    let unique: HashSet<&[u8]> = bytes.chunks(4096).collect();
    assert_eq!(
        unique.len() as u64,
        BLOCKS * 2,
        "no 4 KiB twice, none left out"
    );
}

#[test]
fn the_threads_engine_writes_each_block_once() {
    let (totals, bytes) = write_once::<Threads>().expect("it works everywhere");
    check(&totals, &bytes);
}

#[test]
fn io_uring_writes_each_block_once() {
    match write_once::<Uring>() {
        Ok((totals, bytes)) => check(&totals, &bytes),
        Err(Error::Open { source, .. }) if source.kind == ErrorKind::Unsupported => {
            skip("io_uring_writes_each_block_once", "io_uring");
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn reads_past_the_end_of_the_file_are_short_and_counted() {
    let mut file = tempfile::NamedTempFile::new().expect("there is room");
    file.write_all(&[1; 12_288]).expect("there is room");
    let mut plan = job(workload());
    // Block 0 is there, block 1 is half there.
    plan.spans[0].blocks = 2;
    let job = RealJob {
        plan,
        files: vec![Arc::new(File::open(file.path()).expect("it is there"))],
        register_buffers: false,
        faults: None,
        hand_overs: None,
        checks: None,
    };
    let plan = RunPlan {
        operations_max_per_thread: Some(1_000),
        ..crate::common::plan(u64::MAX)
    };
    let none = AtomicU8::new(0);
    let totals = real::run::<Threads>(&[job], &[], &plan, &mut AsPlanned, &mut (), &none)
        .expect("it works everywhere");
    let counts = &totals.jobs[0].counts;
    assert_eq!(counts.operations() + counts.errors.total(), 1_000);
    let entries = counts.errors.entries();
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].failure, stripewise_runner::Failure::Short);
    assert_eq!(entries[0].first_offset_bytes, 8_192);
    assert!((400..600).contains(&entries[0].count), "{:?}", entries[0]);
}
