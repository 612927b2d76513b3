//! Documents other than runs, each a piece of JSON under a kind and a name: experiments by id,
//! baselines by name, user-supplied facts about a volume. The store does not interpret them; the
//! code for a kind owns its format.

use crate::checksum;
use crate::columns::damaged;
use crate::error::Result;
use crate::open::Store;
use crate::types::Unreadable;
use crate::write::Decision::Commit;
use rusqlite::{Connection, OptionalExtension, params};

/// All of a kind, the newest first.
const OF_KIND: &str = "SELECT name, kept_at, json, crc32, kind FROM documents WHERE kind = ?1 \
     ORDER BY kept_at DESC, name";

/// A stored document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredDocument {
    /// Its name, unique within its kind.
    pub name: String,
    /// RFC 3339, UTC.
    pub stored_at: String,
    /// Its JSON.
    pub json: String,
}

impl Store {
    /// Stores a document, replacing one of the same kind and name. Flushes.
    pub fn store_document(&mut self, kind: &str, document: &StoredDocument) -> Result<()> {
        let crc32 =
            checksum::of_document(kind, &document.name, &document.stored_at, &document.json);
        self.write("keep a document", |transaction, _| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO documents VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![
                        kind,
                        document.name,
                        document.stored_at,
                        document.json,
                        crc32
                    ],
                )
                .map(|_| Commit(()))
        })
    }

    /// The document of this kind and name, if there is one.
    pub fn document(&self, kind: &str, name: &str) -> Result<Option<StoredDocument>> {
        self.connection
            .query_row(
                "SELECT name, kept_at, json, crc32, kind FROM documents WHERE kind = ?1 AND name = ?2",
                (kind, name),
                document_at,
            )
            .optional()
            .map_err(|error| self.sqlite_error("read a document", error))
    }

    /// All documents of a kind, the newest first.
    pub fn documents(&self, kind: &str) -> Result<Vec<StoredDocument>> {
        let mut all = Vec::new();
        self.each_document(kind, &mut |document| all.push(document))?;
        Ok(all)
    }

    /// Passes on all documents of a kind, newest first, one at a time: together they may be large.
    pub fn each_document(&self, kind: &str, see: &mut dyn FnMut(StoredDocument)) -> Result<()> {
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(OF_KIND)?;
            for document in statement.query_map([kind], document_at)? {
                see(document?);
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite_error("list documents", error))
    }

    /// As [`Store::each_document`]; those that are damaged are left out, and come back.
    pub fn each_readable_document(
        &self,
        kind: &str,
        see: &mut dyn FnMut(StoredDocument),
    ) -> Result<Vec<Unreadable>> {
        const DOING: &str = "list documents";
        let mut unreadable = Vec::new();
        let mut read = || -> rusqlite::Result<()> {
            let mut statement = self.connection.prepare(OF_KIND)?;
            let mut rows = statement.query([kind])?;
            while let Some(row) = rows.next()? {
                let name: String = row.get(0)?;
                match document_at(row) {
                    Ok(document) => see(document),
                    Err(error) => unreadable.push(Unreadable {
                        error: self.sqlite_error(DOING, error).of_document(&name),
                        run: name,
                    }),
                }
            }
            Ok(())
        };
        read().map_err(|error| self.sqlite_error(DOING, error))?;
        Ok(unreadable)
    }

    /// The names of all documents of a kind; none of them is read.
    pub fn document_names(&self, kind: &str) -> Result<Vec<String>> {
        let read = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM documents WHERE kind = ?1 ORDER BY name";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([kind], |row| row.get(0))?.collect()
        };
        read().map_err(|error| self.sqlite_error("list documents", error))
    }

    /// Whether there is a document of this kind and name, damaged or not.
    pub fn has_document(&self, kind: &str, name: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM documents WHERE kind = ?1 AND name = ?2)";
        let found = self.connection.prepare_cached(sql);
        found
            .and_then(|mut statement| statement.query_row((kind, name), |row| row.get(0)))
            .map_err(|error| self.sqlite_error("look for a document", error))
    }

    /// Forgets a document; `false` when there was none.
    pub fn forget_document(&mut self, kind: &str, name: &str) -> Result<bool> {
        self.write("forget a document", |transaction, _| {
            let forgotten = transaction.execute(
                "DELETE FROM documents WHERE kind = ?1 AND name = ?2",
                (kind, name),
            )?;
            Ok(Commit(forgotten > 0))
        })
    }
}

/// Forgets documents that are not what was stored; whether there were any.
pub(crate) fn forget_damaged(store: &Connection) -> rusqlite::Result<bool> {
    let sql = "SELECT name, kept_at, json, crc32, kind, rowid FROM documents";
    let mut damaged = Vec::new();
    let mut statement = store.prepare(sql)?;
    let mut rows = statement.query(())?;
    while let Some(row) = rows.next()? {
        if document_at(row).is_err() {
            damaged.push(row.get::<_, i64>(5)?);
        }
    }
    for rowid in &damaged {
        store.execute("DELETE FROM documents WHERE rowid = ?1", [rowid])?;
    }
    Ok(!damaged.is_empty())
}

fn document_at(row: &rusqlite::Row<'_>) -> rusqlite::Result<StoredDocument> {
    let document = StoredDocument {
        name: row.get(0)?,
        stored_at: row.get(1)?,
        json: row.get(2)?,
    };
    let kind: String = row.get(4)?;
    let StoredDocument {
        name,
        stored_at,
        json,
    } = &document;
    match row.get::<_, Option<i64>>(3)? {
        Some(crc32) if crc32 != checksum::of_document(&kind, name, stored_at, json) => Err(
            damaged(2, format!("the {kind} {name} does not match its checksum")),
        ),
        _ => Ok(document),
    }
}
