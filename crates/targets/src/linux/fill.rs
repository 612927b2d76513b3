//! Fills a test file with direct I/O where possible. Space is reserved first, which limits
//! fragmentation and detects a full file system before the first write.

use super::access::{failed, reopen};
use super::make::CreatedFile;
use super::space::Space;
use crate::fill::{self, Stop};
use crate::{FillPlan, FillProgress, FillReport, Intent, Progress, Result};
use rustix::fs::{Advice, FallocateFlags, OFlags};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Writes in flight: enough for a fast SSD at this size, harmless for a slow disk.
const WRITERS: u32 = 8;

/// Parameters of one fill.
pub(super) struct Filling<'a> {
    pub made: &'a CreatedFile,
    pub plan: &'a FillPlan,
    pub intent: &'a Intent,
    pub in_memory: bool,
    pub name: &'a str,
}

impl Filling<'_> {
    /// Fills the file; on an error the caller drops it, which removes the file.
    pub fn run(&self, progress: &mut dyn Progress) -> Result<FillReport> {
        let started_ns = progress.now_ns();
        let step = FillProgress {
            done_bytes: 0,
            total_bytes: self.plan.bytes,
        };
        let mut filling = fill::Filling {
            plan: self.plan,
            intent: self.intent,
            name: self.name,
            writers: WRITERS,
            reserved: false,
            space: &|| self.space(),
            write_at,
            failed: |name, what, os| failed(name, what, os),
        };
        if progress.report(step).is_break() {
            return Err(filling.interrupted());
        }
        filling.reserved = self.reserve().map_err(|os| filling.cannot_fill(0, os))?;
        if self.intent.filled_by_caller {
            let bytes = self.plan.bytes;
            (self.made.file.set_len(bytes))
                .and_then(|()| self.made.file.sync_all())
                .map_err(|os| filling.cannot_fill(0, os))?;
            return Ok(FillReport {
                bytes,
                planned_bytes: bytes,
                duration_ns: progress.now_ns().saturating_sub(started_ns),
                direct: false,
                time_limit_hit: false,
            });
        }
        let direct = reopen(
            &self.made.file,
            &self.made.identity,
            OFlags::WRONLY | OFlags::DIRECT,
            self.name,
        );
        let (mut written, mut stop, mut past_cache) = (0, None, false);
        if let Ok(file) = direct {
            past_cache = true;
            (written, stop) = filling.write(&file, true, started_ns, progress);
        }
        // Some file systems accept the flag and refuse the write.
        let refused = matches!(&stop, Some(Stop::Write { os, .. })
            if os.raw_os_error() == Some(libc::EINVAL));
        if !past_cache || refused {
            past_cache = false;
            (written, stop) = filling.write(&self.made.file, false, started_ns, progress);
        }
        let time_limit_hit = filling.judge(stop)?;
        self.settle(written)
            .map_err(|os| filling.cannot_fill(written, os))?;
        let _ = progress.report(FillProgress {
            done_bytes: written,
            total_bytes: written,
        });
        Ok(FillReport {
            bytes: written,
            planned_bytes: self.plan.bytes,
            duration_ns: progress.now_ns().saturating_sub(started_ns),
            direct: past_cache,
            time_limit_hit,
        })
    }

    fn space(&self) -> Option<Space> {
        let size = self.intent.file_system_size;
        Space::of(&self.made.file, self.in_memory, size, self.name).ok()
    }

    /// Reserves the space; returns whether the file system can. ZFS reports success without
    /// reserving, so free space is watched either way.
    fn reserve(&self) -> io::Result<bool> {
        match reserve(&self.made.file, self.plan.bytes) {
            Ok(()) => Ok(true),
            Err(os) if os.kind() == io::ErrorKind::Unsupported => Ok(false),
            Err(os) => Err(os),
        }
    }

    /// Truncates the test file to what is written, and syncs it.
    fn settle(&self, written: u64) -> io::Result<()> {
        if written < self.plan.bytes {
            self.made.file.set_len(written)?;
        }
        self.made.file.sync_all()?;
        // What went through the page cache must not serve later reads; only advice, and unsupported
        // by some file systems.
        let _ = rustix::fs::fadvise(&self.made.file, 0, None, Advice::DontNeed);
        Ok(())
    }
}

/// Reserves the space of a file.
pub(crate) fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(()),
        Err(os @ (Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL)) => {
            Err(io::Error::new(io::ErrorKind::Unsupported, os))
        }
        Err(os) => Err(os.into()),
    }
}

/// The system's positioned write.
pub(super) fn write_at(file: &File, buffer: &[u8], offset_bytes: u64) -> io::Result<usize> {
    file.write_at(buffer, offset_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fill::write_all;

    #[test]
    fn a_full_disk_is_told_as_such() {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("opens");
        let error = write_all(write_at, &full, &[1; 8192], 0).expect_err("nothing fits");
        assert_eq!(error.raw_os_error(), Some(libc::ENOSPC));
    }

    #[test]
    fn whole_buffers_arrive_at_their_place() {
        let file = tempfile::tempfile().expect("a file");
        write_all(write_at, &file, &[7; 10_000], 5000).expect("room");
        let mut data = vec![0; 15_000];
        file.read_exact_at(&mut data, 0).expect("all there");
        assert!(data[..5000].iter().all(|byte| *byte == 0));
        assert!(data[5000..].iter().all(|byte| *byte == 7));
    }
}
