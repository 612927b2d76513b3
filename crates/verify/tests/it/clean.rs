//! A disk that does nothing wrong raises no alarm.

use crate::model::{Disks, Driver, RUN, Wrong, verify_targets};
use std::sync::Arc;
use stripewise_units::Kind;
use stripewise_verify::{
    Class, Load, Operation, Phase, Plan, Role, VerifyTargets, Worker, WorkerSet,
};

#[test]
fn a_disk_without_faults_raises_no_alarm() {
    for seed in 0..40 {
        let (field, workers) = verify_targets(24, 4096, 160);
        let mut driver = Driver::new(workers, Disks::new(256 << 10, seed));
        driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
        driver.phase(Phase::Work, 3_000, &mut |_, _, _| None);
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        assert_eq!(driver.faults(), [], "seed {seed}");
        assert_eq!(field.faults(), 0);
        let verified: u64 = (driver.workers.iter())
            .map(|worker| worker.counts().verified_bytes)
            .sum();
        assert!(verified > 2 * (24 * 4096 + 160 * 512), "{verified}");
    }
}

/// Through a page cache a read may see a write half done, within a sector, too.
#[test]
fn reads_that_meet_writes_raise_no_alarm() {
    let mut mixed = 0;
    for seed in 0..20 {
        let (_, workers) = verify_targets(24, 4096, 160);
        let mut driver = Driver::new(workers, Disks::new(256 << 10, seed));
        driver.mixes = true;
        driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
        driver.phase(Phase::Work, 3_000, &mut |_, _, _| None);
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        assert_eq!(driver.faults(), [], "seed {seed}");
        mixed += driver.mixed;
    }
    assert!(mixed > 100, "{mixed}");
}

/// Failed and short writes leave a block in one state or the other: neither is an alarm.
#[test]
fn failed_and_short_writes_raise_no_alarm() {
    for seed in 0..40 {
        let (_, workers) = verify_targets(24, 4096, 160);
        let mut driver = Driver::new(workers, Disks::new(256 << 10, seed));
        driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
        driver.fail_per_thousand = 50;
        driver.phase(Phase::Work, 3_000, &mut |_, _, _| None);
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        assert_eq!(driver.faults(), [], "seed {seed}");
        let errors: u64 = driver.workers.iter().map(|one| one.counts().errors).sum();
        assert!(errors > 20, "{errors}");
    }
}

const HOUR_NS: u64 = 3_600_000_000_000;

/// A disk of 125 operations per second, under load for this many turns of its own time: including
/// failed and short operations, and read completely after each turn.
fn turns(count: u64, turn_ns: u64) {
    let (field, workers) = verify_targets(48, 4096, 320);
    let mut driver = Driver::new(workers, Disks::new(512 << 10, count));
    driver.service_ns = 4_000_000;
    driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
    for turn in 1..=count {
        // With a fault in the cable, now and then.
        driver.fail_per_thousand = if turn % 10 == 0 { 1 } else { 0 };
        while driver.now_ns < turn * turn_ns {
            driver.phase(Phase::Work, 50_000, &mut |_, _, _| None);
        }
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        assert_eq!(driver.faults(), [], "turn {turn}");
    }
    assert_eq!(field.faults(), 0);
    let each = driver.workers.iter().map(|worker| worker.counts());
    let operations: u64 = each.clone().map(|counts| counts.operations).sum();
    let verified: u64 = each.clone().map(|counts| counts.verified_bytes).sum();
    let hours = driver.now_ns as f64 / HOUR_NS as f64;
    println!("{hours:.1} hours: {operations} operations, {verified} bytes verified, no alarm");
    assert!(operations > count * turn_ns / 12_000_000, "{operations}");
}

#[test]
fn minutes_of_burn_in_raise_no_alarm() {
    turns(10, HOUR_NS / 200);
}

#[test]
#[ignore = "a hundred hours of a disk's time: `cargo xtask nightly`"]
fn a_hundred_hours_of_burn_in_raise_no_alarm() {
    turns(100, HOUR_NS);
}

/// Concurrent loads of one type each, as in profiles.
#[test]
fn loads_of_every_kind_raise_no_alarm() {
    let roles: Vec<Load> = [
        (0, 4096, true, true),
        (30, 8192, false, false),
        (100, 65_536, true, false),
    ]
    .into_iter()
    .map(|(read_percent, length_bytes, sequential, durable)| Load {
        role: Role::Uniform {
            read_percent,
            length_bytes,
            sequential,
            durable,
        },
        outstanding: 4,
    })
    .collect();
    let plan = Plan {
        page_bytes: 4096,
        loads: roles,
        log: false,
        scan: true,
        grows: false,
    };
    let mut worker_set = WorkerSet::new(3);
    let layouts = (0..2)
        .map(|target| worker_set.layout(target, 192 << 10, 512, &plan))
        .collect::<Result<Vec<_>, _>>();
    let workers = worker_set.all.len() as u16;
    let field = Arc::new(VerifyTargets::new(
        RUN,
        layouts.expect("room"),
        1_000,
        workers,
    ));
    let worker = |identity| Worker::new(Arc::clone(&field), identity);
    let workers = worker_set.all.into_iter().map(worker).collect();
    let mut driver = Driver::new(workers, Disks::new(192 << 10, 5));
    driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
    driver.fail_per_thousand = 10;
    driver.phase(Phase::Work, 5_000, &mut |_, _, _| None);
    driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
    assert_eq!(driver.faults(), []);
    let mut strike = |operation: &Operation, _: usize, _: &mut Disks| {
        (operation.kind == Kind::Write).then_some(Wrong::Lost)
    };
    driver.fail_per_thousand = 0;
    driver.phase(Phase::Work, 500, &mut strike);
    driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
    assert!(
        !driver.faults().is_empty(),
        "lost writes are found under these loads, too"
    );
}

/// Files of this many bytes, the last sixteenth of which is cut and grows again.
const GROWING_BYTES: u64 = 2 << 20;

/// They are written once.
fn growing(seed: u64) -> Driver {
    let plan = Plan {
        grows: true,
        ..Plan::of_pages(2, 4, 60)
    };
    let mut worker_set = WorkerSet::new(seed);
    let size_bytes = GROWING_BYTES;
    let layouts = (0..2).map(|target| worker_set.layout(target, size_bytes, 512, &plan));
    let layouts = layouts.collect::<Result<Vec<_>, _>>().expect("room");
    let workers = worker_set.all.len() as u16;
    let field = Arc::new(VerifyTargets::new(RUN, layouts, 1_000, workers));
    let worker = |identity| Worker::new(Arc::clone(&field), identity);
    let workers = worker_set.all.into_iter().map(worker).collect();
    let mut driver = Driver::new(workers, Disks::new(size_bytes as usize, seed));
    driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
    driver
}

/// And worked on in three phases.
fn grown(seed: u64, keeps_what_is_cut: bool) -> (Driver, u64) {
    let mut driver = growing(seed);
    driver.disks.keeps_what_is_cut = keeps_what_is_cut;
    for _ in 0..3 {
        driver.phase(Phase::Work, 1_000, &mut |_, _, _| None);
    }
    driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
    let resized = driver.disks.resized;
    (driver, resized)
}

#[test]
fn files_that_are_cut_and_grow_raise_no_alarm_and_end_whole() {
    for seed in 0..3 {
        let (mut driver, resized) = grown(seed, false);
        assert_eq!(driver.faults(), [], "seed {seed}");
        assert!(resized >= 6, "{resized}");
        // Nothing of them is a hole at the end.
        for disk in &driver.disks.bytes {
            let holes = disk
                .chunks(512)
                .filter(|sector| sector.iter().all(|byte| *byte == 0));
            assert_eq!(holes.count(), 0);
        }
    }
}

#[test]
fn what_was_cut_off_and_comes_back_is_found() {
    let mut found = 0;
    for seed in 0..3 {
        let (mut driver, _) = grown(seed, true);
        let faults = driver.faults();
        let names: Vec<Class> = faults.iter().map(|fault| fault.class).collect();
        assert!(
            names.iter().all(|class| *class == Class::LeftOver),
            "{faults:#?}"
        );
        assert!(
            faults
                .iter()
                .all(|fault| fault.expected.what.contains("cut"))
        );
        found += faults.len();
    }
    assert!(found > 3, "{found}");
}

#[test]
fn where_a_fault_was_found_nothing_is_cut_off_any_more() {
    let mut found = 0;
    for seed in 0..8 {
        let mut driver = growing(seed);
        let mut struck = false;
        driver.phase(Phase::Work, 2_000, &mut |operation, _, _| {
            let grows = operation.offset_bytes >= GROWING_BYTES / 16 * 15;
            let strikes = !struck && grows && operation.kind == Kind::Write;
            struck |= strikes;
            strikes.then_some(Wrong::Foreign)
        });
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        for fault in driver.faults() {
            assert_eq!(fault.class, Class::Foreign);
            let at = fault.offset_bytes as usize;
            let there = &driver.disks.bytes[usize::from(fault.target)][at..at + 512];
            assert!(there.iter().any(|byte| *byte != 0), "it was cut off");
            assert!(!there.starts_with(b"STRIPEW"), "it was written again");
            found += 1;
        }
    }
    assert!(found > 0);
}
