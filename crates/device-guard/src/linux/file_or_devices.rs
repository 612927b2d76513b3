//! The file to check, or the device with its relatives; compared by numbers, as device nodes and
//! files have any number of names.

use super::generic;
use rustix::fs::{AtFlags, FileType, StatxFlags};
use rustix::io::Errno;
use std::path::Path;
use stripewise_disk_inspect::storage::BlockDeviceKind;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::DeviceNumber;

/// The kernel's name of a device, as under `/dev`: `sda1`, `loop3`, `cciss/c0d0`.
pub fn kernel_name(number: DeviceNumber) -> Option<String> {
    let link = std::fs::canonicalize(format!("/sys/dev/block/{number}")).ok()?;
    let name = link.file_name()?.to_str()?;
    Some(name.replace('!', "/"))
}

/// What to check: one file, or a device with its relatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileOrDevices {
    /// A file, identified by `stat`.
    File {
        /// `st_dev`.
        device: DeviceNumber,
        /// `st_ino`.
        inode: u64,
    },
    /// A disk and its partitions, or a partition and its disk: writing to one
    /// changes the other. Device nodes have any number of names.
    Devices {
        /// Block devices.
        blocks: Vec<DeviceNumber>,
        /// Character devices that bypass them (`/dev/ng0n1`).
        characters: Vec<DeviceNumber>,
    },
}

impl FileOrDevices {
    /// A device with its relatives.
    pub fn device(system: &System, number: DeviceNumber) -> FileOrDevices {
        let mut family = vec![number];
        family.extend(system.partitions(number).iter().map(|found| found.number));
        if let Ok(device) = system.device(number)
            && device.kind == BlockDeviceKind::Partition
        {
            family.extend(device.below.iter().map(|disk| disk.number));
        }
        let mut characters: Vec<DeviceNumber> = (family.iter())
            .flat_map(|block| generic::characters_of(Path::new("/sys"), *block))
            .collect();
        characters.sort_unstable();
        characters.dedup();
        FileOrDevices::Devices {
            blocks: family,
            characters,
        }
    }

    /// Whether it is a device.
    pub(super) fn is_device(&self) -> bool {
        matches!(self, FileOrDevices::Devices { .. })
    }

    /// Whether it is the file with these numbers.
    pub(super) fn is_file(&self, on: DeviceNumber, number: u64) -> bool {
        matches!(self, FileOrDevices::File { device, inode } if (*device, *inode) == (on, number))
    }

    /// The kernel's names of the block devices.
    pub(super) fn kernel_names(&self) -> Vec<String> {
        match self {
            FileOrDevices::File { .. } => Vec::new(),
            FileOrDevices::Devices { blocks, .. } => {
                let names = blocks.iter().map(|number| kernel_name(*number));
                names.flatten().collect()
            }
        }
    }

    /// Whether a path leads to it.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.compare(path).unwrap_or(false)
    }

    /// Whether a path leads to it. Does not wait for an unreachable server.
    pub(super) fn compare(&self, path: &Path) -> Result<bool, Errno> {
        let flags = AtFlags::STATX_DONT_SYNC;
        let found = rustix::fs::statx(rustix::fs::CWD, path, flags, StatxFlags::BASIC_STATS)?;
        let number = |major, minor| DeviceNumber { major, minor };
        Ok(match self {
            FileOrDevices::File { .. } => {
                let on = number(found.stx_dev_major, found.stx_dev_minor);
                self.is_file(on, found.stx_ino)
            }
            FileOrDevices::Devices { blocks, characters } => {
                let is = number(found.stx_rdev_major, found.stx_rdev_minor);
                match FileType::from_raw_mode(found.stx_mode.into()) {
                    FileType::BlockDevice => blocks.contains(&is),
                    FileType::CharacterDevice => characters.contains(&is),
                    _ => false,
                }
            }
        })
    }

    /// Whether a name that the kernel shows for a use by `process` (its folder in `/proc`) leads to
    /// it, for us or for that process. If no file has the name, because it was deleted or is only
    /// the last part of a path, it matches if it is one of the kernel's `names` of the devices. For
    /// files this is `No`: the kernel's lease decides.
    pub(super) fn match_of_name(&self, process: &Path, path: &Path, names: &[String]) -> Match {
        const DELETED: &str = " (deleted)";
        let name = path.as_os_str().as_encoded_bytes();
        let deleted = name.ends_with(DELETED.as_bytes());
        let relative = path.strip_prefix("/").ok();
        if let (Some(relative), false) = (relative, deleted) {
            let theirs = process.join("root").join(relative);
            let found = [self.compare(path), self.compare(&theirs)];
            if found.contains(&Ok(true)) {
                return Match::Yes;
            }
            if found.iter().any(Result::is_ok) {
                return Match::No;
            }
        }
        // `socket:[77]`, `<none>`, and named memory.
        let is_none = [&b"<none>"[..], b"/memfd:"]
            .iter()
            .any(|no| name.starts_with(no));
        if !self.is_device() || is_none || relative.is_none() && name.ends_with(b"]") {
            return Match::No;
        }
        let text = path.to_string_lossy();
        let path = Path::new(text.strip_suffix(DELETED).unwrap_or(&text));
        match names.iter().any(|name| path.ends_with(name)) {
            true => Match::Yes,
            false => Match::Unknown,
        }
    }
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    No,
    Yes,
    /// It could not be looked up.
    Unknown,
}
