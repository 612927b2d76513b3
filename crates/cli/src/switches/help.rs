//! The output of `-h` and `--help`. `-h` fits a screen: the command's own switches, without
//! the rare ones. `--help` has everything, in the same groups.

use super::{Cli, GROUPS};
use clap::{Arg, Command, CommandFactory};
use std::fmt::Write as _;
use stripewise_lab::profiles::profiles;

/// Switches that only `--help` lists, for every command.
const RARE: [&str; 6] = ["seed", "engine", "label", "columns", "percentiles", "cores"];

/// The same for one command.
const RARE_OF: [(&str, &[&str]); 7] = [
    (
        "run",
        &[
            "discard",
            "discard-percent",
            "stride",
            "in-turn",
            "sync",
            "atomic",
            "dsync",
            "poll",
            "think-time",
            "arrivals",
            "cursor",
            "compressible",
            "dedupable",
            "ramp",
            "interval",
            "cpus",
            "alone",
            "cache-size",
            "mix",
            "request",
            "show-request",
            "start-at",
            "speed",
            "copies",
            "idle-max",
            "loop",
            "trace",
        ],
    ),
    ("bench", &["precondition", "block", "no-report", "step"]),
    ("align", &["anyway", "cause", "blocks", "cache-size"]),
    (
        "verify",
        &["sync", "outstanding", "read-percent", "stop-after"],
    ),
    ("check", &["metric", "changed", "cache-size", "size"]),
    ("report", &["source", "tool", "series"]),
    ("lab run", &["readers", "blocks", "cache-size"]),
];

/// Rows of a command, a switch and its text.
macro_rules! short {
    ($($command:literal $switch:literal: $text:literal;)+) => {
        [$(($command, $switch, $text)),+]
    };
}

/// The text of `-h` for switches with a long text, for a command or, without a name, for all.
const SHORT: [(&str, &str, &str); 46] = short! {
    "" "overwrite": "Write to a file of yours; ITS CONTENT IS LOST";
    "" "busy-ok": "Measure a busy device or a live database anyway";
    "bench" "target": "A directory, a file, a block device, or sim:NAME";
    "bench" "slo": "Latency limit of the answer";
    "bench" "thorough": "A number to rely on: hours, a large file";
    "bench" "time": "Time for everything [default: 150s]";
    "bench" "size": "Bytes to use of the target, or of the test file";
    "bench" "cache-size": "Of the controller or device, if known";
    "bench" "read-only": "No writes";
    "bench" "like": "The four lines of another tool";
    "bench" "expect": "Half as fast as this simulated array?";
    "bench" "require": "'random-read iops>=20000', 'log p99<1ms'";
    "bench" "report": "To this file: html, png, svg, csv, md, json";
    "bench" "destroy": "Write to this block device; ITS CONTENT IS LOST";
    "run" "target": "A directory, a file, a block device, or sim:NAME";
    "run" "plan": "Several jobs at once, from a file";
    "run" "profile": "The I/O of a use: sqlserver-oltp, postgresql ...";
    "run" "block": "Block size, or a list [default: 8K]";
    "run" "outstanding": "Queue depth of each thread, or a list [default: 1]";
    "run" "base-offset": "First byte to use, or a list: 63s, 64K [default: 0]";
    "run" "size": "Bytes to use of the target, or of the test file";
    "run" "cache": "direct, direct-sync, buffered, buffered-sync ...";
    "run" "rate": "Open loop: operations arrive at this rate";
    "run" "distribution": "uniform, covering, zipf:THETA, hot:SPACE/OPERATIONS";
    "run" "duration": "Measured time [default: 10s]";
    "run" "repeat": "Repeat N times and print the medians";
    "run" "require": "To be met or missed: 'iops>=20000', 'p99<5ms'";
    "run" "steady": "First write until no cache absorbs the load";
    "run" "verify": "Compare what is read with what was written";
    "run" "destroy": "Write to this block device; ITS CONTENT IS LOST";
    "align" "target": "A block device, a directory, a file, or sim:NAME";
    "align" "outstanding": "Queue depth of each thread [default: 4]";
    "align" "time": "Time for everything [default: 10m]";
    "align" "step": "Measured time of one run [default: 1s]";
    "align" "size": "Bytes to use of the target, or of the test file";
    "align" "destroy": "Write to this block device; ITS CONTENT IS LOST";
    "verify" "capacity": "The whole device once: its real capacity";
    "verify" "image": "Only read what --keep left here";
    "verify" "power-cut": "Write and flush until the power fails";
    "verify" "after-cut": "Judge what survived; only reads";
    "verify" "duration": "How long to work [default: 5m]";
    "verify" "cache": "Caches to go through";
    "verify" "witness": "Where the witness of --power-cut is";
    "verify" "size": "Bytes to use of the target, or of the test file";
    "verify" "profile": "Use the I/O of this profile instead";
    "verify" "destroy": "Write to this block device; ITS CONTENT IS LOST";
};

/// The command line with arranged help.
pub fn command() -> Command {
    let root = Cli::command();
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{after-help}}",
        groups(&root).trim_end()
    );
    let shared = root.get_arguments().filter(|switch| switch.is_global_set());
    let mut shared = Command::new("")
        .disable_help_flag(true)
        .disable_version_flag(true)
        .max_term_width(100)
        .help_template("{options}")
        .args(shared.map(|switch| switch.clone().global(false)));
    let shared = shared.render_long_help();
    let codes = root.get_after_help().cloned().unwrap_or_default();
    let long = format!("Switches of every command:\n{shared}\n\n{codes}");
    arranged(root, "")
        .help_template(template)
        .after_help(
            "Of every command: --json, --events, --store FILE, --color WHEN, --explain, -q.\n\
             `stripewise COMMAND -h` shows its switches, `--help` explains all of them.",
        )
        .after_long_help(long)
}

/// A row for each command, with the name of its group before the first.
fn groups(root: &Command) -> String {
    let mut rows = String::new();
    for (group, names) in GROUPS {
        for (at, name) in names.iter().enumerate() {
            let group = if at == 0 { group } else { "" };
            let about = root.find_subcommand(name).and_then(Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(rows, "{group:<9}{name:<13}{about}");
        }
    }
    rows
}

/// A command and its subcommands: the text below the switches and rare switches
/// appear only in `--help`.
fn arranged(command: Command, path: &str) -> Command {
    let own = RARE_OF.iter().find(|(of, _)| *of == path);
    let own = own.map_or(&[][..], |(_, names)| names);
    let mut command = command.mut_args(|switch| {
        let name = name_of(&switch);
        let is_rare = RARE.contains(&name.as_str()) || own.contains(&name.as_str());
        let hidden = is_rare || switch.is_hide_short_help_set();
        let mut short = SHORT
            .iter()
            .filter(|(of, one, _)| *one == name && [path, ""].contains(of));
        let switch = with_names(switch.hide_short_help(hidden));
        match short.next() {
            Some((.., short)) => shortened(switch, short),
            None => switch,
        }
    });
    if !path.is_empty() {
        if let Some(text) = command.get_after_help().cloned() {
            command = command.after_long_help(text);
        }
        command = command.after_help(format!(
            "More: stripewise {path} --help (also --json, -q, as every command)"
        ));
    }
    let below: Vec<String> = command
        .get_subcommands()
        .map(|one| one.get_name().to_owned())
        .collect();
    for name in below {
        let path = format!("{path} {name}");
        command = command.mut_subcommand(name, |one| arranged(one, path.trim_start()));
    }
    command
}

/// Its name in the tables here: its long name, else its id.
fn name_of(switch: &Arg) -> String {
    let id = switch.get_id().as_str();
    switch.get_long().unwrap_or(id).to_owned()
}

/// Sets the text of `-h`, keeping the full one for `--help`.
fn shortened(switch: Arg, short: &'static str) -> Arg {
    let whole = switch.get_long_help().or(switch.get_help());
    let whole = whole.cloned().unwrap_or_default();
    switch.long_help(whole).help(short)
}

/// A switch that takes the name of a profile lists them all in `--help`.
fn with_names(switch: Arg) -> Arg {
    if switch.get_id() != "profile" {
        return switch;
    }
    let about = switch
        .get_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut text = format!("{about}\n");
    for (name, title) in profiles() {
        let _ = write!(text, "\n{name}: {title}");
    }
    switch.long_help(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` for each command and its subcommands, with their full names.
    fn each(command: &mut Command, path: &str, check: &mut impl FnMut(&mut Command, &str)) {
        check(command, path);
        for below in command.get_subcommands_mut() {
            let name = below.get_name().to_owned();
            if name != "help" {
                each(below, format!("{path} {name}").trim_start(), check);
            }
        }
    }

    fn built() -> Command {
        let mut root = command().term_width(80);
        root.build();
        root
    }

    #[test]
    fn the_short_help_of_every_command_fits_a_screen() {
        let mut wrong = Vec::new();
        each(&mut built(), "", &mut |command, path| {
            let help = command.render_help().to_string();
            let lines = help.trim_end().lines().count();
            let width = help.lines().map(|line| line.chars().count()).max();
            if lines > 40 || width > Some(80) || help.contains("--events <") {
                wrong.push(format!("{path}: {lines} lines, {width:?} columns\n{help}"));
            }
        });
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn a_default_is_printed_once() {
        let mut seen = 0;
        each(&mut built(), "", &mut |command, path| {
            for switch in command.get_arguments() {
                let help = switch.get_help().map(ToString::to_string);
                let defaults = switch.get_default_values();
                let prints_it = !defaults.is_empty() && !switch.is_hide_default_value_set();
                let is_flag = !switch.get_action().takes_values();
                if help.is_some_and(|help| help.contains("[default")) {
                    seen += 1;
                    let name = switch.get_id();
                    assert!(
                        !prints_it || is_flag,
                        "{path}: {name} prints its default twice"
                    );
                }
            }
        });
        assert!(seen > 10, "{seen} switches");
    }

    #[test]
    fn every_command_is_in_one_group() {
        let root = Cli::command();
        let mut all: Vec<&str> = root.get_subcommands().map(Command::get_name).collect();
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(all, grouped);
    }

    #[test]
    fn the_switches_of_the_tables_exist() {
        let rare = RARE_OF.iter();
        let rare = rare.flat_map(|(path, names)| names.iter().map(|name| (*path, *name)));
        let short = SHORT.iter().map(|(path, name, _)| (*path, *name));
        let mut left: Vec<(&str, &str)> = rare.chain(short).collect();
        each(&mut built(), "", &mut |command, path| {
            let has = |name: &str| {
                command
                    .get_arguments()
                    .any(|switch| name_of(switch) == name)
            };
            left.retain(|(of, name)| !["", path].contains(of) || !has(name));
        });
        assert_eq!(left, []);
    }

    #[test]
    fn help_of_a_use_lists_all_of_them() {
        let mut root = built();
        for path in ["advise", "run", "verify"] {
            let command = root.find_subcommand_mut(path).expect("a command");
            let help = command.render_long_help().to_string();
            for (name, _) in profiles() {
                assert!(help.contains(&format!("{name}: ")), "{path}: {name}");
            }
        }
    }
}
