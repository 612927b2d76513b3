//! How a command fails: an exit code, a chain of causes and a hint. The chain is
//! printed once, at the top.

use crate::exit_codes::Exit;
use crate::show::terminal;

/// A command's failure.
#[derive(Debug)]
pub struct Failure {
    /// What the process returns.
    pub exit: Exit,
    /// What failed, on what, why.
    pub error: anyhow::Error,
    /// The next thing to do.
    pub hint: Option<String>,
}

/// A command's result.
pub type Outcome<T = Exit> = Result<T, Failure>;

impl Failure {
    /// A failure with a message and a hint.
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Failure {
            exit,
            error: anyhow::Error::msg(message.into()),
            hint: Some(hint.into()),
        }
    }

    /// A mistake in what the user typed.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// Prints the chain and the hint where they can be read.
    pub fn print(&self) {
        terminal::insist(&self.text());
    }

    /// The chain and the hint, a line each.
    fn text(&self) -> String {
        let mut shown = self.error.to_string();
        let mut text = format!("error: {shown}\n");
        for cause in self.error.chain().skip(1) {
            let cause = cause.to_string();
            // Many errors already end in their cause's words.
            if !shown.contains(&cause) {
                text.push_str(&format!("  because: {cause}\n"));
            }
            shown = cause;
        }
        if let Some(hint) = &self.hint {
            text.push_str(&format!("hint: {hint}\n"));
        }
        text
    }
}
