//! The calls themselves, on the Windows (or Wine) that runs the test.

use crate::System;
use crate::observe::Snapshot;
use crate::survey::Request;
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_OVERLAPPED;

/// A file that is there: the test itself.
fn own() -> PathBuf {
    std::env::current_exe().expect("the test's own path")
}

#[test]
fn overlapped_and_waiting_handles_are_read_at_a_place() {
    let bytes = std::fs::read(own()).expect("the test's own bytes");
    for flags in [0, FILE_FLAG_OVERLAPPED] {
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(own())
            .expect("the test's own file");
        let mut buffer = [0; 5000];
        let got = super::read_at(&file, &mut buffer, 4096).expect("a piece");
        assert_eq!(buffer[..got], bytes[4096..4096 + got]);
        assert!(got > 0);
        let end = bytes.len() as u64;
        assert_eq!(super::read_at(&file, &mut buffer, end).expect("the end"), 0);
        assert!(super::read_at(&file, &mut buffer, u64::MAX).is_err());
    }
}

#[test]
fn a_file_and_its_handle_are_on_the_same_volume() {
    let system = System::live();
    let by_path = system.storage_of_path(&own()).expect("a place");
    let file = File::open(own()).expect("the test's own file");
    let by_handle = system.storage_of_file(&file).expect("a place");
    let mount_point = |storage: &crate::storage::Storage| {
        let file_system = storage.file_system.clone().expect("a file system");
        assert!(
            file_system
                .allocation_unit_bytes
                .is_some_and(u64::is_power_of_two)
        );
        assert!(file_system.size_bytes >= file_system.available_bytes);
        file_system.mount_point
    };
    assert_eq!(mount_point(&by_path), mount_point(&by_handle));
    let missing = system.storage_of_path(Path::new(r"C:\no\such\file"));
    assert!(missing.is_err());
    assert!(
        system
            .storage_of_path(Path::new(r"\\.\PhysicalDrive999"))
            .is_err()
    );
    assert!(System::at(r"C:\captured").storage_of_path(&own()).is_err());
}

#[test]
fn the_machine_is_surveyed_and_what_it_hides_is_told() {
    let survey = System::live()
        .survey(&Request::default())
        .expect("a survey");
    for disk in &survey.disks {
        assert!(disk.device.name.starts_with("PhysicalDrive"), "{disk:?}");
    }
    for volume in &survey.volumes {
        let _ = volume.judge(&[8192]);
        let has_place = !volume.subject.places.is_empty();
        let told = survey
            .notes
            .iter()
            .any(|note| note.starts_with(&volume.name));
        assert!(has_place || told, "{volume:?} {:?}", survey.notes);
    }
    if super::host::is_wine() {
        assert!(survey.notes.iter().any(|note| note.contains("Wine")));
    }
}

#[test]
fn clocks_and_processor_time_go_forward() {
    let system = System::live();
    let before = Snapshot::take(&system, &[], &[]);
    // Looking takes processor time, sooner or later a whole tick of it.
    let moved = (0..10_000_000).any(|_| {
        let observed = before.difference(&Snapshot::take(&system, &[], &[]));
        let own = observed.own_cpu_user_ns + observed.own_cpu_system_ns;
        own > 0 && observed.elapsed_ns > 0
    });
    assert!(moved);
    let host = system.host();
    assert_eq!(host.operating_system, "windows");
    assert!(host.cpu.count_usable > 0 && host.memory.total_bytes > Some(0));
}
