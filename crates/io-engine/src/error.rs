//! Errors that void a measurement. A single failed operation is not an error here but a completion
//! with a negative result.

use stripewise_units::Hint;

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
    /// What failed, as text.
    pub what: String,
    /// The next step, with options marked as [`Hint`] parses them; empty if `what` suffices.
    pub hint: &'static str,
    /// The operating system's error.
    #[source]
    pub os: Option<std::io::Error>,
}

impl Error {
    /// The next step, if any.
    pub fn hint(&self) -> Option<Hint> {
        Hint::from(self.hint).unless_empty()
    }
}

/// The error for polled completions in an engine without them.
pub(crate) fn refuse_polling(engine: &'static str) -> Error {
    Error {
        kind: ErrorKind::Unsupported,
        engine,
        what: "only io_uring polls for completions".to_owned(),
        hint: "use <--engine> uring, or leave out --poll",
        os: None,
    }
}

/// Classes of failure.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// This engine does not exist on this system (no io_uring in the kernel, forbidden by sysctl or
    /// seccomp); another one may work.
    Unsupported,
    /// Out of memory, descriptors or threads.
    Resources,
    /// The ring or pool failed in use.
    Broken,
}
