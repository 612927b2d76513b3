//! Reports errors of a command line, with a hint like all errors; and prints what `--help`
//! and `--version` request.

use crate::exit_codes::Exit;
use crate::failure::Outcome;
use crate::show::terminal::Output;
use crate::switches::hints;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;
use std::error::Error;
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
    output.insist(&without_tips(&error.render().to_string()));
    if let Some(hint) = hint(error, words) {
        output.insist(&format!("hint: {hint}\n"));
    }
    Ok(Exit::Usage)
}

/// The parser's text without its own advice, and without the usage that it prints around
/// a switch that it takes for the intended one: our hint replaces it, and is the only
/// one.
fn without_tips(text: &str) -> String {
    let advice = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("tip:")
            || line.starts_with("For more information")
            || line.starts_with("Usage: ") && !line.contains("[OPTIONS]")
    };
    let mut kept = String::new();
    let lines = text.lines().filter(|line| !advice(line));
    for line in lines {
        // Drop blank lines around removed text.
        if !line.is_empty() || !kept.ends_with("\n\n") {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept.truncate(kept.trim_end().len());
    kept.push('\n');
    kept
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
            .and_then(|unknown| hints::command_meant(unknown, words)),
        ErrorKind::InvalidValue => match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => text(ContextKind::InvalidValue)
                .and_then(|typed| nearest(typed, valid.iter().map(String::as_str)))
                .map(|value| format!("did you mean {value}?")),
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
