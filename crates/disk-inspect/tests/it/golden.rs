//! Machines in `tests/trees`, and their expected results in `tests/expected`.
//!
//! `STRIPEWISE_BLESS=1` rewrites the expectations; review the difference.

use crate::machine::Machine;
use std::fmt::Write;
use std::path::Path;
use stripewise_disk_formats::superblocks::Found;
use stripewise_disk_formats::tables::PartitionTable;
use stripewise_disk_inspect::Inspect;
use stripewise_disk_inspect::survey::{Request, Survey};

pub const TREES: [&str; 16] = [
    "sata-512n",
    "sata-512e-63s",
    "sas-4kn",
    "nvme",
    "md-raid10",
    "md-raid5",
    "lvm-on-md",
    "dm-crypt",
    "multipath",
    "loop-offset",
    "btrfs-two-disks",
    "mbr-logical",
    "gpt-damaged",
    "hybrid-mbr",
    "raid-64k-on-256k",
    "dynamic-disk",
];

#[test]
fn every_captured_machine_is_described_as_expected() {
    let mut different = Vec::new();
    for name in TREES {
        let survey = Machine::new(name).system().survey(&Request::default());
        let found = listing(&survey.expect("a survey"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/expected/{name}.txt"));
        if std::env::var_os("STRIPEWISE_BLESS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(&path, &found).expect("the expectation");
        }
        let expected = std::fs::read_to_string(&path).unwrap_or_default();
        if found != expected {
            different.push(format!("{name}:\n{found}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn one_device_brings_what_is_below_and_above_it() {
    let machine = Machine::new("md-raid10");
    let names = |device: &str| {
        let request = Request {
            device: Some(device.to_owned()),
            ..Request::default()
        };
        let survey = machine.system().survey(&request).expect("a survey");
        let disks: Vec<String> = survey
            .disks
            .iter()
            .map(|disk| disk.device.name.clone())
            .collect();
        (disks, survey.volumes.len())
    };
    let all = ["md0", "sda", "sdb", "sdc", "sdd"]
        .map(str::to_owned)
        .to_vec();
    // Only volumes that share bytes with the requested device.
    assert_eq!(names("md0p1"), (all.clone(), 1));
    assert_eq!(names("/dev/md0"), (all.clone(), 3));
    assert_eq!(names("sda1"), (vec!["md0".to_owned(), "sda".to_owned()], 3));
    // A member includes the array on it, whose volumes need the other members.
    assert_eq!(names("sdb").0, ["md0", "sdb"]);
}

/// Everything that was found, in lines.
#[expect(clippy::too_many_lines, reason = "a line for each fact")]
fn listing(survey: &Survey) -> String {
    let mut text = String::new();
    for disk in &survey.disks {
        let device = &disk.device;
        let queue = &device.queue;
        let _ = writeln!(
            text,
            "{} {} {:?} model={:?} serial={:?} firmware={:?} transport={:?} rotational={:?} sectors={:?}/{:?} \
             io={:?}/{:?} chunk={:?} alignment={:?} depth={:?} cache={:?}",
            device.name,
            device.size_bytes,
            device.kind,
            device.model.as_deref().unwrap_or("-"),
            device.serial.as_deref().unwrap_or("-"),
            device.firmware.as_deref().unwrap_or("-"),
            device.transport.as_deref().unwrap_or("-"),
            queue.rotational.unwrap_or_default(),
            queue.logical_sector_bytes.unwrap_or(0),
            queue.physical_sector_bytes.unwrap_or(0),
            queue.minimum_io_bytes.unwrap_or(0),
            queue.optimal_io_bytes.unwrap_or(0),
            queue.chunk_bytes.unwrap_or(0),
            queue.alignment_offset_bytes.unwrap_or(0),
            queue.queue_depth.unwrap_or(0),
            queue.write_cache.as_deref().unwrap_or("-"),
        );
        if let Some(table) = &disk.table {
            table_lines(&mut text, table);
        }
        for part in &disk.partitions {
            let holds = part.holds.as_ref().map_or("-", Found::kind);
            let _ = writeln!(
                text,
                "  {} {} {}+{} {} {:?} holds={holds} holders={:?} kernel={}",
                part.name,
                part.entry.number,
                part.entry.start_bytes,
                part.entry.size_bytes,
                part.entry.type_name.unwrap_or(&part.entry.type_id),
                part.entry.role,
                part.holders,
                part.in_kernel
            );
        }
    }
    for volume in &survey.volumes {
        let judgement = volume.judge(&[8192, 65_536]);
        let _ = writeln!(
            text,
            "volume {} {:?} {} {:?} unit={:?} offset={:?} stripe={:?} {:?} finding={}",
            volume.name,
            volume.devices,
            volume.file_system.as_deref().unwrap_or("-"),
            volume.mount_points,
            volume.subject.allocation_unit_bytes,
            volume.offset_bytes(),
            volume.stripe_unit_bytes(),
            judgement.verdict,
            judgement.finding
        );
        for place in &volume.subject.places {
            let _ = writeln!(
                text,
                "  at {} {} {:?}",
                place.disk, place.offset_bytes, place.nature
            );
        }
        for check in &judgement.checks {
            let _ = writeln!(text, "  {:?} {}: {}", check.result, check.name, check.text);
        }
        for cost in &judgement.costs {
            let _ = writeln!(text, "  {}", cost.words());
        }
    }
    for note in &survey.notes {
        let _ = writeln!(text, "note {note}");
    }
    text
}

fn table_lines(text: &mut String, table: &PartitionTable) {
    let _ = writeln!(
        text,
        "  table {} {} sector={} headers={:?}",
        table.kind.name(),
        table.id.as_deref().unwrap_or("-"),
        table.sector_bytes,
        table.headers
    );
    for problem in &table.problems {
        let _ = writeln!(text, "  problem: {problem}");
    }
}

#[test]
fn the_offset_under_a_path_goes_through_linear_layers() {
    for (tree, path, bytes, disk) in [
        ("dm-crypt", "/data", 17_825_792, "sda"),
        ("multipath", "/mnt/sql", 32_256, "sda"),
        // A linear volume of LVM ends at the array, which deals its bytes out.
        ("lvm-on-md", "/log", 34_360_786_944, "md0"),
        // A striped one has no single place below itself.
        ("lvm-on-md", "/data", 0, "dm-0"),
        ("md-raid10", "/data1", 32_256, "md0"),
    ] {
        let machine = Machine::new(tree);
        std::fs::create_dir_all(machine.system().root().join(path.trim_start_matches('/')))
            .expect("a mount point");
        let storage = machine.system().storage_of_path(Path::new(path));
        let offset = storage.expect("a place").offset.expect("an offset");
        assert_eq!(
            (offset.bytes, offset.disk.as_str()),
            (bytes, disk),
            "{tree} {path}"
        );
    }
}
