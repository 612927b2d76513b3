//! A flipped bit is detected and located, and does not block the other runs.

use crate::common::*;
use std::path::Path;
use stripewise_store::{ErrorKind, Filter, Store, StoredDocument};

const RUNS: u64 = 6;

fn id(number: u64) -> String {
    format!("20261122-101112-run{number}")
}

/// A store with a few runs, in one file without a log.
fn filled(path: &Path) {
    let mut store = open(path).unwrap();
    for number in 0..RUNS {
        let mut run = store.begin_run(&skeleton(&id(number), 2)).unwrap();
        for index in 0..40 {
            append(&mut store, &mut run, 0, index).unwrap();
        }
        store
            .finish_run(run, &finished(&id(number), 2, 40))
            .unwrap();
    }
    let document = StoredDocument {
        name: "nightly".to_owned(),
        stored_at: "2026-11-21T20:15:30Z".to_owned(),
        json: r#"{"limit": 12345}"#.to_owned(),
    };
    store.store_document("baseline", &document).unwrap();
}

/// Changes one thing behind the store's back, as a flipped bit would.
fn changed(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    assert_eq!(connection.execute(sql, ()).unwrap(), 1, "{sql}");
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        .unwrap();
}

#[test]
fn a_value_that_changed_is_noticed_in_every_part_of_a_run() {
    type Read = fn(&Store) -> stripewise_store::Result<()>;
    let load: Read = |store| store.load(&id(2)).map(drop);
    let list: Read = |store| store.list(&Filter::default()).map(drop);
    let intervals: Read = |store| store.load_intervals(&id(2), 0).map(drop);
    let cases: [(&str, &str, Read); 8] = [
        (
            "UPDATE records SET json = replace(json, 'a message', 'a massage') WHERE run_number = 3",
            "record",
            load,
        ),
        (
            "UPDATE histograms SET latency_ns_v2 = CAST(latency_ns_v2 || x'00' AS BLOB) \
             WHERE run_number = 3 AND job_index = 1 AND kind = 'write'",
            "histogram",
            load,
        ),
        (
            "DELETE FROM histograms WHERE run_number = 3 AND job_index = 1 AND kind = 'read'",
            "latencies",
            load,
        ),
        (
            "UPDATE jobs SET iops = iops + 1 WHERE run_number = 3 AND job_index = 1",
            "summary",
            list,
        ),
        (
            "UPDATE runs SET label = 'a \"quoted\" mabel' WHERE run_number = 3",
            "summary",
            list,
        ),
        (
            "UPDATE packed_intervals SET numbers = CAST(numbers || x'00' AS BLOB) \
             WHERE run_number = 3 AND job_index = 0",
            "intervals 0",
            intervals,
        ),
        (
            "UPDATE packed_intervals SET latencies = CAST(latencies || x'00' AS BLOB) \
             WHERE run_number = 3 AND job_index = 0",
            "interval latencies 0",
            intervals,
        ),
        (
            "DELETE FROM packed_intervals WHERE run_number = 3 AND job_index = 0",
            "intervals 0",
            load,
        ),
    ];
    for (sql, part, read) in cases {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        filled(&path);
        read(&Store::open_read_only(&path).unwrap()).unwrap();
        changed(&path, sql);
        let store = Store::open_read_only(&path).unwrap();
        let error = read(&store).unwrap_err();
        let ErrorKind::DamagedRun { run, detail } = error.kind() else {
            panic!("{sql}: {error:?}");
        };
        assert_eq!(*run, id(2));
        assert!(detail.contains(part), "{sql}: {detail}");
        assert!(error.to_string().contains(&id(2)), "{error}");
        assert!(error.hint().contains(&id(2)), "{}", error.hint());
        // The others are as they were.
        let others = store.list_readable(&Filter::default()).unwrap();
        for run in others.runs.iter().filter(|run| run.id != id(2)) {
            assert_eq!(store.load(&run.id).unwrap(), finished(&run.id, 2, 40));
        }
        assert_eq!(others.runs.len() + others.unreadable.len(), RUNS as usize);
    }
}

/// The record is worth more than the rows that were stored on its way.
#[test]
fn a_run_whose_stored_intervals_are_damaged_is_finished_with_its_record() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton("run", 1)).unwrap();
    for index in 0..40 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    store.flush(&mut run).unwrap();
    changed(
        &path,
        "UPDATE intervals SET read_latency_ns_v2 = x'00' WHERE interval_index = 7",
    );
    let record = finished("run", 1, 40);
    store.finish_run(run, &record).unwrap();
    assert_eq!(store.load("run").unwrap(), record);
    store.load_intervals("run", 0).unwrap_err();
}

/// What is lost of a run is lost alone.
#[test]
fn a_record_whose_intervals_are_lost_is_salvaged_without_them() {
    let directory = tempfile::tempdir().unwrap();
    let (path, to) = (
        directory.path().join("store.db"),
        directory.path().join("saved.db"),
    );
    filled(&path);
    let lost = "DELETE FROM packed_intervals WHERE run_number = 3 AND job_index = 0";
    changed(&path, lost);
    let owner = stripewise_store::Owner::of_this_process("here");
    Store::salvage(&path, &to, owner).unwrap();
    let saved = open(&to).unwrap();
    let mut record = finished(&id(2), 2, 40);
    record.jobs[0].outcome.intervals.clear();
    assert_eq!(saved.load(&id(2)).unwrap(), record);
    assert_eq!(saved.load(&id(3)).unwrap(), finished(&id(3), 2, 40));
}

#[test]
fn a_document_that_changed_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    changed(
        &path,
        "UPDATE documents SET json = replace(json, '12345', '12745')",
    );
    let store = Store::open_read_only(&path).unwrap();
    for error in [
        store.document("baseline", "nightly").unwrap_err(),
        store.documents("baseline").unwrap_err(),
    ] {
        assert!(error.to_string().contains("baseline nightly"), "{error}");
    }
}

#[test]
fn a_damaged_document_hides_no_other_and_can_be_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let mut store = open(&path).unwrap();
    let other = StoredDocument {
        name: "weekly".to_owned(),
        stored_at: "2026-11-22T20:15:30Z".to_owned(),
        json: "{}".to_owned(),
    };
    store.store_document("baseline", &other).unwrap();
    drop(store);
    changed(
        &path,
        "UPDATE documents SET json = replace(json, '12345', '12745') WHERE name = 'nightly'",
    );
    let store = open(&path).unwrap();
    let mut seen = Vec::new();
    let damaged = store
        .each_readable_document("baseline", &mut |document| seen.push(document))
        .unwrap();
    assert_eq!(seen, [other]);
    let names: Vec<&str> = damaged.iter().map(|one| one.run.as_str()).collect();
    assert_eq!(names, ["nightly"]);
    let kind = damaged[0].error.kind();
    assert!(
        matches!(kind, ErrorKind::DamagedDocument { .. }),
        "{kind:?}"
    );
    assert_eq!(
        store.document_names("baseline").unwrap(),
        ["nightly", "weekly"]
    );
    drop(store);
    let to = directory.path().join("saved.db");
    let owner = stripewise_store::Owner::of_this_process("here");
    let salvaged = Store::salvage(&path, &to, owner).unwrap();
    assert_eq!(salvaged.cut_short, ["documents"]);
    assert_eq!(open(&to).unwrap().documents("baseline").unwrap(), seen);
    let mut store = open(&path).unwrap();
    assert!(store.has_document("baseline", "nightly").unwrap());
    assert!(store.forget_document("baseline", "nightly").unwrap());
    assert!(!store.has_document("baseline", "nightly").unwrap());
    assert_eq!(store.documents("baseline").unwrap().len(), 1);
}

/// Each bit flip shows: what is read is what was stored, or it is an error. And
/// whatever is hit, the runs that are not can still be read.
#[test]
fn bit_flips_change_nothing_silently_and_leave_the_other_runs_readable() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = SeededRng(19);
    let (mut noticed, mut opened) = (0, 0);
    for attempt in 0..120 {
        let mut bytes = whole.clone();
        // What is before is the header and the tables' own page.
        let at = 4096 + usize::try_from(rng.below(bytes.len() as u64 - 4096)).unwrap();
        bytes[at] ^= 1 << rng.below(8);
        std::fs::write(&path, &bytes).unwrap();
        let Ok(store) = Store::open_read_only(&path) else {
            noticed += 1;
            continue;
        };
        opened += 1;
        let Ok(listing) = store.list_readable(&Filter::default()) else {
            noticed += 1;
            continue;
        };
        let mut bad = listing.unreadable.len();
        for run in &listing.runs {
            match store.load(&run.id) {
                Ok(record) => assert_eq!(record, finished(&run.id, 2, 40), "attempt {attempt}"),
                Err(_) => bad += 1,
            }
            for job in 0..2 {
                if let Ok(intervals) = store.load_intervals(&run.id, job) {
                    let all = intervals.iter().enumerate();
                    for (index, stored) in all {
                        assert_eq!(stored.interval, interval(index as u64), "attempt {attempt}");
                    }
                }
            }
        }
        noticed += usize::from(bad > 0);
        assert!(bad <= listing.runs.len() + listing.unreadable.len());
    }
    assert!(opened > 100, "only {opened} could be opened");
    assert!(noticed > 12, "only {noticed} were noticed");
}

/// The id of a run is in the table and in its index: whichever is damaged, the name shown in a list
/// finds the run and its damage.
#[test]
fn a_run_is_found_by_the_name_that_its_damage_is_reported_under() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let whole = std::fs::read(&path).unwrap();
    let name = id(3);
    let is_there = |at: &usize| whole[*at..].starts_with(name.as_bytes());
    let mut damaged = 0;
    for at in (0..whole.len()).filter(is_there) {
        let mut bytes = whole.clone();
        bytes[at + name.len() - 1] = b'x';
        std::fs::write(&path, &bytes).unwrap();
        let store = Store::open_read_only(&path).unwrap();
        let listing = store.list_readable(&Filter::default()).unwrap();
        let named = listing.unreadable.iter().map(|unreadable| &unreadable.run);
        for run in named.chain(listing.runs.iter().map(|run| &run.id)) {
            if let Err(error) = store.load(run) {
                let is_named = matches!(error.kind(), ErrorKind::DamagedRun { .. });
                assert!(is_named, "{run}, byte {at}: {error}");
                damaged += 1;
            }
        }
    }
    assert!(damaged > 0);
}

#[test]
fn a_lost_page_of_the_table_costs_its_own_runs_only() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    for number in 0..200 {
        store
            .save_run(&finished(&format!("run-{number:03}"), 1, 1))
            .unwrap();
    }
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
        .unwrap();
    let root: u64 = connection
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'runs'",
            (),
            |row| row.get::<_, i64>(0),
        )
        .unwrap() as u64;
    drop(connection);
    let mut bytes = std::fs::read(&path).unwrap();
    let page = |number: u64| (number as usize - 1) * 4096;
    // The first child of the root is a leaf: see "B-tree Pages" of SQLite's format.
    let at = page(root);
    assert_eq!(bytes[at], 5, "the table has more than a page");
    let cell = at + usize::from(u16::from_be_bytes([bytes[at + 12], bytes[at + 13]]));
    let leaf = u32::from_be_bytes(bytes[cell..cell + 4].try_into().unwrap());
    bytes[page(u64::from(leaf))..][..4096].fill(0xa5);
    std::fs::write(&path, &bytes).unwrap();

    let store = Store::open_read_only(&path).unwrap();
    let listing = store.list_readable(&Filter::default()).unwrap();
    assert_eq!(listing.runs.len() + listing.unreadable.len(), 200);
    assert!(listing.runs.len() > 100, "{}", listing.runs.len());
    assert!(!listing.unreadable.is_empty());
    for unreadable in &listing.unreadable {
        assert!(unreadable.run.starts_with("run-"), "{}", unreadable.run);
    }
    assert_eq!(listing.runs[0].id, "run-199");
}

/// Pages of the list of tables, and those of the tables themselves.
#[test]
fn what_can_be_read_of_a_damaged_store_is_saved_as_another() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("it's a store.db");
    filled(&path);
    let whole = std::fs::read(&path).unwrap();
    let last = whole.len() / 4096;
    // The list of tables is a tree: its root, and the pages below, which lie behind the
    // first page of each table.
    let below = (1..last).filter(|page| {
        let page = &whole[page * 4096..][..4096];
        page.windows(12).any(|text| text == b"CREATE TABLE")
    });
    let schema: Vec<usize> = [0].into_iter().chain(below).collect();
    assert!(schema.len() > 2, "{schema:?}");
    for (number, page) in schema.iter().copied().chain([last / 2]).enumerate() {
        let mut bytes = whole.clone();
        let header = if page == 0 { 100 } else { 0 };
        bytes[page * 4096 + header..][..4096 - header].fill(0xa5);
        std::fs::write(&path, &bytes).unwrap();
        let error = Store::open_read_only(&path)
            .and_then(|store| store.check())
            .unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Damaged { .. }), "{error}");
        assert!(
            error.hint().contains("history salvage saved.db --store "),
            "{}",
            error.hint()
        );
        let to = directory.path().join(format!("saved{number}.db"));
        let owner = stripewise_store::Owner::of_this_process("here");
        let salvaged = Store::salvage(&path, &to, owner.clone()).unwrap();
        let store = open(&to).unwrap();
        store.check().unwrap();
        let listing = store.list_readable(&Filter::default()).unwrap();
        assert_eq!(salvaged.runs, listing.runs.len() + listing.unreadable.len());
        let lost_page = page == last / 2;
        match lost_page {
            true => assert!(
                listing.runs.len() > RUNS as usize / 2,
                "{}",
                listing.runs.len()
            ),
            false => assert_eq!(
                (listing.runs.len(), salvaged.cut_short),
                (RUNS as usize, vec![])
            ),
        }
        assert_eq!(
            std::fs::read(&path).unwrap(),
            bytes,
            "the damaged one is left as it is"
        );
        let again = Store::salvage(&path, &to, owner).unwrap_err();
        assert!(matches!(again.kind(), ErrorKind::Misuse(_)), "{again}");
    }
    let left = std::fs::read_dir(directory.path()).unwrap().flatten();
    assert!(
        left.map(|entry| entry.file_name())
            .all(|name| !name.to_string_lossy().contains("salvage"))
    );
}

/// On a network file system a transaction changes the file itself: what it had before is in
/// its journal.
#[test]
fn what_a_killed_transaction_changed_is_undone_in_what_is_saved() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let writer = rusqlite::Connection::open(&path).unwrap();
    // So few pages fit that most of them are in the file before the transaction ends.
    writer
        .execute_batch(
            "PRAGMA journal_mode = TRUNCATE; PRAGMA cache_size = 5; \
             BEGIN; UPDATE records SET json = replace(json, '20261122', '20201122');",
        )
        .unwrap();
    let killed = directory.path().join("killed.db");
    for suffix in ["", "-journal"] {
        let name = |of: &Path| format!("{}{suffix}", of.display());
        std::fs::copy(name(&path), name(&killed)).unwrap();
    }
    drop(writer);
    let to = directory.path().join("saved.db");
    let owner = stripewise_store::Owner::of_this_process("here");
    let salvaged = Store::salvage(&killed, &to, owner).unwrap();
    assert_eq!((salvaged.runs, salvaged.cut_short), (RUNS as usize, vec![]));
    let store = open(&to).unwrap();
    for number in 0..RUNS {
        assert_eq!(store.load(&id(number)).unwrap().id, id(number));
    }
}

#[test]
fn a_damaged_run_that_was_cut_short_keeps_nobody_from_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let gone = stripewise_store::Owner {
        process_start: "1".to_owned(),
        ..stripewise_store::Owner::of_this_process("here")
    };
    let mut store = Store::open(&path, gone).unwrap();
    for id in ["whole", "damaged"] {
        drop(store.begin_run(&skeleton(id, 1)).unwrap());
    }
    drop(store);
    changed(&path, "UPDATE records SET json = '{' WHERE run_number = 2");
    let mut store = open(&path).unwrap();
    assert_eq!(store.recovered(), ["whole"]);
    assert_eq!(store.unrecovered().len(), 1);
    assert_eq!(store.unrecovered()[0].run, "damaged");
    store.save_run(&finished("new", 1, 1)).unwrap();
    store.delete(&["damaged".to_owned()]).unwrap();
    drop(store);
    assert!(open(&path).unwrap().unrecovered().is_empty());
}

#[test]
fn a_number_names_only_a_run_whose_id_is_lost() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    for id in ["first", "second"] {
        store.save_run(&finished(id, 1, 1)).unwrap();
    }
    for name in ["number-1", "number-2", "number-3"] {
        assert!(store.resolve(name).is_err(), "{name}");
        assert!(store.delete(&[name.to_owned()]).is_err(), "{name}");
    }
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 2);
    drop(store);
    // Not text any more.
    changed(
        &path,
        "UPDATE runs SET id = CAST(x'ff' AS TEXT) WHERE run_number = 2",
    );
    let mut store = open(&path).unwrap();
    let name = store.resolve("number-2").unwrap();
    store.delete(&[name]).unwrap();
    let left = store.list(&Filter::default()).unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].id, "first");
}
