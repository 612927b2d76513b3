//! `last` is what was done last, with all of its runs, in every command that takes
//! a name; `last-run` is a single run.

use crate::support::shared::bench_of_a_drive;
use crate::support::{Desk, Json};

fn runs(document: &Json) -> usize {
    document.at("runs").items().len()
}

/// Every command that takes a name shows, judges or keeps the same runs for `last`
/// as for the id of what was done.
fn last_means(desk: &Desk, printed: &Json, id: &str) {
    let all = runs(printed);
    for name in ["last", id] {
        let shown = desk.json(&["history", "show", name]);
        assert_eq!(runs(&shown), all, "history show {name}");
        let reported = desk.run(&["report", name, "--format", "json"]).done();
        assert_eq!(runs(&reported.json()), all, "report {name}");
        let exported = desk.run(&["export", name]).done().stdout;
        assert_eq!(exported.lines().count(), all, "export {name}");
    }
    let one = desk.json(&["history", "show", "last-run"]);
    assert_eq!(runs(&one), 1);
    let by_id = desk.run(&["report", id, "--format", "md"]).done().stdout;
    let last = desk
        .run(&["report", "last", "--format", "md"])
        .done()
        .stdout;
    assert_eq!(last, by_id);
}

#[test]
fn last_after_a_bench_is_the_bench() {
    let shared = bench_of_a_drive();
    let (desk, bench) = (shared.desk(), shared.document());
    let id = bench.at("series.0.id").text();
    last_means(&desk, &bench, &id);
    let short = desk
        .run(&["report", "last", "--format", "md"])
        .done()
        .stdout;
    for series in ["Random read", "Sequential read", "Random write", "Log"] {
        assert!(
            short.contains(&format!("- {series}: ")),
            "{series}: {short}"
        );
    }
    // What is required is required of all series that it speaks of, not of the log.
    let document = desk
        .run(&[
            "report",
            "last",
            "--format",
            "json",
            "--require",
            "random-read iops>=1",
        ])
        .done();
    let judged = document.json();
    assert!(judged.at("requirements.0.met").truth());
    desk.run(&["report", "last", "--format", "md", "--require", "p99<1us"])
        .ended(1);
    let checked = [
        "check",
        "--run",
        "last",
        "--baseline",
        "none",
        "--require",
        "random-read iops>=1",
    ];
    desk.run(&checked).done();
    let set = desk.json(&["baseline", "set", "last", "--anyway"]);
    let kept = set.at("baselines.0.runs").items().len();
    // What is repeated against it are the runs that the answers rest on: those that were
    // made for them, and the log's one.
    let rests_on =
        |run: &Json| run.maybe("answer_block").is_some() || run.at("series_part").text() == "log";
    let answers = bench
        .at("runs")
        .items()
        .into_iter()
        .filter(rests_on)
        .count();
    assert!(answers > 1);
    assert_eq!(kept, answers);
    assert_eq!(set.at("baselines.0.from").text(), id);
}

#[test]
fn last_after_a_grid_or_repetitions_is_all_of_them() {
    for more in [["--threads", "1,2"], ["--repeat", "3"]] {
        let desk = Desk::new();
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
        let before = desk
            .json(&["history", "show", "last"])
            .at("runs.0.id")
            .text();
        let made = desk.json(&[&["run", "sim:nvme", "--duration", "10ms"][..], &more].concat());
        let id = made.at("runs.0.series").text();
        last_means(&desk, &made, &id);
        let earlier = desk.json(&["history", "show", "last~1"]);
        assert_eq!(earlier.at("runs.0.id").text(), before);
        let sides = desk.json(&["compare", "last~1", "last"]);
        let from = sides.at("comparisons.0.b.from").items();
        assert!(!from.is_empty());
        let set = desk.json(&["baseline", "set", "last", "--anyway"]);
        assert_eq!(set.at("baselines.0.from").text(), id);
        assert_eq!(set.at("baselines.0.runs").items().len(), runs(&made));
    }
}

#[test]
fn last_after_an_experiment_is_the_experiment() {
    let desk = Desk::new();
    let align = [
        "align",
        "sim:raid10-10k?offset=63s",
        "--read",
        "--threads",
        "8",
    ];
    let more = ["--step", "2s", "--blocks", "10", "--json"];
    let made = desk.run(&[&align[..], &more].concat()).ended(1).json();
    let id = made.at("experiment.id").text();
    let all = desk.json(&["history", "show", &id]);
    last_means(&desk, &all, &id);
    let plan = desk
        .run(&["lab", "resume", "last", "--json"])
        .ended(1)
        .json();
    assert_eq!(plan.at("experiment.id").text(), id);
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["is an experiment"]);
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    desk.run(&["lab", "resume", "last"])
        .failed(2, &["there is no experiment"]);
}

#[test]
fn last_after_a_check_is_the_check_and_an_import_is_never_last() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms", "--repeat", "6"]);
    desk.json(&["baseline", "set", "last"]);
    let answer = desk.run(&["check", "--repeat", "3", "--json"]);
    let ids = answer.json().at("runs").items().len();
    let shown = desk.json(&["history", "show", "last"]);
    assert_eq!((ids, runs(&shown)), (3, 3));
    let fio = concat!(env!("CARGO_MANIFEST_DIR"), "/../compat/tests/data/fio.json");
    desk.json(&["import", fio]);
    let still = desk.json(&["history", "show", "last"]);
    assert_eq!(still.at("runs.0.id").text(), shown.at("runs.0.id").text());
    desk.run(&["history", "delete", "last"])
        .failed(2, &["last"]);
}

#[test]
fn last_after_a_profile_is_the_profile() {
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--duration", "10ms", "--quiet"])
        .done();
    let first = desk.json(&["profile", "sim:nvme", "--places", "16"]);
    let shown = desk.run(&["history", "show", "last"]).done();
    let id = first.at("id").text();
    // Commands have the end of an id, as far as it is the only one.
    let again = format!("stripewise history show {}", &id[id.len() - 4..]);
    assert!(shown.stdout.contains(&again), "{}", shown.stdout);
    // They need the store, which is not the usual one.
    let mut lines = shown.stdout.lines();
    let names_store = lines.any(|line| line.starts_with("Store ") && line.contains("--store"));
    assert!(names_store, "{}", shown.stdout);
    // Every command takes the end of an id, also one that deletes.
    let other = desk.json(&["profile", "sim:nvme", "--places", "16"]);
    let other = other.at("id").text();
    desk.run(&["history", "delete", &other[other.len() - 4..]])
        .done();
    desk.run(&["history", "show", &other]).failed(2, &[&other]);
    desk.run(&["baseline", "set", "last"])
        .failed(2, &["a result of `profile`, not a run", "last-run"]);
    let page = desk.run(&["report", "last", "-o", "-"]).done();
    assert!(page.stdout.contains(&first.at("id").text()));
    assert!(page.stdout.contains("<h2>Picture</h2>"));
    let csv = desk.run(&["report", "last", "--format", "csv"]).done();
    let rates = csv.stdout.lines().filter(|line| line.starts_with("rate,"));
    assert_eq!(rates.count(), first.at("rates").items().len());
    desk.run(&["report", "last", "--require", "iops>=1", "-o", "-"])
        .failed(2, &["is a profile", "leave --require out"]);
    let run = desk.json(&["history", "show", "last~1"]);
    assert_eq!(run.at("runs").items().len(), 1);
    desk.run(&["profile", "sim:nvme", "--places", "16", "--quiet"])
        .done();
    let compared = desk.run(&["compare", "last~1", "last"]);
    assert!(
        compared.stdout.contains("transfer rate"),
        "{}",
        compared.stdout
    );
}
