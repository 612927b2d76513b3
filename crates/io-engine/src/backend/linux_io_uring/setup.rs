//! Opening: which features this kernel and this user have, and the messages why others are missing.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use rustix::io_uring::{IoringRegisterOp as Register, IoringSetupFlags as Setup};

use super::ring::{ENTRIES_MAX, Entry, Ring, Submission};
use crate::backend::buffers::Buffers;
use crate::backend::sys;
use crate::{Capabilities, Error, ErrorKind, OpenPlan, Result};

/// The engine's name.
pub(super) const NAME: &str = "io_uring";

/// A file number that is never valid: the kernel answers `EBADF`.
pub(super) const NO_FILE: u32 = u32::MAX;

/// The kernel limits registered buffers to 1 GiB each (`io_buffer_validate`), so slots share a few
/// large ones.
const REGISTERED_BUFFER_BYTES_MAX: usize = 1 << 30;

/// Creates the ring, with the best flags that the kernel supports.
pub(super) fn ring<S: Entry>(
    slots: u32,
    poll: bool,
    capabilities: &mut Capabilities,
) -> Result<Ring<S>> {
    if slots == 0 || slots > ENTRIES_MAX {
        return Err(failure(
            ErrorKind::Resources,
            format!("{slots} outstanding operations do not fit in one ring of 1 to {ENTRIES_MAX}"),
            "use more threads with fewer outstanding each",
            None,
        ));
    }
    // Best first. One thread issues (6.0) and completions wait until it checks (6.1); or at least
    // they do not interrupt it (5.19); or neither.
    let attempts = [
        Setup::SINGLE_ISSUER | Setup::DEFER_TASKRUN | Setup::SUBMIT_ALL,
        Setup::COOP_TASKRUN | Setup::SUBMIT_ALL,
        Setup::empty(),
    ];
    let mut refusal = None;
    let polled = if poll { Setup::IOPOLL } else { Setup::empty() };
    for flags in attempts {
        match Ring::new(slots, flags | polled) {
            Ok(ring) => {
                capabilities.polled = poll;
                capabilities.deferred_task_running = flags.contains(Setup::DEFER_TASKRUN);
                if !capabilities.deferred_task_running {
                    capabilities.fallbacks.push(
                        "io_uring runs without deferred task running, which needs Linux 6.1: \
                         completions interrupt the program, and high rates cost more CPU; \
                         a newer kernel avoids that"
                            .to_owned(),
                    );
                }
                return Ok(ring);
            }
            Err(error) if error.raw_os_error() == Some(libc::EINVAL) => refusal = Some(error),
            Err(error) => return Err(explain(error)),
        }
    }
    // Retrying without the size shows which of the two is too new for this kernel.
    if S::SETUP != Setup::empty() && Ring::<Submission>::new(1, Setup::empty()).is_ok() {
        let what = "this kernel's io_uring cannot pass commands through".to_owned();
        let hint = "that takes Linux 5.19; use <--engine> uring on the block device";
        return Err(failure(ErrorKind::Unsupported, what, hint, refusal));
    }
    Err(explain(
        refusal.unwrap_or_else(|| io::ErrorKind::Unsupported.into()),
    ))
}

/// Explains why the kernel did not create a ring.
fn explain(error: io::Error) -> Error {
    let unsupported =
        |what: &str, hint| failure(ErrorKind::Unsupported, what.to_owned(), hint, None);
    match error.raw_os_error() {
        Some(libc::ENOSYS) => failure(
            ErrorKind::Unsupported,
            "this kernel has no io_uring, or a sandbox hides it".to_owned(),
            "use <--engine> threads, or Linux 5.11 or later",
            Some(error),
        ),
        Some(libc::EPERM | libc::EACCES) => {
            let sysctl = std::fs::read_to_string("/proc/sys/kernel/io_uring_disabled");
            match sysctl.as_deref().map(str::trim) {
                Ok("2") => unsupported(
                    "io_uring is switched off by the sysctl kernel.io_uring_disabled=2",
                    "as root: sysctl kernel.io_uring_disabled=0; or use <--engine> threads",
                ),
                Ok("1") => unsupported(
                    "the sysctl kernel.io_uring_disabled=1 allows io_uring only to privileged \
                     users and the group in kernel.io_uring_group",
                    "as root: sysctl kernel.io_uring_disabled=0; or use <--engine> threads",
                ),
                _ => failure(
                    ErrorKind::Unsupported,
                    "io_uring is forbidden here, most likely by a container's seccomp filter"
                        .to_owned(),
                    "run the container with a profile that allows io_uring \
                     (--security-opt seccomp=...); or use <--engine> threads",
                    Some(error),
                ),
            }
        }
        Some(libc::ENOMEM) => failure(
            ErrorKind::Resources,
            "no memory for the rings".to_owned(),
            "use fewer outstanding operations, or raise the memlock limit (ulimit -l)",
            Some(error),
        ),
        Some(libc::EMFILE | libc::ENFILE) => failure(
            ErrorKind::Resources,
            "no file descriptor left for the ring".to_owned(),
            "raise the limit of open files (ulimit -n), or use fewer threads",
            Some(error),
        ),
        None | Some(libc::EINVAL) => unsupported(
            "this kernel's io_uring is too old: waiting with a time limit needs Linux 5.11",
            "use <--engine> threads, or a newer kernel",
        ),
        Some(_) => failure(
            ErrorKind::Resources,
            "the kernel did not create a ring".to_owned(),
            "use <--engine> threads",
            Some(error),
        ),
    }
}

pub(super) fn failure(
    kind: ErrorKind,
    what: String,
    hint: &'static str,
    os: Option<io::Error>,
) -> Error {
    Error {
        kind,
        engine: NAME,
        what,
        hint,
        os,
    }
}

/// Which of the files to be discarded from are block devices: those need a different operation.
///
/// # Errors
/// If one is, and this kernel has no such operation.
pub fn can_discard(files: &[Arc<File>]) -> Result<Box<[bool]>> {
    let devices: Box<[bool]> = files
        .iter()
        .map(|file| sys::is_block_device(file))
        .collect();
    let kernel = rustix::system::uname();
    if devices.contains(&true) && !has_device_discards(&kernel.release().to_string_lossy()) {
        return Err(failure(
            ErrorKind::Unsupported,
            "this kernel has no discards of block devices by io_uring, which take Linux 6.12"
                .to_owned(),
            "use <--engine> threads",
            None,
        ));
    }
    Ok(devices)
}

/// `BLOCK_URING_CMD_DISCARD` was added in Linux 6.12. It can only be detected by trying, which
/// would destroy data.
fn has_device_discards(release: &str) -> bool {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    let mut next = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    match (next(), next()) {
        (Some(major), Some(minor)) => (major, minor) >= (6, 12),
        _ => false,
    }
}

/// Registers the files, so that the kernel need not look them up per operation. Returns the number
/// of each file for its entries.
pub(super) fn files<S: Entry>(
    ring: &Ring<S>,
    plan: &OpenPlan,
    capabilities: &mut Capabilities,
) -> Vec<u32> {
    let descriptors: Vec<i32> = plan.files.iter().map(|file| file.as_raw_fd()).collect();
    if descriptors.is_empty() {
        return Vec::new();
    }
    // SAFETY: an array of descriptors, copied by the kernel.
    match unsafe { ring.register(Register::RegisterFiles, &descriptors, descriptors.len()) } {
        Ok(()) => {
            capabilities.registered_files = true;
            (0..).take(descriptors.len()).collect()
        }
        Err(error) => {
            capabilities.fallbacks.push(format!(
                "files are not registered with io_uring ({error}): each operation looks its file \
                 up; raise the limit of open files (ulimit -n)"
            ));
            descriptors.iter().map(|fd| fd.cast_unsigned()).collect()
        }
    }
}

/// Entry flags if files are registered.
pub(super) fn file_flags(capabilities: &Capabilities) -> u64 {
    const FIXED_FILE: u64 = 1 << 8;
    if capabilities.registered_files {
        FIXED_FILE
    } else {
        0
    }
}

/// Registers the buffers, so that the kernel need not pin their pages per operation. Returns the
/// shift from a slot to its buffer's index, or `None` if they stay plain.
pub(super) fn buffers<S: Entry>(
    ring: &Ring<S>,
    buffers: &Buffers,
    plan: &OpenPlan,
    capabilities: &mut Capabilities,
) -> Option<u32> {
    // The kernel accepts atomic writes from plain memory only.
    if !plan.register_buffers || plan.features.atomic {
        return None;
    }
    let stride = buffers.stride_bytes();
    // A power of two of slots in each, so that a shift finds it.
    let shift = (REGISTERED_BUFFER_BYTES_MAX / stride).max(1).ilog2();
    let firsts = (0..plan.slots).step_by(1 << shift);
    let vectors: Vec<libc::iovec> = firsts
        .map(|first| libc::iovec {
            iov_base: buffers.address(first).as_ptr().cast(),
            iov_len: stride * (plan.slots - first).min(1 << shift) as usize,
        })
        .collect();
    // SAFETY: the buffers belong to the engine, which frees them after the ring
    // (or never, if operations are in flight).
    match unsafe { ring.register(Register::RegisterBuffers, &vectors, vectors.len()) } {
        Ok(()) => {
            capabilities.registered_buffers = true;
            Some(shift)
        }
        Err(error) => {
            let bytes = stride as u64 * u64::from(plan.slots);
            capabilities.fallbacks.push(why_plain(&error, bytes));
            None
        }
    }
}

/// The message for buffers that could not be registered.
fn why_plain(error: &io::Error, bytes: u64) -> String {
    let need = format!("{} of buffers", stripewise_units::format_bytes(bytes));
    let cost = "buffers are plain and each operation pins its own, which costs CPU";
    match error.raw_os_error() {
        Some(libc::ENOMEM | libc::EPERM) => {
            let limit = rustix::process::getrlimit(rustix::process::Resource::Memlock).current;
            let limit = limit.map_or("no limit".to_owned(), |limit| {
                stripewise_units::format_bytes(limit)
            });
            format!(
                "registered buffers were refused ({error}): {need} per thread do not fit the \
                 memlock limit ({limit} for all of a user's programs); {cost}; raise it with \
                 ulimit -l, LimitMEMLOCK= or /etc/security/limits.conf"
            )
        }
        _ => format!("registered buffers were refused for {need} ({error}); {cost}"),
    }
}

/// Whether this system allows creating rings; cheap, called before choosing.
///
/// # Errors
/// Why it does not.
pub fn probe() -> Result<()> {
    ring::<Submission>(1, false, &mut Capabilities::default()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discards_of_devices_are_asked_of_kernels_that_have_them() {
        for (release, has) in [
            ("6.12.0", true),
            ("6.12-rc1", true),
            ("6.18.44-fc-v669", true),
            ("7.0.0+", true),
            ("6.11.9-generic", false),
            ("6.1.0-37-cloud-amd64", false),
            ("5.15.0", false),
            ("6", false),
            ("", false),
            ("tomorrow", false),
        ] {
            assert_eq!(has_device_discards(release), has, "{release}");
        }
    }
}
