//! Use cases are independent: a folder each, small enough to understand as a whole, and none
//! imports another one. Code that several need is a step.

use super::Finding;
use super::source::Source;
use std::collections::BTreeMap;

const FOLDER: &str = "crates/campaign/src/";
/// Modules shared by use cases.
const STEPS: &str = "steps";
/// Lines of code of a use case, without its tests.
const LINES_MAX: usize = 1_500;

pub fn check(sources: &[Source]) -> Vec<Finding> {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    for source in sources {
        if let Some(name) = use_case(&source.path) {
            let code = source.code.iter().flat_map(|code| code.lines());
            let code = code.filter(|line| !line.trim().is_empty());
            *lines.entry(name).or_default() += code.count();
        }
    }
    let mut findings = Vec::new();
    for (name, count) in &lines {
        if *name != STEPS && *count > LINES_MAX {
            let message = format!(
                "the use case has {count} lines, and {LINES_MAX} is the limit; what others could use is a step"
            );
            findings.push(Finding::new(&format!("{FOLDER}{name}"), 0, message));
        }
    }
    for source in sources {
        let Some(own) = use_case(&source.path) else {
            continue;
        };
        let code = source.code.as_deref().unwrap_or_default();
        for (number, line) in code.lines().enumerate() {
            let others = lines.keys().filter(|name| **name != own && **name != STEPS);
            for other in others.filter(|other| line.contains(&format!("crate::{other}::"))) {
                let message = format!(
                    "`{own}` imports the use case `{other}`; what both need is a step (campaign/src/steps)"
                );
                findings.push(Finding::new(&source.path, number + 1, message));
            }
        }
    }
    findings
}

/// The folder of a file in the crate.
fn use_case(path: &str) -> Option<&str> {
    let (folder, _) = path.strip_prefix(FOLDER)?.split_once('/')?;
    Some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = files
            .iter()
            .map(|(path, text)| Source::new(path, text))
            .collect();
        check(&sources)
            .into_iter()
            .map(|finding| finding.message)
            .collect()
    }

    #[test]
    fn a_use_case_that_imports_another_is_found() {
        let of = |import: &str| {
            findings(&[
                ("crates/campaign/src/run/mod.rs", import),
                ("crates/campaign/src/bench/mod.rs", ""),
                ("crates/campaign/src/steps/keep.rs", ""),
            ])
        };
        assert_eq!(of("use crate::steps::keep::Keeper;\n"), [""; 0]);
        assert_eq!(of("use crate::context::Context;\n"), [""; 0]);
        assert_eq!(of("use crate::run::Ran;\n"), [""; 0]);
        let found = of("use crate::bench::Benched;\n");
        assert!(
            found[0].contains("`run` imports the use case `bench`"),
            "{found:?}"
        );
        let step = findings(&[
            (
                "crates/campaign/src/steps/keep.rs",
                "use crate::run::Ran;\n",
            ),
            ("crates/campaign/src/run/mod.rs", ""),
        ]);
        assert!(step[0].contains("`steps` imports"), "{step:?}");
    }

    #[test]
    fn a_use_case_that_is_too_large_is_found() {
        let long = "fn f() {}\n".repeat(LINES_MAX + 1);
        let found = findings(&[("crates/campaign/src/run/mod.rs", &long)]);
        assert!(found[0].contains("1501 lines"), "{found:?}");
        assert_eq!(
            findings(&[("crates/campaign/src/steps/a.rs", &long)]),
            [""; 0]
        );
    }
}
