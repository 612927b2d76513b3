//! `xtask/tidy.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The rules and their exceptions.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Allowed dependencies of each crate, without the prefix. All may use the crates in
    /// `everywhere`.
    pub arrows: BTreeMap<String, Vec<String>>,
    /// Crates that all may use.
    pub everywhere: Vec<String>,
    /// External crates restricted to some crates.
    pub confined: Vec<Confined>,
    /// Patterns allowed only in some places.
    pub bans: Vec<Ban>,
    /// Folders that may contain unsafe code.
    pub unsafe_folders: Vec<String>,
    /// Maximum lines of a file without its tests.
    pub lines_max: usize,
    /// Files that may be longer.
    pub long_files: Vec<Exception>,
    /// Folders whose modules may import each other in a cycle.
    #[serde(default)]
    pub circles: Vec<Exception>,
}

/// An external crate and our crates that may use it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confined {
    pub dependency: String,
    pub to: Vec<String>,
    pub reason: String,
}

/// Patterns allowed only in some places.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ban {
    /// Printed in findings.
    pub reason: String,
    /// Patterns; if they begin or end with a letter, whole words only.
    pub patterns: Vec<String>,
    /// Only search below these folders; empty: everywhere.
    #[serde(default)]
    pub within: Vec<String>,
    /// Paths, or path prefixes ending in `/`, where it is allowed.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Whether texts (string literals) count too.
    #[serde(default)]
    pub in_texts: bool,
}

/// A file or folder and the reason for the exception.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    pub path: String,
    pub reason: String,
}

impl Config {
    pub fn load(root: &Path) -> Result<Config> {
        let path = root.join("xtask/tidy.toml");
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("cannot use {}", path.display()))
    }
}

/// Whether one of `places` (a path, or a path prefix ending in `/`) contains `path`.
pub fn covers(places: &[String], path: &str) -> bool {
    places
        .iter()
        .any(|place| path == place || (place.ends_with('/') && path.starts_with(place.as_str())))
}
