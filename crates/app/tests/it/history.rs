//! What is stored and how it is found again.

use crate::support::shared::bench_of_a_drive;
use crate::support::{Answer, Desk, Json, names, unwrapped};

/// `history show` prints the bytes that the command printed.
fn check_shown_again(desk: &Desk, printed: &str, ids: &[&str]) {
    let mut arguments = vec!["history", "show"];
    arguments.extend(ids);
    arguments.push("--json");
    let shown = desk.run(&arguments).done();
    assert!(shown.stdout == printed, "{ids:?} differ");
}

#[test]
fn history_show_is_byte_identical_for_a_run() {
    let desk = Desk::new();
    let printed = desk
        .run(&[
            "run",
            "sim:raid10-10k",
            "--duration",
            "3s",
            "--label",
            "Ünïcode \"x\"",
            "--json",
        ])
        .done();
    let id = &desk.ids()[0];
    for name in [id.as_str(), "last", &id[..id.len() - 1]] {
        check_shown_again(&desk, &printed.stdout, &[name]);
    }
}

#[test]
fn history_show_is_byte_identical_for_a_real_file() {
    let desk = Desk::new();
    let volume = desk.volume();
    let printed = desk
        .run(&[
            "run",
            &volume,
            "--busy-ok",
            "--size",
            "8M",
            "--duration",
            "300ms",
            "--interval",
            "100ms",
            "--write",
            "--sync",
            "fdatasync:4",
            "--json",
        ])
        .done();
    check_shown_again(&desk, &printed.stdout, &["last"]);
}

#[test]
fn history_show_is_byte_identical_for_a_grid() {
    let desk = Desk::new();
    let printed = desk
        .run(&[
            "run",
            "sim:nvme",
            "--duration",
            "20ms",
            "--threads",
            "1,2",
            "--block",
            "8K,64K",
            "--json",
        ])
        .done();
    let mut ids = desk.ids();
    ids.reverse();
    assert_eq!(ids.len(), 4);
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    check_shown_again(&desk, &printed.stdout, &ids);
    // A grid is one thing: it has an id of its own and a row of its own.
    let series = printed.json().at("runs.0.series").text();
    check_shown_again(&desk, &printed.stdout, &[&series]);
    let listed = desk.run(&["history"]).done().stdout;
    let rows: Vec<&str> = listed
        .lines()
        .filter(|line| line.contains("sim:nvme"))
        .collect();
    assert_eq!(rows.len(), 1, "{listed}");
    assert!(
        rows[0].contains(&series) && rows[0].contains("grid"),
        "{listed}"
    );
    desk.json(&["history", "delete", &series]);
    assert!(desk.ids().is_empty());
}

#[test]
fn history_show_is_byte_identical_for_a_bench_by_the_id_of_its_series() {
    let bench = bench_of_a_drive();
    let series = bench.document().at("series.0.id").text();
    check_shown_again(&bench.desk(), &bench.printed, &[&series]);
}

#[test]
fn history_lists_the_newest_first_and_no_more_than_asked() {
    let desk = Desk::new();
    for label in ["one", "two", "three"] {
        desk.json(&["run", "sim:nvme", "--duration", "10ms", "--label", label]);
    }
    let labels = |arguments: &[&str]| -> Vec<String> {
        let listed = desk.json(arguments);
        let rows = listed.at("history").items();
        rows.iter().map(|row| row.at("label").text()).collect()
    };
    assert_eq!(labels(&["history"]), ["three", "two", "one"]);
    assert_eq!(labels(&["history", "--limit", "2"]), ["three", "two"]);
    let listed = desk.run(&["history"]).done();
    let position = |label: &str| listed.stdout.find(label).expect("listed");
    assert!(position("three") < position("one"));
}

#[test]
fn what_was_required_is_met_or_missed_in_the_list() {
    let desk = Desk::new();
    for (requirement, code) in [("iops>=1", 0), ("iops>=99000000", 1)] {
        let run = ["run", "sim:nvme", "--duration", "10ms"];
        desk.run(&[&run[..], &["--require", requirement]].concat())
            .ended(code);
        let bench = ["bench", "sim:nvme", "--series", "log", "--no-report"];
        let more = ["--step", "1s", "--require", requirement];
        desk.run(&[&bench[..], &more].concat()).ended(code);
    }
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let listed = desk.run(&["history"]).done().stdout;
    let rows = listed.lines().filter(|line| line.contains("sim:nvme"));
    let words = rows.map(|row| row.split_whitespace().last().unwrap_or_default());
    let words: Vec<&str> = words.collect();
    // Nothing was required of the newest.
    assert_eq!(words[1..], ["missed", "missed", "met", "met"], "{listed}");
    assert!(
        words[0].parse::<f64>().is_ok() || words[0].contains(','),
        "{listed}"
    );
    let document = desk.json(&["history"]);
    let runs = document.at("history").items();
    let verdict = |run: &Json| run.maybe("verdict").map(|verdict| verdict.text());
    assert_eq!(verdict(&runs[0]), None);
    let of_series = runs.iter().filter(|run| !run.at("series").is_null());
    let mut verdicts: Vec<Option<String>> = of_series.map(verdict).collect();
    verdicts.dedup();
    let expected = ["missed", "met"].map(|word| Some(word.to_owned()));
    assert_eq!(
        verdicts, expected,
        "of a series each run has that of the series"
    );
}

#[test]
fn of_two_benches_each_requirement_says_whose_it_is() {
    let desk = Desk::new();
    let bench = |target: &str, more: &[&str], code: i32| {
        let log = ["bench", target, "--series", "log", "--no-report"];
        let more = [&log[..], &["--step", "100ms"], more].concat();
        desk.run(&more).ended(code);
    };
    bench("sim:nvme", &["--require", "log p99<4ms"], 0);
    bench("sim:raid5-7k2", &["--require", "log p99<5ms"], 1);
    let both = ["history", "show", "last~1", "last"];
    let shown = desk.run(&both).done();
    let shown = shown.printed(&[
        "1 of 2 requirements missed",
        "MISSED for sim:raid5-7k2: log p99<5ms",
        "met for sim:nvme: log p99<4ms",
    ]);
    let rows = shown.stdout.lines().filter(|line| line.starts_with("Log"));
    let words = rows.map(|row| row.split_whitespace().last().unwrap_or_default());
    assert_eq!(words.collect::<Vec<_>>(), ["met", "missed"]);
    let text = desk.run(&["report", "last~1", "last", "--format", "md"]);
    text.done().printed(&[
        "- met for sim:nvme: log p99<4ms",
        "- **missed** for sim:raid5-7k2: log p99<5ms",
    ]);
    // What was required of one of them alone is its own.
    bench("sim:nvme", &[], 0);
    desk.run(&["history", "show", "last~1", "last"])
        .done()
        .printed(&["Requirement missed", "MISSED for sim:raid5-7k2"]);
}

#[test]
fn last_counts_backwards() {
    let desk = Desk::new();
    for label in ["one", "two"] {
        desk.json(&["run", "sim:nvme", "--duration", "10ms", "--label", label]);
    }
    for (name, label) in [("last", "two"), ("last~1", "one")] {
        let shown = desk.json(&["history", "show", name]);
        assert_eq!(shown.at("runs.0.label").text(), label);
    }
    desk.run(&["history", "show", "last~2"])
        .failed(2, &["last~2"]);
}

#[test]
fn an_id_that_is_not_there_or_not_unique_is_a_mistake_in_use() {
    let desk = Desk::new();
    for _ in 0..2 {
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    }
    desk.run(&["history", "show", "19990101-000000-0000"])
        .failed(2, &["19990101-000000-0000", "stripewise history"]);
    // Both ids begin with the century.
    desk.run(&["history", "show", "20"])
        .failed(2, &["may mean any of", "more of the id"]);
    desk.run(&["history", "delete", "20"])
        .failed(2, &["may mean any of"]);
    assert_eq!(desk.ids().len(), 2);
}

#[test]
fn results_of_different_kinds_are_shown_one_after_the_other() {
    let desk = Desk::new();
    let run = ["run", "sim:nvme", "--duration", "10ms"];
    let bench = ["bench", "sim:nvme", "--series", "random-read", "--step"];
    desk.run(&[&bench[..], &["200ms", "--no-report"]].concat())
        .done();
    let bench = desk.json(&["history", "show", "last"]);
    let bench = bench.at("series.0.id").text();
    let limits = desk.json(&["limits", "sim:ebs-gp3"]).at("id").text();
    let ids = [0, 1].map(|_| desk.json(&run).at("runs.0.id").text());
    // The sign of a bound stands before its number.
    let listed = desk.run(&["history"]).done().stdout;
    let words = unwrapped(&listed);
    assert!(words.contains("random-read ceiling \u{2265} 4"), "{listed}");
    let alone = |id: &String| desk.run(&["history", "show", id]).done().stdout;
    let show = |more: &[&str]| desk.run(&[&["history", "show"], more].concat());
    let all = show(&[&bench, &ids[0], &limits]).done().stdout;
    assert_eq!(all, [&bench, &ids[0], &limits].map(alone).join("\n"));
    // Of one kind, runs are rows of one table.
    let both = show(&[&ids[0], &ids[1]]).done().stdout;
    assert_eq!(both.matches("Workload ").count(), 1, "{both}");
    let lines = show(&[&bench, &ids[0], &ids[1], "-q"]).done().stdout;
    let ends: Vec<&str> = lines.lines().map(|line| &line[line.len() - 6..]).collect();
    let expected = [&bench, &ids[0], &ids[1]].map(|id| format!("{}]", &id[id.len() - 5..]));
    assert_eq!(ends, expected, "{lines}");
    show(&[&ids[0], &limits, "--json"]).failed(2, &[&limits, "a document of its own"]);
    show(&[&ids[0], "nope"]).failed(2, &["`nope`", "stripewise history"]);
    // Nor does a report lose one of them, or have hundreds of runs instead of an answer.
    let report = |ids: [&str; 2]| desk.run(&["report", ids[0], ids[1], "--format", "md"]);
    report([&limits, &ids[0]]).failed(2, &[&limits, "a report of its own"]);
    let mixed = report([&bench, &ids[0]]).done().stdout;
    assert!(mixed.contains("1 run is of no bench"), "{mixed}");
}

/// Its runs alone say nothing about the levels.
#[test]
fn an_experiment_is_shown_with_its_comparison_above_its_runs() {
    let desk = Desk::new();
    let align = "align sim:raid10-10k --blocks 10 --step 1s --threads 1 --read -q";
    let answer = desk.run(&align.split(' ').collect::<Vec<_>>());
    assert!(matches!(answer.code, Some(0 | 1)), "{}", answer.stderr);
    let compared = desk.run(&["compare", "last"]).stdout;
    let shown = desk.run(&["history", "show", "last"]).done().stdout;
    assert!(compared.contains("estimate %"), "{compared}");
    assert!(
        shown.starts_with(&compared) && shown.contains("\nCommand "),
        "{shown}"
    );
    // Its runs would push the answer off the screen.
    assert!(!shown.contains("In flight") && shown.contains("(--explain lists them)"));
    desk.run(&["history", "show", "last", "--explain"])
        .done()
        .printed(&["estimate %", "In flight"]);
    // The line is that of the command itself.
    let line = desk.run(&["history", "show", "last", "-q"]).done().stdout;
    assert_eq!(line, answer.stdout);
}

#[test]
fn history_delete_removes_what_is_named_and_nothing_else() {
    let desk = Desk::new();
    for _ in 0..3 {
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    }
    let ids = desk.ids();
    let deleted = desk.json(&["history", "delete", &ids[1]]);
    assert_eq!(deleted.at("deleted.0").text(), ids[1]);
    assert_eq!(desk.ids(), [ids[0].clone(), ids[2].clone()]);
    desk.run(&["history", "show", &ids[1]])
        .failed(2, &[&ids[1]]);
    // `last` is another run each time: too easy to delete one too many.
    desk.run(&["history", "delete", "last"])
        .failed(2, &["last"]);
    // One bad name, and nothing is deleted.
    desk.run(&["history", "delete", &ids[0], "nonsense"])
        .failed(2, &["nonsense"]);
    assert_eq!(desk.ids().len(), 2);
    let words = desk.run(&["history", "delete", &ids[0], &ids[2]]).done();
    assert_eq!(words.stdout, "Deleted 2 runs.\n");
    assert!(desk.ids().is_empty());
}

#[test]
fn a_whole_bench_is_deleted_by_the_id_of_its_series() {
    let desk = Desk::new();
    let bench = desk.json(&["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"]);
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let count = bench.at("runs").items().len();
    let series = bench.at("series.0.id").text();
    let deleted = desk.json(&["history", "delete", &series]);
    assert_eq!(deleted.at("deleted").items().len(), count);
    assert_eq!(desk.ids().len(), 1);
}

#[test]
fn a_store_without_results_says_so_and_is_no_failure() {
    let desk = Desk::new();
    desk.run(&["run", "sim:nvme", "--duration", "10ms", "-q"])
        .done();
    let id = desk.ids().remove(0);
    desk.run(&["history", "delete", &id]).done();
    let empty = desk.run(&["history"]).done();
    assert!(
        empty.stdout.contains("Nothing is stored yet"),
        "{}",
        empty.stdout
    );
    assert!(desk.json(&["history"]).at("history").items().is_empty());
    desk.run(&["history", "show", "last"]).failed(2, &["last"]);
}

#[test]
fn the_store_of_the_user_is_in_the_data_directory() {
    let desk = Desk::new();
    let data = desk.file("data");
    let mut command = std::process::Command::new(crate::support::program());
    command
        .args(["run", "sim:nvme", "--duration", "10ms"])
        .env("XDG_DATA_HOME", &data)
        .env("HOME", desk.path());
    crate::support::Answer::of(&mut command).done();
    assert!(!names(&data).is_empty(), "no store in {data}");
    let mut homeless = std::process::Command::new(crate::support::program());
    homeless
        .args(["history"])
        .env_remove("XDG_DATA_HOME")
        .env_remove("HOME");
    crate::support::Answer::of(&mut homeless).failed(5, &["--store FILE"]);
}

#[test]
fn the_list_names_repetitions_and_what_number_of_a_bench_it_shows() {
    let desk = Desk::new();
    let run = ["run", "sim:raid10-10k", "--duration", "1s"];
    desk.json(&[&run[..], &["--repeat", "3"]].concat());
    desk.json(&[&run[..], &["--repeat", "3", "--threads", "1,2"]].concat());
    // Two limits: one that is met below the ceiling, which makes it the answer, and one
    // that is not met at all.
    let mut shown = Vec::new();
    for slo in ["p99<100ms", "p99<1ms"] {
        let bench = [
            "bench",
            "sim:raid10-10k",
            "--series",
            "random-read",
            "--slo",
            slo,
            "--step",
            "1s",
        ];
        let document = desk.json(&bench);
        let series = document.at("series.0");
        let ceiling = series.at("ceiling").count();
        let iops = match series.maybe("within_limit") {
            Some(within) => {
                assert_ne!(within.count(), ceiling);
                assert_eq!(series.at("answer.at").text(), "limit");
                series.at("answer.iops")
            }
            None => {
                assert_eq!(series.at("answer.at").text(), "knee");
                series.at("answer.iops")
            }
        };
        shown.push(iops.number().round() as u64);
    }
    let listed = desk.run(&["history"]).done().stdout;
    let rows: Vec<Vec<&str>> = listed
        .lines()
        .filter(|line| line.contains("raid10-10k"))
        .map(|line| line.split_whitespace().skip(1).collect())
        .collect();
    let kinds: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(kinds, ["bench", "bench", "grid", "repeat"], "{listed}");
    let named = [
        (&rows[0], "knee", shown[1]),
        (&rows[1], "p99<100ms", shown[0]),
    ];
    for (row, what, iops) in named {
        let iops = stripewise_units::format_count(iops);
        assert_eq!(row[2..5], ["random-read", what, &iops], "{listed}");
    }
}

#[test]
fn the_list_says_what_studies_came_to_and_a_bench_with_requirements_is_one() {
    let desk = Desk::new();
    let require = ["--require", "random-read iops>=800"];
    let multi_host = ["--require", "random-read p99<15ms"];
    let series = ["--series", "random-read", "--step", "1s"];
    desk.run(
        &[
            &["bench", "sim:raid10-10k"][..],
            &series,
            &require,
            &multi_host,
        ]
        .concat(),
    );
    desk.run(&["qualify", "sim:disk-7k2", "--for", "etcd"]);
    let limits = desk.run(&["limits", "sim:ebs-gp3"]).done().stdout;
    // The command that shows it again has the end of its id.
    let again = limits.lines().find(|line| line.starts_with("Again "));
    let shown = again.and_then(|line| line.split_whitespace().last());
    assert_eq!(shown.map(str::len), Some(4), "{limits}");
    desk.run(&["history", "show", shown.unwrap_or_default()])
        .done()
        .printed(&["3,000 IOPS"]);
    let listed = desk.run(&["history"]).done().stdout;
    let rows: Vec<String> = listed
        .lines()
        .filter(|line| line.contains("sim:"))
        .map(|line| {
            // A run that ends after midnight has a day beside its id.
            let is_day = |word: &str| word.len() == 10 && word.starts_with("20");
            let words = line.split_whitespace().skip(1);
            let words: Vec<&str> = words.filter(|word| !is_day(word)).collect();
            words.join(" ")
        })
        .collect();
    assert_eq!(rows[0], "limits sim:ebs-gp3 caps, 125.0 MiB/s 3,000");
    assert_eq!(rows[1], "qualify sim:disk-7k2 etcd missed");
    // A row for each of its minutes would push the verdict off the screen.
    let show = ["history", "show", "last~1"];
    let shown = desk.run(&show).done().stdout;
    assert!(shown.contains("(--explain lists them)"), "{shown}");
    assert!(!shown.contains("MiB/s"), "{shown}");
    let explained = desk.run(&[&show[..], &["--explain"]].concat()).done();
    assert!(explained.stdout.contains("MiB/s"), "{}", explained.stdout);
    assert!(
        rows[2].starts_with("bench sim:raid10-10k random-read "),
        "{listed}"
    );
}

#[test]
fn profiles_and_verifications_are_listed_shown_and_deleted() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let profile = desk.json(&["profile", "sim:sata-ssd", "--time", "2s"]);
    let id = profile.at("id").text();
    let volume = desk.volume();
    let verify = [
        "verify",
        &volume,
        "--busy-ok",
        "--size",
        "4M",
        "--duration",
        "200ms",
        "--threads",
        "1",
    ];
    let verified = desk.json(&verify).at("id").text();
    let listed = desk.json(&["history"]).at("measurements").items();
    let kinds: Vec<String> = listed.iter().map(|one| one.at("kind").text()).collect();
    assert_eq!(kinds, ["verify", "profile"]);
    assert_eq!(listed[0].at("status").text(), "passed");
    let table = desk.run(&["history"]).done().stdout;
    let line = |id: &str| table.lines().find(|line| line.starts_with(id)).expect(id);
    assert!(
        line(&verified).contains("verify") && line(&verified).contains("passed"),
        "{table}"
    );
    assert!(
        line(&id).contains("profile") && line(&id).contains("MiB/s"),
        "{table}"
    );
    let shown = desk.run(&["history", "show", &id, "--json"]).done().json();
    assert_eq!(shown.at("id").text(), id);
    let words = desk.run(&["history", "show", &id]).done().stdout;
    assert!(words.contains("sim:sata-ssd"), "{words}");
    let words = desk.run(&["history", "show", &verified]).done().stdout;
    assert!(words.contains("PASSED"), "{words}");
    let gone = desk.run(&["history", "delete", &verified]).done().stdout;
    assert!(gone.contains(&verified), "{gone}");
    assert_eq!(desk.json(&["history"]).at("measurements").items().len(), 1);
    // Filters that only runs have leave them out.
    let by_label = desk.json(&["history", "--label", "x"]);
    assert!(by_label.at("measurements").items().is_empty());
}

#[test]
fn one_name_in_two_directories_is_two_targets() {
    let desk = Desk::new();
    let whole = |place: &str| desk.file(&format!("{place}/data"));
    for place in ["one", "two"] {
        std::fs::create_dir_all(desk.file(place)).expect("a directory");
        crate::support::users_file(&whole(place), 4 << 20);
        let run = ["run", "data", "--busy-ok", "--duration", "20ms"];
        let mut command = desk.command(&run);
        Answer::of(command.current_dir(desk.file(place))).done();
    }
    desk.run(&["history"])
        .done()
        .printed(&["one/data", "two/data"]);
    let of_two = desk.json(&["history", "--target", &whole("two")]);
    let rows = of_two.at("history").items();
    let targets: Vec<String> = (rows.iter())
        .map(|row| row.at("jobs.0.target").text())
        .collect();
    assert_eq!(targets, [whole("two")]);
    assert_eq!(
        desk.json(&["history", "--target", "data"])
            .at("history")
            .items()
            .len(),
        2
    );
}
