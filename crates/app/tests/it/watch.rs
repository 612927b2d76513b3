//! `watch`: a run of another process, in the terminal.

use super::support::{Desk, users_file};

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

#[test]
fn a_run_of_another_process_is_shown_interval_by_interval() {
    let desk = Desk::new();
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    let arguments = [
        "run",
        &file,
        "--duration",
        "5s",
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
    let watched = desk.run(&["watch"]).done();
    running.wait().done();
    for words in [
        "random on",
        "of cron",
        "IOPS",
        "MiB/s",
        "reads p50",
        "in flight",
    ] {
        assert!(
            watched.stdout.contains(words),
            "{words}: {}",
            watched.stdout
        );
    }
    assert!(
        !watched.stdout.contains("MiB/s MiB/s"),
        "{}",
        watched.stdout
    );
}
