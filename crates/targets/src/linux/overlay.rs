//! In which layer of an overlay file system a file lies.
//!
//! Opening a file of a lower layer for writing first copies it whole to the upper one: that takes
//! space, may take minutes, and leaves the judged descriptor on the old file. The kernel does not
//! report the layer; the mount table names the upper directory, and what is in there is in the
//! upper layer. In containers that directory is usually not visible.

use super::identity::{Identity, Status};
use rustix::fs::{AtFlags, FileType};
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use stripewise_machine::linux::tree::{table_text, unescape_path};

/// `OVERLAYFS_SUPER_MAGIC` of `linux/magic.h`.
const MAGIC: rustix::fs::FsWord = 0x794c_7630;

/// Which layer holds a file's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layer {
    /// Not on an overlay file system, or all of it in the upper layer.
    Writable,
    /// In a lower layer: a write would copy it first.
    Lower,
    /// On an overlay file system whose upper directory is not visible, or perhaps only partly
    /// copied.
    Unknown,
}

/// The file lies on an overlay file system.
pub(super) fn is_on_overlay(file: &impl AsFd) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|found| found.f_type == MAGIC)
}

/// Finds the layer of an open file.
pub(super) fn layer_of(file: &File, status: &Status) -> Layer {
    if !is_on_overlay(file) {
        return Layer::Writable;
    }
    match upper_path(file) {
        Some(path) => layer_by(&path, status),
        None => Layer::Unknown,
    }
}

/// The file's own inode in the upper directory, which others may use without going through the
/// overlay; `None` outside overlay file systems and where it is not visible.
pub(super) fn upper_identity(file: &File, status: &Status) -> Option<Identity> {
    if !is_on_overlay(file) {
        return None;
    }
    let found = Status::of_path(&upper_path(file)?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_it = found.identity.kind == FileType::RegularFile
        && found.identity.birth_time_ns == status.identity.birth_time_ns;
    is_it.then_some(found.identity)
}

/// Why users of the file through the upper directory cannot be determined; `None` where they can,
/// or there is no upper directory.
pub(super) fn unseen_upper(file: &impl AsFd) -> Option<Unverified> {
    if !is_on_overlay(file) {
        return None;
    }
    match place(file.as_fd()).map(|place| place.upper) {
        Some(upper) if upper.is_relative() => Some(Unverified::Relative),
        Some(upper) if upper.is_dir() => None,
        _ => Some(Unverified::Hidden),
    }
}

/// Why an upper directory cannot be examined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unverified {
    /// Mounted by a path relative to the mounting process's directory.
    Relative,
    /// Not visible to this process, as in a container.
    Hidden,
}

/// Compares with the entry at the file's path in the upper directory.
fn layer_by(upper: &Path, status: &Status) -> Layer {
    match Status::of_path(upper, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => {
            let is_it = found.identity.kind == FileType::RegularFile
                && found.size_bytes == status.size_bytes
                && found.identity.birth_time_ns == status.identity.birth_time_ns;
            // With `metacopy` the upper file may be a shell without data.
            let has_data = found.allocated_bytes >= found.size_bytes;
            if is_it && has_data {
                Layer::Writable
            } else {
                Layer::Unknown
            }
        }
        Err(os) if os.kind() == std::io::ErrorKind::NotFound => Layer::Lower,
        Err(_) => Layer::Unknown,
    }
}

/// Where the file would be in the upper directory, if that can be seen.
fn upper_path(file: &File) -> Option<PathBuf> {
    let place = place(file.as_fd())?;
    let is_seen = place.upper.is_absolute() && place.upper.is_dir();
    is_seen.then(|| place.upper.join(place.inside))
}

/// Where a file of an overlay is, by the mount table.
#[derive(Debug, PartialEq, Eq)]
struct OverlayFile {
    /// The upper directory as given to `mount`; may be relative to the directory of the process
    /// that mounted it.
    upper: PathBuf,
    /// The path of the file in the overlay.
    inside: PathBuf,
}

fn place(file: BorrowedFd<'_>) -> Option<OverlayFile> {
    let number = file.as_raw_fd();
    let path = std::fs::read_link(format!("/proc/self/fd/{number}")).ok()?;
    let facts = std::fs::read_to_string(format!("/proc/self/fdinfo/{number}")).ok()?;
    let mut lines = facts.lines();
    let mount = lines.find_map(|line| line.strip_prefix("mnt_id:"))?;
    let table = table_text(&std::fs::read("/proc/self/mountinfo").ok()?);
    place_of(&table, mount.trim(), &path)
}

fn place_of(table: &str, mount: &str, path: &Path) -> Option<OverlayFile> {
    let line = table
        .lines()
        .find(|line| line.split(' ').next() == Some(mount))?;
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(3);
    let root = unescape_path(left.next()?);
    let mount_point = unescape_path(left.next()?);
    let mut right = right.split(' ');
    if right.next()? != "overlay" {
        return None;
    }
    let mut options = right.nth(1)?.split(',');
    let upper = options.find_map(|option| option.strip_prefix("upperdir="))?;
    let inside = root.strip_prefix("/").unwrap_or(&root);
    Some(OverlayFile {
        upper: unescape_path(upper),
        inside: inside.join(path.strip_prefix(mount_point).ok()?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_in_the_upper_directory_is_read_from_the_mount_table() {
        let table = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:39 / /merged rw,relatime - overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w
31 22 0:39 /part /bound\\040here rw shared:2 - overlay overlay rw,lowerdir=/l,upperdir=/u\\040x
32 22 0:40 / /relative rw - overlay overlay rw,lowerdir=l,upperdir=u,workdir=w
34 22 0:42 / /odd rw - overlay overlay rw,upperdir=/\\303\\244
33 22 0:41 / /reading ro - overlay overlay ro,lowerdir=/a:/b
";
        let cases = [
            ("30", "/merged/a/b", Some(("/u", "a/b"))),
            ("31", "/bound here/b", Some(("/u x", "part/b"))),
            ("31", "/elsewhere/b", None),
            ("32", "/relative/b", Some(("u", "b"))),
            ("34", "/odd/b", Some(("/\u{e4}", "b"))),
            ("33", "/reading/b", None),
            ("22", "/b", None),
            ("3", "/merged/a", None),
        ];
        for (mount, path, want) in cases {
            let found = place_of(table, mount, Path::new(path));
            let want = want.map(|(upper, inside)| OverlayFile {
                upper: upper.into(),
                inside: inside.into(),
            });
            assert_eq!(found, want, "{mount} {path}");
        }
    }
}
