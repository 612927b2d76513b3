//! Four ranks under mpirun, one of which fails at a random time: killed, stopped, its store's disk
//! full, its target missing, or another version of the program. Whatever fails, no rank waits
//! longer than promised, one line names the failure, and the stores have the measured results.

use super::SeededRng;
use anyhow::{Context, Result, bail, ensure};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use suite::shell;

const RANKS: usize = 4;
/// The promise: a failed host is named within this time, and the others have exited.
const PROMISE: Duration = Duration::from_secs(10);
/// Grace period for ranks hit by a signal before they count as hung: a machine shared with tests is
/// slow.
const START: Duration = Duration::from_secs(30);
/// A run whose store is full continues this long before its user ends it.
const FULL_FOR: Duration = Duration::from_secs(3);
const TARGET_BYTES: usize = 1 << 20;
const STORE_BYTES: &str = "512K";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Killed,
    Stopped,
    Full,
    NoTarget,
    OtherVersion,
}

const FAULTS: [Fault; 5] = [
    Fault::Killed,
    Fault::Stopped,
    Fault::Full,
    Fault::NoTarget,
    Fault::OtherVersion,
];

/// Results of the attempts with one kind of fault.
#[derive(Default)]
struct Tally {
    tries: u64,
    /// The fault occurred while all were measuring.
    measuring: u64,
    longest: Duration,
    /// mpirun itself had to be killed: its library deadlocked.
    locked: u64,
}

struct Campaign<'a> {
    /// `stripewise-mpi`, one of another version, and `stripewise`, which merges.
    program: &'a Path,
    other: PathBuf,
    merges: &'a Path,
    folder: tempfile::TempDir,
    /// A small file system for the store of the rank whose disk fills up.
    has_small_disk: bool,
}

pub fn run(
    root: &Path,
    merges: &Path,
    hosts: Option<&Path>,
    (time, tries): (Duration, u64),
    rng: &mut SeededRng,
) -> Result<()> {
    for tool in ["mpicc", "mpirun"] {
        if !shell::has(tool) {
            return shell::skip("campaign hosts", tool);
        }
    }
    let built;
    let program = match hosts {
        Some(program) => program,
        None => {
            built = build(root)?;
            &built
        }
    };
    let campaign = Campaign::new(program, merges)?;
    let mut tallies: BTreeMap<Fault, Tally> = BTreeMap::new();
    let end = Instant::now() + time;
    let mut tried = 0;
    while tried < tries && (Instant::now() < end || tried < FAULTS.len() as u64) {
        // In turn, so that each kind gets its share.
        let fault = FAULTS[(tried as usize) % FAULTS.len()];
        tried += 1;
        if fault == Fault::Full && !campaign.has_small_disk {
            continue;
        }
        let victim = rng.below(RANKS as u64) as usize;
        let tally = tallies.entry(fault).or_default();
        campaign
            .attempt(fault, victim, rng, tally)
            .with_context(|| format!("try {tried}: {fault:?}, rank {victim}"))?;
    }
    for (fault, tally) in &tallies {
        println!(
            "hosts: {fault:?}: {} tries, {} struck while all measured; the others had ended after \
             {:.1} s at most; mpirun locked itself out {} times",
            tally.tries,
            tally.measuring,
            tally.longest.as_secs_f64(),
            tally.locked
        );
    }
    let struck: u64 = tallies.values().map(|tally| tally.measuring).sum();
    if tried >= 20 && struck == 0 {
        bail!("no fault struck while hosts measured");
    }
    Ok(())
}

/// Four hosts with an sshd each, in namespaces of this machine: `tests/hosts/run`.
pub fn by_ssh(root: &Path) -> Result<()> {
    for tool in ["mpicc", "mpirun"] {
        if !shell::has(tool) {
            return shell::skip("hosts by ssh", tool);
        }
    }
    let mut script = Command::new(root.join("tests/hosts/run"));
    let status = script
        .arg(build(root)?)
        .status()
        .context("tests/hosts/run")?;
    match status.code() {
        Some(0) => Ok(()),
        Some(shell::TOOL_MISSING) => shell::skip("hosts by ssh", "what the line above names"),
        _ => bail!("tests/hosts/run failed ({status})"),
    }
}

fn build(root: &Path) -> Result<PathBuf> {
    let words = [
        "build",
        "--release",
        "--locked",
        "--package",
        "stripewise-mpi",
        "--features",
        "mpi",
    ];
    shell::run(&mut shell::cargo(root, &words))?;
    Ok(suite::root::target_directory().join("release/stripewise-mpi"))
}

impl<'a> Campaign<'a> {
    fn new(program: &'a Path, merges: &'a Path) -> Result<Campaign<'a>> {
        let folder = tempfile::tempdir().context("cannot make a folder")?;
        let other = folder.path().join("other-version");
        of_another_version(program, merges, &other)?;
        let mut campaign = Campaign {
            program,
            other,
            merges,
            folder,
            has_small_disk: false,
        };
        for rank in 0..RANKS {
            fs::create_dir(campaign.store(rank).parent().expect("in a folder"))?;
        }
        campaign.has_small_disk = campaign.small_disk(0).is_ok();
        match campaign.has_small_disk {
            true => campaign.unmount(0),
            false => shell::skip("campaign hosts: a full disk", "root (mount)")?,
        }
        Ok(campaign)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn store(&self, rank: usize) -> PathBuf {
        self.path(&format!("rank{rank}/store.db"))
    }

    fn target(&self, rank: usize) -> PathBuf {
        self.path(&format!("{rank}.data"))
    }

    fn small_disk(&self, rank: usize) -> Result<()> {
        let folder = self.store(rank).parent().expect("in a folder").to_owned();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={STORE_BYTES}"), "tmpfs"]);
        shell::read(mount.arg(folder)).map(drop)
    }

    fn unmount(&self, rank: usize) {
        let folder = self.store(rank).parent().expect("in a folder").to_owned();
        // Nothing else is mounted there; a failure shows up in the next attempt.
        let _ = Command::new("umount").arg(folder).status();
    }

    /// A clean state: no stores, complete targets.
    fn tidy_up(&self) -> Result<()> {
        for rank in 0..RANKS {
            for ending in ["", "-wal", "-shm"] {
                let store = self.store(rank).with_extension(format!("db{ending}"));
                let _ = fs::remove_file(store);
            }
            fs::write(self.target(rank), vec![1; TARGET_BYTES])?;
        }
        Ok(())
    }

    fn command(&self, fault: Fault, victim: usize) -> Command {
        let mut command = Command::new("mpirun");
        command.args(["--allow-run-as-root", "--oversubscribe"]);
        let mut words: Vec<String> = ["run", "{rank}.data", "--busy-ok", "--cache", "buffered"]
            .map(str::to_owned)
            .to_vec();
        let more = [
            "--rate",
            "50",
            "--duration",
            "10m",
            "--interval",
            "100ms",
            "--json",
            "--store",
            "rank{rank}/store.db",
        ];
        words.extend(more.map(str::to_owned));
        for rank in 0..RANKS {
            let program = match fault == Fault::OtherVersion && rank == victim {
                true => &self.other,
                false => self.program,
            };
            if rank > 0 {
                command.arg(":");
            }
            command.args(["-n", "1"]).arg(program).args(&words);
        }
        command
            .env("HOME", self.folder.path())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn attempt(
        &self,
        fault: Fault,
        victim: usize,
        rng: &mut SeededRng,
        tally: &mut Tally,
    ) -> Result<()> {
        self.tidy_up()?;
        if fault == Fault::Full {
            self.small_disk(victim)?;
        }
        if fault == Fault::NoTarget {
            fs::remove_file(self.target(victim))?;
        }
        let judged = self.strike(fault, victim, rng, tally);
        if fault == Fault::Full {
            self.unmount(victim);
        }
        judged
    }

    fn strike(
        &self,
        fault: Fault,
        victim: usize,
        rng: &mut SeededRng,
        tally: &mut Tally,
    ) -> Result<()> {
        let mut child = self.command(fault, victim).spawn().context("mpirun")?;
        let (stdout, stderr) = (drained(child.stdout.take()), drained(child.stderr.take()));
        tally.tries += 1;
        let strikes = matches!(fault, Fault::Killed | Fault::Stopped | Fault::Full);
        let mut measured = false;
        if strikes {
            measured = self.kill_after_delay(&child, fault, victim, rng)?;
        }
        tally.measuring += u64::from(measured);
        if fault == Fault::Full && measured {
            // Measuring continues without a store until the user ends it.
            std::thread::sleep(FULL_FOR);
            let mpirun = child.id().to_string();
            Command::new("kill").args(["-TERM", &mpirun]).status()?;
        }
        let struck = Instant::now();
        // Ranks that fail at once do so at program start.
        let patience = match strikes {
            true => PROMISE,
            false => START,
        };
        let ended = self.others_end(&mut child, victim, struck, patience);
        tally.longest = tally.longest.max(struck.elapsed());
        tally.locked += u64::from(finish(&mut child));
        let (stdout, stderr) = (text(stdout), text(stderr));
        ended.with_context(|| format!("said:\n{stderr}"))?;
        self.judge(fault, victim, measured, &stdout, &stderr)
            .with_context(|| format!("said:\n{stderr}\nprinted:\n{stdout}"))
    }

    /// Waits for a random time, soon after the start or well into the run, then injects the fault.
    fn kill_after_delay(
        &self,
        child: &Child,
        fault: Fault,
        victim: usize,
        rng: &mut SeededRng,
    ) -> Result<bool> {
        // A full disk before a store exists does not test several hosts.
        let early = fault != Fault::Full && rng.below(4) == 0;
        let begun = Instant::now();
        let measures = || {
            (0..RANKS).all(|rank| {
                let log = fs::metadata(self.store(rank).with_extension("db-wal"));
                log.is_ok_and(|log| log.len() > 0)
            })
        };
        while !early && !measures() {
            ensure!(begun.elapsed() < START, "the ranks do not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        let longest_us = match early {
            true => 2_000_000,
            false => 3_000_000,
        };
        // Records of the start show that all of them have begun: half a second later.
        std::thread::sleep(Duration::from_micros(500_000 + rng.below(longest_us)));
        if fault == Fault::Full {
            let rest = self.store(victim).with_file_name("rest");
            // Write until it fails: that is the purpose.
            let _ = fs::write(rest, vec![1; 1 << 20]);
            return Ok(true);
        }
        let signal = match fault {
            Fault::Killed => "-KILL",
            _ => "-STOP",
        };
        let pids = ranks_of(child.id());
        let Some(pid) = pids.get(&victim) else {
            // Not there yet: processes already gone are checked anyway.
            ensure!(early, "rank {victim} is gone");
            return Ok(false);
        };
        let struck = Command::new("kill")
            .args([signal, &pid.to_string()])
            .status();
        ensure!(struck?.success() || early, "rank {victim} is gone");
        Ok(!early)
    }

    /// All ranks except the failed one have exited, within the promised time.
    fn others_end(
        &self,
        child: &mut Child,
        victim: usize,
        struck: Instant,
        patience: Duration,
    ) -> Result<()> {
        // mpirun needs time to start them.
        let mut seen = false;
        loop {
            let left = ranks_of(child.id());
            let others = left.keys().filter(|rank| **rank != victim).count();
            seen |= others > 0;
            if others == 0 && !seen && child.try_wait()?.is_none() && struck.elapsed() < patience {
                std::thread::sleep(Duration::from_millis(5));
                continue;
            }
            if others == 0 && (child.try_wait()?.is_some() || !left.contains_key(&victim)) {
                return Ok(());
            }
            if others == 0 && struck.elapsed() > patience {
                // Only the stopped one is left, and mpirun with it.
                return Ok(());
            }
            if struck.elapsed() > patience {
                bail!("after {patience:?} {others} of the others have not ended");
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn judge(
        &self,
        fault: Fault,
        victim: usize,
        measured: bool,
        stdout: &str,
        stderr: &str,
    ) -> Result<()> {
        ensure!(!stderr.contains("panicked at"), "a panic");
        let naming = format!(":{victim}");
        let printed: Vec<&str> = stderr
            .lines()
            .filter(|line| {
                ["error: ", "note: ", "warning: "]
                    .iter()
                    .any(|word| line.starts_with(word))
            })
            .collect();
        let named = printed.iter().filter(|line| line.contains(&naming)).count();
        match fault {
            Fault::NoTarget | Fault::OtherVersion => {
                // The name of rank 0 also appears in the message about another one.
                let errors = printed.iter().filter(|line| line.starts_with("error: "));
                ensure!(errors.count() == 1, "not told in one line");
                ensure!(
                    victim == 0 || named == 1 || fault == Fault::OtherVersion,
                    "the host is not named"
                );
                self.no_operations(fault, victim)?;
            }
            Fault::Stopped if measured && victim == 0 => {
                let alone = printed
                    .iter()
                    .filter(|line| line.contains("rank 0 says nothing"));
                ensure!(alone.count() >= 1, "nobody says that rank 0 is silent");
            }
            Fault::Stopped if measured => {
                ensure!(named == 1, "the host is named in {named} lines");
            }
            Fault::Full if measured => {
                ensure!(
                    printed
                        .iter()
                        .any(|line| line.contains("full") || line.contains(&naming)),
                    "a full disk is not told"
                );
            }
            // mpirun itself reports whose process was killed.
            _ => {}
        }
        if measured {
            if let Ok(document) = serde_json::from_str::<serde_json::Value>(stdout) {
                let run = &document["runs"][0];
                ensure!(run["status"] == "partial", "the record is not marked");
            }
            self.nothing_lost(fault, victim)?;
        }
        Ok(())
    }

    /// Nothing was written, and no store has a run.
    fn no_operations(&self, fault: Fault, victim: usize) -> Result<()> {
        for rank in (0..RANKS).filter(|rank| fault != Fault::NoTarget || *rank != victim) {
            let content = fs::read(self.target(rank))?;
            ensure!(content == vec![1; TARGET_BYTES], "rank {rank} wrote");
        }
        Ok(())
    }

    /// The hosts' results are in their stores, and can be merged; a full store has the part that
    /// fit.
    fn nothing_lost(&self, fault: Fault, victim: usize) -> Result<()> {
        let kept = |rank: usize| fault != Fault::Full || rank != victim;
        let mut merge = Command::new(self.merges);
        merge
            .args(["--quiet", "--json", "--store"])
            .arg(self.path("merged.db"))
            .args(["merge", "--partial"])
            .env("HOME", self.folder.path());
        for rank in (0..RANKS).filter(|rank| kept(*rank)) {
            merge.arg(format!(
                "{}#{}",
                self.store(rank).display(),
                self.own_run(rank)?
            ));
        }
        let merged = shell::read(&mut merge)?;
        let document: serde_json::Value = serde_json::from_str(&merged.stdout)?;
        let operations = document["runs"][0]["jobs"][0]["outcome"]["operations"].as_u64();
        ensure!(
            operations.is_some_and(|count| count > 0),
            "nothing was kept"
        );
        Ok(())
    }

    /// The run of a single rank: rank 0 also has the merged one.
    fn own_run(&self, rank: usize) -> Result<String> {
        let mut export = Command::new(self.merges);
        export
            .args(["--quiet", "--store"])
            .arg(self.store(rank))
            .args(["export", "--format", "jsonl"])
            .env("HOME", self.folder.path());
        let lines = shell::read(&mut export)?;
        let runs = lines
            .stdout
            .lines()
            .map(serde_json::from_str::<serde_json::Value>);
        for run in runs {
            let run = run?;
            if run["merged"].is_null() {
                return Ok(run["id"]
                    .as_str()
                    .context("a run without an id")?
                    .to_owned());
            }
        }
        bail!("the store of rank {rank} has no run of its own")
    }
}

/// A copy with another version number: every occurrence is replaced by one of the same length.
fn of_another_version(program: &Path, merges: &Path, copy: &Path) -> Result<()> {
    let outcomes = shell::read(Command::new(merges).arg("--version"))?.stdout;
    let version = outcomes.split_whitespace().nth(1).context("no version")?;
    let mut other = version.to_owned();
    let last = other.pop().context("no version")?;
    other.push(if last == '9' { '8' } else { '9' });
    let mut bytes = fs::read(program)?;
    let places: Vec<usize> = (bytes.windows(version.len()).enumerate())
        .filter(|(_, window)| *window == version.as_bytes())
        .map(|(at, _)| at)
        .collect();
    ensure!(!places.is_empty(), "the program does not name its version");
    for at in places {
        bytes[at..at + other.len()].copy_from_slice(other.as_bytes());
    }
    fs::write(copy, bytes)?;
    fs::set_permissions(copy, fs::metadata(program)?.permissions())?;
    Ok(())
}

/// Processes of this mpirun's ranks that have not exited.
fn ranks_of(mpirun: u32) -> BTreeMap<usize, u32> {
    let children = format!("/proc/{mpirun}/task/{mpirun}/children");
    let children = fs::read_to_string(children).unwrap_or_default();
    let rank = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // After the name, which may contain anything.
        let is_over = stat.rsplit_once(") ")?.1.starts_with('Z');
        let variables = fs::read(format!("/proc/{pid}/environ")).ok()?;
        let mut variables = variables.split(|byte| *byte == 0);
        let rank = variables.find_map(|text| text.strip_prefix(b"OMPI_COMM_WORLD_RANK="))?;
        let rank = std::str::from_utf8(rank).ok()?.parse().ok()?;
        (!is_over).then_some((rank, pid.parse().ok()?))
    };
    children.split_whitespace().filter_map(rank).collect()
}

/// Ends the remaining processes; returns whether mpirun had to be killed though its ranks had
/// exited.
fn finish(child: &mut Child) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for pid in ranks_of(child.id()).into_values() {
        let _ = Command::new("kill")
            .args(["-KILL", &pid.to_string()])
            .status();
    }
    let _ = child.kill();
    let _ = child.wait();
    true
}

fn drained(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn text(drained: std::thread::JoinHandle<Vec<u8>>) -> String {
    String::from_utf8_lossy(&drained.join().unwrap_or_default()).into_owned()
}
