//! The switches of `bench`.

use super::one_of;
use clap::{Args, ValueEnum};
use stripewise_campaign::bench::{Precondition, Slo};
use stripewise_io_engine::EngineName;
use stripewise_lab::SeriesKind;
use stripewise_lab::compare::Requirement;
use stripewise_units::{ByteSize, Nanoseconds, sim_array};

/// What can this disk do? Answers in 2.5 minutes at most.
///
/// Five tests, reads before writes: random and sequential reads and writes, each
/// a ladder that doubles the queue depth until throughput no longer rises, and the log
/// (sequential write, one outstanding, direct-sync). Runs around the load that answers
/// follow, in random order, so that each answer has an interval. Quick mode takes two
/// minutes and a half at most, with all that is required; `--thorough` takes hours and prints
/// how many first. On a simulated array time is virtual, and only `--time` limits it.
#[derive(Debug, Args)]
pub struct Bench {
    /// A directory (a test file is made in it and removed), a file, a block device, or sim:NAME
    #[arg(default_value = ".", value_parser = super::name_text())]
    pub target: String,
    /// Latency limit of the answer: p50, p90, p95, p99, p99.9, mean or max, below a time
    #[arg(long, value_name = "LIMIT", default_value = "p99<5ms")]
    pub slo: Slo,
    /// Runs of 300 s, a large file, preconditioning and steady state
    #[arg(id = "qualify", long = "thorough", alias = "qualify")]
    pub thorough: bool,
    /// How to precondition: sequential, or one-pass[=PERCENT] for an empty SSD with this much spare flash [default: sequential]
    #[arg(
        long,
        value_name = "HOW",
        requires = "qualify",
        conflicts_with = "like"
    )]
    pub precondition: Option<Precondition>,
    /// Time of one run [default: 1.5s, with --thorough 300s]
    #[arg(long, value_name = "TIME")]
    pub step: Option<Nanoseconds>,
    /// Time for everything [default: 150s, with --thorough what the runs take]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Nanoseconds>,
    /// Size of the test file, or how much of the target to use
    #[arg(long, value_name = "SIZE")]
    pub size: Option<ByteSize>,
    /// Size of the controller's or device's cache: the file should be four times as large
    #[arg(long, value_name = "SIZE")]
    pub cache_size: Option<ByteSize>,
    /// Block size of all tests [default: 8K random and log, 64K sequential]
    #[arg(long, value_name = "SIZE")]
    pub block: Option<ByteSize>,
    /// No writes (a test file is still made where the target is a directory)
    #[arg(long)]
    pub read_only: bool,
    /// Only these tests
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = one_of(
            [
                SeriesKind::RandomRead,
                SeriesKind::RandomWrite,
                SeriesKind::SequentialRead,
                SeriesKind::SequentialWrite,
                SeriesKind::Log,
            ]
            .map(|kind| (kind.name(), kind))
        )
    )]
    pub series: Vec<SeriesKind>,
    /// Make the runs of another tool instead: its four lines, reads and writes
    #[arg(long, value_name = "TOOL", conflicts_with_all = ["qualify", "series", "step", "time", "block", "slo", "cache_size"])]
    pub like: Option<Like>,
    /// Compare with a simulated array of this kind, measured first in virtual time: is the disk at least half as fast?
    #[arg(long, value_name = "sim:NAME", value_parser = simulated, conflicts_with = "like")]
    pub expect: Option<String>,
    /// I/O engine: auto, uring, nvme, iocp, threads or null
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub engine: EngineName,
    /// Seed of all streams
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// A requirement to be met or missed: 'random-read iops>=20000', 'log p99<1ms'; may be given several times
    ///
    /// A rate and a latency of one series are judged together, by runs at that rate after the
    /// ladders, in what they leave of --time: up to 30 minutes for each such series. `stripewise
    /// qualify` judges the whole load of a product, or one of your own, in the same way.
    #[arg(long, value_name = "WHAT")]
    pub require: Vec<Requirement>,
    /// Label to store with the bench
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// Write the report to this file: html, or by its extension png, svg, csv, md, json [default: reports/ID.html beside the store]
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with = "no_report")]
    pub report: Option<std::path::PathBuf>,
    /// No report
    #[arg(long)]
    pub no_report: bool,
    /// Also print every step of the ladders
    #[arg(long)]
    pub ladders: bool,
    #[command(flatten)]
    pub safety: super::run::Safety,
}

/// A simulated array.
fn simulated(text: &str) -> Result<String, String> {
    match sim_array(text) {
        Some(name) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("it is not a simulated array; `stripewise sim list` prints them".to_owned()),
    }
}

/// Tools whose runs `--like` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Like {
    /// SEQ1M Q8T1, SEQ1M Q1T1, RND4K Q32T1 and RND4K Q1T1, five seconds each
    #[value(alias = "cdm")]
    Crystaldiskmark,
}
