//! The program under `mpirun`. Without the feature, there is no such program: the tests are
//! listed and counted as ignored.

use crate::wait::wait_until;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use stripewise_store::{Filter, Store, StoredInterval};
use tempfile::TempDir;

/// Time limit for `mpirun` to end after all of its ranks.
const END: Duration = Duration::from_secs(20);

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

    /// `mpirun` with four ranks, each with its own store.
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
        let once = || ended(self.spawn(words));
        let ends = std::iter::repeat_with(once).take(3);
        let mut whole = ends.filter_map(|(output, hung)| (!hung).then_some(output));
        whole.next().expect("mpirun ends when its ranks have")
    }

    fn spawn(&self, words: &[&str]) -> Child {
        let mut command = self.command(words);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("mpirun of openmpi-bin")
    }

    /// The single printed document.
    fn json(&self, words: &[&str]) -> serde_json::Value {
        let output = self.run(&[words, &["--json"]].concat());
        let reported_text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{reported_text}");
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {reported_text}"))
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
    let reported_text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3), "{reported_text}");
    let lines: Vec<&str> = reported_text
        .lines()
        .filter(|line| line.contains("2.data"))
        .collect();
    assert!(
        lines.len() == 1 && lines[0].contains(":2: "),
        "{reported_text}"
    );
    for rank in [0, 1, 3] {
        let content = std::fs::read(desk.path().join(format!("{rank}.data"))).unwrap();
        assert!(content == vec![1; 1 << 20], "not a byte was written");
    }
}

/// Four ranks that measure for ten minutes, each on its own file.
fn long_run(desk: &Desk) -> Child {
    for rank in 0..4 {
        std::fs::write(desk.path().join(format!("{rank}.data")), vec![1; 1 << 20]).unwrap();
    }
    desk.spawn(&[
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
    ])
}

/// A stopped rank is reported, and the others end with their results.
#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn a_rank_that_stands_still_is_named_and_nobody_hangs() {
    let desk = Desk::new();
    let child = long_run(&desk);
    // Rank 2 is measuring once it has stored an interval.
    let store = desk.path().join("2.db");
    let pid = measuring(child.id(), &store);
    let kill = |signal: &str| {
        let status = Command::new("kill").args([signal, &pid]).status();
        assert!(status.unwrap().success());
    };
    kill("-STOP");
    let (output, _) = ended(child);
    let reported_text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        reported_text.contains(":2 says nothing for 5 s; all hosts stop"),
        "{reported_text}"
    );
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&reported_text);
    let run = &document["runs"][0];
    assert_eq!(run["status"], "partial", "{reported_text}");
    assert!(count(&run["jobs"][0]["outcome"]["operations"]) > 0);
}

/// A killed rank: mpirun ends the others, each stores its part, and the merged record
/// names the host and when it was last heard from.
#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn a_killed_rank_is_named_with_the_instant_and_nothing_is_lost() {
    let desk = Desk::new();
    let child = long_run(&desk);
    let pid = measuring(child.id(), &desk.path().join("2.db"));
    let status = Command::new("kill").args(["-KILL", &pid]).status();
    assert!(status.unwrap().success());
    let (output, _) = ended(child);
    let reported_text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!((0..4).all(|rank| desk.path().join(format!("{rank}.db")).exists()));
    // mpirun gives the others a second: on a busy machine, rank 0 may not finish,
    // and `merge --partial` of the stores gives the same result.
    if let Ok(document) = serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        let run = &document["runs"][0];
        assert_eq!(run["status"], "partial", "{reported_text}");
        let because = run["partial_because"].as_str().unwrap();
        assert!(
            because.contains(":2: nothing more was heard of it"),
            "{because}"
        );
        assert!(because.contains("(it measured until "), "{because}");
        assert!(count(&run["jobs"][0]["outcome"]["operations"]) > 0);
    }
}

/// Commands that decide from result to result, with switches only they have.
#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn bench_and_align_run_on_all_hosts() {
    let desk = Desk::new();
    let cases: [&[&str]; 2] = [
        &[
            "bench",
            "sim:raid10-10k",
            "--series",
            "log",
            "--step",
            "200ms",
            "--no-report",
        ],
        &[
            "align",
            "sim:raid10-10k",
            "--read",
            "--offsets",
            "63s,64K",
            "--threads",
            "2",
            "--blocks",
            "10",
            "--step",
            "200ms",
        ],
    ];
    for words in cases {
        let output = desk.run(&[words, &["--json"]].concat());
        let reported_text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{words:?}: {reported_text}"
        );
        let document: serde_json::Value =
            serde_json::from_slice(&output.stdout).expect(&reported_text);
        assert!(document.is_object(), "{words:?}");
    }
}

/// Each host verifies its own target; the answer includes all of them.
#[test]
#[cfg_attr(not(feature = "mpi"), ignore = "needs MPI: --features mpi")]
fn each_host_verifies_its_own_target() {
    let desk = Desk::new();
    for rank in 0..4 {
        std::fs::create_dir(desk.path().join(format!("data-{rank}"))).unwrap();
    }
    let words = [
        "verify",
        "data-{rank}",
        "--size",
        "8M",
        "--duration",
        "1s",
        "--busy-ok",
        "--cache",
        "buffered",
        "--json",
    ];
    let output = desk.run(&words);
    let reported_text = String::from_utf8_lossy(&output.stderr).into_owned();
    let document: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&reported_text);
    let hosts = document.as_array().expect("a list of hosts");
    assert_eq!(hosts.len(), 4, "{reported_text}");
    for (rank, host) in hosts.iter().enumerate() {
        assert_eq!(host["verdict"], "passed", "{host}");
        let name = host["targets"][0]["name"].as_str().unwrap();
        assert!(name.contains(&format!("data-{rank}")), "{name}");
    }
    assert_eq!(output.status.code(), Some(0), "{reported_text}");
}

/// Waits until the rank with this store has stored intervals with operations; returns its process.
fn measuring(mpirun: u32, store: &Path) -> String {
    wait_until("a rank measures", || has_measured(store).is_some());
    child_with(mpirun, store).expect("the rank is there")
}

fn has_measured(store: &Path) -> Option<()> {
    let store = Store::open_read_only(store).ok()?;
    let runs = store.list(&Filter::default()).ok()?;
    let intervals = store.load_intervals(&runs.first()?.id, 0).ok()?;
    let worked = |stored: &StoredInterval| stored.interval.read_operations > 0;
    intervals.iter().any(worked).then_some(())
}

/// The output of an `mpirun`, and whether it had to be killed because it did not end although
/// all of its ranks had: its library (PMIx 4.2) occasionally deadlocks during
/// shutdown.
fn ended(mut child: Child) -> (Output, bool) {
    let stdout = drained(child.stdout.take());
    let stderr = drained(child.stderr.take());
    let mut alone: Option<Instant> = None;
    let (status, hung) = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break (status, false);
        }
        match has_ranks(child.id()) {
            true => alone = None,
            false if alone.get_or_insert_with(Instant::now).elapsed() > END => {
                child.kill().unwrap();
                break (child.wait().unwrap(), true);
            }
            false => {}
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let output = Output {
        status,
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    };
    (output, hung)
}

fn drained(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            pipe.read_to_end(&mut bytes).unwrap();
        }
        bytes
    })
}

/// Whether a child of this process is still running.
fn has_ranks(mpirun: u32) -> bool {
    let children = format!("/proc/{mpirun}/task/{mpirun}/children");
    let children = std::fs::read_to_string(children).unwrap_or_default();
    children.split_whitespace().any(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // After the name, which may contain anything.
        let state = stat
            .rsplit_once(") ")
            .map(|(_, rest)| rest.starts_with('Z'));
        state == Some(false)
    })
}

/// The process of the rank that has this store open; all ranks have the same words.
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
