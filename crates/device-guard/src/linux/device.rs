//! Resolves a path to a block device, once, and claims it.
//!
//! `O_PATH` resolves the path without opening the device. Every later open goes through
//! `/proc/self/fd/N`, which the kernel resolves to the same inode; its `st_rdev` is compared
//! nevertheless.
//!
//! `O_EXCL` decides: the kernel grants it only while nobody else has claimed the device, its disk
//! or one of its partitions - not mounted, no swap, no md, dm or bcache over it. [`claims`]
//! explains a refusal, and adds what `O_EXCL` does not detect: loop devices over the device,
//! processes that have it open without a claim, and the devices of `/`, swap and the store.

use super::claims::{self, Availability};
use super::users;
use crate::{Error, ErrorKind, Result};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use std::fs::File;
use std::io::{self, ErrorKind as Os};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use stripewise_disk_inspect::storage::BlockDevice;
use stripewise_disk_inspect::{Inspect, System};
use stripewise_units::{DeviceNumber, NameText};

/// The user's permissions for a device to be written, and data that must not be on it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Permission<'a> {
    /// The name given with `--destroy`: must be the kernel's name of the device.
    pub destroy: Option<&'a str>,
    /// `--busy-ok`: the user confirms that the device is free, although not all processes are
    /// visible. Visible users still prevent writing.
    pub unseen_ok: bool,
    /// The store of results, which must not be on the device.
    pub store: Option<&'a Path>,
}

/// A block device, resolved from a path.
#[derive(Debug)]
pub struct Device {
    /// As given by the user, for messages.
    pub target: String,
    /// Absolute, without symbolic links.
    pub path: PathBuf,
    /// The kernel's name, as under `/dev`.
    pub name: String,
    /// Its number.
    pub number: DeviceNumber,
    /// Its facts from sysfs.
    pub facts: BlockDevice,
    /// `O_PATH`.
    handle: OwnedFd,
}

/// A claim on a device: nobody else can claim it, its disk or its partitions while this exists.
#[derive(Debug)]
pub struct Claim(File);

impl Claim {
    /// The descriptor that holds the claim, opened for the requested access.
    pub fn file(&self) -> &File {
        &self.0
    }

    /// The same as a plain file, which continues to hold the claim.
    pub fn into_file(self) -> File {
        self.0
    }
}

/// The access to a claimed device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read-only; other descriptors write to it through [`Device::open_to_write`].
    Read,
    /// Read and write.
    ReadWrite,
}

impl Device {
    /// Resolves a path once.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], [`ErrorKind::Denied`]; [`ErrorKind::Unusable`] if it is not a block
    /// device, or not listed in `/sys`.
    pub fn find(path: &Path) -> Result<Device> {
        let target = path.as_text();
        let resolved =
            std::fs::canonicalize(path).map_err(|os| failed(&target, "cannot be found", os))?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = rustix::fs::openat(CWD, &resolved, flags, Mode::empty())
            .map_err(|os| failed(&target, "cannot be found", os.into()))?;
        Device::of_handle(handle, resolved, &target)
    }

    /// From a handle (`O_PATH`) that was resolved from `path`; `target` is its name in messages.
    pub fn of_handle(handle: OwnedFd, path: PathBuf, target: &str) -> Result<Device> {
        let stat = rustix::fs::fstat(&handle)
            .map_err(|os| failed(target, "cannot be examined", os.into()))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return Err(
                Error::new(ErrorKind::Unusable, target, "is not a block device").with_hint(
                    "`lsblk` lists them; an image becomes one with `losetup --find --show FILE`.",
                ),
            );
        }
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let unknown = || {
            Error::new(
                ErrorKind::Unusable,
                target,
                "the kernel does not know this device",
            )
            .with_hint("Look with `lsblk`; /sys must be mounted.")
        };
        Ok(Device {
            target: target.to_owned(),
            path,
            name: claims::kernel_name(number).ok_or_else(unknown)?,
            number,
            facts: System::live().device(number).map_err(|_| unknown())?,
            handle,
        })
    }

    /// Opens exactly this device for reading.
    ///
    /// # Errors
    /// Those of the system; [`ErrorKind::Refused`] if it is now a different device.
    pub fn open_to_read(&self) -> Result<File> {
        self.open(OFlags::RDONLY)
    }

    /// Opens it again, for writing, while `claim` on it exists.
    ///
    /// # Errors
    /// As [`Device::open_to_read`]; [`ErrorKind::Refused`] if the claim is on another device.
    pub fn open_to_write(&self, claim: &Claim) -> Result<File> {
        self.check_number(claim.file())?;
        self.open(OFlags::RDWR)
    }

    fn open(&self, flags: OFlags) -> Result<File> {
        let path = format!("/proc/self/fd/{}", self.handle.as_raw_fd());
        let what = if flags.contains(OFlags::RDWR) {
            "cannot be opened for writing"
        } else {
            "cannot be opened for reading"
        };
        let file = rustix::fs::open(&path, flags | OFlags::CLOEXEC, Mode::empty())
            .map_err(|os| failed(&self.target, what, os.into()))?;
        let file = File::from(file);
        self.check_number(&file)?;
        Ok(file)
    }

    fn check_number(&self, file: &File) -> Result<()> {
        let stat = rustix::fs::fstat(file)
            .map_err(|os| failed(&self.target, "cannot be examined", os.into()))?;
        let is_it = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice
            && DeviceNumber::from_raw(stat.st_rdev) == self.number;
        if is_it {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Refused,
            &self.target,
            "is not the device that was judged any more",
        )
        .with_hint("Run the command again to see the new plan."))
    }

    /// Checks all rules, for a plan: nothing is opened for writing, and the device is claimed only
    /// briefly.
    pub fn availability(&self, store: Option<&Path>) -> Availability {
        let availability = claims::availability(self.number, store);
        if matches!(availability, Availability::Blocked(_)) {
            return availability;
        }
        match self.claim_as_found(OFlags::RDONLY, store) {
            Ok(_) => availability,
            Err(error) => Availability::Blocked(
                error
                    .what
                    .strip_prefix(REFUSAL)
                    .map_or_else(|| error.to_string(), str::to_owned),
            ),
        }
    }

    /// Checks by all rules whether it may be written with this permission; otherwise like
    /// [`Device::availability`]. Notes what could not be verified.
    ///
    /// # Errors
    /// [`ErrorKind::NeedsDestroy`], which also tells if that would not help;
    /// [`ErrorKind::Refused`], [`ErrorKind::NeedsBusyOk`], [`ErrorKind::Denied`].
    pub fn judge(&self, permission: &Permission<'_>) -> Result<Vec<String>> {
        let store = permission.store;
        let judge = || {
            let notes = self.evaluate(claims::availability(self.number, store), permission)?;
            self.claim_as_found(OFlags::RDONLY, store)?;
            Ok(notes)
        };
        match permission.destroy {
            Some(name) if claims::is_named(name, &self.name) => judge(),
            Some(name) => Err(Error::new(
                ErrorKind::Refused,
                &self.target,
                format!(
                    "`--destroy {name}` does not name this device, which is `{}`",
                    self.name
                ),
            )
            .with_hint(
                "Double-check the device; NAME must be the kernel's name, links do not count.",
            )),
            None => Err(self.needs_destroy(judge().err())),
        }
    }

    /// Checks all rules, claims the device for the lifetime of the claim, and checks again: a loop
    /// device or a program without a claim may have appeared in between.
    pub fn claim(&self, permission: &Permission<'_>, access: Access) -> Result<Claim> {
        self.judge(permission)?;
        self.claim_and_judge(permission, access)
    }

    fn claim_and_judge(&self, permission: &Permission<'_>, access: Access) -> Result<Claim> {
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::ReadWrite => OFlags::RDWR,
        };
        let claim = self.claim_as_found(flags, permission.store)?;
        self.evaluate(
            claims::availability(self.number, permission.store),
            permission,
        )?;
        Ok(claim)
    }

    fn claim_as_found(&self, access: OFlags, store: Option<&Path>) -> Result<Claim> {
        let mut claimed = None;
        let refused = users::retry_briefly(|| match self.open(access | OFlags::EXCL) {
            Ok(file) => {
                claimed = Some(file);
                None
            }
            Err(error) => Some(error),
        });
        match (claimed, refused) {
            (Some(file), _) => Ok(Claim(file)),
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

    /// Turns a standing into a decision, given the permission.
    fn evaluate(
        &self,
        availability: Availability,
        permission: &Permission<'_>,
    ) -> Result<Vec<String>> {
        evaluate(availability, &self.target, permission.unseen_ok)
    }

    fn needs_destroy(&self, refused: Option<Error>) -> Error {
        let name = &self.name;
        let hint = match refused {
            Some(error) if error.kind == ErrorKind::NeedsBusyOk => format!(
                "All data on it would be lost. Give `--destroy {name} --busy-ok` if that is intended \
                 and nobody uses it: {}.",
                error.what.strip_prefix(REFUSAL).unwrap_or(&error.what)
            ),
            None => {
                format!(
                    "All data on it would be lost. Give `--destroy {name}` if that is intended."
                )
            }
            Some(refused) => format!("It would be refused anyway: {}.", refused.what),
        };
        let what = format!("writing to this device needs `--destroy {name}`");
        Error::new(ErrorKind::NeedsDestroy, &self.target, what).with_hint(hint)
    }

    /// The error for an obstacle.
    pub fn refusal(&self, reason: &str) -> Error {
        refusal(&self.target, reason)
    }
}

/// Checks a claimed device again, before it is opened once more for writing.
///
/// # Errors
/// [`ErrorKind::Refused`] if it is in use since; [`ErrorKind::NeedsBusyOk`] if that cannot be
/// checked and `unseen_ok` does not confirm that it is free.
pub fn still_free(number: DeviceNumber, target: &str, unseen_ok: bool) -> Result<()> {
    evaluate(claims::unclaimed(number), target, unseen_ok)
        .map(drop)
        .map_err(|mut error| {
            error.what.push_str(", since it was judged");
            error
        })
}

fn evaluate(availability: Availability, target: &str, unseen_ok: bool) -> Result<Vec<String>> {
    match availability {
        Availability::Free => Ok(Vec::new()),
        Availability::Blocked(reason) => Err(refusal(target, &reason)),
        Availability::Unverified(reason) if unseen_ok => Ok(vec![format!("{reason}.")]),
        Availability::Unverified(reason) => Err(Error::new(
            ErrorKind::NeedsBusyOk,
            target,
            format!("{REFUSAL}{reason}"),
        )
        .with_hint(
            "Run it as root and outside of containers, which can see; or give `--busy-ok` if you \
             know that nobody uses this device.",
        )),
    }
}

const REFUSAL: &str = "will not be written: ";

fn refusal(target: &str, reason: &str) -> Error {
    Error::new(ErrorKind::Refused, target, format!("{REFUSAL}{reason}"))
        .with_hint("Unmount, stop, detach or close that first, if you really mean this device.")
}

/// An operating system error for a device, with the class and hint for its number.
pub fn failed(target: &str, what: &str, os: io::Error) -> Error {
    let (kind, hint) = match (os.raw_os_error(), os.kind()) {
        (Some(libc::ENXIO | libc::ENODEV | libc::ENOMEDIUM), _) => (
            ErrorKind::Unusable,
            "There is no device behind that node, or no medium in it.",
        ),
        (Some(libc::EMFILE | libc::ENFILE), _) => (
            ErrorKind::Unusable,
            "Raise the limit of open files (`ulimit -n`).",
        ),
        (_, Os::NotFound) => (
            ErrorKind::NotFound,
            "Check the spelling: `lsblk` lists the devices.",
        ),
        (_, Os::PermissionDenied) => (
            ErrorKind::Denied,
            "Run as root: only root may look at and write to disks.",
        ),
        (_, Os::ReadOnlyFilesystem) => (
            ErrorKind::Refused,
            "The device is read-only; somebody protected it on purpose.",
        ),
        (_, Os::ResourceBusy) => (ErrorKind::Refused, "Another program is using it right now."),
        _ => (
            ErrorKind::Io,
            "The device may be failing; see the kernel's log (`dmesg`).",
        ),
    };
    Error::new(kind, target, what).with_hint(hint).with_os(os)
}

#[cfg(test)]
mod tests {
    use super::super::machine;
    use super::*;

    /// Between check and claim, a process may open the device without a claim, or attach a loop
    /// device to it: the kernel allows both.
    #[test]
    fn who_slips_in_before_the_claim_is_seen_after_it() {
        own_process!();
        const TEST: &str = "who_slips_in_before_the_claim_is_seen_after_it";
        if !machine::can_run(TEST, &["root", "losetup"]) {
            return;
        }
        let device = machine::Loop::new(8 << 20);
        let found = Device::find(device.path()).expect("found");
        let permission = Permission {
            destroy: Some(device.name()),
            unseen_ok: true,
            store: None,
        };
        let judged = |expected_text: &str| {
            let error = found
                .claim_and_judge(&permission, Access::ReadWrite)
                .expect_err(expected_text);
            assert_eq!(error.kind, ErrorKind::Refused, "{error}");
            assert!(error.what.contains(expected_text), "{error}");
        };
        found.judge(&permission).expect("free");
        let above = machine::Loop::stacked(device.path());
        judged(&format!("the backing of /dev/{}", above.name()));
        drop(above);
        let holder = machine::Holder::of(device.path());
        judged(&format!("open in sleep (pid {})", holder.pid()));
        drop(holder);
        let claim = found.claim(&permission, Access::Read).expect("free again");
        // A claim on one device does not permit opening another.
        let other = machine::Loop::new(8 << 20);
        let other = Device::find(other.path()).expect("found");
        let error = other.open_to_write(&claim).expect_err("another device");
        assert_eq!(error.kind, ErrorKind::Refused, "{error}");
        found.open_to_write(&claim).expect("claimed");
    }
}
