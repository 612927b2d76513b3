//! The steps of continuous integration, in two lanes, one after the other: the first finds most
//! errors within minutes, the second takes longer, and the steps that need the optimised program
//! run in parallel with it. Every step runs even if earlier ones failed, so the end shows all
//! errors; the closing lines list the steps and the test counts.

use crate::perf::gate;
use anyhow::{Context, Result, bail};
use background::BackgroundJob;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use suite::Counts;
use suite::shell::{self, cargo};

mod background;

/// Action of a step.
#[derive(Clone, Copy)]
enum Work {
    Check(fn(&Path) -> Result<()>),
    /// The tests, which are counted.
    Tests,
}

type Step = (&'static str, Work);

const FIRST_LANE: [Step; 5] = [
    ("formatting", Work::Check(format)),
    ("tidy", Work::Check(crate::tidy::run)),
    ("clippy", Work::Check(clippy)),
    ("tests, as the README has them", Work::Tests),
    // Not in parallel with the second lane: emulated guests would take ten times as long.
    (
        "tests that were ever unsteady, under load",
        Work::Check(unsteady_tests),
    ),
];

const SECOND_LANE: [Step; 8] = [
    ("clippy on tests", Work::Check(clippy_on_all)),
    ("the oldest Rust", Work::Check(oldest_rust)),
    ("unused dependencies", Work::Check(unused)),
    (
        "the documentation as a book",
        Work::Check(crate::book::check),
    ),
    (
        "Linux on aarch64, under qemu-user",
        Work::Check(crate::aarch64::run),
    ),
    ("Windows, under Wine", Work::Check(crate::wine::run)),
    (
        "simulated arrays beside published tables",
        Work::Check(accuracy),
    ),
    ("several hosts, under mpirun", Work::Check(several_hosts)),
];

/// In parallel with the second lane: by the program built for it, a build whose last crates use one
/// CPU, instruction counts, and emulated guests; then tests that mostly wait for a browser.
const BACKGROUND_STEPS: [Step; 3] = [
    ("user instructions per operation", Work::Check(instructions)),
    ("a real kernel end to end", Work::Check(virtual_machine)),
    ("tests that take long", Work::Check(long_tests)),
];

impl Work {
    fn run(self, root: &Path) -> Result<Option<Counts>> {
        match self {
            Work::Check(check) => check(root).map(|()| None),
            Work::Tests => tests(root).map(Some),
        }
    }
}

/// A completed step.
struct Done {
    name: &'static str,
    seconds: f64,
    found: Result<Option<Counts>>,
}

/// Runs all steps, or those whose names contain one of `words`.
pub fn run(root: &Path, words: &[String]) -> Result<()> {
    let is_wanted =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let is_all = words.is_empty();
    let begun = Instant::now();
    let mut done = Vec::new();
    all(root, &FIRST_LANE, is_wanted, &mut done);
    if is_all {
        say_lane(1, &done, begun);
    }
    // One at a time where steps were selected, so that their output appears immediately.
    let beside = match is_all {
        true => Some(BackgroundJob::start()?),
        false => {
            all(root, &BACKGROUND_STEPS, is_wanted, &mut done);
            None
        }
    };
    all(root, &SECOND_LANE, is_wanted, &mut done);
    if let Some(beside) = beside {
        done.extend(beside.end()?);
    }
    if is_all {
        say_lane(2, &done, begun);
    }
    if done.is_empty() {
        bail!("no step's name holds `{}`", words.join("` or `"));
    }
    close(&done)
}

/// Runs steps one after the other.
fn all(root: &Path, steps: &[Step], is_wanted: impl Fn(&str) -> bool, done: &mut Vec<Done>) {
    for &(name, work) in steps.iter().filter(|(name, _)| is_wanted(name)) {
        println!("== {name}");
        let started = Instant::now();
        let found = work.run(root);
        let seconds = started.elapsed().as_secs_f64();
        if let Err(error) = &found {
            eprintln!("== {name}: FAILED: {error:#}");
        }
        println!("== {name}: {seconds:.0} s\n");
        done.push(Done {
            name,
            seconds,
            found,
        });
    }
}

fn say_lane(number: u32, done: &[Done], begun: Instant) {
    let passed = done.iter().all(|done| done.found.is_ok());
    println!(
        "== lane {number} {} after {:.0} s\n",
        if passed { "passed" } else { "FAILED" },
        begun.elapsed().as_secs_f64()
    );
}

/// The closing lines: each step, then the test counts.
fn close(done: &[Done]) -> Result<()> {
    for step in done {
        let result = match &step.found {
            Ok(_) => "passed",
            Err(_) => "FAILED",
        };
        println!("{result}  {:>5.0} s  {}", step.seconds, step.name);
    }
    for step in done {
        if let Err(error) = &step.found {
            eprintln!("{}: {error:#}", step.name);
        }
    }
    let counts = done
        .iter()
        .find_map(|step| step.found.as_ref().ok()?.as_ref());
    if let Some(counts) = counts {
        println!("{counts}");
    }
    let failed: Vec<&str> = done
        .iter()
        .filter(|step| step.found.is_err())
        .map(|step| step.name)
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    bail!("ci: failed in {}", failed.join("; "))
}

fn format(root: &Path) -> Result<()> {
    shell::run(&mut cargo(root, &["fmt", "--all", "--check"]))
}

/// The code that users build, and xtask: a third of the code is outside.
fn clippy(root: &Path) -> Result<()> {
    clippy_with(root, &[])
}

/// Includes tests, benches and examples.
fn clippy_on_all(root: &Path) -> Result<()> {
    clippy_with(root, &["--all-targets"])
}

fn clippy_with(root: &Path, targets: &[&str]) -> Result<()> {
    let mut clippy = cargo(root, &["clippy", "--workspace", "--locked"]);
    clippy.args(targets).args(["--", "-D", "warnings"]);
    shell::run(&mut clippy)
}

fn instructions(_root: &Path) -> Result<()> {
    gate::run(None)
}

fn accuracy(_root: &Path) -> Result<()> {
    crate::accuracy::run()
}

fn virtual_machine(root: &Path) -> Result<()> {
    scenarios_in_vm(root, &["counts", "mapper", "power-brief", "layouts-brief"])
}

/// Boots kernels with these arguments of `tests/vm/run`: scenarios, and which kernels. Without
/// arguments, the checks for every change: counts that load on the machine does not affect.
pub fn scenarios_in_vm(root: &Path, arguments: &[&str]) -> Result<()> {
    let binary = shell::release_binary(root)?;
    let status = Command::new(root.join("tests/vm/run"))
        .args(arguments)
        .env("STRIPEWISE", binary)
        .env("VM_WORK", suite::root::target_directory().join("vm"))
        .status()
        .context("cannot start tests/vm/run")?;
    match status.code() {
        Some(0) => Ok(()),
        Some(shell::TOOL_MISSING) => shell::skip("tests/vm/run", "what it named above"),
        _ => bail!("tests/vm/run failed ({status})"),
    }
}

/// Exactly the command in README, whose last line has the counts.
fn tests(root: &Path) -> Result<Counts> {
    let readme =
        std::fs::read_to_string(root.join("README.md")).context("cannot read README.md")?;
    let command = test_command(&readme)
        .context("README.md has no line in a code block that begins with `cargo xtask test`")?;
    println!("$ {command}");
    let mut test = cargo(root, &[]);
    test.args(command.split_whitespace().skip(1));
    let last = shell::pass_on(&mut test)?;
    Counts::parse(&last).with_context(|| format!("`{command}` did not end with its counts"))
}

/// The `rust-version` of the workspace.
fn oldest_version(root: &Path) -> Result<String> {
    let manifest: toml::Table = toml::from_str(&std::fs::read_to_string(root.join("Cargo.toml"))?)?;
    let version = manifest["workspace"]["package"]["rust-version"].as_str();
    version
        .map(str::to_owned)
        .context("Cargo.toml has no rust-version")
}

/// The tests skipped because they take long, most of them as each drives a browser for up to a
/// minute. The earlier tests have built them.
fn long_tests(root: &Path) -> Result<()> {
    let mut test = cargo(root, &["xtask", "test", "--long", "::at_length::"]);
    match shell::has("chromium") {
        true => shell::run(test.arg("in_browser::")),
        false => {
            shell::run(&mut test)?;
            shell::skip("what is shown, in a browser", "chromium")
        }
    }
}

/// Under load, as on machines with other users.
fn unsteady_tests(root: &Path) -> Result<()> {
    shell::run(&mut cargo(root, &["xtask", "test", "--unsteady"]))
}

/// Type-checks the user-facing code with the oldest Rust that README promises.
fn oldest_rust(root: &Path) -> Result<()> {
    check_with_oldest(root, &["--exclude", "xtask"])
}

/// Includes tests, examples and xtask.
pub fn oldest_rust_for_all(root: &Path) -> Result<()> {
    check_with_oldest(root, &["--all-targets"])
}

fn check_with_oldest(root: &Path, more: &[&str]) -> Result<()> {
    let version = &oldest_version(root)?;
    if !shell::has("rustup") {
        return shell::skip("the oldest Rust", "rustup");
    }
    let succeeds = |arguments: &[&str]| {
        let output = Command::new("rustup").args(arguments).output();
        output.is_ok_and(|output| output.status.success())
    };
    let is_there = succeeds(&["run", version, "rustc", "--version"]);
    if !is_there && !succeeds(&["toolchain", "install", version, "--profile", "minimal"]) {
        return shell::skip("the oldest Rust", &format!("Rust {version}"));
    }
    // `cargo xtask` sets variables for the newer toolchain, which take precedence.
    let mut check = Command::new("rustup");
    check
        .current_dir(root)
        .args(["run", version, "cargo", "check"])
        .args(["--workspace", "--locked"])
        .args(more)
        .env_remove("CARGO")
        .env_remove("RUSTC")
        .env_remove("RUSTUP_TOOLCHAIN")
        .env(
            "CARGO_TARGET_DIR",
            suite::root::target_directory().join("oldest"),
        );
    shell::run(&mut check)
}

/// Finds dependencies in a manifest that no code uses.
fn unused(root: &Path) -> Result<()> {
    if !shell::has("cargo-machete") {
        return shell::skip("unused dependencies", "cargo-machete");
    }
    shell::run(Command::new("cargo-machete").current_dir(root))
}

/// The binary that needs MPI to build, and the tests that start it.
fn several_hosts(root: &Path) -> Result<()> {
    for tool in ["mpicc", "mpirun"] {
        if !shell::has(tool) {
            return shell::skip("several hosts, under mpirun", tool);
        }
    }
    // Of the whole workspace, so that no dependency is rebuilt with different features; only these
    // tests have such names.
    let arguments = [
        "test",
        "--workspace",
        "--features",
        "stripewise-mpi/mpi",
        "--locked",
        "--test",
        "it",
        "--",
        "mpirun",
    ];
    shell::run(&mut cargo(root, &arguments))
}

/// The README's command that runs the tests, without the trailing comment.
fn test_command(readme: &str) -> Option<&str> {
    let mut in_code = false;
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        if in_code && line.starts_with("cargo xtask test") {
            return Some(line.split(" #").next().unwrap_or(line).trim_end());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_command_is_the_one_in_the_readmes_code() {
        let readme = "Run `cargo xtask test`.\n```sh\ncargo run --release -- bench   # x\ncargo xtask test   # passes\n```\n";
        assert_eq!(test_command(readme), Some("cargo xtask test"));
        assert_eq!(test_command("cargo xtask test"), None);
    }

    #[test]
    fn the_readme_promises_the_oldest_rust_that_is_checked() {
        let root = suite::root::path();
        let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
        let version = oldest_version(&root).unwrap();
        assert!(
            readme.contains(&format!("({version} or newer)")),
            "{version}"
        );
    }
}
