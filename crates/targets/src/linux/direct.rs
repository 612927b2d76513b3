//! Whether a file supports direct I/O, and its alignment.

use super::access::reopen_for_operations;
use super::identity::{Identity, Status};
use crate::Result;
use rustix::fs::{FileType, OFlags};
use std::fs::File;
use std::os::unix::fs::FileExt;

/// Smallest unit that any device addresses.
const SECTOR_BYTES: u32 = 512;

/// Direct I/O support of an open file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Direct {
    /// Unit of offsets and lengths.
    pub sector_bytes: u32,
    /// Why it is not available.
    pub refused: Option<String>,
}

/// Finds out, reading at most one block.
pub(super) fn probe(
    file: &File,
    identity: &Identity,
    name: &str,
    fallback_bytes: u32,
) -> Result<Direct> {
    if identity.kind == FileType::BlockDevice {
        // BLKSSZGET: what the kernel itself enforces.
        let sector = rustix::fs::ioctl_blksszget(file).unwrap_or(fallback_bytes);
        return Ok(Direct {
            sector_bytes: sector.max(SECTOR_BYTES),
            refused: None,
        });
    }
    let refused = |why: &str| Direct {
        sector_bytes: SECTOR_BYTES,
        refused: Some(why.to_owned()),
    };
    let flags = OFlags::RDONLY | OFlags::DIRECT;
    let direct = match reopen_for_operations(file, identity, flags, name) {
        Ok(direct) => direct,
        Err(error) if error.os_number() == Some(libc::EINVAL) => {
            return Ok(refused("its file system refuses O_DIRECT"));
        }
        Err(error) => return Err(error),
    };
    let reported = Status::of(&direct)
        .ok()
        .and_then(|status| status.direct_offset_bytes);
    match reported {
        Some(0) => Ok(refused(
            "the kernel says that direct I/O is not possible on this file",
        )),
        Some(bytes) => Ok(Direct {
            sector_bytes: bytes.max(SECTOR_BYTES),
            refused: None,
        }),
        None => Ok(by_trial(&direct, fallback_bytes)),
    }
}

/// Kernels before 6.1 and some file systems do not report it: the smallest read that succeeds shows
/// it. On btrfs that is 512 bytes although reads not aligned to its blocks come from the page
/// cache; `runner` warns of those.
fn by_trial(direct: &File, fallback_bytes: u32) -> Direct {
    let mut memory = vec![0u8; 2 * 4096];
    let start = memory.as_ptr().align_offset(4096).min(4096);
    let works = |length: u32| {
        let buffer = &mut memory[start..start + length as usize];
        // At an odd sector, so that a coarser unit is noticed; past the end of a small file this
        // reads nothing, which is an answer too.
        direct.read_at(buffer, u64::from(length)).is_ok()
    };
    let sector = [512u32, 1024, 2048, 4096].into_iter().find_map({
        let mut works = works;
        move |length| works(length).then_some(length)
    });
    match sector {
        Some(sector_bytes) => Direct {
            sector_bytes,
            refused: None,
        },
        None => Direct {
            sector_bytes: fallback_bytes.max(SECTOR_BYTES),
            refused: Some("direct reads of every alignment fail".to_owned()),
        },
    }
}
