//! `watch`: a run of another process, in the terminal.

use super::support::{Desk, users_file};
use rustix::process::Signal;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Stdio};

/// `watch` in a terminal.
struct Watching {
    child: Child,
    stdout: BufReader<ChildStdout>,
    printed: String,
}

impl Watching {
    /// Starts it, and reads until it has printed this.
    fn until(desk: &Desk, words: &str) -> Watching {
        let mut command = desk.command(&["watch"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut printed = String::new();
        while !printed.contains(words) {
            let read = stdout.read_line(&mut printed).expect("text");
            assert!(read > 0, "it ended: {printed}");
        }
        Watching {
            child,
            stdout,
            printed,
        }
    }

    /// All that it printed until nothing ran any more.
    fn end(mut self) -> String {
        let stdout = &mut self.stdout;
        stdout.read_to_string(&mut self.printed).expect("text");
        assert!(self.child.wait().expect("its end").success());
        self.printed
    }
}

#[test]
fn where_nothing_runs_watch_says_so_and_ends() {
    let desk = Desk::new();
    desk.run(&["watch"])
        .done()
        .warned(&["No run is in progress"]);
    desk.run(&["run", "sim:nvme", "--duration", "1ms", "--quiet"])
        .done();
    desk.run(&["watch"])
        .done()
        .warned(&["No run is in progress"]);
    let now = desk.json(&["watch"]);
    assert!(now.at("runs").json() == "[]" && now.maybe("host.cpu_busy_ns").is_some());
}

/// So is what is left of an experiment on layouts, by the passes that it will need.
#[test]
fn advice_of_another_process_says_how_long_all_of_it_takes() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    let switches = "--mix random-read=1 --vary offset=0,4K,1M --busy-ok --quiet";
    let advise: Vec<&str> = ["advise", &file]
        .into_iter()
        .chain(switches.split(' '))
        .collect();
    // Runs of 1.1 s, three to a pass, six passes: later ones are judged by how long passes took.
    const RUN_NS: u64 = 1_100_000_000;
    let first_pass = || {
        let desk = Desk::new();
        let mut running = desk.start(&advise);
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        running.until_true("the second pass", || {
            let now = desk.json(&["watch"]);
            if let Some(all) = now.maybe("runs.0.left_of_all_ns") {
                let id = now.at("runs.0.id").text();
                seen.entry(id).or_insert(all.count());
            }
            desk.ids().len() > 3
        });
        running.signal(Signal::INT);
        running.wait();
        let ids = desk.ids().into_iter().rev().take(3);
        let left: Vec<Option<u64>> = ids.map(|id| seen.get(&id).copied()).collect();
        left
    };
    // Who looks on may see some of them only.
    let mut tries = (0..20).map(|_| first_pass());
    let left = tries.find(|left| left.iter().flatten().count() > 1);
    let left = left.expect("two runs of the first pass were seen");
    for (before, left) in left.iter().enumerate() {
        let behind_it = (17 - before as u64) * RUN_NS;
        let is_right = |left: &u64| (behind_it..=behind_it + RUN_NS).contains(left);
        assert!(left.as_ref().is_none_or(is_right), "run {before}: {left:?}");
    }
}

/// What is left of a whole bench is told to those who only look on.
#[test]
fn a_bench_of_another_process_says_how_long_all_of_it_takes() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    // A minute at least, of which it sees three steps.
    let switches = "--series random-read,sequential-read --read-only --step 3s --time 10m --busy-ok --no-report --quiet";
    let arguments: Vec<&str> = ["bench", &file]
        .into_iter()
        .chain(switches.split(' '))
        .collect();
    let mut running = desk.start(&arguments);
    let mut seen = Vec::new();
    let mut watching = None;
    running.until_true("some steps were seen", || {
        let now = desk.json(&["watch"]);
        if let Some(all) = now.maybe("runs.0.left_of_all_ns") {
            let step = now.at("runs.0.left_ns").count();
            seen.push((now.at("runs.0.id").text(), step, all.count()));
            watching.get_or_insert_with(|| Watching::until(&desk, " left in total\n"));
        }
        let steps: BTreeSet<&String> = seen.iter().map(|one| &one.0).collect();
        steps.len() > 2
    });
    running.signal(Signal::INT);
    running.wait();
    watching.expect("it was seen").end();
    // Many steps are still to come behind the first: far more than its own second or two.
    let (_, step, all) = seen[0].clone();
    assert!(all > step + 3_000_000_000, "{seen:?}");
    assert!(all < 600_000_000_000, "{seen:?}");
    let last = seen.last().expect("seen");
    assert!(last.2 < all, "it gets less: {seen:?}");
    // A run that stands alone has nothing behind it.
    let mut alone = desk.start(&[
        "run",
        &file,
        "--duration",
        "1h",
        "--cache",
        "buffered",
        "--busy-ok",
        "--quiet",
    ]);
    alone.until_true("going on", || {
        desk.json(&["watch"]).at("runs").json() != "[]"
    });
    let now = desk.json(&["watch"]);
    assert!(now.maybe("runs.0.left_of_all_ns").is_none(), "{now:?}");
    alone.signal(Signal::INT);
    alone.wait();
}

#[test]
fn a_run_of_another_process_is_shown_interval_by_interval() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    let arguments = [
        "run",
        &file,
        "--duration",
        "1h",
        "--interval",
        "500ms",
        "--cache",
        "buffered",
        "--busy-ok",
        "--label",
        "of cron",
        "--quiet",
    ];
    let mut running = desk.start(&arguments);
    running.until_true("going on", || {
        desk.json(&["watch"]).at("runs").json() != "[]"
    });
    let watching = Watching::until(&desk, "in flight");
    running.signal(Signal::INT);
    running.wait().ended(130);
    let watched = watching.end();
    for words in [
        "random on",
        "of cron",
        "IOPS",
        "MiB/s",
        "reads p50",
        "in flight",
    ] {
        assert!(watched.contains(words), "{words}: {watched}");
    }
    assert!(!watched.contains("MiB/s MiB/s"), "{watched}");
}
