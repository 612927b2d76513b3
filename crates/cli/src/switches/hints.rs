//! Words hints for the command in use.
//!
//! Hints are data: they name options of a run, which are replaced here by the
//! names in this command. If a command lacks an option, the hint says so, and a plan has
//! a key for it: users must not be told to type a switch
//! that does not exist.

use super::Cli;
use clap::{ArgMatches, Command, CommandFactory};
use std::collections::BTreeSet;
use stripewise_campaign::qualify::product_names;
use stripewise_results::RunRecord;
use stripewise_units::{Hint, nearest, quoted};

/// Options of the load, which a baseline takes from its runs.
const OF_THE_LOAD: [&str; 8] = [
    "block",
    "threads",
    "outstanding",
    "duration",
    "size",
    "ramp",
    "cache",
    "rate",
];

/// A command's names for the options of a run.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// Its full name: `lab run`; empty before it is known.
    command: String,
    /// Its switches.
    own: BTreeSet<String>,
    /// Switches of `run`.
    of_run: BTreeSet<String>,
}

/// The words of the parsed command.
pub fn words_of(matches: &ArgMatches) -> Words {
    let mut path = Vec::new();
    let mut inner = matches.subcommand();
    while let Some((name, matches)) = inner {
        path.push(name);
        inner = matches.subcommand();
    }
    Words::of(&path)
}

impl Words {
    /// The words of the command at this path.
    pub fn of(path: &[&str]) -> Words {
        let root = Cli::command();
        let find = |command: &Command, name: &&str| command.find_subcommand(name).cloned();
        let mut command = Some(root.clone());
        for name in path {
            command = command.and_then(|command| find(&command, name));
        }
        let switches = |command: &Command| -> BTreeSet<String> {
            let all = command.get_arguments().chain(root.get_arguments());
            all.filter_map(|switch| switch.get_long().map(str::to_owned))
                .collect()
        };
        Words {
            command: path.join(" "),
            own: command.as_ref().map(switches).unwrap_or_default(),
            of_run: find(&root, &"run")
                .as_ref()
                .map(switches)
                .unwrap_or_default(),
        }
    }

    /// An option as typed for this command.
    pub fn option(&self, option: &str) -> String {
        match option {
            // Commands that run in steps use that name for their length.
            "duration" if self.own.contains("step") && !self.own.contains("duration") => {
                "--step".to_owned()
            }
            option => format!("--{option}"),
        }
    }

    /// Whether the options are in a plan.
    fn is_of_a_plan(&self) -> bool {
        self.command.starts_with("lab")
    }

    /// A hint as shown to users of this command.
    pub fn hint(&self, hint: &Hint) -> String {
        // `sqlio` names its own flags.
        if self.command.is_empty() || self.command == "sqlio" {
            return hint.to_string();
        }
        let text = match self.is_of_a_plan() {
            true => hint.to_string(),
            false => hint.worded(|option| self.option(option)),
        };
        let mut lacking: Vec<&str> = Vec::new();
        for option in hint.options() {
            let here = self.option(option);
            let has = self.own.contains(here.trim_start_matches('-'));
            if !has && self.of_run.contains(option) && !lacking.contains(&option) {
                lacking.push(option);
            }
        }
        if lacking.is_empty() {
            return text;
        }
        if self.is_of_a_plan() {
            let keys: Vec<String> = lacking.iter().map(|key| format!("{key} = ...")).collect();
            return format!("{text} In a plan that is {}", keys.join(", "));
        }
        let names: Vec<String> = lacking.iter().map(|name| format!("--{name}")).collect();
        let switch = match names.len() {
            1 => "a switch",
            _ => "switches",
        };
        format!(
            "{text} ({}: {switch} of `stripewise run`, not of `{}`)",
            names.join(", "),
            self.command
        )
    }

    /// A stored hint, which is text, with the options of `run` that it names, unless they are part
    /// of a command line.
    fn marked(&self, hint: &Hint) -> Hint {
        let mut text = String::new();
        for (number, part) in hint.split('`').enumerate() {
            if number > 0 {
                text.push('`');
            }
            let is_command_line = number % 2 == 1 && part.contains(' ');
            let mut rest = part;
            while let Some(at) = rest.find("--") {
                let (before, from) = rest.split_at(at);
                let (option, after) = from.split_at(name_end(from));
                text.push_str(before);
                match !is_command_line && self.of_run.contains(&option[2..]) {
                    true => text.push_str(&format!("<{option}>")),
                    false => text.push_str(option),
                }
                rest = after;
            }
            text.push_str(rest);
        }
        Hint::from(text.as_str())
    }

    /// A stored hint as this command prints it.
    fn stored_hint(&self, hint: &Hint) -> String {
        let marked = self.marked(hint);
        match self.command.as_str() {
            "check" => of_a_baseline(self, &marked),
            _ => self.hint(&marked),
        }
    }

    /// A hint on a stored run whose load is not the user's to change: nothing if it names a switch
    /// of `run` that this command lacks. What is stored is text.
    pub fn own_hint(&self, hint: &Hint) -> String {
        let mut after_dashes = hint.split("--").skip(1);
        let lacks = after_dashes.any(|text| {
            let name = &text[..name_end(text)];
            self.of_run.contains(name) && !self.own.contains(name)
        });
        match lacks {
            true => String::new(),
            false => hint.to_string(),
        }
    }
}

/// The length of the option's name that a text begins with, after its dashes or with them.
fn name_end(text: &str) -> usize {
    let end = text.find(|sign: char| sign != '-' && !sign.is_ascii_lowercase());
    end.unwrap_or(text.len())
}

/// Words the hints of all warnings for people; records in the store and in JSON keep
/// theirs.
pub fn replace_hints(records: &mut [RunRecord], word: impl Fn(&Hint) -> String) {
    for record in records {
        let jobs = record.jobs.iter_mut().flat_map(|job| &mut job.warnings);
        for warning in jobs.chain(&mut record.warnings) {
            warning.hint = Hint::plain(word(&warning.hint));
        }
    }
}

/// Words the hints of stored runs for the commands that made them, where those word them only for
/// printing.
pub fn replace_stored_hints(records: &mut [RunRecord]) {
    for runs in records.chunk_by_mut(|one, next| one.command == next.command) {
        let words = runs.first().and_then(|run| words_of_line(&run.command));
        if let Some(words) = words {
            replace_hints(runs, |hint| words.stored_hint(hint));
        }
    }
}

/// The same for one hint of a run that was made by this command line.
pub fn stored_hint(line: &[String], hint: &Hint) -> String {
    let words = words_of_line(line);
    words.map_or_else(|| hint.to_string(), |words| words.stored_hint(hint))
}

/// The words of a stored command line, if that command words hints only for printing.
fn words_of_line(line: &[String]) -> Option<Words> {
    let command = command_of(line.get(1..).unwrap_or_default());
    let path: Vec<&str> = command.split(' ').collect();
    ["align", "lab", "check"]
        .contains(&path[0])
        .then(|| Words::of(&path))
}

/// A hint of a check that repeated a baseline: its load is the baseline's, and switches
/// for the load are refused.
pub fn of_a_baseline(words: &Words, hint: &Hint) -> String {
    match hint.options().any(|option| OF_THE_LOAD.contains(&option)) {
        true => format!(
            "{hint} (the baseline says this: measure again with `stripewise run`, then \
             `stripewise baseline set ID --replace`)"
        ),
        false => words.hint(hint),
    }
}

/// The command that these words name: `lab run`; empty if there is none.
pub fn command_of(words: &[String]) -> String {
    named(&Cli::command(), words).0
}

/// Switches of fio, DiskSpd and others, without their leading dashes and with `-` for `_`, and
/// their equivalents here.
const OTHER_TOOLS: [(&str, &str); 25] = [
    ("bs", "block"),
    ("blocksize", "block"),
    ("b", "block"),
    ("iodepth", "outstanding"),
    ("qd", "outstanding"),
    ("depth", "outstanding"),
    ("queue-depth", "outstanding"),
    ("queuedepth", "outstanding"),
    ("o", "outstanding"),
    ("output", "report"),
    ("output-format", "json"),
    ("numjobs", "threads"),
    ("t", "threads"),
    ("runtime", "duration"),
    ("time", "duration"),
    ("d", "duration"),
    ("rwmixread", "read-percent"),
    ("read-pct", "read-percent"),
    ("ioengine", "engine"),
    ("rate-iops", "rate"),
    ("rate-process", "arrivals"),
    ("c", "size"),
    ("W", "ramp"),
    ("ramp-time", "ramp"),
    ("buffer-compress-percentage", "compressible"),
];

/// Those with several equivalents here, or none.
const HINT_OVERRIDES: [(&[&str], &str); 18] = [
    (
        &["rw", "readwrite"],
        "`stripewise run` has --read, --write and --read-percent N for that, with --random or --sequential",
    ),
    (
        &["direct", "S", "Sh", "h"],
        "`stripewise run` measures past the page cache as it is; --cache buffered goes through it",
    ),
    (
        &["filename", "name"],
        "the target has no switch: `stripewise run FILE`",
    ),
    (
        &["w", "rwmixwrite"],
        "`stripewise run` has --read-percent for that: 70 where DiskSpd has -w30",
    ),
    (&["k"], "`stripewise run` has --read and --write for that"),
    (
        &["f"],
        "`stripewise run` has --random and --sequential for that",
    ),
    (
        &["s", "si"],
        "`stripewise run` has --duration where SQLIO has -s, --sequential where DiskSpd has it",
    ),
    (
        &["B"],
        "`stripewise run` has --cache for that: direct where SQLIO has -BH, direct-sync for -BN, buffered for -BY",
    ),
    (&["L"], "`stripewise run` measures latency as it is"),
    (
        &["g"],
        "`stripewise run` has --rate for that, in operations per second",
    ),
    (
        &["Z", "refill-buffers"],
        "`stripewise run` writes data that do not compress as it is (--compressible 0)",
    ),
    (
        &["fsync"],
        "`stripewise run` has --sync fsync:N for that: one after every N writes of a thread",
    ),
    (
        &["fdatasync"],
        "`stripewise run` has --sync fdatasync:N for that: one after every N writes of a thread",
    ),
    (
        &["time-based"],
        "`stripewise run` lasts its --duration as it is",
    ),
    (
        &["norandommap"],
        "`stripewise run` keeps no map of blocks as it is; --distribution covering does",
    ),
    (
        &["bssplit"],
        "`stripewise run` has --block 4K:60,64K:40 for that",
    ),
    (
        &["group-reporting"],
        "`stripewise run` reports all threads of a job together as it is",
    ),
    (
        &["r"],
        "`stripewise run` reads and writes at random positions as it is; --sequential does not",
    ),
];

/// The switch that was probably meant by an unknown one, and a hint on
/// where it exists. `None` if nothing is similar.
pub fn meant(unknown: &str, words: &[String]) -> Option<String> {
    let root = Cli::command();
    let (path, command) = named(&root, words);
    if !unknown.starts_with('-') {
        return (path == "advise").then(|| {
            "several devices are one target, with commas between them: /dev/sdb,/dev/sdc".to_owned()
        });
    }
    let typed = unknown.trim_start_matches('-');
    let own = command.get_arguments().filter_map(clap::Arg::get_long);
    if path == "convert" && nearest(typed, own).is_none() {
        return Some(
            "`stripewise convert --from fio FILE` reads a file: save the job or the command line in one"
                .to_owned(),
        );
    }
    if let Some(hint) = of_another_tool(unknown, &path, command, words) {
        return Some(hint);
    }
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

/// Which commands know products and profiles.
const OF_A_USE: &str = "`stripewise qualify TARGET --for NAME` judges a disk for a use, \
    `stripewise advise TARGET --for NAME` finds a layout for one, `stripewise run TARGET --profile \
    NAME` runs its load";

/// What is used here in place of another tool's switch.
fn of_another_tool(
    unknown: &str,
    path: &str,
    command: &Command,
    words: &[String],
) -> Option<String> {
    let typed = unknown.trim_start_matches('-').replace('_', "-");
    let has = |name: &str| {
        let mut longs = command.get_arguments().filter_map(clap::Arg::get_long);
        longs.any(|long| long == name)
    };
    // A use is --for where it is judged, --profile where its load runs.
    if ["for", "profile", "product", "use"].contains(&typed.as_str()) {
        let own = ["for", "profile"].into_iter().find(|name| has(name));
        return Some(match own {
            Some(name) => format!("here that is --{name}"),
            None => OF_A_USE.to_owned(),
        });
    }
    let mut otherwise = HINT_OVERRIDES.iter();
    if let Some((_, text)) = otherwise.find(|(theirs, _)| theirs.contains(&typed.as_str())) {
        return Some((*text).to_owned());
    }
    // What these name is a file, except DiskSpd's queue depth.
    let is_output = ["o", "output"].contains(&typed.as_str()) && !has("report");
    if let Some(file) = value_of(unknown, words).filter(|_| is_output)
        && file.contains(|sign: char| !sign.is_ascii_digit())
    {
        let file = quoted(file);
        return Some(format!(
            "`stripewise report last -o {file}` writes a report"
        ));
    }
    let others = OTHER_TOOLS.iter().filter(|(theirs, _)| *theirs == typed);
    let mut ours = others.map(|(_, ours)| *ours);
    let ours = ours
        .clone()
        .find(|ours| has(ours))
        .or_else(|| ours.next())?;
    Some(match has(ours) {
        true => format!("here that is --{ours}"),
        false => {
            format!(
                "`stripewise run` has --{ours} for that, `stripewise {path}` has no such switch"
            )
        }
    })
}

/// The value that was typed for a switch: `-o8`, `-o 8`, `--output=8`.
fn value_of<'w>(switch: &str, words: &'w [String]) -> Option<&'w str> {
    let at = words.iter().position(|word| word.starts_with(switch))?;
    let attached = words[at][switch.len()..].trim_start_matches('=');
    let value = match attached {
        "" => words.get(at + 1)?.as_str(),
        attached => attached,
    };
    (!value.starts_with('-')).then_some(value)
}

/// Words of other programs and of habit in place of a command, and their equivalents here.
const COMMAND_HINTS: [(&[&str], &str); 9] = [
    (&["version"], "`stripewise --version` prints the version"),
    (
        &["list", "ls", "show", "results", "runs"],
        "`stripewise history` lists what is stored, `stripewise disks` what disks are here",
    ),
    (
        &["lsblk", "devices", "drives", "diskpar", "diskext"],
        "`stripewise disks` shows disks, partitions and their offsets",
    ),
    (
        &["cdm", "crystaldiskmark", "kdiskmark"],
        "`stripewise bench TARGET --like crystaldiskmark` measures what CrystalDiskMark does",
    ),
    (
        &["fio", "diskspd"],
        "`stripewise convert --from TOOL FILE` makes a plan of its jobs, `stripewise import FILE` stores its results",
    ),
    (
        &["benchmark", "test", "measure", "iops", "latency", "speed"],
        "`stripewise bench TARGET` measures what a disk can do",
    ),
    (
        &["delete", "remove", "rm"],
        "`stripewise history delete ID` deletes stored runs",
    ),
    (
        &["burn-in", "burnin", "badblocks", "f3"],
        "`stripewise verify TARGET` writes a disk, and compares what it reads",
    ),
    (
        &["mkfs", "fdisk", "parted", "sfdisk"],
        "`stripewise partition` makes an aligned partition, `stripewise format` a file system",
    ),
];

/// What each command with subcommands does if only its name is given.
const USUAL: [(&str, &str); 5] = [
    ("history", "show"),
    ("baseline", "set"),
    ("lab", "run"),
    ("probe", "stripe"),
    ("sim", "show"),
];

/// Words of habit in place of a subcommand: the command, the words and what it calls them.
const SUBCOMMAND_HINTS: [(&str, &[&str], &str); 7] = [
    ("history", &["list", "ls"], "history"),
    ("history", &["remove", "rm"], "history delete"),
    ("baseline", &["ls", "show"], "baseline list"),
    ("baseline", &["delete", "rm"], "baseline remove"),
    ("lab", &["list", "ls", "show"], "lab plans"),
    ("lab", &["delete", "remove", "rm"], "lab clean"),
    ("sim", &["ls"], "sim list"),
];

/// What was probably meant by a word that is not a command: a command, an equivalent of another
/// word, a product, or a target.
pub fn intended_command(unknown: &str, words: &[String]) -> Option<String> {
    let root = Cli::command();
    let (path, command) = named(&root, words);
    let typed = unknown.to_ascii_lowercase();
    if path.is_empty()
        && let Some(hint) = of_habit(unknown, words)
    {
        return Some(hint);
    }
    let mut habits = SUBCOMMAND_HINTS.iter().filter(|(of, ..)| *of == path);
    if let Some((_, _, ours)) = habits.find(|(_, theirs, _)| theirs.contains(&typed.as_str())) {
        return Some(format!("did you mean `stripewise {ours}`?"));
    }
    let names = command.get_subcommands().filter(|one| !one.is_hide_set());
    if let Some(name) = nearest(unknown, names.map(Command::get_name)) {
        return Some(format!("did you mean {name}?"));
    }
    if let Some((_, usual)) = USUAL.iter().find(|(parent, _)| *parent == path) {
        let name = quoted(unknown);
        return Some(format!("did you mean `stripewise {path} {usual} {name}`?"));
    }
    if unknown.contains(['/', '\\', ':']) {
        let target = quoted(unknown);
        return Some(format!("`stripewise bench {target}` measures it"));
    }
    let product = nearest(unknown, product_names())?;
    Some(format!(
        "`stripewise qualify TARGET --for {product}` judges whether a disk is good enough for it"
    ))
}

/// What another program's word or one of habit is called here.
fn of_habit(unknown: &str, words: &[String]) -> Option<String> {
    let typed = unknown.to_ascii_lowercase();
    if typed == "show"
        && let Some(id) = value_of(unknown, words)
    {
        let id = quoted(id);
        return Some(format!("did you mean `stripewise history show {id}`?"));
    }
    let mut all = COMMAND_HINTS.iter();
    let (_, text) = all.find(|(theirs, _)| theirs.contains(&typed.as_str()))?;
    Some((*text).to_owned())
}

/// The command that the words name, with its full name: `lab run`.
fn named<'a>(root: &'a Command, words: &[String]) -> (String, &'a Command) {
    let (mut path, mut command) = (Vec::new(), root);
    for word in words {
        match command.find_subcommand(word) {
            Some(found) => {
                path.push(found.get_name());
                command = found;
            }
            // Switches of all commands may come before the name.
            None if path.is_empty() => {}
            None => break,
        }
    }
    (path.join(" "), command)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stripewise_results::{Severity, Warning};

    #[test]
    fn an_option_that_the_command_lacks_is_told_where_it_is() {
        let cases = [
            ("run", "use <--engine> threads", "use --engine threads"),
            ("bench", "use <--engine> threads", "use --engine threads"),
            (
                "check",
                "use <--engine> threads, or <--size>",
                "use --engine threads, or --size (--engine: a switch of `stripewise run`, not of `check`)",
            ),
            (
                "lab run",
                "Ask for a smaller file (`<--size>`).",
                "Ask for a smaller file (`--size`). In a plan that is size = ...",
            ),
            (
                "align",
                "measure longer: <--duration> 3s",
                "measure longer: --step 3s",
            ),
            // Other programs' switches, and whole command lines.
            (
                "check",
                "`losetup --direct-io=on`",
                "`losetup --direct-io=on`",
            ),
            (
                "check",
                "`stripewise run x --ramp 5s`",
                "`stripewise run x --ramp 5s`",
            ),
            ("", "use <--engine> threads", "use --engine threads"),
            ("sqlio", "use <--engine> threads", "use --engine threads"),
        ];
        for (line, hint, expected) in cases {
            let path: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(Words::of(&path).hint(&hint.into()), expected, "{line}");
        }
    }

    #[test]
    fn a_stored_hint_is_worded_for_the_command_that_made_the_run() {
        let run = |line: &str, hint: &str| {
            let command = line.split(' ').map(str::to_owned).collect();
            let warning = Warning {
                code: "few-operations".to_owned(),
                severity: Severity::Note,
                message: String::new(),
                short: String::new(),
                hint: Hint::plain(hint),
            };
            RunRecord {
                command,
                warnings: vec![warning],
                ..Default::default()
            }
        };
        let mut runs = [
            run("stripewise align /data", "--duration 2s would be enough"),
            run("stripewise align /data", "use --cache direct-sync"),
            run("stripewise lab run plan.toml", "use 1 GiB or more: --size"),
            run("stripewise check", "give a larger --size"),
            run("stripewise run /data", "give a larger --size"),
            run("stripewise align /data", "`stripewise run x --ramp 5s`"),
        ];
        let on_page = stored_hint(&runs[0].command, &runs[0].warnings[0].hint);
        replace_stored_hints(&mut runs);
        let hints = runs.each_ref().map(|run| run.warnings[0].hint.to_string());
        assert_eq!(hints[0], "--step 2s would be enough");
        assert_eq!(on_page, hints[0]);
        assert!(hints[1].ends_with("(--cache: a switch of `stripewise run`, not of `align`)"));
        assert!(
            hints[2].ends_with("In a plan that is size = ..."),
            "{}",
            hints[2]
        );
        assert!(hints[3].contains("the baseline says this"), "{}", hints[3]);
        assert_eq!(
            hints[4..],
            ["give a larger --size", "`stripewise run x --ramp 5s`"]
        );
    }

    #[test]
    fn what_the_load_of_a_product_decides_has_no_hint() {
        let words = Words::of(&["qualify"]);
        let of = |hint: &str| words.own_hint(&Hint::plain(hint));
        assert_eq!(of("measure longer: --duration 3s"), "");
        assert_eq!(of("lower --rate"), "");
        for kept in ["`losetup --direct-io=on`", "use --engine threads"] {
            assert_eq!(of(kept), kept);
        }
    }

    #[test]
    fn a_baseline_says_what_its_load_is() {
        let words = Words::of(&["check"]);
        let of = |hint: &str| of_a_baseline(&words, &hint.into());
        assert!(of("give a larger <--size>").contains("the baseline says this"));
        assert!(of("use <--engine> threads").contains("not of `check`"));
        assert_eq!(of("look at `dmesg`"), "look at `dmesg`");
    }

    #[track_caller]
    fn is_meant(cases: &[(&str, &str, Option<&str>)]) {
        for (line, unknown, expected) in cases {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(meant(unknown, &words).as_deref(), *expected, "{line}");
        }
    }

    #[test]
    fn a_switch_that_only_run_has_is_said_to_be_there() {
        is_meant(&[
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
            (
                "bench . --numjobs 4",
                "--numjobs",
                Some(
                    "`stripewise run` has --threads for that, `stripewise bench` has no such switch",
                ),
            ),
            (
                "advise /dev/sdb /dev/sdc",
                "/dev/sdc",
                Some("several devices are one target, with commas between them: /dev/sdb,/dev/sdc"),
            ),
            ("bench /data /dev/sdc", "/dev/sdc", None),
            ("bench --sizes 1G", "--sizes", Some("did you mean --size?")),
            (
                "run --thread 4",
                "--thread",
                Some("did you mean --threads?"),
            ),
            ("history --jsn", "--jsn", Some("did you mean --json?")),
            ("bench --wherever 1", "--wherever", None),
            ("run . --for etcd", "--for", Some("here that is --profile")),
            (
                "advise . --profile x",
                "--profile",
                Some("here that is --for"),
            ),
            ("bench . --for etcd", "--for", Some(OF_A_USE)),
        ]);
    }

    #[test]
    fn switches_of_other_tools_are_named_in_our_words() {
        is_meant(&[
            ("run . --bs 8k", "--bs", Some("here that is --block")),
            (
                "run . --iodepth 8",
                "--iodepth",
                Some("here that is --outstanding"),
            ),
            ("run . --qd 8", "--qd", Some("here that is --outstanding")),
            ("run . -t8", "-t", Some("here that is --threads")),
            ("run . -b8K", "-b", Some("here that is --block")),
            ("run . -o32", "-o", Some("here that is --outstanding")),
            (
                "run . --runtime 60",
                "--runtime",
                Some("here that is --duration"),
            ),
            (
                "run . --rw=randread",
                "--rw",
                Some(
                    "`stripewise run` has --read, --write and --read-percent N for that, with --random or --sequential",
                ),
            ),
            (
                "bench . --direct=1",
                "--direct",
                Some(
                    "`stripewise run` measures past the page cache as it is; --cache buffered goes through it",
                ),
            ),
            ("run . -o8", "-o", Some("here that is --outstanding")),
            (
                "run . -o rare.md",
                "-o",
                Some("`stripewise report last -o rare.md` writes a report"),
            ),
            (
                "run . --read-pct 70",
                "--read-pct",
                Some("here that is --read-percent"),
            ),
            (
                "run . --rate_iops=70",
                "--rate_iops",
                Some("here that is --rate"),
            ),
            (
                "run . --fsync=1",
                "--fsync",
                Some(
                    "`stripewise run` has --sync fsync:N for that: one after every N writes of a thread",
                ),
            ),
        ]);
    }

    /// The page promises it.
    #[test]
    fn every_switch_of_another_tool_in_the_table_of_words_has_a_hint() {
        let page = include_str!("../../../../docs/WORDS.md");
        let own = Words::of(&["run"]).own;
        let words = ["run".to_owned()];
        let mut seen = BTreeSet::new();
        for row in page.lines().filter(|line| line.starts_with('|')) {
            // Behind our own word: fio, DiskSpd and SQLIO.
            for cell in row.split('|').skip(2).take(3) {
                let code = cell.split('`').skip(1).step_by(2);
                let switches = code.flat_map(str::split_whitespace);
                for switch in switches.filter(|word| word.starts_with('-')) {
                    let name = match switch.strip_prefix("--") {
                        Some(long) => long.split('=').next().unwrap_or_default(),
                        None => &switch[1..2],
                    };
                    seen.insert(name);
                    let dashes = if name.len() == 1 { "-" } else { "--" };
                    let hint = meant(&format!("{dashes}{name}"), &words);
                    assert!(hint.is_some() || own.contains(name), "{switch}");
                }
            }
        }
        assert!(seen.len() > 25, "{seen:?}");
    }
}
