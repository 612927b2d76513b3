//! Errors of the store, with hints for the next step.
//!
//! An error names the file, the operation, and why it failed; [`Error::hint`] gives the next step
//! on its own line. Except for names with no or several matches ([`Error::is_about_a_name`]), all
//! of these mean that the store could not be used (exit code 5).

use crate::open_here::is_open_here;
use crate::system;
use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};
use stripewise_units::{NameText, advice, format_bytes};

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error("cannot {} {}: {kind}", place(doing), path.as_text())]
pub struct Error {
    path: PathBuf,
    doing: &'static str,
    kind: ErrorKind,
    #[source]
    source: Option<Box<rusqlite::Error>>,
}

/// The operation that failed, before the store's name.
fn place(doing: &str) -> String {
    match doing {
        "open the file" => "open the store".to_owned(),
        "make the directory" => "make the directory of the store".to_owned(),
        "gather runs" => "gather runs in a temporary file in".to_owned(),
        doing => format!("{doing} in the store"),
    }
}

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another process held the store for longer than the timeout.
    #[error("it is locked by {}", .holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// Who has the file open, if visible: `sqlite3 (process 4711)`.
        holder: Option<String>,
    },
    /// SQLite finds the file or its contents inconsistent.
    #[error("the file is damaged ({detail})")]
    Damaged {
        /// The inconsistency.
        detail: String,
    },
    /// One run cannot be read; others can.
    #[error("run {run} is damaged ({detail})")]
    DamagedRun {
        /// Its id, or its number if that is also unreadable.
        run: String,
        /// The inconsistency.
        detail: String,
    },
    /// One document cannot be read; others can.
    #[error("{name} is damaged ({detail})")]
    DamagedDocument {
        /// Its name.
        name: String,
        /// What does not fit.
        detail: String,
    },
    /// The file is not a SQLite file, or another program's.
    #[error("the file is not a store of Stripewise ({detail})")]
    Foreign {
        /// What it is, as far as can be determined.
        detail: String,
    },
    /// A file exists that SQLite would take for the journal or log of the new store, and remove.
    #[error("there is no store yet, but {} is beside it, which SQLite would remove", .sidecar.as_text())]
    Orphan {
        /// That file.
        sidecar: PathBuf,
    },
    /// A later version of this program wrote the file.
    #[error("its schema has version {found}, and this program knows up to {known}")]
    Newer {
        /// The version of the file.
        found: i64,
        /// The latest supported version.
        known: i64,
    },
    /// The file, its directory or its file system is not writable.
    #[error("it cannot be written to ({detail})")]
    ReadOnly {
        /// The system's message.
        detail: String,
    },
    /// Too many open files in this process or the system.
    #[error("{detail}")]
    TooManyOpenFiles {
        /// The system's message.
        detail: String,
    },
    /// I/O error of the disk below the store.
    #[error("reading or writing it failed ({detail})")]
    InputOutput {
        /// The message of the system or SQLite.
        detail: String,
    },
    /// The file size limit of this process is below the store's size, or the size it needs.
    #[error("its files must not grow past {} (`ulimit -f`)", format_bytes(*.limit_bytes))]
    FileSizeLimit {
        /// The largest file size allowed for this process.
        limit_bytes: u64,
    },
    /// The file was deleted or replaced since it was opened: further writes would be lost when it
    /// is closed.
    #[error("the file was deleted or replaced while it was open")]
    Displaced,
    /// The disk hangs, or something else that a thread of this process is waiting for.
    #[error("it does not respond")]
    NoAnswer,
    /// The file system of the store is full.
    #[error("its file system is full")]
    Full,
    /// There is no store yet (read-only access).
    #[error("there is no such file")]
    Missing,
    /// No run, series or file has this name.
    #[error("no run matches `{name}`")]
    NotFound {
        /// The name as given.
        name: String,
    },
    /// Several runs have this prefix.
    #[error("`{name}` may mean any of {}", .matches.join(", "))]
    Ambiguous {
        /// The name as given.
        name: String,
        /// Some of the matching runs.
        matches: Vec<String>,
    },
    /// Invalid call for the run: no such job, an id that is taken.
    #[error("{0}")]
    Misuse(String),
    /// Another failure of the system or SQLite.
    #[error("{0}")]
    Other(String),
}

impl Error {
    pub(crate) fn new(path: &Path, doing: &'static str, kind: ErrorKind) -> Error {
        Error {
            path: path.to_owned(),
            doing,
            kind,
            source: None,
        }
    }

    pub(crate) fn from_io(path: &Path, doing: &'static str, error: &std::io::Error) -> Error {
        Error::new(path, doing, kind_of_io(error))
    }

    pub(crate) fn from_sqlite(path: &Path, doing: &'static str, source: rusqlite::Error) -> Error {
        let detail = source.to_string();
        let kind = match source.sqlite_error() {
            Some(error) => match error.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => ErrorKind::Locked {
                    holder: holder_of(path),
                },
                ErrorCode::DatabaseCorrupt => ErrorKind::Damaged { detail },
                ErrorCode::NotADatabase => ErrorKind::Foreign {
                    detail: "not a SQLite file, or its first page is damaged".to_owned(),
                },
                ErrorCode::ReadOnly | ErrorCode::PermissionDenied => {
                    open_failure_reason(path).unwrap_or(ErrorKind::ReadOnly { detail })
                }
                ErrorCode::CannotOpen => open_failure_reason(path)
                    .or_else(|| sidecar_refusal(path))
                    .unwrap_or(ErrorKind::ReadOnly { detail }),
                ErrorCode::DiskFull => ErrorKind::Full,
                // SQLite extends the index of its log before mapping it, and has no other code for
                // a full file system then.
                _ if error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => ErrorKind::Full,
                // The file is shorter than its header says.
                _ if error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ => {
                    ErrorKind::Damaged { detail }
                }
                ErrorCode::SystemIoFailure => ErrorKind::InputOutput { detail },
                _ => ErrorKind::Other(detail),
            },
            None if matches!(source, rusqlite::Error::ToSqlConversionFailure(_)) => {
                ErrorKind::Misuse(detail)
            }
            // A value of the wrong type in one of the store's own columns.
            None => ErrorKind::Damaged { detail },
        };
        // SQLite reports that as a disk failure.
        let kind = match (kind, limit_reached(path)) {
            (ErrorKind::Full | ErrorKind::InputOutput { .. }, Some(limit_bytes)) => {
                ErrorKind::FileSizeLimit { limit_bytes }
            }
            (kind, _) => kind,
        };
        Error {
            path: path.to_owned(),
            doing,
            kind,
            source: Some(Box::new(source)),
        }
    }

    /// The same, naming the damaged run.
    pub(crate) fn of_run(self, run: &str) -> Error {
        let run = run.to_owned();
        self.where_damaged(|detail| ErrorKind::DamagedRun { run, detail })
    }

    /// The same where only this document is damaged.
    pub(crate) fn of_document(self, name: &str) -> Error {
        let name = name.to_owned();
        self.where_damaged(|detail| ErrorKind::DamagedDocument { name, detail })
    }

    fn where_damaged(mut self, kind: impl FnOnce(String) -> ErrorKind) -> Error {
        if let ErrorKind::Damaged { detail } = &self.kind {
            self.kind = kind(detail.clone());
        }
        self
    }

    /// Why it failed.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The store's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the store works, but a run name given by the user does not match (a usage error,
    /// exit code 2; all others are exit code 5).
    pub fn is_about_a_name(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::NotFound { .. } | ErrorKind::Ambiguous { .. }
        )
    }

    /// The next step.
    pub fn hint(&self) -> String {
        let path = self.path.as_text();
        match &self.kind {
            ErrorKind::Locked { .. } => {
                "let the other process finish or end it, or keep this result elsewhere with `--store FILE`".to_owned()
            }
            ErrorKind::Damaged { .. } => format!(
                "use another store, `--store FILE`; this one is left as it is, and `stripewise history salvage saved.db --store '{}'` saves what can still be read",
                path.replace('\'', "'\\''")
            ),
            ErrorKind::DamagedRun { run, .. } => format!(
                "delete it with `stripewise history delete {run}`, or put a copy of the store from before the damage in its place; other runs are not affected"
            ),
            ErrorKind::DamagedDocument { name, .. } => format!(
                "delete it with `stripewise history delete {name}`, or put a copy of the store from before the damage in its place; other results are not affected"
            ),
            ErrorKind::Foreign { .. } => format!(
                "{path} was not touched; name another file with `--store FILE`"
            ),
            ErrorKind::Orphan { sidecar } => format!(
                "nothing was touched; if the database that {} belongs to was moved, put it back beside it or move that file \
                 away, or name another file with `--store FILE`", sidecar.as_text()
            ),
            ErrorKind::Newer { .. } => {
                "use the newer program that wrote it, or another store with `--store FILE`; the file was not touched".to_owned()
            }
            ErrorKind::ReadOnly { .. } => match system::foreign_owner(&self.path) {
                Some(owner) => format!(
                    "it belongs to {owner}: take it over with `sudo chown \"$USER\" {path}*`, \
                     or name a file of yours with `--store FILE`"
                ),
                None => "check the permissions of the file and its directory, or name a place that can be written to with `--store FILE`".to_owned(),
            },
            ErrorKind::TooManyOpenFiles { .. } => {
                "raise the limit with `ulimit -n`, or close programs that keep many files open".to_owned()
            }
            ErrorKind::InputOutput { .. } => {
                advice(
                    "look for errors of the disk with `dmesg`, and keep results on another one with `--store FILE`",
                    "look for errors of the disk in Event Viewer (Windows Logs, System), and keep results on another one with `--store FILE`",
                )
                .to_owned()
            }
            ErrorKind::FileSizeLimit { .. } => {
                "raise the limit with `ulimit -f unlimited`, and run it again".to_owned()
            }
            ErrorKind::Displaced => format!(
                "save what is printed of this result, since nothing else is left of it; find out what removes {path}, or name a \
                 file elsewhere with `--store FILE`"
            ),
            ErrorKind::NoAnswer => {
                "save what is printed of this result; what had reached the store is kept as a partial run when it is \
                 opened again; look for a disk that hangs with `dmesg`, and keep results on another one with `--store FILE`"
                    .to_owned()
            }
            ErrorKind::Full => {
                "make room there, or name a file on another file system with `--store FILE`".to_owned()
            }
            ErrorKind::Missing => {
                "nothing has been stored there yet: `stripewise bench` or `stripewise run` begins a store; `--store FILE` names another".to_owned()
            }
            ErrorKind::NotFound { .. } => {
                "`stripewise history` lists the runs; an id may be cut short as long as it is unique; `last`, `last~1` count back what was measured here, and `last-run` the single runs; imported results have ids only".to_owned()
            }
            ErrorKind::Ambiguous { .. } => "give more of the id".to_owned(),
            ErrorKind::Misuse(_) | ErrorKind::Other(_) => {
                "if it happens again, use another store: `--store FILE`".to_owned()
            }
        }
    }
}

/// The file size limit of this process, if a file of the store is about that large: failures are
/// then due to it.
fn limit_reached(path: &Path) -> Option<u64> {
    /// SQLite extends the index of its log by this much; everything else by less.
    const NEAR_BYTES: u64 = 32 << 10;
    let limit_bytes = system::file_size_limit()?;
    let is_near = ["", "-wal", "-shm", "-journal"].iter().any(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        std::fs::metadata(name)
            .is_ok_and(|file| file.len().saturating_add(NEAR_BYTES) >= limit_bytes)
    });
    is_near.then_some(limit_bytes)
}

fn kind_of_io(error: &std::io::Error) -> ErrorKind {
    use std::io::ErrorKind as Io;
    let detail = error.to_string();
    match error.kind() {
        _ if system::is_out_of_files(error) => ErrorKind::TooManyOpenFiles { detail },
        Io::FileTooLarge => match system::file_size_limit() {
            Some(limit_bytes) => ErrorKind::FileSizeLimit { limit_bytes },
            None => ErrorKind::Other(detail),
        },
        _ if system::is_disk_failure(error) => ErrorKind::InputOutput { detail },
        Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::ReadOnly { detail },
        Io::StorageFull | Io::QuotaExceeded => ErrorKind::Full,
        Io::NotFound => ErrorKind::Missing,
        _ => ErrorKind::Other(detail),
    }
}

/// SQLite does not report why a file could not be opened (for writing): asks the system. `None` if
/// the system allows it, or there is no such file; also if this process has the store open, as
/// closing the file here would release the locks of the open one.
pub(crate) fn open_failure_reason(path: &Path) -> Option<ErrorKind> {
    if is_open_here(path) {
        return None;
    }
    let error = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .err()?;
    match kind_of_io(&error) {
        ErrorKind::Missing => None,
        kind => Some(kind),
    }
}

/// Why SQLite can open the file but not the other files it needs next to it; `None` if none can be
/// made there.
fn sidecar_refusal(path: &Path) -> Option<ErrorKind> {
    /// The file, its journal or log, the log's index, and a directory that is flushed.
    const FILES: usize = 4;
    if is_open_here(path) {
        return None;
    }
    let parent = path.parent().filter(|parent| *parent != Path::new(""));
    let directory = parent.unwrap_or(Path::new("."));
    let opened: std::io::Result<Vec<std::fs::File>> =
        (0..FILES).map(|_| std::fs::File::open(directory)).collect();
    if let Err(error) = opened
        && system::is_out_of_files(&error)
    {
        return Some(kind_of_io(&error));
    }
    let sidecar = ["-journal", "-wal", "-shm"].iter().find_map(|suffix| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        open_failure_reason(Path::new(&name))
    });
    let unknown = || ErrorKind::Other("a file beside it could not be opened".to_owned());
    sidecar.or_else(|| system::may_write(directory).then(unknown))
}

/// The first other process that has the file open, as far as `/proc` shows it (other users'
/// processes only to root).
fn holder_of(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let own = std::process::id().to_string();
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let name = process.file_name().to_string_lossy().into_owned();
        if name == own || !name.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(descriptors) = std::fs::read_dir(process.path().join("fd")) else {
            continue;
        };
        let holds = descriptors
            .flatten()
            .any(|descriptor| std::fs::read_link(descriptor.path()).is_ok_and(|link| link == path));
        if holds {
            let command = std::fs::read(process.path().join("comm")).unwrap_or_default();
            let command = String::from_utf8_lossy(&command);
            return Some(format!("{} (process {name})", command.trim()));
        }
    }
    None
}
