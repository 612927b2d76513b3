//! The switches of `run`.

use super::start_at::StartAt;
use clap::{ArgAction, Args};
use std::path::PathBuf;
use stripewise_campaign::Permissions;
use stripewise_io_engine::{EngineName, FaultPlan};
use stripewise_lab::compare::Requirement;
use stripewise_units::{ByteSize, CpuList, Nanoseconds, ParseError};
use stripewise_workload::{Arrivals, CacheMode, CursorKind, Distribution, SyncPolicy};

/// One run, or a grid with a row per run wherever a switch takes a list.
#[derive(Debug, Args)]
pub struct Run {
    /// A file, a directory (a test file is made in it and removed), a block device, or sim:NAME
    #[arg(required_unless_present_any = ["plan", "request"], conflicts_with = "plan", value_parser = super::name_text())]
    pub target: Option<String>,
    /// Several named jobs at once, from a file with the same fields as these switches
    #[arg(long, value_name = "FILE.toml")]
    pub plan: Option<PathBuf>,
    /// The cells of a profile at once, each a job: sqlserver-oltp, postgresql, file-server ...
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with_all = ["plan", "request", "LoadArguments"])]
    pub profile: Option<String>,
    /// The parts of a mix of your own at once: random-read=70,log=10,sequential-read:1M=20
    #[arg(long, value_name = "PART=SHARE,...", requires = "target", conflicts_with_all = ["profile", "plan", "request", "LoadArguments"])]
    pub mix: Option<String>,
    /// The request that --show-request printed, as it is; only permissions go beside it
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["target", "plan", "LoadArguments", "HowArguments"])]
    pub request: Option<PathBuf>,
    /// Print the request that these switches or the plan mean as JSON, and run nothing
    #[arg(long)]
    pub show_request: bool,
    /// Start at this moment, as other hosts do: 14:00:00 (local time), 14:00:00Z, 2026-11-22T14:00:00Z or +30s
    #[arg(long, value_name = "WHEN", allow_hyphen_values = true)]
    pub start_at: Option<StartAt>,
    #[command(flatten)]
    pub load: LoadArguments,
    #[command(flatten)]
    pub how: HowArguments,
    #[command(flatten)]
    pub safety: Safety,
}

/// What to do.
#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
pub struct LoadArguments {
    /// Only reads (the default)
    #[arg(long, group = "operation")]
    pub read: bool,
    /// Only writes
    #[arg(long, group = "operation")]
    pub write: bool,
    /// This share of reads, the rest writes
    #[arg(long, group = "operation", value_name = "N", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub read_percent: Option<u8>,
    /// Random positions (the default)
    #[arg(long, group = "where")]
    pub random: bool,
    /// One block after the other
    #[arg(long, group = "where")]
    pub sequential: bool,
    /// From each block to one that starts SIZE further
    #[arg(long, group = "where", value_name = "SIZE")]
    pub stride: Option<ByteSize>,
    /// Block size, or a list; with shares in per cent, several sizes in one run: 4K:60,64K:40
    #[arg(
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        help = "Block size, or a list; with shares, several sizes in one run: 4K:60,64K:40 [default: 8K]"
    )]
    pub block: Vec<BlockWord>,
    /// Threads, or a list
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        help = "Threads, or a list [default: 1]"
    )]
    pub threads: Vec<u32>,
    /// Operations that each thread keeps in flight, or a list
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        help = "Operations that each thread keeps in flight, or a list [default: 1; with --rate 256 over all threads]"
    )]
    pub outstanding: Vec<u32>,
    /// First byte to use, or a list: 63s, 64K, 1M
    #[arg(
        long,
        value_name = "SIZE",
        value_delimiter = ',',
        help = "First byte to use, or a list: 63s, 64K, 1M [default: 0]"
    )]
    pub base_offset: Vec<ByteSize>,
    /// How much of the target to use; size of the test file in a directory
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// direct, direct-sync, buffered or buffered-sync
    #[arg(long, value_name = "MODE")]
    pub cache: Option<CacheMode>,
    /// fdatasync after every N writes of a thread (N defaults to 1)
    #[arg(long, value_name = "fdatasync[:N]")]
    pub sync: Option<SyncPolicy>,
    /// Open loop: so many operations a second arrive whatever the disk does
    #[arg(long, value_name = "IOPS", value_parser = stripewise_workload::parse_rate)]
    pub rate: Option<f64>,
    /// How they arrive: fixed or poisson
    #[arg(long, value_name = "HOW")]
    pub arrivals: Option<Arrivals>,
    /// uniform, zipf:THETA or hot:SPACE/OPERATIONS (percent), for --random
    #[arg(long, value_name = "NAME")]
    pub distribution: Option<Distribution>,
    /// Whose position it is: own or shared (by all threads), for --sequential and --stride
    #[arg(long, value_name = "WHOSE")]
    pub cursor: Option<CursorKind>,
    /// Share of each 4 KiB block that a compressing device can save
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub compressible: Option<u8>,
    /// Share of 4 KiB blocks that are copies of others
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub dedupable: Option<u8>,
    /// Seed of all streams
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// A word of `--block`: a size, or one with its share of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockWord {
    /// The size.
    pub size: ByteSize,
    /// Its share, where it has one.
    pub percent: Option<u8>,
}

impl std::str::FromStr for BlockWord {
    type Err = ParseError;

    fn from_str(typed: &str) -> Result<Self, ParseError> {
        let Some((size, share)) = typed.split_once(':') else {
            let size = typed.parse()?;
            return Ok(BlockWord {
                size,
                percent: None,
            });
        };
        let hint = "give sizes with their shares in per cent, 100 in all: 4K:60,64K:40";
        let percent = share.trim().trim_end_matches('%').parse().ok();
        let percent = percent.filter(|percent| (1..=100).contains(percent));
        Ok(BlockWord {
            size: size.parse()?,
            percent: Some(
                percent
                    .ok_or_else(|| ParseError::new(typed, "has no share of 1 to 100 %", hint))?,
            ),
        })
    }
}

/// How to do it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct HowArguments {
    /// Measured time [default: 10s; on sim: until 30,000 operations too]
    #[arg(long, value_name = "TIME")]
    pub duration: Option<Nanoseconds>,
    /// Time before measuring starts
    #[arg(long, value_name = "TIME")]
    pub ramp: Option<Nanoseconds>,
    /// Length of the intervals kept
    #[arg(long, value_name = "TIME", default_value = "1s")]
    pub interval: Nanoseconds,
    /// Which way to do I/O: auto, uring, iocp, threads or null
    #[arg(long, value_name = "NAME")]
    pub engine: Option<EngineName>,
    /// Run threads on these processors, one after the other: 0-3,8
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuList>,
    /// Do everything N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: u32,
    /// With --plan: each job also alone, before all together
    #[arg(long, action = ArgAction::SetTrue)]
    pub alone: bool,
    /// A requirement to be met or missed: 'read_iops>=20000', 'p99<5ms'; may be given several times
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    /// Your words for this run
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Size of the device's or controller's cache, if you know it: a smaller span is warned of
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<ByteSize>,
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
    /// Keep the test file that is made in a directory
    #[arg(long)]
    pub keep: bool,
    /// Allow writes to a file that Stripewise did not make; ITS CONTENT IS LOST
    #[arg(long)]
    pub overwrite: bool,
    /// Allow writes to the block device of this name; ITS CONTENT IS LOST
    #[arg(long, value_name = "NAME")]
    pub destroy: Option<String>,
    /// Use a directory that looks like a live database, or a busy device, all the same
    #[arg(long)]
    pub busy_ok: bool,
}
