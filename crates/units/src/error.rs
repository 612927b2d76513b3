//! One error for all text that people type: what was typed, where it is wrong,
//! why, and what is accepted.

use std::fmt;

/// Text that could not be understood.
///
/// `Display` gives the problem on one line; [`ParseError::hint`] gives what is
/// accepted instead.
///
/// ```
/// let error = "31.3K".parse::<stripewise_units::ByteSize>().unwrap_err();
/// assert_eq!(error.to_string(), "`31.3K` is not a whole number of bytes");
/// assert!(error.hint().contains("31.5K"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    typed: String,
    at: Option<usize>,
    problem: String,
    hint: String,
}

impl ParseError {
    /// `problem` completes the sentence "`typed` ...".
    #[must_use]
    pub fn new(typed: &str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        ParseError {
            typed: typed.to_owned(),
            at: None,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// Adds the byte at which the trouble starts; ignored where that is the
    /// beginning or not the start of a character.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at =
            (at > 0 && at < self.typed.len() && self.typed.is_char_boundary(at)).then_some(at);
        self
    }

    /// The text, as it was typed.
    #[must_use]
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// What is accepted, as the next thing to try.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// This error as that of a part of `whole`.
    pub(crate) fn within(self, whole: &str) -> Self {
        if whole == self.typed {
            return self;
        }
        ParseError::new(whole, format!("has a bad part: {self}"), self.hint)
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.typed.trim().is_empty() {
            return write!(f, "nothing was given where a value is needed");
        }
        write!(f, "`{}` {}", self.typed, self.problem)?;
        match self.at {
            Some(at) => write!(f, " (at `{}`)", &self.typed[at..]),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParseError {}
