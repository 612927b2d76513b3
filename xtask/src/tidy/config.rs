//! `xtask/tidy.toml`.

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// What is allowed where.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// For each crate the crates that it may use, without the prefix. Crates
    /// in `everywhere` may be used by all.
    pub arrows: BTreeMap<String, Vec<String>>,
    /// Crates that all may use.
    pub everywhere: Vec<String>,
    /// External crates that only some may use.
    pub confined: Vec<Confined>,
    /// Patterns that only some places may contain.
    pub bans: Vec<Ban>,
    /// Folders that may contain unsafe code.
    pub unsafe_folders: Vec<String>,
    /// Largest number of lines of a file without its tests.
    pub lines_max: usize,
    /// Files that may be longer.
    pub long_files: Vec<Exception>,
    /// Folders whose modules import each other in a circle.
    #[serde(default)]
    pub circles: Vec<Exception>,
}

/// An external crate and the crates of ours that may use it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confined {
    pub dependency: String,
    pub to: Vec<String>,
    pub reason: String,
}

/// Patterns that only some places may contain.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ban {
    /// Told in findings.
    pub reason: String,
    /// Texts; where they begin or end with a letter, whole words only.
    pub patterns: Vec<String>,
    /// Only look below these folders; empty: everywhere.
    #[serde(default)]
    pub within: Vec<String>,
    /// Paths, or beginnings of paths ending in `/`, where it is allowed.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Whether texts (string literals) count too.
    #[serde(default)]
    pub in_texts: bool,
}

/// A file or folder and why it is an exception.
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

/// Whether one of `places` (a path, or the beginning of one ending in `/`) holds `path`.
pub fn covers(places: &[String], path: &str) -> bool {
    places
        .iter()
        .any(|place| path == place || (place.ends_with('/') && path.starts_with(place.as_str())))
}
