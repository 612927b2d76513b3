//! Errors of files and devices, for crates that do more than inspect: `targets` and
//! `disk-provision` have their own classes and the same structure, so that error output finds
//! message, reason and hint in one place.
//!
//! A refusal names the obstacle. The class maps to an exit code; the hint is a separate line, never
//! part of the message.

use stripewise_units::Hint;

/// Why a file or device cannot be used, or not in this way.
#[derive(Debug, thiserror::Error)]
#[error("{target}: {what}{}", .os.as_ref().map(|e| format!(": {e}")).unwrap_or_default())]
pub struct Problem<Kind> {
    /// Its class.
    pub kind: Kind,
    /// The target as given by the user, or the conflicting file.
    pub target: String,
    /// The problem, in words, without a full stop.
    pub what: String,
    /// The next step, a whole sentence; may be empty.
    pub hint: Hint,
    /// The operating system's error.
    #[source]
    pub os: Option<std::io::Error>,
}

impl<Kind> Problem<Kind> {
    /// Without a hint and without an operating system error.
    pub fn new(kind: Kind, target: impl std::fmt::Display, what: impl Into<String>) -> Self {
        Problem {
            kind,
            target: target.to_string(),
            what: what.into(),
            hint: Hint::default(),
            os: None,
        }
    }

    /// Adds the next step.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = hint.into();
        self
    }

    /// Adds the operating system's error.
    #[must_use]
    pub fn with_os(mut self, os: std::io::Error) -> Self {
        self.os = Some(os);
        self
    }

    /// Converts to another crate's classes.
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

    /// The next step, a whole sentence.
    #[must_use]
    pub fn hint(&self) -> Option<&Hint> {
        (!self.hint.is_empty()).then_some(&self.hint)
    }

    /// The operating system's error number.
    #[must_use]
    pub fn os_number(&self) -> Option<i32> {
        self.os.as_ref().and_then(std::io::Error::raw_os_error)
    }
}
