//! What can make a measurement void. A single failed operation is not an error
//! here but a completion with a negative result.

/// The crate's result.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure of the back end itself.
#[derive(Debug, thiserror::Error)]
#[error("{engine}: {what}{}", .os.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
pub struct Error {
    /// Its class.
    pub kind: ErrorKind,
    /// The engine's name.
    pub engine: &'static str,
    /// What failed, in words.
    pub what: String,
    /// The operating system's reason.
    #[source]
    pub os: Option<std::io::Error>,
}

/// Classes of failure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// This engine does not exist on this system (no io_uring in the kernel,
    /// forbidden by sysctl or seccomp); another one may do.
    Unsupported,
    /// Memory, descriptors or threads ran out.
    Resources,
    /// The ring or pool broke while in use.
    Broken,
}
