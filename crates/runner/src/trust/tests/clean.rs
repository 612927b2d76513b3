//! Evidence of a run without reproach, and hands to change it.

use crate::trust::Evidence;
use stripewise_disk_inspect::storage::{BlockDevice, FileLayout, FileSystem, Loop, Queue, Storage};
use stripewise_machine::Throttle;
use stripewise_machine::content::Content;
use stripewise_machine::observe::{DeviceObserved, FileObserved, InFlight, Observed};
use stripewise_results::{
    EngineFacts, HostFacts, Interval, JobOutcome, KindOutcome, OpenLoop, TargetFacts, TargetKind,
};
use stripewise_targets::DataFacts;
use stripewise_units::DeviceNumber;
use stripewise_workload::{Arrivals, Rate, Workload};

pub const GIB: u64 = 1 << 30;
pub const SECOND_NS: u64 = 1_000_000_000;

/// A dense file of incompressible data on ext4 on a quiet SSD of 1 TiB; 20 s of
/// random 8K reads at 8 outstanding, 2,000 a second, 4 ms each.
pub fn clean() -> Evidence {
    let target = TargetFacts {
        kind: TargetKind::File,
        name: "/data/file".into(),
        path: None,
        size_bytes: 200 * GIB,
        partition_offset_bytes: Some(0),
        logical_sector_bytes: 512,
        physical_sector_bytes: Some(4096),
        file_system: None,
        device: None,
        simulation: None,
    };
    let workload = Workload {
        outstanding: 8,
        duration_ns: 20 * SECOND_NS,
        ..Workload::default()
    };
    let engine = EngineFacts {
        name: "io_uring".into(),
        requested: "auto".into(),
        ..EngineFacts::default()
    };
    let mut evidence = Evidence::new(target, workload, engine, outcome());
    evidence.host = HostFacts {
        cpu: stripewise_results::CpuFacts {
            count: 4,
            ..Default::default()
        },
        memory_bytes: Some(16 * GIB),
        ..HostFacts::default()
    };
    evidence.storage = Some(storage());
    evidence.data = Some(DataFacts {
        layout: Some(FileLayout {
            size_bytes: 200 * GIB,
            allocated_bytes: 200 * GIB,
            extents: 40,
            ..FileLayout::default()
        }),
        content: Content {
            blocks: 1024,
            ..Content::default()
        },
    });
    evidence.observed = Some(observed());
    evidence.in_flight = vec![
        InFlight {
            reads: 8,
            writes: 0
        };
        20
    ];
    evidence
}

fn outcome() -> JobOutcome {
    JobOutcome {
        duration_ns: 20 * SECOND_NS,
        operations: 40_000,
        bytes: 40_000 * 8192,
        iops: 2_000.0,
        mib_per_s: 15.6,
        read: KindOutcome {
            operations: 40_000,
            bytes: 40_000 * 8192,
            ..KindOutcome::default()
        },
        outstanding_mean: 8.0,
        cpu_user_ns_per_operation: 300.0,
        cpu_system_ns_per_operation: 5_000.0,
        intervals: (0..20).map(|index| interval(index, 2_000)).collect(),
        ..JobOutcome::default()
    }
}

fn interval(index: u64, read_operations: u64) -> Interval {
    Interval {
        start_ns: index * SECOND_NS,
        duration_ns: SECOND_NS,
        read_operations,
        bytes: read_operations * 8192,
        ..Interval::default()
    }
}

pub fn rates(evidence: &mut Evidence, of: impl Fn(u64) -> u64) {
    evidence.outcome.intervals = (0..20).map(|index| interval(index, of(index))).collect();
}

/// A level rate with these mean latencies.
pub fn latencies(evidence: &mut Evidence, of: impl Fn(u64) -> u64) {
    rates(evidence, |_| 2_000);
    for (index, interval) in (0..).zip(&mut evidence.outcome.intervals) {
        interval.latency_ns_mean = of(index) as f64;
    }
}

pub fn disk() -> BlockDevice {
    BlockDevice {
        number: DeviceNumber { major: 8, minor: 0 },
        name: "sda".into(),
        size_bytes: 1024 * GIB,
        queue: Queue {
            rotational: Some(false),
            nr_requests: Some(256),
            hardware_queues: Some(1),
            queue_depth: Some(64),
            write_cache: Some("write through".into()),
            counts_operations: Some(true),
            ..Queue::default()
        },
        ..BlockDevice::default()
    }
}

fn storage() -> Storage {
    Storage {
        file_system: Some(FileSystem {
            kind: "ext4".into(),
            mount_point: "/data".into(),
            allocation_unit_bytes: Some(4096),
            ..FileSystem::default()
        }),
        devices: vec![disk()],
        offset: None,
    }
}

fn observed() -> Observed {
    Observed {
        elapsed_ns: 21 * SECOND_NS,
        cpu_busy_ns: 4 * SECOND_NS,
        cpu_idle_ns: 80 * SECOND_NS,
        own_cpu_user_ns: SECOND_NS,
        own_cpu_system_ns: SECOND_NS,
        thermal_throttles: Some(0),
        on_mains_before: Some(true),
        on_mains_after: Some(true),
        governor_before: Some("performance".into()),
        governor_after: Some("performance".into()),
        devices: vec![DeviceObserved {
            number: DeviceNumber { major: 8, minor: 0 },
            name: "sda".into(),
            reads: 42_000,
            read_bytes: 42_000 * 8192,
            weighted_ns: 8 * 21 * SECOND_NS,
            ..DeviceObserved::default()
        }],
        files: vec![FileObserved {
            size_bytes: 200 * GIB,
            cached_bytes_before: Some(0),
            cached_bytes_after: Some(4096),
        }],
        ..Observed::default()
    }
}

/// A limit on the disk of clean evidence.
pub fn throttle() -> Throttle {
    Throttle {
        cgroup: "/slice".into(),
        device: "sda".into(),
        number: DeviceNumber { major: 8, minor: 0 },
        read_iops: Some(2_000),
        ..Throttle::default()
    }
}

pub fn layout(evidence: &mut Evidence) -> &mut FileLayout {
    evidence
        .data
        .as_mut()
        .and_then(|data| data.layout.as_mut())
        .expect("clean evidence has a layout")
}

pub fn content(evidence: &mut Evidence) -> &mut Content {
    &mut evidence
        .data
        .as_mut()
        .expect("clean evidence has data")
        .content
}

pub fn device(evidence: &mut Evidence) -> &mut BlockDevice {
    &mut evidence
        .storage
        .as_mut()
        .expect("clean evidence has storage")
        .devices[0]
}

pub fn file_system(evidence: &mut Evidence) -> &mut FileSystem {
    let storage = evidence
        .storage
        .as_mut()
        .expect("clean evidence has storage");
    storage
        .file_system
        .as_mut()
        .expect("clean evidence has a file system")
}

pub fn observed_mut(evidence: &mut Evidence) -> &mut Observed {
    evidence
        .observed
        .as_mut()
        .expect("clean evidence is observed")
}

pub fn writing(evidence: &mut Evidence) {
    evidence.workload.read_percent = 0;
    evidence.outcome.write = std::mem::take(&mut evidence.outcome.read);
    let device = &mut observed_mut(evidence).devices[0];
    device.writes = std::mem::take(&mut device.reads);
    device.written_bytes = std::mem::take(&mut device.read_bytes);
}

pub fn looped(evidence: &mut Evidence, direct_io: bool) {
    device(evidence).looped = Some(Loop {
        backing_file: "/images/disk.img".into(),
        direct_io: Some(direct_io),
        backing_file_system: Some("ext4".into()),
        ..Loop::default()
    });
}

pub fn open_loop(evidence: &mut Evidence, issued: u64) {
    evidence.workload.rate = Some(Rate {
        iops: 2_500.0,
        arrivals: Arrivals::Fixed,
    });
    evidence.outcome.open_loop = Some(OpenLoop {
        arrivals_due: 50_000,
        arrivals_issued: issued,
        schedule_lag_ns_max: 4 * SECOND_NS,
    });
}

pub fn few(evidence: &mut Evidence, operations: u64) {
    evidence.outcome.operations = operations;
    evidence.outcome.read.operations = operations;
}
