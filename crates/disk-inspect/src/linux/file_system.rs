//! Facts about a mounted file system, and how one file on it is treated.

use super::tree::Tree;
use crate::storage::FileSystem;
use stripewise_machine::linux::mounts::Mount;
use stripewise_units::DeviceNumber;

/// Attributes available only from the file itself.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    /// `chattr +C`.
    pub no_copy_on_write: bool,
    /// `chattr +c`.
    pub compressed: bool,
    /// `chattr +m`.
    pub never_compressed: bool,
    /// `st_blksize`.
    pub block_bytes: Option<u64>,
    /// From statvfs(3).
    pub space: Option<Space>,
}

/// From statvfs(3).
#[derive(Clone, Debug, Default)]
pub struct Space {
    pub unit_bytes: u64,
    pub size_bytes: u64,
    pub available_bytes: u64,
}

/// Facts about a mount, as seen from a file with these attributes.
pub fn file_system(
    tree: Tree,
    mount: &Mount,
    number: DeviceNumber,
    attributes: &Attributes,
) -> FileSystem {
    let kind = mount.kind.as_str();
    let remote = is_remote(kind);
    let space = attributes.space.as_ref();
    FileSystem {
        kind: mount.kind.clone(),
        mount_point: mount.mount_point.clone(),
        options: mount.all_options(),
        source: mount.source.clone(),
        number,
        allocation_unit_bytes: match kind {
            _ if remote => None,
            // The file's record size; statvfs gives the smallest possible one.
            "zfs" => attributes.block_bytes,
            _ => space.map(|space| space.unit_bytes),
        }
        .filter(|bytes| *bytes > 0),
        size_bytes: space.map(|space| space.size_bytes),
        available_bytes: space.map(|space| space.available_bytes),
        read_only: mount.option("ro").is_some(),
        in_memory: matches!(kind, "tmpfs" | "ramfs" | "devtmpfs" | "hugetlbfs"),
        remote,
        copy_on_write: copies_on_write(mount, attributes),
        compression: compression(mount, attributes),
        driver_version: (kind == "zfs")
            .then(|| tree.word("/sys/module/zfs/version"))
            .flatten(),
    }
}

fn is_remote(kind: &str) -> bool {
    const REMOTE: [&str; 12] = [
        "nfs",
        "nfs4",
        "cifs",
        "smb3",
        "smb2",
        "ceph",
        "9p",
        "afs",
        "virtiofs",
        "lustre",
        "glusterfs",
        "fuse",
    ];
    REMOTE.contains(&kind) || kind.starts_with("fuse.")
}

fn copies_on_write(mount: &Mount, attributes: &Attributes) -> bool {
    match mount.kind.as_str() {
        "btrfs" => mount.option("nodatacow").is_none() && !attributes.no_copy_on_write,
        "bcachefs" => mount.option("nocow").is_none() && !attributes.no_copy_on_write,
        // Log-structured file systems never rewrite in place either.
        "zfs" | "nilfs2" | "f2fs" => true,
        _ => false,
    }
}

/// The algorithm without its level.
fn compression(mount: &Mount, attributes: &Attributes) -> Option<String> {
    let named = |option: &str| {
        mount.option(option).map(|value| {
            let algorithm = value.split(':').next().unwrap_or_default();
            if algorithm.is_empty() {
                "zlib"
            } else {
                algorithm
            }
            .to_owned()
        })
    };
    let by_attribute = || attributes.compressed.then(|| "unknown".to_owned());
    let found = match mount.kind.as_str() {
        // Without copy on write btrfs cannot compress; `compress-force` also overrides the file's
        // own setting.
        "btrfs" if !copies_on_write(mount, attributes) => None,
        "btrfs" => named("compress-force")
            .or_else(|| named("compress").filter(|_| !attributes.never_compressed))
            .or_else(by_attribute),
        "bcachefs" => named("compression").or_else(by_attribute),
        "f2fs" => by_attribute().and_then(|_| named("compress_algorithm").or_else(by_attribute)),
        "squashfs" | "erofs" => Some("unknown".to_owned()),
        _ => by_attribute(),
    };
    found.filter(|algorithm| algorithm != "none" && algorithm != "no")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copy_on_write_and_compression_follow_options_and_attributes() {
        let plain = Attributes::default();
        let no_cow = Attributes {
            no_copy_on_write: true,
            ..Attributes::default()
        };
        let compressed = Attributes {
            compressed: true,
            ..Attributes::default()
        };
        let never = Attributes {
            never_compressed: true,
            ..Attributes::default()
        };
        for (kind, options, attributes, cow, algorithm) in [
            ("btrfs", "rw", &plain, true, None),
            ("btrfs", "rw,compress=zstd:3", &plain, true, Some("zstd")),
            ("btrfs", "rw,compress", &plain, true, Some("zlib")),
            ("btrfs", "rw,compress=no", &plain, true, None),
            ("btrfs", "rw,compress=lzo", &never, true, None),
            ("btrfs", "rw,compress-force=lzo", &never, true, Some("lzo")),
            ("btrfs", "rw,compress=zstd", &no_cow, false, None),
            ("btrfs", "rw,nodatacow", &plain, false, None),
            ("btrfs", "rw", &compressed, true, Some("unknown")),
            ("zfs", "rw", &plain, true, None),
            ("xfs", "rw,reflink", &plain, false, None),
            ("ext4", "rw", &plain, false, None),
            (
                "bcachefs",
                "rw,compression=lz4:1",
                &plain,
                true,
                Some("lz4"),
            ),
            ("bcachefs", "rw,compression=none,nocow", &plain, false, None),
            ("f2fs", "rw,compress_algorithm=lz4", &plain, true, None),
            (
                "f2fs",
                "rw,compress_algorithm=lz4",
                &compressed,
                true,
                Some("lz4"),
            ),
        ] {
            let mount = Mount {
                kind: kind.to_owned(),
                super_options: options.to_owned(),
                ..Mount::default()
            };
            assert_eq!(copies_on_write(&mount, attributes), cow, "{kind} {options}");
            assert_eq!(
                compression(&mount, attributes).as_deref(),
                algorithm,
                "{kind} {options} {attributes:?}"
            );
        }
    }

    #[test]
    fn network_and_user_space_file_systems_are_remote_but_fuseblk_is_not() {
        for (kind, remote) in [
            ("nfs4", true),
            ("fuse.sshfs", true),
            ("fuseblk", false),
            ("ext4", false),
        ] {
            assert_eq!(is_remote(kind), remote, "{kind}");
        }
    }
}
