//! Failures that are more than a missing fact.

use crate::platform;
use std::path::PathBuf;
use stripewise_units::NameText;

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// Something that the caller named could not be inspected at all.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The path does not exist or access is denied.
    #[error("cannot inspect {}: {source}", .path.as_text())]
    Path {
        /// As given.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
    /// The device of an open file could not be determined.
    #[error("cannot inspect an open file: {0}")]
    File(#[source] std::io::Error),
    /// A device number or name that this machine does not have.
    #[error("there is no block device {0}")]
    NoDevice(String),
    /// Not yet implemented for this operating system.
    #[error("{0} cannot be inspected on this operating system yet")]
    Unsupported(&'static str),
}

impl Error {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Error::Path { source, .. } => match source.kind() {
                std::io::ErrorKind::NotFound => "check the spelling, and that it is mounted",
                std::io::ErrorKind::PermissionDenied => platform::HINT_RIGHTS,
                _ => platform::HINT_ANSWERS,
            },
            Error::File(_) => "check that its file system still answers, then run it again",
            Error::NoDevice(_) => platform::HINT_DEVICES,
            Error::Unsupported(_) => "use Linux for this, or name a `sim:` target",
        }
    }
}
