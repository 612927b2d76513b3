//! Documents that are not runs, each a piece of JSON under a kind and a name:
//! experiments by id, baselines by name, what the user said of a volume. The
//! store does not look into them; who keeps a kind owns its shape.

use crate::error::Result;
use crate::open::Store;
use rusqlite::{OptionalExtension, params};

/// A document as it was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDocument {
    /// Its name, unique in its kind.
    pub name: String,
    /// RFC 3339, UTC.
    pub kept_at: String,
    /// Its JSON.
    pub json: String,
}

impl Store {
    /// Keeps a document; one of the same kind and name is replaced. Flushes.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn keep_document(&mut self, kind: &str, document: &KeptDocument) -> Result<()> {
        self.write("keep a document", |transaction, _| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO documents VALUES (?1, ?2, ?3, ?4)",
                    params![kind, document.name, document.kept_at, document.json],
                )
                .map(drop)
        })
    }

    /// The document of this kind and name, if there is one.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn document(&self, kind: &str, name: &str) -> Result<Option<KeptDocument>> {
        self.connection
            .query_row(
                "SELECT name, kept_at, json FROM documents WHERE kind = ?1 AND name = ?2",
                (kind, name),
                document_at,
            )
            .optional()
            .map_err(|error| self.sqlite_error("read a document", error))
    }

    /// All documents of a kind, the newest first.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn documents(&self, kind: &str) -> Result<Vec<KeptDocument>> {
        let read = || -> rusqlite::Result<Vec<KeptDocument>> {
            let mut statement = self.connection.prepare(
                "SELECT name, kept_at, json FROM documents WHERE kind = ?1 \
                 ORDER BY kept_at DESC, name",
            )?;
            statement.query_map([kind], document_at)?.collect()
        };
        read().map_err(|error| self.sqlite_error("list documents", error))
    }

    /// Forgets a document; `false` when there was none.
    ///
    /// # Errors
    /// The failure of the store.
    pub fn forget_document(&mut self, kind: &str, name: &str) -> Result<bool> {
        self.write("forget a document", |transaction, _| {
            let forgotten = transaction.execute(
                "DELETE FROM documents WHERE kind = ?1 AND name = ?2",
                (kind, name),
            )?;
            Ok(forgotten > 0)
        })
    }
}

fn document_at(row: &rusqlite::Row<'_>) -> rusqlite::Result<KeptDocument> {
    Ok(KeptDocument {
        name: row.get(0)?,
        kept_at: row.get(1)?,
        json: row.get(2)?,
    })
}
