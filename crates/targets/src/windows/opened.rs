//! An open target: one guard handle, and opening it for workers.

use super::access::{Identity, SHARE_ALL, failed, find, reopen, replaced};
use super::device_name::DeviceName;
use super::device_rules;
use super::make::CreatedFile;
use crate::{Access, Error, ErrorKind, IoFeatures, Result};
use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::path::PathBuf;
use stripewise_units::{NameText, format_bytes};
use stripewise_workload::{CacheMode, Workload};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_NO_BUFFERING, FILE_FLAG_OVERLAPPED, FILE_FLAG_WRITE_THROUGH,
};

/// Holds the guard open: a written file keeps its name through it, and a test file exists only
/// while it is open.
#[derive(Debug)]
pub(crate) struct OpenHandle {
    guard: Guard,
    name: String,
}

/// Never constructed: nothing needs watching.
#[derive(Clone, Debug)]
pub(crate) enum FileWatch {}

impl FileWatch {
    pub(crate) fn is_cut(&self) -> bool {
        match *self {}
    }

    pub(crate) fn changed(&self) -> Option<crate::Changed> {
        match *self {}
    }
}

#[derive(Debug)]
enum Guard {
    File {
        file: File,
        path: PathBuf,
        identity: Identity,
        judged_bytes: u64,
    },
    Device {
        file: File,
        device: DeviceName,
        judged_bytes: u64,
    },
    CreatedFile(CreatedFile),
}

/// Flags for a cache mode: SQL Server uses no buffering and write through, `direct-sync` here.
fn flags(cache: CacheMode) -> u32 {
    match cache {
        CacheMode::Direct => FILE_FLAG_NO_BUFFERING,
        CacheMode::DirectSync => FILE_FLAG_NO_BUFFERING | FILE_FLAG_WRITE_THROUGH,
        // Refused earlier.
        CacheMode::Buffered | CacheMode::Dontcache => 0,
        CacheMode::BufferedSync => FILE_FLAG_WRITE_THROUGH,
    }
}

impl OpenHandle {
    pub(super) fn file(file: File, found: &super::access::FoundPath, name: &str) -> Self {
        OpenHandle {
            guard: Guard::File {
                file,
                path: found.path.clone(),
                identity: found.status.identity,
                judged_bytes: found.status.size_bytes,
            },
            name: name.to_owned(),
        }
    }

    pub(super) fn device(file: File, device: DeviceName, judged_bytes: u64, name: &str) -> Self {
        OpenHandle {
            guard: Guard::Device {
                file,
                device,
                judged_bytes,
            },
            name: name.to_owned(),
        }
    }

    /// No one else can open the file meanwhile, so no one can change it.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(crate) fn watch(&self) -> Option<FileWatch> {
        None
    }

    pub(super) fn made(made: CreatedFile, name: &str) -> Self {
        OpenHandle {
            guard: Guard::CreatedFile(made),
            name: name.to_owned(),
        }
    }

    pub(super) fn guard(&self) -> &File {
        match &self.guard {
            Guard::File { file, .. } | Guard::Device { file, .. } => file,
            Guard::CreatedFile(made) => &made.file,
        }
    }

    /// Windows has no call for it; files opened without buffering do not need one.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(crate) fn drop_cache(&self) {}

    /// Windows does not report atomic writes.
    #[expect(clippy::unused_self, reason = "as on other systems")]
    pub(crate) fn atomic_writes(&self) -> Option<stripewise_results::AtomicWriteFacts> {
        None
    }

    /// Where a file's bytes are on its volume.
    pub(crate) fn placement(&self) -> Option<stripewise_disk_inspect::placement::Placement> {
        stripewise_disk_inspect::placement_of(self.guard())
    }

    /// Opens it for synchronous reading.
    pub(super) fn look(&self, cache: CacheMode) -> Result<File> {
        self.open_with(Access::Read, flags(cache))
    }

    /// Returns an error if a feature that the workload needs is not available.
    pub(crate) fn fits(&self, workload: &Workload) -> Result<()> {
        crate::intent::judge_features(IoFeatures::of([workload]), workload.cache, &self.name)
    }

    /// Opens it for an engine, in a cache mode and for overlapped I/O.
    pub(crate) fn open(&self, cache: CacheMode, access: Access) -> Result<File> {
        if access.writes() {
            self.still_as_judged()?;
        }
        self.open_with(access, flags(cache) | FILE_FLAG_OVERLAPPED)
    }

    /// The same as [`OpenHandle::open`]: operations have no other way here.
    pub(crate) fn open_for_operations(&self, cache: CacheMode, access: Access) -> Result<File> {
        self.open(cache, access)
    }

    fn open_with(&self, access: Access, flags: u32) -> Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(access != Access::Write)
            .write(access.writes())
            .share_mode(SHARE_ALL)
            .custom_flags(flags);
        match &self.guard {
            Guard::File { path, identity, .. } => reopen(path, identity, &options, &self.name),
            Guard::CreatedFile(made) => reopen(&made.path, &made.identity, &options, &self.name),
            Guard::Device {
                device,
                judged_bytes,
                ..
            } => {
                let file = device_rules::open(device, access.writes(), flags, &self.name)?;
                match device_rules::size_of_device(&file, &self.name)? {
                    bytes if bytes == *judged_bytes => Ok(file),
                    _ => Err(replaced(&self.name)),
                }
            }
        }
    }

    /// Refuses to write a file that was truncated or got a second name since it was judged: a grid
    /// opens it for every run, perhaps hours later. Whether another process has opened it meanwhile
    /// cannot be determined here. Devices: see [`device_rules::still_empty`].
    fn still_as_judged(&self) -> Result<()> {
        let (path, identity, judged_bytes) = match &self.guard {
            Guard::File {
                path,
                identity,
                judged_bytes,
                ..
            } => (path, identity, judged_bytes),
            Guard::Device { file, device, .. } => {
                return device_rules::still_empty(file, device, &self.name);
            }
            Guard::CreatedFile(_) => return Ok(()),
        };
        let status = find(path)?.status;
        if status.identity != *identity {
            return Err(replaced(&self.name));
        }
        let what = if status.size_bytes < *judged_bytes {
            format!(
                "was cut from {} to {} since it was judged, and writing would let it grow again",
                format_bytes(*judged_bytes),
                format_bytes(status.size_bytes)
            )
        } else if status.links > 1 {
            "got a second name (hard link) since it was judged".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::Refused, &self.name, what)
            .with_hint("Find out what is using it; run the command again when that is done."))
    }

    pub(crate) fn finish(&mut self) -> Result<()> {
        match &mut self.guard {
            Guard::File { .. } | Guard::Device { .. } => Ok(()),
            Guard::CreatedFile(made) => {
                let name = made.path.as_text();
                made.remove()
                    .map_err(|os| failed(name, "cannot be removed", os))
            }
        }
    }
}
