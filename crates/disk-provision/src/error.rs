//! Errors of making a partition or a file system, with hints.
//!
//! Every refusal names what is in the way. `app` maps the class of an error to an exit code; the
//! hint is a separate line, never part of the message.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was made, or only part of it.
pub type Error = stripewise_device_guard::Problem<ErrorKind>;

/// Classes of errors. Exit codes of `app`: 2 for [`Usage`](ErrorKind::Usage), 4
/// for [`Io`](ErrorKind::Io), 6 for [`NeedsBusyOk`](ErrorKind::NeedsBusyOk), 3 for all
/// others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The spec is invalid for this device: an offset not possible with its sectors, a size that
    /// does not fit, a file that is not a saved table.
    Usage,
    /// Nothing exists under that name.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It exists but cannot be used for this: not a block device, no space, a kernel that shows no
    /// partitions on it.
    Unusable,
    /// A safety rule forbids it: mounted, swap, held, open, or not named.
    Refused,
    /// It cannot be determined whether a program has it open: needs `--busy-ok`.
    NeedsBusyOk,
    /// A required program is not installed.
    ToolMissing,
    /// A program that was run failed.
    ToolFailed,
    /// The data read back differs from what was written.
    Unverified,
    /// An I/O error of the device or file.
    Io,
    /// Not supported on this operating system yet.
    Unsupported,
}

impl From<stripewise_device_guard::ErrorKind> for ErrorKind {
    fn from(kind: stripewise_device_guard::ErrorKind) -> Self {
        use stripewise_device_guard::ErrorKind as Guard;
        match kind {
            Guard::NotFound => ErrorKind::NotFound,
            Guard::Denied => ErrorKind::Denied,
            Guard::Unusable => ErrorKind::Unusable,
            Guard::Refused | Guard::NeedsDestroy => ErrorKind::Refused,
            Guard::NeedsBusyOk => ErrorKind::NeedsBusyOk,
            Guard::Io => ErrorKind::Io,
        }
    }
}
