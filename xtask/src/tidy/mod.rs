//! Checks the architecture, beyond what the compiler checks.
//!
//! Rules are functions from sources to findings; `xtask/tidy.toml` has the exceptions and their
//! reasons. Rules about code see it with comments, strings and tests blanked out (see `source`).

mod arrows;
mod bans;
mod circles;
mod config;
mod doctests;
mod layout;
mod lengths;
mod links;
mod source;
mod unsafety;
mod use_cases;

use anyhow::{Result, bail};
use config::Config;
use source::Source;
use std::path::Path;

/// A violation of a rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// From 1; 0 for the whole file.
    pub line: usize,
    /// The problem and its remedy.
    pub message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

/// Checks the workspace; prints findings and a summary of lengths.
pub fn run(root: &Path) -> Result<()> {
    let config = Config::load(root)?;
    let sources = source::read_all(root)?;
    let mut findings = Vec::new();
    findings.extend(arrows::check(root, &sources, &config)?);
    findings.extend(circles::check(&sources, &config));
    findings.extend(bans::check(&sources, &config));
    findings.extend(unsafety::check(&sources, &config));
    findings.extend(layout::check(&sources));
    findings.extend(use_cases::check(&sources));
    findings.extend(doctests::check(&sources));
    findings.extend(links::check(root, &sources));
    let lengths = lengths::measure(&sources, &config);
    findings.extend(lengths.findings);
    findings.sort();
    for finding in &findings {
        match finding.line {
            0 => println!("{}: {}", finding.path, finding.message),
            line => println!("{}:{line}: {}", finding.path, finding.message),
        }
    }
    println!("{}", lengths.report);
    if !findings.is_empty() {
        bail!("{} findings", findings.len());
    }
    println!("tidy: {} files, no findings", sources.len());
    Ok(())
}
