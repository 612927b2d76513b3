//! `qualify`: products, verdicts and exit codes, what is refused before the first byte, and
//! what is left of one that was interrupted.

use crate::support::{Desk, Json, Loop, MIB, Mount, can_run, names, until_measured, unwrapped};
use rustix::process::Signal;

/// 50 reads a second of 4 KiB at random times, and a limit.
fn product(limit: &str) -> String {
    format!(
        r#"
name = "mine"
about = "reads of a test"
[[file]]
name = "data"
size = "8M"
[[job]]
name = "reads"
file = "data"
options = {{ read = true, block = "4K", rate = 50, arrivals = "poisson" }}
[[requirement]]
name = "read-p99"
job = "reads"
metric = "p99"
below = "{limit}"
miss = "readers wait"
"#
    )
}

#[test]
fn a_simulated_disk_is_met_missed_and_undecided() {
    let desk = Desk::new();
    let loose = desk.write("loose.toml", &product("100ms"));
    let met = desk.run(&["qualify", "sim:sata-ssd", "--for", &loose, "--json"]);
    let met = met.done().json();
    assert_eq!(met.at("schema_version").count(), 1);
    assert_eq!(met.at("for").text(), "mine");
    assert_eq!(met.at("verdict").text(), "met");
    assert_eq!(met.at("seconds").count(), 1_200);
    let first = met.at("requirements.0");
    for (key, text) in [
        ("name", "read-p99"),
        ("metric", "p99"),
        ("unit", "ms"),
        ("verdict", "met"),
    ] {
        assert_eq!(first.at(key).text(), text, "{key}");
    }
    assert!(!met.at("warnings").items().is_empty());
    assert!(!met.at("resumable").truth());

    let strict = desk.write("strict.toml", &product("1us"));
    let missed = desk.run(&["qualify", "sim:sata-ssd", "--for", &strict]);
    let missed = missed.ended(1);
    let text = unwrapped(&missed.stdout);
    for words in [
        "Missed: 1 of 1 requirement, after 3 m",
        "It means: readers wait.",
    ] {
        assert!(text.contains(words), "{text}");
    }
    let quick = ["qualify", "sim:sata-ssd", "--for", &loose, "--quick", "-q"];
    let quick = desk.run(&quick).ended(1);
    assert!(quick.stdout.contains("mine: undecided"), "{}", quick.stdout);
    assert_eq!(quick.stdout.lines().count(), 1);
    // A verdict to sign rests between its minutes, which takes no time here.
    let signed = ["qualify", "sim:sata-ssd", "--for", &loose, "--sign"];
    assert_eq!(desk.json(&signed).at("verdict").text(), "met");
}

#[test]
fn a_rate_is_the_same_whatever_the_latency_limit_beside_it() {
    let desk = Desk::new();
    let at = |metric: &str, limit: &str| {
        let text = product(limit)
            .replace("poisson", "fixed")
            .replace("p99\"\nbelow", &format!("{metric}\"\nat-most"));
        let rate = r#"
[[requirement]]
name = "read-rate"
job = "reads"
metric = "iops"
at-least = 48
miss = "readers wait"
"#;
        let file = desk.write(&format!("{metric}-{limit}.toml"), &(text + rate));
        let found = desk.json(&["qualify", "sim:nvme", "--for", &file]);
        let rate = found.at("requirements.1");
        assert_eq!(rate.at("verdict").text(), "met", "{metric} {limit}");
        rate.at("measured").number()
    };
    for (metric, limit) in [
        ("p50", "20ms"),
        ("mean", "20ms"),
        ("p99", "5s"),
        ("max", "15s"),
    ] {
        let rate = at(metric, limit);
        assert!((rate - 50.0).abs() < 0.1, "{metric} {limit}: {rate}");
    }
}

#[test]
fn a_spinning_disk_is_too_slow_for_etcd_and_its_page_has_the_sources() {
    let desk = Desk::new();
    let page = desk.file("etcd.html");
    let markdown = desk.file("etcd.md");
    let answer = desk.run(&[
        "qualify",
        "sim:disk-7k2",
        "--for",
        "etcd",
        "-o",
        &page,
        "-o",
        &markdown,
    ]);
    let answer = answer.ended(1);
    for words in [
        "leaders change",
        "for growing files its journal is simulated, 4 KiB before each flush",
    ] {
        assert!(answer.stdout.contains(words), "{}", answer.stdout);
    }
    // The log of etcd, and the same on a file system that cannot reserve space.
    let again = desk.run(&["qualify", "--resume", "last", "--json"]);
    let commit = again.ended(1).json().at("commit");
    let rate = |file: &str| {
        let commit = commit.items();
        let mut of_file = commit.iter().filter(|one| one.at("file").text() == file);
        let alone = of_file.find(|one| one.at("committers").count() == 1);
        alone.expect("it was measured").at("commits_per_s").number()
    };
    let [growing, preallocated] = ["growing", "preallocated"].map(rate);
    assert!(growing < preallocated, "{growing} {preallocated}");
    for file in [page, markdown] {
        let text = std::fs::read_to_string(&file).expect("it was written");
        for words in [
            "https://etcd.io/docs",
            "p99 duration should be less than 10ms",
        ] {
            assert!(text.contains(words), "{file}: {words}");
        }
    }
}

#[test]
fn what_cannot_be_judged_is_refused_before_the_first_byte() {
    let desk = Desk::new();
    let volume = desk.volume();
    let own = desk.write("own.toml", &product("10ms"));
    let bad = desk.write(
        "bad.toml",
        &product("10ms").replace("metric = \"p99\"", "metric = \"p98\""),
    );
    for (arguments, code, says) in [
        (
            vec!["qualify", &volume, "--for", "etcdd"],
            2,
            vec![
                "there is no product etcdd",
                "did you mean etcd",
                "sqlserver",
            ],
        ),
        (vec!["qualify", &volume, "--for", &bad], 2, vec!["p98"]),
        (
            vec!["qualify", &volume, "--for", "none.toml"],
            2,
            vec!["none.toml"],
        ),
        (vec!["qualify", &volume], 2, vec!["--for"]),
        (
            vec!["qualify", "/nowhere/at/all", "--for", "etcd"],
            3,
            vec!["/nowhere/at/all: there is no such file or directory"],
        ),
        (
            vec!["qualify", &volume, "--for", &own, "--sign", "--busy-ok"],
            2,
            vec!["--busy-ok"],
        ),
        (
            vec!["qualify", &volume, "--for", &own, "--sign", "--quick"],
            2,
            vec!["--quick"],
        ),
        (
            vec!["qualify", &volume, "--for", &own, "-o", "x.txt"],
            2,
            vec!["does not give a format"],
        ),
        (
            vec!["qualify", &volume, "--for", &own, "--destroy", "sdb"],
            2,
            vec!["no target is one"],
        ),
        (vec!["qualify", "sim:none", "--for", &own], 2, vec!["none"]),
        (
            vec!["qualify", "sim:nvme?size=64M", "--for", "etcd"],
            3,
            vec!["has 64 MiB, and the files of etcd take"],
        ),
    ] {
        desk.run(&arguments).ended(code).warned(&says);
    }
    assert!(names(&volume).is_empty());
    assert!(desk.ids().is_empty(), "nothing was begun");
}

#[test]
fn files_that_have_no_room_together_are_refused_before_the_first_is_filled() {
    let desk = Desk::new();
    let volume = desk.volume();
    let second = "[[file]]\nname = \"more\"\nsize = \"500T\"\n[[job]]\nname = \"more\"\n\
                  file = \"more\"\noptions = { read = true }\n[[requirement]]";
    let own = desk.write(
        "own.toml",
        &product("10ms").replace("[[requirement]]", second),
    );
    let words = ["qualify", &volume, "--for", &own, "--busy-ok"];
    let says = ["no room", "the files of mine take 500.0 TiB in all"];
    let refused = desk.run(&words).ended(3).warned(&says);
    assert!(!refused.stderr.contains("Filling"), "{}", refused.stderr);
}

#[test]
fn a_file_that_is_too_small_is_not_sent_to_a_switch_that_is_not_there() {
    let desk = Desk::new();
    let own = desk.write("own.toml", &product("10ms"));
    let file = format!("{}/small", desk.volume());
    std::fs::write(&file, vec![b'x'; 1 << 20]).expect("a file");
    let words = ["qualify", &file, "--for", &own, "--busy-ok"];
    let says = ["less than the 8 MiB", "mine sets the size"];
    let refused = desk.run(&words).ended(3).warned(&says);
    assert!(!refused.stderr.contains("--size"), "{}", refused.stderr);
}

#[test]
fn commit_methods_without_room_are_not_sent_to_a_switch_that_is_not_there() {
    own_process!();
    let test = "commit_methods_without_room_are_not_sent_to_a_switch_that_is_not_there";
    if !can_run(test, &["root", "losetup", "mount", "mkfs.ext4"]) {
        return;
    }
    let device = Loop::new(64 * MIB);
    let mount = Mount::made(&["mkfs.ext4", "-q", "-F"], &device, &[]);
    let desk = Desk::new();
    let refused = desk.run(&["qualify", mount.text(), "--commit", "--busy-ok"]);
    let says = ["no room", "name a directory with more room than"];
    let refused = refused.ended(3).warned(&says);
    assert!(!refused.stderr.contains("--size"), "{}", refused.stderr);
}

#[test]
fn a_file_system_that_cannot_reserve_space_is_refused_before_the_first_byte() {
    own_process!();
    let test = "a_file_system_that_cannot_reserve_space_is_refused_before_the_first_byte";
    if !can_run(test, &["root", "losetup", "mount", "mkfs.ext2"]) {
        return;
    }
    let device = Loop::new(128 * MIB);
    let mount = Mount::made(&["mkfs.ext2", "-q", "-F"], &device, &[]);
    let desk = Desk::new();
    let second = "[[file]]\nname = \"log\"\nsize = \"8M\"\nstate = \"preallocated\"\n\
                  [[job]]\nname = \"log\"\nfile = \"log\"\noptions = { write = true }\n\
                  [[requirement]]";
    let own = product("10ms").replace("[[requirement]]", second);
    let own = desk.write("own.toml", &own);
    let refused = desk.run(&["qualify", mount.text(), "--for", &own, "--busy-ok"]);
    let refused = refused.ended(3).warned(&["cannot be reserved", "XFS"]);
    assert!(!refused.stderr.contains("Filling"), "{}", refused.stderr);
    assert!(desk.ids().is_empty(), "nothing was begun");
}

#[test]
fn two_qualifications_are_compared_requirement_by_requirement() {
    let desk = Desk::new();
    let own = desk.write("own.toml", &product("1us"));
    let other = desk.write("other.toml", &product("1us").replace("mine", "other"));
    let id = |target: &str, product: &str| {
        let words = ["qualify", target, "--for", product, "--quick", "--json"];
        desk.run(&words).json().at("id").text()
    };
    let [a, b] = ["sim:disk-7k2", "sim:nvme"].map(|target| id(target, &own));
    let compared = desk.json(&["compare", &a, &b]);
    let rows = compared.at("rows").items();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].at("name").text(), "read-p99, p99 < 0.001 ms");
    assert_eq!(rows[0].at("a.verdict").text(), "missed");
    assert!(rows[0].at("a.value").number() > rows[0].at("b.value").number());
    desk.run(&["compare", &a, &id("sim:nvme", &other)])
        .failed(2, &["is about mine", "is about other"]);
}

#[test]
fn products_are_listed_with_what_they_require() {
    let desk = Desk::new();
    let list = desk.json(&["qualify", "--list"]);
    let found: Vec<String> = list
        .items()
        .iter()
        .map(|one| one.at("name").text().to_owned())
        .collect();
    for name in ["etcd", "sqlserver", "sap-hana", "postgresql", "cockroachdb"] {
        assert!(found.iter().any(|one| one == name), "{found:?}");
    }
    let text = desk.run(&["qualify", "--list"]).done().stdout;
    for words in [
        "wal-fsync-p99",
        "p99 < 10 ms",
        ">= 8,000 IOPS",
        "measured, not judged",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

/// What `qualify` prints when Ctrl-C comes while it measures.
fn interrupted(desk: &Desk, arguments: &[&str]) -> Json {
    let arguments = [&["qualify"], arguments, &["--busy-ok", "--json"]].concat();
    let mut running = desk.start(&arguments);
    running.until("Measuring");
    running.signal(Signal::INT);
    running.wait().ended(130).json()
}

#[test]
fn what_was_interrupted_is_stored_and_goes_on() {
    let desk = Desk::new();
    let volume = desk.volume();
    let own = desk.write("own.toml", &product("10s"));
    let first = interrupted(&desk, &[&volume, "--for", &own]);
    assert_eq!(first.at("verdict").text(), "undecided");
    assert!(first.at("resumable").truth());
    assert!(names(&volume).is_empty());
    let id = first.at("id").text().to_owned();
    let again = interrupted(&desk, &["--resume", &id]);
    assert_eq!(again.at("id").text(), id);
    assert!(again.at("seconds").count() >= first.at("seconds").count());
    let line = desk.run(&["history", "show", &id, "-q"]).done().stdout;
    let go_on = format!("; go on: stripewise qualify --resume {id} [{id}]");
    assert!(line.trim_end().ends_with(&go_on), "{line}");
}

#[test]
fn what_another_process_is_measuring_is_not_resumed() {
    let desk = Desk::new();
    let volume = desk.volume();
    let own = desk.write("own.toml", &product("10s"));
    let mut running = desk.start(&["qualify", &volume, "--for", &own, "--busy-ok"]);
    until_measured(&desk, &mut running, 1);
    let runs = desk.json(&["history"]);
    let id = runs.at("history").items()[0].at("series").text().to_owned();
    let shown = desk.run(&["history", "show", &id]).done().stdout;
    assert!(
        shown.contains("Still being measured, in its first minute"),
        "{shown}"
    );
    assert!(!shown.contains("--resume"), "{shown}");
    desk.run(&["qualify", "--resume", "last", "--busy-ok"])
        .failed(2, &["still being measured by another process", "hint: "]);
    let is_measured = format!("{id} is still being measured: ");
    desk.run(&["history", "show", "last"])
        .failed(2, &[&is_measured, "hint: "]);
    running.signal(Signal::INT);
    running.wait().ended(130);
}

#[test]
fn commit_methods_are_compared_on_a_simulated_disk() {
    let desk = Desk::new();
    let found = desk.json(&["qualify", "sim:disk-7k2", "--commit"]);
    let id = found.at("id").text().to_owned();
    // What is whole is shown again, by `history` with its table instead of its runs.
    let again = desk.json(&["qualify", "--resume", &id]);
    assert_eq!(again.at("id").text(), id);
    assert_eq!(again.at("commit").items().len(), 20);
    let shown = desk.run(&["history", "show", &id]).done().stdout;
    assert!(shown.contains("Commits a second"), "{shown}");
    assert!(shown.lines().count() < 40, "{shown}");
    let compared = desk.json(&["compare", &id, &id]);
    assert_eq!(compared.at("question").text(), "commit methods");
    let rows = compared.at("rows").items();
    assert_eq!(rows.len(), 20);
    let name = "O_DIRECT+fdatasync, overwritten file, 64 in a group";
    assert!(rows.iter().any(|row| row.at("name").text() == name));
    let table = desk.run(&["compare", &id, &id]).done().stdout;
    assert!(table.contains("From +0.0 to +0.0 % in 20 rows"), "{table}");
    desk.run(&["qualify", "sim:disk-7k2", "--commit", "--quick"])
        .failed(2, &["'--commit' cannot be used with '--quick'"]);
    assert_eq!(found.at("verdict").text(), "not-judged");
    let commit = found.at("commit").items();
    // Two methods without a page cache, two states of the file, three numbers of committers, and
    // two of groups.
    assert_eq!(commit.len(), 20);
    let (growing, overwritten): (Vec<_>, Vec<_>) = commit
        .iter()
        .partition(|one| one.at("file").text() == "growing");
    assert_eq!(growing.len(), overwritten.len());
    for (grown, plain) in growing.iter().zip(&overwritten) {
        assert_eq!(plain.at("file").text(), "overwritten");
        for key in ["method", "committers", "group_commit"] {
            assert_eq!(grown.at(key).json(), plain.at(key).json());
        }
        let is_alone = plain.at("committers").count() == 1;
        let [grown, plain] = [grown, plain].map(|one| one.at("commits_per_s").number());
        assert!(grown > 0.0 && plain > 0.0, "{grown} {plain}");
        // The arm goes to the journal and back.
        assert!(!is_alone || grown < plain, "{grown} {plain}");
    }
    assert!(
        shown.contains("for growing files its journal is simulated"),
        "{shown}"
    );
    // A disk that spins commits a group in the turn that one commit takes.
    let rate = |group: bool| {
        let of_64 = commit.iter().find(|one| {
            one.at("method").text() == "O_DIRECT|O_DSYNC"
                && one.at("file").text() == "overwritten"
                && one.at("committers").count() == 64
                && one.at("group_commit").truth() == group
        });
        of_64.expect("it was measured").at("commits_per_s").number()
    };
    assert!(
        rate(true) > 4.0 * rate(false),
        "{} {}",
        rate(true),
        rate(false)
    );
}

#[test]
fn a_database_has_its_own_commit_methods_beside_its_verdict() {
    let desk = Desk::new();
    let requested = ["qualify", "sim:disk-7k2", "--for", "postgresql", "--quick"];
    let found = desk.run(&requested).done();
    let plan = "Then 48 s: 4 ways of committing to 256 MiB of wal, for a table";
    assert!(found.stderr.contains(plan), "{}", found.stderr);
    for words in [
        "Commits a second",
        "wal_sync_method=open_datasync",
        "8 in a group",
    ] {
        assert!(found.stdout.contains(words), "{words}: {}", found.stdout);
    }
    let stored = desk.json(&["qualify", "--resume", "last"]);
    assert_eq!(stored.at("for").text(), "postgresql");
    assert_eq!(stored.at("requirements").items().len(), 4);
    let commit = stored.at("commit").items();
    assert_eq!(commit.len(), 8);
    let first = commit[2].at("in_product").text();
    assert!(first.starts_with("wal_sync_method=fdatasync"), "{first}");
    // Its runs are the minutes of the requirements.
    let id = stored.at("id").text();
    let shown = desk.run(&["history", "show", &id, "--explain"]);
    let shown = shown.done().stdout;
    assert!(!shown.contains("8 in a group, "), "{shown}");
    // Hints on their load would name switches that `qualify` does not have.
    assert!(shown.contains("note[few-operations]"), "{shown}");
    for switch in ["--duration", "--repeat"] {
        assert!(!shown.contains(switch), "{switch}: {shown}");
    }
    let runs = shown
        .lines()
        .filter(|line| line.starts_with("Run "))
        .count();
    assert!(runs <= 5, "{runs} {shown}");
}

#[test]
fn a_comparison_of_commit_methods_goes_on_where_it_was_interrupted() {
    let desk = Desk::new();
    let volume = desk.volume();
    let first = interrupted(&desk, &[&volume, "--commit"]);
    assert!(first.at("resumable").truth());
    assert!(names(&volume).is_empty());
    let id = first.at("id").text().to_owned();
    let again = interrupted(&desk, &["--resume", &id]);
    assert_eq!(again.at("id").text(), id);
    assert!(again.at("resumable").truth());
    // Nothing here is a verdict, to sign or not.
    let warnings = again.at("warnings").items();
    let busy = warnings.last().expect("--busy-ok was given").text();
    assert_eq!(
        busy,
        "--busy-ok was given: other load may be in the numbers"
    );
}
