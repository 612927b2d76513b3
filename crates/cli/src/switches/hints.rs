//! Hints that fit the command at hand.
//!
//! The crates below know one set of names for what can be asked for: the switches
//! of `run`. A command that lacks one of them says so, and a plan has a key for it:
//! nobody shall type what a hint says and be told that there is no such switch.

use super::Cli;
use clap::{Command, CommandFactory};
use std::collections::HashMap;
use stripewise_results::RunRecord;
use stripewise_workload::nearest;

/// A hint as it is printed by the command that this process was started with.
pub fn fitted_here(hint: &str) -> String {
    fitted(hint, &words_here())
}

/// A message with the names that switches have in the command of this process.
pub fn called_here(message: &str) -> String {
    let root = Cli::command();
    let (path, command) = named(&root, &words_here());
    match path.starts_with("lab") {
        // There the plan says it.
        true => message.to_owned(),
        false => called(message, command),
    }
}

/// What runs in steps calls their length so.
fn called(text: &str, command: &Command) -> String {
    match has_switch(command, "step") && !has_switch(command, "duration") {
        true => text.replace("--duration", "--step"),
        false => text.to_owned(),
    }
}

fn words_here() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Fits the hints of all warnings, for people; records in the store and in JSON
/// keep theirs.
pub fn fit_warnings(records: &mut [RunRecord]) {
    fit(records, fitted_here);
}

fn fit(records: &mut [RunRecord], fitted: impl Fn(&str) -> String) {
    // Hundreds of runs say the same few things.
    let mut fits: HashMap<String, String> = HashMap::new();
    for record in records {
        let jobs = record.jobs.iter_mut().flat_map(|job| &mut job.warnings);
        for warning in jobs.chain(&mut record.warnings) {
            let fit = fits
                .entry(warning.hint.clone())
                .or_insert_with_key(|hint| fitted(hint));
            warning.hint.clone_from(fit);
        }
    }
}

/// Fits the hints of a check that ran a baseline again: its load is the baseline's,
/// and switches of the load are refused.
pub fn fit_warnings_of_baseline(records: &mut [RunRecord]) {
    fit(records, |hint| {
        let load = [
            "block",
            "threads",
            "outstanding",
            "duration",
            "size",
            "ramp",
            "cache",
            "rate",
        ];
        let switches = switches_in(hint);
        match switches
            .iter()
            .any(|switch| load.contains(&switch.as_str()))
        {
            true => format!(
                "{hint} (the baseline says this: measure again with `stripewise run`, then \
                 `stripewise baseline set ID --replace`)"
            ),
            false => fitted_here(hint),
        }
    });
}

/// As [`fitted_here`], of the command of these words.
fn fitted(hint: &str, words: &[String]) -> String {
    let root = Cli::command();
    let (path, command) = named(&root, words);
    // A hint that writes a whole command line means that one; `sqlio` names its own
    // flags.
    if path.is_empty() || path == "sqlio" || hint.contains("`stripewise ") {
        return hint.to_owned();
    }
    let hint = called(hint, command);
    let run = root.find_subcommand("run");
    let elsewhere = |switch: &String| {
        let has = |command: &Command| has_switch(command, switch) || has_switch(&root, switch);
        !has(command) && run.is_some_and(has)
    };
    let lacking: Vec<String> = switches_in(&hint).into_iter().filter(elsewhere).collect();
    if lacking.is_empty() {
        return hint;
    }
    if path.starts_with("lab") {
        let keys: Vec<String> = lacking
            .iter()
            .map(|switch| format!("{switch} = ..."))
            .collect();
        return format!("{hint} In a plan that is {}", keys.join(", "));
    }
    let names: Vec<String> = lacking.iter().map(|switch| format!("--{switch}")).collect();
    format!(
        "{hint} ({}: a switch of `stripewise run`, not of `{path}`)",
        names.join(", ")
    )
}

/// The command of this process: `lab run`; empty where none was named.
pub fn command_here() -> String {
    named(&Cli::command(), &words_here()).0
}

/// The switch that was probably meant by one that the command lacks, and a hint that
/// says whose it is. `None` where nothing is near.
pub fn meant(unknown: &str) -> Option<String> {
    meant_by(unknown, &words_here())
}

fn meant_by(unknown: &str, words: &[String]) -> Option<String> {
    let root = Cli::command();
    let (path, command) = named(&root, words);
    let typed = unknown.trim_start_matches('-');
    let near = |command: &Command| {
        let names = command
            .get_arguments()
            .filter_map(|argument| (!argument.is_hide_set()).then(|| argument.get_long())?);
        nearest(typed, names).map(str::to_owned)
    };
    if let Some(name) = near(command).or_else(|| near(&root)) {
        return Some(format!("did you mean --{name}?"));
    }
    let name = near(root.find_subcommand("run")?)?;
    let question = match name == typed {
        true => String::new(),
        false => format!("did you mean --{name}? "),
    };
    Some(format!(
        "{question}use `stripewise run`: it has --{name}, `stripewise {path}` does not"
    ))
}

/// The command that the words name, with its name in full: `lab run`.
fn named<'a>(root: &'a Command, words: &[String]) -> (String, &'a Command) {
    let (mut path, mut command) = (Vec::new(), root);
    for word in words {
        match command.find_subcommand(word) {
            Some(found) => {
                path.push(found.get_name());
                command = found;
            }
            // Switches of all commands may stand before the name.
            None if path.is_empty() => {}
            None => break,
        }
    }
    (path.join(" "), command)
}

fn has_switch(command: &Command, name: &str) -> bool {
    let mut switches = command.get_arguments();
    switches.any(|switch| switch.get_long() == Some(name))
}

/// The names behind `--` in a text, each once.
fn switches_in(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (at, _) in text.match_indices("--") {
        let name: String = text[at + 2..]
            .chars()
            .take_while(|sign| sign.is_ascii_lowercase() || *sign == '-')
            .collect();
        let name = name.trim_end_matches('-').to_owned();
        if !name.is_empty() && !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_that_the_command_lacks_is_told_where_it_is() {
        let cases = [
            ("run /data", "use --engine threads", "use --engine threads"),
            (
                "-q bench /data",
                "use --engine threads",
                "use --engine threads",
            ),
            (
                "check /data",
                "use --engine threads, or --size",
                "use --engine threads, or --size (--engine: a switch of `stripewise run`, not of `check`)",
            ),
            (
                "lab run plan.toml",
                "Ask for a smaller file (`--size`).",
                "Ask for a smaller file (`--size`). In a plan that is size = ...",
            ),
            (
                "align /data",
                "measure longer: --duration 3s",
                "measure longer: --step 3s",
            ),
            // Other programs' switches, and whole command lines.
            (
                "check x",
                "`losetup --direct-io=on`",
                "`losetup --direct-io=on`",
            ),
            (
                "check x",
                "`stripewise run x --ramp 5s`",
                "`stripewise run x --ramp 5s`",
            ),
            ("--version", "use --engine threads", "use --engine threads"),
        ];
        for (line, hint, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(fitted(hint, &words), expected, "{line}");
        }
    }

    #[test]
    fn a_switch_that_only_run_has_is_said_to_be_there() {
        let cases = [
            (
                "bench --thread 4",
                "--thread",
                Some(
                    "did you mean --threads? use `stripewise run`: it has --threads, `stripewise bench` does not",
                ),
            ),
            (
                "bench . --threads 100000",
                "--threads",
                Some("use `stripewise run`: it has --threads, `stripewise bench` does not"),
            ),
            ("bench --sizes 1G", "--sizes", Some("did you mean --size?")),
            (
                "run --thread 4",
                "--thread",
                Some("did you mean --threads?"),
            ),
            ("history --jsn", "--jsn", Some("did you mean --json?")),
            ("bench --wherever 1", "--wherever", None),
        ];
        for (line, unknown, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(meant_by(unknown, &words).as_deref(), expected, "{line}");
        }
    }
}
