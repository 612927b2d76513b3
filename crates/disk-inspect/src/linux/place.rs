//! Finds the devices below a path, an open file or a device number.

use super::file_system::{Attributes, Space, file_system};
use super::mounted::devices_of_mount;
use super::tree::Tree;
use super::{devices, generic, numbers};
use crate::storage::Storage;
use crate::{Error, Result};
use rustix::fs::{AtFlags, FileType, IFlags, Mode, OFlags, StatxFlags};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use stripewise_machine::linux::mounts::{FileOnMount, mount_of, mounts};
use stripewise_units::DeviceNumber;

/// `chattr +m`, from `linux/fs.h`; rustix has no name for it.
const FS_NOCOMP_FL: u32 = 0x400;

/// The storage below an existing path.
pub fn of_path(tree: Tree, path: &Path) -> Result<Storage> {
    let fail = |source: rustix::io::Errno| Error::Path {
        path: path.to_path_buf(),
        source: source.into(),
    };
    // A captured tree has the names of its devices, but no nodes.
    if !tree.is_live()
        && path.starts_with("/dev")
        && let Some(number) = numbers::number_of(tree, &path.to_string_lossy())
    {
        return of_device(tree, number);
    }
    // With O_PATH neither pipes nor devices are really opened.
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let handle = rustix::fs::open(tree.path(path), flags, Mode::empty()).map_err(fail)?;
    let stat = rustix::fs::fstat(&handle).map_err(fail)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = match kind {
        FileType::RegularFile | FileType::Directory => {
            rustix::fs::open(tree.path(path), flags, Mode::empty()).ok()
        }
        _ => None,
    };
    // An unreadable file still has a location; only its attributes are unknown.
    of_descriptor(tree, opened.as_ref().unwrap_or(&handle)).map_err(fail)?
}

/// The storage below an open file.
pub fn of_file(tree: Tree, file: &File) -> Result<Storage> {
    of_descriptor(tree, file).map_err(|error| Error::File(error.into()))?
}

/// The storage below a device.
pub fn of_device(tree: Tree, number: DeviceNumber) -> Result<Storage> {
    let device = devices::device(tree, number)?;
    Ok(Storage {
        file_system: None,
        offset: Some(crate::trace::offset(&device)),
        devices: vec![device],
    })
}

fn of_descriptor(
    tree: Tree,
    descriptor: &(impl AsFd + AsRawFd),
) -> rustix::io::Result<Result<Storage>> {
    let stat = rustix::fs::fstat(descriptor)?;
    let number = DeviceNumber::from_raw(stat.st_rdev);
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::BlockDevice => return Ok(of_device(tree, number)),
        FileType::CharacterDevice => {
            // The data goes to the device, not to the file system that holds its node.
            let namespace = generic::block_device_of(tree, number);
            return Ok(
                namespace.map_or_else(|| Ok(Storage::default()), |number| of_device(tree, number))
            );
        }
        _ => {}
    }
    let path = std::fs::read_link(format!("/proc/self/fd/{}", descriptor.as_raw_fd())).ok();
    let place = if tree.is_live() {
        FileOnMount {
            mount_id: mount_id(descriptor),
            number: DeviceNumber::from_raw(stat.st_dev),
            path,
        }
    } else {
        // The numbers would be this machine's; only the name is meaningful.
        FileOnMount {
            path: path.and_then(|path| tree.inside(&path)),
            ..FileOnMount::default()
        }
    };
    Ok(Ok(of_place(tree, &place, &attributes(descriptor))))
}

/// The storage below a location on a file system.
pub fn of_place(tree: Tree, place: &FileOnMount, attributes: &Attributes) -> Storage {
    let all = mounts(*tree);
    let Some(mount) = mount_of(&all, place) else {
        return Storage::default();
    };
    let devices: Vec<_> = devices_of_mount(tree, mount, 0)
        .into_iter()
        .filter_map(|number| devices::device(tree, number).ok())
        .collect();
    Storage {
        file_system: Some(file_system(tree, mount, place.number, attributes)),
        offset: match devices.as_slice() {
            [device] => Some(crate::trace::offset(device)),
            _ => None,
        },
        devices,
    }
}

fn mount_id(descriptor: &impl AsFd) -> Option<u64> {
    let wanted = StatxFlags::MNT_ID;
    let found = rustix::fs::statx(descriptor, "", AtFlags::EMPTY_PATH, wanted).ok()?;
    (found.stx_mask & wanted.bits() != 0).then_some(found.stx_mnt_id)
}

fn attributes(descriptor: &impl AsFd) -> Attributes {
    let flags = rustix::fs::ioctl_getflags(descriptor).unwrap_or(IFlags::empty());
    let stat = rustix::fs::fstat(descriptor).ok();
    let space = rustix::fs::fstatvfs(descriptor).ok();
    Attributes {
        no_copy_on_write: flags.contains(IFlags::NOCOW),
        compressed: flags.contains(IFlags::COMPRESSED),
        never_compressed: flags.bits() & FS_NOCOMP_FL != 0,
        block_bytes: stat.and_then(|stat| u64::try_from(stat.st_blksize).ok()),
        space: space.map(|space| Space {
            unit_bytes: space.f_frsize,
            size_bytes: space.f_blocks.saturating_mul(space.f_frsize),
            available_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        }),
    }
}
