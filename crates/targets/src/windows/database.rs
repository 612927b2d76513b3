//! Where to look for databases on Windows.
//!
//! In the measured directory and two levels below it, and two levels down from the root of its
//! volume, one database file suffices. On the Windows volume only the directory counts, and the
//! data directories that installers give their servers: an installed server is most likely in use
//! there, and files elsewhere are not.

use super::calls;
use crate::database::{NAMES_MAX, Sign, kind_of, search};
use std::path::{Component, Path, PathBuf};

/// Where installers put data, below `Program Files`, and how many levels of
/// versions or instances lie between (the search goes two down itself).
const HOMES: [&str; 3] = ["Microsoft SQL Server", "PostgreSQL", "MySQL"];

/// The search does not enter mount points and links.
fn look(start: &Path) -> Option<Sign> {
    search(start, NAMES_MAX, &|_| true, &|_| true)
}

/// Searches a directory and its volume.
pub(super) fn look_around(directory: &Path, root: Option<&Path>) -> Option<Sign> {
    look(directory).or_else(|| look_through(root?))
}

/// Looks through the volume with this root.
pub(super) fn look_through(root: &Path) -> Option<Sign> {
    if !is_of_windows(root) {
        return look(root);
    }
    let program_files = root.join("Program Files");
    HOMES
        .iter()
        .flat_map(|home| instances(&program_files.join(home)))
        .find_map(|instance| look(&instance))
}

/// `MSSQL16.MSSQLSERVER` holds `MSSQL\DATA`: two levels down from there.
fn instances(home: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).take(100).collect()
}

/// Whether Windows is installed on the volume with this root.
fn is_of_windows(root: &Path) -> bool {
    let drive = |path: &Path| match path.components().next() {
        Some(Component::Prefix(prefix)) => Some(prefix.as_os_str().to_ascii_uppercase()),
        _ => None,
    };
    let windows = calls::windows_directory();
    let on_drive = root.components().count() <= 2;
    on_drive && windows.is_some_and(|windows| drive(&windows) == drive(root))
}

/// Checks a file's own name and its surroundings.
pub(super) fn inspect_file(path: &Path, root: Option<&Path>) -> Option<Sign> {
    let name = path.file_name()?.to_string_lossy();
    if let Some(database) = kind_of(&name) {
        let path = path.to_owned();
        return Some(Sign { path, database });
    }
    look_around(path.parent()?, root)
}
