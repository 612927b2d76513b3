//! File layout: a header in each source file, a module with parts as `mod.rs` in their folder, and
//! one integration test binary per crate (each more links everything again).

use super::source::is_test;
use super::{Finding, Source};
use std::collections::{BTreeMap, BTreeSet};

pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = beside_their_parts(sources);
    let mut binaries: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".rs")) {
        let in_source = source.path.contains("/src/") && !is_test(&source.path);
        if in_source && !source.text.trim_start().starts_with("//!") {
            let message =
                "the header is missing: `//!` with purpose, invariants, what it leaves out";
            findings.push(Finding::new(&source.path, 0, message));
        }
        if let Some((crate_folder, test)) = source.path.split_once("/tests/")
            && !crate_folder.contains("/src")
            && (!test.contains('/') || test.ends_with("/main.rs"))
        {
            binaries.entry(crate_folder).or_default().push(&source.path);
        }
    }
    for paths in binaries.values().filter(|paths| paths.len() > 1) {
        let message = format!(
            "one integration test binary in a crate; here are {}: {}",
            paths.len(),
            paths.join(", ")
        );
        findings.push(Finding::new(paths[1], 0, message));
    }
    findings
}

/// Modules next to the folder of their parts instead of in it.
fn beside_their_parts(sources: &[Source]) -> Vec<Finding> {
    let code = sources.iter().map(|source| source.path.as_str());
    let folders: BTreeSet<&str> = code
        .clone()
        .filter(|path| path.ends_with(".rs"))
        .filter_map(|path| Some(path.rsplit_once('/')?.0))
        .collect();
    code.filter_map(|path| Some((path, path.strip_suffix(".rs")?)))
        .filter(|(path, stem)| path.contains("/src/") && folders.contains(stem))
        .map(|(path, stem)| {
            let message = format!("a module with parts is in their folder: {stem}/mod.rs");
            Finding::new(path, 0, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> usize {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(path, text))
            .collect();
        check(&sources).len()
    }

    #[test]
    fn what_stands_in_the_wrong_place_is_found() {
        assert_eq!(found(&[("crates/a/src/b.rs", "//! B.\n")]), 0);
        assert_eq!(found(&[("crates/a/src/b.rs", "use c;\n")]), 1);
        assert_eq!(found(&[("crates/a/src/b/tests.rs", "use c;\n")]), 0);
        assert_eq!(
            found(&[
                ("crates/a/src/b.rs", "//! B."),
                ("crates/a/src/b/c.rs", "//! C.")
            ]),
            1
        );
        assert_eq!(
            found(&[
                ("crates/a/src/b.rs", "//! B."),
                ("crates/a/src/b/c.sql", "")
            ]),
            0
        );
        let one = [
            ("crates/a/tests/it/main.rs", ""),
            ("crates/a/tests/it/b.rs", ""),
        ];
        assert_eq!(found(&one), 0);
        let other = ("crates/a/tests/more.rs", "");
        assert_eq!(found(&[one[0], one[1], other]), 1);
        assert_eq!(
            found(&[("crates/a/tests/it.rs", ""), ("crates/b/tests/it.rs", "")]),
            0
        );
        let beside_code = [
            ("crates/a/src/b/tests/c.rs", ""),
            ("crates/a/src/b/tests/d.rs", ""),
        ];
        assert_eq!(found(&beside_code), 0);
    }
}
