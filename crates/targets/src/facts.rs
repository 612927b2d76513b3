//! What was found out about the data and the path of a target, for the trust
//! warnings of `runner`.

use crate::FillPlan;
use std::path::{Component, Path, PathBuf};
use stripewise_disk_inspect::storage::{BlockDevice, FileLayout, FileSystem, Storage};
use stripewise_machine::content::Content;
use stripewise_results::{AtomicWriteFacts, DeviceFacts, FileSystemFacts, TargetFacts, TargetKind};
use stripewise_units::{NameText, format_bytes, format_duration, path_of};

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

/// The path by which a relative name is found from any directory; `None` for one that is
/// whole already. What is stored and what is searched for go through it.
#[must_use]
pub fn whole_path(name: &str) -> Option<String> {
    let path = path_of(name);
    if path.is_absolute() {
        return None;
    }
    // Behind a link, `..` is another place than the name before it.
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    let resolved = goes_up.then(|| canonical(&path).ok()).flatten();
    // `/data/.` is `/data`.
    let absolute = || Some(std::path::absolute(&path).ok()?.components().collect());
    let whole: PathBuf = resolved.or_else(absolute)?;
    Some(whole.as_text())
}

/// The canonical path of what is there, as people write it.
///
/// # Errors
/// Where there is nothing of that name.
pub fn canonical(path: &Path) -> std::io::Result<PathBuf> {
    path.canonicalize().map(|path| plain(&path))
}

/// A path as people write it, where it may be.
pub(crate) fn plain(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) => PathBuf::from(plain_text(text)),
        None => path.to_owned(),
    }
}

/// Windows returns paths in a long form: `\\?\C:\x` is `C:\x`, and `\\?\UNC\server\share\x`
/// is `\\server\share\x`. std writes it itself where a path is too long without.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_shown_as_people_write_them() {
        let cases = [
            (r"\\?\C:\data\x", r"C:\data\x"),
            (r"\\?\C:\", r"C:\"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            // These have no other name.
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
        // Behind a link, `..` is not where the link is.
        let place = tempfile::tempdir().expect("a directory");
        let place = place.path().canonicalize().expect("a path");
        std::fs::create_dir_all(place.join("a/b")).expect("made");
        std::os::unix::fs::symlink(place.join("a/b"), place.join("link")).expect("linked");
        let up = "../".repeat(here.components().count() - 1);
        let name = format!("{up}{}/link/..", &place.as_text()[1..]);
        assert_eq!(whole_path(&name), Some(place.join("a").as_text()));
    }
}
