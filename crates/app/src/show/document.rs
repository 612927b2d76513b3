//! The one JSON document of a command.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::style::printable;
use crate::show::terminal;
use serde::Serialize;
use stripewise_report::{plain_json, wrapped};

/// Prints a document to stdout, pretty, with a final newline. A reader that went
/// away is no failure.
pub fn print_json(document: &impl Serialize) -> Outcome<()> {
    let mut text = serde_json::to_string_pretty(document).map_err(|error| Failure {
        exit: Exit::Usage,
        error: error.into(),
        hint: None,
    })?;
    text.push('\n');
    print_exact(&text);
    Ok(())
}

/// Prints text for people to stdout, without control characters of others.
pub fn print_text(text: &str) {
    terminal::print(printable(text).as_bytes());
}

/// Prints a JSON document as it is, but for letters that a terminal would act upon:
/// inside its strings they are escapes. A broken pipe means that the reader has seen
/// enough; any other error is reported when the command has ended.
pub fn print_exact(text: &str) {
    terminal::print(plain_json(text).as_bytes());
}

/// Something that must be known, on stderr.
pub fn note(text: impl std::fmt::Display) {
    terminal::tell(&wrapped(&format!("note: {text}"), "  "));
}
