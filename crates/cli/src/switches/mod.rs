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
pub mod hints;
pub mod import;
pub mod lab;
pub mod merge;
pub mod partition;
pub mod probe;
pub mod profile;
pub mod report;
pub mod run;
pub mod serve;
pub mod small;
pub mod sqlio;
pub mod verify;
pub mod witness;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use stripewise_units::{NameText, has_text, typeset};

/// Find out what a disk can do, and whether it is laid out right.
#[derive(Debug, Parser)]
#[command(
    name = "stripewise",
    version,
    max_term_width = 100,
    propagate_version = true
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
pub struct Global {
    /// Print one JSON document on stdout; everything else goes to stderr
    #[arg(long, global = true)]
    pub json: bool,
    /// Print events as JSON lines on stdout, with the document as the last line
    #[arg(long, global = true, conflicts_with = "json")]
    pub events: bool,
    /// Store results in this file [default: stripewise.db in the user's data directory]
    #[arg(long, global = true, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Use colour: on a terminal only, always or never; NO_COLOR is honoured
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// Print every warning in full, and the processor time of runs
    #[arg(long, global = true)]
    pub explain: bool,
    /// Print the result as one line on stdout, for cron, and no plan or progress on stderr
    #[arg(long, short, global = true)]
    pub quiet: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// The quick answer: ladders to saturation, the numbers at a latency limit
    Bench(Box<bench::Bench>),
    /// One run, or a grid wherever a switch takes a list
    Run(Box<run::Run>),
    /// Make and keep a test file
    Prepare(small::Prepare),
    /// Compare runs, series, experiments, imported files and published tables
    Compare(Box<compare::Compare>),
    /// Does it keep the data it is given? Writes, reads, and compares every byte
    Verify(Box<verify::Verify>),
    /// Remember which flushes completed on another machine, for verify --power-cut
    Witness(witness::Witness),
    /// Find the best layout for a use: measured, with the commands that make it
    Advise(Box<advise::Advise>),
    /// Does the partition offset matter here? Nothing is repartitioned
    Align(Box<align::Align>),
    /// A full experiment: factors, levels, randomised blocks
    Lab(Box<lab::Lab>),
    /// Measure rate and access time over the surface of a disk: zones, seeks, slow spots
    Profile(Box<profile::Profile>),
    /// Find stripe unit, phase and disks of an array that does not report them
    Probe(Box<probe::Probe>),
    /// Keep a run as the baseline for `check`
    Baseline(Box<baseline::Baseline>),
    /// Measure the baseline again and report changes; or check requirements
    Check(Box<check::Check>),
    /// Show disks, partitions and volumes with exact offsets and a verdict for each
    Disks(Box<disks::Disks>),
    /// Make an aligned partition: prints the plan, does it with --yes --destroy NAME
    Partition(Box<partition::Partition>),
    /// Make a file system: prints the plan, does it with --yes --destroy NAME
    Format(Box<format::Format>),
    /// Write stored or imported results as HTML, PNG, SVG, CSV, Markdown or JSON
    Report(Box<report::Report>),
    /// Store other tools' results: SQLIO, DiskSpd, fio
    Import(Box<import::Import>),
    /// Write records as JSON lines or CSV
    Export(Box<export::Export>),
    /// Turn another tool's workload into a plan
    Convert(Box<convert::Convert>),
    /// Merge runs that several hosts made at the same time into one
    Merge(Box<merge::Merge>),
    /// Drop-in for sqlio.exe: its switches, its output
    Sqlio(Box<sqlio::Sqlio>),
    /// List, show or delete stored results
    History(small::History),
    /// Follow the run in progress with this store, in the terminal
    Watch(serve::Watch),
    /// Serve pages on this machine: the run in progress, history, comparisons, reports, disks
    Serve(Box<serve::Serve>),
    /// List simulated arrays, or show one
    Sim(small::Sim),
    /// Show what this machine supports, and what to change
    Doctor(small::Doctor),
    /// Print a completion script for a shell
    Completions(small::Completions),
    /// Write the man pages into a directory
    Man(small::Man),
}

/// The command line, and the words of hints for the command that it names. Help is wrapped
/// to so many columns, or as wide as the terminal of this process.
pub fn parsed(
    words: Vec<OsString>,
    columns: Option<usize>,
) -> Result<(Cli, hints::Words), clap::Error> {
    let pasted = pasted(&words);
    let words = sqlio::arranged(words.into_iter());
    let mut command = match columns {
        Some(columns) => Cli::command().term_width(columns),
        None => Cli::command(),
    };
    if let Some(word) = pasted {
        return Err(command.error(
            ErrorKind::UnknownArgument,
            format!("unexpected argument `{word}`"),
        ));
    }
    let matches = command.try_get_matches_from(words)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))?;
    Ok((cli, hints::words_of(&matches)))
}

/// The first word that was pasted from a page with its typography, which would count as the
/// name of a file: `–size`. Behind `--` names are what they are.
fn pasted(words: &[OsString]) -> Option<String> {
    let words = words.iter().skip(1).filter_map(|word| word.to_str());
    let mut words = words.take_while(|word| *word != "--");
    words
        .find(|word| typeset(word).is_some())
        .map(str::to_owned)
}

impl Command {
    /// It measures nothing and changes nothing but the store, in one transaction: the first
    /// signal may end it wherever it is.
    pub fn may_end_anywhere(&self) -> bool {
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

/// Names of targets and files as text, also those that are not UTF-8: records and
/// JSON have to hold them. Names of simulated arrays and of tables are text.
pub fn name_text() -> impl TypedValueParser<Value = String> {
    OsStringValueParser::new().try_map(|name: OsString| text_of(&name))
}

fn text_of(name: &OsStr) -> Result<String, &'static str> {
    let of_our_own = |text: &str| text.starts_with("sim:") || text.starts_with("dataset:");
    match name.to_str() {
        Some(text) if of_our_own(text) => Ok(text.to_owned()),
        None if of_our_own(&name.as_text()) => Err("this name is not UTF-8"),
        _ if !has_text(name) => Err("this name is not Unicode, and cannot be recorded"),
        _ => Ok(name.as_text()),
    }
}
