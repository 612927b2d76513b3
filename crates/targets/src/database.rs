//! Recognises database files by name and searches for them.
//!
//! Files are recognised by name only; nothing is opened. A search descends two levels, examines a
//! bounded number of names, and never crosses into another file system or follows a symbolic link.
//! The platform module decides where to search.

use crate::{Error, ErrorKind};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use stripewise_units::NameText;

/// Most names that a search examines.
pub(crate) const NAMES_MAX: usize = 10_000;
const DEPTH_MAX: u32 = 2;

pub(crate) const SQL_SERVER: &str = "SQL Server";
pub(crate) const POSTGRESQL: &str = "PostgreSQL";
pub(crate) const MYSQL: &str = "MySQL or MariaDB";
pub(crate) const MONGODB: &str = "MongoDB";
pub(crate) const FIREBIRD: &str = "Firebird";
pub(crate) const DB2: &str = "Db2";
pub(crate) const ORACLE: &str = "Oracle";

/// The database that a file name belongs to.
pub(crate) fn kind_of(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let has = |suffix: &str| lower.len() > suffix.len() && lower.ends_with(suffix);
    if has(".mdf") || has(".ndf") || has(".ldf") {
        return Some(SQL_SERVER);
    }
    if name == "PG_VERSION" || name == "postmaster.pid" {
        return Some(POSTGRESQL);
    }
    if name == "ibdata1" || has(".ibd") || name == "aria_log_control" {
        return Some(MYSQL);
    }
    if name == "WiredTiger" || name == "WiredTiger.wt" || name == "mongod.lock" {
        return Some(MONGODB);
    }
    if has(".fdb") {
        return Some(FIREBIRD);
    }
    if name == "SQLOGCTL.LFH.1" || name == "SQLSPCS.1" {
        return Some(DB2);
    }
    None
}

/// Oracle: `*.dbf` alone may be dBase or a shapefile; next to a control file or redo log it is
/// Oracle's.
#[derive(Default)]
struct Oracle {
    data: Option<PathBuf>,
    control: bool,
}

impl Oracle {
    fn see(&mut self, name: &str, path: &Path) {
        let lower = name.to_ascii_lowercase();
        if lower.ends_with(".dbf") {
            self.data = Some(path.to_owned());
        }
        self.control |=
            lower.ends_with(".ctl") || (lower.starts_with("redo") && lower.ends_with(".log"));
    }
}

/// A file that indicates a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sign {
    pub path: PathBuf,
    pub database: &'static str,
}

impl Sign {
    /// Why a target is not measured without `--busy-ok`.
    pub(crate) fn refusal(&self, name: &str) -> Error {
        let what = format!(
            "looks like the volume of a live database ({}: {})",
            self.database,
            self.path.as_text()
        );
        Error::new(ErrorKind::NeedsBusyOk, name, what).with_hint(
            "A measurement slows the database down. Use `--busy-ok` if that is acceptable now.",
        )
    }
}

/// Searches a directory for databases that count, as far as the bounds go.
///
/// `on_volume`: a directory is on the volume that the search started on.
pub(crate) fn search(
    start: &Path,
    mut names_left: usize,
    on_volume: &dyn Fn(&Path) -> bool,
    counts: &dyn Fn(&'static str) -> bool,
) -> Option<Sign> {
    let mut queue = VecDeque::from([(start.to_owned(), 0u32)]);
    while let Some((directory, depth)) = queue.pop_front() {
        let mut oracle = Oracle::default();
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            names_left = names_left.checked_sub(1)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = entry.path();
            if let Some(database) = kind_of(&name)
                && counts(database)
            {
                return Some(Sign { path, database });
            }
            oracle.see(&name, &path);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && depth < DEPTH_MAX && on_volume(&path) {
                queue.push_back((path, depth + 1));
            }
        }
        if let (Some(path), true) = (oracle.data, oracle.control)
            && counts(ORACLE)
        {
            return Some(Sign {
                path,
                database: ORACLE,
            });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_databases_are_known_by_name() {
        let cases = [
            ("tempdb.mdf", true),
            ("TEMPDB.LDF", true),
            ("users.ndf", true),
            ("PG_VERSION", true),
            ("ibdata1", true),
            ("orders.ibd", true),
            ("WiredTiger", true),
            (".mdf", false),
            ("pg_version", false),
            ("ibdata1.bak", false),
            ("report.pdf", false),
            ("roads.dbf", false),
            ("wiredtiger.rs", false),
        ];
        for (name, want) in cases {
            assert_eq!(kind_of(name).is_some(), want, "{name}");
        }
    }
}
