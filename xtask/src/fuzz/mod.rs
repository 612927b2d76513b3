//! `fuzz`: every parser of outside bytes under libFuzzer, built by the stable compiler: coverage
//! comes from LLVM's own pass, as with `cargo fuzz --sanitizer none`, so that a machine without a
//! nightly compiler finds the same. With one, `--sanitizer address` also checks memory use.
//!
//! A crash, a failed assertion, an arithmetic overflow (checked in this build), an input that takes
//! longer than [`INPUT_SECONDS_MAX`] or more memory than [`Sanitizer::memory_mib_max`] fails, and
//! leaves the input in `fuzz/artifacts`. Seeds are the tests' fixtures; past findings are in
//! `fuzz/corpus`.

mod build;
#[cfg(all(test, target_os = "linux"))]
mod corpora;
mod seeds;

use anyhow::{Context, Result, bail};
use build::Sanitizer;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use suite::arguments::Arguments;
use suite::shell;

/// A slower input is a finding; typical ones take microseconds.
const INPUT_SECONDS_MAX: u32 = 20;
/// The longest input; all fixtures are shorter.
const INPUT_BYTES_MAX: u32 = 16 << 10;
/// Default seconds per target.
const SECONDS: u64 = 5;
/// Seconds per target with the sanitizer, which is half as fast.
const SECONDS_IN_NIGHTLY: u64 = 30;

/// How long a target is fuzzed.
#[derive(Clone, Copy)]
enum FuzzLimit {
    Seconds(u64),
    Runs(u64),
}

/// The requested options.
struct FuzzOptions {
    until: FuzzLimit,
    seed: u32,
    sanitizer: Sanitizer,
    /// Concurrent targets; default: the number of CPUs.
    jobs: Option<usize>,
    /// Names of targets; empty means all.
    targets: Vec<String>,
}

/// Settings shared by all targets.
struct Fuzzing {
    root: PathBuf,
    binaries: PathBuf,
    until: FuzzLimit,
    seed: u32,
    sanitizer: Sanitizer,
}

/// `cargo xtask fuzz [--seconds 5 | --runs N] [--seed 1] [--sanitizer none|address]
/// [--jobs N] [TARGET...]`
pub fn run(root: &Path, mut arguments: Arguments) -> Result<()> {
    let seconds = arguments.value("--seconds")?;
    let until = match (seconds, arguments.value("--runs")?) {
        (Some(_), Some(_)) => bail!("--seconds and --runs exclude each other"),
        (_, Some(runs)) => FuzzLimit::Runs(runs),
        (seconds, None) => FuzzLimit::Seconds(seconds.unwrap_or(SECONDS)),
    };
    let options = FuzzOptions {
        until,
        seed: arguments.value("--seed")?.unwrap_or(1),
        sanitizer: arguments.value("--sanitizer")?.unwrap_or(Sanitizer::None),
        jobs: arguments.value("--jobs")?,
        targets: arguments.words()?,
    };
    fuzz(root, &options)
}

/// The nightly run: from the same seeds, under the address sanitizer.
pub fn in_nightly(root: &Path) -> Result<()> {
    fuzz(
        root,
        &FuzzOptions::all(SECONDS_IN_NIGHTLY, Sanitizer::Address),
    )
}

impl FuzzOptions {
    fn all(seconds: u64, sanitizer: Sanitizer) -> Self {
        FuzzOptions {
            until: FuzzLimit::Seconds(seconds),
            seed: 1,
            sanitizer,
            jobs: None,
            targets: Vec::new(),
        }
    }
}

fn fuzz(root: &Path, options: &FuzzOptions) -> Result<()> {
    if !cfg!(target_os = "linux") {
        return shell::skip("fuzzing", "Linux");
    }
    if !shell::has("c++") {
        return shell::skip("fuzzing", "a C++ compiler (c++), for libFuzzer");
    }
    if let Some(lacking) = options.sanitizer.lacks() {
        return shell::skip("fuzzing with the address sanitizer", lacking);
    }
    let all = targets(root)?;
    let wanted = &options.targets;
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
        binaries: build::build(root, options.sanitizer)?,
        until: options.until,
        seed: options.seed,
        sanitizer: options.sanitizer,
    };
    let parallel = std::thread::available_parallelism().map_or(1, usize::from);
    let failures = fuzzing.all(&chosen, options.jobs.unwrap_or(parallel).max(1));
    if !failures.is_empty() {
        bail!("fuzzing found something in {}", failures.join(", "));
    }
    Ok(())
}

/// The targets, by file name.
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

impl Fuzzing {
    /// Runs these targets, this many at once; returns those with findings.
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

    /// Runs one target; returns a line of statistics.
    fn one(&self, name: &str) -> Result<String> {
        let found = self.work().join(name);
        std::fs::create_dir_all(&found)?;
        let seeds = seeds::of(&self.root, name, &self.work())?;
        let artifacts = self.root.join("fuzz/artifacts").join(name);
        std::fs::create_dir_all(&artifacts)?;
        let until = match self.until {
            FuzzLimit::Seconds(seconds) => format!("-max_total_time={seconds}"),
            FuzzLimit::Runs(runs) => format!("-runs={runs}"),
        };
        // Synthetic machines are laid out in memory, if there is a place for it.
        let memory = Path::new("/dev/shm");
        let scratch = match memory.is_dir() {
            true => tempfile::tempdir_in(memory)?,
            false => tempfile::tempdir()?,
        };
        // New inputs go to the first folder; the others are only read.
        let output = Command::new(self.binaries.join(name))
            .env("TMPDIR", scratch.path())
            .arg(&found)
            .args(&seeds)
            .arg(until)
            .arg(format!("-seed={}", self.seed))
            .arg(format!("-timeout={INPUT_SECONDS_MAX}"))
            .arg(format!("-rss_limit_mb={}", self.sanitizer.memory_mib_max()))
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
        // It is missing: nothing was left behind.
        let _ = std::fs::remove_dir(&artifacts);
        let _ = std::fs::remove_dir(self.root.join("fuzz/artifacts"));
        summary(name, &log).with_context(|| format!("said nothing of what it did\n{log}"))
    }

    /// Folder for seeds and findings: kept between runs, never committed.
    fn work(&self) -> PathBuf {
        suite::root::target_directory().join("fuzz-corpus")
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
        let root = suite::root::path();
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
