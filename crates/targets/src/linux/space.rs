//! Free space as the file system reports it, and what depends on sparse files.
//!
//! Free space for ordinary users is `f_bavail`: blocks reserved for root do not count as free.

use super::access::failed;
use super::identity::Status;
pub(super) use crate::space::Space;
use crate::{Error, ErrorKind, FileSystemSize, Result};
use rustix::fs::{FileType, Mode, OFlags};
use std::fs::File;
use stripewise_disk_inspect::storage::Storage;
use stripewise_units::{NameText, format_bytes};

impl Space {
    /// Queries the file system of an open file or directory.
    pub fn of(file: &File, in_memory: bool, size: FileSystemSize, name: &str) -> Result<Space> {
        let found = rustix::fs::fstatvfs(file)
            .map_err(|os| failed(name, "cannot ask for the free space", os.into()))?;
        if found.f_blocks == 0 {
            return Err(Error::new(
                ErrorKind::Unusable,
                name,
                "its file system does not say how much space it has",
            )
            .with_hint("Choose a directory on another file system, or measure an existing file."));
        }
        let limit_bytes = if in_memory {
            memory_available_bytes().unwrap_or(0) / 2
        } else {
            u64::MAX
        };
        Ok(Space {
            total_bytes: size.total_bytes(found.f_blocks.saturating_mul(found.f_frsize)),
            available_bytes: found.f_bavail.saturating_mul(found.f_frsize),
            limit_bytes,
        })
    }
}

/// Writing unallocated blocks takes space as a new file does, under the same rule.
pub(super) fn judge_growth(
    file: &File,
    in_memory: bool,
    growth_bytes: u64,
    size: FileSystemSize,
    name: &str,
    what: &str,
) -> Result<()> {
    if growth_bytes == 0 {
        return Ok(());
    }
    let space = Space::of(file, in_memory, size, name)?;
    if growth_bytes <= space.room_bytes() {
        return Ok(());
    }
    let what = format!(
        "{what}: writing could take {} more of its file system, of which {} are free and at \
         least {} must stay free",
        format_bytes(growth_bytes),
        format_bytes(space.available_bytes),
        format_bytes(space.floor_bytes())
    );
    Err(Error::new(ErrorKind::NoSpace, name, what)
        .with_hint("Use less of it (`<--size>`), free some space, or choose another target."))
}

/// Loop devices over sparse files promise space that the file system below may not have; running
/// out there breaks everything on the device.
pub(super) fn judge_loops_below(
    storage: &Storage,
    bytes: u64,
    size: FileSystemSize,
    name: &str,
) -> Result<()> {
    for layer in storage.layers() {
        let Some(looped) = &layer.looped else {
            continue;
        };
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let Ok(backing) = rustix::fs::open(&looped.backing_file, flags, Mode::empty()) else {
            continue; // Deleted, or in another namespace: nothing is known.
        };
        let backing = File::from(backing);
        let Ok(status) = Status::of(&backing) else {
            continue;
        };
        if status.identity.kind != FileType::RegularFile {
            continue;
        }
        let missing = status.size_bytes.saturating_sub(status.allocated_bytes);
        let what = format!(
            "{} is backed by a sparse file ({})",
            layer.name,
            looped.backing_file.as_text()
        );
        let in_memory = looped.backing_file_system.as_deref() == Some("tmpfs");
        judge_growth(&backing, in_memory, missing.min(bytes), size, name, &what)?;
    }
    Ok(())
}

/// `MemAvailable` of `/proc/meminfo`.
fn memory_available_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib.saturating_mul(1024))
}
