//! Detects what others do to an existing file while it is measured.
//!
//! Nothing here waits for a server: attributes come from this machine's cache
//! (`AT_STATX_DONT_SYNC`), which for a local file system is complete. Only the name, in
//! [`FileWatch::changed`], may require a lookup.

use super::identity::{Identity, Status};
use crate::Changed;
use rustix::fs::AtFlags;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use stripewise_disk_inspect::layout;
use stripewise_units::format_bytes;

/// Watches one file, on any thread and for any time: it holds the judged descriptor open.
#[derive(Clone, Debug)]
pub(crate) struct FileWatch {
    file: Arc<File>,
    path: PathBuf,
    identity: Identity,
    judged_bytes: u64,
    judged_allocated_bytes: u64,
    /// Nothing done here frees blocks: no discards, and a file system on which a rewrite frees
    /// none.
    keeps_blocks: bool,
    seen: Arc<SizeLoss>,
}

/// Once seen it stays true, though the file may have grown again since.
#[derive(Debug)]
struct SizeLoss {
    cut: AtomicBool,
    smallest_bytes: AtomicU64,
}

impl FileWatch {
    pub(super) fn new(
        file: Arc<File>,
        path: PathBuf,
        identity: Identity,
        judged_bytes: u64,
        discards: bool,
    ) -> Self {
        // Blocks beyond the end do not count: XFS preallocates some for growing files and takes
        // them back by itself. In a sparse file they would mask its holes.
        let holes = || layout(&file).map_or(judged_bytes, |found| found.hole_bytes);
        let judged_allocated_bytes = match Status::of(&file) {
            Ok(found) if found.allocated_bytes >= judged_bytes && holes() == 0 => judged_bytes,
            Ok(found) => (found.allocated_bytes).min(judged_bytes.saturating_sub(holes())),
            Err(_) => 0,
        };
        FileWatch {
            keeps_blocks: !discards && writes_in_place(&file),
            file,
            path,
            identity,
            judged_bytes,
            judged_allocated_bytes,
            seen: Arc::new(SizeLoss {
                cut: AtomicBool::new(false),
                smallest_bytes: AtomicU64::new(judged_bytes),
            }),
        }
    }

    /// Whether the file was truncated since it was judged, as far as that was seen or
    /// can be seen now. Each check also records the smallest size. One system call.
    pub(crate) fn is_cut(&self) -> bool {
        let Ok(status) = Status::as_known(&self.file) else {
            return self.seen.cut.load(Ordering::Relaxed);
        };
        let before = self
            .seen
            .smallest_bytes
            .fetch_min(status.size_bytes, Ordering::Relaxed);
        let smallest = before.min(status.size_bytes);
        // Our own writes past the new end may have restored its length; the freed blocks are still
        // missing until all of them are rewritten.
        let lacks_blocks =
            self.keeps_blocks && status.allocated_bytes < self.judged_allocated_bytes / 8 * 7;
        if smallest < self.judged_bytes || lacks_blocks {
            self.seen.cut.store(true, Ordering::Relaxed);
        }
        self.seen.cut.load(Ordering::Relaxed)
    }

    /// What happened to the file since it was judged.
    pub(crate) fn changed(&self) -> Option<Changed> {
        if self.is_cut() {
            return Some(Changed {
                what: self.how_cut(),
                cut: true,
            });
        }
        let status = Status::as_known(&self.file).ok()?;
        let there = || Status::of_path(&self.path, AtFlags::SYMLINK_NOFOLLOW);
        let what = if status.links == 0 {
            "was removed"
        } else if status.links > 1 {
            "got a second name (hard link)"
        } else if there().is_ok_and(|found| found.identity != self.identity) {
            "was renamed, and another file took its name"
        } else if there().is_err() {
            "was renamed"
        } else {
            return None;
        };
        Some(Changed {
            what: what.to_owned(),
            cut: false,
        })
    }

    /// Including the verb. Between the truncation and the first check, writes may have extended the
    /// file again, so the smallest size seen is an upper bound.
    pub(super) fn how_cut(&self) -> String {
        match self.seen.smallest_bytes.load(Ordering::Relaxed) {
            smallest if smallest >= self.judged_bytes => {
                "was cut, and grew again as it was written".to_owned()
            }
            smallest => {
                let or_less = if smallest > 0 { " or less" } else { "" };
                format!(
                    "was cut from {} to {}{or_less}",
                    format_bytes(self.judged_bytes),
                    format_bytes(smallest)
                )
            }
        }
    }
}

/// A file system on which a rewrite frees no blocks: ext2 to ext4, XFS, tmpfs
/// (`linux/magic.h`). Others compress or write elsewhere.
fn writes_in_place(file: &File) -> bool {
    const MAGIC: [u32; 3] = [0xef53, 0x5846_5342, 0x0102_1994];
    rustix::fs::fstatfs(file)
        // Its width is the platform's; the numbers have 32 bits.
        .is_ok_and(|found| MAGIC.contains(&(found.f_type as u32)))
}
