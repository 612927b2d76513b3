//! Selects a back end by name. The caller chooses once per run, then calls generic code: nothing is
//! dispatched per operation.

use crate::Result;
use crate::backend::{linux_io_uring, sys, windows_iocp};
use std::fmt;
use std::str::FromStr;
use stripewise_units::nearest;

stripewise_units::named! {
    /// The name of an engine as requested.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum EngineName {
        /// The best one that works here.
        #[default]
        Auto = "auto",
        /// `io_uring`.
        Uring = "uring",
        /// Commands passed through to NVMe namespaces by `io_uring`; only for generic character devices
        /// (`/dev/ng0n1`).
        Nvme = "nvme",
        /// Overlapped I/O and a completion port.
        Iocp = "iocp",
        /// Blocking calls on threads.
        Threads = "threads",
        /// Does nothing, instantly.
        Null = "null",
    }
}

impl EngineName {
    /// Whether it works here, as far as can be determined without files; cheap.
    ///
    /// # Errors
    /// Why it does not.
    pub fn probe(self) -> Result<()> {
        match self {
            EngineName::Uring => linux_io_uring::probe(),
            EngineName::Iocp => windows_iocp::probe(),
            EngineName::Auto | EngineName::Nvme | EngineName::Threads | EngineName::Null => Ok(()),
        }
    }

    /// Whether it supports polled completions.
    pub fn polls(self) -> bool {
        matches!(
            self,
            EngineName::Auto | EngineName::Uring | EngineName::Nvme
        )
    }

    /// The engine to use: never [`EngineName::Auto`], and for `auto` the reason if it is not the
    /// best one. An explicitly requested engine is not replaced.
    pub fn choose(self) -> Choice {
        if self != EngineName::Auto {
            return Choice {
                engine: self,
                because: None,
            };
        }
        let native = sys::NATIVE_ENGINE;
        match native.probe() {
            Ok(()) => Choice {
                engine: native,
                because: None,
            },
            Err(error) => Choice {
                engine: EngineName::Threads,
                because: Some(format!(
                    "the threads engine is used instead of {}: {error}",
                    error.engine
                )),
            },
        }
    }
}

/// See [`EngineName::choose`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The engine to use.
    pub engine: EngineName,
    /// Why it is not a better one; one sentence.
    pub because: Option<String>,
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EngineName {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
        EngineName::from_name(text).ok_or_else(|| {
            let near = match text {
                // As fio calls them.
                "libaio" | "posixaio" | "io_uring" => Some("uring"),
                "io_uring_cmd" => Some("nvme"),
                "windowsaio" => Some("iocp"),
                "sync" | "psync" | "vsync" | "pvsync" | "pvsync2" => Some("threads"),
                _ => nearest(text, EngineName::ALL.map(EngineName::name)),
            };
            let near = near.map(|near| format!("; did you mean {near}?"));
            format!(
                "`{text}` is not an engine: it is auto, uring, nvme, iocp, threads or null{}",
                near.unwrap_or_default()
            )
        })
    }
}

/// Windows error numbers are this plus the Win32 code, to distinguish them from those of Unix in
/// records.
pub const WIN32_ERRORS_FROM: i32 = 1_000_000;

/// The name of an error number as in manuals (`EIO`, `ERROR_CRC`), or `error 200`,
/// `Win32 error 200`. Numbers are those of completions, from any system; simulated arrays use the
/// common ones of Unix.
pub fn error_name(number: i32) -> String {
    let (names, number, unknown) = match number {
        WIN32_ERRORS_FROM.. => (WIN32_NAMES, number - WIN32_ERRORS_FROM, "Win32 error"),
        _ => (UNIX_NAMES, number, "error"),
    };
    let known = names.iter().find(|(known, _)| *known == number);
    known.map_or_else(
        || format!("{unknown} {number}"),
        |(_, name)| (*name).to_owned(),
    )
}

const UNIX_NAMES: &[(i32, &str)] = &[
    (1, "EPERM"),
    (2, "ENOENT"),
    (4, "EINTR"),
    (5, "EIO"),
    (6, "ENXIO"),
    (9, "EBADF"),
    (11, "EAGAIN"),
    (12, "ENOMEM"),
    (13, "EACCES"),
    (14, "EFAULT"),
    (16, "EBUSY"),
    (19, "ENODEV"),
    (22, "EINVAL"),
    (27, "EFBIG"),
    (28, "ENOSPC"),
    (29, "ESPIPE"),
    (30, "EROFS"),
    (38, "ENOSYS"),
    (61, "ENODATA"),
    (84, "EILSEQ"),
    (95, "EOPNOTSUPP"),
    (110, "ETIMEDOUT"),
    (117, "EUCLEAN"),
    (121, "EREMOTEIO"),
    (122, "EDQUOT"),
    (125, "ECANCELED"),
];

/// From `winerror.h`: errors of reads, writes and flushes of files and disks.
const WIN32_NAMES: &[(i32, &str)] = &[
    (1, "ERROR_INVALID_FUNCTION"),
    (2, "ERROR_FILE_NOT_FOUND"),
    (5, "ERROR_ACCESS_DENIED"),
    (6, "ERROR_INVALID_HANDLE"),
    (8, "ERROR_NOT_ENOUGH_MEMORY"),
    (19, "ERROR_WRITE_PROTECT"),
    (21, "ERROR_NOT_READY"),
    (23, "ERROR_CRC"),
    (25, "ERROR_SEEK"),
    (27, "ERROR_SECTOR_NOT_FOUND"),
    (29, "ERROR_WRITE_FAULT"),
    (30, "ERROR_READ_FAULT"),
    (31, "ERROR_GEN_FAILURE"),
    (32, "ERROR_SHARING_VIOLATION"),
    (33, "ERROR_LOCK_VIOLATION"),
    (38, "ERROR_HANDLE_EOF"),
    (50, "ERROR_NOT_SUPPORTED"),
    (55, "ERROR_DEV_NOT_EXIST"),
    (59, "ERROR_UNEXP_NET_ERR"),
    (64, "ERROR_NETNAME_DELETED"),
    (87, "ERROR_INVALID_PARAMETER"),
    (112, "ERROR_DISK_FULL"),
    (121, "ERROR_SEM_TIMEOUT"),
    (170, "ERROR_BUSY"),
    (483, "ERROR_DEVICE_HARDWARE_ERROR"),
    (995, "ERROR_OPERATION_ABORTED"),
    (998, "ERROR_NOACCESS"),
    (1006, "ERROR_FILE_INVALID"),
    (1117, "ERROR_IO_DEVICE"),
    (1167, "ERROR_DEVICE_NOT_CONNECTED"),
    (1295, "ERROR_DISK_QUOTA_EXCEEDED"),
    (1392, "ERROR_FILE_CORRUPT"),
    (1393, "ERROR_DISK_CORRUPT"),
    (1450, "ERROR_NO_SYSTEM_RESOURCES"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_typed_as_they_are_printed() {
        for name in EngineName::ALL {
            assert_eq!(name.to_string().parse(), Ok(name));
        }
        assert!("libaio".parse::<EngineName>().is_err());
    }

    #[test]
    fn error_numbers_have_the_names_of_their_system() {
        let cases = [
            (5, "EIO"),
            (200, "error 200"),
            (WIN32_ERRORS_FROM + 5, "ERROR_ACCESS_DENIED"),
            (WIN32_ERRORS_FROM + 1117, "ERROR_IO_DEVICE"),
            (WIN32_ERRORS_FROM + 9999, "Win32 error 9999"),
        ];
        for (number, name) in cases {
            assert_eq!(error_name(number), name);
        }
    }

    #[test]
    fn auto_is_decided_and_others_are_kept() {
        let choice = EngineName::Auto.choose();
        assert_ne!(choice.engine, EngineName::Auto);
        assert_eq!(
            choice.because.is_some(),
            choice.engine == EngineName::Threads
        );
        assert_eq!(
            EngineName::Null.choose(),
            Choice {
                engine: EngineName::Null,
                because: None
            }
        );
    }
}
