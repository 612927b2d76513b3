//! Private mounts. The mount namespace is made private first, so that no other process can access
//! them, and they end with the process, however it ends.

use super::device::Device;
use super::ioctl;
use crate::{Error, ErrorKind, FileSystemKind, Result};
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use stripewise_units::{DeviceNumber, NameText};

/// How long the file system may stay busy at unmount.
const PATIENCE: u32 = 100;
const BETWEEN: Duration = Duration::from_millis(100);
/// Attempts to create a mount point, a millisecond apart, while others remove its parent directory.
const MAKE_TRIES: u32 = 60_000;

/// A mounted file system; unmounted when dropped.
#[derive(Debug)]
pub struct PrivateMount {
    at: PathBuf,
    is_mounted: bool,
}

impl PrivateMount {
    /// Its location.
    pub fn path(&self) -> &Path {
        &self.at
    }

    /// Unmounts it and removes its directory.
    ///
    /// # Errors
    /// [`ErrorKind::Unusable`] if it stays busy for longer than ten seconds.
    pub fn unmount(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        if !self.is_mounted {
            return Ok(());
        }
        let text = c_text(self.at.as_os_str().as_bytes());
        let mut tries = 0;
        loop {
            match ioctl::unmount(&text) {
                Ok(()) => break,
                Err(os) if os.kind() == io::ErrorKind::ResourceBusy && tries < PATIENCE => {
                    tries += 1;
                    std::thread::sleep(BETWEEN);
                }
                Err(os) => {
                    return Err(failed(&self.at, "cannot be unmounted", os));
                }
            }
        }
        self.is_mounted = false;
        forget_mount_point(&self.at);
        Ok(())
    }
}

impl Drop for PrivateMount {
    fn drop(&mut self) {
        // The caller that drops it has another failure to report; the end of the process unmounts.
        let _ = self.end();
    }
}

/// Mounts a device so that only this process and those it starts later can see it; however the
/// process ends, the mount ends with it. `at` is a new directory.
///
/// # Errors
/// [`ErrorKind::Denied`] without permission to mount; [`ErrorKind::Refused`] if something
/// else was mounted; otherwise [`ErrorKind::Unusable`].
pub fn mount_privately(
    device: &Path,
    file_system: FileSystemKind,
    at: &Path,
) -> Result<PrivateMount> {
    static IS_OWN: AtomicBool = AtomicBool::new(false);
    let found = Device::find(device)?;
    if !IS_OWN.load(Ordering::Relaxed) {
        ioctl::own_mounts()
            .map_err(|os| failed(at, "this process cannot have mounts of its own", os))?;
        IS_OWN.store(true, Ordering::Relaxed);
    }
    make_mount_point(at)?;
    let mut mounted = PrivateMount {
        at: at.to_owned(),
        is_mounted: false,
    };
    // Inode tables would otherwise be written during the measurement.
    let options = match file_system {
        FileSystemKind::Ext4 => c"noinit_itable",
        _ => c"",
    };
    let text = |path: &Path| c_text(path.as_os_str().as_bytes());
    let kind = kernel_name(file_system);
    let done = ioctl::mount(
        &text(&found.path),
        &text(at),
        &c_text(kind.as_bytes()),
        options,
    );
    if let Err(os) = done {
        forget_mount_point(at);
        return Err(failed(&found.path, "cannot be mounted", os));
    }
    mounted.is_mounted = true;
    let number = std::fs::metadata(at)
        .map(|about| DeviceNumber::from_raw(about.dev()))
        .map_err(|os| failed(at, "cannot be examined", os))?;
    // btrfs has its own numbers.
    if file_system != FileSystemKind::Btrfs && number != found.number {
        return Err(Error::new(
            ErrorKind::Refused,
            at.as_text(),
            format!("what was mounted is not {}", found.path.as_text()),
        )
        .with_hint("The device has been replaced; run the command again."));
    }
    Ok(mounted)
}

/// Creates the directory and its parents. A concurrent unmount may remove the shared parent of all
/// mount points in between: then it is created again.
fn make_mount_point(at: &Path) -> Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.mode(0o700);
    let mut tries = 0;
    loop {
        // Success is checked below: std fails if it looks again at such a moment.
        let parents = at
            .parent()
            .map_or(Ok(()), |parent| builder.recursive(true).create(parent));
        match (builder.recursive(false).create(at), parents) {
            (Err(os), _) if os.kind() == io::ErrorKind::NotFound && tries < MAKE_TRIES => {
                tries += 1;
                // Otherwise the other waiters for the kernel's directory lock always go first.
                std::thread::sleep(Duration::from_millis(1));
            }
            (Err(os), Err(above)) if os.kind() == io::ErrorKind::NotFound => {
                return Err(failed(at, "cannot be made", above));
            }
            (made, _) => return made.map_err(|os| failed(at, "cannot be made", os)),
        }
    }
}

/// The kernel's name for it.
fn kernel_name(file_system: FileSystemKind) -> &'static str {
    match file_system {
        FileSystemKind::Ntfs => "ntfs3",
        other => other.name(),
    }
}

/// Why this kernel cannot mount such a file system at all; `None` if it can, or if unknown.
pub fn cannot_mount(file_system: FileSystemKind) -> Option<String> {
    let known = std::fs::read_to_string("/proc/filesystems").ok()?;
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let aliases = Path::new("/lib/modules")
        .join(release.trim())
        .join("modules.alias");
    let aliases = match std::fs::read_to_string(aliases) {
        Ok(aliases) => aliases,
        // A container without the list: the kernel may still load a module. A kernel without
        // modules has only what is built in.
        Err(_) if std::fs::read("/proc/sys/kernel/modprobe").is_ok_and(|by| by.len() > 1) => {
            return None;
        }
        Err(_) => String::new(),
    };
    let name = kernel_name(file_system);
    (!is_known(&known, &aliases, name)).then(|| {
        format!(
            "this kernel cannot mount {}: it knows no {name}",
            file_system.name()
        )
    })
}

/// Whether a file system is available, or loadable as a module.
fn is_known(filesystems: &str, aliases: &str, name: &str) -> bool {
    let listed = |line: &str| line.split_whitespace().last() == Some(name);
    let alias = format!("fs-{name}");
    let comes = |line: &str| {
        let mut words = line.split_whitespace();
        words.next() == Some("alias") && words.next() == Some(&alias)
    };
    filesystems.lines().any(listed) || aliases.lines().any(comes)
}

/// Removes the mount directory of a process that is gone; only if it is empty.
pub fn forget_mount_point(at: &Path) {
    // Only empty ones are removed, and then the shared parent.
    if std::fs::remove_dir(at).is_ok()
        && let Some(parent) = at.parent()
    {
        let _ = std::fs::remove_dir(parent);
    }
}

/// Paths and names contain no zero byte.
fn c_text(bytes: &[u8]) -> CString {
    CString::new(bytes).unwrap_or_default()
}

fn failed(path: &Path, what: &str, os: io::Error) -> Error {
    let (kind, hint) = match os.kind() {
        io::ErrorKind::PermissionDenied => (
            ErrorKind::Denied,
            "Run as root, outside of containers that may not mount.",
        ),
        io::ErrorKind::AlreadyExists => (
            ErrorKind::Refused,
            "An experiment that was killed may have left it: look with `stripewise lab clean`.",
        ),
        _ => (
            ErrorKind::Unusable,
            "See the kernel's log (`dmesg`), and /proc/filesystems for what it can mount.",
        ),
    };
    Error::new(kind, path.as_text(), what)
        .with_hint(hint)
        .with_os(os)
}

#[cfg(test)]
mod tests {
    use super::{forget_mount_point, is_known, make_mount_point};

    /// Experiments on several devices end and begin at any time.
    #[test]
    fn a_mount_point_is_made_while_others_remove_the_directory_of_all() {
        let all = tempfile::tempdir().expect("a directory");
        let shared = all.path().join("mounts");
        std::thread::scope(|scope| {
            for name in ["a", "b", "c", "d"] {
                let at = shared.join(name);
                scope.spawn(move || {
                    for _ in 0..50 {
                        make_mount_point(&at).expect("it is made");
                        forget_mount_point(&at);
                    }
                });
            }
        });
        assert!(!shared.exists(), "the last one removes it");
        let taken = all.path().join("taken");
        make_mount_point(&taken).expect("it is made");
        let error = make_mount_point(&taken).expect_err("it is there");
        assert_eq!(error.kind, crate::ErrorKind::Refused);
    }

    #[test]
    fn a_file_system_is_there_or_comes_with_its_module() {
        let listed = "nodev\tproc\n\text4\n\txfs\n";
        let aliases = "# Aliases\nalias fs-btrfs btrfs\nalias fs-ntfs ntfs\n";
        for (name, known) in [
            ("ext4", true),
            ("xfs", true),
            ("btrfs", true),
            ("ntfs3", false),
            ("proc", true),
            ("nodev", false),
        ] {
            assert_eq!(is_known(listed, aliases, name), known, "{name}");
        }
    }
}
