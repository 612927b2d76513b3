//! Where things are: a header in each file of code, and one integration test
//! binary in each crate (each more links everything once more).

use super::source::is_test;
use super::{Finding, Source};
use std::collections::BTreeMap;

pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
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
    fn files_without_header_and_second_test_binaries_are_found() {
        assert_eq!(found(&[("crates/a/src/b.rs", "//! B.\n")]), 0);
        assert_eq!(found(&[("crates/a/src/b.rs", "use c;\n")]), 1);
        assert_eq!(found(&[("crates/a/src/b/tests.rs", "use c;\n")]), 0);
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
