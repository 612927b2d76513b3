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
