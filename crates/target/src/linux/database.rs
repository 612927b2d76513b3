//! Whether a place looks like a live database.
//!
//! Files are known by name only; nothing is opened. The search is bounded: the
//! directory and two levels below it, the root of its volume and two levels
//! below that, at most 10,000 names each, never into another file system, never
//! through a symbolic link. It finds what lies where people put databases; the
//! usual homes of packaged servers are looked at besides.

use std::collections::VecDeque;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const NAMES_MAX: usize = 10_000;
const DEPTH_MAX: u32 = 2;

/// Where distributions put the data of servers, deeper than the search goes.
const HOMES: [&str; 7] = [
    "/var/lib/postgresql",
    "/var/lib/pgsql",
    "/var/lib/mysql",
    "/var/lib/mongodb",
    "/var/lib/mongo",
    "/var/opt/mssql/data",
    "/opt/oracle/oradata",
];

/// Which database a file name belongs to.
pub(super) fn kind_of(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let has = |suffix: &str| lower.len() > suffix.len() && lower.ends_with(suffix);
    if has(".mdf") || has(".ndf") || has(".ldf") {
        return Some("SQL Server");
    }
    if name == "PG_VERSION" || name == "postmaster.pid" {
        return Some("PostgreSQL");
    }
    if name == "ibdata1" || has(".ibd") || name == "aria_log_control" {
        return Some("MySQL or MariaDB");
    }
    if name == "WiredTiger" || name == "WiredTiger.wt" || name == "mongod.lock" {
        return Some("MongoDB");
    }
    if has(".fdb") {
        return Some("Firebird");
    }
    if name == "SQLOGCTL.LFH.1" || name == "SQLSPCS.1" {
        return Some("Db2");
    }
    None
}

/// Oracle: `*.dbf` alone may be dBase or a shapefile; with a control file or a
/// redo log beside it is not.
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

/// A file that gives a database away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub path: PathBuf,
    pub database: &'static str,
}

/// Searches a directory, as far as the bounds go.
fn search(start: &Path, names_left: &mut usize) -> Option<Sign> {
    let device = std::fs::symlink_metadata(start).ok()?.dev();
    let mut queue = VecDeque::from([(start.to_owned(), 0u32)]);
    while let Some((directory, depth)) = queue.pop_front() {
        let mut oracle = Oracle::default();
        for entry in std::fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
        {
            *names_left = names_left.checked_sub(1)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let path = entry.path();
            if let Some(database) = kind_of(&name) {
                return Some(Sign { path, database });
            }
            oracle.see(&name, &path);
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory
                && depth < DEPTH_MAX
                && std::fs::symlink_metadata(&path).is_ok_and(|found| found.dev() == device)
            {
                queue.push_back((path, depth + 1));
            }
        }
        if let (Some(path), true) = (oracle.data, oracle.control) {
            return Some(Sign {
                path,
                database: "Oracle",
            });
        }
    }
    None
}

/// Looks around a directory and through its volume, given where that is mounted.
pub(super) fn look_around(directory: &Path, mount_point: Option<&Path>) -> Option<Sign> {
    let device = std::fs::metadata(directory).ok()?.dev();
    let homes = HOMES
        .iter()
        .map(Path::new)
        .filter(|home| std::fs::metadata(home).is_ok_and(|found| found.dev() == device));
    std::iter::once(directory)
        .chain(mount_point.filter(|root| *root != directory))
        .chain(homes)
        .find_map(|start| search(start, &mut { NAMES_MAX }))
}

/// Looks at a file's own name and around it.
pub(super) fn look_at_file(path: &Path, mount_point: Option<&Path>) -> Option<Sign> {
    let name = path.file_name()?.to_string_lossy();
    if let Some(database) = kind_of(&name) {
        return Some(Sign {
            path: path.to_owned(),
            database,
        });
    }
    look_around(path.parent()?, mount_point)
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

    #[test]
    fn the_search_is_bounded_in_depth_and_number_and_follows_no_links() {
        let top = tempfile::tempdir().expect("a directory");
        let deep = top.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::write(deep.join("x.mdf"), "").expect("a file");
        assert_eq!(search(top.path(), &mut 1000), None, "three levels down");
        let below = search(&top.path().join("a"), &mut 1000).expect("two levels down");
        assert_eq!(below.database, "SQL Server");
        assert_eq!(search(&top.path().join("a"), &mut 1), None, "one name only");

        let other = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink(&deep, other.path().join("link")).expect("a link");
        assert_eq!(search(other.path(), &mut 1000), None, "behind a link");
    }

    #[test]
    fn dbase_files_are_oracle_only_beside_its_control_files() {
        let top = tempfile::tempdir().expect("a directory");
        std::fs::write(top.path().join("users01.dbf"), "").expect("a file");
        assert_eq!(search(top.path(), &mut 1000), None);
        std::fs::write(top.path().join("control01.ctl"), "").expect("a file");
        let sign = search(top.path(), &mut 1000).expect("found");
        assert_eq!(sign.database, "Oracle");
    }
}
