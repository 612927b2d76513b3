//! Warnings about memory in the path: page cache, in-memory file systems, loop devices, and file
//! systems that accept `O_DIRECT` but cache anyway.

use super::code::Code;
use super::evidence::{Evidence, percent};
use stripewise_disk_inspect::storage::BlockDeviceKind;
use stripewise_results::{Severity, Warning};
use stripewise_units::{NameText, format_bytes};
use stripewise_workload::CacheMode;

/// Growth of the cached part beyond which a run was not direct.
const GROWTH_SHARE_MIN: f64 = 0.01;
const GROWTH_MIN_BYTES: u64 = 1 << 20;

/// Buffered operations.
pub fn page_cache(evidence: &Evidence) -> Option<Warning> {
    if !evidence.is_real() || !evidence.may_end_in_memory() {
        return None;
    }
    let resident = evidence.observed.as_ref().and_then(|observed| {
        let file = observed.files.first()?;
        let cached = file.cached_bytes_after?;
        (file.size_bytes > 0).then(|| {
            format!(
                "; {} of the file were in memory afterwards",
                percent(cached.min(file.size_bytes), file.size_bytes)
            )
        })
    });
    let resident = resident.unwrap_or_default();
    let (message, hint) = match &evidence.direct_refused {
        Some(reason) => (
            format!(
                "operations went through the page cache, as direct I/O is not available here: {reason}{resident}"
            ),
            "measure on a file system that allows direct I/O, or the device below it",
        ),
        None => (
            format!(
                "operations went through the page cache ({}){resident}",
                mode(evidence)
            ),
            "leave out <--cache> for the disk's own number; if the cache is what you want to measure, this \
             number includes it",
        ),
    };
    Some(Code::PageCache.warning(Severity::Warning, message, hint))
}

fn mode(evidence: &Evidence) -> &'static str {
    if evidence.workload.cache == CacheMode::Dontcache {
        "dontcache: what is in it already answers reads, and writes end there"
    } else if evidence.is_synced() {
        "buffered, with syncs"
    } else {
        "buffered"
    }
}

/// tmpfs, ramfs, zram.
pub fn in_memory(evidence: &Evidence) -> Option<Warning> {
    let in_memory = evidence
        .storage
        .as_ref()?
        .file_system
        .as_ref()
        .filter(|file_system| file_system.in_memory);
    if let Some(file_system) = in_memory {
        let message = format!(
            "{} is a {}: the file is in memory, there is no disk",
            file_system.mount_point.as_text(),
            file_system.kind
        );
        let hint =
            "name a directory on the disk that you mean; `df .` shows what a directory is on";
        return Some(Code::InMemory.warning(Severity::Void, message, hint));
    }
    let layers = evidence.storage.as_ref()?.layers();
    let memory = layers
        .iter()
        .find(|device| device.kind == BlockDeviceKind::Memory)?;
    let message = format!("{} is a block device in memory, not a disk", memory.name);
    let hint = "good for measuring the program; name a disk to measure a disk";
    Some(Code::InMemory.warning(Severity::Warning, message, hint))
}

/// A loop device that uses the page cache for its backing file.
pub fn loop_cached(evidence: &Evidence) -> Option<Warning> {
    let device = evidence.storage.as_ref()?.cached_loop()?;
    let looped = device.looped.as_ref()?;
    let message = format!(
        "{} reads and writes {} through the page cache (dio=0): direct I/O ends at the loop device",
        device.name,
        looped.backing_file.as_text()
    );
    let hint = match looped.backing_file_system.as_deref() {
        Some("tmpfs" | "ramfs") => {
            "put the backing file on a disk: a file in memory is nothing but cache".to_owned()
        }
        _ => format!(
            "losetup --direct-io=on /dev/{0}; where that is refused, the loop device's sector is smaller than \
             that of the disk below (losetup --sector-size 4096)",
            device.name
        ),
    };
    Some(Code::LoopCached.warning(Severity::Warning, message, hint))
}

/// btrfs without block alignment, ZFS before 2.3.
pub fn direct_io_cached(evidence: &Evidence) -> Option<Warning> {
    let file_system = evidence.storage.as_ref()?.file_system.as_ref()?;
    if !evidence.is_direct() {
        return None;
    }
    match file_system.kind.as_str() {
        "btrfs" => {
            let unit = file_system.allocation_unit_bytes.filter(|unit| *unit > 0)?;
            let workload = &evidence.workload;
            let off = |bytes: u64| !bytes.is_multiple_of(unit);
            let several = workload.block_sizes.shares().iter();
            let mut sizes = several.map(|share| share.size_bytes);
            if !off(workload.block_size_bytes)
                && !sizes.any(off)
                && !off(workload.base_offset_bytes)
            {
                return None;
            }
            let message = format!(
                "btrfs carries direct I/O through the page cache where offset or size is not a multiple of its \
                 {} block (here {} at offset {})",
                format_bytes(unit),
                format_bytes(workload.block_size_bytes),
                format_bytes(workload.base_offset_bytes)
            );
            let hint = format!(
                "use <--block> and <--base-offset> that are multiples of {}",
                format_bytes(unit)
            );
            Some(Code::DirectIoCached.warning(Severity::Warning, message, hint))
        }
        "zfs" if !zfs_has_direct_io(file_system.driver_version.as_deref()) => {
            let version = file_system
                .driver_version
                .as_deref()
                .unwrap_or("of unknown version");
            let message = format!("ZFS {version} accepts O_DIRECT but still uses its cache (ARC)");
            let hint = "use ZFS 2.3 or later with direct=standard, or a file several times larger than the \
                        ARC (<--size>)";
            Some(Code::DirectIoCached.warning(Severity::Warning, message, hint))
        }
        _ => None,
    }
}

/// `2.2.2-1ubuntu`: `O_DIRECT` is effective from 2.3 on.
fn zfs_has_direct_io(version: Option<&str>) -> bool {
    let mut numbers = version
        .unwrap_or_default()
        .split(['.', '-'])
        .map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= (2, 3),
        _ => false,
    }
}

/// Whatever the reason: a direct run that fills the page cache did not bypass it.
pub fn file_entered_cache(evidence: &Evidence) -> Option<Warning> {
    // In-memory file systems are the page cache.
    let memory = evidence
        .storage
        .as_ref()
        .and_then(|storage| storage.file_system.as_ref())
        .is_some_and(|one| one.in_memory);
    if !evidence.is_direct() || memory {
        return None;
    }
    let moved = evidence.outcome.bytes;
    let grown = evidence.observed.as_ref()?.files.iter().find_map(|file| {
        let grown = file
            .cached_bytes_after?
            .saturating_sub(file.cached_bytes_before?);
        let limit = (GROWTH_SHARE_MIN * file.size_bytes.min(moved) as f64) as u64;
        (file.size_bytes > 0 && grown >= limit.max(GROWTH_MIN_BYTES))
            .then_some((grown, file.size_bytes))
    });
    let (grown, size) = grown?;
    let message = format!(
        "{} of the file ({}) entered the page cache during a direct run: somebody read it there, or the file \
         system does not bypass its cache",
        format_bytes(grown),
        percent(grown, size)
    );
    let hint = "keep backups and scanners away from the file; if it happens again, the file system caches \
                direct I/O: measure the device below, or a file larger than memory";
    Some(Code::FileEnteredCache.warning(Severity::Warning, message, hint))
}
