//! Warnings about how the file system and the device's cache handle writes.

use super::cache::in_memory;
use super::code::Code;
use super::evidence::Evidence;
use stripewise_disk_inspect::storage::{BlockDevice, FileSystem};
use stripewise_results::{DURABLE_NS_MIN, Severity, Warning};
use stripewise_units::{NameText, format_duration};

fn file_system(evidence: &Evidence) -> Option<&FileSystem> {
    evidence.storage.as_ref()?.file_system.as_ref()
}

/// Rewrites go to new locations.
pub fn copy_on_write(evidence: &Evidence) -> Option<Warning> {
    let file_system = file_system(evidence).filter(|file_system| file_system.copy_on_write)?;
    let kind = &file_system.kind;
    let (severity, what) = if evidence.writes() {
        (
            Severity::Warning,
            "each write goes to a new place and changes metadata with it",
        )
    } else {
        (
            Severity::Note,
            "data that was rewritten at random is scattered over the disk",
        )
    };
    let message = format!(
        "{kind} at {} copies on write: {what}",
        file_system.mount_point.as_text()
    );
    let hint = match kind.as_str() {
        "btrfs" => {
            "a database's directory on btrfs needs `chattr +C` before its files are made; measure the \
                    setup that you will use"
        }
        "zfs" => {
            "set recordsize to the database's page; compression counts too (`zfs get recordsize,compression`)"
        }
        _ => "the number holds for this file system; for the disk's own measure the device",
    };
    Some(Code::CopyOnWrite.warning(severity, message, hint))
}

/// The file system compresses.
pub fn compressed_file_system(evidence: &Evidence) -> Option<Warning> {
    let file_system = file_system(evidence)?;
    let algorithm = file_system.compression.as_deref()?;
    let with = match algorithm {
        "unknown" => String::new(),
        algorithm => format!(" with {algorithm}"),
    };
    let message = format!(
        "{} at {} compresses{with}: the device moves fewer bytes than the program, and the processor works",
        file_system.kind,
        file_system.mount_point.as_text()
    );
    let hint = match file_system.kind.as_str() {
        "btrfs" => "mount without compress, or `chattr +m` the directory before the file is made",
        _ => "switch compression off for this directory, or measure the device below",
    };
    Some(Code::CompressedFileSystem.warning(Severity::Warning, message, hint))
}

/// NFS, SMB, FUSE...
pub fn remote_file_system(evidence: &Evidence) -> Option<Warning> {
    let file_system = file_system(evidence).filter(|file_system| file_system.remote)?;
    let message = format!(
        "{} at {} is served by another machine or a daemon: the number includes the path to it and its caches",
        file_system.kind,
        file_system.mount_point.as_text()
    );
    let hint = "run it on the machine that has the disk to separate the disk from the path to it";
    Some(Code::RemoteFileSystem.warning(Severity::Note, message, hint))
}

/// Unsynchronised writes to a device with a volatile cache.
pub fn volatile_write_cache(evidence: &Evidence) -> Option<Warning> {
    if !evidence.writes() || evidence.is_synced() || !evidence.is_direct() {
        return None;
    }
    let layers = evidence.storage.as_ref()?.layers();
    let device = layers
        .iter()
        .find(|device| device.queue.write_cache.as_deref() == Some("write back"))?;
    let message = format!(
        "{} has a volatile write cache: writes counted as complete may be lost with the power",
        device.name
    );
    let hint = if evidence.quick {
        "the log series writes durably; for other loads `run` has --cache direct-sync and --sync fdatasync"
    } else {
        "for durable writes, as a database's log does them, use <--cache> direct-sync or <--sync> fdatasync"
    };
    Some(Code::VolatileWriteCache.warning(Severity::Warning, message, hint))
}

/// Writes needed for a meaningful median.
const DURABLE_WRITES_MIN: u64 = 1_000;

/// Durable writes too fast for any medium: something on the path acknowledges flushes without
/// passing them on.
pub fn durable_too_fast(evidence: &Evidence) -> Option<Warning> {
    let durable = evidence.workload.is_write_durable();
    // Memory has its own warning; without devices nothing is known about a medium.
    let layers = evidence.storage.as_ref()?.layers();
    if !evidence.writes() || layers.is_empty() || in_memory(evidence).is_some() {
        return None;
    }
    // Devices report that they have no volatile cache, or a power-protected one; persistent memory
    // is just as fast, and reports the processor's cache.
    let protected = |device: &&BlockDevice| {
        let is_written_through = device.queue.write_cache.as_deref() == Some("write through");
        device.below.is_empty() && (is_written_through || device.name.starts_with("pmem"))
    };
    if layers.iter().any(protected) {
        return None;
    }
    // The operation whose end means that data is on the disk. A sync begins once its writes have
    // completed.
    let (what, kind) = match (durable, &evidence.outcome.sync) {
        (true, _) => ("durable writes", &evidence.outcome.write),
        (false, Some(sync)) => ("syncs", sync),
        (false, None) => return None,
    };
    let median_ns = kind.latency_ns.as_ref()?.p50;
    if kind.operations < DURABLE_WRITES_MIN || median_ns >= DURABLE_NS_MIN {
        return None;
    }
    let message = format!(
        "half of the {what} took {} or less, sooner than any medium takes a write: flushes do not reach the disk",
        format_duration(median_ns)
    );
    let hint = "look for a hypervisor or controller that ignores flushes (QEMU: cache=unsafe), or a mount \
                without barriers: what was acknowledged is lost with the power, unless a cache on the way \
                outlives that and does not report it";
    Some(Code::DurableTooFast.warning(Severity::Warning, message, hint))
}
