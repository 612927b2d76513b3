//! Which crate may use which: the table of the design.

use super::Finding;
use super::config::Config;
use anyhow::{Context, Result};
use std::path::Path;

const PREFIX: &str = "stripewise-";

pub fn check(root: &Path, config: &Config) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let folder = root.join("crates");
    for entry in std::fs::read_dir(&folder).context("cannot read crates/")? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let path = format!("crates/{name}/Cargo.toml");
        if let Ok(text) = std::fs::read_to_string(root.join(&path)) {
            findings.extend(check_manifest(&path, &name, &text, config)?);
        }
    }
    Ok(findings)
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
    for dependency in dependencies(&manifest) {
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

/// Names in all tables of dependencies that the built crate has.
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

    #[test]
    fn arrows_that_are_not_in_the_table_are_found() {
        let cases = [
            (
                "store",
                "[dependencies]\nstripewise-results.workspace = true\nstripewise-units.workspace = true",
                0,
            ),
            (
                "store",
                "[dependencies]\nstripewise-runner.workspace = true",
                1,
            ),
            (
                "store",
                "[target.'cfg(unix)'.dependencies]\nstripewise-runner = { path = \"x\" }",
                1,
            ),
            (
                "store",
                "[build-dependencies]\nstripewise-runner.workspace = true",
                1,
            ),
            (
                "store",
                "[dev-dependencies]\nstripewise-runner.workspace = true",
                0,
            ),
            ("store", "[dependencies]\nanyhow = \"1\"", 1),
            ("new", "[dependencies]", 1),
        ];
        for (name, manifest, expected) in cases {
            assert_eq!(findings(name, manifest), expected, "{manifest}");
        }
    }
}
