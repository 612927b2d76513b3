//! A file of every version that ever wrote one is opened and read.

use crate::common::*;
use std::path::{Path, PathBuf};
use stripewise_results::Document;
use stripewise_store::{Filter, KeptDocument, MadeFile, Store, USER_VERSION};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(name)
}

#[test]
fn every_version_has_a_fixture() {
    for version in 1..=USER_VERSION {
        assert!(
            fixture(&format!("v{version}.db")).exists(),
            "version {version}"
        );
    }
}

#[test]
fn a_store_of_version_1_is_brought_up_to_date_and_keeps_everything() {
    let (_directory, store) = brought_up_to_date(1);
    assert_eq!(store.documents("baseline").unwrap(), []);
}

#[test]
fn a_store_of_version_2_keeps_its_documents() {
    let (_directory, mut store) = brought_up_to_date(2);
    let kept = store.documents("baseline").unwrap();
    assert_eq!(kept.len(), 1);
    assert_eq!(
        store.document("baseline", "nightly").unwrap(),
        Some(kept[0].clone())
    );
    assert_eq!(store.document("experiment", "nightly").unwrap(), None);
    let newer = KeptDocument {
        json: "{}".to_owned(),
        ..kept[0].clone()
    };
    store.keep_document("baseline", &newer).unwrap();
    assert_eq!(store.documents("baseline").unwrap(), [newer]);
    assert!(store.forget_document("baseline", "nightly").unwrap());
    assert!(!store.forget_document("baseline", "nightly").unwrap());
}

#[test]
fn a_store_of_version_3_is_read_as_it_is() {
    let (_directory, store) = brought_up_to_date(3);
    let listed = store.list(&Filter::default()).unwrap();
    assert!(listed.iter().all(|run| run.tool.is_none()));
    assert_eq!(store.documents("baseline").unwrap().len(), 1);
}

#[test]
fn a_store_of_version_4_has_checksums_and_those_before_have_none() {
    for (version, damaged) in [(3, false), (4, true)] {
        let (directory, store) = brought_up_to_date(version);
        drop(store);
        let path = directory.path().join("store.db");
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute("UPDATE jobs SET iops = 1", ())
            .unwrap();
        let listing = open(&path).unwrap().list_readable(&Filter::default());
        let unreadable = listing.unwrap().unreadable.len();
        assert_eq!(unreadable, if damaged { 2 } else { 0 }, "version {version}");
    }
}

/// Opens a copy of the fixture of a version and looks at all that every version had.
fn brought_up_to_date(version: u32) -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::copy(fixture(&format!("v{version}.db")), &path).unwrap();
    let store = open(&path).unwrap();
    store.check().unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 2);
    let printed = Document::new(vec![
        store.load("fixture-a").unwrap(),
        store.load("fixture-b").unwrap(),
    ]);
    let expected = std::fs::read_to_string(fixture(&format!("v{version}.json"))).unwrap();
    assert!(
        printed.to_json() == expected,
        "the record does not print as it did"
    );
    let histograms = store.load_histograms("fixture-a").unwrap();
    assert_eq!(histograms[0].read.as_ref().unwrap().count(), 12 * READS);
    let intervals = store.load_intervals("fixture-a", 0).unwrap();
    assert_eq!(intervals.len(), 12);
    assert_eq!(intervals[11].interval, interval(11));
    assert_eq!(store.files().unwrap().len(), 1);
    (directory, store)
}

/// Run once for each new version, by hand, before it is released.
#[test]
#[ignore = "writes the fixture of the current version"]
fn write_the_fixture() {
    let path = fixture(&format!("v{USER_VERSION}.db"));
    assert!(!path.exists(), "a fixture is never written anew");
    let mut store: Store = open(&path).unwrap();
    let mut runs = Vec::new();
    for (id, intervals) in [("fixture-a", 12), ("fixture-b", 1)] {
        let mut run = store.begin_run(&skeleton(id, 1)).unwrap();
        for index in 0..intervals {
            append(&mut store, &mut run, 0, index).unwrap();
        }
        let record = finished(id, 1, intervals);
        store.finish_run(run, &record).unwrap();
        runs.push(record);
    }
    store
        .remember_file(&MadeFile {
            id: "k3f9".to_owned(),
            device: 1,
            inode: 2,
            birth_ns: Some(3),
            path: "/data/stripewise.test".to_owned(),
            size_bytes: 4,
            made_at: "2026-11-21T20:15:30Z".to_owned(),
        })
        .unwrap();
    store
        .keep_document(
            "baseline",
            &KeptDocument {
                name: "nightly".to_owned(),
                kept_at: "2026-11-21T20:15:30Z".to_owned(),
                json: r#"{"run": "fixture-a"}"#.to_owned(),
            },
        )
        .unwrap();
    std::fs::write(path.with_extension("json"), Document::new(runs).to_json()).unwrap();
}
