//! The command line. Each subcommand's switches are in a file of their own;
//! completions and man pages are generated from these definitions.

pub mod advise;
pub mod align;
pub mod baseline;
pub mod bench;
pub mod check;
pub mod compare;
pub mod convert;
pub mod disks;
pub mod export;
pub mod format;
pub mod headroom;
pub mod help;
pub mod hints;
pub mod import;
pub mod lab;
pub mod limits;
pub mod merge;
pub mod observe;
pub mod partition;
pub mod probe;
pub mod profile;
pub mod qualify;
pub mod report;
pub mod run;
pub mod serve;
pub mod small;
pub mod sqlio;
pub mod verify;
pub mod witness;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use stripewise_units::{NameText, ParseError, has_text, is_sim_target, typeset};

/// Find out what a disk can do, and whether it is laid out right.
#[derive(Debug, Parser)]
#[command(
    name = "stripewise",
    version,
    max_term_width = 100,
    propagate_version = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
#[command(after_help = "\
Exit codes: 0 done; 1 a finding; 2 usage; 3 target unusable or refused; 4 I/O errors during the run;\n\
5 the store could not be used; 6 busy with other work (--busy-ok); 130/143/129 interrupted (what was\n\
measured is kept and marked).")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub command: Command,
}

/// Switches of every command.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Every command")]
pub struct Global {
    /// Print one JSON document on stdout; everything else goes to stderr
    #[arg(long, global = true, hide_short_help = true)]
    pub json: bool,
    /// Print events as JSON lines on stdout, with the document as the last line
    #[arg(long, global = true, hide_short_help = true, conflicts_with = "json")]
    pub events: bool,
    /// Store results in this file [default: stripewise.db in the user's data directory]
    #[arg(long, global = true, hide_short_help = true, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Use colour: on a terminal only, always or never; NO_COLOR is honoured
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "WHEN",
        default_value = "auto"
    )]
    pub color: Color,
    /// Print every warning in full, and the processor time of runs
    #[arg(long, global = true, hide_short_help = true)]
    pub explain: bool,
    /// Print an answer as one line on stdout, for cron, and no plan or progress on stderr; lists stay lists
    #[arg(long, short, global = true, hide_short_help = true)]
    pub quiet: bool,
    /// Print help: -h the usual switches, --help all
    #[arg(long, short, global = true, hide_short_help = true, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
    /// Print the version
    #[arg(long, short = 'V', global = true, hide_short_help = true, action = clap::ArgAction::Version)]
    pub version: Option<bool>,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

/// What each is for stands with its switches.
#[derive(Debug, Subcommand)]
pub enum Command {
    Bench(Box<bench::Bench>),
    Run(Box<run::Run>),
    Qualify(Box<qualify::Qualify>),
    Headroom(Box<headroom::Headroom>),
    Limits(Box<limits::Limits>),
    Prepare(small::Prepare),
    Observe(Box<observe::Observe>),
    Compare(Box<compare::Compare>),
    Verify(Box<verify::Verify>),
    Witness(witness::Witness),
    Advise(Box<advise::Advise>),
    Align(Box<align::Align>),
    Lab(Box<lab::Lab>),
    Profile(Box<profile::Profile>),
    Probe(Box<probe::Probe>),
    Baseline(Box<baseline::Baseline>),
    Check(Box<check::Check>),
    Disks(Box<disks::Disks>),
    Partition(Box<partition::Partition>),
    Format(Box<format::Format>),
    Report(Box<report::Report>),
    Import(Box<import::Import>),
    Export(Box<export::Export>),
    Convert(Box<convert::Convert>),
    Merge(Box<merge::Merge>),
    Sqlio(Box<sqlio::Sqlio>),
    History(small::History),
    Watch(serve::Watch),
    Serve(Box<serve::Serve>),
    Sim(small::Sim),
    Doctor(small::Doctor),
    Completions(small::Completions),
    Man(small::Man),
}

/// The commands by purpose, in the order of `stripewise -h`.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Measure",
        &[
            "bench", "run", "qualify", "limits", "headroom", "observe", "profile", "probe",
            "prepare",
        ],
    ),
    (
        "Lay out",
        &["advise", "align", "lab", "disks", "partition", "format"],
    ),
    ("Verify", &["verify", "witness"]),
    ("Compare", &["compare", "baseline", "check", "merge"]),
    (
        "Results",
        &["history", "report", "export", "watch", "serve"],
    ),
    ("Import", &["import", "convert", "sqlio"]),
    ("Other", &["sim", "doctor", "completions", "man"]),
];

/// A command line.
pub struct CommandLine {
    /// Its switches.
    pub cli: Cli,
    /// The words of hints for its command.
    pub words: hints::Words,
    /// Switches that have no effect on its targets, as typed: `--keep`.
    pub without_effect: Vec<String>,
}

/// Parses a command line. Help is wrapped to this many columns, or to the width of this process's
/// terminal.
pub fn parsed(words: Vec<OsString>, columns: Option<usize>) -> Result<CommandLine, clap::Error> {
    let pasted = pasted(&words);
    let words = sqlio::arranged(with_negatives(words).into_iter());
    let mut command = match columns {
        Some(columns) => help::command().term_width(columns),
        None => help::command(),
    };
    if let Some(word) = pasted {
        return Err(command.error(
            ErrorKind::UnknownArgument,
            format!("unexpected argument `{word}`"),
        ));
    }
    let matches = command.try_get_matches_from(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    Ok(CommandLine {
        cli,
        words: hints::words_of(&matches),
        without_effect: without_effect(&matches),
    })
}

/// Switches on how files, devices and processors are used. Not --busy-ok: it permits what may not
/// be needed anywhere.
const NOT_OF_SIMULATED: [&str; 6] = [
    "keep",
    "overwrite",
    "engine",
    "cpus",
    "compressible",
    "dedupable",
];

/// Those of them that were typed for simulated arrays alone.
fn without_effect(matches: &ArgMatches) -> Vec<String> {
    let mut own = matches;
    while let Some((_, inner)) = own.subcommand() {
        own = inner;
    }
    let targets = ["target", "targets"].into_iter();
    let targets = targets.filter_map(|id| own.try_get_raw(id).ok().flatten());
    let mut simulated = targets.flatten().map(|one| is_sim_target(&one.as_text()));
    if simulated.next() != Some(true) || simulated.any(|is_simulated| !is_simulated) {
        return Vec::new();
    }
    let is_typed = |name: &str| {
        own.ids().any(|id| id.as_str() == name)
            && own.value_source(name) == Some(ValueSource::CommandLine)
    };
    let idle = NOT_OF_SIMULATED.iter().filter(|name| is_typed(name));
    idle.map(|name| format!("--{name}")).collect()
}

/// The first word with typographic characters pasted from a page, which would count as a
/// file name: `–size`. Words after `--` are taken literally.
fn pasted(words: &[OsString]) -> Option<String> {
    let words = words.iter().skip(1).filter_map(|word| word.to_str());
    let mut words = words.take_while(|word| *word != "--");
    words
        .find(|word| typeset(word).is_some())
        .map(str::to_owned)
}

/// A negative number behind a switch is its value, which says what is wrong with it: taken for
/// a switch it would only be called unknown.
fn with_negatives(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    let mut are_names = false;
    for word in words {
        are_names |= word == "--";
        let is_value = word.to_str().is_some_and(is_negative) && !are_names;
        let before = joined.last_mut().filter(|before| {
            let text = before.to_str();
            is_value && text.is_some_and(|text| text.starts_with("--") && !text.contains('='))
        });
        match before {
            Some(switch) => {
                switch.push("=");
                switch.push(word);
            }
            None => joined.push(word),
        }
    }
    joined
}

/// `-5`, `-0.5s`, `-.5`.
pub fn is_negative(word: &str) -> bool {
    let behind = word.strip_prefix('-');
    behind.is_some_and(|rest| {
        let digits = rest.strip_prefix('.').unwrap_or(rest);
        digits.starts_with(|letter: char| letter.is_ascii_digit())
    })
}

/// A number that is not negative: `3`, `0.5`.
pub fn number(text: &str) -> Result<f64, ParseError> {
    let parsed = text.trim().parse::<f64>().ok();
    let usable = parsed.filter(|number| number.is_finite() && *number >= 0.0);
    usable.ok_or_else(|| {
        let problem = "is not a number from 0 on";
        ParseError::new(text, problem, "give a number such as 3 or 0.5")
    })
}

impl Command {
    /// Whether a signal may end it anywhere: it measures nothing and changes nothing but the
    /// store, in one transaction.
    pub fn ignore_broken_pipe(&self) -> bool {
        matches!(
            self,
            Command::Baseline(_)
                | Command::Compare(_)
                | Command::Completions(_)
                | Command::Convert(_)
                | Command::Disks(_)
                | Command::Doctor(_)
                | Command::Export(_)
                | Command::History(_)
                | Command::Import(_)
                | Command::Man(_)
                | Command::Merge(_)
                | Command::Report(_)
                | Command::Sim(_)
        )
    }

    /// Whether a program may read stdout even without `--json`.
    pub fn prints_a_document(&self) -> bool {
        matches!(
            self,
            Command::Report(_)
                | Command::Export(_)
                | Command::Convert(_)
                | Command::Sqlio(_)
                | Command::Completions(_)
        )
    }
}

/// One of these words, each with what it stands for.
pub fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    words: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let known = PossibleValuesParser::new(words.map(|(word, _)| word));
    known.try_map(move |typed| {
        let found = words.iter().find(|(word, _)| *word == typed);
        found.map(|(_, meant)| *meant).ok_or("is not a known word")
    })
}

/// Names of targets and files as text, including those that are not UTF-8, since records and
/// JSON must hold them. Names of simulated arrays and of tables are text already.
pub fn name_text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|name: OsString| text_of(&name))
}

fn text_of(name: &OsStr) -> Result<String, &'static str> {
    let of_our_own = |text: &str| is_sim_target(text) || text.starts_with("dataset:");
    match name.to_str() {
        Some(text) if of_our_own(text) => Ok(text.to_owned()),
        None if of_our_own(&name.as_text()) => Err("this name is not UTF-8"),
        _ if !has_text(name) => Err("this name is not Unicode, and cannot be recorded"),
        _ => Ok(name.as_text()),
    }
}
