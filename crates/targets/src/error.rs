//! Errors of a target, with hints on how to resolve them.
//!
//! Every refusal names what is in the way. `app` maps the class of an error to an exit code; the
//! hint is a separate line, never part of the message.

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
    /// The name or request is invalid on any machine.
    Usage,
    /// Nothing exists under that name, or it vanished after planning.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It exists but cannot be measured: a fifo, an empty file, a file system that does not support
    /// the request.
    Unusable,
    /// Forbidden by a safety rule that no flag overrides.
    Refused,
    /// Writing to this existing file needs `--overwrite`.
    NeedsOverwrite,
    /// Writing to this device needs `--destroy NAME`.
    NeedsDestroy,
    /// It looks like a live database or a busy device: needs `--busy-ok`.
    NeedsBusyOk,
    /// More than [`OUTSTANDING_MAX_UNASKED`](crate::OUTSTANDING_MAX_UNASKED) in flight without an
    /// explicit number.
    TooManyOutstanding,
    /// The file system would be left with too little free space, or ran out.
    NoSpace,
    /// The caller stopped the preparation.
    Interrupted,
    /// An I/O error of the device or file system.
    Io,
    /// Not yet supported on this operating system.
    Unsupported,
}

impl ErrorKind {
    /// Reading would work; only permission to write is missing: `bench` then runs its reads and
    /// reports that.
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

/// Refusal to replace an existing name.
pub(crate) fn exists(path: impl std::fmt::Display) -> Error {
    Error::new(
        ErrorKind::Refused,
        path,
        "already exists and is not replaced",
    )
    .with_hint("Choose another name, or remove it yourself.")
}
