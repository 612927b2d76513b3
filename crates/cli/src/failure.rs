//! How a command fails: as the use case below it does, printed once, at the top.

use crate::show::terminal;
use crate::switches::hints::called_here;
pub use stripewise_campaign::{Failure, Outcome};

/// Prints the chain and the hint where they can be read.
pub fn print(failure: &Failure) {
    terminal::insist(&text(failure));
}

/// The chain and the hint, a line each.
fn text(failure: &Failure) -> String {
    let chain = match failure.option {
        // Names of options are those of switches here.
        Some(_) => called_here(&format!("--{}", failure.chain())),
        None => failure.chain(),
    };
    lines(&chain, failure.hint.as_deref())
}

/// What failed and what to do about it, as they are printed.
pub fn lines(chain: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("hint: {hint}\n"));
    format!("error: {chain}\n{}", hint.unwrap_or_default())
}
