//! The licences of everything compiled into a binary: names, versions and licences from
//! `cargo metadata`, texts from the packages themselves.

use anyhow::{Context, Result, bail};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use suite::shell::{self, cargo};

/// Linked code that is not a package.
const BESIDES: &str = "\
Rust's standard library: MIT OR Apache-2.0, https://www.rust-lang.org
SQLite (inside libsqlite3-sys): in the public domain, https://www.sqlite.org
On Linux: musl libc, MIT, https://musl.libc.org, and LLVM's libunwind, Apache-2.0
WITH LLVM-exception, https://llvm.org; on aarch64 besides Zig's compiler-rt, MIT,
https://ziglang.org
On Windows: start-up code and runtime of mingw-w64, in the public domain, and of
GCC (libgcc), GPL-3.0 with the GCC Runtime Library Exception
Apache ECharts and Roboto: see NOTICE and the folder licences
";

/// A package in the metadata.
struct Package<'a> {
    name: &'a str,
    version: &'a str,
    licence: &'a str,
    manifest: &'a Path,
}

/// One text: a list, then each licence text once.
pub fn collect(root: &Path, triple: &str) -> Result<String> {
    let arguments = [
        "metadata",
        "--format-version",
        "1",
        "--locked",
        "--filter-platform",
        triple,
    ];
    let output = shell::read(&mut cargo(root, &arguments))?;
    let metadata: Value = serde_json::from_str(&output.stdout)?;
    let mut list = String::new();
    // Packages by licence text.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for id in linked(&metadata, "stripewise-app")? {
        let package = package(&metadata, &id)?;
        if package.name.starts_with("stripewise-") {
            continue;
        }
        let label = format!("{} {}", package.name, package.version);
        let _ = writeln!(list, "{label}: {}", package.licence);
        for text in texts_of(package.manifest)? {
            texts.entry(text).or_default().push(label.clone());
        }
    }
    if list.is_empty() {
        bail!("no packages are linked into {triple}: the metadata was not understood");
    }
    let mut document = format!(
        "Stripewise contains these packages (for {triple}):\n\n{list}\nAnd besides:\n\n{BESIDES}"
    );
    let mut ordered: Vec<(&String, &Vec<String>)> = texts.iter().collect();
    ordered.sort_by_key(|(_, packages)| packages.first());
    for (text, packages) in ordered {
        let line = "-".repeat(78);
        let _ = write!(
            document,
            "\n{line}\n{}\n{line}\n\n{}\n",
            packages.join(", "),
            text.trim_end()
        );
    }
    Ok(document)
}

/// Everything linked into a package: normal dependencies, not those of tests and build scripts.
fn linked(metadata: &Value, name: &str) -> Result<BTreeSet<String>> {
    let nodes = metadata["resolve"]["nodes"]
        .as_array()
        .context("cargo metadata has no nodes")?;
    let node_of = |id: &str| nodes.iter().find(|node| node["id"] == id);
    let packages = metadata["packages"].as_array();
    let root = packages
        .into_iter()
        .flatten()
        .find(|package| package["name"] == name)
        .and_then(|package| package["id"].as_str())
        .with_context(|| format!("cargo metadata has no package {name}"))?;
    let mut found = BTreeSet::new();
    let mut next = vec![root.to_owned()];
    while let Some(id) = next.pop() {
        if !found.insert(id.clone()) {
            continue;
        }
        let dependencies = node_of(&id).and_then(|node| node["deps"].as_array());
        for dependency in dependencies.into_iter().flatten() {
            let kinds = dependency["dep_kinds"].as_array();
            let is_normal = kinds
                .into_iter()
                .flatten()
                .any(|kind| kind["kind"].is_null());
            if let Some(id) = dependency["pkg"].as_str().filter(|_| is_normal) {
                next.push(id.to_owned());
            }
        }
    }
    Ok(found)
}

fn package<'a>(metadata: &'a Value, id: &str) -> Result<Package<'a>> {
    let packages = metadata["packages"].as_array();
    let package = packages
        .into_iter()
        .flatten()
        .find(|package| package["id"] == id)
        .with_context(|| format!("cargo metadata has no package {id}"))?;
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    Ok(Package {
        name: text("name"),
        version: text("version"),
        licence: match text("license") {
            "" => "see its text below",
            licence => licence,
        },
        manifest: Path::new(text("manifest_path")),
    })
}

/// Files next to the manifest with names of licences.
fn texts_of(manifest: &Path) -> Result<Vec<String>> {
    let directory = manifest.parent().context("a manifest without a folder")?;
    let mut names: Vec<_> = std::fs::read_dir(directory)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| is_licence(name))
        .collect();
    names.sort();
    let mut texts = Vec::new();
    for name in names {
        let path = directory.join(name);
        if path.is_file() {
            let bytes = std::fs::read(&path)?;
            // Texts that differ only in line ends are the same.
            let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
            texts.push(text.trim().to_owned());
        }
    }
    Ok(texts)
}

fn is_licence(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let starts = [
        "license",
        "licence",
        "copying",
        "unlicense",
        "notice",
        "copyright",
    ];
    starts.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_linked_leaves_out_tests_and_build_scripts() {
        let dependency = |id: &str, kind: Value| json!({"pkg": id, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [{"name": "app", "id": "a"}],
            "resolve": {"nodes": [
                {"id": "a", "deps": [
                    dependency("b", Value::Null),
                    dependency("c", json!("dev")),
                    dependency("d", json!("build"))
                ]},
                {"id": "b", "deps": [dependency("a", Value::Null), dependency("e", Value::Null)]},
            ]}
        });
        let found = linked(&metadata, "app").unwrap();
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["a", "b", "e"]);
        assert!(linked(&metadata, "other").is_err());
    }

    #[test]
    fn licences_are_known_by_their_names() {
        for name in [
            "LICENSE",
            "LICENSE-MIT",
            "license.md",
            "COPYING",
            "UNLICENSE",
            "NOTICE",
        ] {
            assert!(is_licence(name), "{name}");
        }
        for name in ["README.md", "src", "Cargo.toml"] {
            assert!(!is_licence(name), "{name}");
        }
    }
}
