//! Kept test files.
//!
//! The store's entry is half of the proof that Stripewise made a file; the other half is the
//! extended attribute on the file itself. `targets` compares both on the open descriptor.

use crate::error::Result;
use crate::open::Store;
use crate::types::MadeFile;
use crate::write::Decision::Commit;
use rusqlite::{Row, params};

const COLUMNS: &str =
    "SELECT id, device, inode, birth_ns, path, size_bytes, made_at FROM made_files";

impl Store {
    /// Stores a kept file, replacing one with the same id. Flushes.
    pub fn remember_file(&mut self, file: &MadeFile) -> Result<()> {
        self.write("remember a test file", |transaction, _| {
            transaction
                .execute(
                    "INSERT OR REPLACE INTO made_files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                    params![
                        file.id,
                        file.device.cast_signed(),
                        file.inode.cast_signed(),
                        file.birth_ns,
                        file.path,
                        file.size_bytes.cast_signed(),
                        file.made_at,
                    ],
                )
                .map(|_| Commit(()))
        })
    }

    /// All kept files, by path.
    pub fn files(&self) -> Result<Vec<MadeFile>> {
        let read = || -> rusqlite::Result<Vec<MadeFile>> {
            let mut statement = self
                .connection
                .prepare(&format!("{COLUMNS} ORDER BY path, id"))?;
            let rows = statement.query_map((), file_at)?;
            rows.collect()
        };
        read().map_err(|error| self.sqlite_error("list test files", error))
    }

    /// Deletes the entry of a file; `false` if there was none.
    pub fn forget_file(&mut self, id: &str) -> Result<bool> {
        self.write("forget a test file", |transaction, _| {
            let forgotten = transaction.execute("DELETE FROM made_files WHERE id = ?1", [id])?;
            Ok(Commit(forgotten > 0))
        })
    }
}

fn file_at(row: &Row<'_>) -> rusqlite::Result<MadeFile> {
    Ok(MadeFile {
        id: row.get(0)?,
        device: row.get::<_, i64>(1)?.cast_unsigned(),
        inode: row.get::<_, i64>(2)?.cast_unsigned(),
        birth_ns: row.get(3)?,
        path: row.get(4)?,
        size_bytes: row.get::<_, i64>(5)?.cast_unsigned(),
        made_at: row.get(6)?,
    })
}
