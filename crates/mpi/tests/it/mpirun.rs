//! The program under `mpirun`. Without the feature there is no such program: the tests are
//! named and counted as ignored.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest that anything here may take before it counts as hung.
const PATIENCE: Duration = Duration::from_secs(300);

/// A directory with the stores of all ranks.
struct Desk {
    directory: TempDir,
}

impl Desk {
    fn new() -> Desk {
        Desk {
            directory: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// `mpirun` with four ranks, each with a store of its own.
    fn command(&self, words: &[&str]) -> Command {
        let program = option_env!("CARGO_BIN_EXE_stripewise-mpi");
        let program = program.expect("cargo test -p stripewise-mpi --features mpi");
        let store = self.path().join("{rank}.db");
        let mut command = Command::new("mpirun");
        command
            .args(["--allow-run-as-root", "--oversubscribe", "-n", "4", program])
            .args(words)
            .arg("--store")
            .arg(store)
            .env("HOME", self.path())
            .current_dir(self.path())
            .stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("mpirun of openmpi-bin")
    }

    /// The one document that is printed.
    fn json(&self, words: &[&str]) -> serde_json::Value {
        let output = self.run(&[words, &["--json"]].concat());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

fn count(value: &serde_json::Value) -> u64 {
    value
        .as_u64()
        .unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn four_ranks_are_one_record_with_a_row_for_each() {
    let desk = Desk::new();
    let document = desk.json(&[
        "run",
        "sim:raid10-10k",
        "--duration",
        "5s",
        "--outstanding",
        "8",
    ]);
    let run = &document["runs"][0];
    let hosts = run["merged"]["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 4);
    let total = count(&run["jobs"][0]["outcome"]["operations"]);
    let each = hosts.iter().map(|host| count(&host["read"]["operations"]));
    assert_eq!(total, each.sum::<u64>());
    assert_eq!(run["merged"]["clocks_measured"], true);
    assert!((0..4).all(|rank| desk.path().join(format!("{rank}.db")).exists()));
}

#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn a_missing_target_is_one_line_and_nothing_is_written() {
    let desk = Desk::new();
    for rank in [0, 1, 3] {
        std::fs::write(desk.path().join(format!("{rank}.data")), vec![1; 1 << 20]).unwrap();
    }
    let words = [
        "run",
        "{rank}.data",
        "--busy-ok",
        "--write",
        "--overwrite",
        "--cache",
        "buffered",
        "--duration",
        "2s",
    ];
    let output = desk.run(&words);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{said}");
    let lines: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("2.data"))
        .collect();
    assert!(lines.len() == 1 && lines[0].contains(":2: "), "{said}");
    for rank in [0, 1, 3] {
        let content = std::fs::read(desk.path().join(format!("{rank}.data"))).unwrap();
        assert!(content == vec![1; 1 << 20], "not a byte was written");
    }
}

/// A rank that stands still is named, and the others end with what was measured.
#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn a_rank_that_stands_still_is_named_and_nobody_hangs() {
    let desk = Desk::new();
    for rank in 0..4 {
        std::fs::write(desk.path().join(format!("{rank}.data")), vec![1; 1 << 20]).unwrap();
    }
    let words = [
        "run",
        "{rank}.data",
        "--busy-ok",
        "--cache",
        "buffered",
        "--rate",
        "50",
        "--duration",
        "10m",
        "--interval",
        "250ms",
        "--json",
    ];
    let mut command = desk.command(&words);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Once rank 2 has kept an interval it measures.
    let store = desk.path().join("2.db");
    let pid = measuring(child.id(), &store);
    let kill = |signal: &str| {
        let status = Command::new("kill").args([signal, &pid]).status();
        assert!(status.unwrap().success());
    };
    kill("-STOP");
    let stopped = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(stopped.elapsed() < PATIENCE);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        said.contains(":2 says nothing for 5 s; all hosts stop"),
        "{said}"
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&said);
    let run = &document["runs"][0];
    assert_eq!(run["status"], "partial", "{said}");
    assert!(count(&run["jobs"][0]["outcome"]["operations"]) > 0);
}

/// Waits until the rank with this store measures; its process.
fn measuring(mpirun: u32, store: &Path) -> String {
    let begun = Instant::now();
    loop {
        assert!(begun.elapsed() < PATIENCE, "no rank measures");
        std::thread::sleep(Duration::from_millis(100));
        let grown = std::fs::metadata(store.with_extension("db-wal"));
        if grown.is_ok_and(|wal| wal.len() > 0)
            && let Some(pid) = child_with(mpirun, store)
        {
            std::thread::sleep(Duration::from_secs(2));
            return pid;
        }
    }
}

/// The process of the rank that has this store open; all have the same words.
fn child_with(mpirun: u32, store: &Path) -> Option<String> {
    let children = format!("/proc/{mpirun}/task/{mpirun}/children");
    let children = std::fs::read_to_string(children).ok()?;
    let holds = |pid: &&str| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd"))
            .into_iter()
            .flatten();
        let mut names = files
            .flatten()
            .filter_map(|file| std::fs::read_link(file.path()).ok());
        names.any(|name| name == store)
    };
    children.split_whitespace().find(holds).map(str::to_owned)
}
