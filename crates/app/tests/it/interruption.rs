//! Signals at every stage: what was measured is kept, what was made is gone.

use crate::support::{Answer, Desk, MIB, Running, codes, names, text, until_measured, users_file};
use rustix::process::Signal;

/// A run that would take an hour, in its measurement.
fn measuring(desk: &Desk, more: &[&str]) -> Running {
    let volume = desk.volume();
    let mut all = vec![
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "1h",
        "--interval",
        "100ms",
        "--json",
    ];
    all.extend(more);
    let mut running = desk.start(&all);
    running.until("Measuring");
    running
}

fn check_partial(desk: &Desk, answer: &Answer) {
    let printed = answer.json();
    assert_eq!(printed.at("runs.0.status").text(), "partial");
    printed.at("runs.0.partial_because");
    assert!(printed.at("runs.0.jobs.0.outcome.operations").count() > 0);
    let shown = desk.run(&["history", "show", "last", "--json"]).done();
    assert_eq!(shown.stdout, answer.stdout);
    let listed = desk.json(&["history"]);
    assert_eq!(listed.at("history.0.status").text(), "partial");
    assert!(names(desk.volume()).is_empty());
}

#[test]
fn a_signal_ends_a_run_and_what_was_measured_is_kept() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let desk = Desk::new();
        let mut running = measuring(&desk, &[]);
        until_measured(&desk, &mut running, 1);
        running.signal(signal);
        let answer = running.wait().ended(code);
        check_partial(&desk, &answer);
    }
}

#[test]
fn two_signals_at_once_are_one() {
    let desk = Desk::new();
    let mut running = measuring(&desk, &[]);
    until_measured(&desk, &mut running, 1);
    // As `timeout` sends them. Two of one kind may arrive as one, which would show nothing.
    running.signal(Signal::HUP);
    running.signal(Signal::TERM);
    let answer = running.wait();
    assert!(matches!(answer.code, Some(129 | 143)), "{}", answer.stderr);
    check_partial(&desk, &answer);
}

#[test]
fn a_partial_run_says_so_in_words() {
    let desk = Desk::new();
    let mut running = measuring(&desk, &[]);
    until_measured(&desk, &mut running, 1);
    running.signal(Signal::INT);
    running.wait().ended(130);
    let shown = desk.run(&["history", "show", "last"]).done();
    assert!(shown.stdout.contains("partial"), "{}", shown.stdout);
    assert!(desk.run(&["history"]).done().stdout.contains("partial"));
}

#[test]
fn a_quiet_run_that_was_interrupted_says_so_first_in_its_line() {
    let desk = Desk::new();
    let volume = desk.volume();
    let load = "--busy-ok --size 4M --duration 1h --interval 100ms -q";
    let load: Vec<&str> = load.split(' ').collect();
    let mut running = desk.start(&[&["run", &volume], &load[..]].concat());
    until_measured(&desk, &mut running, 1);
    running.signal(Signal::INT);
    let answer = running.wait().ended(130);
    let says = "Stopped before its end: the numbers are of what ran before that; ";
    let line = answer.stdout.strip_prefix(&format!("{volume}: "));
    let line = line.unwrap_or_else(|| panic!("{}", answer.stdout));
    // Only that the numbers are void, by what lies below temporary files, is said before.
    let line = match line.strip_prefix("VOID: ") {
        Some(void) => void.split_once("; ").expect("words behind it").1,
        None => line,
    };
    let line = line.strip_prefix(says);
    let line = line.unwrap_or_else(|| panic!("{}", answer.stdout));
    assert!(line.starts_with("random read 8K "), "{}", answer.stdout);
    assert_eq!(answer.stdout.lines().count(), 1, "{}", answer.stdout);
}

#[test]
fn an_interrupted_grid_keeps_what_it_has() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut running = desk.start(&[
        "run",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "1h",
        "--interval",
        "100ms",
        "--outstanding",
        "1,2,4",
        "--json",
    ]);
    running.until("Measuring");
    until_measured(&desk, &mut running, 1);
    running.signal(Signal::INT);
    let answer = running.wait().ended(130);
    assert_eq!(answer.json().at("runs").items().len(), 1);
    check_partial(&desk, &answer);
}

#[test]
fn an_interrupted_bench_prints_and_keeps_its_steps() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut running = desk.start(&[
        "bench",
        &volume,
        "--busy-ok",
        "--size",
        "8M",
        "--step",
        "100ms",
        "--json",
    ]);
    running.until("Measuring");
    until_measured(&desk, &mut running, 2);
    running.signal(Signal::INT);
    let answer = running.wait().ended(130);
    let document = answer.json();
    assert!(!document.at("runs").items().is_empty());
    assert!(!desk.ids().is_empty());
    assert!(names(&volume).is_empty());
    let runs = document.at("runs").items();
    let is_partial = |run: &&crate::support::Json| run.at("status").text() == "partial";
    // The signal may have come between two steps, or before another step was whole.
    let partial = runs.iter().filter(is_partial).count();
    if partial > 0 {
        let set = desk.run(&["baseline", "set", "last", "--anyway"]).done();
        let says = match partial {
            1 => "was stopped before its end: 1 run is left out".to_owned(),
            _ => format!("was stopped before its end: {partial} runs are left out"),
        };
        assert!(set.stderr.contains(&says), "{says}: {}", set.stderr);
    }
}

#[test]
fn a_second_signal_stops_at_once_and_loses_nothing_that_was_stored() {
    let desk = Desk::new();
    // The device falls silent after half a second: the first signal waits for the operations
    // in flight, and prints what was measured.
    let stall = "stall@between=500000000..3600000000000";
    let mut running = measuring(&desk, &["--inject", stall]);
    until_measured(&desk, &mut running, 8);
    let status = format!("/proc/{}/stat", running.pid());
    let pid = running.pid();
    running.until_true("an end", || {
        let has_ended = std::fs::read_to_string(&status).map_or(true, |stat| stat.contains(") Z "));
        // One that comes before the last was heard is the same one.
        if !has_ended && let Some(pid) = rustix::process::Pid::from_raw(pid) {
            let _ = rustix::process::kill_process(pid, Signal::INT);
        }
        has_ended
    });
    // Without the second signal there is a document.
    assert_eq!(running.wait().ended(130).stdout, "");
    let listed = desk.json(&["history"]);
    assert_eq!(listed.at("history.0.status").text(), "partial");
    assert!(names(desk.volume()).is_empty());
}

#[test]
fn killed_in_the_middle_it_leaves_a_readable_store_no_lock_and_no_file() {
    let desk = Desk::new();
    let mut running = measuring(&desk, &[]);
    until_measured(&desk, &mut running, 3);
    running.signal(Signal::KILL);
    running.wait().ended(137);
    assert!(names(desk.volume()).is_empty());
    let listed = desk.run(&["history", "--json"]).done();
    assert!(listed.stderr.contains("partial"), "{}", listed.stderr);
    let row = listed.json().at("history.0");
    assert_eq!(row.at("status").text(), "partial");
    assert!(row.at("jobs.0.iops").number() > 0.0);
    let shown = desk.json(&["history", "show", "last"]);
    let outcome = shown.at("runs.0.jobs.0.outcome");
    let intervals = outcome.at("intervals").items();
    assert!(intervals.len() >= 3);
    let operations: u64 = intervals
        .iter()
        .map(|interval| interval.at("read_operations").count())
        .sum();
    assert_eq!(outcome.at("operations").count(), operations);
    assert!(outcome.at("read.latency_ns.p99").count() > 0);
    // And the next one works.
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    assert_eq!(desk.ids().len(), 2);
}

#[test]
fn a_signal_while_filling_leaves_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::KILL, 137)] {
        while_filling(|| {
            let desk = Desk::new();
            let volume = desk.volume();
            let run = ["run", &volume, "--busy-ok", "--size", "64M"];
            let mut running = desk.start(&[&run[..], &["--duration", "1h", "--json"]].concat());
            running.until("Filling");
            running.signal(signal);
            let answer = running.wait().ended(code);
            assert!(names(&volume).is_empty());
            let is_filled = !desk.ids().is_empty();
            assert!(is_filled || answer.stdout.is_empty(), "{}", answer.stdout);
            is_filled
        });
    }
}

/// Tries until the file was not filled before the signal came, which is for the machine to say.
fn while_filling(is_filled_before: impl Fn() -> bool) {
    assert!((0..100).any(|_| !is_filled_before()), "always too late");
}

#[test]
fn a_signal_while_preparing_leaves_no_half_file() {
    while_filling(|| {
        let desk = Desk::new();
        let file = desk.file("made");
        let mut running = desk.start(&["prepare", &file, "--size", "64M", "--busy-ok"]);
        running.until("Filling");
        running.signal(Signal::INT);
        let answer = running.wait();
        if answer.code == Some(0) {
            return true;
        }
        answer.ended(130);
        let left: Vec<String> = names(desk.path())
            .into_iter()
            .filter(|name| !name.starts_with("results.db"))
            .collect();
        assert!(left.is_empty(), "{left:?}");
        false
    });
}

/// Stops a running program for two seconds in its measurement.
fn pause(desk: &Desk, running: &mut Running) {
    until_measured(desk, running, 1);
    running.signal(Signal::STOP);
    std::thread::sleep(std::time::Duration::from_secs(2));
    running.signal(Signal::CONT);
}

/// The pauses of a job that were as long as [`pause`] makes them.
fn long_pauses(job: &crate::support::Json) -> usize {
    let pauses = job.maybe("outcome.pauses").map(|list| list.items());
    let long = |pause: &&crate::support::Json| pause.at("duration_ns").count() >= 1_900_000_000;
    pauses.unwrap_or_default().iter().filter(long).count()
}

#[test]
fn a_paused_process_is_no_slow_disk() {
    // In memory, where nothing takes as long as the pause, if there is such a place.
    let memory = tempfile::Builder::new()
        .prefix("stripewise-app-")
        .tempdir_in("/dev/shm");
    for engine in ["uring", "threads"] {
        let desk = Desk::new();
        let file = match &memory {
            Ok(memory) => text(&memory.path().join("data")).to_owned(),
            Err(_) => desk.file("data"),
        };
        users_file(&file, 4 * MIB);
        let mut running = desk.start(&[
            "run",
            &file,
            "--busy-ok",
            "--duration",
            "8s",
            "--interval",
            "100ms",
            "--rate",
            "400",
            "--outstanding",
            "64",
            "--engine",
            engine,
            "--json",
        ]);
        pause(&desk, &mut running);
        let answer = running.wait().done();
        let job = crate::support::only_job(&answer.json());
        assert_eq!(long_pauses(&job), 1, "{engine}: {}", answer.stdout);
        // The window is as long as asked for, and has the arrivals of its length.
        assert_eq!(job.at("outcome.duration_ns").count(), 8_000_000_000);
        let due = job.at("outcome.arrivals_due").count();
        assert!((3_199..=3_201).contains(&due), "{engine}: {due}");
        let longest_ns = job.at("outcome.read.latency_ns.max").count();
        assert!(longest_ns < 1_900_000_000, "{engine}: {longest_ns}");
        let codes = codes(&job);
        assert!(codes.contains(&"paused".to_owned()), "{codes:?}");
        for code in ["stalled", "stalled-at-end"] {
            assert!(!codes.contains(&code.to_owned()), "{codes:?}");
        }
        let shown = desk.run(&["history", "show", "last", "--json"]).done();
        assert_eq!(shown.stdout, answer.stdout);
    }
}

#[test]
fn a_step_of_a_bench_that_was_paused_is_measured_all_the_same() {
    let desk = Desk::new();
    let volume = desk.volume();
    let mut running = desk.start(&[
        "bench",
        &volume,
        "--busy-ok",
        "--size",
        "8M",
        "--series",
        "log",
        "--step",
        "4s",
        "--time",
        "30s",
        "--json",
    ]);
    pause(&desk, &mut running);
    let printed = running.wait().json();
    let jobs: Vec<_> = printed
        .at("runs")
        .items()
        .iter()
        .map(|run| run.at("jobs"))
        .collect();
    let jobs: Vec<_> = jobs.iter().flat_map(|jobs| jobs.items()).collect();
    assert_eq!(jobs.iter().map(long_pauses).sum::<usize>(), 1);
    for job in &jobs {
        assert!(job.at("outcome.operations").count() > 0);
        let codes = codes(job);
        assert!(!codes.contains(&"stalled-at-end".to_owned()), "{codes:?}");
    }
}

/// Stopped before two passes, advice is still one document: what is known, and how it goes on.
#[test]
fn an_interrupted_advice_is_a_document_of_what_is_known() {
    let desk = Desk::new();
    let volume = desk.volume();
    let advise = ["advise", &volume, "--mix", "random-read=1", "--size", "4M"];
    let mut running = desk.start(&[&advise[..], &["--busy-ok", "--json"]].concat());
    running.until_true("a run", || !desk.ids().is_empty());
    running.signal(Signal::INT);
    let answer = running.wait().ended(130).said(&["interrupted after "]);
    let document = answer.json();
    assert_eq!(document.at("status").text(), "partial");
    assert!(document.at("passes").count() < 2);
    assert!(document.at("recommendation").is_null());
    let why = document.at("sentences.0").text();
    assert!(
        why.contains("layouts cannot be judged before two are"),
        "{why}"
    );
}
