//! Captured and made-up machines.

use crate::machine::Machine;
use std::path::Path;
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind, Storage, Use};
use stripewise_disk_inspect::survey::Request;
use stripewise_disk_inspect::{Error, Inspect, System};
use stripewise_machine::observe::{Counters, Snapshot};
use stripewise_units::DeviceNumber;

const fn number(major: u32, minor: u32) -> DeviceNumber {
    DeviceNumber { major, minor }
}

fn names(storage: &Storage) -> Vec<&str> {
    storage
        .layers()
        .iter()
        .map(|one| one.name.as_str())
        .collect()
}

#[test]
fn a_server_is_described() {
    let machine = Machine::new("server");
    for processor in 0..16 {
        let topology = format!("sys/devices/system/cpu/cpu{processor}/topology");
        let (first, second) = (processor % 8, processor % 8 + 8);
        // Before Linux 5.3 it had another name.
        let list = ["core_cpus_list", "thread_siblings_list"][processor / 8];
        machine.set(&format!("{topology}/{list}"), &format!("{first},{second}"));
        let package = (processor % 8 / 4).to_string();
        machine.set(&format!("{topology}/physical_package_id"), &package);
    }
    let host = machine.system().host();
    assert_eq!((host.cpu.cores.len(), host.cpu.packages), (8, Some(2)));
    assert_eq!(host.cpu.cores[3], [3, 11]);
    let placed = host.cpu.cores_first(&[0, 3, 8, 11, 15]);
    assert_eq!(placed, [0, 3, 15, 8, 11]);
    assert_eq!(host.name, "db01");
    assert_eq!(host.kernel.as_deref(), Some("5.14.0-503.el9.x86_64"));
    assert_eq!(host.cpu.model.as_deref(), Some("Xeon E5-2690"));
    assert_eq!(
        (host.cpu.count_usable, host.cpu.count_online),
        (8, Some(16))
    );
    assert_eq!(host.cpu.governor.as_deref(), Some("powersave"));
    // The quota is an ancestor's.
    let quota = host.cpu.quota.expect("a quota");
    assert_eq!(
        (quota.cgroup.as_str(), quota.processors()),
        ("/system.slice", 2.5)
    );
    assert_eq!(host.memory.total_bytes, Some(65_806_616 * 1024));
    assert_eq!(host.memory.limit_bytes, Some(8 << 30));
    assert_eq!(host.power.on_mains, Some(true));
    // Bare metal of a cloud: DMI names the cloud, the processor no hypervisor.
    assert_eq!((host.hypervisor, host.container), (None, None));
}

#[test]
fn lvm_over_md_over_partitions_is_followed_to_the_disks() {
    let machine = Machine::new("server");
    let storage = machine
        .system()
        .storage_of_path(Path::new("/data/file"))
        .expect("a place");
    assert_eq!(
        names(&storage),
        ["dm-0", "md0", "sdb1", "sdb", "sdc1", "sdc"]
    );
    let bottom: Vec<_> = storage
        .bottom()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(bottom, ["sdb", "sdc"]);
    let file_system = storage.file_system.as_ref().expect("a file system");
    assert_eq!(file_system.kind, "ext4");
    assert_eq!(file_system.mount_point, Path::new("/data"));
    assert_eq!(file_system.options, "rw,noatime,stripe=32");
    let array = storage.layers()[1].array.clone().expect("an array");
    assert_eq!(array.stripe_unit_bytes, Some(65_536));
    assert_eq!(array.sync_action.as_deref(), Some("resync"));
    assert_eq!(storage.devices[0].mapper_name.as_deref(), Some("vg0-data"));
    // Through device mapper the place on the disks is not known from here.
    assert_eq!(storage.offset.expect("an offset").disk, "dm-0");
}

#[test]
fn memory_file_systems_have_no_devices() {
    let machine = Machine::new("server");
    let storage = machine
        .system()
        .storage_of_path(Path::new("/data/run/file"))
        .expect("a place");
    assert!(storage.file_system.expect("a file system").in_memory);
    assert!(storage.devices.is_empty() && storage.offset.is_none());
}

#[test]
fn a_partition_has_its_start_and_its_disks_queue() {
    let system = Machine::new("server");
    let queue = "sys/devices/pci/host0/block/sda/queue";
    system.set(&format!("{queue}/atomic_write_unit_min_bytes"), "4096");
    system.set(&format!("{queue}/atomic_write_unit_max_bytes"), "16384");
    system.set(&format!("{queue}/io_poll"), "1");
    let system = system.system();
    let storage = system
        .storage_of_path(Path::new("/dev/sda1"))
        .expect("a partition");
    let offset = storage.offset.clone().expect("an offset");
    assert_eq!((offset.bytes, offset.disk.as_str()), (63 * 512, "sda"));
    let device = storage.nearest().expect("a device");
    assert_eq!(device.kind, BlockDeviceKind::Partition);
    assert_eq!(device.model.as_deref(), Some("SEAGATE ST9300653SS"));
    let queue = &device.queue;
    assert_eq!(queue.logical_sector_bytes, Some(512));
    assert_eq!(queue.physical_sector_bytes, Some(4096));
    assert_eq!(queue.rotational, Some(true));
    assert_eq!(queue.scheduler.as_deref(), Some("mq-deadline"));
    assert_eq!(
        (queue.nr_requests, queue.queue_depth),
        (Some(256), Some(64))
    );
    assert_eq!(
        (queue.hardware_queues, queue.max_sectors_kib),
        (Some(1), Some(1280))
    );
    assert_eq!(queue.write_cache.as_deref(), Some("write through"));
    assert_eq!(queue.zoned, None);
    assert_eq!(
        queue.atomic_writes().as_deref(),
        Some("atomic writes 4K-16K")
    );
    assert_eq!(queue.polls, Some(true));
    let starts: Vec<u64> = system
        .partitions(number(8, 0))
        .iter()
        .filter_map(|part| part.partition.as_ref())
        .map(|part| part.start_bytes)
        .collect();
    assert_eq!(starts, [63 * 512, 1_000_063 * 512]);
}

#[test]
fn loops_lead_to_what_is_behind_them_and_offsets_add_up_over_devices_only() {
    let machine = Machine::new("server");
    let system = machine.system();
    let over_file = system.storage_of_device(number(259, 0)).expect("loop0p1");
    assert_eq!(names(&over_file)[..4], ["loop0p1", "loop0", "dm-0", "md0"]);
    let offset = over_file.offset.clone().expect("an offset");
    assert_eq!((offset.bytes, offset.disk.as_str()), (2048 * 512, "loop0"));
    let cached = over_file.cached_loop().expect("dio is off");
    let looped = cached.looped.as_ref().expect("a loop");
    assert_eq!(looped.backing_file, Path::new("/data/images/a b.img"));
    assert_eq!(looped.backing_file_system.as_deref(), Some("ext4"));

    let over_device = system.storage_of_device(number(7, 1)).expect("loop1");
    assert_eq!(names(&over_device), ["loop1", "sdc1", "sdc"]);
    assert!(over_device.cached_loop().is_none());
    let offset = over_device.offset.expect("an offset");
    assert_eq!((offset.bytes, offset.disk.as_str()), (2 * 1_048_576, "sdc"));
}

#[test]
fn uses_of_a_disk_are_those_of_its_partitions_too() {
    let machine = Machine::new("server");
    let system = machine.system();
    let mounted = Use::Mounted {
        device: "sda1".into(),
        mount_point: "/".into(),
        file_system: "ext4".into(),
    };
    let swap = Use::Swap {
        name: "/dev/sda2".into(),
    };
    assert_eq!(
        system.uses_of_device(number(8, 0)),
        [mounted.clone(), swap.clone()]
    );
    assert_eq!(system.uses_of_device(number(8, 2)), [swap]);
    assert_eq!(
        system.uses_of_device(number(8, 32)),
        [Use::LoopBacking {
            device: "loop1".into()
        }]
    );
    assert_eq!(
        system.uses_of_device(number(8, 16)),
        [Use::Holder {
            device: "sdb1".into(),
            holder: "md0".into()
        }]
    );
    assert!(matches!(
        &system.uses_of_device(number(253, 0))[..],
        [Use::Mounted { mount_point, .. }] if mount_point == Path::new("/data")
    ));
    assert_eq!(mounted.to_string(), "sda1 is mounted at / (ext4)");
}

#[test]
fn limits_of_version_2_come_from_ancestors_too_and_only_for_the_devices_asked() {
    let machine = Machine::new("server");
    let limits = machine.system().throttles(&[number(8, 16), number(8, 0)]);
    assert_eq!(limits.len(), 1);
    assert_eq!(
        (limits[0].device.as_str(), limits[0].cgroup.as_str()),
        ("sdb", "/system.slice")
    );
    assert_eq!(limits[0].read_bytes_per_s, Some(1_048_576));
    assert_eq!(
        (limits[0].write_bytes_per_s, limits[0].read_iops),
        (None, None)
    );
    assert_eq!(limits[0].write_iops, Some(120));
}

#[test]
fn a_container_is_described() {
    let machine = Machine::new("container");
    let system = machine.system();
    let host = system.host();
    assert_eq!(host.virtualization().as_deref(), Some("kvm/docker"));
    let quota = host.cpu.quota.expect("a quota");
    assert_eq!((quota.cgroup.as_str(), quota.processors()), ("/", 1.5));
    assert_eq!(host.memory.limit_bytes, None);
    assert_eq!(host.cpu.count_usable, 1);
    let limits = system.throttles(&[number(259, 0)]);
    assert_eq!(limits.len(), 1);
    assert_eq!(limits[0].read_iops, Some(1000));
    assert_eq!(limits[0].write_bytes_per_s, Some(10_485_760));
}

#[test]
fn control_groups_are_told_apart_by_what_each_did_itself() {
    let machine = Machine::new("server");
    let system = machine.system();
    let set = |group: &str, text: &str| {
        machine.set(&format!("sys/fs/cgroup/{group}cgroup.procs"), "");
        machine.set(&format!("sys/fs/cgroup/{group}io.stat"), text);
    };
    // A group's numbers include those of the groups inside it.
    set(
        "",
        "8:16 rbytes=500000 wbytes=0 rios=130 wios=20 dbytes=0 dios=0\n",
    );
    set(
        "system.slice/",
        "8:16 rbytes=409600 wbytes=0 rios=100 wios=20\n8:0 rios=7\n",
    );
    set(
        "system.slice/postgresql.service/",
        "8:16 rbytes=368640 wbytes=0 rios=90 wios=20\n",
    );
    set(
        "system.slice/backup.service/",
        "8:16 rbytes=40960 rios=10\n8:0\n\nx y=1\n",
    );
    let mut found: Vec<_> = system
        .io_by_group()
        .into_iter()
        .map(|one| {
            let counts = one.counts;
            (
                one.cgroup,
                one.number.minor,
                counts.reads,
                counts.writes,
                counts.read_bytes,
            )
        })
        .collect();
    found.sort();
    let expected = [
        ("/", 16, 30, 0, 90_400),
        ("/system.slice", 0, 7, 0, 0),
        ("/system.slice/backup.service", 16, 10, 0, 40_960),
        ("/system.slice/postgresql.service", 16, 90, 20, 368_640),
    ];
    let expected = expected
        .map(|(name, minor, reads, writes, bytes)| (name.to_owned(), minor, reads, writes, bytes));
    assert_eq!(found, expected);
}

#[test]
fn control_groups_of_version_1_count_for_themselves() {
    let machine = Machine::new("server");
    machine.set(
        "proc/self/mountinfo",
        "29 21 0:26 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n",
    );
    let set = |group: &str, reads: u64| {
        let folder = format!("sys/fs/cgroup/blkio/{group}");
        machine.set(&format!("{folder}cgroup.procs"), "");
        let serviced = format!("8:16 Read {reads}\n8:16 Write 3\n8:16 Total 9\nTotal 9\n");
        machine.set(&format!("{folder}blkio.throttle.io_serviced"), &serviced);
        let bytes = format!("8:16 Read {}\n8:16 Sync 1\nTotal 1\n", reads * 512);
        machine.set(&format!("{folder}blkio.throttle.io_service_bytes"), &bytes);
    };
    set("", 100);
    set("batch/", 40);
    let mut found = machine.system().io_by_group();
    found.sort_by_key(|one| one.counts.reads);
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].cgroup, "/batch");
    let counts = found[1].counts;
    assert_eq!(
        (counts.reads, counts.writes, counts.read_bytes),
        (100, 3, 51_200)
    );
}

#[test]
fn btrfs_shows_all_its_devices_the_mounted_one_first() {
    let machine = Machine::new("container");
    let system = machine.system();
    let storage = system
        .storage_of_path(Path::new("/var/upper"))
        .expect("a place");
    assert_eq!(names(&storage), ["nvme0n1p1", "nvme0n1", "nvme1n1"]);
    let file_system = storage.file_system.as_ref().expect("a file system");
    assert!(file_system.copy_on_write);
    assert_eq!(file_system.compression.as_deref(), Some("zstd"));
    assert_eq!(storage.offset, None);
    // The second device is in no line of mountinfo.
    assert!(matches!(
        &system.uses_of_device(number(259, 2))[..],
        [Use::Mounted { file_system, .. }] if file_system == "btrfs"
    ));
    let overlaid = system
        .storage_of_path(Path::new("/var/lib/merged/file"))
        .expect("a place");
    assert_eq!(names(&overlaid), ["nvme0n1p1", "nvme0n1", "nvme1n1"]);
}

#[test]
fn snapshots_of_a_tree_differ_by_what_was_changed_in_it() {
    let machine = Machine::new("server");
    let system = machine.system();
    let devices = [number(8, 0), number(8, 16)];
    let before = Snapshot::take(&system, &devices, &[]);
    assert_eq!(before.thermal_throttles, Some(13));
    assert_eq!(
        (before.cgroup.periods_throttled, before.cgroup.throttled_ns),
        (4, 9_500_000)
    );
    let sda = "sys/devices/pci/host0/block/sda";
    machine.set(
        &format!("{sda}/stat"),
        "150 5 4800 20 40 7 400 10 0 30 90 0 0 0 0 5 1",
    );
    machine.set("proc/stat", "cpu  200 0 50 1000 20 0 0 30 0 0\n");
    let observed = before.difference(&Snapshot::take(&system, &devices, &[]));
    // The second device has no statistics, so it is not there.
    assert_eq!(observed.devices.len(), 1);
    let device = &observed.devices[0];
    assert_eq!(
        (device.name.as_str(), device.reads, device.read_bytes),
        ("sda", 50, 2_048_000)
    );
    // A counter that went backwards gives nothing, not nonsense.
    assert_eq!((device.writes, device.flushes), (0, 3));
    assert_eq!((device.in_flight_before, device.in_flight_after), (3, 0));
    assert_eq!(observed.cpu_steal_ns, 30 * 10_000_000);
    let in_flight = system.in_flight(number(8, 0)).expect("in flight");
    assert_eq!((in_flight.reads, in_flight.writes), (2, 1));
}

#[test]
fn hostile_trees_give_few_facts_and_no_panic() {
    let machine = Machine::new("hostile");
    let system = machine.system();
    let host = system.host();
    assert_eq!(host.cpu.count_usable, 1);
    assert_eq!(host.memory.total_bytes, None);
    let all: Vec<DeviceNumber> = (0..8).map(|minor| number(1, minor)).collect();
    for each in &all {
        let _ = system.uses_of_device(*each);
        let _ = system.partitions(*each);
        let _ = system.in_flight(*each);
    }
    let circle = system.device(number(1, 1)).expect("a device");
    assert_eq!(circle.size_bytes, u64::MAX);
    assert!(
        circle.partition.is_none(),
        "a start beyond 2^64 bytes is no start"
    );
    assert!(circle.layers().len() <= 4096);
    // In a cycle no device is visited twice (found by fuzzing: a second and 300,000 opened files,
    // as each device was followed until the limit).
    let round = system.device(number(1, 2)).expect("a device");
    assert!(count(&round) <= 6, "{}", count(&round));
    assert_eq!(system.device(number(1, 5)).expect("a loop").below, []);
    for outside in [number(1, 3), number(1, 4), number(7, 7)] {
        assert!(
            matches!(system.device(outside), Err(Error::NoDevice(_))),
            "{outside}"
        );
    }
    for path in ["/x/file", "/z/file", "/proc"] {
        let _ = system
            .storage_of_path(Path::new(path))
            .expect("it is there");
    }
    assert!(system.storage_of_path(Path::new("/no/such")).is_err());
    assert!(system.device_named("../../etc").is_err());
    let before = Snapshot::take(&system, &all, &[]);
    assert_eq!(before.devices[1].counters, None::<Counters>);
    assert_eq!(before.thermal_throttles, Some(u64::MAX));
    let _ = before.difference(&Snapshot::default());
    assert!(system.throttles(&all).is_empty());
}

/// Devices of a chain, each as often as it was visited.
fn count(device: &BlockDevice) -> usize {
    1 + device.below.iter().map(count).sum::<usize>()
}

/// Runs every query, ignoring results.
fn ask_everything(system: &System, numbers: &[DeviceNumber]) {
    let host = system.host();
    assert!(host.cpu.count_usable >= 1);
    for number in numbers.iter().copied().chain(system.devices()) {
        if let Ok(storage) = system.storage_of_device(number) {
            assert!(storage.layers().len() <= 4096);
        }
        let _ = system.uses_of_device(number);
        let _ = system.partitions(number);
        let _ = system.in_flight(number);
    }
    for path in ["/data/file", "/home/file", "/dev/sda1"] {
        let _ = system.storage_of_path(Path::new(path));
    }
    let _ = system.throttles(numbers);
    let before = Snapshot::take(system, numbers, &[]);
    let _ = before.difference(&Snapshot::take(system, numbers, &[]));
}

#[test]
fn a_hundred_damaged_files_break_nothing() {
    let machine = Machine::new("server");
    let files = machine.files();
    let numbers = [number(8, 0), number(8, 1), number(253, 0), number(259, 0)];
    // A multiplicative generator: the same damage in every run.
    let mut state: u64 = 2026;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((state >> 33) % below.max(1) as u64).unwrap_or(0)
    };
    for round in 0..20 {
        let mut saved_position = Vec::new();
        for _ in 0..5 {
            let path = &files[random(files.len())];
            let mut bytes = std::fs::read(path).expect("a file of the tree");
            saved_position.push((path, bytes.clone()));
            match random(4) {
                0 => bytes.truncate(random(bytes.len())),
                1 => bytes = bytes.repeat(3),
                2 => bytes.extend_from_slice(b" 18446744073709551616 -1 \xff\0=,:/\\777"),
                _ => {
                    for _ in 0..4 {
                        if let Some(at) = (!bytes.is_empty()).then(|| random(bytes.len())) {
                            bytes[at] = random(256) as u8;
                        }
                    }
                }
            }
            std::fs::write(path, bytes).expect("a file of the tree");
        }
        ask_everything(&machine.system(), &numbers);
        // Undone in reverse, as a file may have been hit twice.
        for (path, bytes) in saved_position.into_iter().rev() {
            std::fs::write(path, bytes).unwrap_or_else(|error| panic!("round {round}: {error}"));
        }
    }
}

/// As util-linux's `mk-input.sh` makes them for `lsblk --sysroot`: without
/// `/sys/class/block`, and with udev's properties in place of devices.
#[test]
fn a_tree_that_was_made_for_lsblk_is_read_too() {
    let machine = Machine::new("sata-512e-63s");
    let root = machine.system().root().to_path_buf();
    std::fs::remove_dir_all(root.join("sys/class")).expect("links");
    std::fs::remove_dir_all(root.join("dev")).expect("devices");
    std::fs::create_dir(root.join("dev")).expect("a folder");
    machine.set("dev/sda", "DEVNAME=/dev/sda\nID_PART_TABLE_TYPE=dos\n");
    machine.set(
        "dev/sda1",
        "DEVNAME=/dev/sda1\nID_FS_TYPE=ext4\nID_FS_LABEL=my\\x20data\nID_FS_BLOCKSIZE=4096\n\
         ID_PART_ENTRY_SCHEME=dos\nID_PART_ENTRY_TYPE=0x83\n",
    );
    let survey = machine
        .system()
        .survey(&Request::default())
        .expect("a survey");
    let disk = &survey.disks[0];
    assert_eq!(disk.device.name, "sda");
    assert_eq!(disk.partitions[0].entry.start_bytes, 32_256);
    assert_eq!(disk.partitions[0].entry.type_id, "0x83");
    let volume = &survey.volumes[0];
    assert_eq!(volume.file_system.as_deref(), Some("ext4"));
    assert_eq!(volume.mount_points, [Path::new("/data")]);
    assert_eq!(volume.subject.allocation_unit_bytes, Some(4096));
    assert!(volume.judge(&[8192]).finding);
    let request = Request {
        device: Some("sda1".to_owned()),
        ..Request::default()
    };
    assert_eq!(
        machine
            .system()
            .survey(&request)
            .expect("a survey")
            .volumes
            .len(),
        1
    );

    // Only `/sys/block`, as in a hand-made tree.
    let found = walk(&root.join("sys/devices"), "sda").expect("the disk");
    std::fs::create_dir_all(root.join("sys/block")).expect("a folder");
    std::fs::rename(found, root.join("sys/block/sda")).expect("moved");
    std::fs::remove_dir_all(root.join("sys/dev")).expect("links");
    let survey = machine
        .system()
        .survey(&Request::default())
        .expect("a survey");
    assert_eq!(survey.volumes[0].offset_bytes(), Some(32_256));
}

/// The folder of this name below another.
fn walk(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        if entry.file_name() == name {
            return Some(entry.path());
        }
        if let Some(found) = walk(&entry.path(), name) {
            return Some(found);
        }
    }
    None
}

#[test]
fn a_drive_tells_how_warm_it_is_and_its_partitions_say_the_same() {
    let machine = Machine::new("nvme");
    let system = machine.system();
    for device in ["nvme0n1", "nvme0n1p2"] {
        assert_eq!(system.temperature_millicelsius(device), Some(41_850));
    }
    // A server's disks, without driver information.
    let server = Machine::new("server");
    assert_eq!(server.system().temperature_millicelsius("sda"), None);
}

#[test]
fn damaged_lists_of_schedulers_never_crash() {
    let machine = Machine::new("server");
    let mut random = crate::mutate::Random(7);
    for _ in 0..500 {
        let text =
            String::from_utf8_lossy(&random.text("none [mq-deadline] kyber bfq ")).into_owned();
        let file = "sys/devices/pci/host0/block/sda/queue/scheduler";
        machine.set(file, &text);
        let storage = machine.system().storage_of_path(Path::new("/dev/sda1"));
        let scheduler = storage.expect("a partition").devices[0]
            .queue
            .scheduler
            .clone();
        assert!(scheduler.is_none_or(|name| text.contains(&name)));
    }
}
