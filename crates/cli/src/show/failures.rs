//! Prints a failure, once, at the top.

use crate::failure::Failure;
use crate::show::terminal::Output;

/// Prints the chain and the hint where they are visible.
pub fn print(output: &Output, failure: &Failure) {
    output.insist(&text(output, failure));
}

/// The chain and the hint, one line each.
fn text(output: &Output, failure: &Failure) -> String {
    let words = output.words();
    let chain = failure.chain();
    let of_option = |option| Some(words.option(option) + chain.strip_prefix(option)?);
    // The names of options are those of switches here.
    let named = failure.option.and_then(of_option);
    let hint = failure.hint.as_ref().map(|hint| words.hint(hint));
    lines(named.as_deref().unwrap_or(&chain), hint.as_deref())
}

/// The failure and its hint, as printed.
pub fn lines(chain: &str, hint: Option<&str>) -> String {
    let hint = hint.map(|hint| format!("hint: {hint}\n"));
    format!("error: {chain}\n{}", hint.unwrap_or_default())
}
