//! What can go wrong with the store, said so that the next step is clear.
//!
//! An error names the file, what was being done, and why it failed; [`Error::hint`]
//! says what to do next and stands on its own line. Apart from names that match
//! nothing or too much ([`Error::is_about_a_name`]), all of these mean that the
//! store could not be used (exit code 5).

use rusqlite::ErrorCode;
use std::path::{Path, PathBuf};

/// Shorthand.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the store.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} in the store {}: {kind}", path.display())]
pub struct Error {
    path: PathBuf,
    doing: &'static str,
    kind: ErrorKind,
    #[source]
    source: Option<Box<rusqlite::Error>>,
}

/// Why it failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Another process held the store for longer than we wait.
    #[error("it is locked by {}", .holder.as_deref().unwrap_or("another process"))]
    Locked {
        /// Who has the file open, where that can be seen: `sqlite3 (process 4711)`.
        holder: Option<String>,
    },
    /// SQLite finds the file, or what it holds, inconsistent.
    #[error("the file is damaged ({detail})")]
    Damaged {
        /// What does not fit.
        detail: String,
    },
    /// The file is not a SQLite file, or another program's.
    #[error("the file is not a store of Stripewise ({detail})")]
    Foreign {
        /// What it is, as far as one can see.
        detail: String,
    },
    /// Where the store would be begun, a file lies that SQLite would take for
    /// the journal or log of the new one, and remove.
    #[error("there is no store yet, but {} lies beside it, which SQLite would remove", .beside.display())]
    Orphan {
        /// That file.
        beside: PathBuf,
    },
    /// A later version of this program wrote the file.
    #[error("its schema has version {found}, and this program knows up to {known}")]
    Newer {
        /// The version of the file.
        found: i64,
        /// The latest one known here.
        known: i64,
    },
    /// The file, its directory or its file system may not be written to.
    #[error("it cannot be written to ({detail})")]
    ReadOnly {
        /// What the system said.
        detail: String,
    },
    /// The file system of the store is full.
    #[error("its file system is full")]
    Full,
    /// There is no store yet (reading only).
    #[error("there is no such file")]
    Missing,
    /// No run, series or file has this name.
    #[error("no run matches `{name}`")]
    NotFound {
        /// The name as it was given.
        name: String,
    },
    /// Several runs begin like this.
    #[error("`{name}` may mean any of {}", .matches.join(", "))]
    Ambiguous {
        /// The name as it was given.
        name: String,
        /// Some of the runs that match.
        matches: Vec<String>,
    },
    /// The call does not fit the run: no such job, an id that is taken.
    #[error("{0}")]
    Misuse(String),
    /// The system or SQLite failed in another way.
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
        use std::io::ErrorKind as Io;
        let kind = match error.kind() {
            Io::PermissionDenied | Io::ReadOnlyFilesystem => ErrorKind::ReadOnly {
                detail: error.to_string(),
            },
            Io::StorageFull | Io::QuotaExceeded => ErrorKind::Full,
            Io::NotFound => ErrorKind::Missing,
            _ => ErrorKind::Other(error.to_string()),
        };
        Error::new(path, doing, kind)
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
                ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                    ErrorKind::ReadOnly { detail }
                }
                ErrorCode::DiskFull => ErrorKind::Full,
                // SQLite extends the index of its log before it maps it, and
                // has no other code for a file system that is full then.
                _ if error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE => ErrorKind::Full,
                // The file ends before what it says it holds.
                _ if error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ => {
                    ErrorKind::Damaged { detail }
                }
                _ => ErrorKind::Other(detail),
            },
            None if matches!(source, rusqlite::Error::ToSqlConversionFailure(_)) => {
                ErrorKind::Misuse(detail)
            }
            // A value of the wrong type in one of our own columns.
            None => ErrorKind::Damaged { detail },
        };
        Error {
            path: path.to_owned(),
            doing,
            kind,
            source: Some(Box::new(source)),
        }
    }

    /// Why it failed.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The store works, but the name of a run given by the user does not fit
    /// (a usage error, exit code 2; all others are exit code 5).
    #[must_use]
    pub fn is_about_a_name(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::NotFound { .. } | ErrorKind::Ambiguous { .. }
        )
    }

    /// What to do next.
    #[must_use]
    pub fn hint(&self) -> String {
        let path = self.path.display();
        match &self.kind {
            ErrorKind::Locked { .. } => {
                "let the other process finish or end it, or keep this result elsewhere with `--store FILE`".to_owned()
            }
            ErrorKind::Damaged { .. } => format!(
                "the file is left as it is; save what can be saved with `sqlite3 {path} .recover | sqlite3 saved.db`, \
                 and go on with another store: `--store FILE`"
            ),
            ErrorKind::Foreign { .. } => format!(
                "{path} was not touched; name another file with `--store FILE`"
            ),
            ErrorKind::Orphan { beside } => format!(
                "nothing was touched; if the database that {} belongs to was moved, put it back beside it or move that file \
                 away, or name another file with `--store FILE`", beside.display()
            ),
            ErrorKind::Newer { .. } => {
                "use the newer program that wrote it, or another store with `--store FILE`; the file was not touched".to_owned()
            }
            ErrorKind::ReadOnly { .. } => {
                "check the permissions of the file and its directory, or name a place that can be written to with `--store FILE`".to_owned()
            }
            ErrorKind::Full => {
                "make room there, or name a file on another file system with `--store FILE`".to_owned()
            }
            ErrorKind::Missing => {
                "nothing has been stored there yet: `stripewise bench` or `stripewise run` begins a store; `--store FILE` names another".to_owned()
            }
            ErrorKind::NotFound { .. } => {
                "`stripewise history` lists the runs; an id may be cut short as long as it is unique, and `last`, `last~1` count from the newest".to_owned()
            }
            ErrorKind::Ambiguous { .. } => "give more of the id".to_owned(),
            ErrorKind::Misuse(_) | ErrorKind::Other(_) => {
                "if it happens again, go on with another store: `--store FILE`".to_owned()
            }
        }
    }
}

/// The first other process that has the file open, as far as `/proc` shows it
/// to us (other users' processes only to root).
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
            let command = std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
            return Some(format!("{} (process {name})", command.trim()));
        }
    }
    None
}
