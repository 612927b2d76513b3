//! Reasons for refusing to write to a device.

use crate::Problem;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Reasons for refusing to write to a device. Crates with more error classes convert it with
/// [`Problem::into_class`].
pub type Error = Problem<ErrorKind>;

/// Classes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The device does not exist, or it vanished.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It exists, but is not a writable device: a file, no medium, or unknown to the kernel.
    Unusable,
    /// A rule forbids it whatever the flags: mounted, swap, held, open, not named.
    Refused,
    /// Writing to it needs `--destroy NAME`.
    NeedsDestroy,
    /// Unable to check whether a program has it open: needs `--busy-ok`.
    NeedsBusyOk,
    /// An I/O error of the device.
    Io,
}
