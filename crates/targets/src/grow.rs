//! Making an existing file larger: the new part is written in full, like a test
//! file; what is there stays as it is. No size is set but the one it had.
//!
//! Whatever goes wrong, the file is cut back to what it was - unless somebody else
//! has written to it meanwhile: their bytes are neither written over nor cut away.
//! Judging and opening are the platform's affair.

use crate::fill::{WriteAt, write_all};
use crate::space::FILE_UNIT_BYTES;
use crate::{Error, ErrorKind, FillProgress, Intent, Progress, Result};
use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use stripewise_workload::DataSource;

/// The disk is waited for this often, so that the end does not have to wait for
/// gigabytes of dirty pages.
const CHUNKS_PER_SYNC: u64 = 16;

/// What the new part is made with.
pub(crate) struct Growth<'a> {
    /// Open for writing; its calls wait.
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

    /// Refuses a file that is not as large as we left it: somebody else writes.
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

    /// Writes the new part and waits for the disk.
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
            // Larger or smaller than we can have made it: the end is somebody else's.
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

    /// Whether all was written: not if the caller stopped it.
    /// `last` is from where to where the last chunk goes that was begun.
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
                // Somebody else writes; what is at the end is looked at by the caller.
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
