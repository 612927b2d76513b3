//! What is no answer is nowhere taken for one: void numbers, and series that were
//! stopped before their end.

use crate::support::windows::long_enough_from;
use crate::support::{Answer, Desk, Json, long_enough, skip, unwrapped, users_file};
use rustix::process::Signal;
use std::path::Path;

/// A bench whose every number is void, at any speed: the null engine has no disk. Its ladder
/// has more than one step.
fn void_bench(desk: &Desk) -> Answer {
    let measure = |step: &str| {
        let bench = ["bench", "/data", "--engine", "null", "--step", step];
        desk.run(&[&bench[..], &["--series", "random-read,log"]].concat())
    };
    let only = "Random read: no answer; its only step";
    long_enough_from(30, measure, |message| !message.stdout.contains(only))
}

#[track_caller]
fn check_void_in_csv(csv: &str) {
    let mut lines = csv.lines();
    let mut heading = lines.next().expect("a heading").split(',');
    let void = heading.position(|column| column == "void").expect("void");
    assert!(
        lines.all(|line| line.split(',').nth(void) == Some("null-engine")),
        "{csv}"
    );
}

#[test]
fn a_void_bench_has_no_answer_in_any_form() {
    let desk = Desk::new();
    let message = void_bench(&desk).ended(1);
    let short = &message.stdout;
    assert!(short.contains("Random read: no answer; all "), "{short}");
    assert!(short.contains("Log: no answer; its only step is VOID (null-engine)"));
    assert!(short.contains("VOID: these numbers are not the disk's (null-engine)"));
    assert!(
        !short.contains("IOPS") && !short.contains("takes"),
        "{short}"
    );
    // The gravest warnings are in a few lines below, each with a mark. (A busy machine can add one
    // too long to leave room for the column of codes.)
    let (_, below) = short.split_once("Read with care").expect("warnings");
    let marked = |line: &&str| ["  X ", "  ! "].iter().any(|mark| line.starts_with(mark));
    assert!(
        (1..=5).contains(&below.lines().filter(marked).count()),
        "{short}"
    );
    assert!(below.contains("null-engine"), "{short}");

    let page = desk.file("void.html");
    desk.run(&["report", "last", "-o", &page]).done();
    let html = std::fs::read_to_string(&page).expect("the page");
    let answer = html.split("<h3>Conditions").next().expect("page one");
    assert!(!answer.contains('\u{2713}'), "a tick");
    assert!(answer.contains("<span class=\"missed\">VOID</span>"));
    assert!(
        answer.contains("VOID: these numbers are not the disk&#39;s (null-engine).")
            || answer.contains("VOID: these numbers are not the disk's (null-engine).")
    );

    let chart = [
        "report",
        "last",
        "--format",
        "svg",
        "--chart",
        "random-read-load",
    ];
    let svg = desk.run(&chart).done().stdout;
    assert!(
        svg.contains(">VOID: these numbers are not the disk"),
        "{svg}"
    );
    let md = desk
        .run(&["report", "last", "--format", "md"])
        .done()
        .stdout;
    assert!(
        md.contains("**VOID: these numbers are not the disk"),
        "{md}"
    );
    assert!(!md.contains("- Random read: 1"), "{md}");
    let csv = desk
        .run(&["report", "last", "--format", "csv"])
        .done()
        .stdout;
    check_void_in_csv(&csv);

    let document = desk.json(&["history", "show", "last"]);
    for series in document.at("series").items() {
        assert!(series.at("no_answer").text().contains("VOID"));
        for absent in ["within_limit", "ceiling", "knee"] {
            assert!(series.maybe(absent).is_none(), "{absent}");
        }
    }
    let listed = desk.run(&["history"]).done().stdout;
    let row = listed
        .lines()
        .find(|line| line.contains("/data"))
        .expect("a row");
    assert!(row.contains("VOID") && row.contains("bench"), "{row}");
}

/// Void numbers neither meet nor miss what is required.
#[test]
fn what_is_required_of_a_void_bench_is_undecided() {
    let desk = Desk::new();
    void_bench(&desk).ended(1);
    let required = ["report", "last", "--format", "md", "--require", "iops>=1"];
    let required = desk.run(&required).ended(1).stdout;
    let line = required.lines().find(|line| line.contains("iops>=1: "));
    let line = line.expect("a line of the requirement");
    assert!(line.contains("undecided"), "{line}");
    assert!(line.contains("its runs are void"), "{line}");
}

#[test]
fn of_two_benches_the_void_one_is_named() {
    let desk = Desk::new();
    void_bench(&desk).ended(1);
    desk.json(&[
        "bench",
        "sim:nvme",
        "--series",
        "random-read",
        "--step",
        "10ms",
    ]);
    let md = desk
        .run(&["report", "last", "last~1", "--format", "md"])
        .done()
        .stdout;
    assert!(
        md.contains("VOID in part: ") && md.contains("(Random read, /data null; Log, /data null)"),
        "{md}"
    );
    assert!(md.contains(": /data)"), "the warning's place: {md}");
}

#[test]
fn a_void_baseline_is_refused_or_marked() {
    let desk = Desk::new();
    let measure = |duration: &str| {
        let run = ["run", "/data", "--engine", "null", "--repeat", "4"];
        desk.json(&[&run[..], &["--duration", duration]].concat())
    };
    // So many in each that its repetition has some, too.
    let has_many = |run: &Json| run.at("jobs.0.outcome.operations").count() > 100_000;
    long_enough(measure, |document| {
        document.at("runs").items().iter().all(has_many)
    });
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["VOID (null-engine)", "--anyway"]);
    assert!(
        desk.run(&["baseline"])
            .done()
            .stdout
            .contains("no baseline yet")
    );
    let set = desk.run(&["baseline", "set", "last", "--anyway"]).done();
    assert!(set.stderr.contains("VOID (null-engine)"), "{}", set.stderr);
    let listed = desk.json(&["baseline"]);
    let caution = listed.at("baselines.0.cautions.0").text();
    assert!(caution.contains("VOID (null-engine)"), "{caution}");
    // What it claims of a change is marked, whatever it is.
    let checked = desk.run(&["check", "--repeat", "4", "--tolerate", "90"]);
    let flat = unwrapped(&checked.stdout);
    assert!(
        flat.contains(
            "The baseline `baseline`: VOID (null-engine): its numbers are not the disk's"
        ),
        "{flat}"
    );
    let table = checked.stdout.split("Average").next().expect("a table");
    assert!(table.contains("VOID"), "{table}");
    // Without having been asked for, nothing follows from void numbers.
    let compared = desk.run(&["compare", "last~1", "last"]).done();
    assert!(
        compared
            .stdout
            .contains("VOID (null-engine): the numbers of this row"),
        "{}",
        compared.stdout
    );
}

#[test]
fn a_baseline_says_how_little_it_rests_on_at_once_and_at_each_check() {
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--duration", "20ms", "-q"])
        .done();
    let set = desk.run(&["baseline", "set", "last"]).done();
    assert!(
        set.stderr
            .contains("warning: The baseline `baseline`: few repetitions: 1 run"),
        "{}",
        set.stderr
    );
    // Two runs against one: nothing can be told.
    let check = desk
        .run(&["check", "--repeat", "2", "--json"])
        .ended(1)
        .json();
    assert!(check.at("notes.0").text().contains("few repetitions"));
}

#[test]
fn a_quiet_check_prints_only_what_is_worse() {
    let desk = Desk::new();
    desk.run(&[
        "run",
        "sim:raid10-10k?offset=64K",
        "--duration",
        "2s",
        "--repeat",
        "6",
        "-q",
    ])
    .done();
    desk.run(&["baseline", "set", "last", "-q"]).done();
    let same = desk.run(&["check", "-q"]).done();
    assert_eq!((same.stdout.as_str(), same.stderr.as_str()), ("", ""));
    let worse = desk
        .run(&[
            "check",
            "-q",
            "sim:raid10-10k?offset=63s",
            "--tolerate",
            "0",
            "--require",
            "iops>=99000000",
        ])
        .ended(1);
    // One line, for a mail: what is worse, by how much, what is missed, and where it is kept.
    let line = &worse.stdout;
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(
        line.starts_with("WORSE: read random 8K 1 thread of 1: "),
        "{line}"
    );
    assert!(
        line.contains(" %), was ") && line.contains("MISSED: iops>=99000000"),
        "{line}"
    );
    let id = desk
        .json(&["history", "show", "last"])
        .at("runs.0.series")
        .text();
    assert!(line.ends_with(&format!("[{id}]\n")), "{line}");
    assert_eq!(worse.stderr, "");
    let again = desk.run(&["history", "show", "last", "-q"]).done();
    assert_eq!(again.stdout, worse.stdout);
}

#[test]
fn a_check_says_which_operations_failed_with_which_error() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 4 << 20);
    let run = |more: &[&str]| {
        let measure = |duration: &str| {
            let run = ["run", &file, "--busy-ok", "--json", "--duration", duration];
            desk.run(&[&run[..], more].concat())
        };
        let operations = "runs.0.jobs.0.outcome.operations";
        long_enough(measure, |answer| answer.json().at(operations).count() > 10)
    };
    run(&["--repeat", "2"]).done();
    // Temporary files may lie in memory or on a cached loop device: those numbers are void.
    desk.json(&["baseline", "set", "last", "--anyway"]);
    run(&["--inject", "fail=5@every=3 read"]).ended(4);
    let judged = desk.run(&["check", "--busy-ok", "--run", "last"]);
    let flat = unwrapped(&judged.stdout);
    assert!(flat.contains("failed: random read, 8K, on "), "{flat}");
}

/// Waits until so many runs are complete in the store.
fn until_complete(desk: &Desk, running: &mut crate::support::Running, runs: i64) {
    let store = desk.store();
    running.until_true("complete runs", || {
        let open = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
        let Ok(connection) = rusqlite::Connection::open_with_flags(&store, open) else {
            return false;
        };
        connection
            .query_row(
                "SELECT count(*) FROM runs WHERE status = 'complete'",
                [],
                |row| row.get(0),
            )
            .is_ok_and(|count: i64| count >= runs)
    });
}

#[test]
fn a_stopped_bench_says_so_in_every_form() {
    let desk = Desk::new();
    let volume = desk.volume();
    let bench = [
        "bench",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--step",
        "400ms",
    ];
    let mut running = desk.start(&bench);
    until_complete(&desk, &mut running, 1);
    running.signal(Signal::INT);
    let message = running.wait().ended(130);
    let short = message.stdout.clone();
    let words =
        "Stopped before its end: Random read. Series planned after that, if any, were not run";
    assert!(unwrapped(&short).contains(words), "{short}");
    if short.contains("VOID") {
        // It has no answer then, whether it was stopped or not.
        skip(
            "a_stopped_bench_says_so_in_every_form",
            "a disk below temporary files that sees what is read",
        );
        return;
    }
    assert!(short.contains("(partial)"), "{short}");
    for unknown in ["is unknown there", "broken off", "0.00 IOPS"] {
        assert!(
            !message.stdout.contains(unknown),
            "{unknown}: {}",
            message.stdout
        );
    }
    let document = desk.json(&["history", "show", "last"]);
    assert!(document.at("series.0.partial").truth());
    let md = desk
        .run(&["report", "last", "--format", "md"])
        .done()
        .stdout;
    assert!(
        md.contains("**Stopped before its end: Random read."),
        "{md}"
    );
    let page = desk.file("stopped.html");
    desk.run(&["report", "last", "-o", &page]).done();
    let html = std::fs::read_to_string(Path::new(&page)).expect("the page");
    assert!(html.contains("<p class=\"caution\">Stopped before its end: Random read."));
    let chart = ["report", "last", "--format", "svg", "--chart", "all"];
    let svg = desk.run(&chart).done().stdout;
    assert!(
        svg.contains(">Stopped before its end: Random read."),
        "{svg}"
    );
    let listed = desk.run(&["history"]).done().stdout;
    assert!(
        listed.contains("partial") && listed.contains("bench"),
        "{listed}"
    );
    let csv = desk
        .run(&["report", "last", "--format", "csv"])
        .done()
        .stdout;
    assert!(csv.contains(",partial,"), "{csv}");
}

#[test]
fn a_bench_that_may_only_read_announces_what_it_runs() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    let message = desk
        .run(&["bench", &file, "--busy-ok", "--step", "30ms"])
        .stderr;
    assert!(message.contains("only reads are measured"), "{message}");
    assert!(
        message.contains("Series: random-read, sequential-read\n"),
        "{message}"
    );
    assert!(!message.contains("random-write"), "{message}");
}
