//! `fuzz`: every parser of outside bytes under libFuzzer, built by the stable
//! compiler: coverage comes from LLVM's own pass, as with `cargo fuzz --sanitizer
//! none`, so that a machine without a nightly compiler finds the same.
//!
//! A crash, a failed assertion, a sum that overflows (they are checked in this
//! build), an input that takes longer than [`INPUT_SECONDS_MAX`] or more memory
//! than [`MEMORY_MIB_MAX`] fails, and leaves the input in `fuzz/artifacts`. Seeds
//! are the tests' fixtures; what was found once is in `fuzz/corpus`.

mod seeds;

use crate::arguments::Arguments;
use crate::shell::{self, cargo};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// An input that takes longer is a finding; ordinary ones take microseconds.
const INPUT_SECONDS_MAX: u32 = 20;
/// A process that has more is a finding: bounded parsers stay far below.
const MEMORY_MIB_MAX: u32 = 768;
/// The longest input; all fixtures are shorter.
const INPUT_BYTES_MAX: u32 = 16 << 10;
/// Seconds for each target in continuous integration.
const SECONDS_IN_CI: u64 = 5;

/// How long a target is fuzzed.
#[derive(Clone, Copy)]
enum Until {
    Seconds(u64),
    Runs(u64),
}

/// What is the same for all targets.
struct Fuzzing {
    root: PathBuf,
    binaries: PathBuf,
    until: Until,
    seed: u32,
}

/// `cargo xtask fuzz [--seconds 5 | --runs N] [--seed 1] [--jobs N] [TARGET...]`
pub fn run(root: &Path, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.value("--seconds")?;
    let until = match (seconds, arguments.value("--runs")?) {
        (Some(_), Some(_)) => bail!("--seconds and --runs exclude each other"),
        (_, Some(runs)) => Until::Runs(runs),
        (seconds, None) => Until::Seconds(seconds.unwrap_or(SECONDS_IN_CI)),
    };
    let seed = arguments.value("--seed")?.unwrap_or(1);
    let jobs = arguments.value("--jobs")?;
    let wanted = arguments.words()?;
    fuzz(root, until, seed, jobs, &wanted)
}

/// What continuous integration runs.
pub fn in_ci(root: &Path) -> Result<()> {
    fuzz(root, Until::Seconds(SECONDS_IN_CI), 1, None, &[])
}

fn fuzz(
    root: &Path,
    until: Until,
    seed: u32,
    jobs: Option<usize>,
    wanted: &[String],
) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return shell::skip("fuzzing", "Linux");
    }
    if !shell::has("c++") {
        return shell::skip("fuzzing", "a C++ compiler (c++), for libFuzzer");
    }
    let all = targets(root)?;
    if let Some(unknown) = wanted.iter().find(|name| !all.contains(name)) {
        bail!(
            "no target is called {unknown}; there are {}",
            all.join(", ")
        );
    }
    let chosen: Vec<String> = all
        .into_iter()
        .filter(|name| wanted.is_empty() || wanted.contains(name))
        .collect();
    let fuzzing = Fuzzing {
        root: root.to_owned(),
        binaries: build(root)?,
        until,
        seed,
    };
    let parallel = std::thread::available_parallelism().map_or(1, usize::from);
    let failures = fuzzing.all(&chosen, jobs.unwrap_or(parallel).max(1));
    if !failures.is_empty() {
        bail!("fuzzing found something in {}", failures.join(", "));
    }
    Ok(())
}

/// The targets, by the names of their files.
fn targets(root: &Path) -> Result<Vec<String>> {
    let folder = root.join("fuzz/fuzz_targets");
    let mut names = Vec::new();
    for entry in
        std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let name = entry?.file_name().to_string_lossy().into_owned();
        names.extend(name.strip_suffix(".rs").map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// Builds all targets with coverage; returns the folder of the binaries.
fn build(root: &Path) -> Result<PathBuf> {
    let version = shell::read(Command::new("rustc").current_dir(root).arg("-vV"))?.stdout;
    let host = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("`rustc -vV` names no host")?;
    // What cargo-fuzz passes without a sanitizer. With a target named, these go to
    // the targets and not to build scripts, which could not be linked.
    let flags = [
        "--cfg=fuzzing",
        "-Cpasses=sancov-module",
        "-Cllvm-args=-sanitizer-coverage-level=4",
        "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
        "-Cllvm-args=-sanitizer-coverage-pc-table",
        "-Cllvm-args=-sanitizer-coverage-trace-compares",
    ];
    // Not `--locked`: this is a workspace of its own, whose lock file follows when
    // a crate of the other one gets a dependency.
    let arguments = ["build", "--release", "--target", host];
    let mut build = cargo(&root.join("fuzz"), &arguments);
    let directory = crate::root::target_directory();
    build
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
        .arg("--target-dir")
        .arg(&directory);
    shell::run(&mut build)?;
    Ok(directory.join(host).join("release"))
}

impl Fuzzing {
    /// Runs these targets, so many at once; returns those that found something.
    fn all(&self, targets: &[String], jobs: usize) -> Vec<String> {
        let next = Mutex::new(targets.iter());
        let failures = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..jobs.min(targets.len()) {
                scope.spawn(|| {
                    loop {
                        let name = next.lock().expect("no thread panics").next();
                        let Some(name) = name else { break };
                        match self.one(name) {
                            Ok(line) => println!("{line}"),
                            Err(error) => {
                                eprintln!("{name}: {error:#}");
                                let mut failures = failures.lock().expect("no thread panics");
                                failures.push(name.clone());
                            }
                        }
                    }
                });
            }
        });
        failures.into_inner().expect("no thread panics")
    }

    /// Runs one target; a line of what it did.
    fn one(&self, name: &str) -> Result<String> {
        let found = self.work().join(name);
        std::fs::create_dir_all(&found)?;
        let seeds = seeds::of(&self.root, name, &self.work())?;
        let artifacts = self.root.join("fuzz/artifacts").join(name);
        std::fs::create_dir_all(&artifacts)?;
        let until = match self.until {
            Until::Seconds(seconds) => format!("-max_total_time={seconds}"),
            Until::Runs(runs) => format!("-runs={runs}"),
        };
        // Made-up machines are laid out in memory, where there is a place for it.
        let memory = Path::new("/dev/shm");
        let scratch = match memory.is_dir() {
            true => tempfile::tempdir_in(memory)?,
            false => tempfile::tempdir()?,
        };
        // What is new goes to the first folder; the others are only read.
        let output = Command::new(self.binaries.join(name))
            .env("TMPDIR", scratch.path())
            .arg(&found)
            .args(&seeds)
            .arg(until)
            .arg(format!("-seed={}", self.seed))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .arg(format!("-rss_limit_mb={MEMORY_MIB_MAX}"))
            .arg(format!("-max_len={INPUT_BYTES_MAX}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .arg("-print_final_stats=1")
            .arg("-verbosity=1")
            .stdin(Stdio::null())
            .output()
            .context("cannot start it")?;
        let log = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            let from = log.lines().count().saturating_sub(40);
            let tail: Vec<&str> = log.lines().skip(from).collect();
            bail!("{}\n{}", output.status, tail.join("\n"));
        }
        // Nothing was left behind in there, then.
        let _ = std::fs::remove_dir(&artifacts);
        let _ = std::fs::remove_dir(self.root.join("fuzz/artifacts"));
        summary(name, &log).with_context(|| format!("said nothing of what it did\n{log}"))
    }

    /// Where seeds and what was found go: kept between runs, never committed.
    fn work(&self) -> PathBuf {
        crate::root::target_directory().join("fuzz-corpus")
    }
}

/// `import: 123,456 executions, 12,345 a second, 890 edges covered`.
fn summary(name: &str, log: &str) -> Option<String> {
    let statistic = |key: &str| {
        let line = log.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim_start_matches(':').trim().parse::<u64>().ok()
    };
    let covered = log.lines().rev().find_map(|line| {
        line.split_once("cov: ")?
            .1
            .split(' ')
            .next()?
            .parse::<u64>()
            .ok()
    })?;
    Some(format!(
        "{name:16} {:>10} executions {:>7} a second {covered:>6} edges covered",
        statistic("stat::number_of_executed_units")?,
        statistic("stat::average_exec_per_sec")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closing_lines_of_libfuzzer_become_one() {
        let log = "#2 INITED cov: 12 ft: 13 corp: 1/1b exec/s: 0 rss: 30Mb\n\
            #8000 DONE   cov: 345 ft: 900 corp: 7/1Kb exec/s: 4000 rss: 50Mb\n\
            stat::number_of_executed_units: 8000\nstat::average_exec_per_sec:     4000\n";
        let line = summary("import", log).unwrap();
        assert_eq!(
            line.split_whitespace().collect::<Vec<_>>().join(" "),
            "import 8000 executions 4000 a second 345 edges covered"
        );
        assert_eq!(summary("import", "killed"), None);
    }

    #[test]
    fn every_target_has_a_file_and_a_binary_of_its_name_and_seeds() {
        let root = crate::root::path();
        let manifest = std::fs::read_to_string(root.join("fuzz/Cargo.toml")).unwrap();
        let work = tempfile::tempdir().unwrap();
        let targets = targets(&root).unwrap();
        assert!(targets.len() >= 15);
        for name in &targets {
            assert!(manifest.contains(&format!("name = \"{name}\"")), "{name}");
            let seeds = seeds::of(&root, name, work.path()).unwrap();
            let some = |folder: &PathBuf| std::fs::read_dir(folder).unwrap().next().is_some();
            assert!(seeds.iter().any(some), "{name} has no seeds");
        }
        assert_eq!(manifest.matches("[[bin]]").count(), targets.len());
    }
}
