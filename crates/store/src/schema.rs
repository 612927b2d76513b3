//! The schema and its migrations.
//!
//! Migrations are append-only: entry n migrates a file from `user_version` n to n + 1, and is never
//! edited once released. A file written by each version is kept in `tests/fixtures/` and opened by
//! a test forever.

use crate::error::{Error, ErrorKind, Result};
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;

/// `application_id` of Stripewise's files: the letters `STRW`.
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"STRW");

/// The schema version that this program writes.
pub const USER_VERSION: i64 = MIGRATIONS.len() as i64;

const MIGRATIONS: [&str; 7] = [
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
    include_str!("schema/v7.sql"),
];

/// Identification of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    application_id: i32,
    user_version: i64,
    objects: i64,
}

impl Identity {
    /// Read in one transaction: another process may be creating the store.
    pub(crate) fn read(connection: &Connection) -> rusqlite::Result<Identity> {
        let moment = connection.unchecked_transaction()?;
        let identity = Identity::read_inside(&moment)?;
        moment.finish()?;
        Ok(identity)
    }

    fn read_inside(connection: &Connection) -> rusqlite::Result<Identity> {
        Ok(Identity {
            application_id: connection.query_row("PRAGMA application_id", (), |row| row.get(0))?,
            user_version: connection.query_row("PRAGMA user_version", (), |row| row.get(0))?,
            objects: connection
                .query_row("SELECT count(*) FROM sqlite_schema", (), |row| row.get(0))?,
        })
    }

    /// Whether nothing has been written to the file yet.
    pub(crate) fn is_new(self) -> bool {
        self.application_id == 0 && self.user_version == 0 && self.objects == 0
    }

    /// Refuses files that are foreign or newer than this program. New files pass.
    pub(crate) fn check(self, path: &Path, doing: &'static str) -> Result<()> {
        let kind = if self.is_new() {
            return Ok(());
        } else if self.application_id != APPLICATION_ID {
            ErrorKind::Foreign {
                detail: format!(
                    "a SQLite file of another program, application id {:#010x}",
                    self.application_id
                ),
            }
        } else if self.user_version > USER_VERSION {
            ErrorKind::Newer {
                found: self.user_version,
                known: USER_VERSION,
            }
        } else if self.user_version < 1 {
            ErrorKind::Damaged {
                detail: format!("schema version {}", self.user_version),
            }
        } else {
            return Ok(());
        };
        Err(Error::new(path, doing, kind))
    }

    /// Whether no program has set its mark: also true of a file just being created.
    pub(crate) fn has_no_mark(self) -> bool {
        self.application_id == 0
    }

    pub(crate) fn needs_migration(self) -> bool {
        self.user_version < USER_VERSION
    }
}

/// Migrates the file to [`USER_VERSION`], all steps in one transaction. Safe against another
/// process doing the same concurrently.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<()> {
    const DOING: &str = "make the tables";
    let sqlite = |error| Error::from_sqlite(path, DOING, error);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(sqlite)?;
    // Only now is no one else writing: check again.
    let identity = Identity::read_inside(&transaction).map_err(sqlite)?;
    identity.check(path, DOING)?;
    if !identity.needs_migration() {
        return Ok(());
    }
    let from = usize::try_from(identity.user_version).unwrap_or(0);
    for step in &MIGRATIONS[from..] {
        transaction.execute_batch(step).map_err(sqlite)?;
    }
    transaction
        .pragma_update(None, "application_id", APPLICATION_ID)
        .map_err(sqlite)?;
    transaction
        .pragma_update(None, "user_version", USER_VERSION)
        .map_err(sqlite)?;
    transaction.commit().map_err(sqlite)
}
