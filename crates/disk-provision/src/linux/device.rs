//! From a path to a block device, once; and to the claim on it.
//!
//! The path is looked at with `O_PATH`, which opens nothing. Every later open
//! goes through `/proc/self/fd/N`, which the kernel resolves to the same inode,
//! and its `st_rdev` is compared all the same.

use super::ioctl;
use crate::disk::Disk;
use crate::layout::Geometry;
use crate::saved::SavedDevice;
use crate::{Destroy, Error, ErrorKind, Result};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind as Os};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use stripewise_disk_inspect::claims::{self, Standing};
use stripewise_disk_inspect::storage::{BlockDevice, BlockDeviceKind};
use stripewise_disk_inspect::{Inspect, System, users};
use stripewise_units::DeviceNumber;
use stripewise_units::NameText;

/// A block device that was found under a path.
pub(super) struct Device {
    /// As the user named it, for messages.
    pub target: String,
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// The kernel's name, as under `/dev`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// What sysfs says of it.
    pub facts: BlockDevice,
    /// `O_PATH`.
    handle: OwnedFd,
}

impl Device {
    /// Resolves a path once.
    pub fn find(path: &Path) -> Result<Device> {
        let target = path.as_text();
        let resolved =
            std::fs::canonicalize(path).map_err(|os| failed(&target, "cannot be found", os))?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, &resolved, flags, Mode::empty())
            .map_err(|os| failed(&target, "cannot be found", os.into()))?;
        let stat = rustix::fs::fstat(&handle)
            .map_err(|os| failed(&target, "cannot look at it", os.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(
                Error::new(ErrorKind::Unusable, &target, "is not a block device").with_hint(
                    "`lsblk` lists them; an image becomes one with `losetup --find --show FILE`.",
                ),
            );
        }
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let unknown = || {
            Error::new(
                ErrorKind::Unusable,
                &target,
                "the kernel does not know this device",
            )
            .with_hint("Look with `lsblk`; /sys must be mounted.")
        };
        let name = claims::kernel_name(number).ok_or_else(unknown)?;
        let facts = System::live().device(number).map_err(|_| unknown())?;
        Ok(Device {
            path: resolved,
            name,
            number,
            facts,
            handle,
            target,
        })
    }

    /// Its size and sectors.
    pub fn geometry(&self) -> Result<Geometry> {
        let file = self.open(OFlags::RDONLY)?;
        let size_bytes = rustix::fs::seek(&file, rustix::fs::SeekFrom::End(0))
            .map_err(|os| failed(&self.target, "cannot ask for its size", os.into()))?;
        if size_bytes == 0 {
            return Err(
                Error::new(ErrorKind::Unusable, &self.target, "has a size of 0 bytes").with_hint(
                    "There is no medium in it, or the loop device is not in use (`losetup -a`).",
                ),
            );
        }
        let logical = self.facts.queue.logical_sector_bytes.unwrap_or(512);
        Ok(Geometry {
            size_bytes,
            logical_sector_bytes: logical,
            physical_sector_bytes: self.facts.queue.physical_sector_bytes.unwrap_or(logical),
        })
    }

    /// What a saved table remembers of it.
    pub fn identity(&self, geometry: &Geometry) -> SavedDevice {
        SavedDevice {
            name: self.name.clone(),
            model: self.facts.model.clone(),
            serial: self.facts.serial.clone(),
            size_bytes: geometry.size_bytes,
            logical_sector_bytes: geometry.logical_sector_bytes,
        }
    }

    /// Whether it is a partition.
    pub fn is_partition(&self) -> bool {
        self.facts.kind == BlockDeviceKind::Partition
    }

    /// Opens the very device that was found.
    pub fn open(&self, flags: OFlags) -> Result<File> {
        let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        let what = if flags.contains(OFlags::RDWR) {
            "cannot be opened for writing"
        } else {
            "cannot be opened for reading"
        };
        let file = rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())
            .map_err(|os| failed(&self.target, what, os.into()))?;
        let stat = rustix::fs::fstat(&file)
            .map_err(|os| failed(&self.target, "cannot look at it", os.into()))?;
        let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
            && DeviceNumber::from_raw(stat.st_rdev) == self.number;
        if is_it {
            Ok(File::from(file))
        } else {
            Err(Error::new(
                ErrorKind::Refused,
                &self.target,
                "is not the device that was judged any more",
            )
            .with_hint("Somebody replaced it; run the command again to see the new plan."))
        }
    }

    /// Who uses it and who may, by every rule.
    pub fn standing(&self, store: Option<&Path>) -> Standing {
        let standing = claims::standing(self.number, store);
        if matches!(standing, Standing::InTheWay(_)) {
            return standing;
        }
        // A claim for a moment; only the kernel knows all that may have one.
        match self.claim(OFlags::RDONLY, store) {
            Ok(_) => standing,
            Err(error) => Standing::InTheWay(
                error
                    .what
                    .strip_prefix(REFUSAL)
                    .map_or_else(|| error.to_string(), str::to_owned),
            ),
        }
    }

    /// Opens it with `O_EXCL`, which the kernel grants only while nobody else has
    /// claimed it, its disk or one of its partitions. Holds as long as the file.
    pub fn claim(&self, access: OFlags, store: Option<&Path>) -> Result<File> {
        let mut claimed = None;
        let refused = users::patiently(|| match self.open(access | OFlags::EXCL) {
            Ok(file) => {
                claimed = Some(file);
                None
            }
            Err(error) => Some(error),
        });
        match (claimed, refused) {
            (Some(file), _) => Ok(file),
            (None, Some(error))
                if error.os.as_ref().map(io::Error::kind) != Some(Os::ResourceBusy) =>
            {
                Err(error)
            }
            _ => {
                let reason = claims::in_the_way(self.number, store)
                    .unwrap_or_else(|| "something in the kernel has claimed it".to_owned());
                Err(self.refusal(&reason))
            }
        }
    }

    /// Judges by every rule, claims it for as long as the file is open, and judges once
    /// more: a loop device or a program that claims nothing may have come in between.
    pub fn claim_to_destroy(&self, destroy: &Destroy<'_>, access: OFlags) -> Result<File> {
        let name = destroy.name;
        if !claims::is_named(name, &self.name) {
            return Err(Error::new(
                ErrorKind::Refused,
                &self.target,
                format!(
                    "`--destroy {name}` does not name this device, which is `{}`",
                    self.name
                ),
            )
            .with_hint(
                "Double-check the device; NAME must be the kernel's name, links do not count.",
            ));
        }
        self.judge(self.standing(destroy.store), destroy)?;
        let file = self.claim(access, destroy.store)?;
        self.judge(claims::standing(self.number, destroy.store), destroy)?;
        Ok(file)
    }

    fn judge(&self, standing: Standing, destroy: &Destroy<'_>) -> Result<()> {
        match standing {
            Standing::Free => Ok(()),
            Standing::Unseen(_) if destroy.busy_ok => Ok(()),
            Standing::InTheWay(reason) => Err(self.refusal(&reason)),
            Standing::Unseen(reason) => Err(Error::new(
                ErrorKind::NeedsBusyOk,
                &self.target,
                format!("{REFUSAL}{reason}"),
            )
            .with_hint(
                "Run it as root and outside of containers, which can see; or give `--busy-ok` \
                 if you know that nobody uses this device.",
            )),
        }
    }

    /// The error for something in the way.
    pub fn refusal(&self, reason: &str) -> Error {
        Error::new(
            ErrorKind::Refused,
            &self.target,
            format!("{REFUSAL}{reason}"),
        )
        .with_hint("Unmount, stop, detach or close that first, if this device is really meant.")
    }
}

/// What is in the way and what cannot be seen, as plans keep it.
pub(super) fn in_the_way_and_unseen(standing: Standing) -> (Option<String>, Option<String>) {
    match standing {
        Standing::Free => (None, None),
        Standing::InTheWay(reason) => (Some(reason), None),
        Standing::Unseen(reason) => (None, Some(reason)),
    }
}

const REFUSAL: &str = "will not be written: ";

/// An open device, through the page cache; what is read after a flush comes from
/// the device.
pub(super) struct OpenDisk {
    pub file: File,
    pub size_bytes: u64,
}

impl Disk for OpenDisk {
    fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    fn read_at(&self, offset_bytes: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset_bytes)
    }

    fn write_at(&mut self, offset_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, offset_bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        // Forgets the page cache; where that is not permitted, the advice does
        // the same for clean pages that nobody else uses.
        if ioctl::flush_buffers(&self.file).is_err() {
            let _ = rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed);
        }
        Ok(())
    }
}

/// An error of the operating system, with its class and a hint by its number.
pub(super) fn failed(target: &str, what: &str, os: io::Error) -> Error {
    let (kind, hint) = match os.kind() {
        Os::NotFound => (
            ErrorKind::NotFound,
            "Check the spelling: `lsblk` lists the devices.",
        ),
        Os::PermissionDenied => (
            ErrorKind::Denied,
            "Run as root: only root may look at and write to disks.",
        ),
        Os::ReadOnlyFilesystem => (
            ErrorKind::Refused,
            "The device is read-only; somebody protected it on purpose.",
        ),
        Os::ResourceBusy => (ErrorKind::Refused, "Somebody else uses it right now."),
        _ => (
            ErrorKind::Io,
            "The device may be failing; see the kernel's log (`dmesg`).",
        ),
    };
    Error::new(kind, target, what).with_hint(hint).with_os(os)
}
