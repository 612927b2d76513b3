use crate::common::*;
use stripewise_results::{Imported, RunRecord, Status};
use stripewise_store::{ErrorKind, Filter, Owner, Store, StoredDocument};

fn with_runs() -> (tempfile::TempDir, Store) {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    for (id, minute, label, series) in [
        ("20261121-2010-aa", 10, "first", None),
        ("20261121-2020-ab", 20, "second", Some("ladder")),
        ("20261121-2030-b", 30, "second", Some("ladder")),
        // Imported last, and begun before the others.
        ("20251231-2359-c", 5, "old", None),
    ] {
        let mut record = finished(id, 2, 1);
        record.started_at = format!("2026-11-21T20:{minute:02}:00Z");
        record.label = Some(label.to_owned());
        record.series = series.map(str::to_owned);
        record.jobs[1].target.name = format!("/volume{minute}");
        record.imported = (label == "old").then(|| Imported {
            tool: "fio".to_owned(),
            ..Imported::default()
        });
        store.save_run(&record).unwrap();
    }
    (directory, store)
}

fn ids(store: &Store, filter: &Filter) -> Vec<String> {
    let runs = store.list(filter).unwrap();
    runs.into_iter().map(|run| run.id).collect()
}

#[test]
fn runs_are_listed_what_was_stored_last_first_with_what_their_jobs_reached() {
    let (_directory, store) = with_runs();
    let runs = store.list(&Filter::default()).unwrap();
    let order: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let expected = [
        "20251231-2359-c",
        "20261121-2030-b",
        "20261121-2020-ab",
        "20261121-2010-aa",
    ];
    assert_eq!(order, expected);
    let run = &runs[1];
    let record = store.load(&run.id).unwrap();
    assert_eq!(run.warnings, 2);
    assert_eq!(run.status, Status::Complete);
    assert_eq!(run.series.as_deref(), Some("ladder"));
    let outcome = &record.jobs[1].outcome;
    let job = &run.jobs[1];
    assert_eq!(
        (job.name.as_str(), job.target.as_str()),
        ("job1", "/volume30")
    );
    assert_eq!((job.read_percent, job.pattern.as_str()), (83, "random"));
    assert_eq!(
        (job.operations, job.iops),
        (outcome.operations, outcome.iops)
    );
    assert_eq!(
        job.read_latency_ns_p99,
        outcome.read.latency_ns.map(|latency| latency.p99)
    );
}

#[test]
fn filters_narrow_the_list() {
    let (_directory, store) = with_runs();
    let base = Filter::default;
    let cases: [(Filter, &[&str]); 8] = [
        (
            Filter {
                tool: Some("fio".into()),
                ..base()
            },
            &["20251231-2359-c"],
        ),
        (
            Filter {
                label: Some("second".into()),
                ..base()
            },
            &["20261121-2030-b", "20261121-2020-ab"],
        ),
        (
            Filter {
                series: Some("ladder".into()),
                limit: Some(1),
                ..base()
            },
            &["20261121-2030-b"],
        ),
        (
            Filter {
                target: Some("/volume10".into()),
                ..base()
            },
            &["20261121-2010-aa"],
        ),
        (
            Filter {
                status: Some(Status::Partial),
                ..base()
            },
            &[],
        ),
        (
            Filter {
                since: Some("2026-11-21T20:20:00Z".into()),
                ..base()
            },
            &["20261121-2030-b", "20261121-2020-ab"],
        ),
        (
            Filter {
                limit: Some(0),
                ..base()
            },
            &[],
        ),
        (
            Filter {
                label: Some("'; DROP TABLE runs; --".into()),
                ..base()
            },
            &[],
        ),
    ];
    for (filter, expected) in cases {
        assert_eq!(ids(&store, &filter), expected, "{filter:?}");
    }
}

#[test]
fn a_run_without_jobs_is_listed_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = open(&directory.path().join("store.db")).unwrap();
    store.save_run(&finished("empty", 0, 0)).unwrap();
    let runs = store.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 1);
    assert!(runs[0].jobs.is_empty());
}

#[test]
fn names_mean_whole_ids_unique_beginnings_or_counts_from_the_last_one_measured() {
    let (_directory, mut store) = with_runs();
    let running = store.begin_run(&skeleton("99999999-running", 1)).unwrap();
    store.save_run(&finished("20261121-2030-bb", 1, 1)).unwrap();
    let cases = [
        ("20261121-2010-aa", Some("20261121-2010-aa")),
        ("20261121-2010", Some("20261121-2010-aa")),
        ("2025", Some("20251231-2359-c")),
        // A whole id wins over longer ones that begin with it.
        ("20261121-2030-b", Some("20261121-2030-b")),
        ("last-run", Some("20261121-2030-bb")),
        ("last-run~0", Some("20261121-2030-bb")),
        ("last-run~1", Some("20261121-2030-b")),
        // What was imported is never the last.
        ("last-run~4", None),
        ("last-run~", None),
        ("last-run~x", None),
        ("last-run~-1", None),
        ("last-running", None),
        // May be several runs, so it is no run's name.
        ("last", None),
        ("", None),
        ("%", None),
        ("2026112_", None),
        ("99", Some("99999999-running")),
    ];
    for (name, expected) in cases {
        match (store.resolve(name), expected) {
            (Ok(id), Some(expected)) => assert_eq!(id, expected, "{name}"),
            (Err(error), None) => {
                assert!(
                    matches!(error.kind(), ErrorKind::NotFound { .. }),
                    "{name}: {error}"
                );
                assert!(error.is_about_a_name());
            }
            (got, _) => panic!("{name}: {got:?}"),
        }
    }
    let error = store.resolve("20261121").unwrap_err();
    let text = error.to_string();
    assert!(
        matches!(error.kind(), ErrorKind::Ambiguous { .. }),
        "{text}"
    );
    assert!(
        text.contains("20261121-2010-aa") && text.contains("20261121-2020-ab"),
        "{text}"
    );
    drop(running);
}

#[test]
fn last_is_among_documents_where_these_are_things_done() {
    let (_directory, mut store) = with_runs();
    for (day, kind, name) in [
        (21, "profile", "p"),
        (23, "verify", "v"),
        (24, "baseline", "b"),
    ] {
        let document = StoredDocument {
            name: name.to_owned(),
            stored_at: format!("2026-11-{day}T10:00:00.000Z"),
            json: "{}".to_owned(),
        };
        store.store_document(kind, &document).unwrap();
    }
    // Runs of the evening of the 21st; a baseline is nothing that was done.
    let kinds = ["profile", "verify"];
    let expected = ["v", "ladder", "20261121-2010-aa", "p"];
    for (before, expected) in expected.iter().enumerate() {
        let name = format!("last~{before}");
        assert_eq!(store.full_name_among(&name, &kinds).unwrap(), *expected);
    }
    assert!(store.full_name_among("last~4", &kinds).is_err());
    assert_eq!(store.full_name("last").unwrap(), "ladder");
}

#[test]
fn last_is_what_was_done_with_all_of_its_runs() {
    let (_directory, mut store) = with_runs();
    let full = |store: &Store, name: &str| store.full_name(name).map_err(|e| e.to_string());
    let cases = [
        ("last", "ladder"),
        ("last~0", "ladder"),
        ("last~1", "20261121-2010-aa"),
    ];
    for (name, expected) in cases {
        assert_eq!(full(&store, name).as_deref(), Ok(expected), "{name}");
    }
    // Other names are left alone, whether or not they mean something.
    for name in [
        "last-run", "lasting", "last~", "last~x", "2026", "ladder", "",
    ] {
        assert_eq!(full(&store, name).as_deref(), Ok(name), "{name}");
    }
    assert!(store.full_name("last~2").is_err());
    // A series goes by its newest run, and is not done while a run is under way.
    let mut again = finished("20261121-2040-d", 1, 1);
    store.save_run(&again).unwrap();
    again.id = "20261121-2050-e".to_owned();
    again.series = Some("ladder".to_owned());
    store.save_run(&again).unwrap();
    assert_eq!(full(&store, "last").as_deref(), Ok("ladder"));
    assert_eq!(full(&store, "last~1").as_deref(), Ok("20261121-2040-d"));
    let mut unfinished_runs = skeleton("20261121-2060-f", 1);
    unfinished_runs.series = Some("ladder".to_owned());
    let running = store.begin_run(&unfinished_runs).unwrap();
    assert_eq!(full(&store, "last").as_deref(), Ok("20261121-2040-d"));
    drop(running);
}

#[test]
fn deleting_takes_all_of_a_run_and_gives_its_space_back() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    store.save_run(&finished("keep", 1, 1)).unwrap();
    let mut run = store.begin_run(&skeleton("drop", 1)).unwrap();
    for index in 0..2000 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    store.finish_run(run, &finished("drop", 1, 2000)).unwrap();
    let before = std::fs::metadata(&path).unwrap().len();
    store.delete(&["drop".to_owned()]).unwrap();
    drop(store);
    let after = std::fs::metadata(&path).unwrap().len();
    assert!(after < before / 2, "{before} bytes before, {after} after");
    let store = open(&path).unwrap();
    assert_eq!(ids(&store, &Filter::default()), ["keep"]);
    store.check().unwrap();
}

#[test]
fn deleting_with_one_unknown_id_deletes_nothing() {
    let (_directory, mut store) = with_runs();
    let error = store
        .delete(&["20261121-2010-aa".to_owned(), "20261121".to_owned()])
        .unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NotFound { .. }),
        "{error}"
    );
    assert_eq!(ids(&store, &Filter::default()).len(), 4);
}

#[test]
#[cfg(target_os = "linux")]
fn a_series_whose_process_still_runs_is_not_what_was_done_last() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("results.db");
    let process = crate::holder::Holder::of("/dev/null");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let (_, fields) = stat.rsplit_once(')').unwrap();
    let other = Owner {
        pid: process.pid(),
        process_start: fields.split_whitespace().nth(19).unwrap().to_owned(),
        ..Owner::of_this_process("here")
    };
    let of_series = |id: &str, series: &str| RunRecord {
        series: Some(series.to_owned()),
        ..finished(id, 1, 1)
    };
    let mut here = open(&path).unwrap();
    here.save_run(&of_series("1", "done")).unwrap();
    let mut there = Store::open(&path, other).unwrap();
    there.save_run(&of_series("2", "half")).unwrap();
    for store in [&here, &Store::open_read_only(&path).unwrap()] {
        assert_eq!(store.full_name("last").unwrap(), "done");
        assert!(store.full_name("last~1").is_err());
    }
    // A single run is done when it is stored, whatever its process does next.
    there.save_run(&finished("3", 1, 1)).unwrap();
    assert_eq!(here.full_name("last").unwrap(), "3");
    drop(process);
    assert_eq!(here.full_name("last~1").unwrap(), "half");
}

#[test]
fn a_brief_record_is_the_record_without_what_is_stored_apart() {
    let (_directory, store) = with_runs();
    for run in store.list(&Filter::default()).unwrap() {
        let without = |record: RunRecord| record.without_histograms().without_intervals();
        let whole = store.load(&run.id).unwrap();
        let brief = store.load_brief(&run.id).unwrap();
        assert!(
            brief
                .jobs
                .iter()
                .all(|job| job.outcome.read.histogram.is_none())
        );
        assert_eq!(without(brief), without(whole));
    }
    assert!(store.load_brief("nothing-of-that-name").is_err());
}
