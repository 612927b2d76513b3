//! A disk that does nothing wrong raises no alarm.

use crate::model::{Disks, Driver, field};
use stripewise_verify::Phase;

#[test]
fn a_disk_without_faults_raises_no_alarm() {
    for seed in 0..40 {
        let (field, workers) = field(24, 4096, 160);
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

/// Failed and short writes leave a block in one state or the other: neither is an alarm.
#[test]
fn failed_and_short_writes_raise_no_alarm() {
    for seed in 0..40 {
        let (_, workers) = field(24, 4096, 160);
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

/// A disk of 125 operations a second, worked on for so many hours of its own time: with
/// failed and short operations among them, read as a whole after each hour.
fn hours(count: u64) {
    const HOUR_NS: u64 = 3_600_000_000_000;
    let (field, workers) = field(48, 4096, 320);
    let mut driver = Driver::new(workers, Disks::new(512 << 10, count));
    driver.service_ns = 4_000_000;
    driver.phase(Phase::Fill, u64::MAX, &mut |_, _, _| None);
    for hour in 1..=count {
        // An hour with a fault in the cable, now and then.
        driver.fail_per_thousand = if hour % 10 == 0 { 1 } else { 0 };
        while driver.now_ns < hour * HOUR_NS {
            driver.phase(Phase::Work, 50_000, &mut |_, _, _| None);
        }
        driver.phase(Phase::Check, u64::MAX, &mut |_, _, _| None);
        assert_eq!(driver.faults(), [], "hour {hour}");
    }
    assert_eq!(field.faults(), 0);
    let each = driver.workers.iter().map(|worker| worker.counts());
    let operations: u64 = each.clone().map(|counts| counts.operations).sum();
    let verified: u64 = each.clone().map(|counts| counts.verified_bytes).sum();
    println!("{count} hours: {operations} operations, {verified} bytes verified, no alarm");
    assert!(operations > count * 400_000, "{operations}");
}

#[test]
fn hours_of_burn_in_raise_no_alarm() {
    hours(1);
}

#[test]
#[ignore = "a hundred hours of a disk's time: `cargo xtask nightly`"]
fn a_hundred_hours_of_burn_in_raise_no_alarm() {
    hours(100);
}
