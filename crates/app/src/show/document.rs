//! The one JSON document of a command.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use crate::show::style::printable;
use serde::Serialize;
use std::io::{ErrorKind, Write};
use std::sync::OnceLock;
use stripewise_report::wrapped;

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

/// Why stdout did not take what was printed; the first reason counts.
static UNWRITTEN: OnceLock<std::io::Error> = OnceLock::new();

/// Prints text for people to stdout, without control characters of others.
pub fn print_text(text: &str) {
    print_exact(&printable(text));
}

/// Prints a document byte for byte. A broken pipe means that the reader has seen
/// enough; any other error is told when the command has ended.
pub fn print_exact(text: &str) {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let _ = UNWRITTEN.set(error);
        }
        _ => {}
    }
}

/// The failure of a command whose answer could not be printed.
pub fn unwritten() -> Option<Failure> {
    UNWRITTEN.get().map(|error| {
        Failure::new(
            Exit::Target,
            format!("cannot write to stdout: {error}"),
            "make room where it goes; what was measured is kept: `stripewise history show last`",
        )
    })
}

/// Something that must be known, on stderr.
pub fn note(text: impl std::fmt::Display) {
    let text = wrapped(&format!("note: {text}"), "  ");
    eprint!("{}", printable(&text));
}
