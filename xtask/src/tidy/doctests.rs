//! Examples in documentation are tested, and a crate that has none says so: `cargo test`
//! builds and starts something for each crate that might have one.

use super::Finding;
use super::source::Source;
use std::collections::BTreeSet;

/// What the manifest of a crate without examples says.
const WITHOUT: &str = "doctest = false";

pub fn check(sources: &[Source]) -> Vec<Finding> {
    let crate_of = |path: &str| -> Option<String> {
        let (name, _) = path.strip_prefix("crates/")?.split_once("/src/")?;
        Some(name.to_owned())
    };
    let with: BTreeSet<String> = sources
        .iter()
        .filter(|source| has_example(&source.text))
        .filter_map(|source| crate_of(&source.path))
        .collect();
    let is_library = |name: &str| {
        let library = format!("crates/{name}/src/lib.rs");
        sources.iter().any(|source| source.path == library)
    };
    let mut findings = Vec::new();
    for source in sources {
        let folder = source.path.strip_suffix("/Cargo.toml");
        let Some(name) = folder.and_then(|folder| folder.strip_prefix("crates/")) else {
            continue;
        };
        let says_without = source.text.lines().any(|line| line.trim() == WITHOUT);
        let message = match (with.contains(name), says_without) {
            (true, true) => format!(
                "the crate has examples in its documentation, and `{WITHOUT}` leaves them untested"
            ),
            (false, false) if is_library(name) => format!(
                "no example in the crate's documentation: write `{WITHOUT}` below `[lib]`, which saves time"
            ),
            _ => continue,
        };
        findings.push(Finding::new(&source.path, 0, message));
    }
    findings
}

/// A block of code that rustdoc would run.
fn has_example(text: &str) -> bool {
    let mut is_open = false;
    for line in text.lines() {
        let line = line.trim_start();
        let words = line.strip_prefix("///").or(line.strip_prefix("//!"));
        let Some(kind) = words.and_then(|words| words.trim_start().strip_prefix("```")) else {
            continue;
        };
        if !is_open && !matches!(kind.trim(), "text" | "toml" | "json" | "sh") {
            return true;
        }
        is_open = !is_open;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(manifest: &str, code: &str) -> Vec<String> {
        let sources = [
            Source::new("crates/a/Cargo.toml", manifest),
            Source::new("crates/a/src/lib.rs", ""),
            Source::new("crates/a/src/b.rs", code),
        ];
        let findings = check(&sources);
        findings.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn examples_are_tested_and_crates_without_say_so() {
        let with = "/// ```\n/// assert!(true);\n/// ```\nfn f() {}\n";
        let picture = "//! ```text\n//! a -> b\n//! ```\n";
        assert_eq!(findings("[lib]\n", with), Vec::<String>::new());
        assert!(findings("[lib]\ndoctest = false\n", with)[0].contains("untested"));
        assert_eq!(
            findings("[lib]\ndoctest = false\n", picture),
            Vec::<String>::new()
        );
        assert!(findings("[package]\n", picture)[0].contains("no example"));
    }
}
