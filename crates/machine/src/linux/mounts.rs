//! `/proc/self/mountinfo`: finds the mount of a path.

use super::tree::{Tree, unescape, unescape_path};
use std::path::{Path, PathBuf};
use stripewise_units::DeviceNumber;

/// One line of `mountinfo` (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mount {
    /// The kernel's mount id.
    pub id: u64,
    /// `st_dev` of files on it.
    pub number: DeviceNumber,
    /// The part of the file system that is mounted.
    pub root: String,
    /// The mount point.
    pub mount_point: PathBuf,
    /// Options of the mount, separated by commas.
    pub options: String,
    /// File system type.
    pub kind: String,
    /// The mount source: mostly a device path.
    pub source: String,
    /// Options of the file system, separated by commas.
    pub super_options: String,
}

impl Mount {
    /// Options of the mount and of the file system, without duplicates.
    pub fn all_options(&self) -> String {
        let mut options: Vec<&str> = Vec::new();
        for option in self.options.split(',').chain(self.super_options.split(',')) {
            if !option.is_empty() && !options.contains(&option) {
                options.push(option);
            }
        }
        options.join(",")
    }

    /// The value of an option: `Some("")` for one without a value.
    pub fn option(&self, name: &str) -> Option<&str> {
        let each = self.super_options.split(',').chain(self.options.split(','));
        each.into_iter()
            .find_map(|option| match option.split_once('=') {
                Some((key, value)) => (key == name).then_some(value),
                None => (option == name).then_some(""),
            })
    }
}

/// All mounts visible to this process, in the kernel's order.
#[must_use]
pub fn mounts(tree: Tree) -> Vec<Mount> {
    let text = tree.table("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

pub(super) fn parse(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ');
    let id = left.next()?.parse().ok()?;
    let _parent = left.next()?;
    let number = left.next()?.parse().ok()?;
    let root = unescape(left.next()?);
    let mount_point = unescape_path(left.next()?);
    let options = left.next()?.to_owned();
    let mut right = right.split(' ');
    Some(Mount {
        id,
        number,
        root,
        mount_point,
        options,
        kind: right.next()?.to_owned(),
        source: unescape(right.next().unwrap_or_default()),
        super_options: right.next().unwrap_or_default().to_owned(),
    })
}

/// Properties that identify a file's mount.
#[derive(Clone, Debug, Default)]
pub struct FileOnMount {
    /// The kernel's mount id, if available.
    pub mount_id: Option<u64>,
    /// `st_dev`.
    pub number: DeviceNumber,
    /// Its name with links resolved, if known.
    pub path: Option<PathBuf>,
}

/// The mount of a file: by mount id; else by `st_dev`, the longest mount point first; else by path
/// alone, as btrfs gives its subvolumes anonymous numbers that `mountinfo` does not show.
#[must_use]
pub fn mount_of<'m>(mounts: &'m [Mount], place: &FileOnMount) -> Option<&'m Mount> {
    if let Some(id) = place.mount_id
        && let Some(mount) = mounts.iter().find(|mount| mount.id == id)
    {
        return Some(mount);
    }
    let holds = |mount: &&Mount| {
        place
            .path
            .as_ref()
            .is_none_or(|path| path.starts_with(&mount.mount_point))
    };
    // Of equal mount points the last one hides the others.
    let longest = |mount: &&Mount| mount.mount_point.components().count();
    let same = |mount: &&Mount| mount.number == place.number;
    mounts
        .iter()
        .filter(same)
        .filter(holds)
        .max_by_key(longest)
        .or_else(|| mounts.iter().find(same))
        .or_else(|| {
            place.path.as_ref()?;
            mounts.iter().filter(holds).max_by_key(longest)
        })
}

/// Mounts of a device: by number, or by source for file systems with anonymous numbers.
#[must_use]
pub fn mounts_of_device(
    mounts: &[Mount],
    number: DeviceNumber,
    is_source: impl Fn(&Path) -> bool,
) -> Vec<&Mount> {
    mounts
        .iter()
        .filter(|mount| {
            mount.number == number
                || (mount.number.is_anonymous()
                    && mount.source.starts_with("/dev/")
                    && sources(mount).any(|source| is_source(Path::new(source))))
        })
        .collect()
}

/// The devices of a mount: bcachefs joins its devices with colons.
pub fn sources(mount: &Mount) -> impl Iterator<Item = &str> {
    let joint = (mount.kind == "bcachefs").then_some(':');
    mount.source.split(move |c| Some(c) == joint)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard
40 27 0:44 /@data /mnt/my\\040data rw,noatime shared:5 master:2 - btrfs /dev/sdb1 rw,compress=zstd:3,subvol=/@data
41 27 254:0 /srv /mnt/bind rw - ext4 /dev/vda rw,discard
garbage
42 27 0:50 / /tmp rw - tmpfs tmpfs rw,size=1k
43 27 bad:1 / /x rw - ext4 /dev/x rw
44 27 0:51 / /empty rw - none
";

    fn parsed() -> Vec<Mount> {
        TEXT.lines().filter_map(parse).collect()
    }

    #[test]
    fn lines_parse_with_optional_fields_escapes_and_bad_lines_left_out() {
        let mounts = parsed();
        assert_eq!(
            mounts.iter().map(|mount| mount.id).collect::<Vec<_>>(),
            [27, 40, 41, 42, 44]
        );
        assert_eq!(mounts[1].mount_point, Path::new("/mnt/my data"));
        assert_eq!(mounts[1].option("compress"), Some("zstd:3"));
        assert_eq!(mounts[1].option("noatime"), Some(""));
        assert_eq!(mounts[1].option("comp"), None);
        assert_eq!(mounts[0].all_options(), "rw,relatime,discard");
    }

    #[test]
    fn a_place_is_found_by_id_then_number_then_path() {
        let mounts = parsed();
        let place = |mount_id, major, minor, path: &str| FileOnMount {
            mount_id,
            number: DeviceNumber { major, minor },
            path: (!path.is_empty()).then(|| PathBuf::from(path)),
        };
        for (case, id) in [
            (place(Some(40), 254, 0, "/"), Some(40)),
            (place(Some(999), 254, 0, "/home/x"), Some(27)),
            (place(None, 254, 0, "/mnt/bind/x"), Some(41)),
            (place(None, 254, 0, "/mnt/binder"), Some(27)),
            // Without a path any mount of the file system will do.
            (place(None, 254, 0, ""), Some(41)),
            // A btrfs subvolume: no line has its number.
            (place(None, 0, 77, "/mnt/my data/file"), Some(40)),
            (place(None, 0, 77, ""), None),
        ] {
            let found = mount_of(&mounts, &case).map(|mount| mount.id);
            assert_eq!(found, id, "{case:?}");
        }
    }
}
