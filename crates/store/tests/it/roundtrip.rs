use crate::common::*;
use stripewise_results::{Document, INTERVALS_MAX, Interval, Status};
use stripewise_stats::Histogram;
use stripewise_store::{ErrorKind, Filter, IntervalHistograms, MadeFile, Store, StoredDocument};

#[test]
fn a_finished_run_comes_back_byte_for_byte_with_its_latencies() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("new/deeper/store.db")).unwrap();
    let mut run = store
        .begin_run(&skeleton("20261121-201530-aaaa", 2))
        .unwrap();
    for index in 0..37 {
        append(&mut store, &mut run, 0, index).unwrap();
        append(&mut store, &mut run, 1, index).unwrap();
    }
    let record = finished("20261121-201530-aaaa", 2, 37);
    let printed = Document::new(vec![record.clone()]).to_json();
    store.finish_run(run, &record).unwrap();

    let loaded = store.load("20261121-201530-aaaa").unwrap();
    assert_eq!(Document::new(vec![loaded.clone()]).to_json(), printed);
    // Equality covers the histograms too, which are not in the JSON.
    assert_eq!(loaded, record);
    let intervals = store.load_intervals("last-run", 1).unwrap();
    assert_eq!(intervals.len(), 37);
    assert_eq!(intervals[36].interval, interval(36));
    assert_eq!(intervals[36].histograms.read, Some(latencies(36).0));
    store.check().unwrap();
}

#[test]
fn a_saved_run_is_there_and_its_id_is_taken() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    let record = finished("one", 1, 3);
    store.save_run(&record).unwrap();
    assert_eq!(store.load("one").unwrap(), record);
    let again = store.save_run(&record).unwrap_err();
    assert!(matches!(again.kind(), ErrorKind::Misuse(_)), "{again}");
    let begun = store.begin_run(&skeleton("one", 1)).unwrap_err();
    assert!(matches!(begun.kind(), ErrorKind::Misuse(_)), "{begun}");
    assert_eq!(store.load("one").unwrap(), record);
}

#[test]
fn a_new_run_whose_id_is_taken_is_kept_under_the_next_free_one() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    for taken in ["one", "two"] {
        store.save_run(&finished(taken, 1, 3)).unwrap();
    }
    let mut record = finished("one", 1, 2);
    let mut ids = ["two", "three", "four"].into_iter().map(str::to_owned);
    store
        .save_new_run(&mut record, || ids.next().unwrap())
        .unwrap();
    assert_eq!(record.id, "three");
    assert_eq!(store.load("three").unwrap(), record);
    assert_eq!(store.load("one").unwrap(), finished("one", 1, 3));
    // If no id is free, the record is not stored, and nothing is replaced.
    let refused = store.save_new_run(&mut record, || "two".to_owned());
    assert!(matches!(refused.unwrap_err().kind(), ErrorKind::Misuse(_)));
    assert_eq!(store.load("two").unwrap(), finished("two", 1, 3));
}

#[test]
fn an_id_of_anything_in_the_store_is_not_free() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    let mut record = finished("a-run", 1, 1);
    record.series = Some("a-series".to_owned());
    store.save_run(&record).unwrap();
    let document = StoredDocument {
        name: "an-experiment".to_owned(),
        stored_at: "2026-11-21T20:15:30Z".to_owned(),
        json: "{}".to_owned(),
    };
    store.store_document("experiment", &document).unwrap();
    for taken in ["a-run", "a-series", "an-experiment"] {
        assert!(!store.is_free(taken).unwrap(), "{taken}");
    }
    assert!(store.is_free("a").unwrap());
}

#[test]
fn intervals_of_a_long_run_are_joined_to_4096_and_stay_true() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    let mut run = store.begin_run(&skeleton("long", 1)).unwrap();
    let count = INTERVALS_MAX as u64 + 1;
    for index in 0..count {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    store.finish_run(run, &finished("long", 1, 2)).unwrap();
    let loaded = store.load_intervals("long", 0).unwrap();
    assert_eq!(loaded.len() as u64, count.div_ceil(2));
    let operations: u64 = loaded
        .iter()
        .map(|loaded| loaded.interval.operations())
        .sum();
    assert_eq!(operations, count * (READS + WRITES));
    let first = &loaded[0].interval;
    assert_eq!(
        (first.start_ns, first.duration_ns, first.errors),
        (0, 200_000_000, 1)
    );
    // Of 240 latencies the 238th is one of the slower writes.
    assert!(!first.latency_ns_p99_is_bound);
    assert_eq!(
        loaded[0].histograms.write.as_ref().unwrap().count(),
        2 * WRITES
    );
    store.check().unwrap();
}

/// Runs of a bench have hundreds of intervals each: the stored ones are packed, once.
#[test]
fn a_finished_run_keeps_its_intervals_once_and_packed() {
    const INTERVALS: u64 = 1_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton("run", 2)).unwrap();
    for index in 0..INTERVALS {
        for job in 0..2 {
            append(&mut store, &mut run, job, index).unwrap();
        }
    }
    let record = finished("run", 2, INTERVALS);
    // Those who look on see the last ones before and after it is finished.
    let seen = |store: &Store| store.intervals_from("run", 1, 0, 3).unwrap();
    store.flush(&mut run).unwrap();
    let last = seen(&store);
    assert_eq!(last.len(), 3);
    store.finish_run(run, &record).unwrap();
    assert_eq!(seen(&store), last);
    assert_eq!(store.load("run").unwrap(), record);
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let bytes = |query: &str| -> i64 { connection.query_row(query, (), |row| row.get(0)).unwrap() };
    assert_eq!(bytes("SELECT count(*) FROM intervals"), 0);
    let packed = bytes("SELECT sum(length(numbers) + length(latencies)) FROM packed_intervals");
    let each = packed / (2 * INTERVALS.cast_signed());
    assert!(each < 60, "{each} bytes an interval");
    let json = bytes("SELECT length(json) FROM records");
    assert!(
        json < 10_000,
        "{json} bytes of a record without its intervals"
    );
}

/// A copy of a store is not nine parts in ten of nothing.
#[test]
fn a_store_is_not_left_full_of_unused_pages_by_a_long_run() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton("long", 1)).unwrap();
    for index in 0..8 * INTERVALS_MAX as u64 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    store.finish_run(run, &finished("long", 1, 2)).unwrap();
    drop(store);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let number = |name: &str| -> i64 {
        connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap()
    };
    let (unused, pages) = (number("freelist_count"), number("page_count"));
    assert!(unused <= 256 || unused * 4 <= pages, "{unused} of {pages}");
}

#[test]
fn a_run_is_visible_to_others_while_it_is_under_way() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton("busy", 1)).unwrap();
    for index in 0..25 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    let reader = Store::open_read_only(&path).unwrap();
    // Handed over every second of the run; the rest waits.
    assert_eq!(reader.load_intervals("busy", 0).unwrap().len(), 20);
    store.flush(&mut run).unwrap();
    assert_eq!(reader.load_intervals("busy", 0).unwrap().len(), 25);
    assert_eq!(reader.load("busy").unwrap().status, Status::Running);
    // Opening it for writing leaves a run alone whose process lives.
    let other = open(&path).unwrap();
    assert!(other.recovered().is_empty());
    assert_eq!(other.load("busy").unwrap().status, Status::Running);
}

#[test]
fn calls_that_do_not_fit_the_run_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    let mut run = store.begin_run(&skeleton("one", 1)).unwrap();
    assert!(append(&mut store, &mut run, 1, 0).is_err());
    assert!(store.delete(&["one".to_owned()]).is_err());
    let error = store.finish_run(run, &finished("two", 1, 1)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Misuse(_)), "{error}");
    assert_eq!(store.load("one").unwrap().status, Status::Running);
}

#[test]
fn kept_files_come_back_with_all_their_marks() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    let file = MadeFile {
        id: "k3f9".to_owned(),
        device: u64::MAX - 7,
        inode: 42,
        birth_ns: Some(1_763_755_530_123_456_789),
        path: "/data/stripewise.test".to_owned(),
        size_bytes: 1 << 40,
        made_at: "2026-11-21T20:15:30Z".to_owned(),
    };
    store.remember_file(&file).unwrap();
    assert_eq!(store.files().unwrap(), std::slice::from_ref(&file));

    let moved = MadeFile {
        path: "/data/moved".to_owned(),
        birth_ns: None,
        ..file.clone()
    };
    store.remember_file(&moved).unwrap();
    assert_eq!(store.files().unwrap(), [moved]);
    assert!(store.forget_file("k3f9").unwrap());
    assert!(!store.forget_file("k3f9").unwrap());
    assert!(store.files().unwrap().is_empty());
}

#[test]
fn discards_come_back_apart_from_reads_and_writes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut latency_ns = Histogram::new();
    latency_ns.record_n(30_000, 50);
    let mut run = store.begin_run(&skeleton("discards", 1)).unwrap();
    let first = Interval {
        discard_operations: 50,
        ..interval(0)
    };
    let histograms = IntervalHistograms {
        discard: Some(&latency_ns),
        ..IntervalHistograms::default()
    };
    store
        .append_interval(&mut run, 0, &first, histograms)
        .unwrap();
    let record = with_discards("discards");
    store.finish_run(run, &record).unwrap();
    assert_eq!(store.load("discards").unwrap(), record);
    let intervals = store.load_intervals("discards", 0).unwrap();
    assert_eq!(intervals[0].interval, first);
    assert_eq!(intervals[0].histograms.discard, Some(latency_ns));
    let listed = &store.list(&Filter::default()).unwrap()[0].jobs[0];
    assert_eq!(listed.discard_percent, 20);
    let outcome = record.jobs[0].outcome.discard.as_ref();
    assert_eq!(
        listed.discard_latency_ns_p99,
        outcome.and_then(|kind| kind.latency_ns).map(|ns| ns.p99)
    );
    store.check().unwrap();
    drop(store);
    // What belongs to discards is summed as all else is.
    rusqlite::Connection::open(&path)
        .unwrap()
        .execute(
            "UPDATE packed_intervals SET numbers = CAST(numbers || x'00' AS BLOB)",
            (),
        )
        .unwrap();
    assert!(open(&path).unwrap().load_intervals("discards", 0).is_err());
}
