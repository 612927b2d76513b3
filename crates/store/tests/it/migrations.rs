//! A file of every version that ever wrote one is opened and read.

use crate::common::*;
use std::path::{Path, PathBuf};
use stripewise_results::{Document, RunRecord};
use stripewise_store::{Filter, MadeFile, Store, StoredDocument, USER_VERSION};

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
    let loaded = store.documents("baseline").unwrap();
    assert_eq!(loaded.len(), 1);
    assert_eq!(
        store.document("baseline", "nightly").unwrap(),
        Some(loaded[0].clone())
    );
    assert_eq!(store.document("experiment", "nightly").unwrap(), None);
    let newer = StoredDocument {
        json: "{}".to_owned(),
        ..loaded[0].clone()
    };
    store.store_document("baseline", &newer).unwrap();
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

#[test]
fn discards_that_version_5_stored_have_the_latency_of_their_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::copy(fixture("v5-discards.db"), &path).unwrap();
    let mut store = open(&path).unwrap();
    store.check().unwrap();
    let p99 = |store: &Store, id: &str| {
        let listed = store.list(&Filter::default()).unwrap();
        let run = listed.into_iter().find(|run| run.id == id).unwrap();
        run.jobs[0].discard_latency_ns_p99
    };
    let of_record = |record: &RunRecord| {
        let discard = record.jobs[0].outcome.discard.as_ref();
        discard.and_then(|kind| kind.latency_ns).map(|ns| ns.p99)
    };
    let record = store.load("fixture-d").unwrap();
    assert!(of_record(&record).is_some_and(|ns| ns > 0));
    assert_eq!(p99(&store, "fixture-d"), of_record(&record));
    // A run of now is the same, and has it in its row.
    let newer = with_discards("newer");
    store.save_run(&newer).unwrap();
    assert_eq!(p99(&store, "newer"), of_record(&newer));
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let stored: Vec<Option<i64>> = connection
        .prepare("SELECT discard_latency_ns_p99 FROM jobs ORDER BY run_number")
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(stored[0], None);
    assert_eq!(stored[1].map(i64::cast_unsigned), of_record(&newer));
    // What was stored of it counts as all else does, and a record that is damaged is no
    // latency.
    let change = |sql: &str| connection.execute(sql, ()).unwrap();
    change("UPDATE jobs SET discard_latency_ns_p99 = 1 WHERE discard_latency_ns_p99 > 0");
    change("UPDATE records SET json = 'x' WHERE run_number = 1");
    let listing = open(&path).unwrap().list_readable(&Filter::default());
    let listing = listing.unwrap();
    assert_eq!(listing.unreadable.len(), 1);
    assert_eq!(listing.unreadable[0].run, "newer");
    assert_eq!(listing.runs[0].jobs[0].discard_latency_ns_p99, None);
}

#[test]
fn what_every_version_stored_is_salvaged() {
    for version in 1..=USER_VERSION {
        let (directory, before) = brought_up_to_date(u32::try_from(version).unwrap());
        let to = directory.path().join("saved.db");
        let owner = stripewise_store::Owner::of_this_process("here");
        let from = fixture(&format!("v{version}.db"));
        let salvaged = Store::salvage(&from, &to, owner).unwrap();
        assert_eq!(
            (salvaged.runs, salvaged.cut_short),
            (2, vec![]),
            "{version}"
        );
        let saved = open(&to).unwrap();
        saved.check().unwrap();
        let all = Filter::default();
        assert_eq!(saved.list(&all).unwrap(), before.list(&all).unwrap());
        for id in ["fixture-a", "fixture-b"] {
            assert_eq!(saved.load(id).unwrap(), before.load(id).unwrap());
            assert_eq!(
                saved.load_intervals(id, 0).unwrap(),
                before.load_intervals(id, 0).unwrap()
            );
        }
        let loaded = before.documents("baseline").unwrap();
        assert_eq!(saved.documents("baseline").unwrap(), loaded);
        assert_eq!(saved.files().unwrap(), before.files().unwrap());
    }
}

/// Records that cannot be read keep a store of version 1 from being brought up to date.
#[test]
fn a_damaged_store_of_version_1_is_salvaged_without_what_it_lost() {
    let directory = tempfile::tempdir().unwrap();
    let (path, to) = (
        directory.path().join("store.db"),
        directory.path().join("saved.db"),
    );
    std::fs::copy(fixture("v1.db"), &path).unwrap();
    let root: i64 = rusqlite::Connection::open(&path)
        .unwrap()
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'records'",
            (),
            |row| row.get(0),
        )
        .unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[(usize::try_from(root).unwrap() - 1) * 4096..][..4096].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    open(&path).unwrap_err();
    let owner = stripewise_store::Owner::of_this_process("here");
    let salvaged = Store::salvage(&path, &to, owner.clone()).unwrap();
    assert_eq!(salvaged.runs, 2);
    assert_eq!(salvaged.cut_short, ["records"]);
    let saved = open(&to).unwrap();
    assert_eq!(saved.list(&Filter::default()).unwrap().len(), 2);
    assert_eq!(saved.load_intervals("fixture-a", 0).unwrap().len(), 12);

    // The list of tables of today is not that of version 1: nothing is taken for what it is
    // not, and nothing is left behind.
    bytes[100..4096].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();
    let to = directory.path().join("again.db");
    let refused = Store::salvage(&path, &to, owner).unwrap_err();
    assert!(
        refused.to_string().contains("list of its tables"),
        "{refused}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
    let mut left: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| !name.to_string_lossy().contains('-'))
        .collect();
    left.sort();
    assert_eq!(left, ["saved.db", "store.db"]);
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
    let outcome = store.load("fixture-a").unwrap().jobs[0].outcome.clone();
    assert_eq!(outcome.read.histogram.unwrap().count(), 12 * READS);
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
        .store_document(
            "baseline",
            &StoredDocument {
                name: "nightly".to_owned(),
                stored_at: "2026-11-21T20:15:30Z".to_owned(),
                json: r#"{"run": "fixture-a"}"#.to_owned(),
            },
        )
        .unwrap();
    std::fs::write(path.with_extension("json"), Document::new(runs).to_json()).unwrap();
}
