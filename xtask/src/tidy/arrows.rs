//! Allowed dependencies between crates: the table of the design. An unused entry is a finding as
//! well, as readers trust the table.

use super::config::Config;
use super::{Finding, Source};
use anyhow::{Context, Result};
use std::path::Path;

const PREFIX: &str = "stripewise-";

pub fn check(root: &Path, sources: &[Source], config: &Config) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut manifests = Vec::new();
    let folder = root.join("crates");
    for entry in std::fs::read_dir(&folder).context("cannot read crates/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("crates/{name}/Cargo.toml");
        if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
            findings.extend(check_manifest(&path, &name, &text, config)?);
            findings.extend(check_use(&path, &name, &text, sources)?);
            manifests.push(text);
        }
    }
    manifests.push(std::fs::read_to_string(root.join("xtask/Cargo.toml"))?);
    let workspace = std::fs::read_to_string(root.join("Cargo.toml"))?;
    findings.extend(check_workspace(&workspace, &manifests)?);
    Ok(findings)
}

/// Our crates in the manifest that no line of the crate names.
fn check_use(path: &str, name: &str, text: &str, sources: &[Source]) -> Result<Vec<Finding>> {
    let folder = format!("crates/{name}/");
    let codes: Vec<&str> = sources
        .iter()
        .filter(|source| source.path.starts_with(&folder))
        .filter_map(|source| source.code.as_deref())
        .collect();
    let unused = |dependency: &String| {
        let word = dependency.replace('-', "_");
        dependency.starts_with(PREFIX) && !codes.iter().any(|code| code.contains(&word))
    };
    let used = dependencies(&text.parse()?);
    let finding = |dependency: &String| {
        let message = format!("`{dependency}` is listed, and nothing in the crate names it");
        Finding::new(path, 0, message)
    };
    Ok(used.iter().filter(|one| unused(one)).map(finding).collect())
}

/// Workspace dependencies that no crate uses.
fn check_workspace(text: &str, manifests: &[String]) -> Result<Vec<Finding>> {
    let manifest: toml::Table = text.parse().context("cannot read Cargo.toml")?;
    let mut listed = Vec::new();
    for text in manifests {
        let manifest: toml::Table = text.parse()?;
        listed.extend(dependencies(&manifest));
        let tests = manifest.get("dev-dependencies");
        let tests = tests.and_then(toml::Value::as_table);
        listed.extend(tests.into_iter().flat_map(|tests| tests.keys().cloned()));
    }
    let declared = manifest
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies")?.as_table());
    let unused = declared
        .into_iter()
        .flat_map(toml::Table::keys)
        .filter(|name| !listed.contains(name));
    let finding = |name: &String| {
        let message = format!("the workspace declares `{name}`, and no crate uses it");
        Finding::new("Cargo.toml", 0, message)
    };
    Ok(unused.map(finding).collect())
}

/// Tests may use more than the crate itself: `dev-dependencies` do not count.
fn check_manifest(path: &str, name: &str, text: &str, config: &Config) -> Result<Vec<Finding>> {
    let manifest: toml::Table = text
        .parse()
        .with_context(|| format!("cannot read {path}"))?;
    let Some(allowed) = config.arrows.get(name) else {
        let message =
            "the crate is not in the table of arrows (xtask/tidy.toml); a new crate is a decision";
        return Ok(vec![Finding::new(path, 0, message)]);
    };
    let mut findings = Vec::new();
    let dependencies = dependencies(&manifest);
    for arrow in allowed {
        if !dependencies.contains(&format!("{PREFIX}{arrow}")) {
            let message = format!(
                "an arrow that is not used: take `{arrow}` from `{name}` in xtask/tidy.toml"
            );
            findings.push(Finding::new(path, 0, message));
        }
    }
    for dependency in dependencies {
        if let Some(used) = dependency.strip_prefix(PREFIX)
            && used != name
            && !config.everywhere.iter().any(|common| common == used)
            && !allowed.iter().any(|allowed| allowed == used)
        {
            let message = format!(
                "new arrow: `{name}` may not use `{used}`; write a decision into docs/decisions/ and change xtask/tidy.toml"
            );
            findings.push(Finding::new(path, 0, message));
        }
        for confined in &config.confined {
            if confined.dependency == dependency && !confined.to.iter().any(|to| to == name) {
                let message = format!(
                    "`{dependency}` belongs only in {}: {}",
                    confined.to.join(", "),
                    confined.reason
                );
                findings.push(Finding::new(path, 0, message));
            }
        }
    }
    Ok(findings)
}

/// Names in all dependency tables that the built crate has.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    let mut names = Vec::new();
    let mut add = |table: &toml::Table| {
        for key in ["dependencies", "build-dependencies"] {
            let found = table.get(key).and_then(toml::Value::as_table);
            names.extend(found.into_iter().flat_map(|found| found.keys().cloned()));
        }
    };
    add(manifest);
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    for target in targets.into_iter().flat_map(toml::Table::values) {
        if let Some(table) = target.as_table() {
            add(table);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::config::Confined;

    fn findings(name: &str, manifest: &str) -> usize {
        let config = Config {
            arrows: [("store".to_owned(), vec!["results".to_owned()])].into(),
            everywhere: vec!["units".to_owned()],
            confined: vec![Confined {
                dependency: "anyhow".to_owned(),
                to: vec!["app".to_owned()],
                reason: "libraries have errors of their own".to_owned(),
            }],
            ..Config::default()
        };
        check_manifest("crates/x/Cargo.toml", name, manifest, &config)
            .unwrap()
            .len()
    }

    const RESULTS: &str = "stripewise-results.workspace = true";
    const RUNNER: &str = "stripewise-runner.workspace = true";

    #[test]
    fn arrows_that_are_not_in_the_table_are_found() {
        for (tables, expected) in [
            ("stripewise-units.workspace = true".to_owned(), 0),
            (RUNNER.to_owned(), 1),
            (
                "[target.'cfg(unix)'.dependencies]\nstripewise-runner = { path = \"x\" }"
                    .to_owned(),
                1,
            ),
            (format!("[build-dependencies]\n{RUNNER}"), 1),
            (format!("[dev-dependencies]\n{RUNNER}"), 0),
            ("anyhow = \"1\"".to_owned(), 1),
        ] {
            let manifest = format!("[dependencies]\n{RESULTS}\n{tables}");
            assert_eq!(findings("store", &manifest), expected, "{manifest}");
        }
        assert_eq!(findings("new", "[dependencies]"), 1);
    }

    #[test]
    fn arrows_that_are_in_the_table_and_not_used_are_found() {
        assert_eq!(findings("store", "[dependencies]"), 1);
        let only_in_tests = format!("[dev-dependencies]\n{RESULTS}");
        assert_eq!(findings("store", &only_in_tests), 1);
    }

    #[test]
    fn crates_that_are_listed_and_not_named_are_found() {
        let manifest = format!("[dependencies]\n{RESULTS}\nserde.workspace = true");
        for (text, expected) in [
            ("use stripewise_results::Record;\n", 0),
            ("// stripewise_results\n", 1),
            (
                "#[cfg(test)]\nmod tests {\n    use stripewise_results::Record;\n}\n",
                1,
            ),
        ] {
            let sources = [Source::new("crates/store/src/lib.rs", text)];
            let found = check_use("crates/store/Cargo.toml", "store", &manifest, &sources);
            assert_eq!(found.unwrap().len(), expected, "{text}");
        }
    }

    #[test]
    fn what_the_workspace_declares_for_nobody_is_found() {
        let workspace = "[workspace.dependencies]\nserde = \"1\"\ninsta = \"1\"\ntracing = \"1\"";
        let manifest =
            "[dependencies]\nserde.workspace = true\n[dev-dependencies]\ninsta.workspace = true";
        let found = check_workspace(workspace, &[manifest.to_owned()]).unwrap();
        assert_eq!(found.len(), 1);
        assert!(found[0].message.contains("tracing"));
    }
}
