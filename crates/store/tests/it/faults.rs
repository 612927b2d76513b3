//! Damaged files, full and read-only file systems.

use crate::common::*;
use crate::skips::skip;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use stripewise_results::Interval;
use stripewise_store::{ErrorKind, Filter, IntervalHistograms, Store};

/// A store with a few runs, in one file without a log.
fn filled(path: &Path) {
    let mut store = open(path).unwrap();
    for number in 0..6 {
        let id = format!("run-{number}");
        let mut run = store.begin_run(&skeleton(&id, 2)).unwrap();
        for index in 0..40 {
            append(&mut store, &mut run, 0, index).unwrap();
        }
        store.finish_run(run, &finished(&id, 2, 40)).unwrap();
    }
}

/// Reads everything; the first failure ends it.
fn read_all(store: &Store) -> stripewise_store::Result<()> {
    for run in store.list(&Filter::default())? {
        let record = store.load(&run.id)?;
        for job in 0..record.jobs.len() {
            store.load_intervals(&run.id, job)?;
        }
    }
    store.check()
}

#[test]
fn damage_is_noticed_named_and_never_made_worse_by_reading() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let whole = std::fs::read(&path).unwrap();
    let mut rng = SeededRng(11);
    let mut noticed = 0;
    for attempt in 0..60 {
        let mut bytes = whole.clone();
        let at = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
        match attempt % 3 {
            // A whole sector of something else, as disks lose them.
            0 => bytes[at / 512 * 512..][..512].fill(0xa5),
            1 => bytes[at / 4096 * 4096..][..4096].fill(0),
            _ => bytes.truncate(at),
        }
        std::fs::write(&path, &bytes).unwrap();
        let result = Store::open_read_only(&path).and_then(|store| read_all(&store));
        if let Err(error) = result {
            let expected = matches!(
                error.kind(),
                ErrorKind::Damaged { .. }
                    | ErrorKind::DamagedRun { .. }
                    | ErrorKind::Foreign { .. }
                    | ErrorKind::Missing
            );
            assert!(expected, "attempt {attempt}: {error:?}");
            let hint = error.hint();
            let names = hint.contains("--store") || hint.contains("history delete");
            assert!(names, "{hint}");
            noticed += 1;
        }
        assert!(
            std::fs::read(&path).unwrap() == bytes,
            "attempt {attempt} changed the file"
        );
    }
    // What is hit may be a free page.
    assert!(noticed > 40, "only {noticed} of 60 were noticed");
}

#[test]
fn a_damaged_store_that_cannot_be_opened_for_writing_keeps_its_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    filled(&path);
    let mut bytes = std::fs::read(&path).unwrap();
    // The schema's page.
    bytes[100..4096].fill(0x5a);
    std::fs::write(&path, &bytes).unwrap();
    let error = open(&path).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Damaged { .. }),
        "{error:?}"
    );
    assert!(error.hint().contains("history salvage"), "{}", error.hint());
    assert!(std::fs::read(&path).unwrap() == bytes);
}

/// A small file system of its own; unmounted when dropped.
struct Mount {
    at: PathBuf,
    _directory: tempfile::TempDir,
}

impl Mount {
    /// `None`, with a notice, where this process may not mount.
    fn new(test: &str, options: &str) -> Option<Mount> {
        let directory = tempfile::tempdir().unwrap();
        let at = directory.path().to_owned();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", options, "stripewise-test"])
            .arg(&at)
            .output()
            .is_ok_and(|output| output.status.success());
        if mounted {
            return Some(Mount {
                at,
                _directory: directory,
            });
        }
        skip(test, "root (mount)");
        None
    }

    fn remount(&self, options: &str) {
        let status = Command::new("mount")
            .args(["-o", &format!("remount,{options}")])
            .arg(&self.at)
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        // Lazily: a child that another test starts may have our files open for a moment.
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
    }
}

#[test]
fn a_full_file_system_is_named_and_what_was_stored_stays_readable() {
    own_process!();
    let test = "a_full_file_system_is_named_and_what_was_stored_stays_readable";
    let Some(mount) = Mount::new(test, "size=1m") else {
        return;
    };
    let path = mount.at.join("store.db");
    let mut store = open(&path).unwrap();
    store.save_run(&finished("before", 1, 5)).unwrap();
    let mut run = store.begin_run(&skeleton("growing", 1)).unwrap();
    let mut stored = 0;
    let error = loop {
        if let Err(error) = append(&mut store, &mut run, 0, stored) {
            break error;
        }
        stored += 1;
        assert!(stored < 100_000, "1 MiB holds everything");
    };
    assert_eq!(*error.kind(), ErrorKind::Full, "{error:?}");
    assert!(error.hint().contains("--store"));
    assert_eq!(store.load("before").unwrap(), finished("before", 1, 5));
    let loaded = store.load_intervals("growing", 0).unwrap().len() as u64;
    assert!(loaded > 0 && loaded <= stored);

    // Room again: the run goes on where it was, without a gap.
    mount.remount("size=8m");
    append(&mut store, &mut run, 0, stored + 1).unwrap();
    store.finish_run(run, &finished("growing", 1, 5)).unwrap();
    let loaded = store.load_intervals("growing", 0).unwrap();
    assert_eq!(loaded.len() as u64, stored + 2);
    store.check().unwrap();
}

#[test]
fn a_store_that_was_closed_can_be_read_where_no_room_is_left() {
    own_process!();
    let test = "a_store_that_was_closed_can_be_read_where_no_room_is_left";
    let Some(mount) = Mount::new(test, "size=1m") else {
        return;
    };
    let path = mount.at.join("store.db");
    filled(&path);
    let mut ballast = std::fs::File::create(mount.at.join("ballast")).unwrap();
    // A tmpfs counts on each processor apart, and may have a little room again.
    let refused = (0..50).find_map(|_| {
        while ballast.write_all(&[1; 4096]).is_ok() {}
        open(&path).err()
    });
    let error = refused.expect("it is full in the end");
    assert_eq!(*error.kind(), ErrorKind::Full, "{error:?}");
    read_all(&Store::open_read_only(&path).unwrap()).unwrap();
}

#[test]
fn no_store_can_be_made_where_there_is_no_room() {
    own_process!();
    let test = "no_store_can_be_made_where_there_is_no_room";
    let Some(mount) = Mount::new(test, "size=64k") else {
        return;
    };
    std::fs::write(mount.at.join("ballast"), vec![1; 60 << 10]).unwrap();
    let error = open(&mount.at.join("store.db")).unwrap_err();
    assert_eq!(*error.kind(), ErrorKind::Full, "{error:?}");
}

#[test]
fn a_read_only_file_system_can_be_read_and_refuses_writing() {
    own_process!();
    let test = "a_read_only_file_system_can_be_read_and_refuses_writing";
    let Some(mount) = Mount::new(test, "size=4m") else {
        return;
    };
    let path = mount.at.join("a%20store?#.db");
    filled(&path);
    mount.remount("ro");
    let error = open(&path).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReadOnly { .. }),
        "{error:?}"
    );
    assert!(error.hint().contains("--store"));
    let error = open(&mount.at.join("new.db")).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReadOnly { .. }),
        "{error:?}"
    );
    let error = open(&mount.at.join("new/new.db")).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReadOnly { .. }),
        "{error:?}"
    );
    let mut store = Store::open_read_only(&path).unwrap();
    read_all(&store).unwrap();
    let error = store.save_run(&finished("new", 1, 1)).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::ReadOnly { .. }),
        "{error:?}"
    );
    drop(store);
    mount.remount("rw");
}

/// However many intervals wait: a store that accepts none is not retried with all of them
/// repeatedly.
#[test]
fn a_store_that_takes_no_intervals_is_tried_ever_rarer() {
    // More than the store keeps waiting.
    const SECONDS: u64 = 17_000;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.db");
    let mut store = open(&path).unwrap();
    let mut run = store.begin_run(&skeleton("run", 1)).unwrap();
    let behind = rusqlite::Connection::open(&path).unwrap();
    behind.execute_batch("DROP TABLE intervals").unwrap();
    let mut tries = 0;
    for index in 0..SECONDS {
        let interval = Interval {
            start_ns: index * 1_000_000_000,
            duration_ns: 1_000_000_000,
            ..interval(index)
        };
        let none = IntervalHistograms::default();
        let added = store.append_interval(&mut run, 0, &interval, none);
        tries += u64::from(added.is_err());
    }
    // One a minute, and those of the first minutes.
    let most = SECONDS / 60 + 60;
    assert!((10..=most).contains(&tries), "{tries} of {most}");
}
