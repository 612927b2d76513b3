//! Every switch that a text of the program names is a switch of the program, and
//! of the command that the text belongs to.
//!
//! Texts are found by reading the sources: a hint that is rarely printed would
//! never be seen otherwise.

use crate::support::here;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Switches of other programs that texts speak of, and the hidden one.
const FOREIGN: [&str; 20] = [
    // Those that `stripewise-mpi` takes itself.
    "--map",
    "--shared",
    // fio's and elbencho's, whose output is read.
    "--client",
    "--status-interval",
    "--csvfile",
    "--jsonfile",
    // mdadm's.
    "--create",
    "--level",
    "--raid-devices",
    "--chunk",
    "--add",
    "--find",
    "--getro",
    "--inject",
    "--output-format",
    "--probe",
    "--sector-size",
    "--security-opt",
    "--setrw",
    "--direct-io",
];

/// Files that write command lines of other programs.
const FOREIGN_FILES: [&str; 3] = [
    "disk-provision/src/file_system/",
    "disk-provision/src/array.rs",
    "disk-provision/src/linux/array.rs",
];

/// The commands that have commands of their own.
const PARENTS: [(&str, &[&str]); 5] = [
    ("baseline", &["set", "list", "remove"]),
    ("history", &["show", "delete"]),
    ("lab", &["run", "plan", "resume", "init", "plans", "clean"]),
    ("probe", &["stripe", "flash"]),
    ("sim", &["list", "show"]),
];

/// Files of one command, in the crate of use cases and in the terminal's; texts of all
/// other files may be printed by any command.
const OWNERS: [(&str, &[&str]); 27] = [
    ("campaign/src/power_cut", &["verify"]),
    ("commands/align", &["align"]),
    ("campaign/src/align", &["align"]),
    ("commands/lab", &["lab"]),
    ("campaign/src/lab", &["lab"]),
    ("campaign/src/resume", &["lab"]),
    ("campaign/src/clean", &["lab"]),
    ("commands/bench", &["bench"]),
    ("commands/baseline", &["baseline"]),
    ("campaign/src/baseline", &["baseline"]),
    // Which baseline is meant is asked by both.
    ("steps/baselines", &["baseline", "check"]),
    ("commands/check", &["check"]),
    ("campaign/src/check", &["check"]),
    ("commands/compare", &["compare"]),
    ("campaign/src/compare", &["compare"]),
    ("commands/convert", &["convert"]),
    ("commands/disks", &["disks"]),
    ("campaign/src/disks", &["disks"]),
    ("commands/doctor", &["doctor"]),
    ("commands/export", &["export"]),
    ("commands/format", &["format"]),
    ("commands/history", &["history"]),
    ("campaign/src/history", &["history"]),
    ("commands/import", &["import"]),
    ("campaign/src/import", &["import"]),
    ("commands/partition", &["partition"]),
    ("commands/run", &["run"]),
];

/// The switches that `--help` of a command lists.
fn switches_of(command: &[&str]) -> BTreeSet<String> {
    let answer = here(&[command, &["--help"]].concat());
    let lines = answer.stdout.lines();
    lines
        .filter(|line| line.trim_start().starts_with('-'))
        .flat_map(switches_in)
        .collect()
}

/// `--words` of a text.
fn switches_in(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("--") {
        let before = text[..at].chars().next_back();
        let name: String = text[at + 2..]
            .chars()
            .take_while(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || *sign == '-')
            .collect();
        let is_word = name.starts_with(|sign: char| sign.is_ascii_lowercase());
        let stands_alone = before.is_none_or(|sign| !sign.is_ascii_alphanumeric() && sign != '-');
        if is_word && stands_alone {
            found.push(format!("--{}", name.trim_end_matches('-')));
        }
    }
    found
}

/// All commands with their switches, those of their own commands included.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let help = here(&["--help"]);
    let listed = help
        .stdout
        .lines()
        .skip_while(|line| !line.starts_with("Usage:"))
        .skip(2)
        .take_while(|line| !line.is_empty())
        // Behind the name of their group.
        .filter_map(|line| line.get(9..)?.split_whitespace().next());
    listed
        .map(|name| {
            let mut all = switches_of(&[name]);
            for (parent, children) in PARENTS {
                for child in children.iter().filter(|_| parent == name) {
                    all.extend(switches_of(&[parent, child]));
                }
            }
            (name.to_owned(), all)
        })
        .collect()
}

fn sources(below: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(below).expect("a directory") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        if path.is_dir() && name != Some("tests") {
            sources(&path, into);
        } else if path.extension().is_some_and(|end| end == "rs") && name != Some("tests.rs") {
            into.push(path);
        }
    }
}

/// The lines of a file that are the program's: no comments, no tests.
fn lines_of(path: &Path) -> Vec<(usize, String)> {
    let text = std::fs::read_to_string(path).expect("a source file");
    let numbered = text.lines().enumerate();
    numbered
        .take_while(|(_, line)| !line.starts_with("mod tests"))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .map(|(number, line)| (number + 1, line.to_owned()))
        .collect()
}

#[test]
fn every_switch_that_a_text_names_is_one_of_its_command() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&crates).expect("the workspace") {
        let source = entry.expect("an entry").path().join("src");
        if source.is_dir() {
            sources(&source, &mut files);
        }
    }
    assert!(files.len() > 200, "{} files", files.len());
    let commands = commands();
    let any: BTreeSet<&String> = commands.values().flatten().collect();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    let ours = |path: &&PathBuf| {
        let shown = path.to_string_lossy();
        !FOREIGN_FILES.iter().any(|part| shown.contains(part))
    };
    for path in files.iter().filter(ours) {
        let shown = path.to_string_lossy();
        let owner = OWNERS
            .iter()
            .find(|(part, _)| shown.contains(&format!("/{part}")));
        for (number, line) in lines_of(path) {
            let switches = switches_in(&line);
            if switches.is_empty() {
                continue;
            }
            // `stripewise run ... --repeat 6`: of a command that is named.
            let mut meant: Vec<&str> = commands
                .keys()
                .map(String::as_str)
                .filter(|name| line.contains(&format!("stripewise {name} ")))
                .collect();
            meant.extend(owner.iter().flat_map(|(_, owners)| owners.iter()));
            for switch in switches {
                seen += 1;
                let known = match meant.as_slice() {
                    [] => any.contains(&switch),
                    meant => meant.iter().any(|name| commands[*name].contains(&switch)),
                };
                if !known && !FOREIGN.contains(&switch.as_str()) {
                    wrong.push(format!(
                        "{}:{number}: {switch}: {}",
                        path.display(),
                        line.trim()
                    ));
                }
            }
        }
    }
    assert!(seen > 100, "{seen} switches in texts");
    assert!(wrong.is_empty(), "no such switch:\n{}", wrong.join("\n"));
}
