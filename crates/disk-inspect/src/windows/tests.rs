//! The calls themselves, on the Windows (or Wine) that runs the test.

use crate::survey::Request;
use crate::{Inspect, System};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file that is there: the test itself.
fn own() -> PathBuf {
    std::env::current_exe().expect("the test's own path")
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
        let reported = survey
            .notes
            .iter()
            .any(|note| note.starts_with(&volume.name));
        assert!(has_place || reported, "{volume:?} {:?}", survey.notes);
    }
    if stripewise_machine::windows::is_wine() {
        assert!(survey.notes.iter().any(|note| note.contains("Wine")));
    }
}
