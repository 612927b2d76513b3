//! Runs the tests of the workspace: Cargo builds them, this starts them, so that one place at the
//! end lists the failures and the tests skipped for missing tools. `cargo test` has no common
//! summary over four dozen test binaries, and hides the output of passing tests.
#![forbid(unsafe_code)]

use crate::shell::cargo;
use anyhow::{Context, Result, bail};
use outcome::Outcome;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

pub mod arguments;
mod load;
mod outcome;
mod passes;
pub mod root;
pub mod shell;
mod steady;

pub use load::generate_load;
pub use outcome::Counts;
pub use steady::{SteadyOptions, steady_tests, unsteady_tests};

/// A test binary that prints nothing for this long is considered hung: no wait in a test is longer.
const HANGS_AFTER: Duration = Duration::from_secs(40 * 60);

/// Interval for checking a silent test binary.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// Interval for checking an exited one for lines still in transit.
const LOOKS_AFTER_END: u32 = 30;

/// Threads of all concurrent test binaries. Many tests wait for a disk, a clock or a process: with
/// four, two CPUs were idle for a third of the time.
const THREADS: usize = 8;

/// A test binary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Package and target: `stripewise-app it`, `stripewise-units` for the unit tests.
    pub name: String,
    path: PathBuf,
    /// The folder of the package, where Cargo starts tests.
    folder: PathBuf,
}

/// `cargo xtask test`: all tests, or those whose names contain one of `words`.
///
/// # Errors
/// If something does not build, a test fails, or no test matches.
pub fn run(root: &Path, words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut all = Programs::build(root)?.run_all(&words)?;
    all.add(doc_tests(root, &words)?);
    all.close("the tests")
}

/// The tests that `run` skips because they take long, filtered by these words.
///
/// # Errors
/// As [`run`].
pub fn run_long(root: &Path, words: &[String]) -> Result<()> {
    let words = words.iter().map(String::as_str);
    let arguments: Vec<&str> = std::iter::once("--ignored").chain(words).collect();
    let all = Programs::build(root)?.run_all(&arguments)?;
    all.close("tests that take long")
}

/// All test binaries.
struct Programs {
    all: Vec<Program>,
}

impl Programs {
    fn build(root: &Path) -> Result<Programs> {
        Ok(Programs { all: build(root)? })
    }

    /// Runs the test binaries one after the other, each with all threads.
    fn run_all(&self, arguments: &[&str]) -> Result<Outcome> {
        let mut all = Outcome::default();
        for program in &self.all {
            all.add(self.run(program, arguments, THREADS, ProgressMode::Progress)?);
        }
        Ok(all)
    }

    /// Runs tests of a binary.
    fn run(
        &self,
        program: &Program,
        arguments: &[&str],
        threads: usize,
        shown: ProgressMode,
    ) -> Result<Outcome> {
        let mut test = Command::new(&program.path);
        test.args(arguments)
            .arg(format!("--test-threads={threads}"))
            .current_dir(&program.folder)
            .env("CARGO_MANIFEST_DIR", &program.folder);
        follow(&mut test, &program.name, shown)
    }
}

/// Builds all test binaries; Cargo prints errors and warnings directly. `--tests` includes all
/// libraries and binaries, except those with `test = false` in the manifest.
fn build(root: &Path) -> Result<Vec<Program>> {
    // What tests run instead of the program on a disk that is nearly full. `cargo test` would
    // make a test binary of it, and leave the program as an earlier build left it, if any did.
    let example = [
        "build",
        "--workspace",
        "--locked",
        "--example",
        "stripewise",
    ];
    shell::run(&mut cargo(root, &example))?;
    let mut build = cargo(root, &["test", "--workspace", "--locked", "--no-run"]);
    build
        .args(["--tests", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let what = shell::line(&build);
    let output = (build.output()).with_context(|| format!("cannot start `{what}`"))?;
    if !output.status.success() {
        bail!("`{what}` failed ({})", output.status);
    }
    let mut programs: Vec<Program> = String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(program_of)
        .collect();
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    if programs.is_empty() {
        bail!("`{what}` made no test binary");
    }
    Ok(programs)
}

/// The test binary reported by a line of Cargo's JSON, if any.
fn program_of(line: &str) -> Option<Program> {
    let message: serde_json::Value = serde_json::from_str(line).ok()?;
    if message["profile"]["test"] != true {
        return None;
    }
    let path = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let target = &message["target"];
    let package = folder.file_name()?.to_str()?;
    let kind = target["kind"][0].as_str()?;
    Some(Program {
        name: match kind {
            "lib" | "bin" => package.to_owned(),
            _ => format!("{package} {}", target["name"].as_str()?),
        },
        path,
        folder: folder.to_owned(),
    })
}

/// Examples in documentation, which only Cargo can build and start.
fn doc_tests(root: &Path, words: &[&str]) -> Result<Outcome> {
    println!("-- examples in documentation");
    let mut test = cargo(root, &["test", "--workspace", "--locked", "--doc"]);
    test.arg("--no-fail-fast").arg("--").args(words);
    follow(
        &mut test,
        "examples in documentation",
        ProgressMode::Progress,
    )
}

/// Progress display while tests run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ProgressMode {
    /// A line per program; on a terminal with its progress.
    Progress,
    /// None.
    Nothing,
}

/// Runs a program with libtest output, and parses its results.
fn follow(test: &mut Command, name: &str, shown: ProgressMode) -> Result<Outcome> {
    let what = shell::line(test);
    let mut child = test
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{what}`"))?;
    let stdout = child.stdout.take().context("no output to read")?;
    let stderr = child.stderr.take().context("no errors to read")?;
    let began = Instant::now();
    let mut outcome = Outcome::default();
    let (lines, read) = mpsc::channel();
    let errors = lines.clone();
    let readers = [
        std::thread::spawn(move || each_line(stdout, |line| lines.send((false, line)).is_ok())),
        std::thread::spawn(move || each_line(stderr, |line| errors.send((true, line)).is_ok())),
    ];
    let mut heard = Instant::now();
    let mut ended = None;
    let mut looks_left = LOOKS_AFTER_END;
    let status = loop {
        match read.recv_timeout(LOOK_EVERY) {
            Ok((is_error, line)) => {
                heard = Instant::now();
                match is_error {
                    true => outcome.error_line(&line),
                    false => outcome.line(name, &line),
                }
                if shown == ProgressMode::Progress && std::io::stderr().is_terminal() {
                    eprint!("\r{name}: {} tests", outcome.counts.all());
                }
            }
            Err(RecvTimeoutError::Disconnected) => break child.wait()?,
            // A process left over from a test may hold the pipes open longer than the last lines
            // take to arrive.
            Err(RecvTimeoutError::Timeout) if ended.is_some() => {
                looks_left -= 1;
                match ended {
                    Some(status) if outcome.is_closed() || looks_left == 0 => break status,
                    _ => {}
                }
            }
            Err(RecvTimeoutError::Timeout) => match child.try_wait()? {
                Some(status) => ended = Some(status),
                None if heard.elapsed() < HANGS_AFTER => {}
                None => {
                    child.kill()?;
                    outcome.hangs(name);
                    break child.wait()?;
                }
            },
        }
    };
    drop(readers);
    outcome.end(name, status);
    if shown == ProgressMode::Progress && outcome.counts.all() > 0 {
        let seconds = began.elapsed().as_secs_f64();
        if std::io::stderr().is_terminal() {
            eprint!("\r");
        }
        println!("{name}: {}, {seconds:.0} s", outcome.counts);
    }
    Ok(outcome)
}

fn each_line(from: impl std::io::Read, mut take: impl FnMut(String) -> bool) {
    for line in BufReader::new(from).split(b'\n') {
        let Ok(line) = line else { return };
        if !take(String::from_utf8_lossy(&line).into_owned()) {
            return;
        }
    }
}

/// Names of all tests of a binary that are not ignored.
fn names(program: &Program) -> Result<Vec<String>> {
    let mut list = Command::new(&program.path);
    list.args(["--list", "--format", "terse"])
        .current_dir(&program.folder);
    let all = shell::read(&mut list)?.stdout;
    let ignored = shell::read(list.arg("--ignored"))?.stdout;
    let tests = |text: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_suffix(": test"));
        lines.map(str::to_owned).collect()
    };
    let ignored = tests(&ignored);
    let mut names = tests(&all);
    names.retain(|name| !ignored.contains(name));
    Ok(names)
}

/// Skipped tests by the missing tool: one line each.
fn print_skips(skips: &BTreeMap<String, Vec<String>>) {
    if skips.is_empty() {
        return;
    }
    let count: usize = skips.values().map(Vec::len).sum();
    println!("\n{count} tests or parts of tests were skipped here:");
    for (needs, tests) in skips {
        println!("  needs {needs} ({}): {}", tests.len(), tests.join(", "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_binaries_are_found_in_what_cargo_reports() {
        let line = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/app/Cargo.toml","target":{"kind":["test"],"name":"it"},"profile":{"test":true},"executable":"/w/target/debug/deps/it-1"}"#;
        let program = program_of(line).unwrap();
        assert_eq!(program.name, "app it");
        assert_eq!(program.folder, Path::new("/w/crates/app"));
        let unit = line.replace(r#""kind":["test"]"#, r#""kind":["lib"]"#);
        assert_eq!(program_of(&unit).unwrap().name, "app");
        let built = line.replace(r#""test":true"#, r#""test":false"#);
        assert_eq!(program_of(&built), None);
        assert_eq!(program_of(r#"{"reason":"build-finished"}"#), None);
    }

    /// A process left over from a test holds the pipe, and the last lines are late.
    #[test]
    fn lines_that_come_after_the_end_count() {
        let late = "echo running 1 test; (sleep 5; echo 'test a ... ok'; echo 'test result: ok.'; \
                    exec sleep 60) & exit 0";
        let mut shell = Command::new("sh");
        let outcome = follow(shell.args(["-c", late]), "late", ProgressMode::Nothing).unwrap();
        let failed: Vec<_> = outcome.failures.iter().map(|(name, _)| name).collect();
        assert_eq!((outcome.counts.passed, failed), (1, vec![]));
    }
}
