//! Where a file's bytes are: FIEMAP, or SEEK_HOLE where a file system has no FIEMAP.

use crate::placement::{self, Placement};
use crate::storage::FileLayout;
use rustix::fs::SeekFrom;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Extents requested per call.
const BATCH: usize = 256;
/// Most extents examined; a badly fragmented file of terabytes has more.
const EXTENTS_MAX: u64 = 200_000;

/// `_IOWR('f', 11, struct fiemap)`.
const FS_IOC_FIEMAP: u32 = 0xc020_660b;
const LAST: u32 = 0x1;
const UNKNOWN: u32 = 0x2;
const DELAYED: u32 = 0x4;
const ENCODED: u32 = 0x8;
const ENCRYPTED: u32 = 0x80;
const NOT_ALIGNED: u32 = 0x100;
const INLINE: u32 = 0x200;
const TAIL: u32 = 0x400;
const UNWRITTEN: u32 = 0x800;
const SHARED: u32 = 0x2000;

/// Extents with one of these flags have no location yet, or are encoded.
const WITHOUT_A_PLACE: u32 = UNKNOWN | DELAYED | ENCODED | ENCRYPTED | NOT_ALIGNED | INLINE | TAIL;

/// `struct fiemap_extent` of `linux/fiemap.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Extent {
    logical: u64,
    physical: u64,
    length: u64,
    reserved64: [u64; 2],
    flags: u32,
    reserved: [u32; 3],
}

/// `struct fiemap` with room for a batch.
#[repr(C)]
struct Request {
    start: u64,
    length: u64,
    flags: u32,
    mapped_extents: u32,
    extent_count: u32,
    reserved: u32,
    extents: [Extent; BATCH],
}

/// The layout of a regular file; `None` for anything else and where the file system supports
/// neither method.
pub fn layout(file: &File) -> Option<FileLayout> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let layout = FileLayout {
        size_bytes: metadata.len(),
        allocated_bytes: metadata.blocks().saturating_mul(512),
        ..FileLayout::default()
    };
    by_fiemap(file, layout.clone()).or_else(|| by_seeking(file, layout))
}

fn by_fiemap(file: &File, mut layout: FileLayout) -> Option<FileLayout> {
    let mut at: u64 = 0;
    let mut covered: u64 = 0;
    let mut finished = false;
    while !finished && at < layout.size_bytes {
        let batch = extents_from(file, at)?;
        let Some(last) = batch.last() else {
            break;
        };
        finished = last.flags & LAST != 0;
        let next = last.logical.saturating_add(last.length);
        for extent in &batch {
            covered = covered.saturating_add(add(&mut layout, extent));
        }
        // No progress would be a file system bug; avoid looping.
        if next <= at || layout.extents >= EXTENTS_MAX {
            layout.partial = !finished;
            at = at.max(next);
            break;
        }
        at = next;
    }
    let looked_at = if layout.partial {
        at.min(layout.size_bytes)
    } else {
        layout.size_bytes
    };
    layout.hole_bytes = looked_at.saturating_sub(covered);
    Some(layout)
}

/// The extents of a regular file with their locations on the device; `None` for anything else and
/// where the file system has no FIEMAP.
pub fn placement_of(file: &File) -> Option<Placement> {
    let metadata = file.metadata().ok()?;
    if !metadata.is_file() {
        return None;
    }
    let mut placement = Placement::default();
    let mut at: u64 = 0;
    while at < metadata.len() && placement.extents.len() < EXTENTS_MAX as usize {
        let batch = extents_from(file, at)?;
        let Some(last) = batch.last() else {
            break;
        };
        let next = last.logical.saturating_add(last.length);
        let inside = batch.iter().filter(|one| one.logical < metadata.len());
        placement
            .extents
            .extend(inside.map(|one| placement::Extent {
                logical_bytes: one.logical,
                physical_bytes: (one.flags & WITHOUT_A_PLACE == 0).then_some(one.physical),
                length_bytes: one.length.min(metadata.len() - one.logical),
            }));
        if last.flags & LAST != 0 || next <= at {
            placement.complete = last.flags & LAST != 0;
            return Some(placement);
        }
        at = next;
    }
    placement.complete = at >= metadata.len();
    Some(placement)
}

/// Whether this process has a descriptor for this file beyond standard input, output and error.
pub fn is_open_here(path: &Path) -> bool {
    let Ok(file) = std::fs::metadata(path) else {
        return false;
    };
    let descriptors = std::fs::read_dir("/proc/self/fd").into_iter().flatten();
    descriptors.flatten().any(|descriptor| {
        let number = descriptor
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok());
        // Follows the link to the open file, even if it was renamed.
        number.is_some_and(|number: u32| number > 2)
            && std::fs::metadata(descriptor.path())
                .is_ok_and(|open| (open.dev(), open.ino()) == (file.dev(), file.ino()))
    })
}

/// Adds one extent, truncated at the end of the file; returns its bytes within the file.
fn add(layout: &mut FileLayout, extent: &Extent) -> u64 {
    let end = extent.logical.saturating_add(extent.length);
    let inside = end
        .min(layout.size_bytes)
        .saturating_sub(extent.logical.min(layout.size_bytes));
    layout.extents += 1;
    if extent.flags & UNWRITTEN != 0 {
        layout.unwritten_bytes += inside;
    }
    if extent.flags & (ENCODED | ENCRYPTED) != 0 {
        layout.encoded_bytes += inside;
    }
    if extent.flags & SHARED != 0 {
        layout.shared_bytes += inside;
    }
    inside
}

fn extents_from(file: &File, start: u64) -> Option<Vec<Extent>> {
    let mut request = Box::new(Request {
        start,
        length: u64::MAX - start,
        flags: 0,
        mapped_extents: 0,
        extent_count: BATCH as u32,
        reserved: 0,
        extents: [Extent::default(); BATCH],
    });
    // SAFETY: the descriptor is open; the request is a live `struct fiemap` with room for
    // `extent_count` extents after its header, which is all that the kernel writes. The request
    // code encodes the header's size.
    let result = unsafe {
        libc::ioctl(
            file.as_raw_fd(),
            FS_IOC_FIEMAP as libc::Ioctl,
            &raw mut *request,
        )
    };
    let count = usize::try_from(request.mapped_extents).ok()?.min(BATCH);
    (result == 0).then(|| request.extents[..count].to_vec())
}

fn by_seeking(file: &File, mut layout: FileLayout) -> Option<FileLayout> {
    let saved_position = rustix::fs::seek(file, SeekFrom::Current(0)).ok()?;
    let found = data_bytes(file, &mut layout);
    // Restore the caller's position.
    rustix::fs::seek(file, SeekFrom::Start(saved_position)).ok()?;
    let (data, looked_at) = found?;
    layout.hole_bytes = looked_at.saturating_sub(data);
    Some(layout)
}

fn data_bytes(file: &File, layout: &mut FileLayout) -> Option<(u64, u64)> {
    let (mut at, mut data) = (0, 0);
    while at < layout.size_bytes {
        let start = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(start) => start,
            // Only a hole up to the end.
            Err(rustix::io::Errno::NXIO) => break,
            Err(_) => return None,
        };
        let end = rustix::fs::seek(file, SeekFrom::Hole(start)).ok()?;
        if end <= start {
            return None;
        }
        data += end - start;
        at = end;
        layout.extents += 1;
        if layout.extents >= EXTENTS_MAX {
            layout.partial = true;
            return Some((data, at));
        }
    }
    Some((data, layout.size_bytes))
}
