//! Extends an existing file: the new part is written in full, as for a test file; existing data
//! stays unchanged. The size is only ever set back to the original one.
//!
//! On any failure the file is truncated to its original size, unless another process has written to
//! it meanwhile: foreign bytes are neither overwritten nor cut off. The platform module judges and
//! opens.

use crate::fill::{WriteAt, write_all};
use crate::space::FILE_UNIT_BYTES;
use crate::{Error, ErrorKind, FillProgress, Intent, Progress, Result};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use stripewise_workload::DataSource;

/// Syncs after this many chunks, so that the end does not have to wait for gigabytes of dirty
/// pages.
const CHUNKS_PER_SYNC: u64 = 16;

/// Parameters for writing the new part.
pub(crate) struct Growth<'a> {
    /// Open for writing, synchronously.
    pub file: &'a File,
    pub name: &'a str,
    pub from_bytes: u64,
    pub to_bytes: u64,
    pub write_at: WriteAt,
    /// Puts an error of the operating system into words.
    pub failed: fn(&str, &str, io::Error) -> Error,
}

impl Growth<'_> {
    fn size(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }

    /// Returns an error if the size is not the one left here: another process is writing.
    fn check_size(&self, expected_bytes: u64) -> Result<()> {
        match self.size() {
            Ok(size) if size == expected_bytes => Ok(()),
            Ok(_) => Err(self.changed()),
            Err(os) => Err((self.failed)(self.name, "cannot be examined", os)),
        }
    }

    fn changed(&self) -> Error {
        Error::new(
            ErrorKind::Refused,
            self.name,
            "was changed by another program while it was being made larger; what that program wrote is left in it",
        )
        .with_hint("Stop what writes to it, check its contents, or name another file.")
    }

    /// Writes the new part and syncs it.
    pub fn run(&self, intent: &Intent, progress: &mut dyn Progress) -> Result<()> {
        self.check_size(self.from_bytes)?;
        let mut last = self.from_bytes..=self.from_bytes;
        let written = self.write(intent, progress, &mut last).and_then(|whole| {
            self.file.sync_all()?;
            Ok(whole)
        });
        let what = match written {
            Ok(true) => return Ok(()),
            Ok(false) => Error::new(
                ErrorKind::Interrupted,
                self.name,
                "stopped while it was being made larger; it is unchanged",
            ),
            Err(os) => (self.failed)(self.name, "cannot be made larger; it is unchanged", os),
        };
        match self.size() {
            Ok(size) if last.contains(&size) => {}
            // Larger or smaller than this process can have made it: another process wrote the end.
            Ok(_) => return Err(self.changed()),
            Err(os) => return Err((self.failed)(self.name, "cannot be examined", os)),
        }
        match self.file.set_len(self.from_bytes) {
            Ok(()) => Err(what),
            Err(os) => Err((self.failed)(
                self.name,
                "was being made larger, and could not be cut back to what it was",
                os,
            )),
        }
    }

    /// Whether all was written: false if the caller stopped it. `last` is the range of the last
    /// chunk that was begun.
    fn write(
        &self,
        intent: &Intent,
        progress: &mut dyn Progress,
        last: &mut RangeInclusive<u64>,
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
                // Another process is writing; the caller examines the end.
                return Err(io::Error::from(io::ErrorKind::ResourceBusy));
            }
            *last = at..=at + length;
            write_all(self.write_at, self.file, chunk, at)?;
            at += length;
            *last = at..=at;
            chunks += 1;
            if chunks.is_multiple_of(CHUNKS_PER_SYNC) {
                self.file.sync_data()?;
            }
        }
    }
}
