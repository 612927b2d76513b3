//! Test results, parsed from libtest's output.

use crate::print_skips;
use anyhow::{Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::process::ExitStatus;

/// Test counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed tests.
    pub passed: u64,
    /// Failed tests.
    pub failed: u64,
    /// Tests ignored by the test program.
    pub skipped: u64,
}

impl Counts {
    /// Parses libtest's summary.
    #[must_use]
    pub fn parse(line: &str) -> Option<Counts> {
        let mut counts = line.split(", ");
        let mut next = |word: &str| counts.next()?.strip_suffix(word)?.trim().parse().ok();
        Some(Counts {
            passed: next("passed")?,
            failed: next("failed")?,
            skipped: next("skipped")?,
        })
    }

    /// Total number.
    #[must_use]
    pub fn all(self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counts {
            passed,
            failed,
            skipped,
        } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")
    }
}

/// Test results.
#[derive(Debug, Default)]
pub struct Outcome {
    pub counts: Counts,
    /// Failed tests, with their output if known.
    pub failures: Vec<(String, String)>,
    /// Skipped parts of passing tests, by the missing tool.
    pub skips: BTreeMap<String, Vec<String>>,
    /// libtest's output about failed tests, and whether it is printing them now.
    printed: String,
    is_printing: bool,
    /// Tests have started, and their closing line has not arrived yet.
    is_running: bool,
    /// At least one closing line arrived.
    has_ended: bool,
    /// Tests that libtest reported as slow, and that have not ended.
    slow: BTreeSet<String>,
    /// Output on stderr, which libtest does not attribute to tests.
    errors: String,
}

impl Outcome {
    /// Processes a line of stdout.
    pub fn line(&mut self, program: &str, line: &str) {
        if line.starts_with("test result: ") {
            (self.is_printing, self.is_running, self.has_ended) = (false, false, true);
        }
        if self.is_printing {
            self.printed.push_str(line);
            self.printed.push('\n');
            return;
        }
        if line == "failures:" {
            self.is_printing = true;
        }
        if line.starts_with("running ") && line.ends_with(['t', 's']) {
            self.is_running = true;
        }
        let test = line.strip_prefix("test ");
        if let Some(name) = test.and_then(|rest| rest.split_once(" has been running for")) {
            self.slow.insert(name.0.to_owned());
        }
        let Some((name, result)) = ended(line) else {
            return;
        };
        self.slow.remove(name);
        match result {
            TestOutcome::Passed => self.counts.passed += 1,
            TestOutcome::Ignored => self.counts.skipped += 1,
            TestOutcome::Failed => self.failed(program, name),
        }
    }

    /// Processes a line of stderr.
    pub fn error_line(&mut self, line: &str) {
        let skip = line.strip_prefix("skipped: ");
        match skip.and_then(|skip| skip.split_once(": needs ")) {
            Some((test, needs)) => {
                let tests = self.skips.entry(needs.to_owned()).or_default();
                tests.push(test.to_owned());
            }
            None => {
                self.errors.push_str(line);
                self.errors.push('\n');
            }
        }
    }

    /// Whether a test or the whole program failed.
    pub fn failed(&mut self, program: &str, what: &str) {
        self.counts.failed += 1;
        self.failures
            .push((format!("{program}: {what}"), String::new()));
    }

    /// Records that it no longer prints anything.
    pub fn hangs(&mut self, program: &str) {
        let slow: Vec<&str> = self.slow.iter().map(String::as_str).collect();
        let what = format!("hangs; it had not finished: {}", slow.join(", "));
        self.failed(program, &what);
    }

    /// Its closing line arrived, and no tests have started since.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.has_ended && !self.is_running
    }

    /// Records the exit of the test binary. One without a closing line, or with another exit code
    /// than libtest's, has crashed, whatever its test results.
    pub fn end(&mut self, program: &str, status: ExitStatus) {
        let is_usual = match status.code() {
            Some(0) => true,
            Some(101) => !self.failures.is_empty(),
            _ => false,
        };
        if !is_usual || !self.is_closed() {
            self.failed(program, &format!("ended before its tests did ({status})"));
        }
        if let Some((_, text)) = self.failures.first_mut() {
            *text = format!("{}{}", self.printed, self.errors);
        }
        self.printed.clear();
        self.errors.clear();
    }

    pub fn add(&mut self, other: Outcome) {
        self.counts.passed += other.counts.passed;
        self.counts.failed += other.counts.failed;
        self.counts.skipped += other.counts.skipped;
        self.failures.extend(other.failures);
        self.add_skips(other.skips);
    }

    /// Counts each test once, however often it was run.
    pub fn add_skips(&mut self, skips: BTreeMap<String, Vec<String>>) {
        for (needs, tests) in skips {
            let known = self.skips.entry(needs).or_default();
            for test in tests {
                if !known.contains(&test) {
                    known.push(test);
                }
            }
        }
    }

    /// The summary: skips, failures, and the counts in the last line. Fails if a test failed, or if
    /// there was none.
    pub fn close(self, what: &str) -> Result<()> {
        for (name, text) in &self.failures {
            println!("\nFAILED: {name}\n{text}");
        }
        if self.counts.skipped > 0 {
            println!(
                "\n{} tests take long and were left out: cargo xtask test --long",
                self.counts.skipped
            );
        }
        print_skips(&self.skips);
        for (name, _) in &self.failures {
            println!("FAILED: {name}");
        }
        println!("\n{}", self.counts);
        match self.counts {
            Counts { failed: 1.., .. } => bail!("{what}: {}", self.counts),
            Counts { passed: 0, .. } => bail!("{what}: no test ran"),
            _ => Ok(()),
        }
    }
}

enum TestOutcome {
    Passed,
    Failed,
    Ignored,
}

/// The test whose result a line reports.
fn ended(line: &str) -> Option<(&str, TestOutcome)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.trim_end_matches(" - should panic");
    match result.split([' ', ',']).next()? {
        "ok" => Some((name, TestOutcome::Passed)),
        "FAILED" => Some((name, TestOutcome::Failed)),
        "ignored" => Some((name, TestOutcome::Ignored)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt;

    fn outcome(lines: &[&str], code: i32) -> Outcome {
        let mut outcome = Outcome::default();
        for line in lines {
            outcome.line("app it", line);
        }
        outcome.end("app it", ExitStatus::from_raw(code << 8));
        outcome
    }

    #[test]
    fn ends_of_tests_are_counted_and_failures_keep_what_they_printed() {
        let lines = [
            "running 3 tests",
            "test a::b ... ok",
            "test c - should panic ... ok",
            "test d ... ignored, takes long",
            "test e ... FAILED",
            "",
            "failures:",
            "",
            "---- e stdout ----",
            "no reason",
            "test result: FAILED. 2 passed; 1 failed",
        ];
        let outcome = outcome(&lines, 101);
        assert_eq!(outcome.counts.to_string(), "2 passed, 1 failed, 1 skipped");
        assert_eq!(
            Counts::parse("2 passed, 1 failed, 1 skipped"),
            Some(outcome.counts)
        );
        assert_eq!(Counts::parse("error: 2 passed"), None);
        assert_eq!(outcome.failures[0].0, "app it: e");
        assert!(outcome.failures[0].1.contains("no reason"));
        assert!(outcome.close("tests").is_err());
    }

    #[test]
    fn a_test_binary_that_crashes_has_failed_whatever_its_tests_came_to() {
        const END: &str = "test result: ok. 1 passed; 0 failed";
        let passed = ["running 2 tests", "test a ... ok"];
        let failed = ["running 2 tests", "test a ... FAILED"];
        // (lines, exit code, failures)
        let cases: [(Vec<&str>, i32, u64); 6] = [
            ([&passed[..], &[END]].concat(), 0, 0),
            (passed.to_vec(), 134, 1),
            // The process was killed while running.
            (passed.to_vec(), 0, 1),
            ([&failed[..], &["failures:", "x", END]].concat(), 101, 1),
            (failed.to_vec(), 134, 2),
            (Vec::new(), 0, 1),
        ];
        for (lines, code, failures) in cases {
            let found = outcome(&lines, code);
            assert_eq!(found.counts.failed, failures, "{lines:?} {code}");
        }
        assert!(Outcome::default().close("tests").is_err(), "no test ran");
    }

    #[test]
    fn what_a_failed_test_printed_is_not_counted() {
        let lines = ["running 1 test", "test a ... FAILED", "failures:"];
        let nested = ["test b ... FAILED", "test c ... ok"];
        let found = outcome(
            &[&lines[..], &nested, &["test result: FAILED."]].concat(),
            101,
        );
        assert_eq!(found.counts.to_string(), "0 passed, 1 failed, 0 skipped");
        assert!(found.failures[0].1.contains("test b"));
    }

    #[test]
    fn what_hangs_is_named() {
        let mut outcome = Outcome::default();
        for line in [
            "test a has been running for over 60 seconds",
            "test b has been running for over 60 seconds",
            "test a ... ok",
        ] {
            outcome.line("app it", line);
        }
        outcome.hangs("app it");
        assert_eq!(
            outcome.failures[0].0,
            "app it: hangs; it had not finished: b"
        );
    }

    #[test]
    fn skips_are_gathered_by_what_they_need() {
        let mut outcome = Outcome::default();
        for line in [
            "skipped: agrees with fio: needs fio",
            "skipped: b: needs fio",
            "skipped: c: needs root",
            "a word",
        ] {
            outcome.error_line(line);
        }
        assert_eq!(outcome.skips["fio"], ["agrees with fio", "b"]);
        assert_eq!(outcome.skips["root"], ["c"]);
    }
}
