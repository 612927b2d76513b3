//! The one JSON document of a command.

use crate::exit_codes::Exit;
use crate::failure::{Failure, Outcome};
use serde::Serialize;
use std::io::Write;

/// Prints a document to stdout, pretty, with a final newline. A reader that went
/// away is no failure.
pub fn print_json(document: &impl Serialize) -> Outcome<()> {
    let mut text = serde_json::to_string_pretty(document).map_err(|error| Failure {
        exit: Exit::Usage,
        error: error.into(),
        hint: None,
    })?;
    text.push('\n');
    print_text(&text);
    Ok(())
}

/// Prints text to stdout; a closed pipe ends the output quietly.
pub fn print_text(text: &str) {
    let mut out = std::io::stdout().lock();
    // A broken pipe means that the reader has seen enough; there is nobody left
    // to tell about any other error on stdout.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
