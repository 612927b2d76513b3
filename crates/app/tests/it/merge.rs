//! Several hosts as one: `run --start-at`, `export --histograms`, `merge`. The hosts are
//! stores of one machine; what depends on clocks is tested as functions in `lab`.

use crate::support::{Answer, Desk, Json, Running, codes, here, only_job, program};
use rustix::process::Signal;
use std::process::{Command, Stdio};

/// The program with a store of another host.
fn at(store: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command
        .args(arguments)
        .args(["--store", store])
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// What a command comes to with a store of another host.
fn on(store: &str, arguments: &[&str]) -> Answer {
    here(&[arguments, &["--store", store]].concat())
}

/// A store of its own, as another host has it that has done this.
fn host(desk: &Desk, name: &str, arguments: &[&str]) -> String {
    let store = desk.file(name);
    on(&store, arguments).done();
    store
}

/// The last thing done in a store.
fn last(store: &str) -> Json {
    on(store, &["history", "show", "last", "--json"])
        .done()
        .json()
}

fn simulated<'a>(threads: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut all = vec![
        "run",
        "sim:raid10-10k",
        "--duration",
        "5s",
        "--threads",
        threads,
    ];
    all.extend(more);
    all
}

fn merged(document: &Json) -> Json {
    document.at("runs.0.merged")
}

#[test]
fn stores_of_several_hosts_become_one_record_with_a_row_for_each() {
    let desk = Desk::new();
    let a = host(&desk, "a.db", &simulated("2", &["--seed", "1"]));
    let b = host(&desk, "b.db", &simulated("3", &["--seed", "2"]));
    let document = desk.json(&["merge", &a, &b]);
    let total = only_job(&document).at("outcome");
    let rows = merged(&document).at("hosts").items();
    let [first, second] = rows.as_slice() else {
        panic!("{} rows", rows.len())
    };
    let sum = first.at("iops").number() + second.at("iops").number();
    assert!((total.at("iops").number() - sum).abs() < 1e-6);
    assert_eq!(total.at("duration_ns").count(), 5_000_000_000);
    assert_eq!(merged(&document).at("intervals").count(), 5);
    assert_eq!(merged(&document).at("intervals_left_out").count(), 0);
    assert_eq!(only_job(&document).at("workload.threads").count(), 5);
    // Each row is what its own store says. Rows of hosts of one name are in the order of
    // their runs' ids, which two processes draw in the same second.
    let own_iops = |store: &str| only_job(&last(store)).at("outcome.iops").number();
    let (first, second) = match first.at("iops").number() == own_iops(&a) {
        true => (first, second),
        false => (second, first),
    };
    for (row, store) in [(first, &a), (second, &b)] {
        let own = last(store);
        let own = only_job(&own).at("outcome");
        assert_eq!(row.at("iops").number(), own.at("iops").number());
        let reads = |of: &Json| of.at("read").json();
        assert_eq!(reads(row), reads(&own));
    }
    assert!(
        codes(&document).contains(&"hosts-differ".to_owned()),
        "threads differ"
    );
    let text = desk.run(&["merge", &a, &b]).done();
    text.printed(&[
        "2 hosts together:",
        "over 5 intervals",
        "Fairness",
        "Limit:",
        "All times are those of simulated arrays",
        "Again  stripewise history show",
    ]);
}

#[test]
fn an_exported_file_says_the_same_as_its_store() {
    let desk = Desk::new();
    let a = host(&desk, "a.db", &simulated("2", &["--read-percent", "70"]));
    let b = host(
        &desk,
        "b.db",
        &simulated("2", &["--read-percent", "70", "--seed", "9"]),
    );
    let exported = desk.file("b.jsonl");
    on(&b, &["export", "--histograms", "last", "-o", &exported]).done();
    let of_stores = desk.json(&["merge", &a, &b]);
    let of_file = desk.json(&["merge", &exported, &a]);
    assert_eq!(only_job(&of_stores).json(), only_job(&of_file).json());
    assert_eq!(merged(&of_stores).json(), merged(&of_file).json());
    // An export without them says why it will not do.
    let plain = desk.file("plain.jsonl");
    on(&b, &["export", "last", "-o", &plain]).done();
    desk.run(&["merge", &a, &plain]).failed(
        2,
        &[
            "plain.jsonl, line 1",
            "without its histograms",
            "export --histograms",
        ],
    );
    on(&b, &["export", "--histograms", "--format", "csv", "last"]).failed(2, &["CSV has no room"]);
}

/// What was merged is kept with its hosts: merging goes on from there.
#[test]
fn a_merged_run_is_merged_again_exported_listed_and_shown() {
    let desk = Desk::new();
    let stores: Vec<String> = ["1", "2", "3"]
        .iter()
        .map(|seed| {
            let name = format!("{seed}.db");
            host(&desk, &name, &simulated("2", &["--seed", seed]))
        })
        .collect();
    let [a, b, c] = [&stores[0], &stores[1], &stores[2]];
    let first = desk.json(&["merge", a, b]);
    let id = first.at("runs.0.id").text();
    let at_once = desk.json(&["merge", a, b, c]);
    let again = desk.json(&["merge", &id, c]);
    assert_eq!(only_job(&at_once).json(), only_job(&again).json());
    let exported = desk.file("merged.jsonl");
    desk.run(&["export", "--histograms", &id, "-o", &exported])
        .done();
    let of_file = desk.json(&["merge", c, &exported]);
    assert_eq!(only_job(&at_once).json(), only_job(&of_file).json());
    assert_eq!(merged(&at_once).at("hosts").items().len(), 3);

    let shown = desk.json(&["history", "show", &id]);
    assert_eq!(shown.at("runs.0").json(), first.at("runs.0").json());
    desk.run(&["history"]).done().printed(&[&id]);
    desk.run(&["history", "show", &id])
        .done()
        .printed(&["2 hosts together:", "Share"]);
    // One host cannot run it again, but what was measured can be judged.
    desk.run(&["baseline", "set", &id]).done();
    desk.run(&["check"])
        .failed(2, &["was merged from the runs of 2 hosts", "check --run"]);
    desk.run(&[
        "check",
        "--run",
        &again.at("runs.0.id").text(),
        "--require",
        "read_iops>=1",
    ])
    .ended(1);
    for format in ["html", "png", "svg", "md", "csv"] {
        let file = desk.file(&format!("report.{format}"));
        desk.run(&["report", &id, "-o", &file]).done();
    }
}

#[test]
fn grids_are_merged_run_by_run() {
    let desk = Desk::new();
    let a = host(&desk, "a.db", &simulated("1,2", &["--start-at", "+1h"]));
    let b = host(&desk, "b.db", &simulated("1,2", &[]));
    // One of them began at an agreed instant of virtual time, the other at none.
    desk.run(&["merge", &a, &b])
        .failed(2, &["at no time were all hosts measuring"]);
    let a = host(&desk, "a2.db", &simulated("1,2", &[]));
    let document = desk.json(&["merge", &a, &b]);
    let runs = document.at("runs").items();
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[0].at("series").text(), runs[1].at("series").text());
    assert_eq!(runs[1].at("jobs.0.workload.threads").count(), 4);
    let single = host(&desk, "c.db", &simulated("1", &[]));
    desk.run(&["merge", &a, &single])
        .failed(2, &["a2.db has 2 runs", "c.db has 1 run", "STORE#ID"]);
    desk.run(&["merge", &a, &single, "--partial"])
        .done()
        .warned(&["only the first 1 of each host"]);
    // The second cell of one, by its id.
    let second = runs_of(&a)[1].clone();
    let other = runs_of(&b)[1].clone();
    let document = desk.json(&["merge", &format!("{a}#{second}"), &format!("{b}#{other}")]);
    assert_eq!(only_job(&document).at("workload.threads").count(), 4);
}

/// Ids of the runs of the last thing done in a store.
fn runs_of(store: &str) -> Vec<String> {
    let shown = last(store);
    let runs = shown.at("runs").items();
    runs.iter().map(|run| run.at("id").text()).collect()
}

#[test]
fn what_is_not_one_run_of_several_hosts_is_refused() {
    let desk = Desk::new();
    let a = host(&desk, "a.db", &simulated("2", &[]));
    let other = host(&desk, "b.db", &simulated("2", &["--block", "64K"]));
    let missing = desk.file("missing.db");
    let text = desk.write("notes.txt", "nothing\n");
    let empty = desk.write("empty.jsonl", "\n");
    let unknown = format!("{a}#20200101-000000-0000");
    let cases: [(&[&str], &[&str]); 8] = [
        (&[&a], &["only one run is given"]),
        (&[&a, &a], &["only one run is given"]),
        (&[&a, &other], &["block_size_bytes", "8192", "65536"]),
        (&[&a, &missing], &["there is no file or run", "missing.db"]),
        (&[&a, &text], &["notes.txt, line 1", "not a record"]),
        (&[&a, &empty], &["holds no runs"]),
        (&[&a, &format!("{missing}#last")], &["there is no store"]),
        (&[&a, &format!("{text}#last")], &["is not a store"]),
    ];
    for (sources, says) in cases {
        let mut arguments = vec!["merge"];
        arguments.extend(sources);
        desk.run(&arguments).failed(2, says);
    }
    desk.run(&["merge", &a, &unknown])
        .failed(2, &["20200101-000000-0000"]);
    // Nothing was kept of all that.
    desk.run(&["history"])
        .done()
        .printed(&["Nothing is stored yet"]);
}

#[test]
fn a_moment_that_has_passed_is_refused_before_anything_is_done() {
    let desk = Desk::new();
    let volume = desk.volume();
    for (moment, says) in [
        ("2020-01-01T00:00:00Z", "has passed"),
        ("soon", "is not a valid time to start at"),
        ("+1000h", "more than a week ahead"),
    ] {
        let arguments = [
            "run",
            &volume,
            "--size",
            "1M",
            "--busy-ok",
            "--start-at",
            moment,
        ];
        desk.run(&arguments).failed(2, &[says]);
    }
}

/// Two processes that are told one instant: the record has the skew of each, and only
/// what both have measured counts.
#[test]
fn hosts_start_at_the_agreed_instant_and_record_by_how_much_they_missed_it() {
    let desk = Desk::new();
    let stores = ["a", "b"].map(|name| desk.file(&format!("{name}.db")));
    let files = ["a", "b"].map(|name| desk.file(&format!("{name}.data")));
    for (store, file) in stores.iter().zip(&files) {
        let prepare = ["prepare", file, "--size", "1M", "--busy-ok"];
        Answer::of(&mut at(store, &prepare)).done();
    }
    // Until both came before the instant, and measured at the same time.
    let started = [2, 4, 8, 16, 32, 64, 128].into_iter().find_map(|seconds| {
        let moment = whole_second_in(seconds).to_string();
        let duration = format!("{seconds}s");
        let running = [0, 1].map(|host| {
            let run = ["run", &files[host], "--busy-ok", "--engine", "threads"];
            let load = ["--cache", "buffered", "--rate", "40", "--interval", "250ms"];
            let when = ["--duration", &duration, "--start-at", &moment, "--json"];
            Running::start(at(&stores[host], &[&run[..], &load, &when].concat()))
        });
        let answers = running.map(Running::wait);
        let is_late = |answer: &Answer| answer.stderr.contains("has passed");
        if answers.iter().any(is_late) {
            return None;
        }
        let starts = answers.map(|answer| answer.done().json().at("runs.0.start"));
        let skew_ns = |start: &Json| start.at("skew_ns").number();
        let is_together = |start: &Json| skew_ns(start) < seconds as f64 * 5e8;
        starts.iter().all(is_together).then_some((moment, starts))
    });
    let (moment, starts) = started.expect("both started together");
    for start in starts {
        assert_eq!(start.at("agreed").text()[..19], moment[..19]);
        // Never before the instant; how long after is the machine's business.
        assert!(start.at("skew_ns").number() >= 0.0);
    }
    let document = desk.json(&["merge", &stores[0], &stores[1]]);
    let rows = merged(&document).at("hosts").items();
    let skews: Vec<f64> = rows.iter().map(|row| row.at("skew_ns").number()).collect();
    let apart = merged(&document).at("start_skew_ns").number();
    assert!(
        (apart - (skews[0] - skews[1]).abs()).abs() < 1.0,
        "{skews:?} {apart}"
    );
    let operations = only_job(&document).at("outcome.operations").count();
    let each: u64 = (rows.iter())
        .map(|row| row.at("read.operations").count())
        .sum();
    assert_eq!(operations, each);
}

/// So many seconds from now, RFC 3339 in UTC.
fn whole_second_in(seconds: u64) -> stripewise_units::WallTime {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).expect("a clock");
    stripewise_units::WallTime((since.as_secs() + seconds) * 1_000_000_000)
}

#[test]
fn a_wait_ends_with_an_interrupt() {
    let desk = Desk::new();
    let file = desk.file("data");
    desk.run(&["prepare", &file, "--size", "1M", "--busy-ok"])
        .done();
    let run = [
        "run",
        &file,
        "--busy-ok",
        "--cache",
        "buffered",
        "--start-at",
        "+1h",
    ];
    let mut waiting = desk.start(&run);
    waiting.until("Waiting for");
    waiting.signal(Signal::INT);
    waiting.wait().ended(130);
}
