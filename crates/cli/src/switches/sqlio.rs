//! The switches of `sqlio`: SQLIO's own, joined to their values, and Stripewise's with two
//! dashes. They may be mixed in any order, since users who edit an old batch file append
//! switches to the line.

use clap::Args;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Drop-in for sqlio.exe: its switches, its output.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_help = "`stripewise sqlio -?` lists SQLIO's switches; docs/SQLIO.md says how each is understood.\n\
A binary or link of the name `sqlio` does the same without the word before."
)]
pub struct Sqlio {
    /// SQLIO's switches and file names: -kW -t8 -s60 -frandom -o4 -b8 -BH -LS -dL testfile.dat
    #[arg(
        allow_hyphen_values = true,
        trailing_var_arg = true,
        value_name = "SWITCHES"
    )]
    pub words: Vec<String>,
    /// What a drive letter stands for: L=/mnt/data, L=sim:NAME; for -R L=/dev/sdb, 1=/dev/sdc [env: STRIPEWISE_DRIVE_L]
    #[arg(long, value_name = "L=PATH")]
    pub drive: Vec<String>,
    #[command(flatten)]
    pub safety: super::run::TargetSafety,
    /// Label to store with the run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Print a stored result as SQLIO would have printed it
    #[arg(long, value_name = "RUN")]
    pub show: Option<String>,
    /// Print help
    #[arg(long, action = clap::ArgAction::HelpLong)]
    pub help: Option<bool>,
}

/// Stripewise's switches that take a value after a blank.
const WITH_VALUE: [&str; 6] = [
    "--store",
    "--color",
    "--drive",
    "--destroy",
    "--label",
    "--show",
];

/// Arranges the command line for clap: the program name `sqlio` becomes the
/// subcommand, and switches with two dashes come before SQLIO's words. Other
/// command lines stay as they are.
pub fn arranged(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.first().is_some_and(|program| is_sqlio(program)) {
        arguments.insert(1, OsString::from("sqlio"));
    }
    let Some(command) = subcommand_at(&arguments) else {
        return arguments;
    };
    let rest = arguments.split_off(command + 1);
    let mut words = Vec::new();
    let mut rest = rest.into_iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        // SQLIO has no -q, so it is the global switch.
        if text != "-q" && (!text.starts_with("--") || text == "--") {
            if text != "--" {
                words.push(word);
            }
            continue;
        }
        let takes_value = WITH_VALUE.contains(&text.as_ref());
        arguments.push(word);
        if takes_value {
            arguments.extend(rest.next());
        }
    }
    if !words.is_empty() {
        arguments.push(OsString::from("--"));
        arguments.extend(words);
    }
    arguments
}

/// `sqlio`, `SQLIO.EXE`, `/usr/bin/sqlio`.
pub fn is_sqlio(program: &OsStr) -> bool {
    let name = Path::new(program).file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".exe").unwrap_or(&name) == "sqlio"
}

/// Position of the word `sqlio` as the subcommand, if any.
fn subcommand_at(arguments: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = arguments.get(at) {
        let word = word.to_string_lossy();
        if WITH_VALUE.contains(&word.as_ref()) {
            at += 1;
        } else if !word.starts_with('-') {
            return (word == "sqlio").then_some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(typed: &str, expected: &str) {
        let words = typed.split(' ').map(OsString::from);
        let arranged: Vec<String> = arranged(words)
            .into_iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        assert_eq!(arranged.join(" "), expected, "{typed}");
    }

    #[test]
    fn our_switches_come_before_those_of_sqlio() {
        check(
            "stripewise sqlio -kW -t8 --drive L=/mnt -dL --overwrite test.dat",
            "stripewise sqlio --drive L=/mnt --overwrite -- -kW -t8 -dL test.dat",
        );
        check(
            "stripewise --store x.db sqlio -? --json",
            "stripewise --store x.db sqlio --json -- -?",
        );
        check(
            "stripewise sqlio -kR -q test.dat",
            "stripewise sqlio -q -- -kR test.dat",
        );
    }

    #[test]
    fn a_program_called_sqlio_needs_no_subcommand() {
        for program in ["sqlio", "SQLIO.EXE", "/opt/bin/Sqlio", "./sqlio.exe"] {
            check(
                &format!("{program} -kR -s5"),
                &format!("{program} sqlio -- -kR -s5"),
            );
        }
        check("sqlio", "sqlio sqlio");
    }

    #[test]
    fn other_commands_stay_as_they_are() {
        for typed in [
            "stripewise run sqlio --threads 4",
            "stripewise",
            "stripewise --json history list",
            "sqliosim -kR",
        ] {
            check(typed, typed);
        }
    }
}
