//! Recovers the readable part of a damaged store into a new store.
//!
//! The damaged file is only read. If its schema pages cannot be read, those of a new store are put
//! in their place, in a copy: stores created by one version have the same layout, so their tables
//! are where those of a new one are. The new store gets its name when it is complete.

use crate::documents;
use crate::error::{Error, ErrorKind, Result};
use crate::open::{Store, make_directory};
use crate::owner::Owner;
use crate::schema::{self, Identity};
use crate::sidecars;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, OpenFlags, params_from_iter};
use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const DOING: &str = "save what can be read";
/// A record that omitted its intervals is read without them if they are lost: their sums would
/// reject the whole record.
const WITHOUT_LOST_INTERVALS: &str = "\
DELETE FROM checksums WHERE (part LIKE 'intervals %' OR part LIKE 'interval latencies %') \
  AND NOT EXISTS (SELECT 1 FROM packed_intervals AS one WHERE one.run_number = checksums.run_number \
       AND part IN ('intervals ' || job_index, 'interval latencies ' || job_index)) \
  AND NOT EXISTS (SELECT 1 FROM intervals AS one WHERE one.run_number = checksums.run_number \
       AND part = 'intervals ' || job_index)";
/// Commits that are not yet in the file, and, on network file systems, what a transaction that
/// was cut short has changed in it: without that the file is half old and half new.
const LOGS: [&str; 2] = ["-wal", "-journal"];
/// A file of SQLite begins with so many bytes that are no part of a table.
const HEADER_BYTES: usize = 100;

/// Result of salvaging a damaged store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Runs recovered.
    pub runs: usize,
    /// Tables that could not be read to the end.
    pub cut_short: Vec<String>,
}

impl Store {
    /// Copies the readable part of a damaged store to a new one at `to`, where no file may exist.
    /// Commits in the log of a store whose tables cannot be read are lost.
    ///
    /// # Errors
    /// If no table can be read, or the new store cannot be created.
    pub fn salvage(from: &Path, to: &Path, owner: Owner) -> Result<Salvaged> {
        let io = |path: &Path, error: std::io::Error| Error::from_io(path, DOING, &error);
        let sqlite = |error| Error::from_sqlite(to, DOING, error);
        if to.symlink_metadata().is_ok() {
            let text = "there is a file of this name".to_owned();
            return Err(Error::new(to, DOING, ErrorKind::Misuse(text)));
        }
        sidecars::refuse_orphans(to, DOING)?;
        std::fs::metadata(from).map_err(|error| io(from, error))?;
        make_directory(to)?;
        let folder = TempDirectory::next_to(to)?;
        let (copy, new) = (folder.0.join("copy.db"), folder.0.join("new.db"));
        copy_with_log(from, &copy).map_err(|error| io(from, error))?;
        let mut store = Store::open(&new, owner)?;
        let move_log = |store: &Store| {
            store
                .connection
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |_| Ok(()))
                .map_err(sqlite)
        };
        let mut old = match readable(&copy) {
            Ok(old) => old,
            Err(_) => {
                for log in LOGS.map(|suffix| with_suffix(&copy, suffix)) {
                    if log.exists() {
                        std::fs::remove_file(&log).map_err(|error| io(&log, error))?;
                    }
                }
                // Its tables are in its log, as for any WAL-mode store.
                move_log(&store)?;
                if !graft(&copy, &new).map_err(|error| io(&copy, error))? {
                    let detail = "neither the list of its tables can be read, nor does that of \
                                  a new store fit";
                    let kind = ErrorKind::Other(detail.to_owned());
                    return Err(Error::new(from, DOING, kind));
                }
                readable(&copy).map_err(|error| Error::from_sqlite(from, DOING, error))?
            }
        };
        // An earlier version that cannot be migrated is read as it is.
        schema::migrate(&mut old, &copy).ok();
        let mut salvaged = Salvaged::default();
        store
            .write_freely(|new| {
                for table in tables(new)? {
                    if !copy_table(&old, new, &table)? {
                        salvaged.cut_short.push(table);
                    }
                }
                for table in tables(new)?.iter().filter(|table| *table != "runs") {
                    // Remains of a run whose row is lost.
                    let has_runs = format!("SELECT run_number FROM {table} LIMIT 0");
                    if new.prepare(&has_runs).is_ok() {
                        new.execute(
                            &format!(
                                "DELETE FROM {table} WHERE run_number NOT IN \
                             (SELECT run_number FROM runs)"
                            ),
                            (),
                        )?;
                    }
                }
                leave_out_damaged_documents(new, &mut salvaged.cut_short)?;
                new.execute_batch(WITHOUT_LOST_INTERVALS)?;
                let runs: u32 = new.query_row("SELECT count(*) FROM runs", (), |row| row.get(0))?;
                salvaged.runs = runs as usize;
                Ok(())
            })
            .map_err(sqlite)?;
        move_log(&store)?;
        drop((old, store));
        give_name(&new, to).map_err(|error| io(to, error))?;
        Ok(salvaged)
    }

    /// One transaction in which rows may precede those that they refer to.
    fn write_freely(
        &mut self,
        body: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "foreign_keys", false)?;
        let transaction = self.connection.transaction()?;
        body(&transaction)?;
        transaction.commit()?;
        self.connection.pragma_update(None, "foreign_keys", true)
    }
}

/// A temporary directory next to the new store, removed at the end with its contents.
struct TempDirectory(PathBuf);

impl TempDirectory {
    fn next_to(to: &Path) -> Result<TempDirectory> {
        let path = with_suffix(to, ".salvage");
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(TempDirectory(path)),
            Err(error) => Err(Error::from_io(&path, DOING, &error)),
        }
    }
}

impl Drop for TempDirectory {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// Gives the complete store its name, never replacing a file.
fn give_name(new: &Path, to: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(new, to) {
        // A file system without hard links.
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            crate::create_new(to)?;
            std::fs::rename(new, to)
        }
        done => done,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn copy_with_log(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::copy(from, to)?;
    // SQLite has its files beside what links lead to.
    let from = sidecars::behind_links(from);
    for suffix in LOGS {
        let log = with_suffix(&from, suffix);
        if log.exists() {
            std::fs::copy(log, with_suffix(to, suffix))?;
        }
    }
    Ok(())
}

/// The copy, if its tables can be determined.
fn readable(copy: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags)?;
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    let identity = Identity::read(&connection)?;
    let known = connection
        .prepare("SELECT run_number FROM runs")
        .map(|_| ());
    known.and(match identity.has_no_mark() {
        true => Err(rusqlite::Error::InvalidQuery),
        false => Ok(()),
    })?;
    Ok(connection)
}

/// Copies the schema pages of a new store into a copy of a damaged one; `false` if they do not
/// match: another version or page size, or tables that begin elsewhere.
fn graft(copy: &Path, new: &Path) -> std::io::Result<bool> {
    /// "The Database Header" in SQLite's file format: page size, reserved bytes per page, schema
    /// version.
    const SAME: [std::ops::Range<usize>; 3] = [16..18, 20..21, 60..64];
    /// Of the second page, the pointer map, for each page from the third on.
    const POINTER_BYTES: usize = 5;
    // It has no rows.
    let new = std::fs::read(new)?;
    let page_bytes = match usize::from(u16::from_be_bytes([new[16], new[17]])) {
        1 => 1 << 16,
        bytes => bytes,
    };
    let mut file = OpenOptions::new().read(true).write(true).open(copy)?;
    let mut begin = Vec::new();
    (&file)
        .take(2 * page_bytes as u64)
        .read_to_end(&mut begin)?;
    let pointers = page_bytes..page_bytes + (new.len() / page_bytes - 2) * POINTER_BYTES;
    let mut same = SAME.into_iter().chain([pointers]);
    if !same.all(|range| begin.get(range.clone()) == new.get(range)) {
        return Ok(false);
    }
    let mut wanted = BTreeSet::from([1]);
    let mut open = vec![1_usize];
    while let Some(page) = open.pop() {
        for child in children(&new, page, page_bytes) {
            if wanted.insert(child) {
                open.push(child);
            }
        }
    }
    for page in wanted {
        let skipped = if page == 1 { HEADER_BYTES } else { 0 };
        let range = (page - 1) * page_bytes + skipped..page * page_bytes;
        file.seek(SeekFrom::Start(range.start as u64))?;
        file.write_all(&new[range])?;
    }
    Ok(true)
}

/// The child pages in a table b-tree ("B-tree pages" in SQLite's file format).
fn children(bytes: &[u8], page: usize, page_bytes: usize) -> Vec<usize> {
    const INTERIOR: u8 = 5;
    let start = (page - 1) * page_bytes;
    let header = start + if page == 1 { HEADER_BYTES } else { 0 };
    let number = |at: usize, length: usize| {
        let digits = bytes.get(at..at + length)?.iter();
        Some(digits.fold(0, |number, byte| number << 8 | usize::from(*byte)))
    };
    if bytes.get(header) != Some(&INTERIOR) {
        return Vec::new();
    }
    let cells = number(header + 3, 2).unwrap_or(0);
    let of_cell = |cell: usize| number(start + number(header + 12 + 2 * cell, 2)?, 4);
    let all = (0..cells).filter_map(of_cell);
    all.chain(number(header + 8, 4))
        .filter(|page| *page > 0)
        .collect()
}

fn tables(new: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = new.prepare(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )?;
    statement.query_map((), |row| row.get(0))?.collect()
}

/// A list of documents fails where one of them is damaged.
fn leave_out_damaged_documents(
    new: &Connection,
    cut_short: &mut Vec<String>,
) -> rusqlite::Result<()> {
    const TABLE: &str = "documents";
    if documents::forget_damaged(new)? && !cut_short.iter().any(|table| table == TABLE) {
        cut_short.push(TABLE.to_owned());
    }
    Ok(())
}

/// Copies the rows of a table from both ends as far as they can be read, and those of its
/// columns that both stores have; whether that is all of them.
fn copy_table(old: &Connection, new: &Connection, table: &str) -> rusqlite::Result<bool> {
    let of = |store: &Connection| -> rusqlite::Result<Vec<String>> {
        store
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))?
            .query_map((), |row| row.get(0))?
            .collect()
    };
    let (known, mut columns) = (of(old)?, of(new)?);
    columns.retain(|name| known.contains(name));
    if columns.is_empty() {
        // An earlier version did not have it.
        return Ok(true);
    }
    let places = vec!["?"; columns.len()].join(", ");
    let names = columns.join(", ");
    let mut insert = new.prepare(&format!(
        "INSERT OR IGNORE INTO {table} ({names}) VALUES ({places})"
    ))?;
    for order in ["ASC", "DESC"] {
        // The order of the table's own b-tree: no index is used.
        let key: Vec<String> = columns
            .iter()
            .take(3)
            .map(|name| format!("{name} {order}"))
            .collect();
        let by = match old.prepare(&format!("SELECT rowid FROM {table}")) {
            Ok(_) => format!("rowid {order}"),
            Err(_) => key.join(", "),
        };
        let Ok(mut select) = old.prepare(&format!(
            "SELECT {names} FROM {table} NOT INDEXED ORDER BY {by}"
        )) else {
            return Ok(false);
        };
        let mut rows = select.query(())?;
        let ended = loop {
            let Ok(row) = rows.next() else { break false };
            let Some(row) = row else { break true };
            let values: rusqlite::Result<Vec<Value>> =
                (0..columns.len()).map(|column| row.get(column)).collect();
            // A value that does not fit its column is damaged.
            if let Ok(values) = values {
                match insert.execute(params_from_iter(values)) {
                    Err(error) if !is_of_the_row(&error) => return Err(error),
                    _ => {}
                }
            }
        };
        if ended {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the row does not fit the table, rather than the new store failing.
fn is_of_the_row(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::RunRecord;

    #[test]
    fn only_rows_that_do_not_fit_are_left_out() {
        let directory = tempfile::tempdir().unwrap();
        let owner = || Owner::of_this_process("here");
        let mut old = Store::open(&directory.path().join("old"), owner()).unwrap();
        let record = RunRecord {
            id: "run".to_owned(),
            label: Some("long ".repeat(10_000)),
            ..RunRecord::empty()
        };
        old.save_run(&record).unwrap();
        let new = Store::open(&directory.path().join("new"), owner()).unwrap();
        let copy = || copy_table(&old.connection, &new.connection, "runs");
        let room = |pages: i64| {
            let set = |_: &rusqlite::Row<'_>| Ok(());
            new.connection
                .pragma_update_and_check(None, "max_page_count", pages, set)
                .unwrap();
        };
        room(1);
        let error = copy().unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(ErrorCode::DiskFull));
        room(1 << 20);
        assert!(copy().unwrap());
        // It exists already.
        assert!(copy().unwrap());
    }
}
