//! Synthetic Windows machines: the results for their volumes.

use crate::made_up::*;
use stripewise_disk_inspect::ioctl_replies::*;
use stripewise_disk_inspect::storage::Storage;
use stripewise_disk_inspect::survey::{Request, Survey, Volume};
use stripewise_disk_inspect::trace::SuppliedFacts;
use stripewise_disk_inspect::verdict::{LayoutVerdict, Suspect, Usage};

const M: i64 = 1 << 20;
const G: i64 = 1 << 30;

fn refused(code: u32) -> Answer {
    Err(Refusal {
        code,
        words: "it said no".to_owned(),
    })
}

fn disk(number: u32, layout: Vec<u8>, bus: u32, model: &str) -> DiskAnswers {
    DiskAnswers {
        number,
        layout: Ok(layout),
        geometry: Ok(geometry(512, 1000 * G)),
        alignment: Ok(alignment(512, 4096, 0)),
        descriptor: Ok(descriptor(bus, ["", model, "1.0", &format!("SN{number}")])),
        seek_penalty: Ok(seek_penalty(true)),
        write_cache: Ok(write_cache(2, 2, 2)),
        read_only: Some(false),
    }
}

fn volume(mount_point: &str, extents: &[(u32, i64, i64)]) -> VolumeAnswers {
    VolumeAnswers {
        guid: format!("Volume{{{mount_point}}}"),
        mount_points: vec![mount_point.to_owned()],
        remote: false,
        in_memory: false,
        extents: Ok(disk_extents(extents)),
        ntfs: Ok(ntfs(512, 65_536, 2048)),
        file_system: Some(FileSystemAnswer {
            kind: "NTFS".to_owned(),
            label: "Data".to_owned(),
            serial: 0x1234_abcd,
            flags: 0,
        }),
        allocation_unit_bytes: Some(4096),
        space_bytes: Some((100 << 30, 50 << 30)),
    }
}

fn survey(machine: &Machine) -> Survey {
    machine.survey(&Request::default()).expect("a survey")
}

fn only<'a>(survey: &'a Survey, name: &str) -> &'a Volume {
    let found: Vec<&Volume> = survey
        .volumes
        .iter()
        .filter(|one| one.name == name)
        .collect();
    assert_eq!(found.len(), 1, "{name} of {:?}", survey.volumes);
    found[0]
}

/// A server of the time: Windows 2003 at sector 63, and a GPT disk at 1 MiB.
fn server() -> Machine {
    Machine {
        disks: vec![
            disk(0, mbr(9, &[(1, 32_256, 100 * G, 7)]), 8, "DELL PERC 6/i"),
            disk(
                1,
                gpt(&[
                    (1, 17_408, 16 * M - 17_408, RESERVED),
                    (2, 17 * M, 100 * G, BASIC_DATA),
                ]),
                17,
                "INTEL SSDPE2KX010T8",
            ),
        ],
        volumes: vec![
            volume("E:\\", &[(1, 17 * M, 100 * G)]),
            volume("C:\\", &[(0, 32_256, 100 * G)]),
        ],
    }
}

#[test]
fn volumes_are_judged_by_the_place_that_the_volume_manager_gives() {
    let survey = survey(&server());
    let names: Vec<&str> = survey.volumes.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["C:", "E:", "Harddisk1Partition1"]);
    let old = only(&survey, "C:");
    assert_eq!(old.offset_bytes(), Some(32_256));
    assert_eq!(old.devices, ["Harddisk0Partition1"]);
    let judgement = old.judge(&[8192]);
    assert_eq!(judgement.verdict, LayoutVerdict::SectorSplit);
    assert!(judgement.finding);
    let new = only(&survey, "E:");
    assert_eq!(new.judge(&[8192]).verdict, LayoutVerdict::NotStriped);
    assert_eq!(new.subject.allocation_unit_bytes, Some(65_536));
    assert_eq!(new.file_system.as_deref(), Some("ntfs"));
    assert_eq!(
        only(&survey, "Harddisk1Partition1").subject.usage,
        Usage::Exempt
    );
    assert_eq!(survey.notes, Vec::<String>::new());
    let raid = &survey.disks[0].device;
    assert_eq!(raid.queue.rotational, Some(true));
    assert_eq!(raid.queue.write_cache.as_deref(), Some("write back"));
    assert_eq!(survey.disks[0].key, "SN0");
}

#[test]
fn a_stripe_unit_that_the_user_gives_makes_the_crossing_exact() {
    let given = SuppliedFacts {
        stripe_unit_bytes: Some(64 << 10),
        ..SuppliedFacts::default()
    };
    let mut machine = server();
    machine.disks[0].alignment = Ok(alignment(512, 512, 0));
    let request = Request {
        given: vec![("SN0".to_owned(), given)],
        ..Request::default()
    };
    let survey = machine.survey(&request).expect("a survey");
    let judgement = only(&survey, "C:").judge(&[8192]);
    assert_eq!(judgement.verdict, LayoutVerdict::SplitsAbove(512));
    assert_eq!(judgement.costs[0].here.words(), "1 in 8");
}

#[test]
fn dynamic_volumes_are_suspect_and_several_extents_claim_no_stripes() {
    let dynamic = |number| disk(number, mbr(9, &[(1, 32_256, 900 * G, 0x42)]), 10, "ST900MM");
    let machine = Machine {
        disks: vec![dynamic(0), dynamic(1)],
        volumes: vec![
            volume("D:\\", &[(0, 32_256, 100 * G), (1, 32_256, 100 * G)]),
            volume("E:\\", &[(0, 200 * G, 10 * G)]),
        ],
    };
    let survey = survey(&machine);
    let spread = only(&survey, "D:");
    assert_eq!(spread.subject.suspect, Some(Suspect::DynamicVolume));
    assert_eq!(spread.subject.boundaries, []);
    let places: Vec<_> = spread
        .subject
        .places
        .iter()
        .map(|one| one.offset_bytes)
        .collect();
    assert_eq!(places, [32_256, 32_256]);
    let judgement = spread.judge(&[8192]);
    assert_eq!(judgement.verdict, LayoutVerdict::SectorSplit);
    for name in ["dynamic-disk", "not-followed"] {
        assert!(
            judgement.checks.iter().any(|one| one.name == name),
            "{name}"
        );
    }
    let simple = only(&survey, "E:");
    assert_eq!(simple.offset_bytes(), Some(200 << 30));
    assert_eq!(simple.devices, ["PhysicalDrive0 from 214748364800"]);
    let verdict = simple.judge(&[8192]).verdict;
    assert!(
        matches!(verdict, LayoutVerdict::UnknownStripeUnit(Some(_))),
        "{verdict:?}"
    );
    // The partition of the dynamic disk is no volume besides.
    assert_eq!(survey.volumes.len(), 2);
    assert_eq!(survey.disks[0].partitions[0].holders, ["D:", "E:"]);
}

#[test]
fn storage_spaces_are_suspect_on_both_sides() {
    let machine = Machine {
        disks: vec![
            disk(0, gpt(&[(1, M, 900 * G, SPACES)]), 10, "ST900MM"),
            disk(3, gpt(&[(2, 16 * M, 100 * G, BASIC_DATA)]), 16, "Space"),
        ],
        volumes: vec![volume("F:\\", &[(3, 16 * M, 100 * G)])],
    };
    let survey = survey(&machine);
    let space = only(&survey, "F:");
    assert_eq!(space.subject.suspect, Some(Suspect::StorageSpace));
    assert_eq!(
        space.judge(&[]).verdict,
        LayoutVerdict::UnknownStripeUnit(Some(16 << 20))
    );
    let member = only(&survey, "Harddisk0Partition1");
    assert_eq!(member.subject.suspect, Some(Suspect::StoragePool));
    assert!(
        member
            .judge(&[])
            .checks
            .iter()
            .any(|one| one.name == "storage-pool")
    );
}

#[test]
fn what_was_refused_is_absent_and_told() {
    let mut machine = server();
    let first = &mut machine.disks[0];
    first.layout = refused(5);
    first.alignment = refused(1);
    first.seek_penalty = refused(1117);
    first.descriptor = Ok(vec![0; 3]);
    machine.volumes[1].extents = refused(50);
    machine.volumes[1].ntfs = refused(5);
    let survey = survey(&machine);
    let first = &survey.disks[0];
    assert_eq!((&first.table, first.partitions.len()), (&None, 0));
    let unread = first.unread.as_deref().unwrap_or_default();
    assert!(unread.contains("administrator"), "{unread}");
    assert_eq!(first.device.queue.physical_sector_bytes, None);
    assert_eq!(first.device.queue.rotational, None);
    assert_eq!(first.device.queue.logical_sector_bytes, Some(512));
    assert_eq!(first.key, r"\\.\PhysicalDrive0");
    let notes = survey.notes.join("\n");
    for words in [
        "physical sectors",
        "error 1117",
        "makes no sense",
        "C: did not report",
    ] {
        assert!(notes.contains(words), "{words} in {notes}");
    }
    let lost = only(&survey, "C:");
    assert_eq!(
        (lost.offset_bytes(), &lost.subject.places[..]),
        (None, &[][..])
    );
    assert_eq!(lost.subject.allocation_unit_bytes, Some(4096));
    let judgement = lost.judge(&[8192]);
    assert!(!judgement.finding);
    let tool_output = judgement
        .checks
        .iter()
        .any(|one| one.text.contains("not known"));
    assert!(tool_output, "{:?}", judgement.checks);
}

#[test]
fn volumes_on_no_disk_or_on_unknown_ones_say_so() {
    let mut machine = server();
    machine.volumes[0].extents = Ok(disk_extents(&[]));
    machine.volumes[1].extents = Ok(disk_extents(&[(7, 0, G)]));
    let survey = survey(&machine);
    let notes = survey.notes.join("\n");
    for words in [
        "E: reports that it is on no disk",
        "C: reports that it is on PhysicalDrive7, which could not be opened",
    ] {
        assert!(notes.contains(words), "{words} in {notes}");
    }
    for name in ["C:", "E:"] {
        let volume = only(&survey, name);
        assert!(volume.subject.incomplete && volume.subject.places.is_empty());
    }
}

#[test]
fn one_device_brings_what_it_stands_on_and_other_names_are_refused() {
    let machine = server();
    let names = |wanted: &str| {
        let request = Request {
            device: Some(wanted.to_owned()),
            ..Request::default()
        };
        let survey = machine
            .survey(&request)
            .map_err(|error| error.to_string())?;
        let disks: Vec<String> = survey
            .disks
            .iter()
            .map(|one| one.device.name.clone())
            .collect();
        let volumes: Vec<String> = survey.volumes.iter().map(|one| one.name.clone()).collect();
        Ok::<_, String>((disks.join(" "), volumes.join(" ")))
    };
    let pair = |disks: &str, volumes: &str| Ok((disks.to_owned(), volumes.to_owned()));
    assert_eq!(
        names(r"\\.\PhysicalDrive1"),
        pair("PhysicalDrive1", "E: Harddisk1Partition1")
    );
    assert_eq!(names("Harddisk1Partition2"), pair("PhysicalDrive1", "E:"));
    assert_eq!(names("e:"), pair("PhysicalDrive1", "E:"));
    assert_eq!(names("Volume{C:\\}"), pair("PhysicalDrive0", "C:"));
    for wanted in ["PhysicalDrive7", "Harddisk0Partition9", "X:", "sda", ""] {
        assert!(names(wanted).is_err(), "{wanted}");
    }
}

#[test]
fn targets_get_their_file_system_and_the_partition_below() {
    let machine = server();
    let storage = machine.storage_of(&machine.volumes[0]);
    let file_system = storage.file_system.clone().expect("a file system");
    assert_eq!(file_system.kind, "NTFS");
    assert_eq!(file_system.mount_point.as_os_str(), "E:\\");
    assert_eq!(file_system.allocation_unit_bytes, Some(65_536));
    assert_eq!(file_system.available_bytes, Some(50 << 30));
    let offset = storage.offset.clone().expect("an offset");
    assert_eq!(
        (offset.bytes, offset.disk.as_str()),
        (17 << 20, "PhysicalDrive1")
    );
    let layers: Vec<&str> = storage
        .layers()
        .iter()
        .map(|one| one.name.as_str())
        .collect();
    assert_eq!(layers, ["Harddisk1Partition2", "PhysicalDrive1"]);
    let bare = machine.storage_named(r"\\.\E:").expect("the volume");
    assert_eq!(
        (bare.file_system, bare.devices),
        (None, storage.devices.clone())
    );
    assert_eq!(machine.storage_named("X:"), None);
    let disk = machine.device_named("physicaldrive1").expect("a disk");
    assert_eq!(disk.transport.as_deref(), Some("nvme"));
    assert_eq!(
        from_number(layers_number(&storage)),
        Name::parse("Harddisk1Partition2")
    );
}

fn layers_number(storage: &Storage) -> stripewise_units::DeviceNumber {
    storage.layers()[0].number
}
