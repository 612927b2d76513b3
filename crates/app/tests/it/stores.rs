//! Stores that are locked, damaged, foreign, or cannot be written.

use crate::support::{Answer, Desk, Json, as_unprivileged, can_run, names, program, text};
use std::os::unix::fs::PermissionsExt;

/// Every command that needs the store fails with this, and leaves the file alone.
fn check_refused(desk: &Desk, says: &[&str]) {
    let before = std::fs::read(desk.store()).expect("there");
    for arguments in [
        &["history"][..],
        &["history", "show", "last"],
        &["history", "delete", "2026"],
        &["run", "sim:nvme", "--duration", "10ms"],
        &["bench", "sim:raid10-10k", "--series", "log", "--step", "1s"],
    ] {
        desk.run(arguments).failed(5, says);
        assert!(
            std::fs::read(desk.store()).expect("there") == before,
            "{arguments:?}"
        );
    }
    assert_eq!(names(desk.path()), ["results.db"]);
}

#[test]
fn a_file_that_is_no_store_is_told_and_left_alone() {
    let noise: String = ('a'..='z').cycle().take(20_000).collect();
    for content in ["", "my shopping list\n", &noise] {
        if content.is_empty() {
            continue;
        }
        let desk = Desk::new();
        desk.write("results.db", content);
        check_refused(&desk, &["not a store of Stripewise", "--store FILE"]);
    }
}

#[test]
fn another_programs_database_is_told_and_left_alone() {
    let desk = Desk::new();
    let connection = rusqlite::Connection::open(desk.store()).expect("a database");
    connection
        .execute_batch("CREATE TABLE accounts (name TEXT); INSERT INTO accounts VALUES ('mine');")
        .expect("a table");
    drop(connection);
    check_refused(&desk, &["another program", "--store FILE"]);
}

#[test]
fn a_store_of_a_later_version_is_told_and_left_alone() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    connection
        .execute_batch("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE);")
        .expect("a version");
    drop(connection);
    for name in names(desk.path()) {
        if name != "results.db" {
            std::fs::remove_file(desk.file(&name)).expect("removed");
        }
    }
    desk.run(&["history"]).failed(5, &["999", "newer"]);
    desk.run(&["run", "sim:nvme"]).failed(5, &["999", "newer"]);
}

#[test]
fn a_damaged_store_is_told_with_what_can_be_saved() {
    let desk = Desk::new();
    for _ in 0..4 {
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    }
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    connection
        .execute_batch("PRAGMA wal_checkpoint(TRUNCATE);")
        .expect("one file");
    drop(connection);
    let mut bytes = std::fs::read(desk.store()).expect("the store");
    let length = bytes.len();
    bytes[4096..length].fill(0xa5);
    std::fs::write(desk.store(), &bytes).expect("damaged");
    desk.run(&["history"])
        .failed(5, &["damaged", "history salvage", "--store"]);
    desk.run(&["run", "sim:nvme", "--duration", "10ms"])
        .failed(5, &["damaged"]);
    assert!(
        std::fs::read(desk.store()).expect("there") == bytes,
        "it was changed"
    );
}

/// Holds the only lock for writing.
fn lock(desk: &Desk) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    connection
        .execute_batch("BEGIN EXCLUSIVE")
        .expect("the lock");
    connection
}

#[test]
fn a_locked_store_can_be_read() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let lock = lock(&desk);
    assert_eq!(desk.ids().len(), 1);
    drop(lock);
}

#[test]
fn with_a_locked_store_the_result_is_not_lost() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let lock = lock(&desk);
    let answer = desk
        .run(&["run", "sim:nvme", "--duration", "10ms", "--json"])
        .ended(5)
        .said(&["locked by", "--store FILE"]);
    // Measured is measured: what could not be kept is printed.
    let job = crate::support::only_job(&answer.json());
    assert!(job.at("outcome.operations").count() > 0);
    drop(lock);
    assert_eq!(desk.ids().len(), 1);
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    assert_eq!(desk.ids().len(), 2);
}

#[test]
fn nothing_is_called_kept_that_was_not_kept() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let lock = lock(&desk);
    let answer = desk
        .run(&["run", "sim:nvme", "--duration", "10ms"])
        .ended(5);
    drop(lock);
    assert!(!answer.stdout.contains("Again "), "{}", answer.stdout);
    assert!(answer.stdout.contains("IOPS"), "{}", answer.stdout);
    assert_eq!(desk.ids().len(), 1);
}

/// A store that refuses the rows of a table for which this holds.
fn refusing(table: &str, when: &str) -> Desk {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    refuse(&desk, table, when);
    desk
}

/// From now on the store refuses such rows.
fn refuse(desk: &Desk, table: &str, when: &str) {
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    for doing in ["INSERT", "UPDATE"] {
        let trigger = format!(
            "CREATE TRIGGER refuse_{doing} BEFORE {doing} ON {table} WHEN {when} \
             BEGIN SELECT RAISE(ABORT, 'not this one'); END"
        );
        connection.execute_batch(&trigger).expect("a trigger");
    }
}

/// The last write of an experiment, with how it ended.
const ITS_END: &str = "NEW.json LIKE '%\"ended\":%'";

const ALIGN: [&str; 6] = ["align", "sim:raid10-10k", "--blocks", "10", "--step", "1s"];

const ADVISE: [&str; 10] = [
    "advise",
    "sim:raid10-10k",
    "--mix",
    "random-read=70,random-write=30",
    "--vary",
    "offset=63s,1M",
    "--vary",
    "stripe-unit=64K,128K",
    "--passes",
    "6",
];

#[test]
fn an_experiment_whose_end_was_not_kept_is_not_called_kept() {
    let desk = refusing("documents", ITS_END);
    let answer = desk.run(&ALIGN).ended(5).said(&["not this one"]);
    assert!(!answer.stdout.contains("Saved"), "{}", answer.stdout);
    assert!(answer.stdout.contains("diff %"), "{}", answer.stdout);
}

#[test]
fn advice_whose_end_was_not_kept_is_printed_and_not_called_kept() {
    let desk = refusing("documents", ITS_END);
    let answer = desk.run(&ADVISE).ended(5).said(&["not this one"]);
    assert!(!answer.stdout.contains("Saved"), "{}", answer.stdout);
    assert!(answer.stdout.contains("IOPS"), "{}", answer.stdout);
}

/// The store takes three runs of the first block or pass, and no more.
#[test]
fn a_block_whose_runs_the_store_refuses_is_made_to_its_end_and_shown() {
    let few = "(SELECT count(*) FROM runs) > 3";
    let answer = refusing("runs", few).run(&ALIGN).ended(5);
    let answer = answer.said(&["not this one", "lab resume"]);
    assert!(answer.stdout.contains("diff %"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("Saved"), "{}", answer.stdout);
    let answer = refusing("runs", few).run(&ADVISE).ended(5);
    let answer = answer.said(&["not this one"]);
    let words = ["1 pass is finished", "1 pass in", "lab resume"];
    for words in words {
        assert!(answer.stdout.contains(words), "{}", answer.stdout);
    }
}

/// The store takes three of the six repetitions, and no more.
#[test]
fn a_check_whose_runs_the_store_refuses_is_made_to_its_end_and_shown() {
    let few = "(SELECT count(*) FROM runs) > 3";
    let check = [
        "check",
        "sim:raid10-10k",
        "--duration",
        "1s",
        "--require",
        "read_iops>=1",
    ];
    let answer = refusing("runs", few).run(&check).ended(5);
    let answer = answer.said(&["not this one"]);
    assert!(answer.stdout.contains("read_iops>=1"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("Again "), "{}", answer.stdout);
    let json = [&check[..], &["--json"]].concat();
    let found = refusing("runs", few).run(&json).ended(5).json();
    assert_eq!(found.at("runs").items().len(), 6);
}

/// A run unlike those of its history makes way for fresh ones; refused by the store, it is shown.
#[test]
fn the_first_run_of_a_check_is_shown_where_the_store_refuses_it() {
    let desk = Desk::new();
    let disk = |rpm: u32| {
        desk.write(
            "disk.toml",
            &format!("level = \"single\"\n[disk]\nrpm = {rpm}\n"),
        )
    };
    let target = format!("sim:{}", disk(7_200));
    desk.json(&["run", &target, "--duration", "1s", "--repeat", "33"]);
    desk.run(&["baseline", "set", "last"]).done();
    disk(3_600);
    refuse(&desk, "runs", "(SELECT count(*) FROM runs) > 32");
    let answer = desk.run(&["check"]).ended(1);
    let words = [
        "not like the stored ones",
        "a run that could not be stored",
        "not this one",
    ];
    answer.warned(&words);
}

#[test]
fn a_run_that_is_kept_in_the_end_is_called_kept() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let lock = lock(&desk);
    let mut running = desk.start(&["run", "sim:nvme", "--duration", "10ms"]);
    running.until("cannot begin");
    drop(lock);
    let answer = running.wait().done();
    assert!(answer.stdout.contains("Again  "), "{}", answer.stdout);
    assert!(!answer.stderr.contains("elsewhere"), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("has been kept after all"),
        "{}",
        answer.stderr
    );
    assert_eq!(desk.ids().len(), 2);
}

#[test]
fn a_store_that_is_deleted_or_replaced_during_a_run_is_told() {
    for replaced in [false, true] {
        let desk = Desk::new();
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
        let volume = desk.volume();
        let arguments = [
            "run",
            &volume,
            "--size",
            "1M",
            "--duration",
            "2s",
            "--busy-ok",
        ];
        let mut running = desk.start(&arguments);
        running.until("Measuring");
        for name in names(desk.path()) {
            if name.starts_with("results.db") {
                std::fs::remove_file(desk.file(&name)).expect("removed");
            }
        }
        if replaced {
            let other = Desk::new();
            other.json(&["run", "sim:nvme", "--duration", "10ms"]);
            std::fs::copy(other.store(), desk.store()).expect("another one");
        }
        let answer = running.wait().ended(5).said(&["deleted or replaced"]);
        assert!(!answer.stdout.contains("Again "), "{}", answer.stdout);
        assert!(answer.stdout.contains("IOPS"), "{}", answer.stdout);
    }
}

#[test]
fn a_verification_whose_store_is_deleted_is_shown() {
    let desk = Desk::new();
    let volume = desk.volume();
    let arguments = [
        "verify",
        &volume,
        "--size",
        "16M",
        "--duration",
        "2s",
        "--busy-ok",
        "--json",
    ];
    let mut running = desk.start(&arguments);
    running.until("Working");
    for name in names(desk.path()) {
        if name.starts_with("results.db") {
            std::fs::remove_file(desk.file(&name)).expect("removed");
        }
    }
    let answer = running.wait().ended(5).said(&["deleted or replaced"]);
    let document = answer.json();
    assert_eq!(document.at("verdict").text(), "passed");
    assert!(document.at("verified_bytes").count() >= 16 << 20);
}

#[test]
fn a_damaged_profile_is_named_and_the_others_are_shown() {
    let desk = Desk::new();
    let profile = || desk.json(&["profile", "sim:nvme"]).at("id").text();
    let (bad, good) = (profile(), profile());
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    let changed = connection.execute(
        "UPDATE documents SET json = json || ' ' WHERE name = ?1",
        [&bad],
    );
    assert_eq!(changed.expect("a document"), 1);
    drop(connection);
    let history = desk.run(&["history"]).ended(5).said(&[&bad, "checksum"]);
    assert!(history.stdout.contains(&good), "{}", history.stdout);
    assert!(!history.stdout.contains(&bad), "{}", history.stdout);
    desk.run(&["history", "delete", &bad]).done();
    let history = desk.run(&["history"]).done();
    assert!(history.stdout.contains(&good), "{}", history.stdout);
}

#[test]
fn a_damaged_run_is_named_and_the_others_are_shown() {
    let desk = Desk::new();
    for _ in 0..3 {
        desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    }
    let ids = desk.ids();
    let bad = &ids[1];
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    let changed = connection.execute(
        "UPDATE records SET json = replace(json, '\"iops\":', '\"iops\":1') \
         WHERE run_number = (SELECT run_number FROM runs WHERE id = ?1)",
        [bad],
    );
    assert_eq!(changed.expect("a record"), 1);
    drop(connection);

    // The same of a part of the store: the others of a series.
    let series = desk.json(&["run", "sim:nvme", "--duration", "10ms", "--repeat", "3"]);
    let series = series.at("runs.0.series").text();
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    let changed = connection.execute(
        "UPDATE records SET json = replace(json, '\"iops\":', '\"iops\":1') \
         WHERE run_number = (SELECT max(run_number) FROM runs)",
        [],
    );
    assert_eq!(changed.expect("a record"), 1);
    drop(connection);
    for command in [
        &["report", &series, "--format", "csv"][..],
        &["export", &series, "--format", "csv"],
    ] {
        let shown = desk.run(command).ended(5).said(&["checksum"]);
        assert_eq!(shown.stdout.lines().count(), 1 + 2, "{}", shown.stdout);
    }
    desk.run(&["history", "delete", &series]).done();

    let export = desk.run(&["export"]).ended(5).said(&[bad, "checksum"]);
    assert_eq!(export.stdout.lines().count(), 2);
    assert!(!export.stdout.contains(bad.as_str()));
    let report = desk.run(&["report", "--all", "--format", "csv"]);
    let report = report.ended(5).said(&[bad, "checksum"]);
    assert!(report.stdout.contains(ids[0].as_str()));
    desk.run(&["history", "show", bad])
        .failed(5, &[bad, "checksum"]);
    desk.run(&["history", "show", &ids[0]]).done();

    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    let changed = connection.execute(
        "UPDATE jobs SET iops = iops + 1 WHERE run_number = \
         (SELECT run_number FROM runs WHERE id = ?1)",
        [bad],
    );
    assert_eq!(changed.expect("a row"), 1);
    drop(connection);
    let history = desk.run(&["history"]).ended(5).said(&[bad, "checksum"]);
    for good in [&ids[0], &ids[2]] {
        assert!(history.stdout.contains(good.as_str()), "{}", history.stdout);
    }
    desk.run(&["history", "delete", bad]).done();
    desk.run(&["export"]).done();
}

#[test]
fn a_document_of_16_mebibytes_is_refused_with_a_small_multiple_of_that_in_memory() {
    const MEMORY_KIB_MAX: u64 = 256 << 10;
    let desk = Desk::new();
    let flood = "[],".repeat((16 << 20) / 3);
    let head = "{\"schema_version\": 1, \"runs\": [";
    for (text, says) in [
        (format!("{head}{flood}[]]}}"), "not a document of runs"),
        (
            format!("{head}{}{{}}]}}", flood.replace("[]", "{}")),
            "not a document of runs",
        ),
        (
            format!("{head}], \"experiment\": [{flood}[]]}}"),
            "nothing to report on",
        ),
    ] {
        let file = desk.write("flood.json", &text);
        let mut limited = std::process::Command::new("sh");
        limited
            .args([
                "-c",
                &format!("ulimit -v {MEMORY_KIB_MAX}; exec \"$@\""),
                "sh",
            ])
            .args([program(), "report", &file, "--format", "json"]);
        Answer::of(&mut limited).failed(2, &[says]);
    }
}

#[test]
fn a_run_can_be_deleted_where_a_page_of_others_is_damaged() {
    let desk = Desk::new();
    // Labels that fill the pages: the table has several.
    let label = "x".repeat(1_500);
    for _ in 0..8 {
        desk.json(&["run", "sim:nvme", "--duration", "10ms", "--label", &label]);
    }
    let connection = rusqlite::Connection::open(desk.store()).expect("the store");
    let ask = |query: &str| {
        connection
            .query_row(query, (), |row| row.get::<_, i64>(0))
            .expect("a number") as usize
    };
    ask("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut statement = connection
        .prepare("SELECT id FROM runs ORDER BY run_number")
        .expect("a query");
    let ids: Vec<String> = statement
        .query_map((), |row| row.get(0))
        .and_then(Iterator::collect)
        .expect("ids");
    drop(statement);
    let page_bytes = ask("PRAGMA page_size");
    let root = ask("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'");
    drop(connection);
    let mut bytes = std::fs::read(desk.store()).expect("the store");
    let at = (root - 1) * page_bytes;
    assert_eq!(bytes[at], 5, "the table has more than a page");
    // The page of the oldest runs.
    let cell = at + usize::from(u16::from_be_bytes([bytes[at + 12], bytes[at + 13]]));
    let leaf = u32::from_be_bytes(bytes[cell..cell + 4].try_into().expect("a number"));
    bytes[(leaf as usize - 1) * page_bytes..][..page_bytes].fill(0xa5);
    std::fs::write(desk.store(), &bytes).expect("the store");

    let newest = ids.last().expect("a run");
    let deleted = desk.run(&["history", "delete", newest]).ended(5);
    assert!(
        deleted.stdout.contains("Deleted 1 run"),
        "{}",
        deleted.stdout
    );
    assert!(deleted.stderr.contains(&ids[0]), "{}", deleted.stderr);
    let left = desk.run(&["history"]).ended(5);
    assert!(!left.stdout.contains(newest.as_str()), "{}", left.stdout);
    assert!(left.stdout.contains(&ids[ids.len() - 2]), "{}", left.stdout);
}

#[test]
fn a_lock_that_comes_and_goes_is_waited_for() {
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let lock = lock(&desk);
    let mut running = desk.start(&["run", "sim:nvme", "--duration", "10ms"]);
    std::thread::sleep(std::time::Duration::from_millis(500));
    let still = !ended(&mut running);
    drop(lock);
    running.wait().done();
    assert!(still, "it did not wait");
    assert_eq!(desk.ids().len(), 2);
}

fn ended(running: &mut crate::support::Running) -> bool {
    let pid = rustix::process::Pid::from_raw(running.pid()).expect("an id");
    let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    state.is_ok_and(|state| state.contains(") Z "))
}

#[test]
fn a_store_in_a_place_that_cannot_be_written_is_told() {
    let test = "a_store_in_a_place_that_cannot_be_written_is_told";
    let desk = Desk::new();
    desk.json(&["run", "sim:nvme", "--duration", "10ms"]);
    let listed = desk.run(&["history", "--json"]).done().stdout;
    let opened = |mode: u32| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(desk.path(), permissions).expect("permissions");
    };
    let root = crate::support::machine::is_root();
    if root && !can_run(test, &["setpriv"]) {
        return;
    }
    let ask = |arguments: &[&str]| {
        let command = desk.command(arguments);
        if root {
            Answer::of(&mut as_unprivileged(&command, &[]))
        } else {
            let mut command = command;
            Answer::of(&mut command)
        }
    };
    // Everybody may look, nobody may write.
    for name in names(desk.path()) {
        let permissions = std::fs::Permissions::from_mode(0o444);
        std::fs::set_permissions(desk.file(&name), permissions).expect("permissions");
    }
    opened(0o555);
    let run = ask(&["run", "sim:nvme", "--duration", "10ms"]);
    let history = ask(&["history", "--json"]);
    opened(0o755);
    run.ended(5).said(&["cannot be written", "--store FILE"]);
    // What is stored can still be read.
    assert_eq!(history.done().stdout, listed);
}

#[test]
fn a_directory_that_does_not_exist_and_a_bad_path_are_told() {
    let desk = Desk::new();
    let mut command = std::process::Command::new(crate::support::program());
    let deep = desk.path().join("a/b/results.db");
    command.args([
        "run",
        "sim:nvme",
        "--duration",
        "10ms",
        "--store",
        text(&deep),
    ]);
    Answer::of(&mut command).failed(2, &["its directory does not exist", "--store"]);
    assert!(!desk.path().join("a").exists());
    let mut command = std::process::Command::new(crate::support::program());
    command.args(["history", "--store", "/proc/nowhere/results.db"]);
    Answer::of(&mut command).failed(5, &["/proc/nowhere", "--store FILE"]);
    let mut command = std::process::Command::new(crate::support::program());
    command.args(["history", "--store", text(desk.path())]);
    Answer::of(&mut command).failed(5, &["--store FILE"]);
}

#[test]
fn two_programs_share_a_store() {
    let desk = Desk::new();
    let running: Vec<_> = (0..8)
        .map(|_| desk.start(&["run", "sim:sata-ssd", "--duration", "500ms", "--json"]))
        .collect();
    let printed: Vec<Json> = running
        .into_iter()
        .map(|one| one.wait().done().json())
        .collect();
    let mut expected: Vec<String> = printed
        .iter()
        .map(|document| document.at("runs.0.id").text())
        .collect();
    let mut ids = desk.ids();
    expected.sort();
    ids.sort();
    assert_eq!(ids, expected);
}
