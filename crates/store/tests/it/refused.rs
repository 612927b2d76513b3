//! Files that are not a store, or not one that we understand, stay as they are.

use crate::common::*;
use std::path::Path;
use stripewise_store::{ErrorKind, Store, USER_VERSION};

/// Opens the file both ways and expects the same refusal, the file and its
/// directory unchanged.
fn check_refused(path: &Path, expected: impl Fn(&ErrorKind) -> bool) {
    let before = std::fs::read(path).unwrap();
    let entries = || std::fs::read_dir(path.parent().unwrap()).unwrap().count();
    let entries_before = entries();
    for error in [
        open(path).unwrap_err(),
        Store::open_read_only(path).unwrap_err(),
    ] {
        assert!(expected(error.kind()), "{error:?}");
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
        assert!(error.hint().contains("--store"), "{}", error.hint());
        assert!(!error.is_about_a_name());
    }
    assert!(
        std::fs::read(path).unwrap() == before,
        "the file was changed"
    );
    assert_eq!(entries(), entries_before);
}

#[test]
fn a_file_of_another_program_is_refused_untouched() {
    for (name, setup) in [
        ("marked", "PRAGMA application_id = 7; CREATE TABLE t (x);"),
        (
            "unmarked",
            "CREATE TABLE runs (x); PRAGMA user_version = 1;",
        ),
        ("log", "PRAGMA journal_mode = WAL; CREATE TABLE t (x);"),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        rusqlite::Connection::open(&path)
            .unwrap()
            .execute_batch(setup)
            .unwrap();
        check_refused(&path, |kind| matches!(kind, ErrorKind::Foreign { .. }));
    }
}

#[test]
fn a_file_that_is_not_sqlites_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in [
        ("text", b"SELECT * FROM customers;\n".repeat(400)),
        ("short", b"x".to_vec()),
        ("zeros", vec![0; 8192]),
    ] {
        let path = directory.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        check_refused(&path, |kind| {
            matches!(kind, ErrorKind::Foreign { .. } | ErrorKind::Damaged { .. })
        });
    }
}

#[test]
fn a_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let error = open(directory.path()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
}

/// SQLite takes what has no size for an empty file: on a disk it would write
/// its first page over the partition table.
#[cfg(unix)]
#[test]
fn devices_and_sockets_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let socket = directory.path().join("socket");
    let _listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let link = directory.path().join("link");
    std::os::unix::fs::symlink("/dev/null", &link).unwrap();
    for path in [Path::new("/dev/null"), &socket, &link] {
        let error = open(path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
        let error = Store::open_read_only(path).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Foreign { .. }), "{error}");
    }
}

#[test]
fn a_store_of_a_newer_version_is_refused_untouched() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    drop(open(&path).unwrap());
    rusqlite::Connection::open(&path)
        .unwrap()
        .pragma_update(None, "user_version", USER_VERSION + 1)
        .unwrap();
    check_refused(&path, |kind| {
        *kind
            == ErrorKind::Newer {
                found: USER_VERSION + 1,
                known: USER_VERSION,
            }
    });
}

#[test]
fn an_empty_file_becomes_a_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    std::fs::write(&path, b"").unwrap();
    let error = Store::open_read_only(&path).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Missing);
    open(&path).unwrap().check().unwrap();
}

#[test]
fn reading_where_nothing_was_stored_yet_says_how_to_begin() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none/store.db");
    let error = Store::open_read_only(&path).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Missing);
    assert!(
        error.hint().contains("stripewise bench"),
        "{}",
        error.hint()
    );
    assert!(!path.parent().unwrap().exists());
}

/// SQLite takes a journal or log next to an empty or missing file for leftovers.
#[test]
fn files_beside_a_store_that_is_not_there_are_left_alone() {
    for suffix in ["-journal", "-wal", "-shm"] {
        for place in ["missing", "empty", "link"] {
            if place == "link" && !cfg!(unix) {
                continue;
            }
            let directory = tempfile::tempdir().unwrap();
            let real = directory.path().join("real.db");
            let path = if place == "link" {
                directory.path().join("link.db")
            } else {
                real.clone()
            };
            #[cfg(unix)]
            if place == "link" {
                std::os::unix::fs::symlink("real.db", &path).unwrap();
            }
            if place == "empty" {
                std::fs::write(&real, b"").unwrap();
            }
            let sidecar = directory.path().join(format!("real.db{suffix}"));
            let precious = b"the last commits of somebody ".repeat(100);
            std::fs::write(&sidecar, &precious).unwrap();
            let names = || std::fs::read_dir(directory.path()).unwrap().count();
            let before = names();

            let error = open(&path).unwrap_err();
            let ErrorKind::Orphan { sidecar: named } = error.kind() else {
                panic!("{suffix} {place}: {error:?}");
            };
            assert!(named.ends_with(format!("real.db{suffix}")), "{error}");
            assert!(error.hint().contains("--store"), "{}", error.hint());
            Store::open_read_only(&path).unwrap_err();
            assert_eq!(std::fs::read(&sidecar).unwrap(), precious);
            assert_eq!(names(), before, "{suffix} {place}: nothing was made");

            std::fs::write(&sidecar, b"").unwrap();
            open(&path).unwrap().check().unwrap();
        }
    }
}

#[test]
fn a_store_whose_making_was_killed_is_begun_again() {
    let directory = tempfile::tempdir().unwrap();
    let (other, path) = (
        directory.path().join("other.db"),
        directory.path().join("store.db"),
    );
    let making = rusqlite::Connection::open(&other).unwrap();
    making.execute_batch("BEGIN; CREATE TABLE t (x)").unwrap();
    let journal = std::fs::read(directory.path().join("other.db-journal")).unwrap();
    assert!(!journal.is_empty());
    assert_eq!(std::fs::metadata(&other).unwrap().len(), 0);
    std::fs::write(&path, b"").unwrap();
    std::fs::write(directory.path().join("store.db-journal"), journal).unwrap();
    open(&path).unwrap().check().unwrap();
}
