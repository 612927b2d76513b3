//! Identity of the file or device behind a descriptor, independent of names.

use rustix::fs::{AtFlags, FileType, Statx, StatxAttributes, StatxFlags};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use stripewise_units::DeviceNumber;

/// Identifies a file or device. The birth time distinguishes a file from a later one with the same
/// inode number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub kind: FileType,
    /// `st_dev`.
    pub device: DeviceNumber,
    /// `st_ino`.
    pub inode: u64,
    /// Nanoseconds since the epoch, where the file system keeps it.
    pub birth_time_ns: Option<i64>,
    /// `st_rdev`; 0:0 for anything but devices.
    pub rdevice: DeviceNumber,
}

/// The part of `statx` that the rules need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Status {
    pub identity: Identity,
    pub size_bytes: u64,
    /// `st_blocks`, in bytes.
    pub allocated_bytes: u64,
    /// Hard links.
    pub links: u32,
    pub attributes: StatxAttributes,
    /// Alignment of direct operations; `None` where the kernel does not report it, 0 where direct
    /// I/O is not possible.
    pub direct_offset_bytes: Option<u32>,
    /// Smallest and largest atomic write; 0 where there are none, `None` where the kernel does not
    /// report it.
    pub atomic_write_bytes: Option<(u32, u32)>,
}

/// `STATX_WRITE_ATOMIC`, Linux 6.11.
const WRITE_ATOMIC: StatxFlags = StatxFlags::from_bits_retain(0x1_0000);

impl Status {
    /// Status of an open descriptor (`O_PATH` suffices).
    pub fn of(file: impl AsFd) -> io::Result<Status> {
        let wanted =
            StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::DIOALIGN | WRITE_ATOMIC;
        let found = rustix::fs::statx(file, c"", AtFlags::EMPTY_PATH, wanted)?;
        Ok(Status::from_statx(&found))
    }

    /// Status as cached on this machine, without contacting a server, which can block forever.
    pub fn as_known(file: impl AsFd) -> io::Result<Status> {
        let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
        let found = rustix::fs::statx(file, c"", flags, StatxFlags::BASIC_STATS)?;
        Ok(Status::from_statx(&found))
    }

    /// Status of a path, following symbolic links.
    pub fn of_path(path: &std::path::Path, flags: AtFlags) -> io::Result<Status> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = rustix::fs::statx(rustix::fs::CWD, path, flags, wanted)?;
        Ok(Status::from_statx(&found))
    }

    /// Status of a name in an open directory, without following a symbolic link.
    pub fn of_name(directory: &File, name: &std::ffi::CStr) -> io::Result<Status> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = rustix::fs::statx(directory, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        Ok(Status::from_statx(&found))
    }

    fn from_statx(found: &Statx) -> Status {
        let has = |flag: StatxFlags| found.stx_mask & flag.bits() != 0;
        let birth = found.stx_btime;
        let number = |major, minor| DeviceNumber { major, minor };
        Status {
            identity: Identity {
                kind: FileType::from_raw_mode(found.stx_mode.into()),
                device: number(found.stx_dev_major, found.stx_dev_minor),
                inode: found.stx_ino,
                birth_time_ns: has(StatxFlags::BTIME).then(|| {
                    birth
                        .tv_sec
                        .saturating_mul(1_000_000_000)
                        .saturating_add(i64::from(birth.tv_nsec))
                }),
                rdevice: number(found.stx_rdev_major, found.stx_rdev_minor),
            },
            size_bytes: found.stx_size,
            allocated_bytes: found.stx_blocks.saturating_mul(512),
            links: found.stx_nlink,
            attributes: found.stx_attributes,
            direct_offset_bytes: has(StatxFlags::DIOALIGN).then_some(found.stx_dio_offset_align),
            atomic_write_bytes: has(WRITE_ATOMIC).then_some((
                found.stx_atomic_write_unit_min,
                found.stx_atomic_write_unit_max,
            )),
        }
    }
}

impl Identity {
    /// The same inode of the same file system.
    pub fn is_inode(&self, device: DeviceNumber, inode: u64) -> bool {
        self.device == device && self.inode == inode
    }
}
