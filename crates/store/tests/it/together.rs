//! Two processes and the same store.

use crate::common::*;
use std::io::{BufRead, BufReader, Write};
use stripewise_results::Status;
use stripewise_store::{ErrorKind, Filter, Owner, Store, save_each_in_new};

/// The child: a whole run, or a lock held until standard input closes.
#[test]
#[ignore = "the child of other tests"]
fn child_beside_others() {
    let Some((role, path)) = child_role() else {
        return;
    };
    if role == "lock" {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
        writeln!(std::io::stdout(), "locked").unwrap();
        std::io::stdin().read_line(&mut String::new()).unwrap();
        return;
    }
    if let Some(id) = role.strip_prefix("first:") {
        // All begin together, at the parent's word.
        std::io::stdin().read_line(&mut String::new()).unwrap();
        let mut store = open(&path).unwrap();
        store.save_run(&finished(id, 1, 1)).unwrap();
        return;
    }
    let mut store = open(&path).unwrap();
    for number in 0..5 {
        let id = format!("{role}-{number}");
        let mut run = store.begin_run(&skeleton(&id, 1)).unwrap();
        for index in 0..200 {
            append(&mut store, &mut run, 0, index).unwrap();
        }
        store.finish_run(run, &finished(&id, 1, 200)).unwrap();
    }
}

#[test]
fn two_processes_write_at_once_and_a_third_reads() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    // Neither finds a store: both try to make it.
    let mut children =
        ["left", "right"].map(|role| child("together::child_beside_others", role, &path));
    while children
        .iter_mut()
        .any(|child| child.try_wait().unwrap().is_none())
    {
        if let Ok(reader) = Store::open_read_only(&path) {
            for run in reader.list(&Filter::default()).unwrap() {
                reader.load(&run.id).unwrap();
            }
        }
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let store = open(&path).unwrap();
    let runs = store.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 10);
    for run in runs {
        assert_eq!(run.status, Status::Complete);
        assert_eq!(store.load_intervals(&run.id, 0).unwrap().len(), 200);
    }
    store.check().unwrap();
}

#[test]
fn twenty_processes_that_make_the_store_at_once_all_find_one() {
    const ROUNDS: usize = 8;
    const PROCESSES: usize = 20;
    let directory = tempfile::tempdir().unwrap();
    for round in 0..ROUNDS {
        let path = directory.path().join(format!("store-{round}.db"));
        let mut children: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let role = format!("first:{number:02}");
                child("together::child_beside_others", &role, &path)
            })
            .collect();
        for child in &mut children {
            drop(child.stdin.take());
        }
        let failed = children
            .iter_mut()
            .filter_map(|child| (!child.wait().unwrap().success()).then_some(()))
            .count();
        assert_eq!(failed, 0, "round {round}: {failed} of {PROCESSES} failed");
        let store = open(&path).unwrap();
        assert_eq!(store.list(&Filter::default()).unwrap().len(), PROCESSES);
        store.check().unwrap();
    }
}

#[test]
fn others_write_while_runs_that_come_one_by_one_are_gathered() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut other = open_impatiently(&path).unwrap();
    store.save_run(&finished("known", 1, 1)).unwrap();
    let come = ["first", "known", "first", "second"];
    let mut import = |why: Result<(), &'static str>| {
        store.save_each(|saving| {
            let new = come.map(|id| saving.save(&finished(id, 1, 1)));
            let id = format!("measured-{why:?}");
            other.save_run(&finished(&id, 1, 1)).unwrap();
            why.map(|()| new)
        })
    };
    assert_eq!(import(Err("unreadable")).unwrap(), Err("unreadable"));
    let new = import(Ok(())).unwrap();
    assert_eq!(new, Ok([true, false, false, true]));
    let runs = store.list(&Filter::default()).unwrap();
    let ids: Vec<&str> = runs.iter().map(|run| run.id.as_str()).collect();
    let measured = ["measured-Ok(())", "measured-Err(\"unreadable\")"];
    assert_eq!(ids, ["second", "first", measured[0], measured[1], "known"]);
    let loaded = store.load("second").unwrap();
    assert_eq!(loaded, finished("second", 1, 1));
    store.check().unwrap();
}

#[test]
fn only_runs_that_are_kept_make_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let owner = Owner::of_this_process("here");
    let import = |why: std::result::Result<(), &'static str>| {
        let opened = || open(&path).map_err(|_| "not opened");
        save_each_in_new(&owner, opened, |saving| {
            let new = ["one", "one", "two"].map(|id| saving.save(&finished(id, 1, 1)));
            why.map(|()| new)
        })
    };
    assert_eq!(import(Err("unreadable")).unwrap(), Err("unreadable"));
    assert!(!path.exists());
    assert_eq!(import(Ok(())).unwrap(), Ok([true, false, true]));
    // Another process may have kept the same meanwhile.
    assert_eq!(import(Ok(())).unwrap(), Ok([true, false, true]));
    let store = open(&path).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 2);
    assert_eq!(store.load("two").unwrap(), finished("two", 1, 1));
    store.check().unwrap();
}

#[test]
fn a_run_that_was_taken_back_can_come_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let given = store.save_each(|saving| {
        let one = saving.save(&finished("one", 1, 1)) && saving.save(&finished("two", 1, 1));
        saving.take_back("one");
        saving.take_back("two");
        let again = saving.save(&finished("two", 1, 1));
        Ok::<_, &'static str>([one, again])
    });
    assert_eq!(given.unwrap(), Ok([true, true]));
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    assert_eq!(store.load("two").unwrap(), finished("two", 1, 1));
    store.check().unwrap();
}

#[test]
fn a_locked_store_names_who_holds_it_and_costs_a_measurement_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open_impatiently(&path).unwrap();
    let mut run = store.begin_run(&skeleton("one", 1)).unwrap();

    let mut child = child("together::child_beside_others", "lock", &path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "locked"));

    // Intervals are put off without an error...
    for index in 0..50 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    // ... what must be written now says who is in the way.
    let error = store.flush(&mut run).unwrap_err();
    let text = error.to_string();
    let ErrorKind::Locked {
        holder: Some(holder),
    } = error.kind()
    else {
        panic!("{error:?}");
    };
    assert!(
        holder.contains(&format!("process {}", child.id())),
        "{text}"
    );
    assert!(
        text.contains(holder) && error.hint().contains("--store"),
        "{text}"
    );

    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    store.finish_run(run, &finished("one", 1, 50)).unwrap();
    assert_eq!(store.load_intervals("one", 0).unwrap().len(), 50);
}
