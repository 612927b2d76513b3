//! Tests, with their output passed on as it comes and their closing lines added up.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// How many tests of all suites passed, failed and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Counts {
    /// Adds a suite's closing line; other lines change nothing.
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        let of = |word: &str| {
            let mut parts = counts.split(['.', ';']).map(str::trim);
            let part = parts.find_map(|part| part.strip_suffix(word))?;
            part.trim().parse::<u64>().ok()
        };
        self.passed += of("passed").unwrap_or(0);
        self.failed += of("failed").unwrap_or(0);
        self.ignored += of("ignored").unwrap_or(0);
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            passed,
            failed,
            ignored,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {ignored} skipped")
    }
}

/// Runs `cargo test`; fails unless it succeeds and ran at least one test.
pub fn run(command: &mut Command) -> Result<Counts> {
    let what = shell::line(command);
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{what}`"))?;
    let stdout = child.stdout.take().context("no output to read")?;
    let mut counts = Counts::default();
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        println!("{line}");
        counts.add(&line);
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{what}` failed ({status}): {counts}");
    }
    if counts.passed == 0 {
        bail!("`{what}` ran no test");
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines_are_added_up() {
        let mut counts = Counts::default();
        for line in [
            "running 3 tests",
            "test a ... ok",
            "test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 5 filtered out; finished in 0.10s",
            "test result: FAILED. 7 passed; 3 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.50s",
        ] {
            counts.add(line);
        }
        assert_eq!(counts.to_string(), "9 passed, 3 failed, 1 skipped");
    }
}
