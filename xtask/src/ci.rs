//! What continuous integration runs, in this order: cheap answers first, the
//! tests last, so that their closing lines are the last thing printed.

use crate::perf::gate;
use crate::shell::{self, cargo};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

type Step = (&'static str, fn(&Path) -> Result<()>);

const STEPS: [Step; 9] = [
    ("formatting", format),
    ("tidy", crate::tidy::run),
    ("clippy", clippy),
    ("user instructions per operation", instructions),
    ("Windows, under Wine", crate::wine::run),
    ("simulated arrays beside published tables", accuracy),
    ("parsers, five seconds of fuzzing each", crate::fuzz::in_ci),
    ("a real kernel end to end", virtual_machine),
    ("tests, as the README has them", tests),
];

pub fn run(root: &Path) -> Result<()> {
    let begun = Instant::now();
    for (number, (name, step)) in STEPS.iter().enumerate() {
        println!("== {}/{} {name}", number + 1, STEPS.len());
        let started = Instant::now();
        step(root).with_context(|| format!("ci: {name}"))?;
        println!("== {name}: {:.0} s\n", started.elapsed().as_secs_f64());
    }
    println!("ci: passed in {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

fn format(root: &Path) -> Result<()> {
    shell::run(&mut cargo(root, &["fmt", "--all", "--check"]))
}

fn clippy(root: &Path) -> Result<()> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--locked",
        "--",
        "-D",
        "warnings",
    ];
    shell::run(&mut cargo(root, &arguments))
}

fn instructions(_root: &Path) -> Result<()> {
    gate::run(None)
}

fn accuracy(_root: &Path) -> Result<()> {
    crate::accuracy::run()
}

/// `tests/vm/run` names the tool that it lacks and ends with this code.
pub const TOOL_MISSING: i32 = 77;

fn virtual_machine(root: &Path) -> Result<()> {
    scenarios_in_vm(root, &[])
}

/// Boots kernels with these arguments of `tests/vm/run`: scenarios, and which kernels.
/// None are what every change has to pass: counts, nothing that a busy machine changes.
pub fn scenarios_in_vm(root: &Path, arguments: &[&str]) -> Result<()> {
    let binary = release_binary(root)?;
    let status = Command::new(root.join("tests/vm/run"))
        .args(arguments)
        .env("STRIPEWISE", binary)
        .env("VM_WORK", crate::root::target_directory().join("vm"))
        .status()
        .context("cannot start tests/vm/run")?;
    match status.code() {
        Some(0) => Ok(()),
        Some(TOOL_MISSING) => shell::skip("tests/vm/run", "what it named above"),
        _ => bail!("tests/vm/run failed ({status})"),
    }
}

fn tests(root: &Path) -> Result<()> {
    let readme =
        std::fs::read_to_string(root.join("README.md")).context("cannot read README.md")?;
    let command = test_command(&readme)
        .context("README.md has no line in a code block that begins with `cargo test`")?;
    println!("$ {command}");
    let mut words = command.split_whitespace().skip(1);
    let mut test = cargo(root, &[]);
    test.args(words.by_ref());
    shell::run(&mut test)
}

/// The README's command that passes the tests, without a comment behind it.
fn test_command(readme: &str) -> Option<&str> {
    let mut in_code = false;
    for line in readme.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = line.trim_start().trim_start_matches("$ ");
        if in_code && line.starts_with("cargo test") {
            return Some(line.split(" #").next().unwrap_or(line).trim_end());
        }
    }
    None
}

/// The binary as users build it.
pub fn release_binary(root: &Path) -> Result<std::path::PathBuf> {
    let arguments = [
        "build",
        "--release",
        "--locked",
        "--package",
        "stripewise-app",
    ];
    shell::run(&mut cargo(root, &arguments))?;
    let binary = crate::root::target_directory()
        .join("release/stripewise")
        .with_extension(std::env::consts::EXE_EXTENSION);
    if !binary.exists() {
        bail!("the build left no {}", binary.display());
    }
    Ok(binary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_command_is_the_one_in_the_readmes_code() {
        let readme = "Run `cargo test`.\n```sh\ncargo run --release -- bench   # x\ncargo test --workspace   # passes\n```\n";
        assert_eq!(test_command(readme), Some("cargo test --workspace"));
        assert_eq!(test_command("cargo test"), None);
    }
}
