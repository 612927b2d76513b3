//! The switches of `run`.

use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use std::path::PathBuf;
use stripewise_campaign::Permissions;
use stripewise_conductor::start_at::StartAt;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_lab::compare::Requirement;
use stripewise_units::{ByteSize, CpuList, Nanoseconds, ParseError, Percentile};
use stripewise_workload::{OPTIONS, OptionSubject, WorkloadOption, WorkloadOptions};

/// One load, or a grid wherever a switch takes a list.
#[derive(Debug, Args)]
pub struct Run {
    /// A file, a directory (a test file is made in it and removed), a block device, or sim:NAME
    #[arg(required_unless_present_any = ["plan", "request"], conflicts_with = "plan", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Run several named jobs at once, from a file with the same fields as these switches
    #[arg(long, value_name = "FILE.toml")]
    pub plan: Option<PathBuf>,
    /// Run the cells of a profile at once, each as a job: sqlserver-oltp, postgresql, file-server ...
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with_all = ["plan", "request", "LoadArguments"])]
    pub profile: Option<String>,
    /// Run the parts of your own mix at once: random-read=70,log=10,sequential-read:1M=20
    #[arg(long, value_name = "PART=SHARE,...", requires = "target", conflicts_with_all = ["profile", "plan", "request", "LoadArguments"])]
    pub mix: Option<String>,
    /// Run the request that --show-request printed, unchanged; only permissions may be added
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["target", "plan", "LoadArguments", "duration", "ramp", "HowArguments"])]
    pub request: Option<PathBuf>,
    /// Print the request that these switches or the plan define as JSON, and run nothing
    #[arg(long)]
    pub show_request: bool,
    /// Start at this time, together with other hosts: 14:00:00 (local time), 14:00:00Z, 2026-11-22T14:00:00Z or +30s
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub start_at: Option<StartAt>,
    #[command(flatten)]
    pub load: LoadArguments,
    #[command(flatten)]
    pub replay: ReplayArguments,
    #[command(flatten)]
    pub how: HowArguments,
    #[command(flatten)]
    pub safety: Safety,
}

/// A recorded load, in place of one that is described.
// A switch whose `requires` conflicts with another one is accepted beside that and ignored: each has
// the conflicts of what it requires.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Recorded load")]
#[group(conflicts_with_all = ["plan", "profile", "mix", "request", "show_request", "start_at"])]
pub struct ReplayArguments {
    /// Replay a trace at its recorded instants: blktrace, fio iolog, MSR, ..., or a model (.swmodel)
    #[arg(long, value_name = "FILE", requires = "target")]
    pub trace: Option<PathBuf>,
    /// Columns of a trace of an unknown format: time=us,op=R/W,offset=bytes,size=sectors
    #[arg(
        long,
        value_name = "COLUMNS",
        allow_hyphen_values = true,
        requires = "trace"
    )]
    pub columns: Option<String>,
    /// Replay the trace this many times faster
    #[arg(long, value_name = "FACTOR", requires = "trace", default_value_t = 1.0, value_parser = super::number)]
    pub speed: f64,
    /// This many copies of the trace at once, each shifted in time at random
    #[arg(long, value_name = "N", requires = "trace", default_value_t = 1.0, value_parser = super::number)]
    pub copies: f64,
    /// Cut pauses of the trace that are longer than this, at least 10s
    #[arg(long, value_name = "TIME", requires = "trace")]
    pub idle_max: Option<Nanoseconds>,
    /// Issue at the recorded instants, or when the operation that was waited for has completed
    #[arg(
        long = "loop",
        value_name = "KIND",
        requires = "trace",
        default_value = "auto"
    )]
    pub closed_loop: LoopName,
}

/// What waits for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LoopName {
    /// Closed where the trace shows that its tasks wait for the disk
    Auto,
    /// At the recorded instants
    Open,
    /// Each operation waits for the one that it waited for, and its think time
    Closed,
}

/// The load: the options of a workload, from their table.
#[derive(Clone, Debug, Default)]
pub struct LoadArguments {
    /// What was typed, in the order of the table; lists with commas.
    given: Vec<(&'static WorkloadOption, String)>,
}

impl LoadArguments {
    /// Whether any option was given.
    pub fn is_given(&self) -> bool {
        !self.given.is_empty()
    }

    /// Whether this option was given.
    pub fn says(&self, name: &str) -> bool {
        self.given.iter().any(|(option, _)| option.name == name)
    }

    /// The given options that are not in `names`.
    pub fn others<'a>(&'a self, names: &'a [&str]) -> impl Iterator<Item = &'static str> + 'a {
        let given = self.given.iter().map(|(option, _)| option.name);
        given.filter(|name| !names.contains(name))
    }

    /// Measured time, and the ramp before it, if given.
    pub fn times(&self) -> [Option<Nanoseconds>; 2] {
        ["duration", "ramp"].map(|name| {
            let given = self.given.iter().find(|(option, _)| option.name == name);
            given.and_then(|(_, text)| text.parse().ok())
        })
    }

    /// Every combination of the switches that take lists.
    pub fn cells(&self) -> Result<Vec<WorkloadOptions>, ParseError> {
        WorkloadOptions::grid(&self.given)
    }
}

/// The switch of an option.
fn switch(option: &'static WorkloadOption) -> Arg {
    let heading = match option.subject {
        OptionSubject::Workload => "Workload",
        OptionSubject::Measuring => "Measuring",
    };
    let arg = Arg::new(option.name)
        .long(option.name)
        .help(option.about)
        .help_heading(heading);
    let arg = match option.choice {
        Some(choice) => arg.group(choice),
        None => arg,
    };
    let Some(value) = option.value else {
        return arg.action(ArgAction::SetTrue);
    };
    let read = |text: &str| -> Result<String, ParseError> {
        let mut options = WorkloadOptions::default();
        for value in option.values(text) {
            option.set(&mut options, value)?;
        }
        Ok(text.to_owned())
    };
    let arg = arg.value_name(value).value_parser(read);
    match option.is_list {
        true => arg.action(ArgAction::Append),
        false => arg,
    }
}

impl Args for LoadArguments {
    fn augment_args(command: Command) -> Command {
        // A profile defines the load, but not the times.
        let load = OPTIONS
            .iter()
            .filter(|one| one.subject == OptionSubject::Workload);
        let names = load.map(|option| option.name);
        let group = ArgGroup::new("LoadArguments").multiple(true).args(names);
        command.args(OPTIONS.iter().map(switch)).group(group)
    }

    fn augment_args_for_update(command: Command) -> Command {
        LoadArguments::augment_args(command)
    }
}

impl FromArgMatches for LoadArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let typed = |option: &'static WorkloadOption| -> Option<String> {
            if option.value.is_none() {
                return matches.get_flag(option.name).then(|| "true".to_owned());
            }
            let texts = matches.get_many::<String>(option.name)?;
            Some(texts.cloned().collect::<Vec<_>>().join(","))
        };
        let given = OPTIONS
            .iter()
            .filter_map(|option| Some((option, typed(option)?)));
        Ok(LoadArguments {
            given: given.collect(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = LoadArguments::from_arg_matches(matches)?;
        Ok(())
    }
}

/// How to do it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct HowArguments {
    /// Length of the intervals kept
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub interval: Nanoseconds,
    /// I/O engine: auto, uring, nvme, iocp, threads or null
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineName>,
    /// Pin threads to these processors in turn, each core once before its second processor: 0-3,8
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuList>,
    /// Repeat everything N times and print the medians, from 6 on with a 95 % confidence interval
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// With --plan: run each job alone first, then all together
    #[arg(long, action = ArgAction::SetTrue)]
    pub alone: bool,
    /// A requirement to be met or missed: 'read_iops>=20000', 'p99<5ms'; may be given several times
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    /// Also report these percentiles of latency: 95,99.99
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub percentiles: Vec<Percentile>,
    /// Label to store with the run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Size of the device's or controller's cache, if known: a smaller span causes a warning
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<ByteSize>,
    /// Write until no cache absorbs the load before each run that writes; the run measures what lasts
    #[arg(long, conflicts_with_all = ["verify", "start_at"])]
    pub steady: bool,
    /// Stamp what is written and compare what is read; stops at the first wrong byte, with exit code 1
    #[arg(long)]
    pub verify: bool,
    /// Faults to inject, for tests of the program itself
    #[arg(long, value_name = "PLAN", hide = true)]
    pub inject: Option<FaultPlan>,
}

impl Safety {
    /// What the user permits.
    pub fn permissions(&self) -> Permissions {
        Permissions {
            keep: self.keep,
            overwrite: self.overwrite,
            destroy: self.destroy.clone(),
            busy_ok: self.busy_ok,
        }
    }
}

/// What may be touched.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Safety")]
pub struct Safety {
    /// Keep the test file made in a directory
    #[arg(long)]
    pub keep: bool,
    /// Allow writes to a file that Stripewise did not make; ITS CONTENT IS LOST
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writes to the block device of this name; ITS CONTENT IS LOST. Repeat it for another device (or sdb,sdc)
    #[arg(long, value_name = "NAME")]
    pub destroy: Vec<String>,
    /// Use a directory that looks like a live database, or a busy device, anyway
    #[arg(long)]
    pub busy_ok: bool,
}

/// What may be touched of the only target, by a command that keeps no file.
#[derive(Clone, Debug, Args)]
pub struct TargetSafety {
    /// Allow writes to a file that Stripewise did not make; ITS CONTENT IS LOST
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writes to the block device of this name; ITS CONTENT IS LOST
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Use a directory that looks like a live database, or a busy device, anyway
    #[arg(long)]
    pub busy_ok: bool,
}

impl TargetSafety {
    /// What the user permits.
    pub fn permissions(&self) -> Permissions {
        Permissions {
            keep: false,
            overwrite: self.overwrite,
            destroy: self.destroy.iter().cloned().collect(),
            busy_ok: self.busy_ok,
        }
    }
}
