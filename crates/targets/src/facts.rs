//! What was found out about the data and the path of a target, for the trust
//! warnings of `runner`.

use crate::FillPlan;
use stripewise_disk_inspect::storage::{BlockDevice, FileLayout, FileSystem, Storage};
use stripewise_machine::content::Content;
use stripewise_results::{AtomicWriteFacts, DeviceFacts, FileSystemFacts, TargetFacts, TargetKind};
use stripewise_units::{NameText, format_bytes, format_duration};

/// What a bounded, read-only look at the data of a target found before the
/// first measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFacts {
    /// Where the bytes are: holes, extents never written, shared or compressed
    /// ones. `None` for devices and where the file system cannot tell.
    pub layout: Option<FileLayout>,
    /// What a sample of the bytes looks like: zeros, copies, compressible.
    /// Empty (no blocks) where nothing could be read.
    pub content: Content,
}

/// What somebody did to an existing file while it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// With its verb: `was removed`.
    pub what: String,
    /// It is smaller than it was: operations past its end failed, or made it grow again.
    pub cut: bool,
}

/// What happened when the test file was filled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FillReport {
    /// Bytes written: the size of the file.
    pub bytes: u64,
    /// Bytes that were planned.
    pub planned_bytes: u64,
    /// Time it took, with the final sync, on the caller's clock.
    pub duration_ns: u64,
    /// Written past the page cache.
    pub direct: bool,
    /// Stopped by the time limit.
    pub time_limit_hit: bool,
}

impl FillReport {
    /// What must be said of a file that came out smaller than it was planned.
    pub(crate) fn note(&self, plan: &FillPlan) -> Option<String> {
        self.time_limit_hit.then(|| {
            format!(
                "the test file has {} instead of {}: no more could be written in {}.",
                format_bytes(self.bytes),
                format_bytes(plan.bytes),
                format_duration(plan.time_limit_ns.unwrap_or_default())
            )
        })
    }
}

/// How far a preparation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillProgress {
    /// Bytes written.
    pub done_bytes: u64,
    /// Bytes to write.
    pub total_bytes: u64,
}

/// The caller's clock and ear while a target is prepared. `targets` itself reads
/// no clock.
pub trait Progress {
    /// Monotonic nanoseconds since any origin.
    fn now_ns(&mut self) -> u64;
    /// Called once before the first byte, at least ten times a second
    /// while filling and once at the end. `Break` stops the preparation
    /// ([`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted)), and what
    /// was made is removed.
    fn report(&mut self, progress: FillProgress) -> std::ops::ControlFlow<()>;

    /// The finished test file is about to get its lasting name. To be remembered first:
    /// a process that is killed in between leaves an entry without a file, which is
    /// forgotten later, and never a file that nobody knows. `Break` as in
    /// [`report`](Self::report). Not called where the file cannot be recognised later.
    fn about_to_keep(&mut self, _made: &crate::MadeFile) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }

    /// That file did not get its name, and is gone.
    fn not_kept(&mut self, _made: &crate::MadeFile) {}
}

/// The record's facts, but for size and sector, which the caller knows better.
pub(crate) fn target_facts(kind: TargetKind, name: &str, storage: &Storage) -> TargetFacts {
    let nearest = storage.nearest();
    let queue = nearest.map(|device| &device.queue);
    TargetFacts {
        kind,
        name: name.to_owned(),
        path: absolute_if_relative(name),
        size_bytes: 0,
        partition_offset_bytes: storage.offset.as_ref().map(|offset| offset.bytes),
        logical_sector_bytes: queue
            .and_then(|queue| queue.logical_sector_bytes)
            .unwrap_or(512),
        physical_sector_bytes: queue.and_then(|queue| queue.physical_sector_bytes),
        file_system: storage.file_system.as_ref().map(file_system_facts),
        device: nearest.map(device_facts),
        simulation: None,
    }
}

/// Another command runs in another directory, where a relative name is another
/// place or none.
fn absolute_if_relative(name: &str) -> Option<String> {
    let path = std::path::Path::new(name);
    if path.is_absolute() {
        return None;
    }
    // `/data/.` is `/data`.
    let absolute: std::path::PathBuf = std::path::absolute(path).ok()?.components().collect();
    absolute.to_str().map(str::to_owned)
}

fn file_system_facts(found: &FileSystem) -> FileSystemFacts {
    FileSystemFacts {
        kind: found.kind.clone(),
        mount_point: found.mount_point.as_text(),
        options: found.options.clone(),
        allocation_unit_bytes: found.allocation_unit_bytes,
        // Known of the open file alone.
        atomic_writes: None,
    }
}

fn device_facts(found: &BlockDevice) -> DeviceFacts {
    DeviceFacts {
        name: found.name.clone(),
        model: found.model.clone(),
        firmware: found.firmware.clone(),
        rotational: found.spins(),
        scheduler: found.queue.scheduler.clone(),
        nr_requests: found.queue.nr_requests,
        queue_depth: found.queue.queue_depth,
        max_sectors_kib: found.queue.max_sectors_kib,
        write_cache: found.queue.write_cache.clone(),
        atomic_writes: found
            .queue
            .atomic_write_unit_max_bytes
            .map(|unit_max_bytes| AtomicWriteFacts {
                unit_min_bytes: found
                    .queue
                    .atomic_write_unit_min_bytes
                    .unwrap_or(unit_max_bytes),
                unit_max_bytes,
            }),
        loop_direct_io: found.looped.as_ref().and_then(|looped| looped.direct_io),
    }
}
