//! Killing a writer at any moment loses nothing that was handed over.

use crate::common::*;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use stripewise_results::Status;
use stripewise_store::Filter;

const RUN: &str = "20261121-201530-dead";

/// The child: begins a run, hands over interval after interval and says so.
#[test]
#[ignore = "the child of other tests"]
fn child_that_writes() {
    let Some((role, path)) = child_role() else {
        return;
    };
    let mut out = std::io::stdout();
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton(RUN, 2)).unwrap();
    writeln!(out, "begun").unwrap();
    let intervals = if role == "finish" { 5_000 } else { u64::MAX };
    for index in 0..intervals {
        append(&mut store, &mut run, 0, index).unwrap();
        append(&mut store, &mut run, 1, index).unwrap();
        if role == "stream" {
            store.flush(&mut run).unwrap();
            writeln!(out, "stored {index}").unwrap();
        }
    }
    store.flush(&mut run).unwrap();
    let record = finished(RUN, 2, 10);
    writeln!(out, "finishing").unwrap();
    store.finish_run(run, &record).unwrap();
    writeln!(out, "finished").unwrap();
}

/// Starts the child, kills it `pause_us` after it has printed `line`, and returns all its output
/// until then.
fn kill_after(role: &str, path: &Path, line: Option<&str>, pause_us: u64) -> Vec<String> {
    let mut child = child("killed::child_that_writes", role, path);
    let mut lines_printed = Vec::new();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while let Some(line) = line {
        let Some(Ok(next)) = lines.next() else {
            panic!("the child ended before it said `{line}`: {lines_printed:?}");
        };
        let reached = next.ends_with(line);
        lines_printed.push(next);
        if reached {
            break;
        }
    }
    std::thread::sleep(std::time::Duration::from_micros(pause_us));
    child.kill().unwrap();
    child.wait().unwrap();
    lines_printed.extend(lines.map_while(std::result::Result::ok));
    lines_printed
}

fn count_stored(lines_printed: &[String]) -> usize {
    lines_printed
        .iter()
        .filter(|line| line.starts_with("stored"))
        .count()
}

#[test]
fn a_run_killed_in_its_midst_is_rebuilt_from_every_interval_handed_over() {
    let mut rng = SeededRng(20);
    for attempt in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let lines_printed = kill_after("stream", &path, Some("begun"), rng.below(30_000));
        let stored = count_stored(&lines_printed);

        let store = open(&path).unwrap();
        assert_eq!(store.recovered(), [RUN], "attempt {attempt}");
        let record = store.load("last-run").unwrap();
        assert_eq!(record.status, Status::Partial);
        assert!(record.partial_because.is_some());
        let loaded = store.load_intervals(RUN, 1).unwrap();
        // One more may have been committed than the child could still say.
        assert!(
            (stored..=stored + 1).contains(&loaded.len()),
            "{stored} {}",
            loaded.len()
        );
        for (index, loaded) in loaded.iter().enumerate() {
            assert_eq!(loaded.interval, interval(index as u64));
        }
        let outcome = &record.jobs[1].outcome;
        let expected = &finished(RUN, 2, loaded.len() as u64).jobs[1].outcome;
        assert_eq!(outcome.read, expected.read);
        assert_eq!(outcome.write, expected.write);
        assert_eq!(outcome.iops, expected.iops);
        assert_eq!(outcome.outstanding_mean, expected.outstanding_mean);
        assert_eq!(outcome.intervals, expected.intervals);
        assert_eq!(outcome.errors.total, loaded.len() as u64 / 2);
        store.check().unwrap();
        drop(store);
        assert!(
            open(&path).unwrap().recovered().is_empty(),
            "recovered twice"
        );
    }
}

#[test]
fn a_writer_killed_while_it_makes_the_store_leaves_one_that_opens() {
    let mut rng = SeededRng(7);
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        kill_after("stream", &path, None, 1_000 + rng.below(9_000));
        let mut store = open_impatiently(&path).unwrap();
        store.save_run(&finished("after", 1, 1)).unwrap();
        store.check().unwrap();
    }
}

#[test]
fn a_run_killed_while_it_is_finished_is_either_finished_or_rebuilt() {
    let mut rng = SeededRng(3);
    let (mut seen, mut attempts) = ([0, 0], 0);
    // On a busy machine the child may come to its end before it is killed.
    while attempts < 4 || seen[0] == 0 {
        assert!(attempts < 200, "no kill came before the end");
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store.db");
        let pause_us = match attempts % 4 {
            0 => 0,
            _ => rng.below(600_000),
        };
        attempts += 1;
        let lines_printed = kill_after("finish", &path, Some("finishing"), pause_us);
        let store = open_impatiently(&path).unwrap();
        let record = store.load(RUN).unwrap();
        let done = record.status == Status::Complete;
        seen[usize::from(done)] += 1;
        let acknowledged = lines_printed.last().is_some_and(|line| line == "finished");
        assert!(done || !acknowledged, "a finished run was lost");
        // Joined from 5,000 in both cases, all or not at all.
        assert_eq!(store.load_intervals(RUN, 0).unwrap().len(), 2_500);
        if done {
            assert_eq!(record, finished(RUN, 2, 10));
        } else {
            assert_eq!(record.jobs[0].outcome.read.operations, 5_000 * READS);
        }
        store.check().unwrap();
    }
}

#[test]
fn a_run_killed_before_its_first_interval_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    // Dropping the handle is all that this process needs to do: the owner that
    // the run was entered for does not exist.
    let gone = stripewise_store::Owner {
        process_start: "1".to_owned(),
        ..stripewise_store::Owner::of_this_process("here")
    };
    let mut store = stripewise_store::Store::open(&path, gone).unwrap();
    drop(store.begin_run(&skeleton("nothing", 1)).unwrap());
    drop(store);
    let store = open(&path).unwrap();
    let record = store.load("nothing").unwrap();
    assert_eq!(record.status, Status::Partial);
    assert!(
        record
            .partial_because
            .unwrap()
            .contains("before the first interval")
    );
    assert_eq!(
        record.jobs[0].outcome,
        stripewise_results::JobOutcome::default()
    );
    assert_eq!(
        store.list(&Filter::default()).unwrap()[0].status,
        Status::Partial
    );
}

/// The block size of such a job is only its largest: operations times that are too many bytes.
#[test]
fn a_killed_run_of_several_block_sizes_has_the_bytes_of_its_intervals() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let gone = stripewise_store::Owner {
        process_start: "1".to_owned(),
        ..stripewise_store::Owner::of_this_process("here")
    };
    let mut store = stripewise_store::Store::open(&path, gone).unwrap();
    let mut begun = skeleton(RUN, 1);
    let workload = &mut begun.jobs[0].workload;
    workload.block_sizes = "8K:50,64K:50".parse().unwrap();
    workload.block_size_bytes = 64 << 10;
    let mut run = store.begin_run(&begun).unwrap();
    for index in 0..10 {
        append(&mut store, &mut run, 0, index).unwrap();
    }
    store.flush(&mut run).unwrap();
    drop((run, store));
    let record = open(&path).unwrap().load(RUN).unwrap();
    let outcome = &record.jobs[0].outcome;
    assert_eq!(outcome.bytes, 10 * interval(0).bytes);
    assert_eq!(outcome.read.bytes + outcome.write.bytes, outcome.bytes);
    assert_eq!(outcome.read.bytes, 10 * READS * 8192);
}
