//! What can be wrong with making a partition or a file system, and what to do.
//!
//! Every refusal names the thing that is in the way. The class of an error maps
//! to an exit code in `app`; the hint is a line of its own, never part of the
//! message.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Why nothing was made, or not all of it.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {what}{}", .os.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
pub struct Error {
    /// Its class.
    pub kind: ErrorKind,
    /// The device or file as the user named it.
    pub target: String,
    /// What is the case, in words, without a final stop.
    pub what: String,
    /// The next thing to do, a whole sentence; empty where there is none.
    pub hint: String,
    /// The operating system's reason.
    #[source]
    pub os: Option<std::io::Error>,
}

/// Classes of errors. Exit codes of `app`: 2 for [`Usage`](ErrorKind::Usage), 4
/// for [`Io`](ErrorKind::Io), 3 for all others.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The wish makes no sense for this device: an offset that its sectors
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

impl Error {
    pub(crate) fn new(
        kind: ErrorKind,
        target: impl std::fmt::Display,
        what: impl Into<String>,
    ) -> Self {
        Error {
            kind,
            target: target.to_string(),
            what: what.into(),
            hint: String::new(),
            os: None,
        }
    }

    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }

    pub(crate) fn with_os(mut self, os: std::io::Error) -> Self {
        self.os = Some(os);
        self
    }

    /// The next thing to do, a whole sentence.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        (!self.hint.is_empty()).then_some(self.hint.as_str())
    }
}
