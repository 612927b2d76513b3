//! Where the store is, and which journal mode suits the file system there.
//!
//! Both are pure functions of the caller's input: environment variables, the mount table.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The store's path in the user's data directory: `$XDG_DATA_HOME`, on Windows
/// `%LOCALAPPDATA%`, else `$HOME/.local/share`; in it `stripewise/stripewise.db`.
/// `None` when no variable names an absolute path. `variable` looks up one
/// environment variable (`|name| std::env::var_os(name)`).
pub fn default_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| {
        let path = PathBuf::from(variable(name)?);
        // The XDG specification requires ignoring relative paths.
        path.is_absolute().then_some(path)
    };
    let data = absolute("XDG_DATA_HOME")
        .or_else(|| absolute("LOCALAPPDATA"))
        .or_else(|| Some(absolute("HOME")?.join(".local").join("share")))?;
    Some(data.join("stripewise").join("stripewise.db"))
}

/// How SQLite makes transactions atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// Write-ahead log: a commit is an append without a flush, and readers do not block the writer.
    /// Needs memory shared between processes, which network file systems do not provide between
    /// hosts.
    WriteAhead,
    /// Rollback journal, truncated after each transaction: needs only file locks, and each commit
    /// waits for the disk.
    Rollback,
}

/// File systems on which several hosts may share a file, besides most of those in user space.
const NETWORK_FILE_SYSTEMS: [&[u8]; 13] = [
    b"nfs",
    b"nfs4",
    b"cifs",
    b"smb3",
    b"smb2",
    b"smbfs",
    b"9p",
    b"virtiofs",
    b"ceph",
    b"glusterfs",
    b"afs",
    b"lustre",
    b"fuse",
];

/// The journal for a store at `place`, itself or its directory (absolute, symlinks resolved),
/// given the bytes of `/proc/self/mountinfo`; without it a local disk is assumed.
pub(crate) fn journal_for(mountinfo: &[u8], place: &Path) -> Journal {
    let place = place.as_os_str().as_encoded_bytes();
    let mut best: Option<(usize, &[u8])> = None;
    for line in mountinfo.split(|byte| *byte == b'\n') {
        let mut words = line.split(|byte| *byte == b' ');
        let Some(mount_point) = words.nth(4).map(unescape) else {
            continue;
        };
        let Some(kind) = words.skip_while(|word| *word != b"-").nth(1) else {
            continue;
        };
        // The longest mount point above the place holds it; of equals the
        // last, which was mounted over the others.
        if is_above(&mount_point, place)
            && best.is_none_or(|(length, _)| mount_point.len() >= length)
        {
            best = Some((mount_point.len(), kind));
        }
    }
    let is_network =
        |kind: &[u8]| NETWORK_FILE_SYSTEMS.contains(&kind) || kind.starts_with(b"fuse.");
    match best {
        Some((_, kind)) if is_network(kind) => Journal::Rollback,
        _ => Journal::WriteAhead,
    }
}

fn is_above(mount_point: &[u8], place: &[u8]) -> bool {
    match place.strip_prefix(mount_point) {
        Some(rest) => rest.is_empty() || rest[0] == b'/' || mount_point.ends_with(b"/"),
        None => false,
    }
}

/// Decodes the octal escapes (`\040` for a space) of mount tables.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, tail)) = rest.split_first() {
        let octal = (first == b'\\')
            .then(|| tail.get(..3))
            .flatten()
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        if let Some(byte) = octal {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn path_with(variables: &[(&str, &str)]) -> Option<String> {
        default_path(|name| {
            let found = variables.iter().find(|(known, _)| *known == name)?;
            Some(OsString::from(found.1))
        })
        .map(|path| path.to_string_lossy().into_owned())
    }

    // Absolute paths differ on Windows.
    #[cfg(unix)]
    #[test]
    fn the_store_is_in_the_users_data_directory() {
        let in_home = Some("/home/dba/.local/share/stripewise/stripewise.db".to_owned());
        assert_eq!(path_with(&[("HOME", "/home/dba")]), in_home);
        assert_eq!(
            path_with(&[("HOME", "/home/dba"), ("XDG_DATA_HOME", "here")]),
            in_home
        );
        assert_eq!(
            path_with(&[("HOME", "/home/dba"), ("XDG_DATA_HOME", "/data")]),
            Some("/data/stripewise/stripewise.db".to_owned())
        );
        assert_eq!(
            path_with(&[("LOCALAPPDATA", "/app data"), ("HOME", "/home/dba")]),
            Some("/app data/stripewise/stripewise.db".to_owned())
        );
        assert_eq!(path_with(&[]), None);
    }

    #[test]
    fn network_file_systems_get_a_journal_that_needs_no_shared_memory() {
        let mounts = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw shared:2 - nfs4 server:/home rw
31 30 0:41 / /home/local\\040disk rw - xfs /dev/vdb rw
32 22 0:42 /s.db /srv/s.db rw - nfs4 server:/srv rw
33 22 0:43 / /mnt/shared rw - fuse.ceph-fuse ceph-fuse rw
34 22 0:44 / /mnt/ntfs rw - fuseblk /dev/vdc rw
";
        let cases = [
            ("/var/lib", Journal::WriteAhead),
            ("/home/dba/.local", Journal::Rollback),
            ("/home/local disk/x", Journal::WriteAhead),
            ("/homely", Journal::WriteAhead),
            ("/home/dba/s.db", Journal::Rollback),
            ("/srv", Journal::WriteAhead),
            ("/mnt/shared/x", Journal::Rollback),
            ("/mnt/ntfs", Journal::WriteAhead),
            // One file can be a mount, as containers do it.
            ("/srv/s.db", Journal::Rollback),
        ];
        for (directory, journal) in cases {
            assert_eq!(
                journal_for(mounts.as_bytes(), Path::new(directory)),
                journal,
                "{directory}"
            );
        }
        assert_eq!(journal_for(b"", Path::new("/home")), Journal::WriteAhead);
    }

    /// A mount point that is not UTF-8 hides neither the others nor itself.
    #[cfg(unix)]
    #[test]
    fn a_mount_point_of_any_bytes_is_a_mount_point() {
        use std::os::unix::ffi::OsStrExt;
        let mounts = b"22 1 254:0 / / rw - ext4 /dev/vda rw\n\
            30 22 0:40 / /home rw - nfs4 server:/home rw\n\
            31 22 0:41 / /\xff\\040x rw - nfs4 server:/x rw\n";
        for directory in [b"/home/dba".as_slice(), b"/\xff x/y"] {
            let directory = Path::new(std::ffi::OsStr::from_bytes(directory));
            assert_eq!(journal_for(mounts, directory), Journal::Rollback);
        }
    }
}
