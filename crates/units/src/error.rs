//! The error for all typed text: the text, the position of the error, the reason, and the accepted
//! form.

use crate::Hint;
use std::fmt;

/// Text that could not be parsed.
///
/// `Display` gives the problem on one line; [`ParseError::hint`] gives the accepted form.
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
    pub fn new(typed: &str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        ParseError {
            typed: typed.to_owned(),
            at: None,
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// Adds the byte position of the error; ignored at the beginning or inside a character.
    #[must_use]
    pub fn at(mut self, at: usize) -> Self {
        self.at =
            (at > 0 && at < self.typed.len() && self.typed.is_char_boundary(at)).then_some(at);
        self
    }

    /// The text as typed.
    pub fn typed(&self) -> &str {
        &self.typed
    }

    /// What is wrong with it: `is not a valid duration`.
    pub fn problem(&self) -> &str {
        &self.problem
    }

    /// The accepted form, as the next thing to try.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    /// Turns an error in a part into one for `whole`.
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

/// Input, such as a plan, that cannot be used, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    problem: String,
    hint: Hint,
}

impl InputError {
    /// `problem` is a sentence about the input.
    pub fn new(problem: impl Into<String>, hint: impl Into<Hint>) -> Self {
        InputError {
            problem: problem.into(),
            hint: hint.into(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &Hint {
        &self.hint
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem)
    }
}

impl std::error::Error for InputError {}
