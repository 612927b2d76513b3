//! `serve` while its store is locked, replaced by another, or on a full disk.

use super::support::served::Served;
use super::support::{Desk, Mount, PATIENCE, skip, text};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

fn run(desk: &Desk, label: &str) {
    let run = ["run", "sim:nvme", "--duration", "1ms", "--label", label];
    desk.run(&[&run[..], &["--quiet"]].concat()).done();
}

fn labels(served: &Served) -> Vec<String> {
    let reply = served.get("/api/runs");
    assert_eq!(reply.status, 200, "{reply:?}");
    let each = reply.body.lines().map(|line| {
        let run: serde_json::Value = serde_json::from_str(line).expect("JSON");
        run["label"].as_str().expect("a label").to_owned()
    });
    each.collect()
}

fn held(store: &Path, how: &str) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(store).expect("the store");
    connection.execute_batch(how).expect("the lock");
    connection
}

#[test]
fn who_writes_keeps_nobody_from_looking_and_who_locks_all_is_named() {
    let desk = Desk::new();
    run(&desk, "mine");
    let served = Served::start(&desk, &[]);
    let writing = held(&desk.store(), "BEGIN EXCLUSIVE");
    assert_eq!(labels(&served), ["mine"]);
    assert_eq!(served.get("/run/last").status, 200);
    drop(writing);
    // A lock on everything, which no run takes.
    let all = held(
        &desk.store(),
        "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT",
    );
    std::thread::scope(|scope| {
        let requested = scope.spawn(|| served.get("/api/now"));
        // Others are answered while one waits for the lock.
        assert_eq!(served.get("/").status, 200);
        let reply = requested.join().expect("an answer");
        assert_eq!(reply.status, 503, "{reply:?}");
        assert!(reply.body.contains("locked"), "{reply:?}");
        super::serve_api::holds_to("error", &reply);
    });
    drop(all);
    assert_eq!(labels(&served), ["mine"]);
}

#[test]
fn another_store_under_the_same_name_is_what_is_shown_from_then_on() {
    let (desk, other) = (Desk::new(), Desk::new());
    run(&desk, "old");
    run(&other, "new");
    let served = Served::start(&desk, &[]);
    assert_eq!(labels(&served), ["old"]);
    let cursor = served.json("/api/now")["cursor"].clone();
    for side in ["", "-wal", "-shm"] {
        let name = |desk: &Desk| format!("{}{side}", desk.store().display());
        let _ = std::fs::remove_file(name(&desk));
        let _ = std::fs::rename(name(&other), name(&desk));
    }
    assert_eq!(labels(&served), ["new"]);
    let path = format!("/api/now?cursor={}", cursor.as_str().expect("a cursor"));
    assert_eq!(served.get(&path).status, 200);
    let page = served.get("/run/last").body;
    assert!(page.contains("new") && !page.contains(">old<"));
}

#[test]
fn on_a_full_disk_what_is_stored_is_shown_and_a_run_says_that_it_was_not_kept() {
    own_process!();
    let test = "serve_store::on_a_full_disk";
    if !rustix::process::geteuid().is_root() {
        return skip(test, "root, for a tmpfs of its own");
    }
    let mount = Mount::new(&["-t", "tmpfs", "-o", "size=2M", "none"]);
    let desk = Desk::new();
    let store = mount.path.join("results.db");
    let all = ["run", "sim:nvme", "--duration", "1ms", "--label", "kept"];
    let mut command = std::process::Command::new(super::support::program());
    let command = command.args(all).args(["--quiet", "--store", text(&store)]);
    assert!(command.status().expect("the program").success());
    let served = Served::other_store(&desk, text(&store));
    fill(&mount.path.join("filler"));
    assert_eq!(labels(&served), ["kept"]);
    assert_eq!(served.get("/api/now").status, 200);
    let page = served.get("/run/last");
    assert!(page.status == 200 && page.body.contains("kept"), "a report");
    let options = r#"{"what":"run","target":"sim:nvme","duration":"10s"}"#;
    assert_eq!(served.post("/api/runs", options).status, 200);
    let began = Instant::now();
    let last = loop {
        let last = served.json("/api/started")["last"].clone();
        if last["has_ended"] == true {
            break last;
        }
        assert!(began.elapsed() < PATIENCE, "it never ends: {last}");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert_eq!(last["exit_code"], 5, "{last}");
    let notes = last["notes"].to_string();
    assert!(notes.contains("full"), "{notes}");
    assert_eq!(labels(&served), ["kept"]);
}

/// Writes until nothing fits.
fn fill(path: &Path) {
    let mut file = std::fs::File::create_new(path).expect("a file");
    for size in [64 << 10, 4 << 10, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}
