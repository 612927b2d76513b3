//! Facts about a target's data and path, for the trust warnings of `runner`.

use crate::FillPlan;
use std::path::{Component, Path, PathBuf};
use stripewise_disk_inspect::storage::{BlockDevice, FileLayout, FileSystem, Storage};
use stripewise_machine::content::Content;
use stripewise_results::{AtomicWriteFacts, DeviceFacts, FileSystemFacts, TargetFacts, TargetKind};
use stripewise_units::{NameText, format_bytes, format_duration, path_of};

/// Result of a bounded, read-only check of a target's data before the first measurement.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFacts {
    /// Where the bytes are: holes, unwritten, shared or compressed extents. `None` for devices and
    /// where the file system does not report it.
    pub layout: Option<FileLayout>,
    /// What a sample of the bytes looks like: zeros, copies, compressible.
    /// Empty (no blocks) where nothing could be read.
    pub content: Content,
}

/// What another process did to an existing file while it was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Including the verb: `was removed`.
    pub what: String,
    /// It is smaller than it was: operations past its end failed, or made it grow again.
    pub cut: bool,
}

/// Result of filling the test file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FillReport {
    /// Bytes written: the size of the file.
    pub bytes: u64,
    /// Bytes that were planned.
    pub planned_bytes: u64,
    /// Elapsed time including the final sync, on the caller's clock.
    pub duration_ns: u64,
    /// Written with direct I/O.
    pub direct: bool,
    /// Stopped by the time limit.
    pub time_limit_hit: bool,
}

impl FillReport {
    /// Note for a file that came out smaller than planned.
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

/// Progress of a preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FillProgress {
    /// Bytes written.
    pub done_bytes: u64,
    /// Bytes to write.
    pub total_bytes: u64,
}

/// The caller's clock and progress callback while a target is prepared. `targets` itself reads no
/// clock.
pub trait Progress {
    /// Monotonic nanoseconds since any origin.
    fn now_ns(&mut self) -> u64;
    /// Called once before the first byte, at least ten times a second
    /// while filling and once at the end. `Break` stops the preparation
    /// ([`ErrorKind::Interrupted`](crate::ErrorKind::Interrupted)), and what
    /// was made is removed.
    fn report(&mut self, progress: FillProgress) -> std::ops::ControlFlow<()>;

    /// The finished test file is about to get its permanent name. Store it first: a process that is
    /// killed in between leaves an entry without a file, which is dropped later, and never an
    /// unknown file. `Break` as in [`report`](Self::report). Not called where the file cannot be
    /// recognised later.
    fn before_keeping(&mut self, _made: &crate::MadeFile) -> std::ops::ControlFlow<()> {
        std::ops::ControlFlow::Continue(())
    }

    /// The file did not get its name and was removed.
    fn not_retained(&mut self, _made: &crate::MadeFile) {}
}

/// The record's facts, except size and sector, which the caller knows better.
pub(crate) fn target_facts(kind: TargetKind, name: &str, storage: &Storage) -> TargetFacts {
    let nearest = storage.nearest();
    let queue = nearest.map(|device| &device.queue);
    TargetFacts {
        kind,
        name: name.to_owned(),
        path: whole_path(name),
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

/// The absolute form of a relative name; `None` if it is absolute already. Both stored and
/// looked-up names go through it.
pub fn whole_path(name: &str) -> Option<String> {
    let path = path_of(name);
    if path.is_absolute() {
        return None;
    }
    // After a symbolic link, `..` is not the parent in the name.
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let resolved = goes_up.then(|| canonical(&path).ok()).flatten();
    // `/data/.` is `/data`.
    let absolute = || Some(std::path::absolute(&path).ok()?.components().collect());
    let whole: PathBuf = resolved.or_else(absolute)?;
    Some(whole.as_text())
}

/// The canonical path of an existing file, as users write it.
///
/// # Errors
/// If nothing exists under that name.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    path.canonicalize().map(|path| plain(&path))
}

/// A path as users write it, where such a form exists.
pub(crate) fn plain(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(plain_text(text)),
        None => path.to_owned(),
    }
}

/// Windows returns paths in a long form: `\\?\C:\x` is `C:\x`, and `\\?\UNC\server\share\x` is
/// `\\server\share\x`. std itself uses it where a path is too long otherwise.
fn plain_text(text: &str) -> String {
    let Some(rest) = text.strip_prefix(r"\\?\") else {
        return text.to_owned();
    };
    if let Some(share) = rest.strip_prefix(r"UNC\") {
        return format!(r"\\{share}");
    }
    match rest.as_bytes() {
        [letter, b':', b'\\', ..] if letter.is_ascii_alphabetic() => rest.to_owned(),
        _ => text.to_owned(),
    }
}

fn file_system_facts(found: &FileSystem) -> FileSystemFacts {
    FileSystemFacts {
        kind: found.kind.clone(),
        mount_point: found.mount_point.as_text(),
        options: found.options.clone(),
        allocation_unit_bytes: found.allocation_unit_bytes,
        // Known only for the open file.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_people_write_them() {
        let cases = [
            (r"\\?\C:\data\x", r"C:\data\x"),
            (r"\\?\C:\", r"C:\"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            // These have no short form.
            (r"\\?\Volume{1}\x", r"\\?\Volume{1}\x"),
            (r"\\?\C:", r"\\?\C:"),
            (r"\\.\PhysicalDrive1", r"\\.\PhysicalDrive1"),
            (r"C:\data", r"C:\data"),
            ("/data/x", "/data/x"),
        ];
        for (long, short) in cases {
            assert_eq!(plain_text(long), short, "{long}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_relative_name_becomes_the_path_from_any_directory() {
        let here = std::env::current_dir().expect("a directory");
        let inside = here.join("src").as_text();
        for name in ["src", "./src", "src/.", "./src/../src"] {
            assert_eq!(whole_path(name).as_deref(), Some(&*inside), "{name}");
        }
        assert_eq!(whole_path("/data/../x"), None);
        assert_eq!(whole_path("missing"), Some(here.join("missing").as_text()));
        // After a symbolic link, `..` is not the directory that holds the link.
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path().canonicalize().expect("a path");
        std::fs::create_dir_all(place.join("a/b")).expect("made");
        std::os::unix::fs::symlink(place.join("a/b"), place.join("link")).expect("linked");
        let up = "../".repeat(here.components().count() - 1);
        let name = format!("{up}{}/link/..", &place.as_text()[1..]);
        assert_eq!(whole_path(&name), Some(place.join("a").as_text()));
    }
}
