//! Opening the file: ownership, journal, version, recovery.
//!
//! Durability: a commit is in the file system when it returns, so that `kill -9` loses only the
//! intervals not yet written (at most about a second). With the write-ahead log a power cut can
//! lose commits since the last flush (intervals of runs in progress) but never damages the file;
//! beginning and finishing a run flush. On network file systems a rollback journal is used instead
//! (see `location`), where each commit flushes.

use crate::error::{Error, ErrorKind, Result, open_failure_reason};
use crate::location::{Journal, journal_for};
use crate::open_here::{OpenFile, file_at, is_open_here};
use crate::owner::Owner;
use crate::schema::{self, Identity};
use crate::sidecars;
use crate::types::Unreadable;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long [`Store::open`] and later calls wait for another process that is writing.
const PATIENCE: Duration = Duration::from_secs(5);

/// While a store is being created, waiting processes wait this many times longer: twenty programs
/// that start at once all get their turn.
const MAKING_FACTOR: u32 = 6;

/// Pages in the log (4 KiB each) before a checkpoint, which flushes and may take long on a busy
/// disk: rare during a run.
const LOG_PAGES_MAX: i64 = 16_384;

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(crate) connection: Connection,
    pub(crate) path: PathBuf,
    pub(crate) owner: Owner,
    pub(crate) patience: Duration,
    pub(crate) recovered: Vec<String>,
    unrecovered: Vec<Unreadable>,
    /// The open store is lent to a thread: this is only a placeholder.
    is_lent: bool,
    /// Released after the connection.
    file: OpenFile,
}

impl Store {
    /// Opens the store for reading and writing; creates it, and its directory, if missing. Runs
    /// whose process is gone are finished as partial (see [`Store::recovered`]). `owner` is this
    /// process.
    ///
    /// # Errors
    /// Refuses, without changes, files that are foreign or newer than this program;
    /// fails if the file is locked for longer than 5 s, damaged, not writable,
    /// or its file system is full.
    pub fn open(path: &Path, owner: Owner) -> Result<Store> {
        Store::open_with_patience(path, owner, PATIENCE)
    }

    /// As [`Store::open`], with this timeout for other processes, then and later.
    pub fn open_with_patience(path: &Path, owner: Owner, patience: Duration) -> Result<Store> {
        const DOING: &str = "open the file";
        let sqlite = |error| Error::from_sqlite(path, DOING, error);
        refuse_foreign(path, DOING, patience)?;
        sidecars::refuse_orphans(path, DOING)?;
        let directory = make_directory(path)?;
        begin_file(path, DOING)?;
        // Creating the tables takes a moment, and there is no store until then.
        let making = patience.saturating_mul(MAKING_FACTOR);
        let (mut connection, identity) = connect_to_write(path, DOING, making)?;
        identity.check(path, DOING)?;
        if identity.is_new() {
            // Allows returning the space of deleted runs; only possible for a new file.
            connection
                .pragma_update(None, "auto_vacuum", "INCREMENTAL")
                .map_err(sqlite)?;
        }
        if identity.needs_migration() {
            schema::migrate(&mut connection, path)?;
        }
        let mountinfo = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        // SQLite puts its files beside what links lead to; a file may be a mount of its own, too.
        let place = path.canonicalize().unwrap_or(directory);
        let journal = journal_for(&mountinfo, &place);
        let file = OpenFile::at(path);
        set_journal(&connection, journal, making).map_err(sqlite)?;
        connection.busy_timeout(patience).map_err(sqlite)?;
        let mut store = Store {
            file,
            connection,
            path: path.to_owned(),
            owner,
            patience,
            recovered: Vec::new(),
            unrecovered: Vec::new(),
            is_lent: false,
        };
        (store.recovered, store.unrecovered) = store.recover()?;
        Ok(store)
    }

    /// Opens an existing store for reading, even on a read-only file system.
    ///
    /// # Errors
    /// As [`Store::open`]; [`ErrorKind::Missing`] if there is no file.
    pub fn open_read_only(path: &Path) -> Result<Store> {
        const DOING: &str = "read the file";
        let sqlite = |error| Error::from_sqlite(path, DOING, error);
        std::fs::metadata(path).map_err(|error| Error::from_io(path, DOING, &error))?;
        refuse_foreign(path, DOING, PATIENCE)?;
        sidecars::refuse_orphans(path, DOING)?;
        let (connection, identity) = open_for_reading(path).map_err(sqlite)?;
        identity.check(path, DOING)?;
        if identity.is_new() {
            return Err(Error::new(path, DOING, ErrorKind::Missing));
        }
        if identity.needs_migration() {
            let kind = ErrorKind::Other(
                "an older version wrote it; open it for writing once to update it".to_owned(),
            );
            return Err(Error::new(path, DOING, kind));
        }
        let file = OpenFile::at(path);
        Ok(Store {
            file,
            connection,
            path: path.to_owned(),
            owner: Owner::default(),
            patience: PATIENCE,
            recovered: Vec::new(),
            unrecovered: Vec::new(),
            is_lent: false,
        })
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Ids of the runs whose process was found gone when the store was opened, and which were
    /// finished as partial.
    pub fn recovered(&self) -> &[String] {
        &self.recovered
    }

    /// Runs whose process was found gone when the store was opened, and which are too damaged to be
    /// finished.
    pub fn unrecovered(&self) -> &[Unreadable] {
        &self.unrecovered
    }

    /// Reads the whole file and checks its consistency.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] with the first inconsistency.
    pub fn check(&self) -> Result<()> {
        const DOING: &str = "check the file";
        if self.is_lent {
            return Err(self.error(DOING, ErrorKind::NoAnswer));
        }
        let detail: String = self
            .connection
            .query_row("PRAGMA integrity_check(1)", (), |row| row.get(0))
            .map_err(|error| self.sqlite_error(DOING, error))?;
        if detail == "ok" {
            return Ok(());
        }
        Err(self.error(DOING, ErrorKind::Damaged { detail }))
    }

    /// Verifies that writes reach the file with the store's name: not so if it was deleted or
    /// replaced since it was opened.
    ///
    /// # Errors
    /// [`ErrorKind::Displaced`].
    pub(crate) fn check_in_place(&self, doing: &'static str) -> Result<()> {
        // On Windows an open file keeps its name.
        if self.file.0.is_none() || self.file.0 == file_at(&self.path) {
            return Ok(());
        }
        Err(self.error(doing, ErrorKind::Displaced))
    }

    /// Lends the open store to a thread. Until it is returned, all calls on this one fail with
    /// [`ErrorKind::NoAnswer`]: in its place is a database without tables.
    pub(crate) fn lend(&mut self) -> Result<Store> {
        let connection = Connection::open_in_memory()
            .map_err(|error| self.sqlite_error("prepare to write to the file", error))?;
        let stand_in = Store {
            connection,
            path: self.path.clone(),
            owner: self.owner.clone(),
            patience: self.patience,
            recovered: self.recovered.clone(),
            unrecovered: Vec::new(),
            is_lent: true,
            file: OpenFile(None),
        };
        Ok(std::mem::replace(self, stand_in))
    }

    pub(crate) fn sqlite_error(&self, doing: &'static str, error: rusqlite::Error) -> Error {
        if self.is_lent {
            return self.error(doing, ErrorKind::NoAnswer);
        }
        Error::from_sqlite(&self.path, doing, error)
    }

    pub(crate) fn error(&self, doing: &'static str, kind: ErrorKind) -> Error {
        Error::new(&self.path, doing, kind)
    }
}

/// An empty file with the right mode and owner, which SQLite copies to the files that it makes next
/// to it.
fn begin_file(path: &Path, doing: &'static str) -> Result<()> {
    let real = sidecars::behind_links(path);
    if real.exists() {
        return Ok(());
    }
    match crate::create_new(&real) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(Error::from_io(path, doing, &error))
        }
        _ => Ok(()),
    }
}

fn connect_to_write(
    path: &Path,
    doing: &'static str,
    patience: Duration,
) -> Result<(Connection, Identity)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let sqlite = |error| Error::from_sqlite(path, doing, error);
    let mut tries = 2;
    loop {
        tries -= 1;
        let (connection, identity) = connect(path, flags, patience).map_err(sqlite)?;
        // If SQLite cannot open a file for writing, it silently opens it for reading, whatever the
        // reason.
        if !connection.is_readonly("main").map_err(sqlite)? {
            return Ok((connection, identity));
        }
        drop(connection);
        if let Some(kind) = open_failure_reason(path) {
            return Err(Error::new(path, doing, kind));
        }
        if tries == 0 {
            let detail = "SQLite can open it for reading only".to_owned();
            return Err(Error::new(path, doing, ErrorKind::ReadOnly { detail }));
        }
    }
}

/// Examines an existing file without leaving a trace, so that a foreign one is not even given a
/// journal. What cannot be determined here is left to the real open, which checks again before it
/// writes.
fn refuse_foreign(path: &Path, doing: &'static str, patience: Duration) -> Result<()> {
    let foreign = |detail: &str| {
        let detail = detail.to_owned();
        Err(Error::new(path, doing, ErrorKind::Foreign { detail }))
    };
    if is_open_here(path) {
        return Ok(());
    }
    match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => return foreign("a directory"),
        // SQLite would take it for an empty file and overwrite it.
        Ok(metadata) if (1..512).contains(&metadata.len()) => {
            return foreign("too short for a SQLite file");
        }
        // A device has a size of 0 here: SQLite would write its first page over its contents.
        Ok(metadata) if !metadata.is_file() => {
            return foreign("a device, pipe or socket, not a file");
        }
        Ok(metadata) if metadata.len() > 0 => {}
        _ => return Ok(()),
    }
    if has_log(path) {
        // Its last commits, and so its identity, may be in the log.
        return match connect(path, READ_ONLY, Duration::ZERO) {
            Ok((_, identity)) => identity.check(path, doing),
            Err(_) => Ok(()),
        };
    }
    let Ok((_, identity)) = connect_immutable(path) else {
        return Ok(());
    };
    // That check took no lock: a store that another process is creating may be incomplete. Its
    // tables and its mark appear together, and a log only then, so a file with one of those is what
    // it seems to be.
    match identity.check(path, doing) {
        Err(seen) if identity.has_no_mark() && !wants_log(path) => {
            inspect_locked(path, doing, patience, seen)
        }
        certain => certain,
    }
}

/// The file header says that its commits go to a write-ahead log: "file format write version" in
/// SQLite's file format.
fn wants_log(path: &Path) -> bool {
    let mut header = [0; 20];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut header));
    read.is_ok() && header[18] == 2
}

/// Checks again while no process is writing. Reading leaves no trace on a file with a rollback
/// journal.
fn inspect_locked(path: &Path, doing: &'static str, patience: Duration, seen: Error) -> Result<()> {
    match connect(path, READ_ONLY, patience) {
        Ok((_, identity)) => identity.check(path, doing),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
        Err(_) => Err(seen),
    }
}

/// Opens for reading only. SQLite creates an index next to the file even then; if it cannot (no
/// permission or no space) and there is no log, the file alone is complete and SQLite may treat it
/// as immutable.
fn open_for_reading(path: &Path) -> rusqlite::Result<(Connection, Identity)> {
    let ordinary = connect(path, READ_ONLY, PATIENCE);
    match &ordinary {
        Err(error) if lacks_index(error) && !has_log(path) => connect_immutable(path),
        _ => ordinary,
    }
}

fn lacks_index(error: &rusqlite::Error) -> bool {
    let Some(error) = error.sqlite_error() else {
        return false;
    };
    matches!(error.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly)
        || error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE
}

const READ_ONLY: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

fn connect(
    path: &Path,
    flags: OpenFlags,
    patience: Duration,
) -> rusqlite::Result<(Connection, Identity)> {
    let connection = Connection::open_with_flags(path, flags)?;
    prepare(&connection, patience)?;
    let identity = Identity::read(&connection)?;
    Ok((connection, identity))
}

/// Without locks, journal or any other file.
fn connect_immutable(path: &Path) -> rusqlite::Result<(Connection, Identity)> {
    connect(
        Path::new(&immutable_uri(path)),
        READ_ONLY | OpenFlags::SQLITE_OPEN_URI,
        Duration::ZERO,
    )
}

/// Whether commits may be in a write-ahead log.
fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    std::fs::metadata(log).is_ok_and(|log| log.len() > 0)
}

fn immutable_uri(path: &Path) -> String {
    let escaped = path
        .to_string_lossy()
        .replace('%', "%25")
        .replace('?', "%3f")
        .replace('#', "%23");
    format!("file:{escaped}?immutable=1")
}

pub(crate) fn make_directory(path: &Path) -> Result<PathBuf> {
    const DOING: &str = "make the directory";
    let io = |error| Error::from_io(path, DOING, &error);
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    crate::create_directories(parent).map_err(io)?;
    parent.canonicalize().map_err(io)
}

pub(crate) fn prepare(connection: &Connection, patience: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(patience)?;
    connection.set_prepared_statement_cache_capacity(32);
    // Otherwise SQLite prepares many statements again for each bound value, in case another plan is
    // better: three quarters of the time for a list of runs.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // The file may come from anywhere: trust nothing in it that can execute.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)
}

/// Changing the journal mode needs exclusive access and does not wait; another process that is
/// opening the store finishes in a moment.
fn set_journal(
    connection: &Connection,
    journal: Journal,
    patience: Duration,
) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(20);
    let (mode, synchronous) = match journal {
        Journal::WriteAhead => ("WAL", "NORMAL"),
        Journal::Rollback => ("TRUNCATE", "FULL"),
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES_MAX)?;
    let mut tries = patience.as_millis() / PAUSE.as_millis();
    loop {
        // A file system without shared memory keeps the old mode, which suffices.
        match connection.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(())) {
            Err(error)
                if tries > 0 && error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) =>
            {
                tries -= 1;
                std::thread::sleep(PAUSE);
            }
            done => return done,
        }
    }
}
