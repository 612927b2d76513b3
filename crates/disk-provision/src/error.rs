//! What can be wrong with making a partition or a file system, and what to do.
//!
//! Every refusal names the thing that is in the way. The class of an error maps
//! to an exit code in `app`; the hint is a line of its own, never part of the
//! message.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was made, or not all of it.
pub type Error = stripewise_device_guard::Problem<ErrorKind>;

/// Classes of errors. Exit codes of `app`: 2 for [`Usage`](ErrorKind::Usage), 4
/// for [`Io`](ErrorKind::Io), 6 for [`NeedsBusyOk`](ErrorKind::NeedsBusyOk), 3 for all
/// others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The spec makes no sense for this device: an offset that its sectors
    /// cannot have, a size that does not fit, a file that is no saved table.
    Usage,
    /// There is nothing under that name.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It is there but cannot be used for this: no block device, no room, a
    /// kernel that shows no partitions on it.
    Unusable,
    /// A safety rule forbids it: mounted, swap, held, open, not named.
    Refused,
    /// It cannot be seen whether a program has it open: needs `--busy-ok`.
    NeedsBusyOk,
    /// A program that is needed is not installed.
    ToolMissing,
    /// A program that was run failed.
    ToolFailed,
    /// What was read back is not what was written.
    Unverified,
    /// An I/O error of the device or file.
    Io,
    /// Not there yet on this operating system.
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
