//! Why a device may not be written.

use crate::Problem;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a device may not be written. Whoever has more classes of errors turns it into its
/// own with [`Problem::into_class`].
pub type Error = Problem<ErrorKind>;

/// Classes of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is nothing under that name, or it vanished.
    NotFound,
    /// The operating system denies access.
    Denied,
    /// It is there, but no device that could be written: a file, no medium, unknown to
    /// the kernel.
    Unusable,
    /// A rule forbids it whatever the flags say: mounted, swap, held, open, not named.
    Refused,
    /// Writing to it needs `--destroy NAME`.
    NeedsDestroy,
    /// It cannot be seen whether a program has it open: needs `--busy-ok`.
    NeedsBusyOk,
    /// An I/O error of the device.
    Io,
}
