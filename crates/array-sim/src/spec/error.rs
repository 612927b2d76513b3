//! Errors in an array file, explained for a reader who did not write it.

use std::fmt;

/// A problem in an array file, an override or a name.
///
/// `Display` gives the place, the key and the reason on one line; [`SpecError::hint`] gives the
/// next step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    origin: String,
    line: Option<usize>,
    key: String,
    problem: String,
    hint: String,
}

impl SpecError {
    pub(super) fn new(key: &str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        SpecError {
            origin: String::new(),
            line: None,
            key: key.to_owned(),
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    pub(super) fn at_line(mut self, line: Option<usize>) -> Self {
        self.line = self.line.or(line);
        self
    }

    pub(super) fn of(mut self, origin: &str) -> Self {
        if self.origin.is_empty() {
            origin.clone_into(&mut self.origin);
        }
        self
    }

    /// The file's name, or that of the array.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The line of the file, from 1; `None` for overrides.
    pub fn line(&self) -> Option<usize> {
        self.line
    }

    /// The key in question, as in `disk.rpm`; empty where the text is not TOML.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What to do next.
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "simulated array `{}`", self.origin)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ", key `{}`", self.key)?;
        }
        write!(f, ": {}", self.problem)
    }
}

impl std::error::Error for SpecError {}
