//! What spoils clean evidence, warning by warning, and what nearly does.

use super::clean::*;
use crate::trust::{BytesMoved, Code, Evidence};
use stripewise_disk_inspect::storage::{Array, BlockDevice, BlockDeviceKind, Partition};
use stripewise_machine::Throttle;
use stripewise_machine::observe::{DeviceObserved, InFlight};
use stripewise_results::{
    Drain, DriveReport, KindOutcome, Pause, Severity, SustainedClaim, SustainedRecord, TargetKind,
    VolumeReport,
};
use stripewise_units::DeviceNumber;
use stripewise_workload::{CacheMode, Distribution, Pattern, SyncPolicy};

/// A warning's case.
pub struct Case {
    pub code: Code,
    pub severity: Severity,
    /// What its message must contain.
    pub expected_words: &'static [&'static str],
    pub fires: fn(&mut Evidence),
    pub near_miss: fn(&mut Evidence),
}

fn warm_drive() -> DriveReport {
    DriveReport {
        device: "nvme0n1".to_owned(),
        temperature_celsius: Some(81),
        ..DriveReport::default()
    }
}

/// What a volume reports of a second, limits exceeded in thousandths of it.
fn volume(iops: u64, instance_bandwidth: u64) -> Box<VolumeReport> {
    Box::new(VolumeReport {
        source: "Amazon EBS, NVMe log page 0xD0".to_owned(),
        device: "nvme1n1".to_owned(),
        elapsed_ns: 1_000_000_000,
        volume_iops_exceeded_ns: iops * 1_000_000,
        instance_bandwidth_exceeded_ns: instance_bandwidth * 1_000_000,
        ..VolumeReport::default()
    })
}

/// A pause, in seconds.
fn pause(at: u64, duration: u64) -> Pause {
    Pause {
        at_ns: at * SECOND_NS,
        duration_ns: duration * SECOND_NS,
    }
}

/// Writes that are durable when they complete, half of them within a time.
pub fn pilot(claim: SustainedClaim) -> SustainedRecord {
    SustainedRecord {
        claim,
        absorbed_bytes: None,
        absorbed_iops: None,
        absorbed_mib_per_s: None,
        iops: Some(1_000.0),
        from_bytes: 0,
        from_ns: 0,
        written_bytes: GIB,
        duration_ns: 60_000_000_000,
        needed_ns: None,
        needed_bytes: None,
    }
}

fn durable_writes(e: &mut Evidence, p50_ns: u64) {
    writing(e);
    e.workload.cache = CacheMode::DirectSync;
    device(e).queue.write_cache = Some("write back".into());
    e.outcome.write.operations = 50_000;
    let latency = e.outcome.write.latency_ns.get_or_insert_default();
    latency.p50 = p50_ns;
}

/// Syncs after writes, half of them within a time.
fn synced_writes(e: &mut Evidence, p50_ns: u64) {
    durable_writes(e, 80_000);
    e.workload.cache = CacheMode::Direct;
    e.workload.sync = Some(SyncPolicy::fdatasync(1));
    let mut sync = KindOutcome {
        operations: 50_000,
        ..KindOutcome::default()
    };
    sync.latency_ns.get_or_insert_default().p50 = p50_ns;
    e.outcome.sync = Some(sync);
}

/// The order of writes for an empty drive.
fn one_pass(e: &mut Evidence) {
    writing(e);
    e.workload.pattern = Pattern::Random {
        distribution: Distribution::OnePass { spare_percent: 15 },
    };
}

/// Discards this many GiB in addition.
fn discarded(e: &mut Evidence, gib: u64) {
    e.workload.discard_percent = 10;
    e.outcome.discard = Some(KindOutcome {
        operations: 50_000,
        bytes: gib * GIB,
        ..KindOutcome::default()
    });
}

/// A device on another one on a third, of which the two below have seen nothing.
fn stacked(e: &mut Evidence) {
    let named = |name: &str, minor| {
        let mut device = disk();
        (device.name, device.number.minor) = (name.to_owned(), minor);
        device
    };
    let mut middle = named("sdb", 16);
    middle.below = vec![named("sdc", 32)];
    for below in [&middle, &middle.below[0]] {
        observed_mut(e).devices.push(DeviceObserved {
            number: below.number,
            name: below.name.clone(),
            ..Default::default()
        });
    }
    device(e).below = vec![middle];
}

use Code::*;
use Severity::{Note, Void, Warning};

/// One for every code that rests on one job; more where it has several faces.
pub const CASES: &[Case] = &[
    Case {
        code: SparseFile,
        severity: Void,
        expected_words: &["150 GiB", "200 GiB", "75 %"],
        fires: |e| layout(e).hole_bytes = 150 * GIB,
        near_miss: |e| layout(e).hole_bytes = GIB,
    },
    Case {
        code: SparseFile,
        severity: Warning,
        expected_words: &["40 GiB", "20 %"],
        fires: |e| layout(e).hole_bytes = 40 * GIB,
        near_miss: |e| e.data = None,
    },
    Case {
        code: NeverWritten,
        severity: Void,
        expected_words: &["200 GiB", "100 %"],
        fires: |e| layout(e).unwritten_bytes = 200 * GIB,
        near_miss: |e| layout(e).unwritten_bytes = GIB,
    },
    Case {
        code: ZeroData,
        severity: Void,
        expected_words: &["1000 of 1024"],
        fires: |e| content(e).blocks_zero = 1000,
        near_miss: |e| {
            // Holes say so already.
            content(e).blocks_zero = 1000;
            layout(e).hole_bytes = 196 * GIB;
        },
    },
    Case {
        code: ZeroData,
        severity: Warning,
        expected_words: &["200 of 1024", "20 %"],
        fires: |e| content(e).blocks_zero = 200,
        near_miss: |e| {
            content(e).blocks_zero = 1000;
            writing(e);
        },
    },
    Case {
        code: RepeatingData,
        severity: Warning,
        expected_words: &["512 of 1024", "50 %"],
        fires: |e| content(e).blocks_repeated = 512,
        near_miss: |e| content(e).blocks_repeated = 50,
    },
    Case {
        code: RepeatingData,
        severity: Note,
        expected_words: &["30 %"],
        fires: |e| {
            writing(e);
            e.workload.data.dedupable_percent = 30;
        },
        near_miss: |e| e.workload.data.dedupable_percent = 30,
    },
    Case {
        code: CompressibleData,
        severity: Note,
        expected_words: &["900 of 1024"],
        fires: |e| content(e).blocks_compressible = 900,
        near_miss: |e| content(e).blocks_compressible = 50,
    },
    Case {
        code: CompressibleData,
        severity: Note,
        expected_words: &["60 %"],
        fires: |e| {
            writing(e);
            e.workload.data.compressible_percent = 60;
        },
        near_miss: |e| {
            writing(e);
            content(e).blocks_compressible = 900;
        },
    },
    Case {
        code: DiscardedSpace,
        severity: Warning,
        expected_words: &["1 GiB of 200 GiB", "reads of it need no medium"],
        fires: |e| discarded(e, 1),
        near_miss: |e| e.workload.discard_percent = 10,
    },
    Case {
        code: DiscardedSpace,
        severity: Warning,
        expected_words: &["most discards hit what was discarded already"],
        fires: |e| {
            writing(e);
            e.outcome.write.bytes = 0;
            discarded(e, 201);
        },
        near_miss: |e| writing(e),
    },
    Case {
        code: DiscardedSpace,
        severity: Note,
        expected_words: &["holds nothing", "the next one on it"],
        fires: |e| {
            writing(e);
            discarded(e, 199);
        },
        near_miss: |e| writing(e),
    },
    Case {
        code: PageCache,
        severity: Warning,
        expected_words: &["page cache", "buffered"],
        fires: |e| e.workload.cache = CacheMode::Buffered,
        near_miss: |e| {
            e.workload.cache = CacheMode::BufferedSync;
            writing(e);
        },
    },
    Case {
        code: PageCache,
        severity: Warning,
        expected_words: &["refuses O_DIRECT"],
        fires: |e| {
            e.workload.cache = CacheMode::Buffered;
            e.direct_refused = Some("tmpfs refuses O_DIRECT".into());
        },
        near_miss: |e| e.workload.cache = CacheMode::DirectSync,
    },
    Case {
        code: InMemory,
        severity: Void,
        expected_words: &["/data", "tmpfs"],
        fires: |e| {
            file_system(e).in_memory = true;
            file_system(e).kind = "tmpfs".into();
        },
        near_miss: |e| file_system(e).kind = "xfs".into(),
    },
    Case {
        code: InMemory,
        severity: Warning,
        expected_words: &["sda"],
        fires: |e| device(e).kind = BlockDeviceKind::Memory,
        near_miss: |e| device(e).kind = BlockDeviceKind::Loop,
    },
    Case {
        code: LoopCached,
        severity: Warning,
        expected_words: &["/images/disk.img", "dio=0"],
        fires: |e| looped(e, false),
        near_miss: |e| looped(e, true),
    },
    Case {
        code: DirectIoCached,
        severity: Warning,
        expected_words: &["btrfs", "4 KiB", "512"],
        fires: |e| {
            file_system(e).kind = "btrfs".into();
            e.workload.base_offset_bytes = 512;
        },
        near_miss: |e| file_system(e).kind = "btrfs".into(),
    },
    Case {
        code: DirectIoCached,
        severity: Warning,
        expected_words: &["2.2.6"],
        fires: |e| {
            file_system(e).kind = "zfs".into();
            file_system(e).driver_version = Some("2.2.6-1".into());
        },
        near_miss: |e| {
            file_system(e).kind = "zfs".into();
            file_system(e).driver_version = Some("2.3.0-rc1".into());
        },
    },
    Case {
        code: FileEnteredCache,
        severity: Warning,
        expected_words: &["16 MiB"],
        fires: |e| observed_mut(e).files[0].cached_bytes_after = Some(16 << 20),
        near_miss: |e| {
            // It was cached before the run, by another process, and direct reads go to the disk.
            observed_mut(e).files[0].cached_bytes_before = Some(16 << 20);
            observed_mut(e).files[0].cached_bytes_after = Some(16 << 20);
        },
    },
    Case {
        code: DeviceSawLess,
        severity: Void,
        expected_words: &["sda saw 3.0 % of the bytes"],
        fires: |e| observed_mut(e).devices[0].read_bytes = 40_000 * 8192 * 3 / 100,
        near_miss: |e| observed_mut(e).devices[0].read_bytes = 40_000 * 8192 * 95 / 100,
    },
    Case {
        code: DeviceSawLess,
        severity: Warning,
        expected_words: &["80 %", "written"],
        fires: |e| {
            writing(e);
            observed_mut(e).devices[0].written_bytes = 40_000 * 8192 * 8 / 10;
        },
        near_miss: |e| {
            observed_mut(e).devices[0] = DeviceObserved {
                number: DeviceNumber { major: 8, minor: 0 },
                ..Default::default()
            };
            device(e).queue.counts_operations = Some(false);
        },
    },
    Case {
        code: DeviceSawLess,
        severity: Void,
        expected_words: &["sdb saw 0 %"],
        fires: |e| {
            // A loop device sees everything, the disk behind its cache nothing.
            let mut below = disk();
            (below.name, below.number.minor) = ("sdb".into(), 16);
            device(e).below = vec![below];
            observed_mut(e).devices.push(DeviceObserved {
                number: DeviceNumber {
                    major: 8,
                    minor: 16,
                },
                name: "sdb".into(),
                ..Default::default()
            });
        },
        near_miss: |e| {
            device(e).below = vec![BlockDevice {
                number: DeviceNumber {
                    major: 8,
                    minor: 16,
                },
                ..disk()
            }]
        },
    },
    Case {
        code: DeviceSawLess,
        severity: Void,
        expected_words: &["sdb saw 0 %"],
        fires: |e| {
            // Others read as much of the disk below, and no one else reads the device on top of it.
            stacked(e);
            observed_mut(e).devices[2].read_bytes = 40_000 * 8192;
        },
        near_miss: |e| {
            stacked(e);
            for below in 1..=2 {
                observed_mut(e).devices[below].read_bytes = 40_000 * 8192;
            }
        },
    },
    Case {
        code: SmallerThanCache,
        severity: Warning,
        expected_words: &["200 GiB", "256 GiB"],
        fires: |e| e.cache_size_bytes = Some(256 * GIB),
        near_miss: |e| e.cache_size_bytes = Some(8 * GIB),
    },
    Case {
        code: SmallerThanCache,
        severity: Warning,
        expected_words: &["memory", "16 GiB"],
        fires: |e| {
            e.workload.cache = CacheMode::Buffered;
            e.workload.size_bytes = Some(4 * GIB);
        },
        near_miss: |e| {
            e.workload.size_bytes = Some(4 * GIB);
            e.cache_size_bytes = Some(GIB);
        },
    },
    Case {
        code: SmallerThanCache,
        severity: Warning,
        expected_words: &["memory", "16 GiB"],
        fires: |e| {
            e.workload.cache = CacheMode::Buffered;
            e.workload.size_bytes = Some(4 * GIB);
            e.cache_size_bytes = Some(GIB);
        },
        near_miss: |e| {
            e.workload.cache = CacheMode::Buffered;
            e.workload.size_bytes = Some(4 * GIB);
            e.cache_size_bytes = Some(GIB);
            e.workload.read_percent = 0;
            e.workload.sync = Some(SyncPolicy::fdatasync(1));
        },
    },
    Case {
        code: SmallerThanCache,
        severity: Warning,
        expected_words: &["16 KiB", "256 MiB", "commonly"],
        fires: |e| e.workload.size_bytes = Some(16 << 10),
        near_miss: |e| {
            e.workload.size_bytes = Some(GIB);
            e.cache_size_bytes = Some(GIB / 4);
        },
    },
    Case {
        code: SmallerThanCache,
        severity: Note,
        expected_words: &["4 GiB", "unknown"],
        fires: |e| e.workload.size_bytes = Some(4 * GIB),
        near_miss: |e| e.workload.size_bytes = Some(100 * GIB),
    },
    Case {
        code: NarrowSpan,
        severity: Warning,
        expected_words: &["8 GiB", "1 TiB", "0.8 %"],
        fires: |e| {
            device(e).queue.rotational = Some(true);
            e.workload.size_bytes = Some(8 * GIB);
        },
        near_miss: |e| device(e).queue.rotational = Some(true),
    },
    Case {
        code: NarrowSpan,
        severity: Note,
        expected_words: &["virtual disks often do"],
        fires: |e| {
            device(e).queue.rotational = Some(true);
            e.workload.size_bytes = Some(8 * GIB);
            e.host.virtualization = Some("kvm".into());
        },
        near_miss: |e| e.workload.size_bytes = Some(8 * GIB),
    },
    Case {
        code: OnePassInPart,
        severity: Warning,
        expected_words: &["is a file", "holds a file system"],
        fires: |e| one_pass(e),
        near_miss: |e| writing(e),
    },
    Case {
        code: OnePassInPart,
        severity: Warning,
        expected_words: &["8 GiB of a device of 200 GiB"],
        fires: |e| {
            one_pass(e);
            e.target.kind = TargetKind::Device;
            e.workload.size_bytes = Some(8 * GIB);
        },
        near_miss: |e| {
            one_pass(e);
            e.target.kind = TargetKind::Device;
        },
    },
    Case {
        code: CopyOnWrite,
        severity: Warning,
        expected_words: &["btrfs", "/data"],
        fires: |e| {
            file_system(e).kind = "btrfs".into();
            file_system(e).copy_on_write = true;
            writing(e);
        },
        near_miss: |e| {
            file_system(e).kind = "btrfs".into();
            writing(e);
        },
    },
    Case {
        code: CompressedFileSystem,
        severity: Warning,
        expected_words: &["zstd"],
        fires: |e| file_system(e).compression = Some("zstd".into()),
        near_miss: |e| file_system(e).copy_on_write = true,
    },
    Case {
        code: RemoteFileSystem,
        severity: Note,
        expected_words: &["nfs4"],
        fires: |e| {
            file_system(e).kind = "nfs4".into();
            file_system(e).remote = true;
        },
        near_miss: |e| file_system(e).kind = "xfs".into(),
    },
    Case {
        code: VolatileWriteCache,
        severity: Warning,
        expected_words: &["sda"],
        fires: |e| {
            writing(e);
            device(e).queue.write_cache = Some("write back".into());
        },
        near_miss: |e| {
            writing(e);
            device(e).queue.write_cache = Some("write back".into());
            e.workload.cache = CacheMode::DirectSync;
        },
    },
    Case {
        code: VolatileWriteCache,
        severity: Warning,
        expected_words: &[],
        fires: |e| {
            writing(e);
            device(e).queue.write_cache = Some("write back".into());
        },
        near_miss: |e| {
            writing(e);
            device(e).queue.write_cache = Some("write back".into());
            e.workload.sync = Some(SyncPolicy::fdatasync(8));
        },
    },
    Case {
        code: DurableTooFast,
        severity: Warning,
        expected_words: &["12 µs", "flushes do not reach the disk"],
        fires: |e| durable_writes(e, 12_000),
        near_miss: |e| durable_writes(e, 20_000),
    },
    Case {
        code: DurableTooFast,
        severity: Warning,
        expected_words: &[],
        fires: |e| durable_writes(e, 12_000),
        near_miss: |e| {
            durable_writes(e, 12_000);
            device(e).queue.write_cache = Some("write through".into());
        },
    },
    Case {
        code: DurableTooFast,
        severity: Warning,
        expected_words: &[
            "half of the syncs took 12 µs",
            "flushes do not reach the disk",
        ],
        fires: |e| synced_writes(e, 12_000),
        near_miss: |e| synced_writes(e, 20_000),
    },
    Case {
        code: DurableTooFast,
        severity: Warning,
        expected_words: &[],
        fires: |e| synced_writes(e, 12_000),
        // It is not the writes that end when data is durable.
        near_miss: |e| {
            synced_writes(e, 60_000);
            let latency = e.outcome.write.latency_ns.get_or_insert_default();
            latency.p50 = 12_000;
        },
    },
    Case {
        code: DurableTooFast,
        severity: Warning,
        expected_words: &[],
        fires: |e| durable_writes(e, 3_000),
        near_miss: |e| {
            durable_writes(e, 3_000);
            device(e).name = "pmem0".to_owned();
        },
    },
    Case {
        code: NotSteady,
        severity: Warning,
        expected_words: &["five rounds of 4 s", "%"],
        fires: |e| rates(e, |index| 3_000 - 80 * index),
        near_miss: |e| rates(e, |index| 2_000 + 100 * (index % 2)),
    },
    Case {
        code: NotSteady,
        severity: Warning,
        expected_words: &[],
        fires: |e| rates(e, |index| 500 + 30 * index),
        near_miss: |e| rates(e, |index| 5 + (index * 7) % 11),
    },
    Case {
        code: NotSteady,
        severity: Warning,
        expected_words: &[],
        fires: |e| rates(e, |index| 3_000 - 80 * index),
        near_miss: |e| rates(e, |_| 2_000),
    },
    Case {
        code: NotSteady,
        severity: Warning,
        expected_words: &["the mean latency ranged", "five rounds of 4 s"],
        fires: |e| latencies(e, |index| 100_000 + 5_000 * index),
        // As large, and all of it scatter.
        near_miss: |e| latencies(e, |index| 100_000 + 30_000 * ((index * 7) % 11)),
    },
    Case {
        code: NotSteady,
        severity: Warning,
        expected_words: &[],
        fires: |e| rates(e, |index| 3_000 - 80 * index),
        near_miss: |e| {
            // Rounds of less than a second.
            rates(e, |index| 3_000 - 80 * index);
            e.outcome.duration_ns = 4 * SECOND_NS;
        },
    },
    Case {
        code: StepDown,
        severity: Warning,
        expected_words: &["after 12 s", "3,001", "1,001 IOPS", "67 %"],
        fires: |e| {
            rates(e, |index| {
                if index < 12 {
                    3_000 + index % 3
                } else {
                    1_000 + index % 2
                }
            })
        },
        near_miss: |e| {
            rates(e, |index| {
                if index < 12 {
                    2_000 + index % 3
                } else {
                    1_800 + index % 2
                }
            })
        },
    },
    Case {
        code: NotSustained,
        severity: Void,
        expected_words: &["cache may still absorb", "1 GiB written"],
        fires: |e| {
            writing(e);
            e.sustained = Some(pilot(SustainedClaim::CacheAbsorbs));
        },
        near_miss: |e| e.sustained = Some(pilot(SustainedClaim::AtLeast)),
    },
    Case {
        code: QuickRun,
        severity: Note,
        expected_words: &["results may include caches and burst credit"],
        fires: |e| e.quick = true,
        near_miss: |e| e.interrupted = true,
    },
    Case {
        code: FewOperations,
        severity: Void,
        expected_words: &["no operation"],
        fires: |e| few(e, 0),
        near_miss: |e| few(e, 1_000),
    },
    Case {
        code: FewOperations,
        severity: Warning,
        expected_words: &["99"],
        fires: |e| few(e, 99),
        near_miss: |e| few(e, 9_999),
    },
    Case {
        code: FewOperations,
        severity: Note,
        expected_words: &["100 operations"],
        fires: |e| few(e, 100),
        near_miss: |e| few(e, 10_000),
    },
    Case {
        code: FewForP999,
        severity: Note,
        expected_words: &["10,000", "9,999 reads"],
        fires: |e| few(e, 9_999),
        near_miss: |e| few(e, 10_000),
    },
    Case {
        code: Errors,
        severity: Warning,
        expected_words: &["3 of", "read EIO 3", "offset 4096"],
        fires: |e| {
            e.outcome.errors.total = 3;
            e.outcome.errors.by_reason.insert("read EIO".into(), 3);
            e.outcome.errors.first = Some("EIO at offset 4096".into());
        },
        near_miss: |e| e.outcome.drain.operations = 8,
    },
    Case {
        code: Errors,
        severity: Void,
        expected_words: &["read EAGAIN 40,000"],
        fires: |e| {
            e.outcome.errors.total = 40_000;
            e.outcome
                .errors
                .by_reason
                .insert("read EAGAIN".into(), 40_000);
        },
        near_miss: |_| {},
    },
    Case {
        code: Errors,
        severity: Void,
        expected_words: &["40,000 of 80,000", "50 %"],
        fires: |e| e.outcome.errors.total = 40_000,
        near_miss: |_| {},
    },
    Case {
        code: TargetChanged,
        severity: Void,
        expected_words: &["was cut from 64 MiB to 0 bytes"],
        fires: |e| changed(e, "was cut from 64 MiB to 0 bytes", true),
        near_miss: |e| e.changed = None,
    },
    Case {
        code: TargetChanged,
        severity: Warning,
        expected_words: &["was removed"],
        fires: |e| changed(e, "was removed", false),
        near_miss: |e| e.changed = None,
    },
    Case {
        code: Abandoned,
        severity: Warning,
        expected_words: &["8 operations"],
        fires: |e| e.outcome.drain.abandoned = 8,
        near_miss: |e| e.outcome.drain.operations = 8,
    },
    Case {
        code: ArrivalsNotIssued,
        severity: Warning,
        expected_words: &["10,000 of 50,000", "20 %", "4 s"],
        fires: |e| open_loop(e, 40_000),
        near_miss: |e| open_loop(e, 50_000),
    },
    Case {
        code: ArrivalsNotIssued,
        severity: Note,
        expected_words: &["2 of 50,000"],
        fires: |e| open_loop(e, 49_998),
        near_miss: |_| {},
    },
    Case {
        code: OutstandingBelowAsked,
        severity: Warning,
        expected_words: &["8 in flight", "2.5"],
        fires: |e| e.outcome.outstanding_mean = 2.5,
        near_miss: |e| e.outcome.outstanding_mean = 7.3,
    },
    Case {
        code: OutstandingBelowAsked,
        severity: Warning,
        expected_words: &["16 in flight"],
        fires: |e| e.targets = 2,
        near_miss: |e| {
            e.outcome.outstanding_mean = 2.5;
            open_loop(e, 50_000);
        },
    },
    Case {
        code: DeviceQueueLimit,
        severity: Note,
        expected_words: &["128", "64 commands"],
        fires: |e| {
            e.workload.threads = 16;
            e.outcome.outstanding_mean = 128.0;
        },
        near_miss: |e| {
            e.workload.threads = 8;
            e.outcome.outstanding_mean = 64.0;
        },
    },
    Case {
        code: DeviceDepthBelowAsked,
        severity: Warning,
        expected_words: &["8 in flight", "1.0", "sda"],
        fires: |e| {
            e.in_flight = vec![
                InFlight {
                    reads: 1,
                    writes: 0
                };
                20
            ]
        },
        near_miss: |e| {
            e.in_flight = vec![
                InFlight {
                    reads: 5,
                    writes: 1
                };
                20
            ]
        },
    },
    Case {
        code: DeviceDepthBelowAsked,
        severity: Warning,
        expected_words: &["2.0"],
        fires: |e| {
            e.in_flight.clear();
            observed_mut(e).devices[0].weighted_ns = 2 * 21 * SECOND_NS;
        },
        near_miss: |e| e.in_flight = vec![InFlight::default(); 2],
    },
    Case {
        code: DeviceDepthBelowAsked,
        severity: Warning,
        expected_words: &["1.0"],
        fires: |e| {
            e.in_flight = vec![
                InFlight {
                    reads: 0,
                    writes: 1
                };
                20
            ]
        },
        near_miss: |e| {
            // Sequential operations that were merged on their way.
            e.in_flight = vec![
                InFlight {
                    reads: 1,
                    writes: 0
                };
                20
            ];
            observed_mut(e).devices[0].merges = 30_000;
        },
    },
    Case {
        code: CpuBound,
        severity: Warning,
        expected_words: &["one thread was busy 95 %"],
        fires: |e| e.outcome.cpu_system_ns_per_operation = 475_000.0,
        near_miss: |e| e.outcome.cpu_system_ns_per_operation = 400_000.0,
    },
    Case {
        code: CpuBound,
        severity: Warning,
        expected_words: &["2.0 processors"],
        fires: |e| {
            e.host.cpu.quota = Some(2.0);
            observed_mut(e).own_cpu_system_ns = 41 * SECOND_NS;
        },
        near_miss: |e| observed_mut(e).own_cpu_system_ns = 41 * SECOND_NS,
    },
    Case {
        code: CpuBound,
        severity: Warning,
        expected_words: &["other work"],
        fires: |e| {
            observed_mut(e).cpu_busy_ns = 80 * SECOND_NS;
            observed_mut(e).cpu_idle_ns = SECOND_NS;
        },
        near_miss: |e| {
            observed_mut(e).cpu_busy_ns = 40 * SECOND_NS;
            observed_mut(e).cpu_idle_ns = 40 * SECOND_NS;
        },
    },
    Case {
        code: CpuQuota,
        severity: Warning,
        expected_words: &["0.50 processors", "40 of its 200", "20 %", "3 s"],
        fires: |e| {
            e.host.cpu.quota = Some(0.5);
            (
                observed_mut(e).quota_periods,
                observed_mut(e).quota_periods_throttled,
                observed_mut(e).quota_throttled_ns,
            ) = (200, 40, 3 * SECOND_NS);
        },
        near_miss: |e| {
            (
                observed_mut(e).quota_periods,
                observed_mut(e).quota_periods_throttled,
            ) = (200, 1)
        },
    },
    Case {
        code: CpuSteal,
        severity: Warning,
        expected_words: &["4.5 %"],
        fires: |e| observed_mut(e).cpu_steal_ns = 4 * SECOND_NS,
        near_miss: |e| observed_mut(e).cpu_steal_ns = SECOND_NS,
    },
    Case {
        code: ClockJump,
        severity: Note,
        expected_words: &["back by 2 s"],
        fires: |e| observed_mut(e).wall_clock_jump_ns = -2_000_000_000,
        near_miss: |e| observed_mut(e).wall_clock_jump_ns = -10_000_000,
    },
    Case {
        code: Suspended,
        severity: Void,
        expected_words: &["30 s"],
        fires: |e| observed_mut(e).suspended_ns = 30 * SECOND_NS,
        near_miss: |e| observed_mut(e).suspended_ns = 1_000,
    },
    Case {
        code: ThermalThrottling,
        severity: Warning,
        expected_words: &["12 events"],
        fires: |e| observed_mut(e).thermal_throttles = Some(12),
        near_miss: |e| observed_mut(e).thermal_throttles = None,
    },
    Case {
        code: ThermalThrottling,
        severity: Warning,
        expected_words: &["nvme0n1 slowed itself for heat for 12 s", "81 degrees"],
        fires: |e| {
            e.outcome.drives = vec![DriveReport {
                slowed_s: 12,
                ..warm_drive()
            }]
        },
        near_miss: |e| e.outcome.drives = vec![warm_drive()],
    },
    Case {
        code: PowerSaving,
        severity: Warning,
        expected_words: &["from mains to battery"],
        fires: |e| observed_mut(e).on_mains_after = Some(false),
        near_miss: |e| {
            (
                observed_mut(e).on_mains_before,
                observed_mut(e).on_mains_after,
            ) = (None, None)
        },
    },
    Case {
        code: PowerSaving,
        severity: Warning,
        expected_words: &["performance", "powersave"],
        fires: |e| observed_mut(e).governor_after = Some("powersave".into()),
        near_miss: |e| {
            (
                observed_mut(e).governor_before,
                observed_mut(e).governor_after,
            ) = (None, None)
        },
    },
    Case {
        code: PowerSaving,
        severity: Note,
        expected_words: &["ondemand"],
        fires: |e| {
            (
                observed_mut(e).governor_before,
                observed_mut(e).governor_after,
            ) = (Some("ondemand".into()), Some("ondemand".into()))
        },
        near_miss: |e| {
            (
                observed_mut(e).governor_before,
                observed_mut(e).governor_after,
            ) = (Some("schedutil".into()), Some("schedutil".into()))
        },
    },
    Case {
        code: EngineFallback,
        severity: Note,
        expected_words: &["memlock"],
        fires: |e| {
            e.engine.fallbacks = vec!["buffers are not registered: memlock limit of 64 KiB".into()]
        },
        near_miss: |_| {},
    },
    Case {
        code: EngineFallback,
        severity: Warning,
        expected_words: &["threads", "io_uring_disabled"],
        fires: |e| {
            e.engine.name = "threads".into();
            e.engine.fallbacks = vec!["sysctl kernel.io_uring_disabled is 2".into()];
        },
        near_miss: |e| (e.engine.name, e.engine.requested) = ("threads".into(), "threads".into()),
    },
    Case {
        code: NullEngine,
        severity: Void,
        expected_words: &["not a disk's"],
        fires: |e| e.engine.name = "null".into(),
        near_miss: |e| e.engine.name = "threads".into(),
    },
    Case {
        code: StalledAtEnd,
        severity: Warning,
        expected_words: &["6 s"],
        fires: |e| e.outcome.drain.latency_ns_max = 6_000_000_000,
        near_miss: |e| e.outcome.drain.latency_ns_max = 99_000_000,
    },
    Case {
        code: Errors,
        severity: Warning,
        expected_words: &["3 of the 8", "after the stop", "write at byte 8192: EIO"],
        fires: |e| {
            e.outcome.drain = Drain {
                operations: 8,
                errors: 3,
                first_error: Some("write at byte 8192: EIO".into()),
                ..Drain::default()
            };
        },
        near_miss: |e| e.outcome.drain.operations = 8,
    },
    Case {
        code: Stalled,
        severity: Warning,
        expected_words: &["about 5.50 s", "from 7 s on"],
        fires: |e| {
            rates(e, |second| 2_000 * u64::from(!(7..12).contains(&second)));
            e.outcome.intervals[12].latency_ns_max = 5_500_000_000;
        },
        // An open loop in which nothing was in flight.
        near_miss: |e| {
            rates(e, |second| 2_000 * u64::from(!(7..12).contains(&second)));
            open_loop(e, 50_000);
        },
    },
    // Less than a second is slow.
    Case {
        code: Stalled,
        severity: Warning,
        expected_words: &["about 1 s", "from 7 s on"],
        fires: |e| {
            rates(e, |second| 2_000 * u64::from(second != 7));
            e.outcome.intervals[8].latency_ns_max = 1_000_000_000;
        },
        near_miss: |e| {
            rates(e, |second| 2_000 * u64::from(second != 7));
            e.outcome.intervals[7].duration_ns = 999_000_000;
            e.outcome.intervals[8].latency_ns_max = 999_000_000;
        },
    },
    // Its threads had no processor for as long.
    Case {
        code: Stalled,
        severity: Warning,
        expected_words: &[
            "nothing completed for about 5.50 s",
            "waited 4 s",
            "may not have been the device",
        ],
        fires: |e| {
            rates(e, |second| 2_000 * u64::from(!(7..12).contains(&second)));
            e.outcome.intervals[12].latency_ns_max = 5_500_000_000;
            e.waited_ns = 4_000_000_000;
        },
        near_miss: |e| e.waited_ns = 4_000_000_000,
    },
    Case {
        code: StalledAtEnd,
        severity: Warning,
        expected_words: &[
            "took up to 6 s",
            "waited 4 s",
            "may not have been the device",
        ],
        fires: |e| {
            e.outcome.drain.latency_ns_max = 6_000_000_000;
            e.waited_ns = 4_000_000_000;
        },
        near_miss: |e| e.waited_ns = 4_000_000_000,
    },
    Case {
        code: Paused,
        severity: Note,
        expected_words: &["for 2 s", "after 3 s", "excluded from the rate"],
        fires: |e| e.outcome.pauses = vec![pause(3, 2)],
        near_miss: |e| e.outcome.pauses.clear(),
    },
    Case {
        code: Paused,
        severity: Note,
        expected_words: &["2 times", "5 s in all", "after the stop"],
        fires: |e| e.outcome.pauses = vec![pause(20, 2), pause(21, 3)],
        near_miss: |e| e.outcome.pauses.clear(),
    },
    // The kernel reports that it waited for a processor: it was not stopped.
    Case {
        code: Paused,
        severity: Warning,
        expected_words: &["got no processor for 2 s", "excluded from the rate"],
        fires: |e| {
            e.outcome.pauses = vec![pause(3, 2)];
            e.starved_ns = 1_900_000_000;
        },
        near_miss: |e| e.starved_ns = 1_900_000_000,
    },
    Case {
        code: FaultsInjected,
        severity: Void,
        expected_words: &["on purpose"],
        fires: |e| e.faults_injected = true,
        near_miss: |e| e.faults_injected = false,
    },
    Case {
        code: OtherLoad,
        severity: Warning,
        expected_words: &["sda", "156.3 MiB"],
        fires: |e| observed_mut(e).devices[0].read_bytes = 62_000 * 8192,
        near_miss: |e| {
            // The other jobs of the run account for it.
            observed_mut(e).devices[0].read_bytes = 62_000 * 8192;
            e.moved = Some(BytesMoved {
                read_bytes: 62_000 * 8192,
                written_bytes: 0,
            });
        },
    },
    Case {
        code: OtherLoad,
        severity: Warning,
        expected_words: &["sdb", "wrote 1 GiB"],
        fires: |e| {
            let mut whole = disk();
            (whole.name, whole.number.minor) = ("sdb".into(), 16);
            device(e).partition = Some(Partition::default());
            device(e).below = vec![whole];
            observed_mut(e).devices.push(DeviceObserved {
                number: DeviceNumber {
                    major: 8,
                    minor: 16,
                },
                name: "sdb".into(),
                read_bytes: 42_000 * 8192,
                written_bytes: GIB,
                ..Default::default()
            });
        },
        near_miss: |e| {
            device(e).partition = Some(Partition::default());
            observed_mut(e).devices[0].written_bytes = 4 << 20;
        },
    },
    Case {
        code: OtherLoad,
        severity: Warning,
        expected_words: &["12 operations in flight before"],
        fires: |e| observed_mut(e).devices[0].in_flight_before = 12,
        near_miss: |e| observed_mut(e).devices[0].in_flight_before = 1,
    },
    Case {
        code: ArraySyncing,
        severity: Warning,
        expected_words: &["sda", "resync"],
        fires: |e| {
            device(e).array = Some(Array {
                sync_action: Some("resync".into()),
                ..Array::default()
            })
        },
        near_miss: |e| {
            device(e).array = Some(Array {
                sync_action: Some("idle".into()),
                ..Array::default()
            })
        },
    },
    Case {
        code: IoThrottled,
        severity: Void,
        expected_words: &["/slice", "sda", "2,000 reads/s", "100 %"],
        fires: |e| e.throttles = vec![throttle()],
        near_miss: |e| {
            e.throttles = vec![Throttle {
                read_iops: None,
                write_iops: Some(10),
                ..throttle()
            }]
        },
    },
    Case {
        code: IoThrottled,
        severity: Note,
        expected_words: &["not reached"],
        fires: |e| {
            e.throttles = vec![Throttle {
                read_iops: None,
                read_bytes_per_s: Some(GIB),
                ..throttle()
            }]
        },
        near_miss: |_| {},
    },
    Case {
        code: Throttled,
        severity: Warning,
        expected_words: &[
            "throttled[volume-iops] for 61 % of the run",
            "throttled[instance-bandwidth] for 4.0 % of the run",
            "the volume's IOPS limit",
            "nvme1n1",
        ],
        fires: |e| e.outcome.volume = Some(volume(610, 40)),
        near_miss: |e| e.outcome.volume = Some(volume(0, 0)),
    },
    Case {
        code: Throttled,
        severity: Note,
        expected_words: &[
            "throttled[instance-bandwidth] for 4.0 %",
            "the instance's bandwidth limit",
        ],
        fires: |e| e.outcome.volume = Some(volume(0, 40)),
        near_miss: |_| {},
    },
    Case {
        code: Skipped,
        severity: Note,
        expected_words: &["31.5 KiB", "1 more"],
        fires: |e| e.skipped = vec!["base offset 31.5 KiB".into(), "base offset 512".into()],
        near_miss: |_| {},
    },
];

fn changed(evidence: &mut Evidence, what: &str, cut: bool) {
    evidence.changed = Some(stripewise_targets::Changed {
        what: what.to_owned(),
        cut,
    });
}
