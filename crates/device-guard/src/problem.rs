//! What is wrong with a file or device, for the crates that do more than look:
//! `targets` and `disk-provision` have classes of their own and the same shape, so
//! that whoever prints an error finds message, reason and hint in one place.
//!
//! A refusal names the thing that is in the way. The class maps to an exit code;
//! the hint is a line of its own, never part of the message.

use stripewise_units::Hint;

/// Why a file or device cannot be used, or not in this way.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {what}{}", .os.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
pub struct Problem<Kind> {
    /// Its class.
    pub kind: Kind,
    /// The target as the user named it, or the file that is in the way.
    pub target: String,
    /// What is the case, in words, without a final stop.
    pub what: String,
    /// The next thing to do, a whole sentence; empty where there is none.
    pub hint: Hint,
    /// The operating system's reason.
    #[source]
    pub os: Option<std::io::Error>,
}

impl<Kind> Problem<Kind> {
    /// Without a hint, and without a reason of the operating system.
    pub fn new(kind: Kind, target: impl std::fmt::Display, what: impl Into<String>) -> Self {
        Problem {
            kind,
            target: target.to_string(),
            what: what.into(),
            hint: Hint::default(),
            os: None,
        }
    }

    /// With the next thing to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = hint.into();
        self
    }

    /// With the operating system's reason.
    #[must_use]
    pub fn with_os(mut self, os: std::io::Error) -> Self {
        self.os = Some(os);
        self
    }

    /// The same in another crate's classes.
    #[must_use]
    pub fn into_class<Other: From<Kind>>(self) -> Problem<Other> {
        Problem {
            kind: self.kind.into(),
            target: self.target,
            what: self.what,
            hint: self.hint,
            os: self.os,
        }
    }

    /// The next thing to do, a whole sentence.
    #[must_use]
    pub fn hint(&self) -> Option<&Hint> {
        (!self.hint.is_empty()).then_some(&self.hint)
    }

    /// Number of the operating system's reason.
    #[must_use]
    pub fn os_number(&self) -> Option<i32> {
        self.os.as_ref().and_then(std::io::Error::raw_os_error)
    }
}
