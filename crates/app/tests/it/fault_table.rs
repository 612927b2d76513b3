//! The table of faults: what each command says, and its exit code, when its place is full,
//! fails, vanishes, stalls; when the program is paused, killed, or short of memory or
//! descriptors; when its store is damaged or full; and when there is no terminal.
//!
//! `tests/faults/cells.txt` has a line of shell for each cell, `prelude.sh` what they share.
//! `tests/faults/FAULTS.md` is made from what the cells give. The ordinary test provokes a share of
//! them; `STRIPEWISE_FAULTS=all` all (nightly), and `STRIPEWISE_WRITE_TABLES=1` beside it
//! writes the page instead of comparing it.

use crate::support::{can_run, program, text};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const CELLS: &str = include_str!("../faults/cells.txt");

const COMMANDS: [&str; 11] = [
    "bench",
    "run",
    "align",
    "lab",
    "check",
    "verify",
    "profile",
    "import",
    "partition",
    "format",
    "serve",
];

/// Faults, with what they are here.
const FAULTS: [(&str, &str); 11] = [
    ("ENOSPC", "the file system that is written to is full"),
    (
        "EIO",
        "operations fail: most of a device behind the first MiB, injected ones, a file that cannot be read",
    ),
    (
        "vanishes",
        "the file, device or directory is removed while it is used, or gone before",
    ),
    ("stalls", "nothing completes for a second"),
    (
        "pause",
        "SIGSTOP for 0.6 s while it measures, then SIGCONT; that time is cut out of what it measured",
    ),
    ("read-only", "file system or device is read-only"),
    (
        "corrupt store",
        "the store holds bytes that are not SQLite's",
    ),
    (
        "full store",
        "the file system of the store has room for less than the results",
    ),
    (
        "kill -9",
        "SIGKILL while it measures; what was measured is kept, and marked as partial by the next command",
    ),
    (
        "no memory",
        "a few MB of address space more than the program takes to start (`ulimit -v`)",
    ),
    ("few descriptors", "8 open files (`ulimit -n`), 7 for align"),
];

/// The last column of faults: stdin is closed, stdout is /dev/full.
const NO_TERMINAL: (&str, &str) = (
    "no terminal",
    "stdin is closed, and stdout takes nothing (/dev/full)",
);

/// Cells of the ordinary test: those that end at once and do not depend on timing.
const SHARE: [(&str, &str); 14] = [
    ("ENOSPC", "run"),
    ("ENOSPC", "import"),
    ("ENOSPC", "partition"),
    ("EIO", "import"),
    ("EIO", "partition"),
    ("vanishes", "format"),
    ("read-only", "verify"),
    ("read-only", "import"),
    ("corrupt store", "bench"),
    ("corrupt store", "serve"),
    ("few descriptors", "run"),
    ("few descriptors", "serve"),
    ("no terminal", "import"),
    ("no memory", "import"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Cell {
    fault: &'static str,
    command: &'static str,
    /// A line of shell; `-` and a reason where it cannot be provoked.
    script: &'static str,
}

fn cells() -> Vec<Cell> {
    let lines = CELLS.lines().filter(|line| !line.trim().is_empty());
    let cell = |line: &'static str| {
        let mut parts = line.splitn(3, '|').map(str::trim);
        let mut next = || parts.next().expect("fault | command | script");
        Cell {
            fault: next(),
            command: next(),
            script: next(),
        }
    };
    lines.map(cell).collect()
}

/// What a cell gave: exit code and sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Given {
    code: i32,
    sentence: String,
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn provoke(cell: &Cell) -> Given {
    let place = tempfile::Builder::new()
        .prefix("stripewise-fault-")
        .tempdir()
        .expect("a temporary directory");
    let prelude = folder("tests/faults/prelude.sh");
    let script = format!(". {}; {}", text(&prelude), cell.script);
    let old = folder("../compat/tests/data/sqlio-plain.txt");
    let output = Command::new("timeout")
        .args([
            "-k",
            "5",
            "120",
            "unshare",
            "-m",
            "--propagation",
            "private",
        ])
        .args(["bash", "-c", &script])
        .current_dir(place.path())
        .env("S", program())
        .env("OLD", old)
        .env("HOME", place.path())
        .env("NO_COLOR", "1")
        .env_remove("XDG_DATA_HOME")
        // A backtrace wants memory and descriptors of its own; none may be needed to fail well.
        .env("RUST_BACKTRACE", "1")
        .stdin(Stdio::null())
        .output()
        .expect("a shell");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = format!("{stderr}\n{stdout}");
    let message = message.replace(text(place.path()), "");
    Given {
        code: output.status.code().unwrap_or(-1),
        sentence: sentence(cell.fault, &message),
    }
}

/// What tells of the fault, the first that is there: an error, else what else is known of
/// it, by what a line begins with.
fn sentence(fault: &str, message: &str) -> String {
    const REVEALING: [&str; 5] = [
        "error: ",
        "FAULTS: ",
        "NOT PASSED: ",
        "failed: ",
        "VOID[errors]",
    ];
    let own: &[&str] = match fault {
        "vanishes" => &["warning[target-changed]"],
        "stalls" => &["warning[stalled"],
        "pause" => &["warning[paused]", "note[paused]"],
        "kill -9" => &["note: a run was left", "note: runs were left"],
        _ => &[],
    };
    let lines: Vec<&str> = message.lines().collect();
    for revealing in REVEALING.iter().chain(own) {
        let Some(at) = lines.iter().position(|line| line.starts_with(revealing)) else {
            continue;
        };
        let is_more = |line: &&&str| line.starts_with("  ") && !line.starts_with("  hint: ");
        let more = lines[at + 1..].iter().take_while(is_more);
        let all: Vec<&str> = [lines[at]]
            .into_iter()
            .chain(more.copied())
            .map(str::trim)
            .collect();
        return all.join(" ");
    }
    // The places of a profile.
    let place = lines.iter().find(|line| line.ends_with(" cannot be read"));
    place.map_or_else(String::new, |line| line.trim().to_owned())
}

/// Without what differs from run to run: numbers, ids, names of loop devices; of what is no
/// error the first words.
fn masked(sentence: &str) -> String {
    let words = match sentence.starts_with("error: ") {
        true => usize::MAX,
        false => 4,
    };
    let masked = sentence.split(' ').take(words).map(|word| {
        match word.contains(|sign: char| sign.is_ascii_digit()) {
            true => "#",
            false => word,
        }
    });
    masked.collect::<Vec<_>>().join(" ")
}

/// The page's cells.
fn on_page(page: &str) -> BTreeMap<(String, String), (String, String)> {
    let mut found = BTreeMap::new();
    let mut fault = String::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            fault = name.to_owned();
        }
        let parts: Vec<&str> = line.split(" | ").collect();
        if let [command, code, sentence] = parts[..]
            && let Some(command) = command.strip_prefix("| `")
        {
            let command = command.trim_end_matches('`').to_owned();
            let sentence = sentence.trim_end_matches(" |").to_owned();
            found.insert((fault.clone(), command), (code.to_owned(), sentence));
        }
    }
    found
}

const HEAD: &str = "# Faults: what each command says\n
Made by a test that provokes each cell (`crates/app/tests/it/fault_table.rs`, the lines of shell
in `crates/app/tests/faults/cells.txt`): with `STRIPEWISE_FAULTS=all` all of them, as nightly
does; the ordinary test provokes a share. Numbers are those of the run that made the page. \"as
usual\" means that the command did its work and had nothing to say of it. Exit codes: 0 done, 1 a
finding, 2 usage, 3 target or output unusable or refused, 4 I/O errors, 5 the store could not be
used; 137 is the shell's word for SIGKILL.
";

fn page(given: &BTreeMap<(&str, &str), Option<Given>>, cells: &[Cell]) -> String {
    let mut page = HEAD.to_owned();
    for (fault, meaning) in FAULTS.into_iter().chain([NO_TERMINAL]) {
        write!(
            page,
            "\n## {fault}\n\nHere: {meaning}.\n\n| command | code | sentence |\n|---|---|---|\n"
        )
        .unwrap();
        for cell in cells.iter().filter(|cell| cell.fault == fault) {
            let (code, words) = match &given[&(cell.fault, cell.command)] {
                Some(given) if given.sentence.is_empty() => {
                    (given.code.to_string(), "as usual".to_owned())
                }
                Some(given) => (given.code.to_string(), given.sentence.replace('|', "\\|")),
                None => (
                    "-".to_owned(),
                    format!("not provoked: {}", cell.script[1..].trim()),
                ),
            };
            writeln!(page, "| `{}` | {code} | {words} |", cell.command).unwrap();
        }
    }
    page
}

/// The machine lets this test make loop devices and mounts.
fn is_able(test: &str) -> bool {
    let needs = [
        "root",
        "unshare",
        "losetup",
        "timeout",
        "mkfs.ext4",
        "fsfreeze",
        "partx",
        "bash",
        "pgrep",
    ];
    can_run(test, &needs)
}

#[test]
fn each_fault_has_a_line_for_each_command() {
    let all = cells();
    for (fault, _) in FAULTS.into_iter().chain([NO_TERMINAL]) {
        for command in COMMANDS {
            let of = all
                .iter()
                .filter(|cell| (cell.fault, cell.command) == (fault, command));
            assert_eq!(of.count(), 1, "{fault} x {command}");
        }
    }
    assert_eq!(all.len(), COMMANDS.len() * (FAULTS.len() + 1));
    let page = std::fs::read_to_string(folder("tests/faults/FAULTS.md")).expect("the page");
    assert_eq!(on_page(&page).len(), all.len());
    // Nothing ends in a panic or an abort, and no command fails without a sentence.
    for ((fault, command), (code, sentence)) in on_page(&page) {
        let finding = code == "1" && ["align", "lab", "check"].contains(&command.as_str());
        let silent = sentence == "as usual" && code != "0" && !finding && fault != "kill -9";
        assert!(
            code != "101" && code != "134" && !silent,
            "{fault} x {command}: {code} {sentence}"
        );
    }
}

#[test]
fn faults_end_with_the_sentences_and_codes_of_the_table() {
    if !is_able("faults_end_with_the_sentences_and_codes_of_the_table") {
        return;
    }
    let all = cells();
    let whole = std::env::var("STRIPEWISE_FAULTS").is_ok_and(|value| value == "all");
    let path = folder("tests/faults/FAULTS.md");
    let mut given: BTreeMap<(&str, &str), Option<Given>> = BTreeMap::new();
    for cell in &all {
        let requested = whole || SHARE.contains(&(cell.fault, cell.command));
        let provoked = (requested && !cell.script.starts_with('-')).then(|| provoke(cell));
        given.insert((cell.fault, cell.command), provoked);
    }
    if whole && std::env::var("STRIPEWISE_WRITE_TABLES").is_ok() {
        std::fs::write(&path, page(&given, &all)).expect("the page");
    }
    let page = std::fs::read_to_string(&path).expect("the page");
    let page = on_page(&page);
    let mut wrong = Vec::new();
    for ((fault, command), given) in &given {
        let Some(given) = given else { continue };
        let (code, sentence) = &page[&((*fault).to_owned(), (*command).to_owned())];
        let words = match given.sentence.as_str() {
            "" => "as usual".to_owned(),
            words => words.replace('|', "\\|"),
        };
        // Whether a difference was found in so few runs is chance.
        let finds = ["align", "lab", "check"].contains(command);
        let done = |code: &str| matches!(code, "0" | "1");
        let found = given.code.to_string();
        // Which allocation fails is chance as well: the program's own, or SQLite's.
        let short = *fault == "no memory" && ["3", "5"].contains(&found.as_str());
        let same = *code == found || finds && done(code) && done(&found) || short;
        // What is said of an accident depends on what it hit.
        let timed = ["vanishes", "stalls", "pause", "kill -9"].contains(fault);
        let error = sentence.starts_with("error: ") || words.starts_with("error: ");
        let compared = !short && (!timed || error);
        if !same || compared && masked(sentence) != masked(&words) {
            wrong.push(format!(
                "{fault} x {command}: {} {words}\n  the page has {code} {sentence}",
                given.code
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
