//! Files adjacent to a store that does not exist yet.
//!
//! SQLite takes `X-journal`, `X-wal` and `X-shm` next to an empty or missing `X` for leftovers and
//! removes them, although they may be the user's own files or the log of a database that was moved:
//! with that log its last commits.

use crate::error::{Error, ErrorKind, Result};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most symbolic links followed, about as in SQLite and the kernel.
const LINKS_MAX: u32 = 40;

/// Refuses to create a store if one of these files is not empty.
pub(crate) fn refuse_orphans(path: &Path, doing: &'static str) -> Result<()> {
    let real = behind_links(path);
    let orphan = ["-journal", "-wal", "-shm"]
        .iter()
        .filter(|_| size(&real) == 0)
        .map(|suffix| {
            let mut sidecar = real.clone().into_os_string();
            sidecar.push(suffix);
            PathBuf::from(sidecar)
        })
        .find(|sidecar| size(sidecar) > 0 && !is_store_header(sidecar));
    match orphan {
        // Another process may have created the store in between: checked last.
        Some(sidecar) if size(&real) == 0 => {
            Err(Error::new(path, doing, ErrorKind::Orphan { sidecar }))
        }
        _ => Ok(()),
    }
}

/// SQLite names the adjacent files after the target of links, whether it exists or not.
pub(crate) fn behind_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(to) = std::fs::read_link(&path) else {
            break;
        };
        path = match path.parent() {
            Some(parent) => parent.join(to),
            None => to,
        };
    }
    path
}

/// In bytes; 0 for a missing file.
fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// The journal of the very first transaction, of a process that is creating the store right now or
/// was killed doing so: it says that the file it rolls back to had no pages, and so contains no
/// data.
pub(crate) fn is_store_header(journal: &Path) -> bool {
    if !journal.as_os_str().to_string_lossy().ends_with("-journal") {
        return false;
    }
    let mut header = Vec::new();
    let read = File::open(journal).and_then(|file| file.take(28).read_to_end(&mut header));
    match read {
        Ok(_) => is_header_of_empty(&header),
        // Finished in the meantime.
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    }
}

/// See "The Rollback Journal" of SQLite's file format: magic (zeros until it was flushed), pages in
/// the journal, nonce, pages of the original file, sector, page.
fn is_header_of_empty(header: &[u8]) -> bool {
    const MAGIC: [u8; 8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    let field = |at: usize| {
        let bytes = header.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    let magic = header
        .get(..8)
        .is_some_and(|magic| magic == MAGIC || magic == [0; 8]);
    let is_size =
        |bytes: Option<u32>| bytes.is_some_and(|bytes| bytes >= 32 && bytes.is_power_of_two());
    magic && field(16) == Some(0) && is_size(field(20)) && is_size(field(24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_journal_of_an_empty_file_begins_a_store() {
        let header = |magic: [u8; 8], pages_before: u32, sector: u32| {
            let mut header = magic.to_vec();
            for field in [1, 0x1234_5678, pages_before, sector, 4096] {
                header.extend(u32::to_be_bytes(field));
            }
            header
        };
        let magic = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
        let cases = [
            (header(magic, 0, 512), true, "flushed"),
            (header([0; 8], 0, 512), true, "not yet flushed"),
            (header(magic, 3, 512), false, "of a file with pages"),
            (header(*b"whatever", 0, 512), false, "another magic"),
            (header(magic, 0, 513), false, "no sector"),
            (vec![0; 28], false, "zeros"),
            (header(magic, 0, 512)[..27].to_vec(), false, "cut"),
        ];
        for (header, want, why) in cases {
            assert_eq!(is_header_of_empty(&header), want, "{why}");
        }
    }
}
