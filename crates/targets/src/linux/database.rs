//! Whether a place looks like a live database.
//!
//! Files are recognised by name only; nothing is opened. In the measured directory and two levels
//! below it, one such file suffices, and likewise two levels down from the root of its volume. On
//! the system's own volume, though (from its root, and in the data directories that packages give
//! their servers), the server must also be running: an installed but idle one is no reason to
//! refuse. At most 10,000 names are examined from each start, never in another file system, never
//! through a symbolic link.

use crate::database::{
    DB2, FIREBIRD, MONGODB, MYSQL, NAMES_MAX, ORACLE, POSTGRESQL, SQL_SERVER, Sign, kind_of,
};
use std::collections::HashSet;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

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

/// Names of server processes (their first 15 characters, as the kernel keeps).
const SERVERS: [(&str, &str); 11] = [
    ("sqlservr", SQL_SERVER),
    ("postgres", POSTGRESQL),
    ("postmaster", POSTGRESQL),
    ("mysqld", MYSQL),
    ("mariadbd", MYSQL),
    ("mongod", MONGODB),
    ("firebird", FIREBIRD),
    ("fbserver", FIREBIRD),
    ("db2sysc", DB2),
    ("ora_pmon_", ORACLE),
    ("oracle", ORACLE),
];

/// Databases whose servers are seen running on this machine.
fn running() -> HashSet<&'static str> {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    processes
        .filter_map(|entry| std::fs::read_to_string(entry.path().join("comm")).ok())
        .filter_map(|name| server_of(name.trim_end()))
        .collect()
}

fn server_of(process: &str) -> Option<&'static str> {
    let fits = |(name, _): &&(&str, &str)| match name.strip_suffix('_') {
        Some(_) => process.starts_with(name),
        None => process == *name,
    };
    SERVERS.iter().find(fits).map(|(_, database)| *database)
}

/// Searches the volume that holds `start`.
fn search(start: &Path, names_left: usize, counts: &dyn Fn(&'static str) -> bool) -> Option<Sign> {
    let device = |path: &Path| {
        std::fs::symlink_metadata(path)
            .map(|found| found.dev())
            .ok()
    };
    let volume = device(start)?;
    let on_volume = |path: &Path| device(path) == Some(volume);
    crate::database::search(start, names_left, &on_volume, counts)
}

/// Searches a directory and its volume, given where that is mounted.
pub(super) fn look_around(directory: &Path, mount_point: Option<&Path>) -> Option<Sign> {
    if let Some(sign) = search(directory, NAMES_MAX, &|_| true) {
        return Some(sign);
    }
    if let Some(volume) = mount_point.filter(|mount_point| *mount_point != Path::new("/"))
        && let Some(sign) = search(volume, NAMES_MAX, &|_| true)
    {
        return Some(sign);
    }
    let running = running();
    if running.is_empty() {
        return None;
    }
    let device = std::fs::metadata(directory).ok()?.dev();
    let homes = HOMES
        .iter()
        .map(Path::new)
        .filter(|home| std::fs::metadata(home).is_ok_and(|found| found.dev() == device));
    let mut starts = mount_point.into_iter().chain(homes);
    starts.find_map(|start| search(start, NAMES_MAX, &|database| running.contains(database)))
}

/// Checks a file's own name and its surroundings.
pub(super) fn inspect_file(path: &Path, mount_point: Option<&Path>) -> Option<Sign> {
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
    fn servers_are_known_by_their_processes() {
        let cases = [
            ("sqlservr", Some(SQL_SERVER)),
            ("postgres", Some(POSTGRESQL)),
            ("ora_pmon_ORCL", Some(ORACLE)),
            ("postgres_export", None),
            ("bash", None),
        ];
        for (process, want) in cases {
            assert_eq!(server_of(process), want, "{process}");
        }
    }

    fn any(_: &'static str) -> bool {
        true
    }

    #[test]
    fn the_search_is_bounded_in_depth_and_number_and_follows_no_links() {
        let top = tempfile::tempdir().expect("a directory");
        let deep = top.path().join("a/b/c");
        std::fs::create_dir_all(&deep).expect("directories");
        std::fs::write(deep.join("x.mdf"), "").expect("a file");
        assert_eq!(search(top.path(), 1000, &any), None, "three levels down");
        let below = search(&top.path().join("a"), 1000, &any).expect("two levels down");
        assert_eq!(below.database, SQL_SERVER);
        assert_eq!(
            search(&top.path().join("a"), 1, &any),
            None,
            "one name only"
        );
        let others = |database: &'static str| database != SQL_SERVER;
        assert_eq!(
            search(&top.path().join("a"), 1000, &others),
            None,
            "does not count"
        );

        let other = tempfile::tempdir().expect("a directory");
        std::os::unix::fs::symlink(&deep, other.path().join("link")).expect("a link");
        assert_eq!(search(other.path(), 1000, &any), None, "behind a link");
    }

    #[test]
    fn dbase_files_are_oracle_only_beside_its_control_files() {
        let top = tempfile::tempdir().expect("a directory");
        std::fs::write(top.path().join("users01.dbf"), "").expect("a file");
        assert_eq!(search(top.path(), 1000, &any), None);
        std::fs::write(top.path().join("control01.ctl"), "").expect("a file");
        let sign = search(top.path(), 1000, &any).expect("found");
        assert_eq!(sign.database, ORACLE);
    }
}
