//! An open target: one guard descriptor, from which all others derive.

use super::access::reopen_for_operations;
use super::device_rules;
use super::file_rules::HINT_OPEN;
use super::identity::{Identity, Status};
use super::io_features;
use super::make::CreatedFile;
use super::passthrough::Passthrough;
use super::users;
use super::watch::FileWatch;
use crate::{Access, Error, ErrorKind, Result};
use rustix::fs::{FileType, OFlags};
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use stripewise_results::AtomicWriteFacts;
use stripewise_workload::{CacheMode, Workload};

/// Holds the guard open: for a device that is written it carries the claim (`O_EXCL`); a test file
/// exists only while it is open.
#[derive(Debug)]
pub(crate) struct OpenHandle {
    guard: Guard,
    identity: Identity,
    name: String,
    /// Operations bypass the guarded block device through this.
    passthrough: Option<Passthrough>,
}

#[derive(Debug)]
enum Guard {
    Existing {
        file: Arc<File>,
        /// For a regular file.
        watch: Option<FileWatch>,
        /// `--busy-ok`: a device whose other users cannot be determined may be written.
        unseen_ok: bool,
    },
    CreatedFile(CreatedFile),
}

impl OpenHandle {
    /// `judged_bytes`: its size when it was judged. `unseen_ok`: a device whose other users cannot
    /// be determined may be written. `discards`: operations of this run free blocks of the file.
    pub(super) fn existing(
        file: File,
        path: PathBuf,
        judged_bytes: u64,
        identity: Identity,
        name: &str,
        unseen_ok: bool,
        discards: bool,
    ) -> Self {
        let file = Arc::new(file);
        let watch = (identity.kind == FileType::RegularFile).then(|| {
            let watched = Arc::clone(&file);
            FileWatch::new(watched, path, identity, judged_bytes, discards)
        });
        OpenHandle {
            guard: Guard::Existing {
                file,
                watch,
                unseen_ok,
            },
            identity,
            name: name.to_owned(),
            passthrough: None,
        }
    }

    /// Routes operations past the guarded device from here on.
    pub(super) fn pass_through(&mut self, way: Passthrough) {
        self.passthrough = Some(way);
    }

    pub(super) fn made(made: CreatedFile, name: &str) -> Self {
        OpenHandle {
            identity: made.identity,
            guard: Guard::CreatedFile(made),
            name: name.to_owned(),
            passthrough: None,
        }
    }

    pub(super) fn file(&self) -> &File {
        match &self.guard {
            Guard::Existing { file, .. } => file,
            Guard::CreatedFile(made) => &made.file,
        }
    }

    /// Where a regular file's bytes are below its file system.
    pub(crate) fn placement(&self) -> Option<stripewise_disk_inspect::placement::Placement> {
        stripewise_disk_inspect::placement_of(self.file())
    }

    /// Atomic write limits, where the kernel reports them.
    pub(crate) fn atomic_writes(&self) -> Option<AtomicWriteFacts> {
        let (smallest, largest) = Status::of(self.file()).ok()?.atomic_write_bytes?;
        Some(AtomicWriteFacts {
            unit_min_bytes: u64::from(smallest),
            unit_max_bytes: u64::from(largest),
        })
    }

    /// Drops its pages from the page cache.
    pub(crate) fn drop_cache(&self) {
        // Advisory: whatever the kernel does changes no byte.
        let _ = rustix::fs::fadvise(self.file(), 0, None, rustix::fs::Advice::DontNeed);
    }

    /// Returns an error if a feature that the workload needs is not available.
    pub(crate) fn fits(&self, workload: &Workload) -> Result<()> {
        if let Some(way) = &self.passthrough {
            way.fits(workload, &self.name)?;
        }
        io_features::fits(self.file(), self.identity, workload, &self.name)?;
        if workload.discards() && self.identity.kind != FileType::BlockDevice {
            let file = self.open(CacheMode::Buffered, Access::Write)?;
            super::discards::try_hole(&file, &self.name)?;
        }
        Ok(())
    }

    /// Opens it again for the operations of a measurement.
    pub(crate) fn open_for_operations(&self, cache: CacheMode, access: Access) -> Result<File> {
        let Some(way) = &self.passthrough else {
            return self.open(cache, access);
        };
        // Identity first, so that a replaced drive is reported as such.
        let file = way.open(self.file(), cache, access, &self.name)?;
        if access.writes() {
            self.still_sole_opener()?;
        }
        Ok(file)
    }

    /// Opens the file or device itself again, in a cache mode.
    pub(crate) fn open(&self, cache: CacheMode, access: Access) -> Result<File> {
        let access_flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Write => OFlags::WRONLY,
            Access::ReadWrite => OFlags::RDWR,
        };
        let cache_flags = match cache {
            CacheMode::Direct => OFlags::DIRECT,
            CacheMode::DirectSync => OFlags::DIRECT | OFlags::DSYNC,
            CacheMode::Buffered | CacheMode::Dontcache => OFlags::empty(),
            CacheMode::BufferedSync => OFlags::DSYNC,
        };
        if access.writes() {
            self.still_sole_opener()?;
        }
        if cache == CacheMode::Dontcache {
            io_features::dontcache(self.file(), &self.name)?;
        }
        let flags = access_flags | cache_flags;
        reopen_for_operations(self.file(), &self.identity, flags, &self.name)
            .map_err(|error| explain_direct(error, cache))
    }

    /// Refuses to write what gained another user since it was judged, or a file that got a second
    /// name or was truncated: a grid opens it for every run, perhaps hours later. A claimed device
    /// is protected from all but those that claim nothing. A lease, which sees users that `/proc`
    /// does not show, cannot be used here because our own descriptors prevent it.
    fn still_sole_opener(&self) -> Result<()> {
        let Guard::Existing {
            file,
            watch,
            unseen_ok,
        } = &self.guard
        else {
            return Ok(());
        };
        if self.identity.kind == FileType::BlockDevice {
            return device_rules::still_free(self.identity.rdevice, &self.name, *unseen_ok);
        }
        let Some(watch) = watch else {
            return Ok(());
        };
        let refuse = |what: String, hint: &str| {
            Err(Error::new(ErrorKind::Refused, &self.name, what).with_hint(hint))
        };
        let status = Status::of(file)
            .map_err(|os| super::access::failed(&self.name, "cannot be examined", os))?;
        if watch.is_cut() {
            return refuse(
                format!(
                    "{} since it was judged, and writing would let it grow again",
                    watch.how_cut()
                ),
                "Find out what is using it; run the command again when that is done.",
            );
        }
        if status.links > 1 {
            return refuse(
                "got a second name (hard link) since it was judged".to_owned(),
                "Find out who linked it; run the command again when that is undone.",
            );
        }
        let wanted = users::wanted_file_and_upper(file, &status);
        if let Some(device) = wanted.iter().flat_map(users::loop_devices).next() {
            return refuse(
                format!("became the backing of /dev/{device} since it was judged"),
                HINT_OPEN,
            );
        }
        // A child of ours between fork and exec is gone at the second check.
        match users::retry_briefly(|| users::openers_of_any(&wanted).refusal()) {
            Some(what) => refuse(format!("{what}, since it was judged"), HINT_OPEN),
            None => Ok(()),
        }
    }

    /// Watches an existing file; `None` for devices and test files.
    pub(crate) fn watch(&self) -> Option<FileWatch> {
        match &self.guard {
            Guard::Existing { watch, .. } => watch.clone(),
            Guard::CreatedFile(_) => None,
        }
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        match &mut self.guard {
            Guard::Existing { .. } => Ok(()),
            Guard::CreatedFile(made) => made.remove(),
        }
    }
}

/// Explains the "invalid argument" of a file system that refuses `O_DIRECT`.
pub(super) fn explain_direct(error: Error, cache: CacheMode) -> Error {
    let refused = error.os_number() == Some(libc::EINVAL);
    if !refused || !matches!(cache, CacheMode::Direct | CacheMode::DirectSync) {
        return error;
    }
    let (mode, instead) = match cache {
        CacheMode::DirectSync => ("direct-sync", "buffered-sync"),
        _ => ("direct", "buffered"),
    };
    Error {
        kind: ErrorKind::Unusable,
        what: format!("its file system refuses direct I/O (`--cache {mode}`)"),
        ..error
    }
    .with_hint(format!(
        "Choose `<--cache> {instead}` and mind the page cache, or a directory on another file system."
    ))
}
