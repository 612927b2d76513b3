//! Errors: what could not be read, where, and how to resolve it.

use std::fmt;

/// Most lines listed individually; of further ones, only the count is reported.
const NAMED_MAX: usize = 20;

/// One line that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// From 1.
    pub line: u64,
    /// Reason, as the end of a sentence that begins with the line.
    pub reason: String,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.reason)
    }
}

/// A source that could not be read, or a command line that could not be parsed. Nothing was
/// imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{source_name}: {}", self.located_text())]
pub struct Error {
    source_name: String,
    problem: String,
    lines: Vec<LineProblem>,
    hint: String,
    interruption: bool,
    no_tool: bool,
}

impl Error {
    /// An error about the source as a whole.
    pub(crate) fn new(
        source_name: &str,
        problem: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Error {
            source_name: source_name.to_owned(),
            problem: problem.into(),
            lines: Vec::new(),
            hint: hint.into(),
            interruption: false,
            no_tool: false,
        }
    }

    /// The same, of what no known tool wrote.
    pub(crate) fn of_no_tool(self) -> Self {
        Error {
            no_tool: true,
            ..self
        }
    }

    /// Whether no known tool wrote the source: no result begins in it.
    pub fn is_of_no_tool(&self) -> bool {
        self.no_tool
    }

    /// The caller requested a stop.
    pub(crate) fn interruption(source_name: &str) -> Self {
        Error {
            interruption: true,
            ..Error::new(
                source_name,
                "was not read to its end: interrupted",
                "nothing was imported; start again to read it",
            )
        }
    }

    /// The same of a text in which this line is the first without the prefix that a log put before
    /// most others.
    pub(crate) fn of_log(self, line: u64) -> Self {
        if self.interruption {
            return self;
        }
        Error {
            problem: format!(
                "cannot be read: a log put a time or a name before most lines, but not before line {line}"
            ),
            lines: Vec::new(),
            hint: "give what the tool itself printed, without the log's prefixes, as `journalctl -o cat` and `docker logs` do".to_owned(),
            ..self
        }
    }

    /// Whether the caller's [`crate::Watch`] stopped reading; the source itself is not at fault.
    pub fn is_interruption(&self) -> bool {
        self.interruption
    }

    /// Errors in these lines; there is at least one.
    pub(crate) fn of_lines(
        source_name: &str,
        lines: Vec<LineProblem>,
        hint: impl Into<String>,
    ) -> Self {
        Error {
            lines,
            ..Error::new(source_name, String::new(), hint)
        }
    }

    /// The source as named by the user.
    pub fn source_name(&self) -> &str {
        &self.source_name
    }

    /// The lines that could not be read; empty if the source as a whole is at fault.
    pub fn lines(&self) -> &[LineProblem] {
        &self.lines
    }

    /// How to resolve it.
    pub fn hint(&self) -> &str {
        &self.hint
    }

    fn located_text(&self) -> String {
        if self.lines.is_empty() {
            return self.problem.clone();
        }
        let mut located_text: Vec<String> = self
            .lines
            .iter()
            .take(NAMED_MAX)
            .map(ToString::to_string)
            .collect();
        if self.lines.len() > NAMED_MAX {
            located_text.push(format!("and {} more lines", self.lines.len() - NAMED_MAX));
        }
        located_text.join("\n  ")
    }
}
