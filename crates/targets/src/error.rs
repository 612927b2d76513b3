//! What can be wrong with a target, and what to do about it.
//!
//! Every refusal names the thing that is in the way. The class of an error maps
//! to an exit code in `app`; the hint is a line of its own, never part of the
//! message.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a target cannot be used, or not in this way.
pub type Error = stripewise_device_guard::Problem<ErrorKind>;

/// Classes of errors. Exit codes of `app`: 2 for [`Usage`](ErrorKind::Usage),
/// 4 for [`Io`](ErrorKind::Io), 130 for
/// [`Interrupted`](ErrorKind::Interrupted), 3 for all others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The name or the wish makes no sense, whatever the machine looks like.
    Usage,
    /// There is nothing under that name, or it vanished since it was planned.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It is there but cannot be measured: a fifo, an empty file, a file
    /// system that refuses what was asked for.
    Unusable,
    /// A safety rule forbids it whatever the flags say.
    Refused,
    /// Writing to this existing file needs `--overwrite`.
    NeedsOverwrite,
    /// Writing to this device needs `--destroy NAME`.
    NeedsDestroy,
    /// It looks like a live database or a busy device: needs `--busy-ok`.
    NeedsBusyOk,
    /// More than [`OUTSTANDING_MAX_UNASKED`](crate::OUTSTANDING_MAX_UNASKED)
    /// in flight without having been asked for by number.
    TooManyOutstanding,
    /// The file system would be left with too little free space, or ran out.
    NoSpace,
    /// The caller stopped the preparation.
    Interrupted,
    /// An I/O error of the device or file system.
    Io,
    /// Not there yet on this operating system.
    Unsupported,
}

impl ErrorKind {
    /// Reads would do, only permission to write is missing: `bench` then runs
    /// its reads and says so.
    #[must_use]
    pub fn lacks_write_permission(self) -> bool {
        matches!(self, ErrorKind::NeedsOverwrite | ErrorKind::NeedsDestroy)
    }
}

impl From<stripewise_device_guard::ErrorKind> for ErrorKind {
    fn from(kind: stripewise_device_guard::ErrorKind) -> Self {
        use stripewise_device_guard::ErrorKind as Guard;
        match kind {
            Guard::NotFound => ErrorKind::NotFound,
            Guard::Denied => ErrorKind::Denied,
            Guard::Unusable => ErrorKind::Unusable,
            Guard::Refused => ErrorKind::Refused,
            Guard::NeedsDestroy => ErrorKind::NeedsDestroy,
            Guard::NeedsBusyOk => ErrorKind::NeedsBusyOk,
            Guard::Io => ErrorKind::Io,
        }
    }
}

/// A name that exists is never replaced.
pub(crate) fn exists(path: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Refused,
        path,
        "already exists and is not replaced",
    )
    .with_hint("Choose another name, or remove it yourself.")
}
