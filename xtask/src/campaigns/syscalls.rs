//! Failing system calls on the store's files, each at every place it is made: stored data stays,
//! nothing is lost silently, nothing panics.

use super::SeededRng;
use super::sandbox::{Runs, Sandbox, no_panic};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

/// The system calls of SQLite.
const CALLS: [&str; 7] = [
    "pwrite64",
    "fsync",
    "ftruncate",
    "pread64",
    "openat",
    "fcntl",
    "unlink",
];
/// Failures: these errors, or the end of the process.
const FAULTS: [&str; 6] = [
    "error=EIO",
    "error=ENOSPC",
    "error=ENOMEM",
    "error=ENOLCK",
    "error=EMFILE",
    "signal=SIGKILL",
];
const SIGKILL: i32 = 9;
const IMPORTED: &str = "crates/compat/tests/data/diskspd-2.0.12.txt";

#[derive(Clone, Copy, Debug)]
enum Work {
    Run,
    FreshStore,
    Import,
    Delete,
}

const WORKS: [Work; 4] = [Work::Run, Work::FreshStore, Work::Import, Work::Delete];

/// One fault at one place in one command.
struct Case {
    work: Work,
    call: &'static str,
    fault: &'static str,
    occurrence: u64,
}

#[derive(Default)]
struct Counts {
    tried: u64,
    succeeded: u64,
    refused: u64,
    killed: u64,
}

pub fn run(root: &Path, program: &Path, time: Duration, rng: &mut SeededRng) -> Result<()> {
    let mut cases = Vec::new();
    for work in WORKS {
        let counted = calls_of(root, program, work)?;
        for call in CALLS {
            for occurrence in 1..=counted.get(call).copied().unwrap_or(0) {
                for fault in FAULTS {
                    cases.push(Case {
                        work,
                        call,
                        fault,
                        occurrence,
                    });
                }
            }
        }
    }
    // In random order, so that a short campaign covers some of everything.
    for last in (1..cases.len()).rev() {
        cases.swap(last, rng.below(last as u64 + 1) as usize);
    }
    let end = Instant::now() + time;
    let mut counts = Counts::default();
    for case in &cases {
        if Instant::now() >= end {
            break;
        }
        attempt(root, program, case, &mut counts).with_context(|| {
            format!(
                "{:?} with {}:{}:when={}",
                case.work, case.call, case.fault, case.occurrence
            )
        })?;
    }
    println!(
        "syscalls: {} of {} faults tried: {} commands succeeded all the same, {} reported the \
         fault, {} were killed; nothing lost, nothing changed, no panic",
        counts.tried,
        cases.len(),
        counts.succeeded,
        counts.refused,
        counts.killed
    );
    if counts.refused == 0 || counts.killed == 0 {
        bail!("no fault had an effect: the campaign shows nothing");
    }
    Ok(())
}

/// A store with two runs, and one that may be deleted.
fn prepare(program: &Path) -> Result<(Sandbox, String)> {
    let sandbox = Sandbox::new(program)?;
    sandbox.must(["run", "sim:nvme", "--duration", "10ms"])?;
    let before = sandbox.runs()?;
    sandbox.must(["run", "sim:nvme", "--duration", "20ms"])?;
    let id = sandbox
        .runs()?
        .into_keys()
        .find(|id| !before.contains_key(id))
        .context("a run that was not kept")?;
    Ok((sandbox, id))
}

fn words(root: &Path, work: Work, sacrifice: &str) -> Vec<String> {
    let imported = root.join(IMPORTED).to_string_lossy().into_owned();
    let words: &[&str] = match work {
        Work::Run | Work::FreshStore => &["run", "sim:raid10-10k", "--duration", "2s"],
        Work::Import => &["import", &imported],
        Work::Delete => &["history", "delete", sacrifice],
    };
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Traces only the store's files: other campaigns cover faults elsewhere.
fn strace(sandbox: &Sandbox, options: &[String]) -> Vec<String> {
    let mut before: Vec<String> = ["strace", "-f", "-qq"].map(str::to_owned).into();
    for suffix in ["", "-wal", "-shm", "-journal"] {
        before.push("-P".to_owned());
        before.push(format!("{}{suffix}", sandbox.store().display()));
    }
    before.extend_from_slice(options);
    before
}

/// Number of each call without faults.
fn calls_of(root: &Path, program: &Path, work: Work) -> Result<BTreeMap<String, u64>> {
    let (sandbox, id) = prepare_for(program, work)?;
    let trace = sandbox.path("trace");
    let before = strace(
        &sandbox,
        &["-o".to_owned(), trace.to_string_lossy().into_owned()],
    );
    let output = sandbox
        .command_behind(&before, words(root, work, &id))
        .output()?;
    if !output.status.success() {
        bail!(
            "{work:?} fails without a fault: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let mut counted = BTreeMap::new();
    for line in std::fs::read_to_string(trace)?.lines() {
        // "1234  pwrite64(5, ..."
        if let Some((call, _)) = line
            .split_whitespace()
            .nth(1)
            .and_then(|w| w.split_once('('))
        {
            *counted.entry(call.to_owned()).or_default() += 1;
        }
    }
    Ok(counted)
}

fn prepare_for(program: &Path, work: Work) -> Result<(Sandbox, String)> {
    match work {
        Work::FreshStore => Ok((Sandbox::new(program)?, String::new())),
        _ => prepare(program),
    }
}

fn attempt(root: &Path, program: &Path, case: &Case, counts: &mut Counts) -> Result<()> {
    let (sandbox, id) = prepare_for(program, case.work)?;
    let mut before = match case.work {
        Work::FreshStore => Runs::new(),
        _ => sandbox.runs()?,
    };
    let injected = strace(
        &sandbox,
        &[
            "-o".to_owned(),
            "/dev/null".to_owned(),
            "-e".to_owned(),
            format!("trace={}", case.call),
            "-e".to_owned(),
            format!(
                "inject={}:{}:when={}",
                case.call, case.fault, case.occurrence
            ),
        ],
    );
    let output = sandbox
        .command_behind(&injected, words(root, case.work, &id))
        .output()?;
    counts.tried += 1;
    no_panic(&output)?;
    if matches!(case.work, Work::Delete) {
        before.remove(&id);
    }
    let now = sandbox.nothing_lost(&before)?;
    sandbox.integrity()?;
    judge(case, &output, &before, &now, &id, counts)
}

fn judge(
    case: &Case,
    output: &Output,
    before: &Runs,
    now: &Runs,
    sacrifice: &str,
    counts: &mut Counts,
) -> Result<()> {
    let stderr = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => {
            counts.succeeded += 1;
            match case.work {
                Work::Delete if now.contains_key(sacrifice) => {
                    bail!("exit 0, but the run is still there")
                }
                Work::Delete => {}
                _ if now.len() <= before.len() => bail!("exit 0, but nothing was kept: {stderr}"),
                _ => {}
            }
        }
        Some(3..=5) => {
            counts.refused += 1;
            if !stderr.contains("error:") && !stderr.contains("warning") {
                bail!("it failed ({}) without a word", output.status);
            }
        }
        // strace ends itself with the signal that ended the program.
        None if output.status.signal() == Some(SIGKILL) && case.fault.starts_with("signal") => {
            counts.killed += 1;
        }
        _ => bail!("it ended by {}: {stderr}", output.status),
    }
    Ok(())
}
