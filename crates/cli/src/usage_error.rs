//! Reports errors of a command line, with a hint like all errors; and prints what `--help`
//! and `--version` request.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::terminal::Output;
use crate::switches::{hints, is_negative};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;
use std::error::Error;
use std::num::{IntErrorKind, ParseIntError};
use stripewise_results::SCHEMA_VERSION;
use stripewise_units::{ParseError, nearest, typeset};

/// Identifies the program.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Version<'a> {
    schema_version: u32,
    name: &'a str,
    version: &'a str,
    /// Absent in builds from no repository.
    commit: Option<&'a str>,
    system: &'a str,
    architecture: &'a str,
}

/// Reports an error of a command line, with a hint like all errors; or
/// prints what `--help` and `--version` requested.
pub fn complain(
    output: &Output,
    error: &clap::Error,
    words: &[String],
    commit: Option<&str>,
) -> Outcome {
    // The parser stops at `--version` and ignores the rest.
    let json_is_asked_for = || words.iter().any(|word| word == "--json");
    if error.kind() == ErrorKind::DisplayVersion && json_is_asked_for() {
        output.expect_document();
        output.print_json(&Version {
            schema_version: SCHEMA_VERSION,
            name: "stripewise",
            version: env!("CARGO_PKG_VERSION"),
            commit,
            system: std::env::consts::OS,
            architecture: std::env::consts::ARCH,
        })?;
        return Ok(Exit::Done);
    }
    if !error.use_stderr() {
        output.print_clap(error);
        return Ok(Exit::Done);
    }
    output.insist(&without_tips(&in_words(error)));
    if let Some(hint) = hint(error, words) {
        output.insist(&format!("hint: {hint}\n"));
    }
    Ok(Exit::Usage)
}

/// The parser's text; of a number that cannot be read the reason is in words that do not speak
/// of digits and types.
fn in_words(error: &clap::Error) -> String {
    let text = error.render().to_string();
    match (error.source(), number_trouble(error)) {
        (Some(source), Some(why)) => text.replace(&source.to_string(), why),
        _ => text,
    }
}

/// What is wrong with a number: one place for all options that take one, whatever it counts.
fn number_trouble(error: &clap::Error) -> Option<&'static str> {
    let source = error.source()?;
    match error.get(ContextKind::InvalidValue) {
        Some(ContextValue::String(typed)) if is_negative(typed) => {
            return Some("it must not be negative");
        }
        _ => {}
    }
    let whole = source.downcast_ref::<ParseIntError>()?;
    Some(match whole.kind() {
        IntErrorKind::PosOverflow => "it is too large",
        _ => "it is not a whole number",
    })
}

/// The parser's text without its own advice, and without the usage that it makes up around
/// a switch that it takes for the one that was meant: the hint stands for it, and is the only
/// one.
fn without_tips(text: &str) -> String {
    let advice = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("tip:")
            || line.starts_with("For more information")
            || line.starts_with("Usage: ") && !line.contains("[OPTIONS]")
    };
    let mut stored = String::new();
    let lines = text.lines().filter(|line| !advice(line));
    for line in lines {
        // Drop blank lines around removed text.
        if !line.is_empty() || !stored.ends_with("\n\n") {
            stored.push_str(line);
            stored.push('\n');
        }
    }
    stored.truncate(stored.trim_end().len());
    stored.push('\n');
    stored
}

/// The hint of the value parser that failed, else where the switches are
/// explained. If that was just printed, since no subcommand was given: how to begin, or `None`.
fn hint(error: &clap::Error, words: &[String]) -> Option<String> {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return hints::command_of(words)
            .is_empty()
            .then(|| BEGIN.to_owned());
    }
    Some(hint_of(error, words))
}

const BEGIN: &str = "begin with `stripewise bench DIRECTORY`, or without a disk with `stripewise bench sim:raid10-10k`";

fn hint_of(error: &clap::Error, words: &[String]) -> String {
    if let Some(sign) = words.iter().find_map(|word| typeset(word)) {
        return sign.hint();
    }
    let parse = error
        .source()
        .and_then(|source| source.downcast_ref::<ParseError>());
    if let Some(parse) = parse.filter(|parse| !parse.hint().is_empty()) {
        return parse.hint().to_owned();
    }
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let meant = match error.kind() {
        ErrorKind::UnknownArgument => {
            text(ContextKind::InvalidArg).and_then(|unknown| hints::meant(unknown, words))
        }
        ErrorKind::InvalidSubcommand => text(ContextKind::InvalidSubcommand)
            .and_then(|unknown| hints::intended_command(unknown, words)),
        ErrorKind::InvalidValue => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => text(ContextKind::InvalidValue)
                .and_then(|typed| nearest(typed, valid.iter().map(String::as_str)))
                .map(|value| format!("did you mean {value}?")),
            _ => None,
        },
        ErrorKind::MissingRequiredArgument => match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(missing))
                if missing.iter().any(|one| one.contains("--for"))
                    && hints::command_of(words) == "qualify" =>
            {
                Some("`stripewise qualify --list` prints the products; --for FILE.toml takes requirements of your own".to_owned())
            }
            _ => None,
        },
        _ => None,
    };
    if let Some(meant) = meant {
        return meant;
    }
    match hints::command_of(words).as_str() {
        "" => "`stripewise --help` lists the commands".to_owned(),
        command => format!("`stripewise {command} --help` explains every switch"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::switches::{Cli, parsed};
    use clap::{Command, CommandFactory};

    /// The error that the value of a switch is; none where only something else is missing.
    fn refused(path: &[String], switch: &str, value: &str) -> Option<clap::Error> {
        let words = std::iter::once("stripewise").chain(path.iter().map(String::as_str));
        let words = words.chain([switch, value]).map(Into::into).collect();
        let error = parsed(words, None).err()?;
        match error.kind() {
            ErrorKind::ValueValidation | ErrorKind::InvalidValue => Some(error),
            ErrorKind::UnknownArgument | ErrorKind::TooManyValues => {
                panic!("{path:?} {switch} {value}: {error}")
            }
            _ => None,
        }
    }

    fn switches(command: &Command, path: &[String], found: &mut Vec<(Vec<String>, String)>) {
        let valued = command.get_arguments();
        let valued = valued.filter(|one| one.get_action().takes_values());
        let names = valued.filter_map(clap::Arg::get_long);
        found.extend(names.map(|name| (path.to_vec(), format!("--{name}"))));
        for inner in command.get_subcommands() {
            let path = [path, &[inner.get_name().to_owned()]].concat();
            switches(inner, &path, found);
        }
    }

    /// Of every switch that takes a time, a size, a rate or a count.
    #[test]
    fn a_negative_number_is_called_one_whatever_it_counts() {
        let mut all = Vec::new();
        switches(&Cli::command(), &[], &mut all);
        let mut numbers = 0;
        for (path, switch) in &all {
            let is_refused = |value: &str| refused(path, switch, value).is_some();
            let may_be_number = ["5", "20", "5s", "5M"]
                .iter()
                .any(|value| !is_refused(value));
            if !may_be_number || !is_refused("x!") {
                continue;
            }
            numbers += 1;
            for value in ["-5", "-5s", "-0.5", "-.5"] {
                let error = refused(path, switch, value);
                let error = error.unwrap_or_else(|| panic!("{path:?} {switch} {value} is taken"));
                let text = in_words(&error);
                assert!(text.contains("it must not be negative"), "{path:?}: {text}");
            }
        }
        assert!(numbers > 60, "{numbers} of {}", all.len());
    }

    #[test]
    fn what_is_no_number_is_called_so() {
        let hint_text = |words: &[&str]| {
            let path: Vec<String> = words[..1].iter().map(|word| (*word).to_owned()).collect();
            in_words(&refused(&path, words[1], words[2]).expect("an error"))
        };
        for (words, why) in [
            (
                ["limits", "--price", "abc"],
                "`abc` is not a number from 0 on",
            ),
            (
                ["limits", "--price", "inf"],
                "`inf` is not a number from 0 on",
            ),
            (["bench", "--seed", "abc"], "it is not a whole number"),
            (["bench", "--seed", "1.5"], "it is not a whole number"),
            (
                ["bench", "--seed", "99999999999999999999"],
                "it is too large",
            ),
        ] {
            assert!(hint_text(&words).contains(why), "{}", hint_text(&words));
        }
    }
}
