//! Errors of files and devices, for all crates that do more than inspect, so that error output finds
//! message, reason and hint in one place.
//!
//! A refusal names the obstacle. The class maps to an exit code; the hint is a separate line, never
//! part of the message.

use stripewise_units::Hint;

/// The result of what may be refused.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file or device cannot be used, or not in this way.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {what}{}", .os.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
pub struct Error {
    /// Its class.
    pub kind: ErrorKind,
    /// The target as given by the user, or the conflicting file.
    pub target: String,
    /// The problem, in words, without a full stop.
    pub what: String,
    /// The next step, a whole sentence; may be empty.
    pub hint: Hint,
    /// The operating system's error.
    #[source]
    pub os: Option<std::io::Error>,
}

/// Classes of errors. Exit codes of `app`: 2 for [`Usage`](ErrorKind::Usage), 4
/// for [`Io`](ErrorKind::Io), 6 for [`NeedsBusyOk`](ErrorKind::NeedsBusyOk), 130 for
/// [`Interrupted`](ErrorKind::Interrupted), 3 for all others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The request is invalid on any machine, or for this device: an offset not possible with its
    /// sectors, a size that does not fit.
    Usage,
    /// Nothing exists under that name, or it vanished after planning.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It exists but cannot be used for this: a fifo, an empty file, no medium, a file system that
    /// does not support the request, a kernel that shows no partitions on it.
    Unusable,
    /// A rule forbids it whatever the flags: mounted, swap, held, open, not named.
    Refused,
    /// Writing to this existing file needs `--overwrite`.
    NeedsOverwrite,
    /// Writing to this device needs `--destroy NAME`.
    NeedsDestroy,
    /// It looks like a live database or a busy device, or whether a program has it open cannot be
    /// determined: needs `--busy-ok`.
    NeedsBusyOk,
    /// More in flight than is allowed without an explicit number.
    TooManyOutstanding,
    /// What is there has fewer bytes than are needed.
    TooSmall,
    /// The file system would be left with too little free space, or ran out.
    NoSpace,
    /// The caller stopped the preparation.
    Interrupted,
    /// A required program is not installed.
    ToolMissing,
    /// A program that was run failed.
    ToolFailed,
    /// The data read back differs from what was written.
    Unverified,
    /// An I/O error of the device, file or file system.
    Io,
    /// Not supported on this operating system yet.
    Unsupported,
}

impl ErrorKind {
    /// Reading would work; only permission to write is missing: `bench` then runs its reads and
    /// reports that.
    pub fn lacks_write_permission(self) -> bool {
        matches!(self, ErrorKind::NeedsOverwrite | ErrorKind::NeedsDestroy)
    }
}

impl Error {
    /// Without a hint and without an operating system error.
    pub fn new(kind: ErrorKind, target: impl std::fmt::Display, what: impl Into<String>) -> Self {
        Error {
            kind,
            target: target.to_string(),
            what: what.into(),
            hint: Hint::default(),
            os: None,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds the operating system's error.
    #[must_use]
    pub fn with_os(mut self, os: std::io::Error) -> Self {
        self.os = Some(os);
        self
    }

    /// The next step, a whole sentence.
    pub fn hint(&self) -> Option<&Hint> {
        (!self.hint.is_empty()).then_some(&self.hint)
    }

    /// The operating system's error number.
    pub fn os_number(&self) -> Option<i32> {
        self.os.as_ref().and_then(std::io::Error::raw_os_error)
    }
}
