//! Loads whose figures are known by pencil and paper.

use super::*;
use crate::operation::Operation;

const MS: u64 = 1_000_000;

fn operation(at_ns: u64, kind: Kind, offset: u64, size: u64, latency_ns: u64) -> Operation {
    Operation {
        issued_ns: Some(at_ns),
        completed_ns: Some(at_ns + latency_ns),
        ..Operation::at(at_ns, kind, offset, size)
    }
}

fn observe(operations: &[Operation]) -> Observation {
    let mut statistics = Statistics::default();
    for operation in operations {
        statistics.add(operation);
    }
    statistics.finish(Some(1_000 * MS))
}

#[test]
fn rates_depth_sizes_and_shares() {
    // 100 sequential reads of 4 KiB that take 5 ms, one every 10 ms: half in flight.
    let mut all: Vec<Operation> = (0..100)
        .map(|k| operation(7 + k * 10 * MS, Kind::Read, k * 4_096, 4_096, 5 * MS))
        .collect();
    // And 50 random writes of 8 KiB that take 2 ms.
    all.extend((0..50).map(|k| {
        let at = 7 + k * 20 * MS;
        operation(at, Kind::Write, (k * 7_919 % 1_000) << 20, 8_192, 2 * MS)
    }));
    all.push(operation(8, Kind::Sync, 0, 0, MS));
    all.sort_by_key(|one| one.arrived_ns);
    let observation = observe(&all);
    let device = &observation.devices[0];
    let reads = device.kind(Kind::Read);
    assert_eq!((reads.operations, reads.bytes), (100, 409_600));
    assert_eq!(reads.iops(observation.observed_ns), Some(100.0));
    assert_eq!(reads.bytes_per_s(observation.observed_ns), Some(409_600.0));
    let p99 = reads.latency_ns.percentile(99.0).unwrap();
    assert!(p99.abs_diff(5 * MS) < 5 * MS / 512);
    assert_eq!(device.depth_mean, Some(0.5 + 0.1 + 0.001));
    // All reads but the first; no write.
    assert_eq!(device.sequential_share, Some(99.0 / 150.0));
    let sizes: Vec<_> = device
        .sizes
        .iter()
        .map(|one| (one.size_bytes, one.operations))
        .collect();
    assert_eq!(sizes, [(4_096, 100), (8_192, 50)]);
    assert_eq!(device.operations(), 151);
}

#[test]
fn a_trace_whose_latest_rows_come_first_lasts_as_long() {
    let mut statistics = Statistics::default();
    for k in (0..100).rev() {
        statistics.add(&operation(k * 1_000 * MS, Kind::Read, k * 4_096, 4_096, MS));
    }
    let observation = statistics.finish(None);
    assert_eq!(observation.observed_ns, 99_001 * MS);
}

#[test]
fn what_is_in_flight_at_the_end_counts_until_then() {
    let open = Operation::at(250 * MS, Kind::Write, 0, 512);
    let observation = observe(&[operation(0, Kind::Read, 0, 512, 0), open]);
    assert_eq!(observation.devices[0].depth_mean, Some(0.75));
    // If no completion is known, nothing is reported.
    let observation = observe(&[open]);
    assert_eq!(observation.devices[0].depth_mean, None);
    assert!(observation.devices[0].kinds[0].iops(0).is_none());
}

#[test]
fn each_task_is_counted_by_itself_and_the_busiest_comes_first() {
    let by = |task: usize, kind: Kind, at: u64| Operation {
        task: TaskId::from_index(task),
        ..operation(at, kind, 0, 512, 10)
    };
    let all = [
        by(5, Kind::Read, 1),
        by(9, Kind::Write, 2),
        by(9, Kind::Read, 3),
    ];
    let observation = observe(&all);
    let tasks = &observation.devices[0].tasks;
    assert_eq!(tasks[0].task, TaskId::from_index(9));
    assert_eq!(tasks[0].operations, [1, 1, 0, 0]);
    assert_eq!(tasks[1].bytes, [512, 0, 0, 0]);
    assert_eq!(tasks[0].latency_ns.as_ref().unwrap().count(), 2);
}

#[test]
fn floods_of_devices_tasks_and_sizes_are_counted_together() {
    let mut statistics = Statistics::default();
    for k in 0..5_000u32 {
        let one = operation(u64::from(k), Kind::Read, 0, u64::from(k) * 512, 10);
        statistics.add(&Operation {
            device: DeviceNumber {
                major: 8,
                minor: k % 1_000,
            },
            task: TaskId::from_index(k as usize),
            ..one
        });
        statistics.add(&Operation {
            task: TaskId::from_index(k as usize),
            ..one
        });
    }
    let observation = statistics.finish(None);
    assert!(observation.devices.len() <= 129);
    let all: u64 = observation
        .devices
        .iter()
        .map(DeviceObservation::operations)
        .sum();
    assert_eq!(all, 10_000);
    let first = &observation.devices[0];
    assert_eq!((first.sizes.len(), first.other_sizes), (256, 5_000 - 256));
    assert!(first.tasks.len() <= 1_025);
}

#[test]
fn a_timeline_grows_and_shows_its_slow_moments() {
    let mut timeline = Timeline::default();
    for k in 0..4_000u64 {
        let latency = if (2_000..2_010).contains(&k) {
            90 * MS
        } else {
            MS
        };
        timeline.add(k * 100 * MS, 512, Some(latency));
    }
    // 400 s do not fit in 1,024 bins of 100 ms, nor of 200.
    assert_eq!(
        (timeline.width_ns(), timeline.bins().len()),
        (400 * MS, 1_000)
    );
    assert!(timeline.bins().iter().all(|moment| moment.operations == 4));
    let slow = timeline.slow_moments(2);
    assert_eq!(slow.len(), 2);
    assert_eq!(
        (slow[0].0, slow[0].1.latency_ns_max),
        (200_000 * MS, 90 * MS)
    );
    assert_eq!(timeline.slow_moments(9).len(), 3);
    timeline.add(u64::MAX, 0, None);
    assert!(timeline.bins().len() <= 1_024);
}
