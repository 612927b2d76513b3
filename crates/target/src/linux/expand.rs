//! Makes an existing file larger: the new part is written in full, like a test
//! file; what is there stays as it is. To the rules it is writing: a file that is
//! not ours needs `--overwrite`, and what no flag allows stays forbidden.
//!
//! Whatever goes wrong, the file is cut back to what it was - unless somebody else
//! has written to it meanwhile: their bytes are neither written over nor cut away.

use super::access::{failed, find, reopen, reopen_quietly};
use super::existing::storage_of;
use super::fill::write_all;
use super::identity::Status;
use super::space::{judge_growth, judge_loops_below};
use super::{database, file_rules, mark, surroundings};
use crate::space::FILE_UNIT_BYTES;
use crate::{Error, ErrorKind, FillProgress, Intent, Knowledge, MadeFile, Progress, Result};
use rustix::fs::{Advice, FileType, OFlags};
use std::fs::File;
use std::io;
use std::path::Path;
use stripewise_workload::DataSource;

/// The disk is waited for this often, so that the end does not have to wait for
/// gigabytes of dirty pages.
const CHUNKS_PER_SYNC: u64 = 16;

/// What the new part is made with.
struct Growth<'a> {
    file: &'a File,
    name: &'a str,
    from_bytes: u64,
    to_bytes: u64,
}

pub(crate) fn expand(
    path: &Path,
    to_bytes: u64,
    intent: &Intent,
    knowledge: &Knowledge<'_>,
    progress: &mut dyn Progress,
) -> Result<Option<MadeFile>> {
    let name = &path.display().to_string();
    let found = find(path)?;
    surroundings::refuse_pseudo(&found.handle, &found.path, name)?;
    let identity = found.status.identity;
    if identity.kind != FileType::RegularFile {
        return Err(Error::new(
            ErrorKind::Unusable,
            name,
            "is not a file, so it cannot grow",
        )
        .with_hint("Name a file, or a size that it has."));
    }
    let read = OFlags::RDONLY | OFlags::NONBLOCK;
    let guard = reopen_quietly(&found.handle, &identity, read, name)?;
    file_rules::judge_write(&guard, name, intent, knowledge)?;
    let storage = storage_of(&guard);
    let file_system = storage.file_system.as_ref();
    if !intent.busy_ok {
        let mount_point = file_system.map(|found| found.mount_point.as_path());
        let sign = database::look_at_file(&found.path, mount_point);
        surroundings::refuse_if_busy(name, sign, &storage.devices)?;
    }
    let from_bytes = found.status.size_bytes;
    let by_bytes = to_bytes.saturating_sub(from_bytes);
    let in_memory = file_system.is_some_and(|found| found.in_memory);
    judge_growth(&guard, in_memory, by_bytes, name, "is to grow")?;
    judge_loops_below(&storage, by_bytes, name)?;
    let status = Status::of(&guard).map_err(|os| failed(name, "cannot look at it", os))?;
    let ours = mark::made_by_us(&guard, &status, knowledge);
    drop(guard);
    let file = reopen(&found.handle, &identity, OFlags::WRONLY, name)?;
    let growth = Growth {
        file: &file,
        name,
        from_bytes,
        to_bytes,
    };
    growth.check_size(from_bytes)?;
    growth.run(intent, progress)?;
    // The mark says the size; without a new one the file would be a stranger.
    let Some(id) = ours else {
        return Ok(None);
    };
    mark::rewrite(&file, &id, to_bytes)
        .map_err(|os| failed(name, "has grown, but its mark could not be renewed", os))?;
    let status = Status::of(&file).map_err(|os| failed(name, "cannot look at it", os))?;
    Ok(Some(mark::made_file(&status, &id)))
}

impl Growth<'_> {
    fn size(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Refuses a file that is not as large as we left it: somebody else writes.
    fn check_size(&self, expected_bytes: u64) -> Result<()> {
        match self.size() {
            Ok(size) if size == expected_bytes => Ok(()),
            Ok(_) => Err(self.changed()),
            Err(os) => Err(failed(self.name, "cannot look at it", os)),
        }
    }

    fn changed(&self) -> Error {
        Error::new(
            ErrorKind::Refused,
            self.name,
            "was changed by somebody else while it was to be made larger; what they wrote is left in it",
        )
        .with_hint("Stop what writes to it, look at it, and name a file of your own.")
    }

    fn run(&self, intent: &Intent, progress: &mut dyn Progress) -> Result<()> {
        let mut reached_bytes = self.from_bytes;
        let written = self
            .write(intent, progress, &mut reached_bytes)
            .and_then(|whole| {
                self.file.sync_all()?;
                Ok(whole)
            });
        let what = match written {
            Ok(true) => {
                // Only advice: what was just written must not answer the reads.
                let _ = rustix::fs::fadvise(self.file, 0, None, Advice::DontNeed);
                return Ok(());
            }
            Ok(false) => Error::new(
                ErrorKind::Interrupted,
                self.name,
                "stopped while it was being made larger; it is as it was",
            ),
            Err(os) => failed(self.name, "cannot be made larger; it is as it was", os),
        };
        match self.size() {
            // Larger than we made it: the end is somebody else's.
            Ok(size) if size > reached_bytes => return Err(self.changed()),
            Ok(_) => {}
            Err(os) => return Err(failed(self.name, "cannot look at it", os)),
        }
        match self.file.set_len(self.from_bytes) {
            Ok(()) => Err(what),
            Err(os) => Err(failed(
                self.name,
                "was being made larger, and could not be cut back to what it was",
                os,
            )),
        }
    }

    /// Whether all was written: not if the caller stopped it.
    /// `reached_bytes` is where the last chunk ends that was begun.
    fn write(
        &self,
        intent: &Intent,
        progress: &mut dyn Progress,
        reached_bytes: &mut u64,
    ) -> io::Result<bool> {
        let mut source = DataSource::new(intent.data, intent.seed, DataSource::FILL_THREAD);
        let mut buffer = vec![0_u8; FILE_UNIT_BYTES as usize];
        let mut at = self.from_bytes;
        let mut chunks = 0_u64;
        loop {
            let step = FillProgress {
                done_bytes: at - self.from_bytes,
                total_bytes: self.to_bytes.saturating_sub(self.from_bytes),
            };
            if progress.report(step).is_break() {
                return Ok(false);
            }
            if at >= self.to_bytes {
                return Ok(true);
            }
            let length = (self.to_bytes - at).min(FILE_UNIT_BYTES);
            let chunk = &mut buffer[..length as usize];
            source.fill(at, chunk);
            if self.size()? != at {
                // Somebody else writes; what is at the end is looked at by the caller.
                return Err(io::Error::from(io::ErrorKind::ResourceBusy));
            }
            *reached_bytes = at + length;
            write_all(self.file, chunk, at)?;
            at += length;
            chunks += 1;
            if chunks.is_multiple_of(CHUNKS_PER_SYNC) {
                self.file.sync_data()?;
            }
        }
    }
}
