//! Lengths of files, without their tests. (clippy checks functions.)

use super::config::Config;
use super::source::is_test;
use super::{Finding, Source};

/// Findings and a summary line.
pub struct Lengths {
    pub findings: Vec<Finding>,
    pub report: String,
}

const GOAL: usize = 500;

pub fn measure(sources: &[Source], config: &Config) -> Lengths {
    let mut findings = Vec::new();
    let mut lengths = Vec::new();
    for source in sources {
        let (true, false) = (source.path.ends_with(".rs"), is_test(&source.path)) else {
            continue;
        };
        let lines = lines_without_tests(&source.text);
        lengths.push(lines);
        let excepted = config
            .long_files
            .iter()
            .any(|long| long.path == source.path);
        if lines > config.lines_max && !excepted {
            let message = format!(
                "{lines} lines without tests; the limit is {}",
                config.lines_max
            );
            findings.push(Finding::new(&source.path, 0, message));
        }
    }
    for long in &config.long_files {
        if !sources.iter().any(|source| source.path == long.path) {
            let message = format!(
                "the exception for `{}` ({}) is of no use",
                long.path, long.reason
            );
            findings.push(Finding::new("xtask/tidy.toml", 0, message));
        }
    }
    lengths.sort_unstable();
    let below = lengths.iter().filter(|&&lines| lines < GOAL).count();
    let report = match lengths.len() {
        0 => "lengths: no files".to_owned(),
        files => format!(
            "lengths: {files} files, median {} lines without tests, {:.1} % below {GOAL}, longest {}",
            lengths[files / 2],
            100.0 * below as f64 / files as f64,
            lengths[files - 1],
        ),
    };
    Lengths { findings, report }
}

/// Number of lines before the tests at the file's end.
fn lines_without_tests(text: &str) -> usize {
    let tests = text.find("\n#[cfg(test)]\nmod tests {");
    tests.map_or(text, |at| &text[..at]).lines().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::config::Exception;

    #[test]
    fn files_that_are_too_long_without_their_tests_are_found() {
        let mut config = Config {
            lines_max: 3,
            ..Config::default()
        };
        let long = Source::new("crates/a/src/b.rs", "1\n2\n3\n4\n");
        let tested = Source::new(
            "crates/a/src/c.rs",
            "1\n2\n\n#[cfg(test)]\nmod tests {\n\n}\n",
        );
        let test = Source::new("crates/a/tests/d.rs", "1\n2\n3\n4\n");
        let sources = [long, tested, test];
        let lengths = measure(&sources, &config);
        assert_eq!(lengths.findings.len(), 1);
        assert_eq!(lengths.findings[0].path, "crates/a/src/b.rs");
        assert!(
            lengths.report.contains("2 files") && lengths.report.contains("longest 4"),
            "{}",
            lengths.report
        );
        let exception = |path: &str| Exception {
            path: path.to_owned(),
            reason: "a table".to_owned(),
        };
        config.long_files = vec![exception("crates/a/src/b.rs")];
        assert!(measure(&sources, &config).findings.is_empty());
        config.long_files.push(exception("crates/a/src/gone.rs"));
        assert_eq!(measure(&sources, &config).findings.len(), 1);
    }
}
