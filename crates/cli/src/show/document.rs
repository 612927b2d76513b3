//! The one JSON document of a command.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::style::printable;
use crate::show::terminal::Output;
use serde::Serialize;
use stripewise_report::plain_json;

/// The document of a command, as the last event.
#[derive(Serialize)]
struct DocumentEvent<'a> {
    event: &'static str,
    document: &'a serde_json::Value,
}

impl Output {
    /// Prints an indented document to stdout with a final newline. A broken pipe
    /// is not a failure.
    pub fn print_json(&self, document: &impl Serialize) -> Outcome<()> {
        let mut text = serde_json::to_string_pretty(document)
            .map_err(|error| Failure::of(Exit::Usage, error))?;
        text.push('\n');
        self.print_exact(&text);
        Ok(())
    }

    /// Prints a value as a line of JSON.
    pub fn print_line(&self, event: &impl Serialize) {
        // All fields are plain with text keys, so serialisation cannot fail.
        if let Ok(text) = serde_json::to_string(event) {
            self.print(plain_json(&format!("{text}\n")).as_bytes());
        }
    }

    /// Prints text for people to stdout, without foreign control characters.
    pub fn print_text(&self, text: &str) {
        self.print(self.shown(text).as_bytes());
    }

    /// Prints lines that already fit, a single line for logs whatever its length, and text that
    /// another program reads: plans, scripts, the output of SQLIO.
    pub fn print_lines(&self, text: &str) {
        self.print(printable(text).as_bytes());
    }

    /// Prints a JSON document as it is, but escapes control characters
    /// inside its strings. A broken pipe means that the reader has
    /// enough; any other error is reported when the command ends.
    pub fn print_exact(&self, text: &str) {
        if self.expects_events()
            && let Ok(document) = serde_json::from_str(text)
        {
            return self.print_line(&DocumentEvent {
                event: "document",
                document: &document,
            });
        }
        self.print(plain_json(text).as_bytes());
    }

    /// Something the user must know, on stderr.
    pub fn note(&self, text: impl std::fmt::Display) {
        self.explain(&format!("note: {text}\n"));
    }
}
